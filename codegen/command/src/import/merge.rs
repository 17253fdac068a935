//! Merges a newer document into the files of a dialect. Entries of the dialect stay unless the document contradicts
//! them.
//!
//! Both are walked in parallel, from their common events and bodies. Branches of a union are matched by their `type`.
//! New entries of the document are added, and nothing becomes stricter, because older servers and other vendors keep
//! using the old format.

mod adopt;
mod leaves;
mod objects;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::{Value, json};

use super::schemas::referred;
use super::text::ordered;
use super::{Imported, Note};
use leaves::{Kind, Leaf};

/// Number of passes of a merge: added branches can help to match more types.
const ROUNDS: usize = 8;

pub(super) type Laid = (BTreeMap<String, Value>, Vec<Note>);

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Options<'o> {
    /// The root of the API's scopes.
    pub(super) root: &'o str,
    /// The previously imported document.
    pub(super) since: Option<&'o Imported>,
    pub(super) variant: Option<&'o str>,
}

pub(super) fn merge(
    files: BTreeMap<String, Value>,
    roots: &BTreeMap<String, String>,
    document: &Imported,
    options: &Options<'_>,
) -> Laid {
    let mut merge = Merge {
        document: &document.files,
        since: options.since.map(|since| &since.files),
        files,
        variant: options.variant.unwrap_or_default(),
        root: options.root,
        names: BTreeMap::new(),
        seen: BTreeSet::new(),
        pending: VecDeque::new(),
        demands: BTreeMap::new(),
        phase: Phase::Look,
        notes: BTreeSet::new(),
    };
    for _ in 0..ROUNDS {
        let before = merge.files.clone();
        for phase in [Phase::Look, Phase::Write] {
            merge.phase = phase;
            merge.seen.clear();
            merge.begin(roots, &document.roots);
        }
        if merge.files == before {
            break;
        }
        merge.demands.clear();
    }
    let notes = merge.notes.into_iter().map(|(place, text)| Note { place, text }).collect();
    (merge.files, notes)
}

/// The phases of a merge: first types are matched, then files are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Look,
    Write,
}

struct Merge<'n> {
    document: &'n BTreeMap<String, Value>,
    /// The previously imported document.
    since: Option<&'n BTreeMap<String, Value>>,
    files: BTreeMap<String, Value>,
    variant: &'n str,
    /// The scope of new events whose family is unknown.
    root: &'n str,
    /// Types of the document, and the matching types of the dialect.
    names: BTreeMap<String, String>,
    seen: BTreeSet<(String, String)>,
    /// Pairs of types that are still to be merged.
    pending: VecDeque<(String, FilePointer)>,
    /// For every required property, whether a schema of the document requires it, too.
    demands: BTreeMap<(FilePointer, String), bool>,
    phase: Phase,
    notes: BTreeSet<(String, String)>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct FilePointer {
    file: String,
    pointer: String,
}

impl FilePointer {
    fn of_type(name: &str) -> Self {
        Self { file: type_file(name), pointer: String::new() }
    }

    fn at(&self, step: impl std::fmt::Display) -> Self {
        Self { file: self.file.clone(), pointer: format!("{}/{step}", self.pointer) }
    }

    fn property(&self, name: &str) -> Self {
        self.at(format!("properties/{}", codegen::schema::escape(name)))
    }

    fn type_name(&self) -> Option<&str> {
        let name = self.file.strip_prefix("types/")?.strip_suffix(".json")?;
        self.pointer.is_empty().then_some(name)
    }
}

impl std::fmt::Display for FilePointer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}#{}", self.file, self.pointer)
    }
}

fn type_file(name: &str) -> String {
    format!("types/{name}.json")
}

impl Merge<'_> {
    fn begin(&mut self, ours: &BTreeMap<String, String>, theirs: &BTreeMap<String, String>) {
        let document = self.document;
        let events = document.iter().filter(|(path, _)| path.starts_with("events/"));
        for (path, schema) in events {
            if self.files.contains_key(path) {
                self.pair(schema, &FilePointer { file: path.clone(), pointer: String::new() });
            } else if self.phase == Phase::Write {
                self.new_event(path, schema);
            }
        }
        for (role, name) in theirs {
            match ours.get(role) {
                Some(own) if self.files.contains_key(&type_file(own)) => {
                    self.pending.push_back((name.clone(), FilePointer::of_type(own)));
                }
                Some(own) if self.phase == Phase::Write => self.adopt_as(name, own),
                Some(_) => {}
                None => {
                    let text =
                        format!("the document has a {role}, \"{name}\"; add it to [roots] to import it");
                    self.notes.insert(("dialect.toml".to_owned(), text));
                }
            }
        }
        while let Some((name, place)) = self.pending.pop_front() {
            if self.seen.insert((name.clone(), place.to_string()))
                && let Some(schema) = document.get(&type_file(&name))
            {
                self.pair_named(&name, schema, &place);
            }
        }
    }

    fn at(&self, place: &FilePointer) -> Value {
        self.files.get(&place.file).and_then(|file| file.pointer(&place.pointer)).cloned().unwrap_or_default()
    }

    fn edit(&mut self, place: &FilePointer, change: impl FnOnce(&mut Value)) {
        if self.phase == Phase::Write
            && let Some(schema) =
                self.files.get_mut(&place.file).and_then(|file| file.pointer_mut(&place.pointer))
        {
            change(schema);
            let Value::Object(map) = schema.take() else { return };
            *schema = ordered(map);
        }
    }

    fn note(&mut self, place: &FilePointer, text: impl Into<String>) {
        if self.phase == Phase::Write {
            self.notes.insert((place.to_string(), text.into()));
        }
    }

    fn pair(&mut self, new: &Value, place: &FilePointer) {
        let old = self.at(place);
        match (referred_in(new), referred_in(&old)) {
            (Some(name), Some(own)) => {
                self.pending.push_back((name.to_owned(), FilePointer::of_type(own)));
            }
            (Some(name), None) => self.pending.push_back((name.to_owned(), place.clone())),
            (None, Some(own)) => self.pair_leaves(new, &FilePointer::of_type(own)),
            (None, None) => self.pair_leaves(new, place),
        }
    }

    fn pair_named(&mut self, name: &str, new: &Value, place: &FilePointer) {
        let is_union = |schema: &Value| schema.get("anyOf").is_some();
        if let Some(own) = place.type_name()
            && is_union(new) == is_union(&self.at(place))
        {
            self.names.entry(name.to_owned()).or_insert_with(|| own.to_owned());
        }
        self.pair_leaves(new, place);
    }

    /// If the document has several objects of a `type`, only the most similar one is kept.
    fn drop_doubles(&mut self, leaves: &mut Vec<Leaf>, place: &FilePointer) {
        let olds = self.leaves_of_dialect(place);
        let mut taken: BTreeMap<FilePointer, (usize, usize)> = BTreeMap::new();
        let mut dropped = BTreeSet::new();
        for (index, leaf) in leaves.iter().enumerate().filter(|(_, leaf)| leaf.kind() == Kind::Object) {
            let Some((place, old)) = leaves::best(leaf, &olds) else { continue };
            let score = leaves::score(leaf, old);
            match taken.get(place) {
                Some((better, _)) if *better >= score => drop(dropped.insert(index)),
                other => {
                    dropped.extend(other.map(|(_, worse)| *worse));
                    taken.insert(place.clone(), (score, index));
                }
            }
        }
        let mut index = 0;
        leaves.retain(|_| {
            index += 1;
            !dropped.contains(&(index - 1))
        });
    }

    fn pair_leaves(&mut self, new: &Value, place: &FilePointer) {
        let mut leaves = self.leaves_of_document(new);
        self.drop_doubles(&mut leaves, place);
        let free_string = leaves.iter().any(|leaf| leaf.kind() == Kind::String && leaf.values().is_none());
        for leaf in leaves {
            self.lay(&leaf, place, free_string);
        }
    }

    fn lay(&mut self, new: &Leaf, place: &FilePointer, free_string: bool) {
        let olds = self.leaves_of_dialect(place);
        match new.kind() {
            Kind::Any | Kind::Null => {}
            _ if olds.iter().any(|(_, old)| old.kind() == Kind::Any) => {}
            Kind::String => self.lay_string(new, place, &olds, free_string),
            Kind::Object => match leaves::best(new, &olds) {
                Some((place, old)) => {
                    self.same_type(new, place);
                    // A type can contain itself.
                    let is_new = new
                        .name
                        .as_ref()
                        .is_none_or(|name| self.seen.insert((name.clone(), place.to_string())));
                    if is_new {
                        self.lay_object(new, &old.schema, place);
                    }
                }
                None => self.add_branch(new, place, &olds),
            },
            Kind::Array => match olds.iter().find(|(_, old)| old.kind() == Kind::Array) {
                Some((place, old)) => {
                    self.same_type(new, place);
                    if let (Some(items), Some(_)) = (new.schema.get("items"), old.schema.get("items")) {
                        self.pair(items, &place.at("items"));
                    }
                }
                None => self.add_branch(new, place, &olds),
            },
            kind => {
                if olds.iter().all(|(_, old)| old.kind() != kind) {
                    self.add_branch(new, place, &olds);
                }
            }
        }
    }

    fn same_type(&mut self, new: &Leaf, place: &FilePointer) {
        if let (Some(name), Some(own)) = (&new.name, place.type_name()) {
            self.names.entry(name.clone()).or_insert_with(|| own.to_owned());
        }
    }

    /// A free string opens the enumeration.
    fn lay_string(
        &mut self,
        new: &Leaf,
        place: &FilePointer,
        olds: &[(FilePointer, Leaf)],
        free_string: bool,
    ) {
        let strings = || olds.iter().filter(|(_, old)| old.kind() == Kind::String);
        let is_free = |old: &Leaf| old.values().is_none();
        let shared = |old: &Leaf| {
            let known = old.values().unwrap_or_default();
            new.values().unwrap_or_default().iter().filter(|value| known.contains(value)).count()
        };
        let Some((place, old)) =
            strings().filter(|(_, old)| !is_free(old)).max_by_key(|(_, old)| shared(old))
        else {
            if strings().next().is_none() {
                self.add_branch(new, place, olds);
            }
            return;
        };
        let (place, old_values) = (place.clone(), old.values().unwrap_or_default());
        self.same_type(new, &place);
        let is_decided = old.schema.get("x-open").is_some() || old.schema.get("x-closed").is_some();
        let Some(values) = new.values() else {
            if strings().all(|(_, old)| !is_free(old)) && old.schema.get("enum").is_some() && !is_decided {
                self.edit(&place, |schema| {
                    schema["x-open"] = json!(format!(
                        "{} the document allows any string here: explain why a server may add values",
                        codegen::todo::MARK
                    ));
                });
            }
            return;
        };
        let known: Vec<Value> = strings().flat_map(|(_, old)| old.values().unwrap_or_default()).collect();
        let added: Vec<Value> = values.into_iter().filter(|value| !known.contains(value)).collect();
        if added.is_empty() {
            return;
        }
        let is_open = free_string || strings().any(|(_, old)| is_free(old));
        self.note(&place, format!("added {}", json!(added)));
        self.edit(&place, |schema| {
            let all: Vec<Value> = old_values.into_iter().chain(added.iter().cloned()).collect();
            if let Value::Object(map) = schema {
                map.shift_remove("const");
                map.insert("type".to_owned(), json!("string"));
                map.insert("enum".to_owned(), json!(all));
                if !is_decided && !is_open {
                    let what = format!("{} added {}", codegen::todo::MARK, words(&added));
                    map.insert(
                        "x-open".to_owned(),
                        json!(format!("{what}: explain why a server may add more, or use x-closed")),
                    );
                }
            }
        });
    }
}

fn words(values: &[Value]) -> String {
    values.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", ")
}

fn referred_in(schema: &Value) -> Option<&str> {
    schema.get("$ref").and_then(referred)
}
