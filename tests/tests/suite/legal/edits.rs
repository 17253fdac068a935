//! Single edits of streams.

use grammar::Grammar;
use serde_json::Value;
use spec::Slot;
use spec::table::EventInfo;
use tests::corpus::starred;
use tests::reorder::Reorder;

/// A stream of events, with their types.
pub(crate) type Events = Vec<(&'static str, Value)>;

/// An edit of one event.
#[derive(Debug)]
pub(crate) enum Edit {
    Order(Reorder),
    /// Gives it the type of another event of its scope.
    Rename(usize, &'static str),
    /// Changes a value.
    Change(usize, String),
}

impl Edit {
    /// Returns every edit of a stream.
    pub(crate) fn all(grammar: &Grammar, events: &Events) -> Vec<Self> {
        let last = events.len() - 1;
        let mut edits = Vec::new();
        for (at, (name, event)) in events.iter().enumerate() {
            edits.extend([Reorder::Drop(at), Reorder::Repeat(at)].map(Self::Order));
            let places = [0, at.saturating_sub(1), at + 1, last];
            let places =
                places.iter().enumerate().filter(|(nth, to)| **to <= last && !places[..*nth].contains(to));
            edits.extend(
                places.map(|(_, to)| *to).filter(|to| *to != at).map(|to| Self::Order(Reorder::Move(at, to))),
            );
            edits.extend(others(grammar, name).map(|other| Self::Rename(at, other)));
            let mut leaves = Vec::new();
            collect(event, "", &mut leaves);
            let number = grammar.dialect.pointer(Slot::SequenceNumber);
            edits.extend(leaves.into_iter().filter(|leaf| leaf != number).map(|leaf| Self::Change(at, leaf)));
        }
        edits
    }

    /// Makes the edit in a stream. Sequence numbers count on.
    pub(crate) fn make(&self, grammar: &Grammar, events: &Events) -> Events {
        let mut events = events.clone();
        match self {
            Self::Order(edit) => edit.make(&mut events),
            Self::Rename(at, name) => {
                events[*at].0 = name;
                events[*at].1["type"] = (*name).into();
            }
            Self::Change(at, pointer) => {
                if let Some(value) = events[*at].1.pointer_mut(pointer) {
                    *value = changed(value);
                }
            }
        }
        grammar.number(&mut events);
        events
    }

    /// Returns what kind of edit it is: the same in every stream.
    pub(crate) fn kind(&self, events: &Events) -> String {
        let name = |at: &usize| events[*at].0;
        match self {
            Self::Order(Reorder::Drop(at)) => format!("drop {}", name(at)),
            Self::Order(Reorder::Repeat(at)) => format!("repeat {}", name(at)),
            Self::Order(Reorder::Move(from, to)) => {
                let way = if to < from { "before" } else { "after" };
                format!("move {} {way} {}", name(from), name(to))
            }
            Self::Rename(at, to) => format!("rename {} {to}", name(at)),
            Self::Change(at, pointer) => format!("change {} {}", name(at), starred(pointer)),
        }
    }

    /// Returns whether it changes which events there are, or their order.
    pub(crate) const fn is_of_order(&self) -> bool {
        !matches!(self, Self::Change(..))
    }
}

/// Returns the other events of the scope of an event.
fn others(grammar: &Grammar, name: &str) -> impl Iterator<Item = &'static str> {
    let own = grammar.dialect.event(name).filter(|event| event.effects.is_empty());
    let is_other =
        move |event: &&EventInfo| own.is_some_and(|own| own.scope == event.scope && own.name != event.name);
    grammar
        .dialect
        .events
        .iter()
        .filter(|event| event.effects.is_empty())
        .filter(is_other)
        .map(|event| event.name)
}

/// Collects the pointers of texts, numbers and switches.
fn collect(value: &Value, at: &str, leaves: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (name, inner) in members {
                collect(inner, &format!("{at}/{}", name.replace('~', "~0").replace('/', "~1")), leaves);
            }
        }
        Value::Array(entries) => {
            for (index, inner) in entries.iter().enumerate() {
                collect(inner, &format!("{at}/{index}"), leaves);
            }
        }
        Value::Null => {}
        _ => leaves.push(at.to_owned()),
    }
}

/// Returns another value of the same type.
fn changed(value: &Value) -> Value {
    match value {
        Value::String(text) => format!("{text}x").into(),
        Value::Number(number) if number.is_u64() => (number.as_u64().unwrap_or_default() + 1).into(),
        Value::Number(number) => (number.as_f64().unwrap_or_default() + 1.0).into(),
        Value::Bool(is_so) => (!is_so).into(),
        other => other.clone(),
    }
}
