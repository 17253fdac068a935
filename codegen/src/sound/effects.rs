//! Checks the effects of an event.

use std::collections::BTreeSet;
use std::path::Path;

use super::report::{Report, SourcePlace};
use crate::dialect::{Dialect, Event};
use crate::formats::{ApiFile, Effect, Lifecycle, Role, Scope};
use crate::schema::leads_somewhere;

pub(super) fn check(file: &Path, (dialect, api): (&Dialect, &ApiFile), event: &Event, report: &mut Report) {
    let is_listed = matches!(event.lifecycle, Lifecycle::Listed(_));
    let effects = event.lifecycle.effects();
    for (nth, effect) in effects.iter().enumerate() {
        let path = if is_listed { format!("/x-lifecycle/{nth}/") } else { "/x-lifecycle/".to_owned() };
        let mut find = |at: &str, message: String, help: &str| {
            report.find(file, SourcePlace::pointer(format!("{path}{at}")), message, help);
        };
        let Some(scope) = api.scopes.get(&effect.scope) else {
            let known = api.scopes.keys().cloned().collect::<Vec<_>>().join(", ");
            let message = format!("there is no scope \"{}\"; there are: {known}", effect.scope);
            find("scope", message, "use one of these, or add the scope to api.toml");
            continue;
        };
        phase_fits(effect, scope, &mut find);
        role_fits(api, effect, &mut find);
        value_is_declared(dialect, event, effect, &mut find);
        if is_listed {
            key_is_near(dialect, api, scope, effect, &mut find);
        } else {
            has_no_entries_of_lists(effect, &mut find);
        }
    }
    if is_listed {
        let mut find = |at: String, message: String, help: &str| {
            report.find(file, SourcePlace::pointer(format!("/x-lifecycle{at}")), message, help);
        };
        if effects.is_empty() {
            find(String::new(), "the list of effects is empty".to_owned(), "add an effect, or use an object");
        }
        names_differ(effects, &mut find);
        inner_come_first(api, effects, &mut find);
    }
}

fn phase_fits(effect: &Effect, scope: &Scope, find: &mut impl FnMut(&str, String, &str)) {
    match (effect.role, &effect.phase) {
        (Role::Phase, None) => {
            find("role", "the role is `phase`, but the entry `phase` is missing".to_owned(), "add `phase`");
        }
        (Role::Phase, Some(phase)) if !scope.phases.contains(phase) && !scope.ends.contains(phase) => {
            let known = scope.phases.iter().chain(&scope.ends).cloned().collect::<Vec<_>>().join(", ");
            let message = format!("scope \"{}\" has no phase \"{phase}\"; it has: {known}", effect.scope);
            find("phase", message, "use one of these, or add the phase to the scope in api.toml");
        }
        (Role::Terminal, Some(phase)) if !scope.ends.contains(phase) => {
            let known = scope.ends.join(", ");
            let message =
                format!("scope \"{}\" does not end in phase \"{phase}\"; it ends in: {known}", effect.scope);
            find("phase", message, "use one of these, or add the phase to `ends` of the scope in api.toml");
        }
        (role, Some(_)) if !matches!(role, Role::Phase | Role::Terminal) => {
            let message = "`phase` is only for events with the role `phase` or `terminal`".to_owned();
            find("phase", message, "remove `phase`");
        }
        _ => {}
    }
}

fn role_fits(api: &ApiFile, effect: &Effect, find: &mut impl FnMut(&str, String, &str)) {
    if matches!(effect.role, Role::Delta | Role::Final) && effect.value.is_none() {
        let message = "an event with the role `delta` or `final` needs `value`".to_owned();
        find("role", message, "set `value` to the JSON pointer of the value in the event");
    }
    let root = &api.outer.root;
    let is_of_root = effect.scope == *root;
    if effect.early && !(effect.role == Role::Point && is_of_root) {
        let message = format!("`early` is only for events with the role `point` and the scope {root}");
        find("early", message, "remove `early`");
    }
    if effect.role == Role::Terminal && !is_of_root {
        find("role", format!("the role `terminal` is only for events of the scope {root}"), "use `close`");
    }
}

fn value_is_declared(
    dialect: &Dialect,
    event: &Event,
    effect: &Effect,
    find: &mut impl FnMut(&str, String, &str),
) {
    let is_declared = |pointer: &str| leads_somewhere(dialect.registry(), &event.schema, pointer);
    if let Some(value) = effect.value.as_ref().filter(|value| !is_declared(value)) {
        let message = format!("the schema of the event has no property at \"{value}\"");
        find("value", message, "point to a declared property");
    } else if let Some(member) = &effect.when {
        let inside = effect.value.as_ref().map(|value| format!("{value}/{member}"));
        if inside.is_none_or(|pointer| !is_declared(&pointer)) {
            let message = format!("`value` has no declared member \"{member}\"");
            find("when", message, "use a declared member of the value");
        }
    }
    for (entry, member) in [("beside", &effect.beside), ("unless", &effect.unless)] {
        let around = effect.value.as_ref().and_then(|value| Some(value.rsplit_once('/')?.0));
        let is_there = |member: &str| around.is_some_and(|around| is_declared(&format!("{around}/{member}")));
        if let Some(member) = member.as_ref().filter(|member| !is_there(member)) {
            let message = format!("there is no declared member \"{member}\" beside `value`");
            find(entry, message, "use a declared member of the same object");
        }
    }
}

fn has_no_entries_of_lists(effect: &Effect, find: &mut impl FnMut(&str, String, &str)) {
    if let Some(value) = effect.value.as_ref().filter(|value| has_entries(value)) {
        let message = format!("\"{value}\" has the segment `*`, but the effect takes place once");
        find("value", message, "make `x-lifecycle` a list of effects");
    }
    let entries = [
        ("name", &effect.name),
        ("when", &effect.when),
        ("beside", &effect.beside),
        ("unless", &effect.unless),
    ];
    for (entry, given) in entries {
        if given.is_some() {
            let message = format!("`{entry}` is only for the effects of a list");
            find(entry, message, "remove it, or make `x-lifecycle` a list of effects");
        }
    }
}

fn has_entries(pointer: &str) -> bool {
    pointer.split('/').any(|segment| segment == "*")
}

/// Slots of the key have to be read from the same entries as the value.
fn key_is_near(
    dialect: &Dialect,
    api: &ApiFile,
    scope: &Scope,
    effect: &Effect,
    find: &mut impl FnMut(&str, String, &str),
) {
    let value = effect.value.as_deref().unwrap_or_default();
    for slot in &scope.key {
        let place = dialect.file.envelope.0.get(slot).or_else(|| api.slots.get(slot));
        let Some((entries, _)) = place.and_then(|place| place.rsplit_once("/*")) else { continue };
        let entries = format!("{entries}/*");
        let inside = value.strip_prefix(&entries);
        if !inside.is_some_and(|rest| rest.is_empty() || rest.starts_with('/')) {
            let message = format!(
                "the key of scope \"{}\" has the slot \"{slot}\" of each entry \"{entries}\", but \"{value}\" is not inside of one",
                effect.scope
            );
            find("value", message, "use a place inside of the same entries, or another scope");
        }
    }
}

fn names_differ(effects: &[Effect], find: &mut impl FnMut(String, String, &str)) {
    let mut names = BTreeSet::new();
    for (nth, effect) in effects.iter().enumerate() {
        let name = effect.name();
        let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '-');
        if !name.chars().all(is_word) || name.is_empty() {
            let message = format!("\"{name}\" is not a name of lower-case letters, digits, `_` and `-`");
            find(format!("/{nth}/name"), message, "choose such a name");
        }
        if !names.insert(name) {
            let message = format!("an earlier effect of the event has the name \"{name}\"");
            find(format!("/{nth}/name"), message, "set `name` to another one");
        }
    }
}

/// Effects take place in order, so those in a scope come before the one that ends it.
fn inner_come_first(api: &ApiFile, effects: &[Effect], find: &mut impl FnMut(String, String, &str)) {
    for (nth, effect) in effects.iter().enumerate() {
        let mut around = api.with_parents(&effect.scope);
        let ending = around.find_map(|scope| {
            effects[..nth].iter().find(|earlier| earlier.scope == scope && ends(api, earlier))
        });
        // The next one of a scope can open after one has ended, and a scope can end in several ways.
        let is_apart = |earlier: &&Effect| {
            effect.scope == earlier.scope && (effect.role == Role::Open || ends(api, effect))
        };
        if let Some(earlier) = ending.filter(|earlier| !is_apart(earlier)) {
            let message = format!(
                "\"{}\" comes after \"{}\", which ends the scope \"{}\"",
                effect.name(),
                earlier.name(),
                earlier.scope
            );
            find(format!("/{nth}"), message, "move it before that effect");
        }
    }
}

fn ends(api: &ApiFile, effect: &Effect) -> bool {
    match effect.role {
        Role::Close | Role::Final | Role::Terminal => true,
        Role::Phase => {
            let scope = api.scopes.get(&effect.scope);
            scope.zip(effect.phase.as_ref()).is_some_and(|(scope, phase)| scope.ends.contains(phase))
        }
        Role::Open | Role::Delta | Role::Point => false,
    }
}
