//! Writes an import into the folder of a dialect. Our own additions are kept, unchanged files are not rewritten.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::io;
use std::path::Path;

use anyhow::{Context, bail};
use codegen::dialect::read_toml;
use codegen::formats::{ApiFile, Change, DialectFile, ErrataFile};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{ImportRequest, Imported, Note, import, lifecycle, merge, ours, text};

/// The changes of an import to a folder, and remarks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    /// New files.
    pub added: Vec<String>,
    /// Changed files.
    pub changed: Vec<String>,
    /// Removed files, whose schema is no longer in the document.
    pub removed: Vec<String>,
    /// Unchanged files.
    pub unchanged: Vec<String>,
    /// Remarks on the document and on dropped descriptions.
    pub notes: Vec<Note>,
    /// Number of remarks on types that did not change, if they were left out.
    pub old_notes: usize,
}

impl Summary {
    fn put(&mut self, folder: &Path, path: &str, old: Option<&String>, new: &str) -> anyhow::Result<()> {
        if old.is_some_and(|old| old == new) {
            self.unchanged.push(path.to_owned());
            return Ok(());
        }
        let file = folder.join(path);
        if let Some(parent) = file.parent() {
            fs::create_dir_all(parent).with_context(|| format!("cannot create {}", parent.display()))?;
        }
        fs::write(&file, new).with_context(|| format!("cannot write {}", file.display()))?;
        let list = if old.is_some() { &mut self.changed } else { &mut self.added };
        list.push(path.to_owned());
        Ok(())
    }

    /// Leaves out the remarks on types that did not change: an earlier import had them, too.
    pub fn leave_out_old_notes(&mut self) {
        let is_old = |note: &Note| {
            let name =
                note.place.strip_prefix("#/components/schemas/").and_then(|rest| rest.split('/').next());
            name.is_some_and(|name| self.unchanged.contains(&format!("types/{name}.json")))
        };
        let before = self.notes.len();
        let notes = std::mem::take(&mut self.notes);
        self.notes = notes.into_iter().filter(|note| !is_old(note)).collect();
        self.old_notes = before - self.notes.len();
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (mark, paths) in [('+', &self.added), ('~', &self.changed), ('-', &self.removed)] {
            for path in paths {
                writeln!(f, "{mark} {path}")?;
            }
        }
        for note in &self.notes {
            writeln!(f, "note: {note}")?;
        }
        if self.old_notes > 0 {
            writeln!(
                f,
                "note: {} more on types that did not change (--verbose prints them)",
                self.old_notes
            )?;
        }
        write!(
            f,
            "{} added, {} changed, {} removed, {} unchanged",
            self.added.len(),
            self.changed.len(),
            self.removed.len(),
            self.unchanged.len()
        )
    }
}

/// Options for merging a document into a dialect.
#[derive(Debug, Clone, Copy)]
pub struct Laying<'d> {
    /// The API to import, and its name.
    pub api: (&'d str, &'d ApiFile),
    /// The variant of the API to import.
    pub variant: Option<&'d str>,
    /// The previously imported document. Fields that became optional since then become optional in the dialect, too.
    pub since: Option<&'d Value>,
}

impl Laying<'_> {
    fn request(&self) -> ImportRequest {
        let published = self.api.1.published.clone();
        ImportRequest { published, roots: None, variant: self.variant.map(str::to_owned) }
    }

    fn root(&self) -> &str {
        &self.api.1.outer.root
    }
}

/// Imports a document into the folder of a dialect, which is created if it does not exist.
///
/// An `OpenAPI` document replaces the files. A JSON Schema bundle, a variant, or a document for a dialect that
/// includes packages is merged into them, without losing anything.
///
/// # Errors
///
/// Fails before writing anything if the document or a file of the folder cannot be read.
pub fn into_folder(document: &Value, folder: &Path, how: &Laying<'_>) -> anyhow::Result<Summary> {
    let settings: Option<DialectFile> = toml_file(&folder.join("dialect.toml"))?;
    if let Some(parent) = settings.as_ref().and_then(|settings| settings.extends.as_ref()) {
        bail!(
            "{} extends \"{parent}\", but an imported dialect cannot extend another: import into the parent, or remove `extends`",
            folder.join("dialect.toml").display()
        );
    }
    let errata: ErrataFile = toml_file(&folder.join("errata.toml"))?.unwrap_or_default();
    let is_partial = document.get("openapi").is_none() || how.variant.is_some();
    if let Some(settings) = &settings
        && (is_partial || !settings.packages.is_empty())
    {
        return lay_over(document, folder, how, &settings.roots);
    }
    let is_new = settings.is_none();
    let roots = settings.map(|settings| settings.roots);
    let mut imported = import(document, &ImportRequest { roots, ..how.request() })?;

    let added = errata.errata.into_iter().flat_map(|erratum| match erratum.change {
        Change::Adds(paths) => paths,
        _ => Vec::new(),
    });
    let added: BTreeSet<String> = added.collect();
    let before = existing(folder)?;
    let mut summary = Summary { notes: std::mem::take(&mut imported.notes), ..Summary::default() };
    for path in added.iter().filter(|path| imported.files.contains_key(*path)) {
        summary.notes.push(note(path, "now in the document; remove the erratum that adds it"));
    }

    if is_new {
        summary.put(folder, "dialect.toml", None, &first_dialect_toml(&imported, how))?;
    }
    for (path, schema) in &mut imported.files {
        let old = before.get(path);
        if let Some(old) = old {
            for pointer in ours::keep(schema, &json(folder, path, old)?) {
                summary.notes.push(note(
                    path,
                    &format!("dropped the description at {pointer}, which no longer exists"),
                ));
            }
        }
        if path.starts_with("events/") && schema.get("x-lifecycle").is_none() {
            lifecycle::place(schema, folder, how.root());
        }
        summary.put(folder, path, old, &text::print(schema))?;
    }
    for path in before.keys().filter(|path| !imported.files.contains_key(*path)) {
        if added.contains(path) {
            summary.unchanged.push(path.clone());
        } else {
            fs::remove_file(folder.join(path))
                .with_context(|| format!("cannot remove {}", folder.join(path).display()))?;
            summary.removed.push(path.clone());
        }
    }
    Ok(summary)
}

fn lay_over(
    document: &Value,
    folder: &Path,
    how: &Laying<'_>,
    roots: &BTreeMap<String, String>,
) -> anyhow::Result<Summary> {
    let request = how.request();
    let imported = import(document, &request)?;
    let since = how.since.map(|since| import(since, &request)).transpose()?;
    let before = existing(folder)?;
    let options = merge::Options { root: how.root(), since: since.as_ref(), variant: how.variant };
    let (files, notes) = merge::merge(parsed(folder, &before)?, roots, &imported, &options);
    let mut summary = Summary { notes: imported.notes, ..Summary::default() };
    summary.notes.extend(notes);
    for (path, file) in files {
        summary.put(folder, &path, before.get(&path), &text::print(&file))?;
    }
    Ok(summary)
}

pub(crate) fn files_of(folder: &Path) -> anyhow::Result<BTreeMap<String, Value>> {
    parsed(folder, &existing(folder)?)
}

fn parsed(folder: &Path, files: &BTreeMap<String, String>) -> anyhow::Result<BTreeMap<String, Value>> {
    files.iter().map(|(path, contents)| Ok((path.clone(), json(folder, path, contents)?))).collect()
}

fn json(folder: &Path, path: &str, contents: &str) -> anyhow::Result<Value> {
    serde_json::from_str(contents).with_context(|| format!("{} is not JSON", folder.join(path).display()))
}

fn note(path: &str, text: &str) -> Note {
    Note { place: path.to_owned(), text: text.to_owned() }
}

fn existing(folder: &Path) -> anyhow::Result<BTreeMap<String, String>> {
    let mut found = BTreeMap::new();
    for kind in ["events", "types"] {
        let inner = folder.join(kind);
        let entries = match fs::read_dir(&inner) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error).with_context(|| format!("cannot list {}", inner.display())),
        };
        for entry in entries {
            let path = entry.with_context(|| format!("cannot list {}", inner.display()))?.path();
            let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
            if path.extension().is_some_and(|extension| extension == "json") {
                let contents =
                    fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
                found.insert(format!("{kind}/{name}"), contents);
            }
        }
    }
    Ok(found)
}

fn toml_file<T: DeserializeOwned>(path: &Path) -> anyhow::Result<Option<T>> {
    Ok(path.is_file().then(|| read_toml(path)).transpose()?)
}

/// Later imports do not change the file, which a person completes.
fn first_dialect_toml(imported: &Imported, how: &Laying<'_>) -> String {
    let quoted = |text: &str| Value::from(text).to_string();
    let title = quoted(&imported.title);
    let mut lines = vec![
        format!("api = {}", quoted(how.api.0)),
        format!("product = {title}"),
        format!("source = {title}"),
        "summary = \"\"\n\n[roots]".to_owned(),
    ];
    lines.extend(imported.roots.iter().map(|(role, name)| format!("{role} = {}", quoted(name))));
    lines.join("\n") + FIRST_FRAMING
}

/// The settings of most products.
const FIRST_FRAMING: &str = r#"

[framing]
event_line = "equals-type"
done = "allowed"
unknown_events = "reported"
"#;
