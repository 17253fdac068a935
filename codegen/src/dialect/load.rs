//! Loads and resolves dialects.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::errata::{self, Files};
use super::{Dialect, Event, IdlePatch, patch};
use crate::formats::{DialectFile, Effect, ErrataFile, Lifecycle, Role};
use crate::schema::{self, Registry};

/// A file of the specification that cannot be loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadError {
    /// The file.
    pub file: PathBuf,
    /// The line at fault, counted from 1, if it is known.
    pub line: Option<usize>,
    /// The problem, and what was expected.
    pub message: String,
}

impl std::fmt::Display for LoadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: ", self.file.display())?;
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for LoadError {}

fn fail(file: &Path, message: impl std::fmt::Display) -> LoadError {
    LoadError { file: file.to_owned(), line: None, message: message.to_string() }
}

/// Returns the names of all dialects under `<spec>/dialects`, sorted.
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
/// Fails on the first invalid file.
pub fn load(spec: &Path, name: &str) -> Result<Dialect, LoadError> {
    let dialect = open(spec, name, Errata::Applied)?;
    match dialect.faults.first() {
        None => Ok(dialect),
        Some(fault) => Err(fault.clone()),
    }
}

/// Loads a dialect and collects its invalid files in `faults`. An invalid file is replaced by the inherited one, or
/// left out.
///
/// # Errors
///
/// Fails if its `dialect.toml`, or that of an ancestor, is invalid.
pub fn open(spec: &Path, name: &str, errata: Errata) -> Result<Dialect, LoadError> {
    load_folder(&spec.join("dialects"), name, errata, &mut Vec::new()).map(|(dialect, _)| dialect)
}

/// Treatment of errata, including those of the dialects that a dialect extends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Errata {
    /// Errata are applied.
    Applied,
    /// Errata are left out: the dialect is as published.
    LeftOut,
}

/// Loads a dialect, and its `dialect.toml` with inherited entries.
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
            return Err(fail(&path, format!("`extends` is circular: {} -> {parent}", heirs.join(" -> "))));
        }
        Some(parent) => {
            if !dialects.join(parent).is_dir() {
                return Err(fail(
                    &path,
                    format!("`extends` refers to \"{parent}\", but there is no such dialect"),
                ));
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
        table.clone().try_into().map_err(|error| fail(&path, format!("with inherited entries: {error}")))?;
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
            // Faults of the parent are reported for the parent.
            if as_inherited.is_some_and(|json| dialect.take(&relative, json).is_err()) {
                continue;
            }
            dialect.faults.push(fail(&file_of(&folder, &relative), message));
        }
    }
    let mut unresolved = unresolved(&dialect);
    unresolved.retain(|(file, name)| {
        let missing = format!("types/{name}.json");
        // Reported already, for the file of the type or for the parent.
        let is_faulty = dialect.faults.iter().any(|fault| fault.file.ends_with(&missing));
        let is_own = file_of(&folder, file).is_file() || inherited.contains_key(&missing);
        !is_faulty && is_own
    });
    dialect.faults.extend(unresolved.into_iter().map(|(file, name)| {
        let message = format!("`$ref` refers to type \"{name}\", which the dialect does not have");
        fail(&file_of(&folder, &file), message)
    }));
    Ok((dialect, table))
}

/// Returns the dialect's own file at fault, or the patch of an inherited one.
fn file_of(folder: &Path, relative: &str) -> PathBuf {
    let patch = folder.join(relative.replace(".json", PATCH));
    if patch.is_file() { patch } else { folder.join(relative) }
}

/// The extension of patches.
pub(crate) const PATCH: &str = ".patch.json";

/// Reads the files of a folder over the inherited ones. Returns the places of patches without effect.
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
                faults.push(fail(&path, "expected only .json files here"));
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
                    faults.push(fail(
                        &path,
                        format!(
                            "the dialect has its own {relative}: change that file instead of patching it"
                        ),
                    ));
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

/// Copies entries of the parent that the heir does not have: whole values, single entries of tables, and rules
/// for which the heir sets no level.
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
    /// Adds the file of an event or a type.
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

/// Returns an event, and the fault of its lifecycle if that is invalid; its role is `point` then.
fn event(name: &str, file: Value, schema: schema::Schema) -> (Event, Option<String>) {
    let id = file.get("$id").and_then(Value::as_str).unwrap_or_default();
    let named = (id != name).then(|| format!("`$id` is \"{id}\", but the file is named \"{name}\""));
    let read = match file.get("x-lifecycle") {
        None => Err("`x-lifecycle` is missing; every event needs one".to_owned()),
        Some(written) => serde_json::from_value::<Lifecycle>(written.clone())
            .map_err(|error| format!("at /x-lifecycle: {error}")),
    };
    let (mut lifecycle, placed) = match read {
        Ok(lifecycle) => (lifecycle, None),
        Err(fault) => (Lifecycle::Always(Effect::new("response".to_owned(), Role::Point)), Some(fault)),
    };
    // A guess of the importer applies until someone confirms it.
    for effect in lifecycle.effects_mut() {
        effect.scope = crate::todo::settled(&effect.scope).to_owned();
    }
    let examples = file.get("examples").and_then(Value::as_array).cloned().unwrap_or_default();
    let description = file.get("description").and_then(Value::as_str).unwrap_or_default().to_owned();
    (Event { name: name.to_owned(), description, lifecycle, schema, examples, file }, named.or(placed))
}

/// Returns the dangling references: their file, and the name of the missing type.
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

/// Returns the entries of a folder, sorted.
pub(crate) fn entries(folder: &Path) -> Result<Vec<PathBuf>, LoadError> {
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

/// Reads a TOML file; the error has the file, the line and what was expected.
pub(crate) fn read_toml<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, LoadError> {
    let text = fs::read_to_string(path).map_err(|error| fail(path, error))?;
    toml::from_str(&text).map_err(|error| fail(path, error))
}
