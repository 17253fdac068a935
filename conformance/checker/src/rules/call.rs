//! Rules of the group `call`.

use catalogue::Level;
use spec::json;
use spec::table::Scope;

use super::text;
use crate::engine::Case;
use crate::engine::{Node, Object, State, same, short};

pub(super) fn arguments_json(case: &mut Case<'_>, _: &Node, item: &Object<'_>) {
    if item.plain("status") != Some("completed") {
        return;
    }
    let Some(arguments) = item.string("arguments") else { return };
    if json::members(&arguments).is_none() {
        let actual = format!("{arguments:?}");
        case.fault("/item/arguments", "a JSON object, as a string", &short(&actual), || {
            "the arguments of the completed call are not a JSON object".to_owned()
        });
    }
}

pub(super) fn has_deltas(case: &mut Case<'_>, node: &Node, arguments: &Object<'_>) {
    text::came_at_once(case, node, arguments, "arguments");
}

/// The types of calls that the client answers.
pub(super) const ANSWERED: [&str; 2] = ["function_call", "custom_tool_call"];

/// Returns whether an item is a call that the client answers.
fn is_answered(item: &Object<'_>) -> bool {
    item.plain("type").is_some_and(|kind| ANSWERED.contains(&kind))
}

pub(super) fn arguments_streamed(case: &mut Case<'_>, node: &Node, item: &Object<'_>) {
    let stream = case.stream;
    let is_unknown = stream.has_gap || stream.resumed || node.partial || node.state() == State::Implied;
    if is_unknown || !case.protocol.scope_events(Scope::Arguments).closes {
        return;
    }
    let Some(arguments) = item.string("arguments").filter(|arguments| !arguments.is_empty()) else { return };
    if stream.children(node, Scope::Arguments).next().is_none() {
        let actual = format!("{} characters, only in the item", arguments.chars().count());
        case.fault(
            "/item/arguments",
            "the deltas and the done event of the arguments before it",
            &actual,
            || "the call is done, but its arguments were not streamed".to_owned(),
        );
    }
}

pub(super) fn identity_kept(case: &mut Case<'_>, node: &Node, item: &Object<'_>) {
    let Some(added) = node.opening.get().filter(|added| is_answered(added)) else { return };
    for name in ["call_id", "name"] {
        // `item/call-named` reports empty values.
        let Some(before) = added.value(name).filter(|raw| *raw != "\"\"") else { continue };
        let Some(after) = item.get(name).filter(|after| !same(before, after)) else { continue };
        case.fault(&format!("/item/{name}"), &short(before), &short(after), || {
            format!("the call was added with {name} {}, but is done with {}", short(before), short(after))
        });
    }
}

pub(super) fn id_unique(case: &mut Case<'_>, node: &Node, item: &Object<'_>) {
    let Some(id) = item.call_id().filter(|id| !id.is_empty()) else { return };
    if let Some(other) = case.stream.nodes.call_named(id).filter(|first| !std::ptr::eq(*first, node)) {
        if !is_answered(item) {
            case.limit(Level::Should);
        }
        let other = case.name(other);
        case.fault("/item/call_id", "a call_id of its own", &format!("{id:?}"), || {
            format!("{other} has the same call_id {id:?}")
        });
    }
}

pub(super) fn name_declared(case: &mut Case<'_>, _: &Node, item: &Object<'_>) {
    if item.value("namespace").is_some() {
        return;
    }
    let Some(name) = item.string("name").filter(|name| !name.is_empty()) else { return };
    let Some(response) = case.stream.first_snapshot.get() else { return };
    let declared = case.stream.functions.get_or_init(|| functions(&response.entries("tools")?));
    let Some(declared) = declared.as_ref().filter(|names| !names.is_empty()) else { return };
    if !declared.iter().any(|declared| *declared == *name) {
        let list = declared.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ");
        case.fault("/item/name", &list, &format!("{name:?}"), || {
            format!("{name:?} is called, but not declared in tools")
        });
    }
}

/// Returns the names of declared functions, or `None` if a tool may provide unlisted ones.
fn functions(tools: &[&str]) -> Option<Vec<String>> {
    let mut names = Vec::new();
    for tool in tools {
        match &*json::string_member(tool, "type")? {
            "function" => names.push(json::string_member(tool, "name")?.into_owned()),
            "custom"
            | "web_search"
            | "web_search_preview"
            | "file_search"
            | "code_interpreter"
            | "image_generation"
            | "shell"
            | "local_shell"
            | "apply_patch"
            | "computer_use_preview" => {}
            _ => return None,
        }
    }
    Some(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_known_only_when_all_are_listed() {
        let function = r#"{"type":"function","name":"f"}"#;
        assert_eq!(functions(&[function, r#"{"type":"web_search"}"#]), Some(vec!["f".to_owned()]));
        for tool in
            [r#"{"type":"mcp"}"#, r#"{"type":"namespace","tools":[]}"#, r#"{"type":"function"}"#, "{}"]
        {
            assert_eq!(functions(&[function, tool]), None, "{tool}");
        }
    }
}
