//! Reads events as JSON, by the tables of their dialect.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde_json::Value;
use spec::Dialect;
use spec::table::{Content, EventInfo, Role};

pub(crate) fn event_type<'e>(dialect: &Dialect, event: &'e Value) -> Option<Cow<'e, str>> {
    if dialect.framing.types.is_empty() {
        return event.get("type")?.as_str().map(Cow::Borrowed);
    }
    let has = |pointer: &str| event.pointer(pointer).is_some_and(|value| !value.is_null());
    let rule = dialect.framing.types.iter().find(|rule| rule.has.is_none_or(has))?;
    Some(Cow::Borrowed(rule.name))
}

pub(crate) fn text(dialect: &Dialect, event: &Value) -> Option<String> {
    let content = |effect: &&EventInfo| {
        let is_text = matches!(
            effect.level.content,
            Some(Content::Text | Content::Refusal | Content::Reasoning | Content::Arguments)
        );
        is_text && matches!(effect.role, Role::Delta | Role::Final | Role::Close)
    };
    let places = effects(dialect, event).filter(content).filter_map(|effect| effect.value);
    let mut found = places.flat_map(|place| found(event, place));
    found.find(|pointer| event.pointer(pointer).is_some_and(Value::is_string))
}

pub(crate) fn typed(dialect: &Dialect, event: &Value) -> Option<&'static str> {
    let is_object = |place: &&str| event.pointer(place).is_some_and(Value::is_object);
    effects(dialect, event)
        .filter(|effect| matches!(effect.role, Role::Open | Role::Close) && !effect.level.is_root)
        .find_map(|effect| effect.value)
        .filter(is_object)
}

/// The type, and the places of effects that have a value.
pub(crate) fn shape<'e>(
    dialect: &Dialect,
    event: &'e Value,
) -> (Option<Cow<'e, str>>, BTreeSet<&'static str>) {
    let places = effects(dialect, event)
        .filter_map(|effect| effect.value)
        .filter(|place| !found(event, place).is_empty());
    (event_type(dialect, event), places.collect())
}

fn effects(dialect: &Dialect, event: &Value) -> impl Iterator<Item = &'static EventInfo> + use<> {
    let info = event_type(dialect, event).and_then(|kind| dialect.event(&kind));
    info.into_iter().flat_map(|info| {
        let itself = info.effects.is_empty().then_some(info);
        itself.into_iter().chain(info.effects)
    })
}

/// In a place, `*` is each entry of an array. Null values do not count.
fn found(event: &Value, place: &str) -> Vec<String> {
    let mut pointers = vec![String::new()];
    for segment in place.split('/').skip(1) {
        let inner = |pointer: String| -> Vec<String> {
            let entries = match (segment, event.pointer(&pointer)) {
                ("*", Some(Value::Array(entries))) => entries.len(),
                ("*", _) => 0,
                _ => return vec![format!("{pointer}/{segment}")],
            };
            (0..entries).map(|index| format!("{pointer}/{index}")).collect()
        };
        pointers = pointers.into_iter().flat_map(inner).collect();
    }
    pointers.retain(|pointer| event.pointer(pointer).is_some_and(|value| !value.is_null()));
    pointers
}
