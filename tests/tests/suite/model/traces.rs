//! Streams to compare verdicts on: good ones, their edits, and random walks.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tests::random::Xorshift;
use tests::reorder::Reorder;

use super::event::Event;
use super::machine::{Model, Run, Table};

/// Where events have the index of something.
const INDICES: &[&str] = &[
    "/output_index",
    "/content_index",
    "/summary_index",
    "/annotation_index",
    "/partial_image_index",
    "/index",
    "/choices/0/index",
    "/choices/0/delta/tool_calls/0/index",
];
/// Where events name something.
const IDS: &[&str] = &[
    "/item_id",
    "/item/id",
    "/response/id",
    "/id",
    "/content_block/id",
    "/content_block/tool_use_id",
    "/choices/0/delta/tool_calls/0/id",
];
/// What events have that has a type.
const TYPED: &[&str] = &["/item", "/part", "/content_block", "/delta"];

/// Where events say how something ends, and another end.
const ENDS: &[(&str, Option<&str>)] =
    &[("/delta/stop_reason", None), ("/choices/0/finish_reason", None), ("/item/status", Some("incomplete"))];

/// An edit of a stream.
#[derive(Debug, Clone)]
pub(crate) enum Edit {
    Order(Reorder),
    Set(usize, &'static str, Value),
    /// Puts the marker of the end before an event.
    Mark(usize),
    /// Changes the type: takes another event, with the indices and ids of this one.
    Become(usize, Event),
}

impl Edit {
    /// Returns all edits of a stream.
    pub(crate) fn all(events: &[Event]) -> Vec<Self> {
        let mut edits = vec![Self::Mark(0), Self::Mark(events.len() / 2), Self::Mark(events.len())];
        for (at, event) in events.iter().enumerate() {
            edits.extend([Reorder::Drop(at), Reorder::Repeat(at)].map(Self::Order));
            edits.extend(
                [at + 1, at + 2, events.len() - 1]
                    .into_iter()
                    .filter(|to| *to > at && *to < events.len())
                    .map(|to| Self::Order(Reorder::Move(at, to))),
            );
            edits.extend(
                [0].into_iter().filter(|to| *to + 1 < at).map(|to| Self::Order(Reorder::Move(at, to))),
            );
            let indices = INDICES
                .iter()
                .chain(&["/sequence_number"])
                .filter_map(|place| Some((place, event.number(place)?)));
            for (place, index) in indices {
                let others = [index + 1, index.wrapping_sub(1)].into_iter().filter(|other| *other < u64::MAX);
                edits.extend(others.map(|other| Self::Set(at, place, json!(other))));
            }
            for place in IDS.iter().filter(|place| event.text(place).is_some()) {
                let others = others(events, event, |event| event.text(place));
                let other = others.first().and_then(|other| other.text(place));
                let ids = ["another"].into_iter().chain(other);
                edits.extend(ids.map(|id| Self::Set(at, place, json!(id))));
            }
            let ends =
                ENDS.iter().filter(|(place, end)| event.text(place).is_some_and(|it| Some(it) != *end));
            edits.extend(ends.map(|(place, end)| Self::Set(at, place, json!(end))));
            for place in TYPED {
                let of = format!("{place}/type");
                let others = others(events, event, |event| event.text(&of));
                let puts = others.into_iter().filter_map(|other| {
                    Some(Self::Set(at, place, kept(other.data.pointer(place)?, event, place)))
                });
                edits.extend(puts);
            }
            edits.extend(
                others(events, event, |event| event.text("/type"))
                    .into_iter()
                    .map(|other| Self::Become(at, other.clone())),
            );
        }
        edits
    }

    /// Edits a stream, whose sequence numbers then count again unless the edit is of one.
    pub(crate) fn make(&self, events: &mut Vec<Event>) {
        match self {
            Self::Order(edit) => edit.make(events),
            Self::Set(at, place, value) => {
                set(&mut events[*at], place, value);
                if *place == "/sequence_number" {
                    return;
                }
            }
            Self::Mark(at) => events.insert(*at, Event { line: None, data: json!("[DONE]") }),
            Self::Become(at, other) => {
                let old = std::mem::replace(&mut events[*at], other.clone());
                for place in INDICES.iter().chain(IDS) {
                    if let Some(value) = old.data.pointer(place) {
                        set(&mut events[*at], place, value);
                    }
                }
            }
        }
        renumber(events);
    }
}

/// Returns the first event of each other type.
fn others<'e>(
    events: &'e [Event],
    event: &'e Event,
    of: impl Fn(&'e Event) -> Option<&'e str>,
) -> Vec<&'e Event> {
    let Some(own) = of(event) else { return Vec::new() };
    let mut first = BTreeMap::new();
    for other in events {
        if let Some(kind) = of(other).filter(|kind| *kind != own) {
            first.entry(kind).or_insert(other);
        }
    }
    first.into_values().collect()
}

/// Returns the value with the id that an event has there.
fn kept(value: &Value, event: &Event, place: &str) -> Value {
    let mut value = value.clone();
    if let (Some(id), Some(old)) = (value.get_mut("id"), event.data.pointer(&format!("{place}/id"))) {
        *id = old.clone();
    }
    value
}

/// Sets a value, where there is one.
fn set(event: &mut Event, place: &str, value: &Value) {
    if let Some(old) = event.data.pointer_mut(place) {
        *old = value.clone();
    }
}

fn renumber(events: &mut [Event]) {
    let numbered = events.iter_mut().filter_map(|event| event.data.get_mut("sequence_number"));
    numbered.enumerate().for_each(|(number, old)| *old = json!(number));
}

/// Returns a stream with two edits at random.
pub(crate) fn edited_twice(mut edited: Vec<Event>, random: &mut Xorshift) -> Vec<Event> {
    for _ in 0..2 {
        if !edited.is_empty() {
            random.pick(&Edit::all(&edited)).make(&mut edited);
        }
    }
    edited
}

/// Returns a random walk: events of good streams in an order that the model allows nearly everywhere, with indices and ids
/// that events before have or that come next.
pub(crate) fn walk<M: Model>(table: &Table, goldens: &[Vec<Event>], random: &mut Xorshift) -> Vec<Event> {
    let mut run: Run<'_, M> = Run::new(table);
    let mut events: Vec<Event> = Vec::new();
    let golden = random.pick(goldens);
    for _ in 0..random.below(40) + 2 {
        // Mostly of one stream, so that its parts fit.
        for _ in 0..20 {
            let from = if random.once_in(5) { random.pick(goldens) } else { golden };
            let mut event = random.pick(from).clone();
            place(&mut event, &events, random);
            if event.data.get("sequence_number").is_some() {
                set(&mut event, "/sequence_number", &json!(events.len()));
            }
            let mut next = run.clone();
            next.take(Some(&event));
            if next.worst <= run.worst || random.once_in(300) {
                run = next;
                events.push(event);
                break;
            }
        }
    }
    events
}

/// Gives an event indices and ids that fit the events before.
fn place(event: &mut Event, before: &[Event], random: &mut Xorshift) {
    for index in INDICES {
        if event.number(index).is_some() {
            set(event, index, &json!(random.below(3)));
        }
    }
    if let Some(at) = event.number("/output_index") {
        let added = before
            .iter()
            .find(|it| it.kind().ends_with("item.added") && it.number("/output_index") == Some(at));
        let id = added
            .and_then(|added| added.text("/item/id"))
            .map_or_else(|| format!("item_{at}"), str::to_owned);
        for place in ["/item_id", "/item/id"] {
            set(event, place, &json!(id));
        }
    }
    for id in ["/id", "/response/id"] {
        if let Some(first) = before.iter().find_map(|it| it.text(id)).map(str::to_owned) {
            set(event, id, &json!(first));
        }
    }
    for id in ["/content_block/id", "/choices/0/delta/tool_calls/0/id"] {
        set(event, id, &json!(format!("id_{}", random.below(5))));
    }
}
