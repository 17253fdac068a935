//! The checks of one dialect that need no other file of the specification. Programs that load a dialect from a folder make them, too.

mod chains;
mod effects;
mod report;

use std::path::{Path, PathBuf};

use crate::dialect::Dialect;
use crate::formats::{ApiFile, Aside, EventLine, Framing, Marker, RootEnd, RootOpening};
use crate::schema::leads_somewhere;

pub use report::{Finding, Open, Report, SourcePlace};

/// Checks the chains of types, lifecycles, framing, patches and errata of a dialect. `owner` returns the file that has an event:
/// its own, or one of the dialects that it extends.
pub fn dialect_is_sound(
    dialect: &Dialect,
    api: &ApiFile,
    owner: &dyn Fn(&str) -> PathBuf,
    report: &mut Report,
) {
    if let Err((file, place, message)) = dialect.has_ends() {
        report.find(owner(&file), place, message, "put an object or an array in between");
        // Other checks follow these chains.
        return;
    }
    for event in dialect.events.values() {
        effects::check(&owner(&format!("events/{}.json", event.name)), (dialect, api), event, report);
    }
    roots(dialect, report);
    marker(api, dialect, report);
    ending(api, dialect, report);
    types(dialect, report);
    messages(dialect, report);
    opening(api, dialect, report);
    envelope(api, dialect, report);
    errata(dialect, report);
    patches(dialect, report);
}

/// A path in a dialect's folder, relative to the folder of the specification.
pub fn in_dialect(dialect: &str, relative: &str) -> PathBuf {
    Path::new("dialects").join(dialect).join(relative)
}

fn roots(dialect: &Dialect, report: &mut Report) {
    for (role, name) in &dialect.own.roots {
        if !dialect.types.contains_key(name) {
            let place = format!("[roots] {role}");
            let message = format!("the dialect has no type \"{name}\"");
            report.find(
                in_dialect(&dialect.name, "dialect.toml"),
                place,
                message,
                "use a type of the dialect",
            );
        }
    }
}

/// An event must end the root, unless the marker or the end of the stream does.
fn ending(api: &ApiFile, dialect: &Dialect, report: &mut Report) {
    let has_end = api.scopes.get(&api.outer.root).is_none_or(|root| !dialect.terminal(root).is_empty());
    if api.outer.ends == RootEnd::Event && !dialect.events.is_empty() && !has_end {
        let message = format!("no event of the dialect ends the {}", api.outer.root);
        let help = "give the last event of a stream the role `terminal`";
        report.find(in_dialect(&dialect.name, "dialect.toml"), SourcePlace::File, message, help);
    }
}

fn marker(api: &ApiFile, dialect: &Dialect, report: &mut Report) {
    if api.outer.ends == RootEnd::Done && dialect.file.framing.done == Marker::Forbidden {
        let message = "the API ends its root with [DONE], which the dialect forbids".to_owned();
        let help = "set `done` to `required` or `allowed`";
        report.find(in_dialect(&dialect.name, "dialect.toml"), "[framing] done", message, help);
    }
}

/// The types of events that are found in their data must be events of the dialect, and each rule must be able to apply.
fn types(dialect: &Dialect, report: &mut Report) {
    let Framing { types, event_line, .. } = &dialect.file.framing;
    let mut find = |message: String, help: &str| {
        let place = "[framing] types";
        report.find(in_dialect(&dialect.name, "dialect.toml"), place, message, help);
    };
    for (nth, rule) in types.iter().enumerate() {
        if !dialect.events.contains_key(&rule.name) {
            find(format!("the dialect has no event \"{}\"", rule.name), "use an event of the dialect");
        }
        if let Some(pointer) = rule.has.as_ref().filter(|pointer| !pointer.starts_with('/')) {
            find(format!("\"{pointer}\" is not a JSON pointer"), "begin the pointer with /");
        }
        if rule.has.is_none() && nth + 1 < types.len() {
            find(
                format!("any event is \"{}\", so that later entries never apply", rule.name),
                "move the entry without `has` to the end",
            );
        }
    }
    if types.iter().any(|rule| rule.is.is_none()) && *event_line == EventLine::EqualsType {
        find(
            "with `types`, the data has no `type` that the `event:` field could equal".to_owned(),
            "set `event_line` to `none`",
        );
    }
}

/// The events that dialect.toml names for a connection must be events of the dialect.
fn messages(dialect: &Dialect, report: &mut Report) {
    let Framing { websocket, create, steer, inject, .. } = &dialect.file.framing;
    let file = in_dialect(&dialect.name, "dialect.toml");
    let replies = |aside: &Option<Aside>| aside.iter().flat_map(Aside::replies).cloned().collect();
    let named: [(&str, Vec<String>); 2] =
        [("[framing.steer]", replies(steer)), ("[framing.inject]", replies(inject))];
    for (entry, names) in named {
        for name in names.iter().filter(|name| !dialect.events.contains_key(*name)) {
            let message = format!("the dialect has no event \"{name}\"");
            report.find(&file, entry, message, "use an event of the dialect");
        }
    }
    if *websocket != create.is_some() {
        let message = "only one of `create` and `websocket` is set".to_owned();
        let help = "set `create` to the message that requests a response if `websocket` is true; otherwise remove it";
        report.find(&file, "[framing] create", message, help);
    }
}

fn opening(api: &ApiFile, dialect: &Dialect, report: &mut Report) {
    let root = &api.outer.root;
    let names: Vec<&str> = dialect.openings(root).collect();
    if names.len() > 1 {
        let message = format!("several events open the scope \"{root}\": {}", names.join(", "));
        let help = "keep the role `open` for one event; give the others another role";
        report.find(in_dialect(&dialect.name, "dialect.toml"), SourcePlace::File, message, help);
    }
    if let Some(name) = names.first().filter(|_| api.outer.opens == RootOpening::FirstEvent) {
        let message =
            format!("\"{name}\" opens the scope \"{root}\", which the first event of a stream opens");
        let help = "give the event another role, or remove `opens` from [outer] of api.toml";
        report.find(in_dialect(&dialect.name, "dialect.toml"), SourcePlace::File, message, help);
    }
}

fn envelope(api: &ApiFile, dialect: &Dialect, report: &mut Report) {
    let file = in_dialect(&dialect.name, "dialect.toml");
    for (slot, pointer) in &dialect.own.envelope.0 {
        let mut find = |message: String, help: &str| {
            report.find(&file, format!("[envelope] {slot}"), message, help);
        };
        match api.slots.get(slot) {
            None => find(format!("there is no slot \"{slot}\""), "use a slot of api.toml"),
            Some(usual) if usual == pointer => {
                find(format!("\"{pointer}\" is the default"), "remove the entry");
            }
            Some(_) if !somewhere(dialect, pointer) => {
                find(
                    format!("no event of the dialect has a property at \"{pointer}\""),
                    "correct or remove the entry",
                );
            }
            Some(_) => {}
        }
    }
}

/// Whether an event of a dialect declares a property at a JSON pointer.
pub fn somewhere(dialect: &Dialect, pointer: &str) -> bool {
    dialect.events.values().any(|event| leads_somewhere(dialect.registry(), &event.schema, pointer))
}

fn errata(dialect: &Dialect, report: &mut Report) {
    let file = in_dialect(&dialect.name, "errata.toml");
    for (index, (erratum, idle)) in dialect.errata.iter().enumerate() {
        let place = || format!("[[erratum]] number {}", index + 1);
        for message in idle {
            report.find(&file, place(), message, "correct the place, or remove it");
        }
        for (name, text) in [("reason", &erratum.reason), ("evidence", &erratum.evidence)] {
            if text.trim().is_empty() {
                report.find(
                    &file,
                    place(),
                    format!("the {name} is empty"),
                    "explain why, and where it was seen",
                );
            }
        }
    }
}

fn patches(dialect: &Dialect, report: &mut Report) {
    for idle in &dialect.idle_patches {
        let file = in_dialect(&dialect.name, &idle.file);
        report.find(file, SourcePlace::pointer(&idle.pointer), idle.why, "remove this from the patch");
    }
}
