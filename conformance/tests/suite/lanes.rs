//! Lanes of a WebSocket, steering and injection.

use catalogue::Level;
use conformance::{Rules, check, goldens};

/// Returns the messages of a golden of OpenAI's dialect.
fn log(name: &str) -> Vec<String> {
    let id = format!("openai/{name}");
    let bytes = goldens::golden(&id).unwrap_or_else(|| panic!("{id}")).bytes;
    std::str::from_utf8(bytes).expect("text").lines().map(str::to_owned).collect()
}

fn broken(dialect: &str, log: &[String]) -> Vec<(Level, String)> {
    let rules = Rules::of(spec::dialect(dialect).expect("the dialect"));
    let report = check("a", &mut log.join("\n").as_bytes(), None, &rules);
    assert_eq!(report.error, None);
    report.findings.into_iter().map(|finding| (finding.level, finding.rule.into_owned())).collect()
}

#[test]
fn lanes_steering_and_injection_are_clean() {
    for name in [
        "websocket-ahead",
        "websocket-compaction",
        "websocket-inject",
        "websocket-lanes",
        "websocket-many-lanes",
        "websocket-steer",
        "websocket-steer-failed",
        "websocket-steer-pending",
    ] {
        assert_eq!(broken("openai", &log(name)), [], "{name}");
    }
}

/// Lanes work without recorded requests: the events name their lanes.
#[test]
fn lanes_are_told_apart_without_requests() {
    let mut messages = log("websocket-lanes");
    messages.retain(|line| line.starts_with("{\"recv\""));
    assert_eq!(broken("openai", &messages), []);
}

/// The specification has no lanes, so events cannot be assigned to overlapping responses.
#[test]
fn a_dialect_without_lanes_forbids_what_is_mixed() {
    let found = broken("open-responses", &log("websocket-lanes"));
    assert!(found.contains(&(Level::Must, "ws/one-in-flight".to_owned())), "{found:?}");
}

#[test]
fn a_lane_that_nobody_asked_for() {
    let messages: Vec<_> = log("websocket-lanes")
        .into_iter()
        .map(|line| if line.starts_with("{\"recv\"") { line.replace("lane_b", "lane_c") } else { line })
        .collect();
    let found = broken("openai", &messages);
    assert!(found.contains(&(Level::Must, "ws/stream-id-echoed".to_owned())), "{found:?}");
}

#[test]
fn more_than_32_lanes() {
    let [create, created, in_progress, completed] =
        ["sent", "response.created", "response.in_progress", "response.completed"].map(|name| {
            log("websocket-many-lanes").into_iter().find(|line| line.contains(name)).expect("a message")
        });
    let lane = |number: usize| {
        [&create, &created, &in_progress, &completed].map(|line| {
            line.replace("\"lane_1\"", &format!("\"lane_{number}\""))
                .replace("\"resp_1\"", &format!("\"resp_{number}\""))
        })
    };
    let lanes = |count: usize| (1..=count).flat_map(lane).collect::<Vec<_>>();
    assert_eq!(broken("openai", &lanes(32)), []);
    assert_eq!(broken("openai", &lanes(33)), [(Level::Must, "ws/lane-limit".to_owned())]);
}
