//! Streams that are damaged by chance: in a value of some events, in several events, or in their bytes.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::damages::{Event, Stream};
use crate::random::Xorshift;
use crate::samples::{collect, written};

/// The damages of one value, in the events of [`WHERE`].
const VALUES: [&str; 16] = [
    "borrowed",
    "fraction",
    "huge",
    "flag",
    "wrapped",
    "nulls",
    "null-text",
    "raised",
    "removed",
    "nulled",
    "shouted",
    "blank",
    "sunk",
    "counted",
    "spread",
    "cut",
];
/// The events whose value is damaged.
const WHERE: [&str; 5] = ["one", "rest", "every-second", "type", "all"];
/// The damages of events and of bytes.
const STREAMS: [&str; 44] = [
    "run-lost",
    "run-twice",
    "run-reversed",
    "run-last",
    "run-first",
    "kind-lost",
    "only-ends",
    "all-twice",
    "foreign-inserted",
    "retyped",
    "type-unknown",
    "type-shouted",
    "cut-anywhere",
    "text-split",
    "text-merged",
    "text-halves-swapped",
    "data-in-lines",
    "comma",
    "single-quotes",
    "no-prefix",
    "as-text",
    "data-null",
    "done-early",
    "done-lower",
    "done-missing",
    "not-utf8",
    "error-last",
    "html",
    "line-wrong",
    "lines-missing",
    "text-moved",
    "foreign-event",
    "middle-lost",
    "ids-differ",
    "cumulative",
    "member-twice",
    "enveloped",
    "rotated",
    "every-second-lost",
    "data-array",
    "nan",
    "error-then-on",
    "cut-closed",
    "two-streams",
];

/// A damaged stream.
#[derive(Debug)]
pub struct Chance {
    /// The damage.
    pub name: String,
    /// As it is sent.
    pub bytes: Vec<u8>,
}

/// Damages a stream. `others` are streams of the same API.
pub fn any(stream: &Stream, others: &[Stream], random: &mut Xorshift) -> Option<Chance> {
    if random.once_in(2) {
        let how = *random.pick(&VALUES);
        return in_values(stream, how, random);
    }
    let how = *random.pick(&STREAMS);
    let bytes = in_stream(stream, others, how, random)?;
    Some(Chance { name: how.to_owned(), bytes })
}

fn in_values(stream: &Stream, how: &str, random: &mut Xorshift) -> Option<Chance> {
    let range = *random.pick(&WHERE);
    let mut events = stream.events.clone();
    // Each kind of event as often as the others, and not by its number of events.
    let names: Vec<&String> =
        stream.events.iter().map(|event| &event.name).collect::<BTreeSet<_>>().into_iter().collect();
    let name = (*random.pick(&names)).clone();
    let of_name: Vec<usize> = (0..events.len()).filter(|at| events[*at].name == name).collect();
    let at = *random.pick(&of_name);
    let mut pointers = Vec::new();
    collect(&events[at].data, "", &mut pointers);
    if pointers.is_empty() {
        return None;
    }
    let pointer = random.pick(&pointers).clone();
    let mut values: Vec<Value> =
        pointers.iter().filter_map(|at_it| events[at].data.pointer(at_it).cloned()).collect();
    values.retain(|value| !value.is_object() && !value.is_array());
    let meant: Vec<usize> = match range {
        "one" => vec![at],
        "rest" => of_name.into_iter().filter(|other| *other >= at).collect(),
        "every-second" => of_name.into_iter().step_by(2).collect(),
        "type" => of_name,
        _ => (0..events.len()).collect(),
    };
    let borrowed = values.get(random.below(values.len().max(1))).cloned();
    let changed =
        meant.iter().filter(|at| changed(&mut events[**at].data, &pointer, how, borrowed.as_ref())).count();
    let pointer: Vec<&str> =
        pointer.split('/').map(|part| if part.parse::<u8>().is_ok() { "*" } else { part }).collect();
    (changed > 0).then(|| Chance {
        name: format!("{how} {range} {name} {}", pointer.join("/")),
        bytes: written(&events),
    })
}

fn changed(data: &mut Value, pointer: &str, how: &str, borrowed: Option<&Value>) -> bool {
    let Some(old) = data.pointer(pointer).cloned() else { return false };
    let new = match (how, &old) {
        ("removed" | "raised" | "sunk" | "spread", _) => return displaced(data, pointer, how, old.clone()),
        ("borrowed", _) => borrowed.cloned().unwrap_or_default(),
        ("fraction", Value::Number(_)) => json!(old.as_f64().unwrap_or_default() + 0.5),
        ("huge", Value::Number(_)) => json!(1e20),
        ("flag", Value::String(_) | Value::Number(_) | Value::Null) => json!(true),
        ("wrapped", _) => json!({"value": old}),
        ("nulls", Value::Array(_)) => json!([null]),
        ("nulled", Value::Array(_) | Value::Object(_)) => json!("{}"),
        ("null-text", _) => json!("null"),
        ("blank", Value::String(_)) => json!(" "),
        ("shouted", Value::String(text)) => json!(text.to_uppercase().replace('_', "-")),
        ("counted", Value::Number(number)) => json!(number.as_i64().unwrap_or_default() - 1),
        ("counted", Value::Bool(flag)) => json!(i32::from(*flag)),
        ("cut", Value::String(text)) => {
            json!(text.chars().take(text.chars().count() / 2).collect::<String>())
        }
        _ => return false,
    };
    let is_new = new != old;
    if let Some(place) = data.pointer_mut(pointer) {
        *place = new;
    }
    is_new
}

/// The member is gone, or is now in the object above or below its own, or its members are in its place.
fn displaced(data: &mut Value, pointer: &str, how: &str, old: Value) -> bool {
    let Some((parent, name)) = pointer.rsplit_once('/') else { return false };
    let Some(members) = data.pointer_mut(parent).and_then(Value::as_object_mut) else { return false };
    members.shift_remove(name);
    match (how, old) {
        ("sunk", old) => members.insert("data".to_owned(), json!({name: old})).is_none(),
        ("spread", Value::Object(inner)) => {
            members.extend(inner);
            true
        }
        ("raised", old) => {
            let above =
                parent.rsplit_once('/').and_then(|(above, _)| data.pointer_mut(above)?.as_object_mut());
            above.is_some_and(|above| above.insert(name.to_owned(), old).is_none())
        }
        ("removed", _) => true,
        _ => false,
    }
}

/// The members of a delta whose text is content.
const TEXTS: [&str; 6] = [
    "/delta",
    "/delta/text",
    "/delta/thinking",
    "/delta/partial_json",
    "/choices/0/delta/content",
    "/choices/0/delta/tool_calls/0/function/arguments",
];

fn in_stream(stream: &Stream, others: &[Stream], how: &str, random: &mut Xorshift) -> Option<Vec<u8>> {
    let mut events = stream.events.clone();
    let count = events.len();
    if count < 4 {
        return None;
    }
    let at = random.below(count);
    let from = random.below(count - 2);
    let to = from + 2 + random.below((count - from - 1).min(4));
    let to = to.min(count);
    let other = random.pick(others);
    match how {
        "run-lost" => drop(events.drain(from..to)),
        "run-twice" => {
            let run = events[from..to].to_vec();
            events.splice(to..to, run);
        }
        "run-reversed" => events[from..to].reverse(),
        "run-last" => {
            let run: Vec<Event> = events.drain(from..to).collect();
            events.extend(run);
        }
        "run-first" => {
            let run: Vec<Event> = events.drain(from..to).collect();
            events.splice(0..0, run);
        }
        "every-second-lost" => events = events.into_iter().step_by(2).collect(),
        "kind-lost" => {
            let keys = keys(&events[at].data);
            events.retain(|event| self::keys(&event.data) != keys);
        }
        "only-ends" => events = vec![events[0].clone(), events[count - 1].clone()],
        "all-twice" => events = events.iter().flat_map(|event| [event.clone(), event.clone()]).collect(),
        "rotated" => events.rotate_left(1 + at % (count - 1)),
        "two-streams" => events.extend(other.events.iter().cloned()),
        "foreign-event" => events[at] = random.pick(&other.events).clone(),
        "foreign-inserted" => events.insert(at, random.pick(&other.events).clone()),
        "retyped" | "type-unknown" | "type-shouted" => {
            let name = match how {
                "retyped" => random.pick(&stream.events).name.clone(),
                "type-unknown" => format!("x_{}", events[at].name),
                _ => events[at].name.to_uppercase(),
            };
            let member =
                ["type", "object"].into_iter().find(|member| events[at].data.get(member).is_some())?;
            events[at].data[member] = json!(name);
            events[at].name = name;
        }
        "cut-anywhere" | "cut-closed" => {
            let bytes = written(&events);
            let mut bytes = bytes[..=random.below(bytes.len() - 1)].to_vec();
            if how == "cut-closed" {
                bytes.extend_from_slice(b"\n\ndata: [DONE]\n\n");
            }
            return Some(bytes);
        }
        "middle-lost" => drop(events.drain(1..count - 1 - at.min(2))),
        "ids-differ" => {
            let pointer = *random.pick(&["/id", "/item_id", "/message/id", "/index", "/choices/0/index"]);
            for (nth, event) in events.iter_mut().enumerate().skip(at) {
                if let Some(place) = event.data.pointer_mut(pointer) {
                    *place = if place.is_string() { json!(format!("x{nth}")) } else { json!(nth) };
                }
            }
        }
        "enveloped" => {
            for event in &mut events {
                if event.data.is_object() {
                    event.data = json!({"event": event.name, "data": event.data});
                }
            }
        }
        _ => return in_texts(&events, how, random).or_else(|| in_bytes(&events, at, how, random)),
    }
    Some(written(&events))
}

/// The damage is to the texts of deltas.
fn in_texts(events: &[Event], how: &str, random: &mut Xorshift) -> Option<Vec<u8>> {
    let pointer_of = |event: &Event| {
        TEXTS.into_iter().find(|pointer| event.data.pointer(pointer).is_some_and(Value::is_string))
    };
    let texts: Vec<(usize, &str)> =
        events.iter().enumerate().filter_map(|(at, event)| Some((at, pointer_of(event)?))).collect();
    if texts.is_empty() {
        return None;
    }
    let (at, pointer) = *random.pick(&texts);
    let text_of = |at: usize, pointer: &str| {
        events[at].data.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let whole = text_of(at, pointer);
    let (one, two) =
        whole.split_at(whole.char_indices().nth(whole.chars().count() / 2).map_or(0, |(at, _)| at));
    let mut events = events.to_vec();
    match how {
        "cumulative" => {
            let mut all = String::new();
            for event in &mut events {
                if let Some(place) = event.data.pointer_mut(pointer) {
                    all += place.as_str().unwrap_or_default();
                    *place = json!(all);
                }
            }
        }
        "text-split" => {
            let mut second = events[at].clone();
            *second.data.pointer_mut(pointer)? = json!(two);
            *events[at].data.pointer_mut(pointer)? = json!(one);
            events.insert(at + 1, second);
        }
        "text-merged" => {
            let (next, same) = *texts.iter().find(|(next, _)| *next > at)?;
            *events[at].data.pointer_mut(pointer)? = json!(text_of(at, pointer) + &text_of(next, same));
            events.remove(next);
        }
        "text-halves-swapped" => *events[at].data.pointer_mut(pointer)? = json!(format!("{two}{one}")),
        "text-moved" => {
            let event = events.remove(at);
            events.insert(random.below(events.len() + 1), event);
        }
        _ => return None,
    }
    Some(written(&events))
}

/// The damage is to the text of one frame, or of all.
fn in_bytes(events: &[Event], at: usize, how: &str, random: &mut Xorshift) -> Option<Vec<u8>> {
    let frames: Vec<String> = events.iter().map(Event::frame).collect();
    let data = |frame: &str| {
        frame.trim_end().rsplit_once("data: ").map(|(head, data)| (head.to_owned(), data.to_owned()))
    };
    let (head, own) = data(&frames[at])?;
    let done = "data: [DONE]\n\n";
    let error =
        "data: {\"error\":{\"message\":\"Overloaded\",\"type\":\"overloaded_error\",\"code\":null}}\n\n";
    let replaced = |frame: String| {
        let mut all = frames.clone();
        all[at] = frame;
        all.concat()
    };
    let text = match how {
        "data-in-lines" => replaced(format!("{head}data: {}\n\n", own.replacen(',', ",\ndata: ", 1))),
        "comma" => replaced(format!("{head}data: {},}}\n\n", own.strip_suffix('}')?)),
        "single-quotes" => replaced(format!("{head}data: {}\n\n", own.replace('"', "'"))),
        "nan" => replaced(format!("{head}data: {},\"score\":NaN}}\n\n", own.strip_suffix('}')?)),
        "no-prefix" => replaced(format!("{own}\n\n")),
        "as-text" => replaced(format!("{head}data: {}\n\n", Value::from(own.as_str()))),
        "data-null" => replaced(format!("{}data: null\n\n", frames[at])),
        "data-array" => replaced(format!("{head}data: [{own}]\n\n")),
        "done-early" => replaced(format!("{}{done}", frames[at])),
        "done-lower" => frames.concat().replace("[DONE]", "[done]"),
        "done-missing" => frames.concat().replace(done, ""),
        "error-then-on" => replaced(format!("{}{error}", frames[at])),
        "error-last" => frames[..at].concat() + error,
        "html" => replaced("<html><body>502 Bad Gateway</body></html>\n\n".to_owned()),
        "member-twice" => {
            let name =
                keys(events[at].data.get("choices").and_then(|all| all.get(0)).unwrap_or(&events[at].data));
            let name = name.iter().nth(random.below(name.len().max(1)))?.clone();
            let key = format!("\"{name}\":");
            replaced(format!("{head}data: {}\n\n", own.replacen(&key, &format!("{key}null,{key}"), 1)))
        }
        "line-wrong" => replaced(format!("event: update\ndata: {own}\n\n")),
        "lines-missing" => frames
            .iter()
            .map(|frame| Some(format!("data: {}\n\n", data(frame)?.1)))
            .collect::<Option<String>>()?,
        "not-utf8" => {
            let mut bytes = frames[..at].concat().into_bytes();
            let mut frame = frames[at].clone().into_bytes();
            let middle = frame.len() / 2;
            frame.insert(middle, 0xff);
            bytes.extend(frame);
            bytes.extend(frames[at + 1..].concat().into_bytes());
            return Some(bytes);
        }
        _ => return None,
    };
    Some(text.into_bytes())
}

fn keys(data: &Value) -> BTreeSet<String> {
    let empty = Map::new();
    let members = data.as_object().unwrap_or(&empty);
    let inner = data.pointer("/choices/0/delta").or_else(|| data.get("delta")).and_then(Value::as_object);
    members.keys().chain(inner.into_iter().flatten().map(|(name, _)| name)).cloned().collect()
}
