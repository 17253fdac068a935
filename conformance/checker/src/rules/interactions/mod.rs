//! Rules about one API.

use spec::json;
use spec::table::Scope;

use crate::engine::{Case, Node, Object, Snapshot, short};
use crate::rules::counts::parts_sum_to;

const CALL: &str = "function_call";

/// Members of a step with what its deltas say.
const CONTENT: [&str; 4] = ["content", "summary", "arguments", "result"];

fn is_ended(case: &Case<'_>, snapshot: &Snapshot<'_>) -> bool {
    snapshot.is_terminal() && !case.stream.has_gap
}

pub(super) fn action_required(case: &mut Case<'_>, snapshot: &Snapshot<'_>) {
    let Some(status) = snapshot.response.plain("status").filter(|_| is_ended(case, snapshot)) else { return };
    let has_call = case.stream.items().any(|step| step.kind() == Some(CALL));
    let pointer = snapshot.pointer("status");
    match (status, has_call) {
        ("completed", true) => case.fault(&pointer, "\"requires_action\"", "\"completed\"", || {
            "the interaction is completed, but a function is called".to_owned()
        }),
        ("requires_action", false) => case.fault(&pointer, "a function_call step", "none", || {
            "the interaction requires action, but no function is called".to_owned()
        }),
        _ => {}
    }
}

pub(super) fn completed_counted(case: &mut Case<'_>, snapshot: &Snapshot<'_>) {
    let has_failed = matches!(snapshot.response.plain("status"), Some("failed" | "cancelled"));
    if is_ended(case, snapshot) && !has_failed && snapshot.response.value("usage").is_none() {
        case.lacks(&snapshot.pointer(""), "usage", || "the interaction ends without token counts".to_owned());
    }
}

pub(super) fn tokens_add_up(case: &mut Case<'_>, snapshot: &Snapshot<'_>) {
    const PARTS: [&str; 4] =
        ["total_input_tokens", "total_output_tokens", "total_thought_tokens", "total_tool_use_tokens"];
    let Some(usage) = snapshot.response.value("usage").map(Object::new) else { return };
    let named = "input, output, thoughts and tool use";
    parts_sum_to(case, &snapshot.pointer("usage"), &usage, ("total_tokens", &PARTS), named);
}

pub(super) fn arguments_json(case: &mut Case<'_>, snapshot: &Snapshot<'_>) {
    let stream = case.stream;
    if snapshot.response.plain("status") != Some("requires_action") || !is_ended(case, snapshot) {
        return;
    }
    for step in stream.items() {
        let is_wrong = |text: &&Node| !text.partial && json::members(text.joined.trim()).is_none();
        if let Some(text) = stream.children(step, Scope::Input).find(is_wrong) {
            let (name, actual) = (case.name(step), short(&text.joined).into_owned());
            case.fault_of_event("a JSON object", &actual, || {
                format!("the arguments of {name} do not join to a JSON object")
            });
        }
    }
}

pub(super) fn starts_empty(case: &mut Case<'_>, step: &Node, value: &Object<'_>) {
    let is_full = |member: &str| value.value(member).is_some_and(|it| !matches!(it, "[]" | "{}" | "\"\""));
    if let Some(member) = CONTENT.into_iter().find(|member| is_full(member)) {
        let name = case.name(step);
        case.fault(&format!("/step/{member}"), "no content", "content", || {
            format!("{name} starts with {member}, which belongs in step.delta")
        });
    }
}
