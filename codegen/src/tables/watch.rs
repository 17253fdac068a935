//! The places of an event's values.

use super::SlotName;
use crate::dialect::{Dialect, Event};
use crate::formats::{ApiFile, Lifecycle};
use crate::schema::{Schema, first_segment, leads_somewhere, schema_at, takes_any_text, unescape};

/// A place in an event, with those inside of it.
#[derive(Default)]
pub(super) struct WatchedPlace {
    pub(super) slot: Option<SlotName>,
    pub(super) effects: Vec<usize>,
    /// The effects of the value around it, and of values beside it, that need it.
    pub(super) allows: Vec<usize>,
    /// The effects of values beside it that need it to be missing.
    pub(super) forbids: Vec<usize>,
    /// Whether any text is valid here.
    pub(super) takes_any_text: bool,
    /// The schema of its value, if any other value of it means the same for the lifecycle.
    pub(super) schema: Option<Schema>,
    /// By member, or `*`.
    pub(super) inner: Vec<(String, Self)>,
}

impl WatchedPlace {
    /// Returns the place at a JSON pointer, which is added if it is new.
    fn at(&mut self, pointer: &str) -> &mut Self {
        let Some((segment, rest)) = first_segment(pointer) else { return self };
        let name = unescape(segment);
        let known = self.inner.iter().position(|(known, _)| *known == name);
        let at = known.unwrap_or_else(|| {
            self.inner.push((name, Self::default()));
            self.inner.len() - 1
        });
        self.inner[at].1.at(rest)
    }
}

/// The slot of log probabilities, which accompany a text.
const LOGPROBS: &str = "logprobs";

/// Returns the places of an event's values, if one of them is inside of another value, or if the event has a list of
/// effects.
pub(super) fn watch(dialect: &Dialect, event: &Event, api: &ApiFile) -> Option<WatchedPlace> {
    let is_there = |pointer: &str| leads_somewhere(dialect.registry(), &event.schema, pointer);
    let slots =
        api.slots.iter().map(|(slot, pointer)| (slot, dialect.file.envelope.0.get(slot).unwrap_or(pointer)));
    let slots: Vec<_> = slots.filter(|(_, pointer)| !pointer.is_empty() && is_there(pointer)).collect();
    let effects = event.lifecycle.effects();
    let mut pointers =
        slots.iter().map(|(_, pointer)| *pointer).chain(effects.iter().filter_map(|it| it.value.as_ref()));
    let is_inside = |pointer: &String| pointer.matches('/').count() > 1;
    if matches!(event.lifecycle, Lifecycle::Always(_)) && !pointers.any(is_inside) {
        return None;
    }
    let mut whole = WatchedPlace::default();
    for (slot, pointer) in slots {
        let place = whole.at(pointer);
        place.slot = Some(SlotName(slot.clone()));
        if slot == LOGPROBS {
            place.schema = schema_at(dialect.registry(), &event.schema, pointer).cloned();
        }
    }
    for (nth, effect) in effects.iter().enumerate() {
        if effect.value.is_none() && matches!(event.lifecycle, Lifecycle::Always(_)) {
            continue;
        }
        let pointer = effect.value.as_deref().unwrap_or_default();
        let value = whole.at(pointer);
        value.effects.push(nth);
        value.takes_any_text = takes_any_text(dialect.registry(), &event.schema, pointer);
        if let Some(member) = &effect.when {
            value.at(&format!("/{member}")).allows.push(nth);
        }
        let (around, _) = pointer.rsplit_once('/').unwrap_or_default();
        if let Some(member) = &effect.beside {
            whole.at(&format!("{around}/{member}")).allows.push(nth);
        }
        if let Some(member) = &effect.unless {
            whole.at(&format!("{around}/{member}")).forbids.push(nth);
        }
    }
    Some(whole)
}
