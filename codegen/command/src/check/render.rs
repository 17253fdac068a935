//! Checks that `[render]` of dialects names events, types and members that exist. That each entry changes a response is
//! tested by the gateway.

use std::collections::BTreeSet;

use codegen::dialect::Dialect;
use codegen::formats::{Render, RenderEdit, RenderTarget};
use serde_json::Value;

use super::context::{Context, in_dialect};
use super::report::Report;
use super::walk::properties;

#[derive(Default)]
struct Names<'c> {
    members: BTreeSet<&'c str>,
    /// Values of members with the name `type`.
    types: BTreeSet<&'c str>,
}

pub(super) fn check(context: &Context, report: &mut Report) {
    for dialect in context.dialects.values().filter(|dialect| dialect.own.render != Render::default()) {
        let names = names(context, &dialect.file.api);
        let Render { items, annotations, tools, response, edits, .. } = &dialect.own.render;
        let file = in_dialect(&dialect.name, "dialect.toml");
        for kind in items.iter().chain(annotations).chain(tools) {
            if !names.types.contains(kind.as_str()) {
                report.find(&file, "[render]", unknown("type", kind), CORRECT);
            }
        }
        for name in response.members.iter().chain(&response.ended).chain(response.defaults.keys()) {
            if !names.members.contains(name.as_str()) {
                report.find(&file, "[render.response]", unknown("member", name), CORRECT);
            }
        }
        let all = &dialect.file.render.response;
        for name in response.defaults.keys() {
            if !all.members.contains(name) && !all.ended.contains(name) {
                let message = format!("the default of \"{name}\" is unused: it is not among the members");
                report.find(&file, "[render.response.defaults]", message, "remove it, or add the member");
            }
        }
        for (index, edit) in edits.iter().enumerate() {
            let place = format!("[[render.edit]] number {}", index + 1);
            for message in faults(edit, dialect, &names) {
                report.find(&file, &place, message, "correct the edit, or remove it");
            }
        }
    }
}

const CORRECT: &str = "correct the name, or remove it";

fn unknown(what: &str, name: &str) -> String {
    format!("no dialect of this API has the {what} \"{name}\"")
}

fn names<'c>(context: &'c Context, api: &str) -> Names<'c> {
    let mut names = Names::default();
    for dialect in context.dialects.values().filter(|dialect| dialect.file.api == api) {
        let files = dialect.events.values().map(|event| &event.file).chain(dialect.type_files.values());
        for file in files {
            properties(file, &mut |_, name, schema| {
                names.members.insert(name);
                if name == "type" {
                    let one_of = schema.get("enum").and_then(Value::as_array).into_iter().flatten();
                    names.types.extend(one_of.chain(schema.get("const")).filter_map(Value::as_str));
                }
            });
        }
    }
    names
}

fn faults(edit: &RenderEdit, dialect: &Dialect, names: &Names<'_>) -> Vec<String> {
    let mut faults = Vec::new();
    if edit.changed().next().is_none() {
        faults.push("it changes nothing".to_owned());
    }
    let path = edit.at.iter().flat_map(|pointer| pointer.split('/').skip(1)).filter(|name| *name != "*");
    for name in edit.changed().chain(&edit.lacks).map(String::as_str).chain(path) {
        if !names.members.contains(name) {
            faults.push(unknown("member", name));
        }
    }
    let is_of_events = edit.of == RenderTarget::Event && edit.at.is_none();
    for kind in edit.types.iter().chain(&edit.except) {
        if is_of_events && !dialect.events.contains_key(kind) {
            faults.push(format!("the dialect has no event \"{kind}\""));
        } else if !is_of_events && !names.types.contains(kind.as_str()) {
            faults.push(unknown("type", kind));
        }
    }
    let (has_moment, has_closed) = match edit.of {
        RenderTarget::Event => (false, true),
        RenderTarget::Item => (true, true),
        RenderTarget::Part => (false, false),
        RenderTarget::Response => (true, false),
    };
    if edit.when.is_some() && !has_moment {
        faults.push("`when` is for items and responses".to_owned());
    }
    if !edit.copy.is_empty() && !has_closed {
        faults.push("`copy` is for events and items".to_owned());
    }
    faults
}
