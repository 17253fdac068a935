//! Rules of the group `call`.

use std::borrow::Cow;

use catalogue::Level;
use spec::json;
use spec::table::Scope;

use crate::engine::Case;
use crate::engine::{Node, Object, same, short};
use crate::rules::shape;

pub(in crate::rules) fn arguments_json(case: &mut Case<'_>, _: &Node, item: &Object<'_>) {
    if item.plain("status") != Some("completed") {
        return;
    }
    let Some(arguments) = item.string("arguments") else { return };
    let Some(members) = json::members(&arguments) else {
        let actual = format!("{arguments:?}");
        case.fault("/item/arguments", "a JSON object, as a string", &short(&actual), || {
            "the arguments of the completed call are not a JSON object".to_owned()
        });
        return;
    };
    let mut names: Vec<Cow<'_, str>> = members.into_iter().map(|(name, _)| name).collect();
    names.sort_unstable();
    if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| &pair[0]) {
        case.limit(Level::May);
        case.fault("/item/arguments", "each key once", &format!("{twice:?} twice"), || {
            format!("the key {twice:?} occurs twice in the arguments of the call")
        });
    }
}

pub(in crate::rules) fn arguments_complete(case: &mut Case<'_>, _: &Node, item: &Object<'_>) {
    if item.plain("status") != Some("completed") || item.value("namespace").is_some() {
        return;
    }
    let (Some(name), Some(arguments)) = (item.string("name"), item.string("arguments")) else { return };
    // `call/arguments-json` reports arguments that are no object, or have a name twice.
    if json::members(&arguments).is_none() {
        return;
    }
    let Some(response) = case.stream.first_snapshot.get() else { return };
    let tools = response.entries("tools").unwrap_or_default().into_iter();
    let named = tools.filter(|tool| json::string_member(tool, "name").as_ref() == Some(&name));
    let called = named.map(Object::new).find(|tool| tool.plain("type") == Some("function"));
    let Some(tool) = called.filter(|tool| tool.get("strict") == Some("true")) else { return };
    if let Some(misfit) = shape::misfit(tool.value("parameters").unwrap_or_default(), &arguments) {
        let expected = format!("arguments that fit the parameters of {name:?}, which is strict");
        case.fault("/item/arguments", &expected, &short(&format!("{arguments:?}")), || {
            format!("the arguments of {name:?} do not fit its strict parameters: {misfit}")
        });
    }
}

/// The types of calls that the client answers.
pub(in crate::rules) const ANSWERED: [&str; 2] = ["function_call", "custom_tool_call"];

fn is_answered(item: &Object<'_>) -> bool {
    item.plain("type").is_some_and(|kind| ANSWERED.contains(&kind))
}

pub(in crate::rules) fn arguments_streamed(case: &mut Case<'_>, node: &Node, item: &Object<'_>) {
    if !case.has_seen(node) || !case.protocol.scope_events(Scope::Arguments).closes {
        return;
    }
    let Some(arguments) = item.string("arguments").filter(|arguments| !arguments.is_empty()) else { return };
    if case.stream.children(node, Scope::Arguments).next().is_none() {
        let actual = format!("{} characters, only in the item", arguments.chars().count());
        case.fault(
            "/item/arguments",
            "the deltas and the done event of the arguments before it",
            &actual,
            || "the call is done, but its arguments were not streamed".to_owned(),
        );
    }
}

pub(in crate::rules) fn identity_kept(case: &mut Case<'_>, node: &Node, item: &Object<'_>) {
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

pub(in crate::rules) fn name_kept(case: &mut Case<'_>, arguments: &Node, _: &Object<'_>) {
    let Some(record) = case.record() else { return };
    let call = case.stream.parent(arguments).and_then(|item| item.opening.get());
    let Some(added) = call.and_then(|call| call.value("name")).filter(|raw| *raw != "\"\"") else { return };
    let stated = json::at(record.data(), "/name").filter(|raw| *raw != "null" && !same(added, raw));
    if let Some(stated) = stated {
        case.fault("/name", &short(added), &short(stated), || {
            format!(
                "the call was added with name {}, but its arguments are those of {}",
                short(added),
                short(stated)
            )
        });
    }
}

pub(in crate::rules) fn id_unique(case: &mut Case<'_>, node: &Node, item: &Object<'_>) {
    let Some(id) = item.call_id(&case.dialect().api.call).filter(|id| !id.is_empty()) else { return };
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

pub(in crate::rules) fn name_declared(case: &mut Case<'_>, _: &Node, item: &Object<'_>) {
    if item.value("namespace").is_some() {
        return;
    }
    let Some(name) = item.string("name").filter(|name| !name.is_empty()) else { return };
    let Some(response) = case.stream.first_snapshot.get() else { return };
    let declared = case.stream.declared.get_or_init(|| declared(&response.entries("tools")?));
    let Some(declared) = declared.as_ref().filter(|names| !names.is_empty()) else { return };
    let of_kind = declared.iter().filter(|(kind, _)| Some(*kind) == item.plain("type")).map(|(_, name)| name);
    if !of_kind.clone().any(|declared| *declared == *name) {
        let list = of_kind.map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ");
        let list = if list.is_empty() { "no such call".to_owned() } else { list };
        case.fault("/item/name", &list, &format!("{name:?}"), || {
            format!("{name:?} is called, but not declared in tools")
        });
    }
}

/// The tools that the client runs, with the type of their calls. `None` if a tool may provide unlisted ones.
fn declared(tools: &[&str]) -> Option<Vec<(&'static str, String)>> {
    let mut names = Vec::new();
    for tool in tools {
        let name = || Some(json::string_member(tool, "name")?.into_owned());
        match &*json::string_member(tool, "type")? {
            "function" => names.push(("function_call", name()?)),
            "custom" => names.push(("custom_tool_call", name()?)),
            "web_search"
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
        let custom = r#"{"type":"custom","name":"c"}"#;
        let names = vec![("function_call", "f".to_owned()), ("custom_tool_call", "c".to_owned())];
        assert_eq!(declared(&[function, custom, r#"{"type":"web_search"}"#]), Some(names));
        for tool in
            [r#"{"type":"mcp"}"#, r#"{"type":"namespace","tools":[]}"#, r#"{"type":"function"}"#, "{}"]
        {
            assert_eq!(declared(&[function, tool]), None, "{tool}");
        }
    }
}
