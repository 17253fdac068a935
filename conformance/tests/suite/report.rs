//! Findings in reports for people.

use conformance::capture::Format;
use conformance::reports::{Screen, Style, diagnostic};
use conformance::results::FailOn;
use conformance::{Rules, check, goldens, violation};

/// Returns the report of a recording for some of the rules.
fn told(dialect: &str, recording: &[u8], rules: &[&str], width: usize) -> String {
    let dialect = spec::DIALECTS.iter().find(|known| known.name == dialect).expect("the build has it");
    let chosen = Rules::of(dialect).only(|rule| rules.contains(&rule.id));
    let report = check("a.sse", &mut &*recording, None, &chosen);
    assert_eq!(report.error, None);
    let screen = Screen { style: Style::Plain, width };
    report
        .findings
        .iter()
        .map(|finding| diagnostic(&report.name, finding, "openai", FailOn::default(), screen))
        .collect()
}

/// Returns the report of the violation of a rule.
fn violated(rule: &str) -> String {
    let violation = &catalogue::rule(rule).expect("there is such a rule").in_api("").violation;
    let golden = goldens::golden(violation.golden).expect("there is such a golden");
    let recording = violation::apply(violation).expect("its edits can be made");
    told(golden.dialect, &recording, &[rule], Screen::USUAL_WIDTH)
}

fn golden(id: &str) -> String {
    String::from_utf8_lossy(goldens::golden(id).expect("it exists").bytes).into_owned()
}

#[test]
fn an_answer_that_is_no_stream() {
    assert_eq!(goldens::golden("open-responses/response").map(|golden| golden.format), Some(Format::Http));
    insta::assert_snapshot!("body", violated("schema/body-valid"));
}

#[test]
fn a_message_on_a_websocket() {
    insta::assert_snapshot!("websocket", violated("ws/one-in-flight"));
}

/// Untrusted text is escaped in terminals everywhere.
#[test]
fn hostile_text_is_shown_and_not_obeyed() {
    let hostile = "\u{1b}]0;x\u{7}\u{202e}\u{200d}\u{9b}2J\u{e0041}\u{3164}";
    let recording = format!(
        "event: {hostile}\ndata: {{\"type\":\"a{hostile}\",\"x\":1}}\n\ndata: {{\"type\":\"日本\u{202e}e\u{301}\",\"\u{5d0}\":2}}\n\n"
    );
    let name = format!("a{hostile}.sse");
    let dialect =
        spec::DIALECTS.iter().find(|known| known.name == "open-responses").expect("the build has it");
    let report = check(name, &mut recording.as_bytes(), None, &Rules::of(dialect));
    let told: String = report
        .findings
        .iter()
        .map(|finding| diagnostic(&report.name, finding, "openai", FailOn::default(), Style::Plain))
        .collect();
    let is_hostile = |found: &char| hostile.contains(*found) && !" 02;]xJ".contains(*found);
    assert_eq!(told.chars().find(is_hostile), None, "{told}");
    insta::assert_snapshot!("hostile", told);
}

#[test]
fn a_long_line_is_cut_to_the_screen() {
    let delta = |before: &str, behind: &str| {
        format!(
            "data: {{\"type\":\"response.refusal.delta\",\"delta\":\"{before}\",\"item_id\":7,\"content_index\":0,\"output_index\":0,\"sequence_number\":1,\"x\":\"{behind}\"}}\n\n"
        )
    };
    let wide = delta(&"日本語".repeat(300), &"e\u{301}".repeat(300));
    insta::assert_snapshot!("long", told("openai", wide.as_bytes(), &["schema/event-valid"], 120));
    insta::assert_snapshot!("narrow", told("openai", wide.as_bytes(), &["schema/event-valid"], 60));
    for width in 0..200 {
        let told = told("openai", wide.as_bytes(), &["schema/event-valid"], width);
        let rows = told.lines().filter(|row| row.starts_with("1 |") || row.starts_with("  |"));
        let widest = rows.map(unicode_width::UnicodeWidthStr::width).max().unwrap_or_default();
        assert!(widest <= width.max(Screen::LEAST_WIDTH), "{widest} columns of {width}:\n{told}");
    }
}

/// Returns the clients that a recording breaks by a rule, in the dialect `open-responses`.
fn broken(recording: &str, rule: &str) -> Vec<&'static str> {
    let dialect = conformance::dialect("open-responses").expect("the build has it");
    let chosen = Rules::of(dialect).only(|known| known.id == rule);
    let report = check("a.sse", &mut recording.as_bytes(), None, &chosen);
    assert!(!report.findings.is_empty(), "{rule} is broken");
    let clients = report.findings.iter().flat_map(conformance::Finding::broken_clients);
    let clients: std::collections::BTreeSet<_> = clients.map(|(client, _)| client).collect();
    clients.into_iter().collect()
}

#[test]
fn what_the_dialect_of_a_client_has_does_not_break_it() {
    let search = golden("openai/web-search");
    for rule in ["schema/event-known", "schema/type-known"] {
        assert_eq!(broken(&search, rule), [""; 0], "{rule}");
    }
    let unknown = search.replace("response.web_search_call.searching", "response.sparkle.delta");
    assert_eq!(broken(&unknown, "schema/event-known"), ["openai-node stream()"]);
    // Equal places are reported once, and one of them is enough.
    let allowed_by = |recording: &str| {
        let dialect = conformance::dialect("open-responses").expect("the build has it");
        let chosen = Rules::of(dialect).only(|known| known.id == "schema/type-known");
        let report = check("a.sse", &mut recording.as_bytes(), None, &chosen);
        report.findings.iter().filter(|finding| finding.fine_in.iter().any(|name| name == "openai")).count()
    };
    let frames = search.split_inclusive("\n\n");
    let added = frames.clone().find(|frame| frame.contains("output_item.added")).expect("it is there");
    let alike =
        search.replacen(added, &(added.to_owned() + &added.replace("web_search_call", "sparkle_call")), 1);
    let all = allowed_by(&search);
    assert!(all > 0);
    assert_eq!(allowed_by(&search.replacen(added, &added.repeat(2), 1)), all);
    assert_eq!(allowed_by(&alike), all - 1);
}

#[test]
fn clients_break_at_the_places_that_are_known_of_them() {
    let text = golden("open-responses/text");
    let with = |event: &str| {
        text.replacen(
            "event: response.output_text.done",
            &format!("data: {event}\n\nevent: response.output_text.done"),
            1,
        )
    };
    let unknown = broken(&with(r#"{"type":"sparkle","sequence_number":5}"#), "schema/event-known");
    assert_eq!(unknown, ["openai-node stream()"]);
    let tool = text.replace("\"tools\":[]", "\"tools\":[{\"type\":\"sparkle\"}]");
    assert_eq!(broken(&tool, "schema/type-known"), [""; 0], "nobody was played an unknown tool");
}
