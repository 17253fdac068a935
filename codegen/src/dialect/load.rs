//! Resolves dialects: what they extend, their patches and errata.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::errata::{self, Files};
use super::folder::{DIALECT, ERRATA, Folder, LoadError, entries, fail, is_path, last_of};
use super::position::Position;
use super::{Dialect, Event, IdlePatch, patch};
use crate::formats::{DialectFile, Effect, ErrataFile, Lifecycle, Role};
use crate::schema::{self, ParseError, Registry};

/// Returns the names of all dialects under `<spec>/dialects`, sorted.
pub fn list(spec: &Path) -> Result<Vec<String>, LoadError> {
    let folder = spec.join("dialects");
    let mut names = Vec::new();
    for path in entries(&folder)? {
        if path.join(DIALECT).is_file()
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
/// If a file is invalid.
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
/// Fails if its `dialect.toml` is invalid, or the one of an ancestor.
pub fn open(spec: &Path, name: &str, errata: Errata) -> Result<Dialect, LoadError> {
    let dialects = spec.join("dialects");
    let folder = |name: &str| {
        let path = dialects.join(name);
        if path.is_dir() { Folder::read(&path).map(Some) } else { Ok(None) }
    };
    resolve(&Folder::read(&dialects.join(name))?, name, &folder, errata)
}

/// Loads a dialect from its files, and the dialects that it extends from those that `library` has, and collects its invalid
/// files as [`open`] does.
///
/// # Errors
///
/// Fails if its `dialect.toml`, or one of an ancestor, is invalid.
pub fn resolve(
    folder: &Folder,
    name: &str,
    library: &dyn Fn(&str) -> Result<Option<Folder>, LoadError>,
    errata: Errata,
) -> Result<Dialect, LoadError> {
    load_folder(folder, name, library, errata, &mut Vec::new()).map(|(dialect, _)| dialect)
}

/// Treatment of errata, including the errata of the dialects that a dialect extends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Errata {
    /// Errata are applied.
    Applied,
    /// Errata are left out: the dialect is as published.
    LeftOut,
}

/// Loads a dialect, and its `dialect.toml` with inherited entries.
fn load_folder(
    folder: &Folder,
    name: &str,
    library: &dyn Fn(&str) -> Result<Option<Folder>, LoadError>,
    errata: Errata,
    heirs: &mut Vec<String>,
) -> Result<(Dialect, toml::Table), LoadError> {
    let failed = |message: String| folder.fault(DIALECT, Position::of_entry, "extends", message);
    let own: DialectFile = folder.toml(DIALECT)?;
    let mut table: toml::Table = folder.toml(DIALECT)?;
    heirs.push(name.to_owned());

    let (inherited, lineage, mut faults) = match &own.extends {
        None => (Files::new(), Vec::new(), Vec::new()),
        Some(parent) if heirs.contains(parent) => {
            return Err(failed(format!("`extends` is circular: {} -> {parent}", heirs.join(" -> "))));
        }
        Some(parent) => {
            let of_library;
            let found = match &folder.base {
                Some(base) if is_path(parent) => base,
                _ => {
                    of_library = library(parent)?.map(Box::new);
                    let missing =
                        || format!("`extends` refers to \"{parent}\", but there is no such dialect");
                    of_library.as_ref().ok_or_else(|| failed(missing()))?
                }
            };
            let (parent, inherited) = load_folder(found, last_of(parent), library, errata, heirs)?;
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
        table.clone().try_into().map_err(|error| failed(format!("with inherited entries: {error}")))?;
    let mut files = inherited.clone();
    let idle_patches = own_files(folder, &mut files, &mut faults);

    let written: ErrataFile =
        if folder.files.contains_key(ERRATA) { folder.toml(ERRATA)? } else { ErrataFile::default() };
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
        if let Err(fault) = dialect.take(&relative, json) {
            let as_inherited = inherited.get(&relative).cloned();
            // Faults of the parent are reported for the parent.
            if as_inherited.is_some_and(|json| dialect.take(&relative, json).is_err()) {
                continue;
            }
            dialect.faults.push(folder.fault(
                &relative,
                Position::of_pointer,
                &fault.pointer,
                fault.to_string(),
            ));
        }
    }
    let mut unresolved = unresolved(&dialect);
    unresolved.retain(|(file, name)| {
        let missing = format!("types/{name}.json");
        // Reported already, for the file of the type or for the parent.
        let is_faulty = dialect.faults.iter().any(|fault| fault.file.ends_with(&missing));
        let is_own = folder.owns(file) || inherited.contains_key(&missing);
        !is_faulty && is_own
    });
    dialect.faults.extend(unresolved.into_iter().map(|(file, name)| {
        let message = format!("`$ref` refers to type \"{name}\", which the dialect does not have");
        folder.fault(&file, Position::of_text, &format!("\"../types/{name}.json\""), message)
    }));
    Ok((dialect, table))
}

/// Files of the folder win over inherited ones. Returns the places of patches without effect.
fn own_files(folder: &Folder, files: &mut Files, faults: &mut Vec<LoadError>) -> Vec<IdlePatch> {
    let mut idle = Vec::new();
    let inherited = files.clone();
    for file in folder.files.keys().filter(|file| file.contains('/')) {
        let path = folder.path.join(file);
        let Some(stem) = file.strip_suffix(".json") else {
            faults.push(fail(&path, "expected only .json files here"));
            continue;
        };
        let json = match folder.json(file) {
            Ok(json) => json,
            Err(fault) => {
                faults.push(fault);
                continue;
            }
        };
        let Some(stem) = stem.strip_suffix(".patch") else {
            files.insert(file.clone(), json);
            continue;
        };
        let relative = format!("{stem}.json");
        match inherited.get(&relative) {
            _ if folder.files.contains_key(&relative) => {
                faults.push(fail(
                    &path,
                    format!("the dialect has its own {relative}: change that file instead of patching it"),
                ));
            }
            None => faults.push(fail(&path, format!("there is no inherited {relative} to patch"))),
            Some(parent) => {
                let mut patched = parent.clone();
                for (pointer, why) in patch::apply(&mut patched, &json) {
                    idle.push(IdlePatch { file: file.clone(), pointer, why });
                }
                files.insert(relative, patched);
            }
        }
    }
    idle
}

/// Copies entries of the parent that the heir does not have: whole values, single entries of tables, and rules without a
/// level in the heir.
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
    pub(super) fn take(&mut self, relative: &str, json: Value) -> Result<(), ParseError> {
        let schema = schema::parse(&json)?;
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

/// The fault is the one of the lifecycle, if that is invalid; the role is `point` then.
fn event(name: &str, file: Value, schema: schema::Schema) -> (Event, Option<ParseError>) {
    let id = file.get("$id").and_then(Value::as_str).unwrap_or_default();
    let fault = |pointer: &str, message| ParseError { pointer: pointer.to_owned(), message };
    let misnamed = || format!("the event is \"{id}\", but the file is named \"{name}\"");
    let named = (id != name).then(|| fault("/$id", misnamed()));
    let read = match file.get("x-lifecycle") {
        None => Err(fault("", "`x-lifecycle` is missing; every event needs one".to_owned())),
        Some(written) => serde_json::from_value::<Lifecycle>(written.clone())
            .map_err(|error| fault("/x-lifecycle", error.to_string())),
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

/// Each with its file, and the name of the missing type.
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
