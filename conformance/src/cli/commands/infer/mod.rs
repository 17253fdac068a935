//! `conformance dialect infer`: proposes the folder of a dialect by what recordings have.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use codegen::dialect::Dialect as Model;
use serde_json::{Map, Value, json};
use spec::folder;
use spec::json::{FaultKind, Wanted};
use spec::table::EventLine;
use spec::{Fault, Verdict};

mod framing;

use self::framing::{Framings, Proposal};
use super::parent::Parent;
use crate::cli::input::files;
use checker::{Observer, Rules, Seen};
use recordings::Checking;
use results::text::counted;

/// Maximum number of times that recordings are checked: each check shows what the one before hid.
const ROUNDS: usize = 8;

/// Maximum number of values of an event that its schema is made of.
const SAMPLES: usize = 500;

pub(in crate::cli) struct Inferred {
    pub(in crate::cli) files: BTreeMap<String, String>,
    /// The changes with their counts, and the rules that recordings break still.
    pub(in crate::cli) lines: Vec<String>,
}

/// Proposes a dialect. Nothing is loosened that no recording breaks.
pub(in crate::cli) fn infer(
    name: &str,
    (file, head): (&str, &str),
    paths: &[PathBuf],
    parent: &Parent,
) -> Result<Inferred> {
    let found = files::recordings(paths)?.files;
    let base = parent.dialect;
    let model = parent.model()?;
    let mut changed = Changed::new(&model);
    let (mut dialect, mut files) = (base, BTreeMap::from([(file.to_owned(), head.to_owned())]));
    let mut broken = BTreeMap::new();
    let mut framing = Vec::new();
    for _ in 0..ROUNDS {
        let mut checking = Checking::new(&Rules::of(dialect), false);
        changed.is_named_by_line = matches!(
            dialect.framing.event_line,
            EventLine::Discriminator | EventLine::DiscriminatorIfUntyped
        );
        let framings = Framings::default();
        let mut round = Round { changed: &mut changed, framings, recording: 0, is_new: false };
        broken = BTreeMap::new();
        for (at, file) in found.iter().enumerate() {
            round.recording = at;
            let mut input = files::open(file).with_context(|| file.display().to_string())?;
            let report = checking.check_seen_by(files::name(file), &mut input, None, &mut round);
            if let Some(error) = report.error {
                bail!("{}: {error}", file.display());
            }
            let rules: BTreeSet<&str> = report.findings.iter().map(|finding| &*finding.rule).collect();
            for rule in rules {
                *broken.entry(rule.to_owned()).or_insert(0_u64) += 1;
            }
        }
        let proposals = round.framings.proposals(base);
        if !round.is_new && proposals.len() == framing.len() {
            break;
        }
        framing = proposals;
        files = changed.files();
        let mut head = head.to_owned();
        if !framing.is_empty() {
            head += "\n[framing]\n";
        }
        for Proposal { entry, value, .. } in &framing {
            // Writing to a string cannot fail.
            let _ = writeln!(head, "{entry} = \"{value}\"");
        }
        files.insert(file.to_owned(), head);
        dialect = folder::load(name, &parent.extended(Path::new(name), files.clone())?)?;
    }
    let of = |count: usize| format!("{count} of {}", counted(found.len() as u64, "recording"));
    let mut lines: Vec<String> = framing
        .iter()
        .map(|Proposal { entry, value, counts }| format!("{file}: {entry} = \"{value}\" ({counts})"))
        .collect();
    let mended = changed.seen.iter().map(|((place, what), (events, recordings))| {
        format!("{place}: {what} ({}, {})", counted(*events, "event"), of(recordings.len()))
    });
    lines.extend(mended);
    lines.extend(broken.iter().map(|(rule, count)| {
        let count = usize::try_from(*count).unwrap_or(usize::MAX);
        format!("left: {rule} is broken in {}", of(count))
    }));
    Ok(Inferred { files, lines })
}

struct Round<'c, 'm> {
    changed: &'c mut Changed<'m>,
    framings: Framings,
    recording: usize,
    is_new: bool,
}

impl Observer for Round<'_, '_> {
    fn record(&mut self, seen: &Seen<'_>) {
        let record = seen.record;
        self.framings.record(seen, self.recording);
        let (Some(data), Some(name)) = (&record.frame.data, &record.event_type) else { return };
        let Ok(value) = serde_json::from_str::<Value>(data) else { return };
        match (&record.verdict, record.known) {
            (Verdict::Invalid(faults, _), Some((_, event))) => {
                for fault in faults {
                    self.is_new |=
                        self.changed.mend(event.name, &value, fault, self.recording).unwrap_or(false);
                }
            }
            (_, None) if value.is_object() && !name.is_empty() => {
                self.is_new |= self.changed.add(name, value, self.recording);
            }
            _ => {}
        }
    }
}

/// The files of a dialect, changed so that recordings are valid.
struct Changed<'m> {
    parent: &'m Model,
    /// Whether the `event:` field can have the type of an event that has none.
    is_named_by_line: bool,
    /// The changed files, as they are.
    now: BTreeMap<String, Value>,
    /// The values of events that the parent does not have.
    samples: BTreeMap<String, Vec<Value>>,
    /// The changes: by place and change, the number of events, and the recordings.
    seen: BTreeMap<(String, String), (u64, BTreeSet<usize>)>,
}

impl<'m> Changed<'m> {
    fn new(parent: &'m Model) -> Self {
        Self {
            parent,
            is_named_by_line: false,
            now: BTreeMap::new(),
            samples: BTreeMap::new(),
            seen: BTreeMap::new(),
        }
    }

    fn before(&self, file: &str) -> Option<&'m Value> {
        let (kind, name) = file.strip_suffix(".json")?.split_once('/')?;
        match kind {
            "events" => self.parent.events.get(name).map(|event| &event.file),
            _ => self.parent.type_files.get(name),
        }
    }

    fn schema(&self, (file, pointer): &FilePointer) -> Option<&Value> {
        self.now.get(file).or_else(|| self.before(file))?.pointer(pointer)
    }

    fn schema_mut(&mut self, (file, pointer): &FilePointer) -> Option<&mut Value> {
        let before = self.before(file);
        let now = self.now.entry(file.clone()).or_insert_with(|| before.cloned().unwrap_or_default());
        now.pointer_mut(pointer)
    }

    fn note(&mut self, (file, pointer): &FilePointer, what: String, recording: usize) {
        let (events, recordings) = self.seen.entry((format!("{file}#{pointer}"), what)).or_default();
        *events += 1;
        recordings.insert(recording);
    }

    /// The schema of the value then allows it. The result is whether that is new; none if it cannot.
    fn mend(&mut self, event: &str, data: &Value, fault: &Fault, recording: usize) -> Option<bool> {
        let found = match &fault.kind {
            FaultKind::Undeclared => fault.pointer.rsplit_once('/').map_or("", |(object, _)| object),
            _ => &fault.pointer,
        };
        let (outer, inner) = self.place(event, data, found)?;
        let value = data.pointer(&fault.pointer);
        let is_new = match (&fault.kind, value) {
            (FaultKind::Missing { property, .. }, _) => {
                let schema = self.schema(&inner)?;
                let member = schema.get("properties").and_then(|all| all.get(*property));
                // A constant says what the object is, unless the `event:` field says it.
                let is_said = self.is_named_by_line && inner.0.starts_with("events/") && inner.1.is_empty();
                let is_constant = member.is_none_or(|it| it.get("const").is_some());
                if schema.get("required").is_none() || is_constant && !is_said {
                    return None;
                }
                self.note(&inner, format!("{property} is optional"), recording);
                let required = self.schema_mut(&inner).and_then(|schema| schema.get_mut("required"));
                required.and_then(Value::as_array_mut).is_some_and(|required| {
                    let before = required.len();
                    required.retain(|name| name != property);
                    required.len() < before
                })
            }
            (FaultKind::Undeclared, Some(value)) => {
                let name = fault.pointer.rsplit('/').next().unwrap_or_default();
                let name = name.replace("~1", "/").replace("~0", "~");
                self.note(&inner, format!("{name} is a member"), recording);
                let mut schema = schema_of(&[value]);
                describe(&mut schema);
                let Some(Value::Object(own)) = self.schema_mut(&inner) else { return None };
                let members = own.entry("properties").or_insert_with(|| json!({}));
                members.as_object_mut().is_some_and(|members| members.insert(name, schema).is_none())
            }
            (FaultKind::Value(_), Some(Value::Null)) => {
                self.note(&outer, "null is allowed".to_owned(), recording);
                self.or(&outer, json!({ "type": "null" }))
            }
            (FaultKind::Value(Wanted::OneOf(_)), Some(Value::String(text))) => {
                self.schema(&inner)?.get("enum")?;
                self.note(&inner, format!("\"{text}\" is a value"), recording);
                let values = self.schema_mut(&inner).and_then(|schema| schema.get_mut("enum"));
                values.and_then(Value::as_array_mut).is_some_and(|values| {
                    let is_new = !values.contains(&json!(text));
                    if is_new {
                        values.push(json!(text));
                    }
                    is_new
                })
            }
            (FaultKind::Value(_), Some(value)) => {
                let schema = schema_of(&[value]);
                // Another constant is another thing.
                if self.schema(&inner).is_none_or(|schema| schema.get("const").is_some()) {
                    return None;
                }
                let kind = schema.get("type").and_then(Value::as_str).unwrap_or("value").to_owned();
                self.note(&outer, format!("{kind} is allowed"), recording);
                self.or(&outer, schema)
            }
            _ => return None,
        };
        Some(is_new)
    }

    /// Allows another schema at a place. False if it was allowed before.
    fn or(&mut self, place: &FilePointer, schema: Value) -> bool {
        let Some(own) = self.schema_mut(place) else { return false };
        if let Some(branches) = own.get_mut("anyOf").and_then(Value::as_array_mut) {
            let is_new = !branches.contains(&schema);
            if is_new {
                branches.push(schema);
            }
            return is_new;
        }
        *own = json!({ "anyOf": [own.take(), schema] });
        true
    }

    /// The places of the schema of a value in an event: the reference to it, and its own.
    fn place(&self, event: &str, data: &Value, pointer: &str) -> Option<(FilePointer, FilePointer)> {
        let mut outer: FilePointer = (format!("events/{event}.json"), String::new());
        let (mut value, mut inner) = (Some(data), self.resolved(&outer, Some(data))?);
        for segment in pointer.split('/').skip(1) {
            let name = segment.replace("~1", "/").replace("~0", "~");
            let schema = self.schema(&inner)?;
            let step = match value? {
                Value::Array(entries) => {
                    value = entries.get(segment.parse::<usize>().ok()?);
                    "items".to_owned()
                }
                Value::Object(members) => {
                    value = members.get(&name);
                    let is_declared = schema.get("properties").is_some_and(|all| all.get(&name).is_some());
                    if is_declared {
                        format!("properties/{segment}")
                    } else {
                        "additionalProperties".to_owned()
                    }
                }
                _ => return None,
            };
            outer = (inner.0, format!("{}/{step}", inner.1));
            inner = self.resolved(&outer, value)?;
        }
        Some((outer, inner))
    }

    /// Follows references and branches for a value.
    fn resolved(&self, place: &FilePointer, value: Option<&Value>) -> Option<FilePointer> {
        let mut place = place.clone();
        for _ in 0..32 {
            let schema = self.schema(&place)?;
            if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
                place = (target.strip_prefix("../")?.to_owned(), String::new());
            } else if let Some(branches) = schema.get("anyOf").and_then(Value::as_array) {
                let fits = |at: &usize| {
                    let branch = self.resolved(&(place.0.clone(), format!("{}/anyOf/{at}", place.1)), value);
                    branch.and_then(|place| self.schema(&place)).is_some_and(|schema| can_be(schema, value))
                };
                let at = (0..branches.len()).find(fits).unwrap_or(0);
                place.1 = format!("{}/anyOf/{at}", place.1);
            } else {
                return Some(place);
            }
        }
        None
    }

    /// The parent does not have the event. The result is whether its schema changes.
    fn add(&mut self, event: &str, value: Value, recording: usize) -> bool {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | ':');
        if event.starts_with('.') || !event.chars().all(is_plain) {
            return false;
        }
        self.note(&(format!("events/{event}.json"), String::new()), "is an event".to_owned(), recording);
        let samples = self.samples.entry(event.to_owned()).or_default();
        let is_new = samples.len() < SAMPLES && !samples.contains(&value);
        if is_new {
            samples.push(value);
        }
        is_new
    }

    /// Patches of inherited files, and new events.
    fn files(&self) -> BTreeMap<String, String> {
        let text = |json: &Value| format!("{json:#}\n");
        let patches = self.now.iter().filter_map(|(file, now)| {
            let patch = difference(self.before(file)?, now)?;
            Some((file.replace(".json", ".patch.json"), text(&patch)))
        });
        let events = self.samples.iter().map(|(event, samples)| {
            let mut schema = schema_of(&samples.iter().collect::<Vec<_>>());
            if let Some(of_type) = schema.pointer_mut("/properties/type") {
                *of_type = json!({ "const": event });
            }
            describe(&mut schema);
            let root = self.parent.file.api.as_str();
            let scope =
                spec::APIS.iter().find(|api| api.name == root).map_or("", |api| api.scope(api.root).name);
            let mut file = json!({ "$id": event, "x-lifecycle": { "scope": scope, "role": "point" } });
            if let (Some(file), Value::Object(schema)) = (file.as_object_mut(), schema) {
                file.extend(schema);
            }
            (format!("events/{event}.json"), text(&file))
        });
        patches.chain(events).collect()
    }
}

/// A file, and a JSON pointer into it.
type FilePointer = (String, String);

fn describe(schema: &mut Value) {
    if let Some(schema) = schema.as_object_mut().filter(|schema| schema.contains_key("type")) {
        schema.insert("description".to_owned(), json!("Seen in recordings."));
    }
}

/// The kind of the value decides, and the constants of its members.
fn can_be(schema: &Value, value: Option<&Value>) -> bool {
    let kinds: Vec<&str> = match schema.get("type") {
        Some(Value::String(kind)) => vec![kind],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => return schema.get("const").is_none_or(|constant| Some(constant) == value),
    };
    let Some(value) = value else { return true };
    if !kinds.iter().any(|kind| *kind == kind_of(value) || *kind == "number" && value.is_number()) {
        return false;
    }
    let members = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    let mut constants = members.filter_map(|(name, member)| Some((name, member.get("const")?)));
    constants.all(|(name, constant)| value.get(name).is_none_or(|value| value == constant))
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// A member that all values have is required.
fn schema_of(values: &[&Value]) -> Value {
    let mut kinds: Vec<&str> = values.iter().map(|value| kind_of(value)).collect();
    kinds.sort_unstable();
    kinds.dedup();
    if kinds.contains(&"number") {
        kinds.retain(|kind| *kind != "integer");
    }
    // Null stays last, as in normal form.
    kinds.sort_by_key(|kind| *kind == "null");
    let branches: Vec<Value> = kinds.iter().map(|kind| of_kind(kind, values)).collect();
    match branches.len() {
        1 => branches.into_iter().next().unwrap_or_default(),
        _ => json!({ "anyOf": branches }),
    }
}

fn of_kind(kind: &str, values: &[&Value]) -> Value {
    match kind {
        "array" => {
            let entries: Vec<&Value> = values.iter().filter_map(|it| it.as_array()).flatten().collect();
            if entries.is_empty() {
                json!({ "type": "array" })
            } else {
                json!({ "type": "array", "items": schema_of(&entries) })
            }
        }
        "object" => {
            let objects: Vec<&Map<String, Value>> = values.iter().filter_map(|it| it.as_object()).collect();
            let mut members: BTreeMap<&String, Vec<&Value>> = BTreeMap::new();
            for (name, value) in objects.iter().copied().flatten() {
                members.entry(name).or_default().push(value);
            }
            let required: Vec<&&String> =
                members.iter().filter(|(_, all)| all.len() == objects.len()).map(|(name, _)| name).collect();
            let properties: Map<String, Value> =
                members.iter().map(|(name, all)| ((*name).clone(), schema_of(all))).collect();
            json!({ "type": "object", "required": required, "properties": properties })
        }
        other => json!({ "type": other }),
    }
}

fn difference(before: &Value, now: &Value) -> Option<Value> {
    match (before, now) {
        _ if before == now => None,
        (Value::Object(before), Value::Object(now)) => {
            let gone =
                before.keys().filter(|name| !now.contains_key(*name)).map(|name| (name.clone(), Value::Null));
            let other = now.iter().filter_map(|(name, now)| {
                let patch =
                    before.get(name).map_or_else(|| Some(now.clone()), |before| difference(before, now));
                Some((name.clone(), patch?))
            });
            Some(Value::Object(gone.chain(other).collect()))
        }
        (Value::Array(before), Value::Array(now)) => {
            let mut edit = Map::new();
            if now.len() >= before.len() {
                for (at, (before, now)) in before.iter().zip(now).enumerate() {
                    edit.extend(difference(before, now).map(|patch| (at.to_string(), patch)));
                }
                if now.len() > before.len() {
                    edit.insert("x-add".to_owned(), json!(now[before.len()..]));
                }
            } else {
                let gone: Vec<&Value> = before.iter().filter(|entry| !now.contains(entry)).collect();
                edit.insert("x-remove".to_owned(), json!(gone));
            }
            Some(Value::Object(edit))
        }
        _ => Some(now.clone()),
    }
}
