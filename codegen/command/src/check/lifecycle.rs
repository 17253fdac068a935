//! Checks the lifecycle of every event, and the events of every scope.

use std::collections::BTreeSet;
use std::path::PathBuf;

use codegen::dialect::Dialect;
use codegen::folders;
use codegen::formats::{ApiFile, Calls, Content, Effect, Operation, Outer, Role, RootOpening, Scope, Stop};
use codegen::schema::leads_somewhere;
use codegen::sound::{Report, SourcePlace, dialect_is_sound, somewhere};

use super::context::{Context, in_dialect};

pub(super) fn check(context: &Context, report: &mut Report) {
    for dialect in context.dialects.values() {
        let Ok(api) = context.shared.api_of(dialect) else {
            no_api(context, dialect, report);
            continue;
        };
        dialect_is_sound(dialect, api, &|file| context.owner(dialect, file), report);
    }
    for (name, file) in &context.shared.apis {
        let api = &Api { context, name, file, path: folders::api(name) };
        if api.dialects().next().is_none() {
            report.find(
                &api.path,
                SourcePlace::File,
                "no dialect belongs to the API",
                "set `api` of a dialect to it, or remove it",
            );
            continue;
        }
        slots(api, report);
        outer(api, report);
        calls(api, report);
        outcome(api, report);
        for (name, scope) in &file.scopes {
            scope_fits(api, name, scope, report);
        }
    }
}

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
    report.find(in_dialect(&dialect.name, "dialect.toml"), "api", message, help);
}

/// The outer levels must be nested scopes and known slots of the file.
fn outer(api: &Api<'_>, report: &mut Report) {
    let scopes = api.file;
    let Outer { root, snapshot, container, id, .. } = &scopes.outer;
    let mut find = |entry: &str, message: String, help: &str| {
        report.find(&api.path, format!("[outer] {entry}"), message, help);
    };
    if scopes.scopes.get(root).is_none_or(|scope| scope.parent.is_some()) {
        find("root", format!("\"{root}\" is not a scope without a parent"), "use the outermost scope");
    }
    let is_entry = |scope: &Scope| scope.parent.as_ref() == Some(root) && scope.key.len() == 1;
    if !scopes.scopes.get(container).is_some_and(is_entry) {
        let message = format!("\"{container}\" is not a child of \"{root}\" with a key of one slot");
        find("container", message, "use a child scope of the root whose `key` is one slot");
    }
    for (entry, slot) in [("snapshot", snapshot.as_ref()), ("id", id.as_ref())] {
        if let Some(slot) = slot.filter(|slot| !scopes.slots.contains_key(*slot)) {
            find(entry, format!("there is no slot \"{slot}\""), "use a slot of [slots]");
        }
    }
}

fn calls(api: &Api<'_>, report: &mut Report) {
    let Some(Calls { scope, types, .. }) = &api.file.client_call else { return };
    let mut find = |entry: &str, message: String, help: &str| {
        report.find(&api.path, format!("[client_call] {entry}"), message, help);
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

/// The places where clients find why the root ended, and its token counts.
fn outcome(api: &Api<'_>, report: &mut Report) {
    let mut find = |entry: &str, message: String, help: &str| {
        report.find(&api.path, entry.to_owned(), message, help);
    };
    if let Some(Stop { scope, .. }) = &api.file.stop
        && !api.file.scopes.contains_key(scope)
    {
        find("[stop] scope", format!("there is no scope \"{scope}\""), "use a scope of this file");
    }
    for pointer in &api.file.usage.events {
        if !api.dialects().any(|dialect| somewhere(dialect, pointer)) {
            let message = format!("no event of any dialect has a property at \"{pointer}\"");
            find("[usage] events", message, "correct or remove the pointer");
        }
    }
}

/// A scope is at each of its places within each place of the scopes around it.
fn places_in_body(api: &ApiFile, scope: &Scope) -> Vec<String> {
    let around = scope.parent.as_ref().and_then(|parent| api.scopes.get(parent));
    let outer = around.filter(|around| around.parent.is_some()).map(|around| places_in_body(api, around));
    let own = api.places_in_body(scope);
    let outer = outer.unwrap_or_else(|| vec![String::new()]);
    outer.iter().flat_map(|outer| own.iter().map(move |inner| format!("{outer}{inner}"))).collect()
}

/// Without operations, bodies are events.
fn is_in_body(api: &Api<'_>, pointer: &str) -> bool {
    let root = api.file.operations.get(&Operation::Create).and_then(|route| route.answer.as_ref());
    if root.is_none() {
        return api.dialects().any(|dialect| somewhere(dialect, pointer));
    }
    api.dialects().any(|dialect| {
        let body = root.and_then(|root| dialect.types.get(dialect.file.roots.get(root)?));
        body.is_some_and(|body| leads_somewhere(dialect.registry(), body, pointer))
    })
}

fn slots(api: &Api<'_>, report: &mut Report) {
    for (slot, pointer) in api.file.slots.iter().filter(|(_, pointer)| !pointer.is_empty()) {
        let place = format!("[slots] {slot}");
        if !api.dialects().any(|dialect| somewhere(dialect, pointer)) {
            let message = format!("no event of any dialect has a property at \"{pointer}\"");
            report.find(&api.path, place, message, "correct or remove the slot");
        }
    }
}

fn scope_fits(api: &Api<'_>, name: &str, scope: &Scope, report: &mut Report) {
    let scopes = api.file;
    let mut find = |message: String, help: &str| {
        report.find(&api.path, format!("[scope.{name}]"), message, help);
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
    for pointer in [&scope.in_parent, &scope.in_response].into_iter().flatten().chain(&scope.in_body) {
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
    let effects = || events().flat_map(|(_, event)| event.lifecycle.effects());
    let own: Vec<&Effect> = effects().filter(|effect| effect.scope == name).collect();
    if own.is_empty() && scopes.outer.opens != RootOpening::FirstEvent {
        return find("no event of any dialect belongs to it".to_owned(), "remove the scope");
    }
    let begun: BTreeSet<&str> = own.iter().filter_map(|effect| effect.phase.as_deref()).collect();
    for phase in scope.phases.iter().chain(&scope.ends).filter(|phase| !begun.contains(phase.as_str())) {
        find(format!("no event of any dialect begins its phase \"{phase}\""), "correct or remove the phase");
    }
    siblings(scopes, name, scope, &mut find);
    for inside in &scope.in_body {
        let is_it = |place: &&String| place.ends_with(inside.as_str());
        if !places_in_body(scopes, scope).iter().filter(is_it).any(|place| is_in_body(api, place)) {
            find(format!("no body of any dialect has a property at \"{inside}\""), "correct `in_body`");
        }
    }
    let snapshot = scopes.outer.snapshot.as_ref().and_then(|slot| scopes.slots.get(slot));
    let snapshot = snapshot.map_or("", String::as_str);
    let states = |role: Role, holder: &str, inside: &str| {
        events().any(|(dialect, event)| {
            let effects = event.lifecycle.effects().iter();
            effects.filter(|effect| effect.role == role && effect.scope == holder).any(|effect| {
                let value = effect.value.as_deref().unwrap_or(snapshot);
                leads_somewhere(dialect.registry(), &event.schema, &format!("{value}{inside}"))
            })
        })
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

/// The properties that limit how many of a scope are open, and when.
fn siblings(api: &ApiFile, name: &str, scope: &Scope, find: &mut impl FnMut(String, &str)) {
    let parent = scope.parent.as_ref().and_then(|parent| api.scopes.get(parent));
    let own_keys = scope.key.len() - parent.map_or(0, |parent| parent.key.len()).min(scope.key.len());
    if scope.exclusive && own_keys == 0 {
        find(
            "`exclusive` has no effect: without a `key` of its own it has no siblings".to_owned(),
            "remove `exclusive`, or complete `key`",
        );
    }
    for phase in &scope.repeatable {
        if name != api.outer.root {
            find("`repeatable` is only for phases of the root".to_owned(), "remove it: others may repeat");
        } else if !scope.phases.contains(phase) {
            find(
                format!("`repeatable` has \"{phase}\", which is not in `phases`"),
                "use a phase of the scope",
            );
        }
    }
    if let Some(phase) = scope.complete.as_ref().filter(|phase| !scope.phases.contains(phase)) {
        find(format!("`complete` is \"{phase}\", which is not in `phases`"), "use a phase of the scope");
    }
    if let Some(phase) = &scope.until
        && !parent.is_some_and(|parent| parent.phases.contains(phase))
    {
        let known = parent.map(|parent| parent.phases.join(", ")).unwrap_or_default();
        find(
            format!("`until` is \"{phase}\", which is not a phase of its parent; the parent has: {known}"),
            "use one of `phases` of the parent",
        );
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
