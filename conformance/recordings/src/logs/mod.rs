//! Rows of logs and exports by the tables of `spec/logs`, and the rules about them.

mod judge;
mod path;
mod row;
mod time;

use std::sync::LazyLock;

use catalogue::{LOGS, Log, LogRow};
use checker::Finding;
use spec::json::each_member;
use spec::table::Mark;

pub(crate) use judge::Judge;
pub(crate) use path::first;

/// The marks of all logs, each with the outer members that it needs, as bits of their places in `names`.
struct Marks {
    names: Vec<&'static str>,
    all: Vec<(u64, &'static Mark, &'static Log)>,
}

static MARKS: LazyLock<Marks> = LazyLock::new(|| {
    let needed = |mark: &'static Mark| {
        let places = mark.texts.iter().map(|(place, _)| *place).chain(mark.lists.iter().copied());
        places.chain(mark.has.iter().copied()).filter_map(|place| place.split('/').nth(1))
    };
    let marks = || LOGS.iter().flat_map(|log| log.marks.iter().map(move |mark| (mark, log)));
    let mut names: Vec<&str> = marks().flat_map(|(mark, _)| needed(mark)).collect();
    names.sort_unstable();
    names.dedup();
    let bits = |mark| needed(mark).map(|name| bit(&names, name)).fold(0, |all, bit| all | bit);
    let all = marks().map(|(mark, log)| (bits(mark), mark, log)).collect();
    Marks { names, all }
});

fn bit(names: &[&str], name: &str) -> u64 {
    // Names beyond the last bit are not needed, and their marks are looked at each time.
    names.binary_search(&name).ok().and_then(|at| 1_u64.checked_shl(u32::try_from(at).ok()?)).unwrap_or(0)
}

/// The document is a line, or a whole file.
pub(crate) fn log_of(document: &str) -> Option<&'static Log> {
    let Marks { names, all } = &*MARKS;
    let mut seen = 0;
    each_member(document, |name, _| seen |= bit(names, name.raw));
    let is_it = |(needed, mark, _): &&(u64, &Mark, &Log)| needed & !seen == 0 && mark.fits(document);
    all.iter().find(is_it).map(|(.., log)| *log)
}

/// None if rows of its kind hold no answers.
pub(crate) fn kind_of(log: &'static Log, row: &str) -> Option<&'static LogRow> {
    log.kinds.iter().find(|kind| {
        (kind.marks.is_empty() || kind.marks.iter().any(|mark| mark.fits(row)))
            && (kind.with.is_empty() || first(row, kind.with).is_some())
    })
}

pub(crate) fn each_row(log: &'static Log, document: &str, row: &mut dyn FnMut(&str)) {
    let mut has_rows = false;
    for place in log.rows {
        path::each(document, place, &mut |found| {
            has_rows = true;
            row(found);
            false
        });
    }
    if !has_rows {
        row(document);
    }
}

/// The log, and not the API, wrote the value at fault in the answer of a row.
pub(crate) fn is_own(kind: &LogRow, finding: &Finding) -> bool {
    let pointer = finding.pointer.as_deref().unwrap_or_default();
    kind.adds_null && finding.actual.as_deref() == Some("null")
        || kind.rewritten.iter().any(|place| pointer.starts_with(place))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_show_their_log() {
        for (json, log) in [
            (r#"{"type":"user","uuid":"a","sessionId":"b","message":{}}"#, "Claude Code transcript"),
            (r#"{"type":"result","subtype":"success","session_id":"b","uuid":"c"}"#, "Claude Code output"),
            (r#"{"timestamp":"a","type":"response_item","payload":{"type":"message"}}"#, "Codex rollout"),
            (r#"{"id":"a","traceId":"b","type":"GENERATION","startTime":"c"}"#, "Langfuse export"),
            (r#"{"resourceSpans":[]}"#, "OpenTelemetry export"),
            (r#"{"request_id":"a","call_type":"acompletion","response":{}}"#, "LiteLLM log"),
            (r#"{"request_id":"a","request_body":{},"response_body":{}}"#, "Helicone export"),
            (r#"{"custom_id":"a","result":{"type":"succeeded"}}"#, "Anthropic batch result"),
            (r#"{"info":{"id":"s"},"messages":[{"info":{},"parts":[]}]}"#, "opencode export"),
            (r#"{"type":"response.created","response":{}}"#, ""),
            (r#"{"type":"message_start","message":{}}"#, ""),
            (r#"{"object":"chat.completion","model":"m","choices":[]}"#, ""),
            (r#"{"type":"message","role":"assistant","content":[],"stop_reason":null}"#, ""),
            (r#"{"custom_id":"a","response":{"status_code":200}}"#, ""),
        ] {
            assert_eq!(log_of(json).map_or("", |log| log.name), log, "{json}");
        }
    }
}
