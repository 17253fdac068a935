//! From folders to resolved dialects.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::errata::{self, Files};
use super::{Dialect, Event};
use crate::formats::{DialectFile, ErrataFile, Lifecycle};
use crate::schema::{self, Registry};

/// A file of a dialect that cannot be used.
#[derive(Debug)]
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
pub fn load(spec: &Path, name: &str) -> Result<Dialect, LoadError> {
    load_folder(&spec.join("dialects"), name, Errata::Applied, &mut Vec::new()).map(|(dialect, _)| dialect)
}

/// Loads a dialect as it is published: what its errata, and those of what it extends, correct and add is left out.
pub fn load_published(spec: &Path, name: &str) -> Result<Dialect, LoadError> {
    load_folder(&spec.join("dialects"), name, Errata::LeftOut, &mut Vec::new()).map(|(dialect, _)| dialect)
}

/// What is done with errata.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Errata {
    Applied,
    LeftOut,
}

/// The dialect, and its `dialect.toml` with what it inherits.
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

    let (mut files, lineage) = match &own.extends {
        None => (Files::new(), Vec::new()),
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
            (events.chain(types).collect(), lineage)
        }
    };
    for kind in ["events", "types"] {
        if folder.join(kind).is_dir() {
            for path in entries(&folder.join(kind))? {
                let Some(file_name) = path.file_name().and_then(|name| name.to_str()) else { continue };
                if path.extension().is_none_or(|extension| extension != "json") {
                    return Err(fail(&path, "only .json files belong here"));
                }
                files.insert(format!("{kind}/{file_name}"), read_json(&path)?);
            }
        }
    }

    let file =
        table.clone().try_into().map_err(|error| fail(&path, format!("with what it inherits: {error}")))?;
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
    };
    for (relative, json) in files {
        let path = folder.join(&relative);
        let schema = schema::parse(&json).map_err(|error| fail(&path, error))?;
        let stem = relative.trim_end_matches(".json");
        if let Some(name) = stem.strip_prefix("events/") {
            dialect.events.insert(name.to_owned(), event(name, json, schema).map_err(|e| fail(&path, e))?);
        } else if let Some(name) = stem.strip_prefix("types/") {
            dialect.types.insert(name.to_owned(), schema);
            dialect.type_files.insert(name.to_owned(), json);
        }
    }
    match unresolved(&dialect) {
        None => Ok((dialect, table)),
        Some((file, name)) => Err(fail(
            &folder.join(file),
            format!("it refers to type \"{name}\", which the dialect does not have"),
        )),
    }
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

fn event(name: &str, file: Value, schema: schema::Schema) -> Result<Event, String> {
    let id = file.get("$id").and_then(Value::as_str).unwrap_or_default();
    if id != name {
        return Err(format!("`$id` is \"{id}\", but the file's name says \"{name}\""));
    }
    let lifecycle = file.get("x-lifecycle").ok_or("`x-lifecycle` is missing: every event has its place")?;
    let lifecycle: Lifecycle =
        serde_json::from_value(lifecycle.clone()).map_err(|error| format!("at /x-lifecycle: {error}"))?;
    let examples = file.get("examples").and_then(Value::as_array).cloned().unwrap_or_default();
    let description = file.get("description").and_then(Value::as_str).unwrap_or_default().to_owned();
    Ok(Event { name: name.to_owned(), description, lifecycle, schema, examples, file })
}

/// The first reference that leads nowhere: the file it stands in, and the name.
fn unresolved(dialect: &Dialect) -> Option<(String, String)> {
    let events = dialect.events.values().map(|event| (format!("events/{}.json", event.name), &event.schema));
    let types = dialect.types.iter().map(|(name, schema)| (format!("types/{name}.json"), schema));
    events.chain(types).find_map(|(file, schema)| {
        let mut found = Vec::new();
        Registry::references(schema, &mut found);
        found.into_iter().find(|name| !dialect.types.contains_key(name)).map(|name| (file, name))
    })
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
