//! The edits of a dialect: what its responses leave out or add.

use serde_json::{Map, Value};
use spec::table::{RenderEdit, RenderMoment, RenderTarget, Role};
use spec::{Dialect, EventInfo};

/// The edits that apply to one response.
#[derive(Debug, Clone, Copy)]
pub struct Edits {
    all: &'static [RenderEdit],
    /// Whether it has the edits that only some responses have.
    has_sometimes: bool,
}

/// A value with edits.
#[derive(Clone, Copy)]
pub struct Edited<'v> {
    target: RenderTarget,
    moment: Option<RenderMoment>,
    /// The type of an event, since its data need not have one.
    event: Option<&'v str>,
    /// The item as closed.
    closed: Option<&'v Value>,
}

impl<'v> Edited<'v> {
    /// Of an event of this type, with the item as closed.
    pub const fn event(name: &'v str, closed: Option<&'v Value>) -> Self {
        Self { target: RenderTarget::Event, moment: None, event: Some(name), closed }
    }

    /// Of an item.
    pub const fn item(moment: RenderMoment, closed: &'v Value) -> Self {
        Self { target: RenderTarget::Item, moment: Some(moment), event: None, closed: Some(closed) }
    }

    /// Of a part.
    pub const fn part() -> Self {
        Self { target: RenderTarget::Part, moment: None, event: None, closed: None }
    }

    /// Of a response.
    pub const fn response(moment: RenderMoment) -> Self {
        Self { target: RenderTarget::Response, moment: Some(moment), event: None, closed: None }
    }
}

impl Edits {
    /// If the dialect allows alternatives, the seed decides.
    pub const fn of(dialect: &Dialect, seed: u64) -> Self {
        Self { all: dialect.render.edits, has_sometimes: seed.is_multiple_of(2) }
    }

    /// Events of some dialects have no type in their data.
    pub fn keep_types(self) -> bool {
        let is_applied = |edit: &&RenderEdit| !edit.sometimes || self.has_sometimes;
        let mut of_events = self.all.iter().filter(|edit| edit.of == RenderTarget::Event).filter(is_applied);
        !of_events.any(|edit| edit.leave_out.contains(&"type"))
    }

    /// Those that are meant change the value.
    pub fn apply(self, what: Edited<'_>, value: &mut Value) {
        let Edited { target, moment, event, closed } = what;
        for edit in self.all {
            let is_meant = edit.of == target
                && (!edit.sometimes || self.has_sometimes)
                && (edit.when.is_none() || edit.when == moment);
            if !is_meant {
                continue;
            }
            let event = event.filter(|_| edit.at.is_none());
            each(value, edit.at.unwrap_or_default(), &mut |value| change(edit, event, value, closed));
        }
    }

    /// Those of the item, or of the part, that an event has.
    pub(super) fn apply_inside(self, info: &EventInfo, closed: Option<&Value>, event: &mut Value) {
        let Some(value) = info.value.and_then(|place| event.pointer_mut(place)) else { return };
        let moment = if info.role == Role::Open { RenderMoment::Begun } else { RenderMoment::Ended };
        match (info.role, closed) {
            (Role::Open | Role::Close, Some(closed)) if info.level.is_container => {
                *value = self.apply_to_item(moment, value, closed);
            }
            (Role::Open | Role::Close, _) if !info.level.is_container => self.apply(Edited::part(), value),
            _ => {}
        }
    }

    /// An item with the edits of it and of its parts.
    pub fn apply_to_item(self, moment: RenderMoment, item: &Value, closed: &Value) -> Value {
        let mut item = item.clone();
        for part in item.get_mut("content").and_then(Value::as_array_mut).into_iter().flatten() {
            self.apply(Edited::part(), part);
        }
        self.apply(Edited::item(moment, closed), &mut item);
        item
    }
}

fn each(value: &mut Value, pointer: &str, then: &mut impl FnMut(&mut Value)) {
    let Some(path) = pointer.strip_prefix('/') else { return then(value) };
    let (name, rest) = path.find('/').map_or((path, ""), |end| path.split_at(end));
    if name == "*" {
        value.as_array_mut().into_iter().flatten().for_each(|entry| each(entry, rest, then));
    } else if let Some(member) = value.get_mut(name) {
        each(member, rest, then);
    }
}

fn change(edit: &RenderEdit, event: Option<&str>, value: &mut Value, closed: Option<&Value>) {
    let Value::Object(members) = value else { return };
    let kind = event.or_else(|| members.get("type")?.as_str()).unwrap_or_default();
    if !(edit.types.is_empty() || edit.types.contains(&kind)) || edit.except.contains(&kind) {
        return;
    }
    if edit.lacks.is_some_and(|name| members.get(name).is_some_and(|value| !is_empty(value))) {
        return;
    }
    if let Some(name) = edit.inline {
        inline(members, name);
    }
    for name in edit.copy {
        if let Some(value) = closed.and_then(|closed| closed.get(name)) {
            members.insert((*name).to_owned(), value.clone());
        }
    }
    for name in edit.null {
        members.entry(*name).or_insert(Value::Null);
    }
    for (name, json) in edit.default {
        if members.get(*name).is_none_or(Value::is_null) {
            members.insert((*name).to_owned(), parsed(json));
        }
    }
    members.extend(edit.set.iter().map(|(name, json)| ((*name).to_owned(), parsed(json))));
    members.retain(|name, _| !edit.leave_out.contains(&name.as_str()));
    if !edit.keep.is_empty() {
        keep(members, edit.keep);
    }
}

pub(super) fn parsed(json: &str) -> Value {
    // It was written as JSON when the table was generated.
    serde_json::from_str(json).unwrap_or_default()
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(entries) => entries.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => false,
    }
}

fn inline(members: &mut Map<String, Value>, name: &str) {
    for (outer, value) in std::mem::take(members) {
        match value {
            Value::Object(inner) if outer == name => {
                for (name, value) in inner {
                    members.entry(name).or_insert(value);
                }
            }
            value => drop(members.insert(outer, value)),
        }
    }
}

/// In this order; `*` stands for all others.
fn keep(members: &mut Map<String, Value>, names: &[&str]) {
    let mut others = std::mem::take(members);
    let entries: Vec<_> = names.iter().map(|name| others.shift_remove_entry(*name)).collect();
    for (name, entry) in names.iter().zip(entries) {
        if *name == "*" {
            members.append(&mut others);
        }
        members.extend(entry);
    }
}
