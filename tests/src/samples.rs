//! Samples of what can be wrong with a stream: good streams with one thing done to one event, or to all of a kind.
//!
//! Each event of a good stream stands for all of its stream with the same members. A damage to one of them is done to
//! the first, to one in the middle and to the last, so that a claim about a client knows the place that it rests on.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::damages::{Event, Stream};

/// A damaged stream.
#[derive(Debug)]
pub struct Sample {
    /// The damage: `form pointer`, or a word for the whole event.
    pub name: String,
    /// As it is sent.
    pub bytes: Vec<u8>,
}

/// The damages of a value.
const FORMS: [&str; 11] = [
    "absent", "null", "empty", "other", "typed", "quoted", "boxed", "cased", "negative", "renamed", "longer",
];
/// The damages of an event.
const MOVES: [&str; 22] = [
    "dropped",
    "lost",
    "twice",
    "swapped",
    "first",
    "last",
    "end",
    "typeless",
    "noted",
    "pinged",
    "counted",
    "followed",
    "trailed",
    "extended",
    "torn",
    "lossy",
    "garbled",
    "joined",
    "marked",
    "failed",
    "kept",
    "anonymous",
];

/// The damages after which events have other numbers, where events are numbered.
const REORDERING: [&str; 12] = [
    "dropped", "lost", "twice", "swapped", "first", "last", "noted", "pinged", "counted", "followed",
    "trailed", "extended",
];
const NUMBER: &str = "sequence_number";
const RENUMBERED: &str = " renumbered";

/// The samples of a good stream.
pub fn of(stream: &Stream) -> Vec<Sample> {
    let events = &stream.events;
    let mut alike: BTreeMap<BTreeSet<String>, Vec<usize>> = BTreeMap::new();
    for (at, event) in events.iter().enumerate() {
        alike.entry(members(event)).or_default().push(at);
    }
    let mut samples = Vec::new();
    for all in alike.values() {
        let mut chosen = vec![all[0], all[all.len() / 2], all[all.len() - 1]];
        chosen.dedup();
        for at in chosen {
            changed_at(events, at, &[at], &mut samples);
            for how in MOVES {
                samples.extend(moved(events, at, how, false));
                samples.extend(moved(events, at, how, true));
            }
        }
        if all.len() > 1 {
            changed_at(events, all[0], all, &mut samples);
        }
    }
    samples
}

/// A value is changed in all of these events; `model` is the one whose values are tried.
fn changed_at(events: &[Event], model: usize, at: &[usize], samples: &mut Vec<Sample>) {
    let mut pointers = Vec::new();
    collect(&events[model].data, "", &mut pointers);
    for pointer in pointers {
        for form in FORMS {
            let mut damaged = events.to_vec();
            let changes = at.iter().filter(|at| change(&mut damaged[**at], &pointer, form)).count();
            if changes > 0 {
                let name =
                    format!("{}{} {form} {pointer}", number(model), if at.len() > 1 { "*" } else { "" });
                samples.push(Sample { name, bytes: written(&damaged) });
            }
        }
    }
}

/// Changes a value; returns whether it could be.
fn change(event: &mut Event, pointer: &str, form: &str) -> bool {
    let Some((parent, name)) = pointer.rsplit_once('/') else { return false };
    if form == "renamed" {
        let Some(Value::Object(members)) = event.data.pointer_mut(parent) else { return false };
        let Some(new) = in_camel_case(name) else { return false };
        return members.shift_remove(name).is_some_and(|value| members.insert(new, value).is_none());
    }
    if form == "absent" {
        return match event.data.pointer_mut(parent) {
            Some(Value::Object(members)) => members.shift_remove(name).is_some(),
            Some(Value::Array(entries)) => {
                name.parse().is_ok_and(|at: usize| (at < entries.len()).then(|| entries.remove(at)).is_some())
            }
            _ => false,
        };
    }
    let Some(value) = event.data.pointer_mut(pointer) else { return false };
    let new = match (form, &*value) {
        ("null", _) => Value::Null,
        ("empty", Value::String(_)) => json!(""),
        ("empty", Value::Array(_)) | ("typed", Value::Object(_)) => json!([]),
        ("empty", Value::Object(_)) | ("typed", Value::Array(_)) => json!({}),
        ("empty", Value::Number(_)) => json!(0),
        ("other", Value::String(text)) => json!(format!("{text}x")),
        ("other", Value::Number(number)) => json!(number.as_u64().unwrap_or_default() + 1),
        ("other", Value::Bool(flag)) => json!(!flag),
        ("other", Value::Array(entries)) if !entries.is_empty() => {
            let twice: Vec<Value> = entries.iter().chain(entries.iter().take(1)).cloned().collect();
            Value::Array(twice)
        }
        ("typed", Value::String(_) | Value::Null) => json!(7),
        ("typed", Value::Number(_) | Value::Bool(_)) => json!("seven"),
        ("quoted", Value::Number(number)) => json!(number.to_string()),
        ("boxed", Value::String(_) | Value::Number(_) | Value::Object(_)) => json!([value]),
        ("cased", Value::String(text)) => json!(text.to_uppercase()),
        ("negative", Value::Number(_)) => json!(-1),
        ("longer", Value::String(text)) => json!(format!("{text} {text}")),
        ("longer", Value::Number(number)) => json!(number.as_u64().unwrap_or_default() + 1000),
        _ => return false,
    };
    let is_new = *value != new;
    *value = new;
    is_new
}

/// With `is_numbered`, events are numbered anew, as by a server that numbers them last.
fn moved(events: &[Event], at: usize, how: &str, is_numbered: bool) -> Option<Sample> {
    let mut damaged = events.to_vec();
    let is_alone = is_numbered && !REORDERING.contains(&how);
    match how {
        _ if is_alone => return None,
        "dropped" => drop(damaged.remove(at)),
        // With all of its type, as by a server that sends what is finished, and no deltas.
        "lost" => damaged.retain(|event| event.name != events[at].name),
        "twice" => damaged.insert(at, damaged[at].clone()),
        "swapped" if at + 1 < damaged.len() => damaged.swap(at, at + 1),
        "first" if at > 1 => {
            let event = damaged.remove(at);
            damaged.insert(0, event);
        }
        "last" if at + 2 < damaged.len() => {
            let event = damaged.remove(at);
            damaged.push(event);
        }
        "end" if at + 1 < damaged.len() => damaged.truncate(at + 1),
        "typeless" => damaged[at].data.as_object_mut()?.shift_remove("type").map(drop)?,
        "noted" => damaged.insert(at, unknown(&events[at], "vendor.note", &json!({"text": "hello"}))),
        "pinged" => damaged.insert(at, unknown(&events[at], "heartbeat", &json!({}))),
        "counted" => damaged.insert(at, unknown(&events[at], "acme.progress", &json!({"percent": 50}))),
        // An unknown event whose type begins as this one's does.
        "followed" => {
            damaged.insert(at + 1, unknown(&events[at], &inner(&events[at])?, &json!({"text": "hello"})));
        }
        "trailed" => damaged.insert(at + 1, unknown(&events[at], &inner(&events[at])?, &json!({}))),
        "extended" => {
            damaged.insert(at + 1, unknown(&events[at], &inner(&events[at])?, &json!({"percent": 50})));
        }
        // The connection breaks in the middle of it.
        "torn" => {
            let mut bytes = written(&events[..at]);
            let event = written(&events[at..=at]);
            bytes.extend_from_slice(&event[..event.len() / 2]);
            return Some(Sample { name: format!("{} torn", number(at)), bytes });
        }
        // Its second half is lost, and the stream goes on.
        "lossy" => return Some(spoiled(events, at, how, |frame| format!("{}\n\n", &frame[..cut(frame)]))),
        "garbled" => return Some(spoiled(events, at, how, |frame| frame.replacen("\":", "\" ", 1))),
        // It has no line of its own.
        "joined" if at + 1 < damaged.len() => {
            return Some(spoiled(events, at, how, |frame| format!("{}\n", frame.trim_end())));
        }
        "marked" => return Some(spoiled(events, at, how, |frame| format!("{frame}data: [DONE]\n\n"))),
        "failed" => {
            let error = json!({"error": {"type": "server_error", "message": "The server had an error."}});
            return Some(spoiled(events, at, how, |frame| format!("{frame}data: {error}\n\n")));
        }
        "kept" => return Some(spoiled(events, at, how, |frame| format!("{frame}data: {{}}\n\n"))),
        "anonymous" => {
            let unnamed = |line: &&str| !line.starts_with("event:");
            let without = |frame: &str| frame.split('\n').filter(unnamed).collect::<Vec<_>>().join("\n");
            return Some(spoiled(events, at, how, without)).filter(|one| one.bytes != written(events));
        }
        _ => return None,
    }
    if is_numbered {
        let before = written(&damaged);
        renumber(&mut damaged);
        let name = format!("{} {how}{RENUMBERED}", number(at));
        return Some(Sample { name, bytes: written(&damaged) }).filter(|sample| sample.bytes != before);
    }
    Some(Sample { name: format!("{} {how}", number(at)), bytes: written(&damaged) })
}

fn renumber(events: &mut [Event]) {
    let first = events.iter().find_map(|event| event.data.get(NUMBER)?.as_u64());
    let Some(mut next) = first.map(|first| first.min(1)) else { return };
    for event in events {
        if let Some(members) = event.data.as_object_mut() {
            members.insert(NUMBER.to_owned(), json!(next));
            next += 1;
        }
    }
}

/// An event of a type that no API has.
fn unknown(beside: &Event, name: &str, members: &Value) -> Event {
    let mut data = json!({"type": name});
    if let (Some(all), Some(more)) = (data.as_object_mut(), members.as_object()) {
        all.extend(more.clone());
    }
    Event { name: name.to_owned(), data, text: String::new(), has_line: beside.has_line }
}

/// The name of an event type that would belong to this one, where types have such names.
fn inner(event: &Event) -> Option<String> {
    event.name.contains('.').then(|| format!("{}.vendor", event.name)).filter(|_| event.has_line)
}

fn spoiled(events: &[Event], at: usize, how: &str, spoil: impl Fn(&str) -> String) -> Sample {
    let frame = |(nth, event): (usize, &Event)| {
        let frame = event.frame();
        if nth == at { spoil(&frame) } else { frame }
    };
    let bytes = events.iter().enumerate().map(frame).collect::<String>().into_bytes();
    Sample { name: format!("{} {how}", number(at)), bytes }
}

/// The middle of a text, at the end of a character.
fn cut(text: &str) -> usize {
    (0..=text.len() / 2).rfind(|at| text.is_char_boundary(*at)).unwrap_or_default()
}

fn in_camel_case(name: &str) -> Option<String> {
    let mut words = name.split('_');
    let mut new = words.next()?.to_owned();
    for word in words {
        let (first, rest) = word.split_at_checked(1)?;
        new = new + &first.to_uppercase() + rest;
    }
    (new != name).then_some(new)
}

fn number(at: usize) -> String {
    format!("#{}", at + 1)
}

/// The part of a name that samples share: what was done, without the place.
pub fn shape(name: &str) -> String {
    let done = match name.strip_prefix('#').and_then(|rest| rest.split_once(' ')) {
        Some((_, done)) => done.trim_end_matches(RENUMBERED),
        None => name,
    };
    let is_index = |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    done.split('/').map(|part| if is_index(&part) { "*" } else { part }).collect::<Vec<_>>().join("/")
}

/// The members that have a value, with the types of the event and of the objects in it.
fn members(event: &Event) -> BTreeSet<String> {
    let mut all = Vec::new();
    collect(&event.data, "", &mut all);
    let mut shape = BTreeSet::from([event.name.clone()]);
    for pointer in all {
        let value = event.data.pointer(&pointer);
        if value.is_some_and(|value| !value.is_null() && *value != json!("")) {
            let last = pointer.rsplit('/').next().unwrap_or_default();
            let kind = value.and_then(Value::as_str).filter(|_| last == "type").unwrap_or_default();
            shape.insert(format!("{pointer} {kind}"));
        }
    }
    shape
}

/// Collects the pointers to all values within a value.
pub(crate) fn collect(value: &Value, pointer: &str, all: &mut Vec<String>) {
    let mut within = |name: &str, value: &Value| {
        let inner = format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"));
        all.push(inner.clone());
        collect(value, &inner, all);
    };
    match value {
        Value::Object(members) => members.iter().for_each(|(name, value)| within(name, value)),
        Value::Array(entries) => {
            entries.iter().take(2).enumerate().for_each(|(at, value)| within(&at.to_string(), value));
        }
        _ => {}
    }
}

pub(crate) fn written(events: &[Event]) -> Vec<u8> {
    events.iter().map(Event::frame).collect::<String>().into_bytes()
}
