//! Checks the lifecycle of every event, and the events of every scope.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::context::{Context, in_dialect};
use super::report::{Place, Report};
use super::walk::leads_somewhere;
use crate::dialect::{Dialect, Event};
use crate::folders;
use crate::formats::{ApiFile, Aside, Calls, Content, Framing, Outer, Role, Scope};

pub(super) fn check(context: &Context, report: &mut Report) {
    for dialect in context.dialects.values() {
        let Ok(api) = context.shared.api_of(dialect) else {
            no_api(context, dialect, report);
            continue;
        };
        for event in dialect.events.values() {
            event_fits(context, (dialect, api), event, report);
        }
        terminals(context, dialect, report);
        messages(dialect, report);
        opening(api, dialect, report);
        envelope(api, dialect, report);
    }
    for (name, file) in &context.shared.apis {
        let api = &Api { context, name, file, path: folders::api(name) };
        if api.dialects().next().is_none() {
            report.find(
                &api.path,
                Place::File,
                "no dialect belongs to the API",
                "set `api` of a dialect to it, or remove it",
            );
            continue;
        }
        slots(api, report);
        outer(api, report);
        calls(api, report);
        for (name, scope) in &file.scopes {
            scope_fits(api, name, scope, report);
        }
    }
}

/// An API, with all files of the specification.
struct Api<'c> {
    context: &'c Context,
    name: &'c str,
    file: &'c ApiFile,
    path: PathBuf,
}

impl Api<'_> {
    fn dialects(&self) -> impl Iterator<Item = &Dialect> {
        self.context.dialects.values().filter(|dialect| dialect.file.api == self.name)
    }
}

fn no_api(context: &Context, dialect: &Dialect, report: &mut Report) {
    // It is reported for the dialect from which others inherit it.
    let parent = dialect.lineage.first().and_then(|name| context.dialects.get(name));
    if parent.is_some_and(|parent| parent.file.api == dialect.file.api) {
        return;
    }
    let message = match dialect.file.api.as_str() {
        "" => "`api` is missing".to_owned(),
        name => format!("there is no API \"{name}\""),
    };
    let help = format!(
        "set `api` to a folder of apis/: {}",
        context.shared.apis.keys().cloned().collect::<Vec<_>>().join(", ")
    );
    report.find(in_dialect(&dialect.name, "dialect.toml"), Place::entry("api"), message, help);
}

fn event_fits(context: &Context, (dialect, api): (&Dialect, &ApiFile), event: &Event, report: &mut Report) {
    let file = context.owner(dialect, &format!("events/{}.json", event.name));
    let lifecycle = &event.lifecycle;
    let mut find = |at: &str, message: String, help: &str| {
        report.find(&file, Place::pointer(format!("/x-lifecycle/{at}")), message, help);
    };
    let Some(scope) = api.scopes.get(&lifecycle.scope) else {
        let message = format!("there is no scope \"{}\"", lifecycle.scope);
        return find("scope", message, "use a scope of api.toml, or add the scope there");
    };
    match (lifecycle.role, &lifecycle.phase) {
        (Role::Phase, None) => {
            find("role", "the role is `phase`, but the entry `phase` is missing".to_owned(), "add `phase`");
        }
        (Role::Phase, Some(phase)) if !scope.phases.contains(phase) && !scope.ends.contains(phase) => {
            let known = scope.phases.iter().chain(&scope.ends).cloned().collect::<Vec<_>>().join(", ");
            let message = format!("scope \"{}\" has no phase \"{phase}\"; it has: {known}", lifecycle.scope);
            find("phase", message, "use one of these, or add the phase to the scope in api.toml");
        }
        (Role::Terminal, Some(phase)) if !scope.ends.contains(phase) => {
            let known = scope.ends.join(", ");
            let message = format!(
                "scope \"{}\" does not end in phase \"{phase}\"; it ends in: {known}",
                lifecycle.scope
            );
            find("phase", message, "use one of these, or add the phase to `ends` of the scope in api.toml");
        }
        (role, Some(_)) if !matches!(role, Role::Phase | Role::Terminal) => {
            let message = "`phase` is only for events with the role `phase` or `terminal`".to_owned();
            find("phase", message, "remove `phase`");
        }
        _ => {}
    }
    if matches!(lifecycle.role, Role::Delta | Role::Final) && lifecycle.value.is_none() {
        let message = "an event with the role `delta` or `final` needs `value`".to_owned();
        find("role", message, "set `value` to the JSON pointer of the value in the event");
    }
    let root = &api.outer.root;
    let is_of_root = lifecycle.scope == *root;
    if lifecycle.early && !(lifecycle.role == Role::Point && is_of_root) {
        let message = format!("`early` is only for events with the role `point` and the scope {root}");
        find("early", message, "remove `early`");
    }
    if lifecycle.role == Role::Terminal && !is_of_root {
        find("role", format!("the role `terminal` is only for events of the scope {root}"), "use `close`");
    }
    if let Some(value) = &lifecycle.value
        && !leads_somewhere(dialect.registry(), &event.schema, value)
    {
        let message = format!("the schema of the event has no property at \"{value}\"");
        find("value", message, "point to a declared property");
    }
}

fn terminals(context: &Context, dialect: &Dialect, report: &mut Report) {
    let file = in_dialect(&dialect.name, "dialect.toml");
    let entry = || Place::entry("[terminal] events");
    let listed = &dialect.file.terminal.events;
    for name in listed {
        match dialect.events.get(name) {
            None => {
                let message = format!("the dialect has no event \"{name}\"");
                report.find(&file, entry(), message, "use events of the dialect");
            }
            Some(event) if event.lifecycle.role != Role::Terminal => {
                let message =
                    format!("\"{name}\" is listed, but its role in `x-lifecycle` is not `terminal`");
                report.find(
                    &file,
                    entry(),
                    message,
                    "set its role to `terminal`, or remove it from the list",
                );
            }
            Some(_) => {}
        }
    }
    // Faults of an inherited event are reported for the dialect that defines it.
    let parent = dialect.lineage.first().and_then(|name| context.dialects.get(name));
    let is_inherited = |event: &Event| {
        let same = parent.and_then(|parent| parent.events.get(&event.name));
        same.is_some_and(|same| same.lifecycle.role == event.lifecycle.role)
    };
    for event in dialect.events.values().filter(|event| !is_inherited(event)) {
        if event.lifecycle.role == Role::Terminal && !listed.contains(&event.name) {
            let message = format!("\"{}\" has the role `terminal`, but is not listed", event.name);
            report.find(&file, entry(), message, "add it to the list, or change its role");
        }
    }
}

/// Checks that the events that dialect.toml names for a connection are events of the dialect.
fn messages(dialect: &Dialect, report: &mut Report) {
    let Framing { websocket, create, steer, inject, .. } = &dialect.file.framing;
    let file = in_dialect(&dialect.name, "dialect.toml");
    let replies = |aside: &Option<Aside>| aside.iter().flat_map(Aside::replies).cloned().collect();
    let named: [(&str, Vec<String>); 2] =
        [("[framing.steer]", replies(steer)), ("[framing.inject]", replies(inject))];
    for (entry, names) in named {
        for name in names.iter().filter(|name| !dialect.events.contains_key(*name)) {
            let message = format!("the dialect has no event \"{name}\"");
            report.find(&file, Place::entry(entry), message, "use an event of the dialect");
        }
    }
    if *websocket != create.is_some() {
        let message = "only one of `create` and `websocket` is set".to_owned();
        let help = "set `create` to the message that requests a response if `websocket` is true; otherwise remove it";
        report.find(&file, Place::entry("[framing] create"), message, help);
    }
}

fn opening(api: &ApiFile, dialect: &Dialect, report: &mut Report) {
    let root = &api.outer.root;
    let names: Vec<&str> = dialect.openings(root).collect();
    if names.len() > 1 {
        let message = format!("several events open the scope \"{root}\": {}", names.join(", "));
        let help = "keep the role `open` for one event; give the others another role";
        report.find(in_dialect(&dialect.name, "dialect.toml"), Place::File, message, help);
    }
}

/// Checks that the outer levels are nested scopes and known slots of the file.
fn outer(api: &Api<'_>, report: &mut Report) {
    let scopes = api.file;
    let Outer { root, snapshot, container, id, .. } = &scopes.outer;
    let mut find = |entry: &str, message: String, help: &str| {
        report.find(&api.path, Place::entry(format!("[outer] {entry}")), message, help);
    };
    if scopes.scopes.get(root).is_none_or(|scope| scope.parent.is_some()) {
        find("root", format!("\"{root}\" is not a scope without a parent"), "use the outermost scope");
    }
    let is_entry = |scope: &Scope| scope.parent.as_ref() == Some(root) && scope.key.len() == 1;
    if !scopes.scopes.get(container).is_some_and(is_entry) {
        let message = format!("\"{container}\" is not a child of \"{root}\" with a key of one slot");
        find("container", message, "use a child scope of the root whose `key` is one slot");
    }
    for (entry, slot) in [("snapshot", Some(snapshot)), ("id", id.as_ref())] {
        if let Some(slot) = slot.filter(|slot| !scopes.slots.contains_key(*slot)) {
            find(entry, format!("there is no slot \"{slot}\""), "use a slot of [slots]");
        }
    }
}

/// Checks that calls are of a known scope, and that each has arguments.
fn calls(api: &Api<'_>, report: &mut Report) {
    let Some(Calls { scope, types, .. }) = &api.file.client_call else { return };
    let mut find = |entry: &str, message: String, help: &str| {
        report.find(&api.path, Place::entry(format!("[client_call] {entry}")), message, help);
    };
    if !api.file.scopes.contains_key(scope) {
        find("scope", format!("there is no scope \"{scope}\""), "use a scope of this file");
    }
    let arguments = || api.file.scopes.values().filter(|scope| scope.content == Some(Content::Arguments));
    for kind in types.iter().filter(|kind| !arguments().any(|scope| scope.of.contains(kind))) {
        let message = format!("no scope with the content `arguments` is of \"{kind}\"");
        find("types", message, "set `content` of the scope of its arguments, or remove it");
    }
}

fn envelope(api: &ApiFile, dialect: &Dialect, report: &mut Report) {
    let file = in_dialect(&dialect.name, "dialect.toml");
    for (slot, pointer) in &dialect.own.envelope.0 {
        let mut find = |message: String, help: &str| {
            report.find(&file, Place::entry(format!("[envelope] {slot}")), message, help);
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

fn somewhere(dialect: &Dialect, pointer: &str) -> bool {
    dialect.events.values().any(|event| leads_somewhere(dialect.registry(), &event.schema, pointer))
}

fn slots(api: &Api<'_>, report: &mut Report) {
    for (slot, pointer) in &api.file.slots {
        let place = Place::entry(format!("[slots] {slot}"));
        if !api.dialects().any(|dialect| somewhere(dialect, pointer)) {
            let message = format!("no event of any dialect has a property at \"{pointer}\"");
            report.find(&api.path, place, message, "correct or remove the slot");
        }
    }
}

fn scope_fits(api: &Api<'_>, name: &str, scope: &Scope, report: &mut Report) {
    let scopes = api.file;
    let mut find = |message: String, help: &str| {
        report.find(&api.path, Place::entry(format!("[scope.{name}]")), message, help);
    };
    match &scope.parent {
        None if *name != scopes.outer.root => {
            find("`parent` is missing".to_owned(), "set `parent`; only the root has none");
        }
        Some(parent) if !scopes.scopes.contains_key(parent) => {
            find(format!("its parent \"{parent}\" does not exist"), "use a scope of this file");
        }
        Some(_) if circular(scopes, name) => {
            find("its parents form a cycle".to_owned(), "correct `parent`");
        }
        _ => {}
    }
    for slot in scope.key.iter().filter(|slot| !scopes.slots.contains_key(*slot)) {
        find(format!("its key uses the unknown slot \"{slot}\""), "use a slot of [slots]");
    }
    for pointer in [&scope.in_parent, &scope.in_response].into_iter().flatten() {
        for slot in pointer.split('/').filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}')) {
            if !scope.key.iter().any(|key| key == slot) {
                find(
                    format!("\"{pointer}\" uses the slot \"{slot}\", which is not in its key"),
                    "use slots of `key`",
                );
            }
        }
    }
    let call = scopes.client_call.as_ref();
    let is_of_call = call.is_some_and(|call| scope.parent.as_ref() == Some(&call.scope));
    if scope.content == Some(Content::Arguments) && !is_of_call {
        find(
            "its content is `arguments`, but its parent is not that of [client_call]".to_owned(),
            "set `scope` of [client_call]",
        );
    }
    let events = || api.dialects().flat_map(|dialect| dialect.events.values().map(move |e| (dialect, e)));
    let own: Vec<&Event> =
        events().map(|(_, event)| event).filter(|event| event.lifecycle.scope == name).collect();
    if own.is_empty() {
        return find("no event of any dialect belongs to it".to_owned(), "remove the scope");
    }
    let begun: BTreeSet<&str> = own.iter().filter_map(|event| event.lifecycle.phase.as_deref()).collect();
    for phase in scope.phases.iter().chain(&scope.ends).filter(|phase| !begun.contains(phase.as_str())) {
        find(format!("no event of any dialect begins its phase \"{phase}\""), "correct or remove the phase");
    }
    let snapshot = scopes.slots.get(&scopes.outer.snapshot).map_or("", String::as_str);
    let states = |role: Role, holder: &str, inside: &str| {
        events().filter(|(_, event)| event.lifecycle.role == role && event.lifecycle.scope == holder).any(
            |(dialect, event)| {
                let value = event.lifecycle.value.as_deref().unwrap_or(snapshot);
                leads_somewhere(dialect.registry(), &event.schema, &format!("{value}{inside}"))
            },
        )
    };
    if let (Some(parent), Some(inside)) = (&scope.parent, &scope.in_parent)
        && scopes.scopes.contains_key(parent)
        && !states(Role::Close, parent, inside)
    {
        find(
            format!(
                "no event that closes the scope \"{parent}\" has a property at \"{inside}\" in its value"
            ),
            "correct `in_parent`",
        );
    }
    if let Some(inside) = &scope.in_response
        && !states(Role::Terminal, &scopes.outer.root, inside)
    {
        find(format!("no terminal response has a property at \"{inside}\""), "correct `in_response`");
    }
}

fn circular(api: &ApiFile, name: &str) -> bool {
    let scopes = &api.scopes;
    let mut seen = BTreeSet::from([name]);
    let mut current = name;
    while let Some(parent) = scopes.get(current).and_then(|scope| scope.parent.as_deref()) {
        if !seen.insert(parent) {
            return true;
        }
        current = parent;
    }
    false
}
