//! Rules of the group `request`, which compare the response with the settings it echoes.

use std::borrow::Cow;

use crate::engine::{Case, Ending};
use crate::engine::{Object, number, same, short};
use crate::rules::request::is_json;

struct Call {
    kind: String,
    name: Option<String>,
    server: Option<String>,
    /// Pointer to it in the current event, if present.
    pointer: Option<String>,
}

impl Call {
    fn of(item: &Object<'_>, pointer: Option<String>) -> Option<Self> {
        let kind = item.plain("type").filter(|kind| kind.ends_with("_call"))?.to_owned();
        let text = |name: &str| item.string(name).map(Into::into);
        Some(Self { kind, name: text("name"), server: text("server_label"), pointer })
    }

    fn is_function(&self) -> bool {
        self.kind == "function_call"
    }

    fn title(&self) -> String {
        let name = self.name.as_deref().unwrap_or_default();
        format!("{} {name}", self.kind).trim_end().to_owned()
    }
}

/// Calls of the final output, or the streamed ones if it is empty.
fn calls(case: &Case<'_>, ending: &Ending<'_>) -> Vec<Call> {
    if ending.output.is_empty() {
        let items = case.stream.items();
        let values = items.filter_map(|item| item.closing.get().or(item.opening.get()));
        return values.filter_map(|item| Call::of(item, None)).collect();
    }
    let entries = ending.output.iter().enumerate();
    entries.filter_map(|(index, item)| Call::of(item, Some(format!("/response/output/{index}")))).collect()
}

/// If the echoed values differ, the request is unknown.
fn echoed<'e>(
    case: &Case<'_>,
    ending: &'e Ending<'_>,
    name: &str,
    is_of_interest: impl Fn(&str) -> bool,
) -> Option<&'e str> {
    let last = ending.snapshot.response.get(name).filter(|raw| is_of_interest(raw))?;
    let first = case.stream.first_snapshot.get().and_then(|response| response.get(name));
    first.is_none_or(|first| same(first, last)).then_some(last)
}

fn says(case: &Case<'_>, ending: &Ending<'_>, name: &str, raw: &str) -> bool {
    echoed(case, ending, name, |found| found == raw).is_some()
}

fn chosen<'e>(case: &Case<'_>, ending: &'e Ending<'_>) -> Option<Object<'e>> {
    echoed(case, ending, "tool_choice", |choice| choice.starts_with('{')).map(Object::new)
}

fn report_call(case: &mut Case<'_>, call: &Call, expected: &str, message: impl Fn() -> String) {
    let actual = call.title();
    let pointer = call.pointer.as_deref().unwrap_or("/response/output");
    case.fault(pointer, expected, &actual, message);
}

pub(in crate::rules) fn tool_choice_none(case: &mut Case<'_>, ending: &Ending<'_>) {
    if !says(case, ending, "tool_choice", "\"none\"") || ending.snapshot.has_failed() {
        return;
    }
    if let Some(call) = calls(case, ending).first() {
        report_call(case, call, "no call", || {
            format!("tool_choice is none, but the response has a {}", call.title())
        });
    }
}

pub(in crate::rules) fn tool_choice_required(case: &mut Case<'_>, ending: &Ending<'_>) {
    let is_complete = ending.snapshot.is_completed() && case.stream.is_whole();
    if !is_complete || !says(case, ending, "tool_choice", "\"required\"") {
        return;
    }
    // Items of unknown types may be calls.
    let is_no_call = |kind: Option<&str>| matches!(kind, Some("message" | "reasoning"));
    let has_call = ending.output.iter().any(|item| !is_no_call(item.plain("type")))
        || case.stream.items().any(|item| !is_no_call(item.kind()));
    let has_refused = ending.output.iter().any(is_refusal);
    if !has_call && !has_refused {
        case.fault("/response/output", "at least one call", "none", || {
            "tool_choice is required, but no tool is called".to_owned()
        });
    }
}

fn is_refusal(item: &Object<'_>) -> bool {
    let parts = item.entries("content").unwrap_or_default();
    parts.into_iter().any(|part| Object::new(part).plain("type") == Some("refusal"))
}

pub(in crate::rules) fn tool_choice_forced(case: &mut Case<'_>, ending: &Ending<'_>) {
    if !ending.snapshot.is_completed() || !case.stream.is_whole() {
        return;
    }
    let Some(choice) = chosen(case, ending) else { return };
    let Some(forced) = choice.string("name").filter(|_| choice.plain("type") == Some("function")) else {
        return;
    };
    let calls = calls(case, ending);
    let is_forced = |call: &&Call| call.is_function() && call.name.as_deref() == Some(&*forced);
    let expected = format!("a call of {forced:?} and no other");
    if let Some(other) = calls.iter().find(|call| !is_forced(call)) {
        report_call(case, other, &expected, || {
            format!("tool_choice forces {forced:?}, but the response has a {}", other.title())
        });
    } else if calls.is_empty() {
        case.fault("/response/output", &expected, "no call", || {
            format!("tool_choice forces {forced:?}, but it is not called")
        });
    }
}

pub(in crate::rules) fn allowed_tools(case: &mut Case<'_>, ending: &Ending<'_>) {
    let Some(choice) = chosen(case, ending) else { return };
    if choice.plain("type") != Some("allowed_tools") || ending.snapshot.has_failed() {
        return;
    }
    let Some(tools) = choice.entries("tools") else { return };
    let tools: Vec<Object<'_>> = tools.into_iter().map(Object::new).collect();
    for call in calls(case, ending) {
        if !tools.iter().any(|tool| allows(tool, &call)) {
            report_call(case, &call, "a call of an allowed tool", || {
                format!("the response has a {}, which tool_choice does not allow", call.title())
            });
        }
    }
}

fn allows(tool: &Object<'_>, call: &Call) -> bool {
    let Some(kind) = tool.plain("type") else { return true };
    let called = call.kind.strip_suffix("_call").unwrap_or_default();
    if called.contains(':') {
        return true;
    }
    let names = |name: &str, other: Option<&str>| match (tool.string(name), other) {
        (Some(name), Some(other)) => name == other,
        _ => true,
    };
    match called {
        "function" => kind == "function" && names("name", call.name.as_deref()),
        "custom_tool" => kind == "custom" && names("name", call.name.as_deref()),
        "mcp" => kind == "mcp" && names("server_label", call.server.as_deref()),
        // Tool names can have version suffixes: `web_search_preview`.
        _ => kind.starts_with(called),
    }
}

pub(in crate::rules) fn one_call_at_most(case: &mut Case<'_>, ending: &Ending<'_>) {
    if !says(case, ending, "parallel_tool_calls", "false") {
        return;
    }
    let calls = calls(case, ending);
    let functions: Vec<&Call> = calls.iter().filter(|call| call.is_function()).collect();
    if let Some(second) = functions.get(1) {
        let count = functions.len();
        report_call(case, second, "at most one function call", || {
            format!("parallel_tool_calls is false, but there are {count} function calls")
        });
    }
}

pub(in crate::rules) fn format_kept(case: &mut Case<'_>, ending: &Ending<'_>) {
    if !ending.snapshot.is_completed() {
        return;
    }
    let text = echoed(case, ending, "text", |text| text.contains("json_"));
    let Some(format) = text.and_then(|text| spec::json::at(text, "/format")).map(Object::new) else { return };
    let is_object = match format.plain("type") {
        Some("json_object") => true,
        Some("json_schema") if format.get("strict") == Some("true") => false,
        _ => return,
    };
    if ending.output.iter().any(is_refusal) {
        return;
    }
    // Messages before the last one may be commentary.
    let is_message = |item: &(usize, &Object<'_>)| item.1.plain("type") == Some("message");
    let Some((index, message)) = ending.output.iter().enumerate().rfind(is_message) else {
        return;
    };
    if message.plain("phase") == Some("commentary") {
        return;
    }
    let parts = message.entries("content").unwrap_or_default().into_iter().map(Object::new);
    let text: String = parts.filter_map(|part| part.string("text").map(Cow::into_owned)).collect();
    let is_kept = is_json(&text, is_object);
    let has_calls = || ending.output.iter().any(|item| item.plain("type") != Some("message"));
    let is_absent = text.trim().is_empty() && has_calls();
    if !is_kept && !is_absent {
        let (kind, actual) = (format.string("type").unwrap_or_default(), format!("{text:?}"));
        let expected = if is_object { "a JSON object, as text" } else { "JSON, as text" };
        case.fault(&format!("/response/output/{index}/content"), expected, &short(&actual), || {
            format!("text.format is {kind}, but the text of the answer is not JSON")
        });
    }
}

pub(in crate::rules) fn output_within_limit(case: &mut Case<'_>, ending: &Ending<'_>) {
    let limit = echoed(case, ending, "max_output_tokens", |limit| limit != "null").and_then(number);
    let Some(limit) = limit else { return };
    let Some(used) = ending.snapshot.usage.output else { return };
    if used > limit {
        let (expected, actual) = (format!("at most {limit}"), used.to_string());
        case.fault("/response/usage/output_tokens", &expected, &actual, || {
            format!("output_tokens is {used}, but max_output_tokens is {limit}")
        });
    }
}

pub(in crate::rules) fn compaction_triggered(case: &mut Case<'_>, ending: &Ending<'_>) {
    let is_triggered = case.turn().map_or(case.head.triggers_compaction, |turn| turn.triggers_compaction);
    let is_unknown = !case.stream.is_whole() || ending.snapshot.has_failed();
    if !is_triggered || is_unknown {
        return;
    }
    let items = case.stream.items().filter(|item| item.kind() == Some("compaction")).count();
    if items != 1 {
        let (expected, actual) = ("one compaction item", items.to_string());
        case.fault("/response/output", expected, &actual, || {
            format!("the request triggers a compaction, but the response has {items} compaction items")
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(tool: &str, item: &str) -> bool {
        allows(&Object::new(tool), &Call::of(&Object::new(item), None).unwrap())
    }

    #[test]
    fn tools_allow_their_calls() {
        let function = r#"{"type":"function","name":"f"}"#;
        assert!(allowed(function, r#"{"type":"function_call","name":"f"}"#));
        assert!(!allowed(function, r#"{"type":"function_call","name":"g"}"#));
        assert!(!allowed(function, r#"{"type":"web_search_call"}"#));
        assert!(allowed(r#"{"type":"web_search_preview"}"#, r#"{"type":"web_search_call"}"#));
        assert!(!allowed(
            r#"{"type":"mcp","server_label":"a"}"#,
            r#"{"type":"mcp_call","server_label":"b"}"#
        ));
        assert!(allowed(function, r#"{"type":"acme:search_call"}"#));
    }
}
