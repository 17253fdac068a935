//! One answer in all APIs.

use std::fmt::Write as _;

use conformance::check_with_timelines;
use conformance::checker::{Answer, Rules};
use conformance::results::{Bar, Timeline};
use serde_json::Value;

use super::Column;

/// Width of a name beside the lanes.
const NAME: usize = 30;

/// Returns the streams of the columns, drawn, and what is read from each.
pub(crate) fn drawn(columns: &[Column]) -> String {
    let mut text = String::from(
        "## The same answer\n\nA thought, a text and a call. Each column of a picture is one event, `=` where something is open, \
         and in the row of a text where it grows. Below, the events, with consecutive deltas in one line.\n\n",
    );
    let mut answers = Vec::new();
    for column in columns {
        let rules = Rules::of(column.dialect);
        let name = format!("{}/{}", column.dialect.name, column.stream.name);
        let report = check_with_timelines(&name, &mut &*column.stream.bytes, None, &rules);
        assert!(report.findings.is_empty(), "{name}: {:?}", report.findings);
        let [timeline] = &*report.timelines else { panic!("{name} has one stream") };
        let (title, events) = (column.dialect.api.title, timeline.events);
        let path = format!("spec/apis/{}/goldens/{name}.sse", column.dialect.api.name);
        let _ = writeln!(text, "### {title}: {events} events\n\n[`{name}`](../{path}):\n\n```text");
        text += &lanes(timeline);
        text.push('\n');
        text += &rows(timeline);
        text += "```\n\n";
        answers.push(Answer::of_stream(column.dialect, column.stream.bytes));
    }
    text += &said(columns, &answers);
    text
}

fn name(bar: &Bar) -> String {
    let indent = " ".repeat(2 * usize::try_from(bar.depth).expect("it is small"));
    let index = bar.index.map(|index| format!(" {index}")).unwrap_or_default();
    let kind = bar.kind.as_ref().map(|kind| format!(" {kind}")).unwrap_or_default();
    format!("{indent}{}{index}{kind}", bar.scope.replace('_', " "))
}

fn lanes(timeline: &Timeline) -> String {
    let mut text = String::new();
    for bar in &timeline.bars {
        let [from, to] = bar.events;
        let line: String =
            (1..=timeline.events).map(|at| if (from..=to).contains(&at) { '=' } else { ' ' }).collect();
        let _ = writeln!(text, "{:NAME$}{}", name(bar), line.trim_end());
    }
    text
}

fn rows(timeline: &Timeline) -> String {
    let mut text = String::new();
    for row in &timeline.rows {
        let place = row.bar.and_then(|bar| timeline.bars.get(bar)).map(name).unwrap_or_default();
        let kind = row.event_type.as_deref().unwrap_or_default();
        let times = if row.count > 1 { format!(" ×{}", row.count) } else { String::new() };
        let said = row.text.as_ref().map(|piece| format!("{:?}", piece.text)).unwrap_or_default();
        let line =
            format!("{:>3}  {:42}{:26}{said}", row.event, format!("{kind}{times}"), place.trim_start());
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

/// Returns the table of what is read from the streams, and asserts that it is the same.
fn said(columns: &[Column], answers: &[Answer]) -> String {
    let input = |answer: &Answer| {
        let calls = answer.calls.iter();
        let call = calls
            .map(|call| (call.name.clone(), serde_json::from_str::<Value>(&call.arguments).expect("JSON")));
        call.collect::<Vec<_>>()
    };
    let same = |answer: &Answer| (answer.text(), answer.reasoning.clone(), input(answer), answer.tokens);
    assert!(answers.windows(2).all(|pair| same(&pair[0]) == same(&pair[1])), "{answers:#?}");
    let titles: Vec<&str> = columns.iter().map(|column| column.dialect.api.title).collect();
    let mut text = format!(
        "### What a client reads\n\n| | {} |\n|{}\n",
        titles.join(" | "),
        "---|".repeat(columns.len() + 1)
    );
    let mut row = |what: &str, cell: &dyn Fn(&Answer) -> String| {
        let cells: Vec<String> = answers.iter().map(|answer| format!("`{}`", cell(answer))).collect();
        let _ = writeln!(text, "| {what} | {} |", cells.join(" | "));
    };
    row("reasoning", &|answer| answer.reasoning.clone());
    row("text", &Answer::text);
    let calls = |answer: &Answer| {
        answer
            .calls
            .iter()
            .map(|call| format!("{}({})", call.name, call.arguments))
            .collect::<Vec<_>>()
            .join(", ")
    };
    row("calls", &calls);
    row("how it ended", &|answer| answer.status.clone().unwrap_or_default());
    let count = |count: Option<u64>| count.map(|count| count.to_string()).unwrap_or_default();
    row("tokens in, out", &|answer| {
        let tokens = answer.tokens.unwrap_or_default();
        format!("{}, {}", count(tokens.input), count(tokens.output))
    });
    text
}
