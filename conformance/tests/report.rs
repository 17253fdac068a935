//! Findings as people see them.

use conformance::capture::Format;
use conformance::report::{Screen, Style, diagnostic};
use conformance::{Rules, check, goldens, violation};
use spec::catalogue;

/// All that is told of a recording by some of the rules.
fn told(dialect: &str, recording: &[u8], rules: &[&str], width: usize) -> String {
    let dialect = spec::DIALECTS.iter().find(|known| known.name == dialect).expect("the build has it");
    let chosen = Rules::of(dialect).only(|rule| rules.contains(&rule.id));
    let report = check("a.sse", &mut &*recording, None, &chosen);
    assert_eq!(report.error, None);
    let screen = Screen { style: Style::Plain, width };
    report.findings.iter().map(|finding| diagnostic(&report.name, finding, screen)).collect()
}

/// What a rule says of its own violation.
fn violated(rule: &str) -> String {
    let page = catalogue::rule(rule).expect("there is such a rule");
    let golden = goldens::golden(page.violation.golden).expect("there is such a golden");
    let recording = violation::recording(page).expect("its edits can be made");
    told(golden.dialect, &recording, &[rule], Screen::USUAL_WIDTH)
}

fn golden(id: &str) -> String {
    String::from_utf8_lossy(goldens::golden(id).expect("it exists").bytes).into_owned()
}

#[test]
fn what_explains_a_finding_stands_before_it() {
    insta::assert_snapshot!("related", violated("part/before-open"));
}

#[test]
fn values_that_differ() {
    insta::assert_snapshot!("relation", violated("text/equals-part"));
    insta::assert_snapshot!("fragments", violated("text/deltas-joined"));
}

#[test]
fn a_fault_of_the_schema_is_marked_where_it_stands() {
    let recording = golden("openai/text").replace("\"logprobs\":[]", "\"logprobs\":0");
    insta::assert_snapshot!("schema", told("openai", recording.as_bytes(), &["schema/event-valid"], 120));
}

#[test]
fn a_stream_that_ends_too_soon_is_shown_where_it_ends() {
    let recording = golden("openai/text");
    let end = recording.find("event: response.completed").expect("it is there");
    insta::assert_snapshot!(
        "end",
        told("openai", &recording.as_bytes()[..end], &["response/one-terminal"], 120)
    );
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

/// Nothing of what a stranger wrote reaches the terminal as it is, wherever it is told.
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
    let told: String =
        report.findings.iter().map(|finding| diagnostic(&report.name, finding, Style::Plain)).collect();
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
