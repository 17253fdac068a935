//! Checks violations: applies each edit to the list of the golden's events.
//!
//! `recordings` applies them to bytes. It depends on what this crate generates, so that neither can use the other's code.

use std::path::Path;

use codegen::formats::{Edit, Edits, Rule, RuleInApi, Side, Target};
use codegen::schema::unescape;
use serde_json::Value;

use super::context::Context;
use super::frames::Frame;
use super::report::{Report, SourcePlace};

pub(super) fn check(context: &Context, rule: &Rule, report: &mut Report) {
    for own in &rule.in_apis {
        check_in_api(context, rule, own, report);
    }
}

fn check_in_api(context: &Context, rule: &Rule, own: &RuleInApi, report: &mut Report) {
    let (file, entry) = context.place_in_api(rule, own, "violation");
    let violation = &own.violation;
    for id in violation.also.iter().filter(|id| !context.catalogue.rules.contains_key(*id) || **id == rule.id)
    {
        let message = format!("`also` lists {id}, which is this rule or does not exist");
        report.find(&file, entry.clone(), message, "list other rules that the edits break, too");
    }
    let of = violation.golden.split_once('/').and_then(|(of, _)| context.dialects.get(of));
    let is_other = |api: &String| *api != own.api && context.shared.apis.contains_key(api);
    if let Some(of) = of.filter(|of| is_other(&of.file.api)) {
        let message = format!("{} is a golden of {}, not of {}", violation.golden, of.file.api, own.api);
        report.find(&file, entry.clone(), message, "edit a golden of the API");
    }
    if rule.api.is_none() {
        return check_entry(context, &violation.golden, &violation.edits, &file, &entry, report);
    }
    for (line, message) in faults(context, &violation.golden, &violation.edits) {
        match line {
            Some(line) => report.find(&file, SourcePlace::Line(line), message, in_order(&violation.golden)),
            None => report.find(&file, entry.clone(), message, NO_GOLDEN),
        }
    }
}

const NO_GOLDEN: &str = "use a file under goldens/, written as <dialect>/<name>";

fn in_order(golden: &str) -> String {
    format!("edits apply in order to goldens/{golden}: check what the edits before this one left")
}

pub(super) fn check_entry(
    context: &Context,
    golden: &str,
    edits: &Edits,
    file: &Path,
    id: &str,
    report: &mut Report,
) {
    for (line, message) in faults(context, golden, edits) {
        match line {
            Some(line) => report.find(file, id, format!("edits, line {line}: {message}"), in_order(golden)),
            None => report.find(file, id, message, NO_GOLDEN),
        }
    }
}

fn faults(context: &Context, golden: &str, edits: &[(usize, Edit)]) -> Vec<(Option<usize>, String)> {
    let Some(golden) = context.golden(golden) else {
        return vec![(None, format!("there is no golden {golden}"))];
    };
    let mut events: Vec<Event> = golden.frames.iter().filter_map(Event::of).collect();
    let faults = edits.iter().filter_map(|(line, edit)| Some((Some(*line), apply(edit, &mut events).err()?)));
    faults.collect()
}

#[derive(Clone)]
struct Event {
    name: String,
    data: Value,
}

impl Event {
    fn of(frame: &Frame) -> Option<Self> {
        let data = serde_json::from_str(frame.data.as_deref()?).unwrap_or_default();
        Some(Self { name: frame.name()?, data })
    }
}

fn apply(edit: &Edit, events: &mut Vec<Event>) -> Result<(), String> {
    let targets = edit.targets();
    let places = targets.iter().map(|target| find(target, events)).collect::<Result<Vec<_>, _>>()?;
    let first = || places.first().into_iter().flatten().copied();
    match edit {
        Edit::Drop(_) => first().rev().for_each(|at| drop(events.remove(at))),
        Edit::Duplicate(_) => first().rev().for_each(|at| events.insert(at, events[at].clone())),
        Edit::Swap(..) => {
            if let [one, other] = places.as_slice()
                && let ([one], [other]) = (one.as_slice(), other.as_slice())
                && one != other
            {
                events.swap(*one, *other);
            } else {
                return Err("`swap` needs two different events".to_owned());
            }
        }
        Edit::Set(_, pointer, value) => {
            for at in first() {
                set(&mut events[at].data, pointer, value)?;
            }
        }
        Edit::Prepend(_, pointer, text) => {
            for at in first() {
                prepend(&mut events[at].data, pointer, text)?;
            }
        }
        Edit::Unset(_, pointer) => {
            for at in first() {
                unset(&mut events[at].data, pointer)?;
            }
        }
        Edit::Insert(side, _, data) => {
            let kind = data.get("type").and_then(Value::as_str).unwrap_or_default();
            for at in first().rev() {
                // The new event has the direction of its neighbour.
                let direction = if events[at].name.starts_with('>') { ">" } else { "" };
                let event = Event { name: format!("{direction}{kind}"), data: data.clone() };
                events.insert(at + usize::from(*side == Side::After), event);
            }
        }
        Edit::Truncate(_) => {
            let Some(at) = first().next() else { return Ok(()) };
            if at + 1 == events.len() {
                return Err("this is the last event, so `truncate` removes nothing".to_owned());
            }
            events.truncate(at + 1);
        }
        _ => {}
    }
    Ok(())
}

fn find(target: &Target, events: &[Event]) -> Result<Vec<usize>, String> {
    let is_meant = |event: &Event| match &target.event {
        Some(name) => *name == event.name,
        None => !event.name.starts_with('>'),
    };
    let all: Vec<usize> = (0..events.len()).filter(|&at| is_meant(&events[at])).collect();
    let name = target.event.as_deref().unwrap_or("event");
    match target.number {
        None if all.is_empty() => Err(format!("there is no {name}")),
        None => Ok(all),
        Some(number) => match all.get(number - 1) {
            Some(at) => Ok(vec![*at]),
            None => Err(format!("there is no {name} number {number}; the stream has {}", all.len())),
        },
    }
}

fn set(data: &mut Value, pointer: &str, value: &Value) -> Result<(), String> {
    let (parent, name) = parent(data, pointer)?;
    match parent {
        Value::Object(map) if map.get(&name) == Some(value) => {
            Err(format!("\"{pointer}\" already is {value}"))
        }
        Value::Object(map) => {
            map.insert(name, value.clone());
            Ok(())
        }
        Value::Array(list) if name == "-" => {
            list.push(value.clone());
            Ok(())
        }
        Value::Array(list) => match name.parse().ok().and_then(|at: usize| list.get_mut(at)) {
            Some(old) if old != value => {
                *old = value.clone();
                Ok(())
            }
            _ => Err(format!("\"{pointer}\" does not exist, or already is {value}")),
        },
        _ => Err(format!("\"{pointer}\" cannot be set: its parent does not exist")),
    }
}

fn prepend(data: &mut Value, pointer: &str, text: &str) -> Result<(), String> {
    match data.pointer_mut(pointer) {
        Some(Value::String(old)) if !text.is_empty() => {
            old.insert_str(0, text);
            Ok(())
        }
        Some(Value::String(_)) => Err("the prepended text is empty".to_owned()),
        _ => Err(format!("the event has no string at \"{pointer}\"")),
    }
}

fn unset(data: &mut Value, pointer: &str) -> Result<(), String> {
    let (parent, name) = parent(data, pointer)?;
    let was_there = match parent {
        Value::Object(map) => map.shift_remove(&name).is_some(),
        Value::Array(list) => match name.parse::<usize>() {
            Ok(at) if at < list.len() => {
                list.remove(at);
                true
            }
            _ => false,
        },
        _ => false,
    };
    if was_there { Ok(()) } else { Err(format!("the event has no value at \"{pointer}\"")) }
}

fn parent<'v>(data: &'v mut Value, pointer: &str) -> Result<(&'v mut Value, String), String> {
    let (parent, name) = pointer.rsplit_once('/').unwrap_or_default();
    let name = unescape(name);
    match data.pointer_mut(parent) {
        Some(parent) => Ok((parent, name)),
        None => Err(format!("the event has no value at \"{parent}\"")),
    }
}
