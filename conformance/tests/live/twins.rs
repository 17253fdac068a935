//! Twins: the same scenario over each API of the reference gateway.

use std::collections::BTreeSet;

use conformance::harness::twins::declared;
use conformance::results::{TwinsReport, Verdict};

use crate::program::{bare, expect, folder, outcome, path};

/// The answers of the reference gateway are written once, so that they are equal but for what the APIs make differ; and each
/// difference that is declared occurs.
#[test]
fn the_reference_gateway_answers_the_same_over_each_api() {
    let out = folder("twins");
    expect(
        &outcome(&mut bare(&["run", "--transport", "sse,json", "--out", path(&out)])),
        0,
        &["the same scenario"],
    );
    let text = std::fs::read_to_string(out.join("twins.json")).expect("it is written");
    let report: TwinsReport = serde_json::from_str(&text).expect("it is as its type says");
    assert_eq!(report.dialects, ["openai", "anthropic", "chat", "gemini"]);
    assert!(report.twins.len() > 50, "{}", report.twins.len());
    for twin in &report.twins {
        assert_eq!(twin.judged.verdict, Verdict::Pass, "{}: {}", twin.name, twin.judged.reason);
        assert!(twin.notes.is_empty(), "{}: {:?}", twin.name, twin.notes);
    }
    let is_seen =
        |reason: &str| report.twins.iter().flat_map(|twin| &twin.declared).any(|seen| seen.ends_with(reason));
    let names: BTreeSet<&str> = report.twins.iter().map(|twin| &*twin.name).collect();
    for declared in declared() {
        assert!(is_seen(&declared.reason), "{} never differs: remove it", declared.scenario);
        let is_there = declared.scenario == "*" || names.contains(&*format!("twins::{}", declared.scenario));
        assert!(is_there, "{}", declared.scenario);
    }
    expect(&outcome(&mut bare(&["verify", path(&out)])), 0, &["the exchanges support"]);
}
