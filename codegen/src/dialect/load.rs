//! From folders to resolved dialects.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::errata::{self, Files};
use super::{Dialect, Event, IdlePatch, patch};
use crate::formats::{DialectFile, ErrataFile, Lifecycle, Role};
use crate::schema::{self, Registry};

/// A file of a dialect that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadError {
    /// The file.
    pub file: PathBuf,
    /// What is wrong, where in it, and what was expected.
    pub message: String,
}

impl std::fmt::Display for LoadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.file.display(), self.message)
    }
}

impl std::error::Error for LoadError {}

fn fail(file: &Path, message: impl std::fmt::Display) -> LoadError {
    LoadError { file: file.to_owned(), message: message.to_string() }
}

/// Names of all dialects under `<spec>/dialects`, in order.
pub fn list(spec: &Path) -> Result<Vec<String>, LoadError> {
    let folder = spec.join("dialects");
    let mut names = Vec::new();
    for path in entries(&folder)? {
        if path.join("dialect.toml").is_file()
            && let Some(name) = path.file_name().and_then(|name| name.to_str())
        {
            names.push(name.to_owned());
        }
    }
    names.sort();
    Ok(names)
}

/// Loads a dialect, resolves what it extends and applies the errata.
///
/// # Errors
///
/// Fails on the first of its files that cannot be used.
pub fn load(spec: &Path, name: &str) -> Result<Dialect, LoadError> {
    let dialect = open(spec, name, Errata::Applied)?;
    match dialect.faults.first() {
        None => Ok(dialect),
        Some(fault) => Err(fault.clone()),
    }
}

/// Loads a dialect as far as its files can be used. What is wrong with the others stands in its faults; each of
/// them is as it is inherited, or not there.
///
/// # Errors
///
/// Fails when its `dialect.toml`, or one that it extends, cannot be used.
pub fn open(spec: &Path, name: &str, errata: Errata) -> Result<Dialect, LoadError> {
    load_folder(&spec.join("dialects"), name, errata, &mut Vec::new()).map(|(dialect, _)| dialect)
}

/// What is done with errata, those of what a dialect extends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Errata {
    /// They are applied: the dialect is as it is in truth.
    Applied,
    /// What they correct and add is left out: the dialect is as it is published.
    LeftOut,
}

/// Returns the dialect, and its `dialect.toml` with what it inherits.
fn load_folder(
    dialects: &Path,
    name: &str,
    errata: Errata,
    heirs: &mut Vec<String>,
) -> Result<(Dialect, toml::Table), LoadError> {
    let folder = dialects.join(name);
    let path = folder.join("dialect.toml");
    let own: DialectFile = read_toml(&path)?;
    let mut table: toml::Table = read_toml(&path)?;
    heirs.push(name.to_owned());

    let (inherited, lineage, mut faults) = match &own.extends {
        None => (Files::new(), Vec::new(), Vec::new()),
        Some(parent) if heirs.contains(parent) => {
            return Err(fail(
                &path,
                format!("`extends` goes round in a circle: {} -> {parent}", heirs.join(" -> ")),
            ));
        }
        Some(parent) => {
            if !dialects.join(parent).is_dir() {
                return Err(fail(&path, format!("it extends \"{parent}\", but there is no such dialect")));
            }
            let (parent, inherited) = load_folder(dialects, parent, errata, heirs)?;
            inherit(&mut table, inherited);
            let events =
                parent.events.into_iter().map(|(name, event)| (format!("events/{name}.json"), event.file));
            let types =
                parent.type_files.into_iter().map(|(name, json)| (format!("types/{name}.json"), json));
            let lineage = std::iter::once(parent.name).chain(parent.lineage).collect();
            (events.chain(types).collect(), lineage, parent.faults)
        }
    };
    let file =
        table.clone().try_into().map_err(|error| fail(&path, format!("with what it inherits: {error}")))?;
    let mut files = inherited.clone();
    let idle_patches = own_files(&folder, &mut files, &mut faults)?;

    let errata_path = folder.join("errata.toml");
    let written: ErrataFile =
        if errata_path.is_file() { read_toml(&errata_path)? } else { ErrataFile::default() };
    let made = written.errata.into_iter().map(|erratum| {
        let idle = match errata {
            Errata::Applied => errata::apply(&erratum.change, &mut files),
            Errata::LeftOut => errata::leave_out(&erratum.change, &mut files),
        };
        (erratum, idle)
    });
    let errata = made.collect();

    let mut dialect = Dialect {
        name: name.to_owned(),
        file,
        own,
        lineage,
        events: BTreeMap::new(),
        types: BTreeMap::new(),
        type_files: BTreeMap::new(),
        errata,
        idle_patches,
        faults,
    };
    for (relative, json) in files {
        if let Err(message) = dialect.take(&relative, json) {
            let as_inherited = inherited.get(&relative).cloned();
            // What its parent is wrong about is said of the parent.
            if as_inherited.is_some_and(|json| dialect.take(&relative, json).is_err()) {
                continue;
            }
            dialect.faults.push(fail(&file_of(&folder, &relative), message));
        }
    }
    let mut unresolved = unresolved(&dialect);
    unresolved.retain(|(file, name)| {
        let missing = format!("types/{name}.json");
        // Said already, of the file of the type or of what is inherited.
        let is_faulty = dialect.faults.iter().any(|fault| fault.file.ends_with(&missing));
        let is_own = file_of(&folder, file).is_file() || inherited.contains_key(&missing);
        !is_faulty && is_own
    });
    dialect.faults.extend(unresolved.into_iter().map(|(file, name)| {
        let message = format!("it refers to type \"{name}\", which the dialect does not have");
        fail(&file_of(&folder, &file), message)
    }));
    Ok((dialect, table))
}

/// Returns the file of the dialect that says what is at fault: its own, or the patch of an inherited one.
fn file_of(folder: &Path, relative: &str) -> PathBuf {
    let patch = folder.join(relative.replace(".json", PATCH));
    if patch.is_file() { patch } else { folder.join(relative) }
}

/// How the names of patches end.
pub(crate) const PATCH: &str = ".patch.json";

/// Reads the files of a folder over those that are inherited. Returns what patches say in vain.
fn own_files(
    folder: &Path,
    files: &mut Files,
    faults: &mut Vec<LoadError>,
) -> Result<Vec<IdlePatch>, LoadError> {
    let mut idle = Vec::new();
    let inherited = files.clone();
    for kind in ["events", "types"] {
        if !folder.join(kind).is_dir() {
            continue;
        }
        for path in entries(&folder.join(kind))? {
            let Some(file_name) = path.file_name().and_then(|name| name.to_str()) else { continue };
            if path.extension().is_none_or(|extension| extension != "json") {
                faults.push(fail(&path, "only .json files belong here"));
                continue;
            }
            let json = match read_json(&path) {
                Ok(json) => json,
                Err(fault) => {
                    faults.push(fault);
                    continue;
                }
            };
            let Some(stem) = file_name.strip_suffix(PATCH) else {
                files.insert(format!("{kind}/{file_name}"), json);
                continue;
            };
            let relative = format!("{kind}/{stem}.json");
            match inherited.get(&relative) {
                _ if folder.join(&relative).is_file() => {
                    faults.push(fail(&path, format!("the dialect has {relative} itself: change that file")));
                }
                None => faults.push(fail(&path, format!("there is no inherited {relative} to patch"))),
                Some(parent) => {
                    let mut patched = parent.clone();
                    for (pointer, why) in patch::apply(&mut patched, &json) {
                        let file = format!("{kind}/{file_name}");
                        idle.push(IdlePatch { file, pointer, why });
                    }
                    files.insert(relative, patched);
                }
            }
        }
    }
    Ok(idle)
}

/// Takes over what the parent says and the heir does not: whole values, the entries of tables one by
/// one, and of the rules those that the heir gives no level of its own.
fn inherit(heir: &mut toml::Table, parent: toml::Table) {
    for (key, value) in parent {
        match (heir.get_mut(&key), value) {
            (Some(toml::Value::Table(own)), toml::Value::Table(inherited)) => inherit(own, inherited),
            (Some(toml::Value::Array(own)), toml::Value::Array(inherited)) if key == "rule" => {
                let new = inherited
                    .into_iter()
                    .filter(|rule| own.iter().all(|known| known.get("id") != rule.get("id")));
                let new: Vec<toml::Value> = new.collect();
                own.extend(new);
            }
            (Some(_), _) => {}
            (None, value) => drop(heir.insert(key, value)),
        }
    }
}

impl Dialect {
    /// Takes up a file of an event or a type.
    pub(super) fn take(&mut self, relative: &str, json: Value) -> Result<(), String> {
        let schema = schema::parse(&json).map_err(|error| error.to_string())?;
        let stem = relative.trim_end_matches(".json");
        if let Some(name) = stem.strip_prefix("events/") {
            let (event, fault) = event(name, json, schema);
            self.events.insert(name.to_owned(), event);
            return fault.map_or(Ok(()), Err);
        }
        if let Some(name) = stem.strip_prefix("types/") {
            self.types.insert(name.to_owned(), schema);
            self.type_files.insert(name.to_owned(), json);
        }
        Ok(())
    }
}

/// Returns an event, and what is wrong with its place in the lifecycle, which is then that of something in
/// passing.
fn event(name: &str, file: Value, schema: schema::Schema) -> (Event, Option<String>) {
    let id = file.get("$id").and_then(Value::as_str).unwrap_or_default();
    let named = (id != name).then(|| format!("`$id` is \"{id}\", but the file's name says \"{name}\""));
    let read = match file.get("x-lifecycle") {
        None => Err("`x-lifecycle` is missing: every event has its place".to_owned()),
        Some(written) => serde_json::from_value::<Lifecycle>(written.clone())
            .map_err(|error| format!("at /x-lifecycle: {error}")),
    };
    let (mut lifecycle, placed) = match read {
        Ok(lifecycle) => (lifecycle, None),
        Err(fault) => {
            let scope = "response".to_owned();
            (Lifecycle { scope, role: Role::Point, value: None, phase: None, early: false }, Some(fault))
        }
    };
    // A guess holds until somebody confirms it.
    let scope = crate::todo::settled(&lifecycle.scope).to_owned();
    lifecycle.scope = scope;
    let examples = file.get("examples").and_then(Value::as_array).cloned().unwrap_or_default();
    let description = file.get("description").and_then(Value::as_str).unwrap_or_default().to_owned();
    (Event { name: name.to_owned(), description, lifecycle, schema, examples, file }, named.or(placed))
}

/// Returns the references that lead nowhere: the file each stands in, and the name.
fn unresolved(dialect: &Dialect) -> Vec<(String, String)> {
    let events = dialect.events.values().map(|event| (format!("events/{}.json", event.name), &event.schema));
    let types = dialect.types.iter().map(|(name, schema)| (format!("types/{name}.json"), schema));
    let references = events.chain(types).flat_map(|(file, schema)| {
        let mut found = Vec::new();
        Registry::references(schema, &mut found);
        found.into_iter().map(move |name| (file.clone(), name))
    });
    let mut missing: Vec<(String, String)> =
        references.filter(|(_, name)| !dialect.types.contains_key(name)).collect();
    missing.sort();
    missing.dedup();
    missing
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, LoadError> {
    let read = fs::read_dir(folder)
        .and_then(|list| list.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>, _>>());
    let mut paths = read.map_err(|error| fail(folder, error))?;
    paths.sort();
    Ok(paths)
}

fn read_json(path: &Path) -> Result<Value, LoadError> {
    let text = fs::read_to_string(path).map_err(|error| fail(path, error))?;
    serde_json::from_str(&text).map_err(|error| fail(path, error))
}

/// Reads a file of ours; the error names the file, the line and what was expected.
pub(crate) fn read_toml<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, LoadError> {
    let text = fs::read_to_string(path).map_err(|error| fail(path, error))?;
    toml::from_str(&text).map_err(|error| fail(path, error))
}
