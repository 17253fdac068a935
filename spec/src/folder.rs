//! Dialects that a program loads from folders: the same tables that a build has, made by the same code of `codegen`,
//! in memory that is never freed.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::{Mutex, OnceLock, PoisonError};

use codegen::SpecFiles;
use codegen::dialect::Errata;
use codegen::formats::ApiFile;
use codegen::sound::{Finding, Report, SourcePlace};
use codegen::tables::{EventPlace, FirstByte, ObjectName, ScopeLevel, ScopeName, SlotName, Table, TableName};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::api::{APIS, Api, Scope, ScopeInfo, Slot};
use crate::event::EventSchema;
use crate::json::{ObjectSchema, Others, Schema};
use crate::places::{fill, slots};
use crate::table::{Dialect, LoadedFolder};

pub use codegen::dialect::{Folder, LoadError, MOST_FOLDERS, Position};

const DIALECT: &str = "dialect.toml";

#[allow(unused_variables, reason = "words need no tables")]
mod leaks {
    use crate::event::{EventInfo, EventMember, EventSchema, Watch};
    use crate::json::{
        ListSchema, Member, MemberRules, NumberRules, ObjectSchema, Others, Schema, Tag, TextPattern,
        TextRules, UnionSchema,
    };
    use crate::words::{
        Aside, DialectSignature, EventLine, Fallback, Framing, Level, Mark, Marker, Operation, Render,
        RenderEdit, RenderMoment, RenderResponse, RenderTarget, Role, RuleLevel, TypeRule, UnknownEvents,
    };

    include!(concat!(env!("OUT_DIR"), "/leaks.rs"));
}

include!(concat!(env!("OUT_DIR"), "/folders.rs"));

/// The dialects that this program has loaded, the latest last.
static LOADED: Mutex<Vec<&'static Dialect>> = Mutex::new(Vec::new());

/// Names that mean several dialects.
const RESERVED: [&str; 2] = ["all", "auto"];

/// Maximum number of folders that a program loads, as their tables stay in memory.
const MOST: usize = 64;

/// The dialects that this program has loaded, the latest first.
pub fn loaded() -> Vec<&'static Dialect> {
    LOADED.lock().unwrap_or_else(PoisonError::into_inner).iter().rev().copied().collect()
}

/// Loads a dialect, and the folders and the dialects of the build that it extends. The same files are loaded once.
///
/// # Errors
///
/// If a file is invalid, or a dialect of the build has the name.
pub fn load(name: &str, folder: &Folder) -> Result<&'static Dialect, LoadError> {
    let failed = |message: String| LoadError { file: folder.path.clone(), at: None, message };
    let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_' | '.');
    if name.is_empty() || name.starts_with('.') || !name.chars().all(is_word) {
        return Err(failed(format!(
            "\"{name}\" is no name of a dialect: name the folder with a-z, 0-9, -, _ and ."
        )));
    }
    if RESERVED.contains(&name) || FOLDERS.iter().any(|(known, _)| *known == name) {
        return Err(failed(format!(
            "\"{name}\" is the name of a dialect of this suite: give the folder another one"
        )));
    }
    if folder.chain(name).len() > MOST_FOLDERS {
        return Err(failed(format!("more than {MOST_FOLDERS} folders extend each other")));
    }
    if let Some(base) = &folder.base {
        load(&folder.base_name().unwrap_or_default(), base)?;
    }
    let sha256 = hash(name, folder);
    let mut all = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    let is_it = |known: &&&'static Dialect| {
        known.name == name && known.folder.is_some_and(|known| known.sha256 == sha256)
    };
    if let Some(at) = all.iter().position(|known| is_it(&known)) {
        let known = all.remove(at);
        all.push(known);
        return Ok(known);
    }
    if all.len() >= MOST {
        return Err(failed(format!("this program has loaded {MOST} dialects, and keeps each in memory")));
    }
    let made = make(name, folder, Some(sha256))?;
    all.push(made);
    Ok(made)
}

/// The files of a dialect that the program has loaded from a folder, such as the one that another folder extends.
pub fn of_loaded(name: &str) -> Option<Folder> {
    let folder = loaded().into_iter().find(|dialect| dialect.name == name)?.folder?;
    let made = folder.folders.iter().rev().fold(None, |base, (place, files)| {
        Some(Folder { path: place.into(), files: files.clone(), base: base.map(Box::new) })
    });
    made.map(|made| Folder { path: folder.path.clone().into(), ..made })
}

/// Makes a dialect of the build from its files, as [`load`] does. It has the same findings as the compiled one.
///
/// # Errors
///
/// If there is none of this name.
#[doc(hidden)]
pub fn remade(name: &str) -> Result<&'static Dialect, LoadError> {
    let missing = LoadError { file: name.into(), at: None, message: "there is no such dialect".to_owned() };
    make(name, &built_in(name)?.ok_or(missing)?, None)
}

/// The files of a dialect of the build.
///
/// # Errors
///
/// Does not fail for a dialect of this suite.
pub fn built_in(name: &str) -> Result<Option<Folder>, LoadError> {
    let Some((_, files)) = FOLDERS.iter().find(|(known, _)| *known == name) else { return Ok(None) };
    let texts = files.iter().map(|(file, text)| ((*file).to_owned(), (*text).to_owned()));
    Folder::of_texts(&Path::new("dialects").join(name), texts).map(Some)
}

/// The dialect of some files, with what it extends: the model for tables.
///
/// # Errors
///
/// If a file is invalid.
pub fn resolve(name: &str, folder: &Folder) -> Result<codegen::dialect::Dialect, LoadError> {
    let (dialect, faults) = opened(name, folder)?;
    match faults.into_iter().next() {
        None => Ok(dialect),
        Some(fault) => Err(fault),
    }
}

/// Does the same, and returns all invalid files.
///
/// # Errors
///
/// If its `dialect.toml` is invalid.
pub fn opened(name: &str, folder: &Folder) -> Result<(codegen::dialect::Dialect, Vec<LoadError>), LoadError> {
    let mut dialect = codegen::dialect::resolve(folder, name, &built_in, Errata::Applied)?;
    let faults = std::mem::take(&mut dialect.faults);
    Ok((dialect, faults))
}

/// Problems of a dialect although its files can be read, with paths below its folder.
///
/// # Errors
///
/// If there is no such API.
pub fn findings(
    dialect: &codegen::dialect::Dialect,
    folder: &Folder,
    files: &SpecFiles,
) -> Result<Vec<Finding>, LoadError> {
    let failed = |message| LoadError { file: folder.path.join(DIALECT), at: None, message };
    let mut report = Report::default();
    let api = files.api_of(dialect).map_err(failed)?;
    codegen::sound::dialect_is_sound(dialect, api, &|file| folder.file(file), &mut report);
    let own = Path::new("dialects").join(&dialect.name);
    for finding in &mut report.findings {
        if let Ok(file) = finding.file.strip_prefix(&own) {
            finding.file = folder.path.join(file);
        }
    }
    Ok(report.findings.into_iter().map(|finding| located(finding, folder)).collect())
}

/// A finding about a folder, with the line and the column of its place.
#[must_use]
pub fn located(mut finding: Finding, folder: &Folder) -> Finding {
    let Some(file) = relative(&finding.file, folder) else { return finding };
    let found = match &finding.place {
        SourcePlace::Pointer(pointer) => folder.position(&file, Position::of_pointer, pointer),
        SourcePlace::Entry(entry) if entry.starts_with('"') => {
            folder.position(&file, Position::of_text, entry)
        }
        SourcePlace::Entry(entry) => folder.position(&file, Position::of_entry, entry),
        SourcePlace::File | SourcePlace::Line(_) | SourcePlace::At(..) => None,
    };
    match (found, finding.place) {
        (Some((path, at)), SourcePlace::Pointer(place) | SourcePlace::Entry(place)) => {
            (finding.file, finding.place) = (path, SourcePlace::At(at, place));
        }
        (_, place) => (finding.file, finding.place) = (folder.file(&file), place),
    }
    finding
}

/// The path of a file below its folder, or below one that it extends.
fn relative(file: &Path, folder: &Folder) -> Option<String> {
    let mut folders = std::iter::successors(Some(folder), |folder| folder.base.as_deref());
    let file = folders.find_map(|folder| file.strip_prefix(&folder.path).ok())?;
    let parts: Vec<_> = file.iter().map(|part| part.to_string_lossy()).collect();
    Some(parts.join("/").replace(".patch.json", ".json"))
}

/// The place of the rule in the folder of a dialect whose level it sets, as text for messages.
pub fn place_of_level(folder: &Folder, rule: &str) -> String {
    match folder.position(DIALECT, Position::of_entry, &format!("[[rule]] {rule}")) {
        Some((file, at)) => format!("{}{at}", file.display()),
        None => folder.file(DIALECT).display().to_string(),
    }
}

/// The tables of the APIs as they are written.
///
/// # Errors
///
/// Does not fail for the APIs of this suite.
pub fn spec_files() -> Result<SpecFiles, LoadError> {
    let mut files = SpecFiles::default();
    for (name, text) in API_FILES {
        let failed = |error: toml::de::Error| LoadError {
            file: format!("apis/{name}/api.toml").into(),
            at: None,
            message: error.to_string(),
        };
        let file: ApiFile = toml::from_str(text).map_err(failed)?;
        files.apis.insert((*name).to_owned(), file);
    }
    Ok(files)
}

fn make(name: &str, folder: &Folder, sha256: Option<String>) -> Result<&'static Dialect, LoadError> {
    let file = folder.path.join(DIALECT);
    let failed = |message: String| LoadError { file: file.clone(), at: None, message };
    let dialect = resolve(name, folder)?;
    let files = spec_files()?;
    let api_file = files.api_of(&dialect).map_err(failed)?;
    let found = APIS.iter().find(|api| api.name == dialect.file.api).copied();
    let api = found.ok_or_else(|| failed(format!("this build has no API \"{}\"", dialect.file.api)))?;
    if let Some(finding) = findings(&dialect, folder, &files)?.into_iter().next() {
        let Finding { file, place, message, help } = finding;
        let at = if let SourcePlace::At(at, _) = place { Some(at) } else { None };
        return Err(LoadError { file, at, message: format!("{place}{message}: {help}") });
    }
    let built = codegen::tables::Tables::of(&dialect, api_file).map_err(failed)?;
    let named = built.types.values().flatten().chain(built.schemas.iter().flat_map(|(_, named)| named));
    let mut tables = Tables { schemas: BTreeMap::new(), api, events: Vec::new() };
    for table in named.clone() {
        tables.schemas.insert(table.name.clone(), Box::leak(Box::default()));
    }
    for table in named {
        let schema = match &table.table {
            Table::Object(object) => Schema::Object(Box::leak(Box::new(object.leaked(&tables)))),
            Table::Union(union) => Schema::Union(Box::leak(Box::new(union.leaked(&tables)))),
            Table::Other(other) => Schema::Named(Box::leak(Box::new(other.leaked(&tables)))),
        };
        if let Some(place) = tables.schemas.get(&table.name) {
            // Names are unique.
            let _ = place.set(schema);
        }
    }
    tables.events = built.schemas.iter().map(|(schema, _)| schema.leaked(&tables)).collect();
    let schemas: Vec<codegen::tables::Schema> = built.schemas_of_types().collect();
    let (own, written) = (&dialect.own, &dialect.file);
    let root = api_file.scopes.get(&api_file.outer.root);
    let terminal: Vec<String> =
        root.map(|root| dialect.terminal(root)).unwrap_or_default().into_iter().map(str::to_owned).collect();
    let types: Vec<String> = dialect.types.keys().cloned().collect();
    let envelope: Vec<(SlotName, String)> =
        written.envelope.0.iter().map(|(slot, at)| (SlotName(slot.clone()), at.clone())).collect();
    let events = built.events.leaked(&tables);
    let places = Box::leak(vec![0; slots(events)].into_boxed_slice());
    fill(places, events);
    let made = Dialect {
        name: dialect.name.leaked(&tables),
        api,
        product: written.product.leaked(&tables),
        source: written.source.leaked(&tables),
        summary: written.summary.leaked(&tables),
        lineage: dialect.lineage.leaked(&tables),
        signature: own.signature.leaked(&tables),
        fallback: own.fallback.leaked(&tables),
        framing: written.framing.leaked(&tables),
        opening: dialect.opening(&api_file.outer.root).map(|name| name.to_owned().leaked(&tables)),
        envelope: envelope.leaked(&tables),
        terminal: terminal.leaked(&tables),
        error: written.error.leaked(&tables),
        roots: written.roots.leaked(&tables),
        operations: written.operations.leaked(&tables),
        rules: written.rules.leaked(&tables),
        render: written.render.leaked(&tables),
        events,
        places,
        types: types.leaked(&tables),
        schemas: schemas.leaked(&tables),
        folder: sha256.map(|sha256| {
            let path = folder.path.display().to_string();
            let folders = folder.chain(name).into_iter().map(|(place, folder)| (place, folder.files.clone()));
            let folder: &'static _ =
                Box::leak(Box::new(LoadedFolder { path, sha256, folders: folders.collect() }));
            folder
        }),
    };
    Ok(Box::leak(Box::new(made)))
}

/// The SHA-256 of the files of all folders: of the path and the text of each, with their lengths. The places of folders that
/// are extended precede their files.
fn hash(name: &str, folder: &Folder) -> String {
    let mut hash = Sha256::new();
    for (nth, (place, folder)) in folder.chain(name).into_iter().enumerate() {
        if nth > 0 {
            hash.update(format!("extends\0{}\0{place}\0", place.len()));
        }
        for (name, text) in &folder.files {
            hash.update(format!("{}\0{name}\0{}\0{text}", name.len(), text.len()));
        }
    }
    let mut digits = String::new();
    for byte in hash.finalize() {
        let _ = write!(digits, "{byte:02x}");
    }
    digits
}

pub(crate) struct Tables {
    /// The tables by name; one that is not yet made is empty.
    schemas: BTreeMap<String, &'static OnceLock<Schema>>,
    api: &'static Api,
    events: Vec<EventSchema>,
}

/// The counterpart in programs of a value that was read from files, in memory that is never freed.
pub(crate) trait Leak {
    type To: 'static;

    fn leaked(&self, tables: &Tables) -> Self::To;
}

/// Implements it for types that are the same in programs.
macro_rules! as_it_is {
    ($($of:ident)+) => {$(
        impl Leak for $of {
            type To = Self;

            fn leaked(&self, _: &Tables) -> Self {
                *self
            }
        }
    )+};
}

as_it_is!(bool char usize u64 f64);

impl Leak for String {
    type To = &'static str;

    fn leaked(&self, _: &Tables) -> &'static str {
        Box::leak(self.clone().into_boxed_str())
    }
}

/// It is JSON in programs.
impl Leak for Value {
    type To = &'static str;

    fn leaked(&self, tables: &Tables) -> &'static str {
        self.to_string().leaked(tables)
    }
}

impl<T: Leak> Leak for Option<T> {
    type To = Option<T::To>;

    fn leaked(&self, tables: &Tables) -> Self::To {
        self.as_ref().map(|value| value.leaked(tables))
    }
}

impl<T: Leak> Leak for Box<T> {
    type To = &'static T::To;

    fn leaked(&self, tables: &Tables) -> Self::To {
        Box::leak(Box::new(T::leaked(self, tables)))
    }
}

impl<T: Leak> Leak for Vec<T> {
    type To = &'static [T::To];

    fn leaked(&self, tables: &Tables) -> Self::To {
        self.iter().map(|value| value.leaked(tables)).collect::<Vec<_>>().leak()
    }
}

impl<A: Leak, B: Leak> Leak for (A, B) {
    type To = (A::To, B::To);

    fn leaked(&self, tables: &Tables) -> Self::To {
        (self.0.leaked(tables), self.1.leaked(tables))
    }
}

/// It is a list in programs.
impl<K: Leak, V: Leak> Leak for BTreeMap<K, V> {
    type To = &'static [(K::To, V::To)];

    fn leaked(&self, tables: &Tables) -> Self::To {
        self.iter().map(|(key, value)| (key.leaked(tables), value.leaked(tables))).collect::<Vec<_>>().leak()
    }
}

impl Leak for TableName {
    type To = Schema;

    fn leaked(&self, tables: &Tables) -> Schema {
        let Some(table) = tables.schemas.get(&self.name) else { return Schema::Any };
        table.get().copied().unwrap_or(Schema::Later(table))
    }
}

impl Leak for ObjectName {
    type To = &'static ObjectSchema;

    fn leaked(&self, tables: &Tables) -> &'static ObjectSchema {
        static ANY: ObjectSchema = ObjectSchema::new(&[], 0, Others::Open, None, false);
        match tables.schemas.get(&self.0).and_then(|table| table.get()) {
            Some(Schema::Object(object)) => object,
            // The table of an event is made before it.
            _ => &ANY,
        }
    }
}

impl Leak for FirstByte {
    type To = u8;

    fn leaked(&self, _: &Tables) -> u8 {
        self.0
    }
}

impl Leak for SlotName {
    type To = Slot;

    fn leaked(&self, _: &Tables) -> Slot {
        let at = Slot::NAMES.iter().position(|name| *name == self.0);
        at.and_then(|at| Slot::ALL.get(at)).copied().unwrap_or(Slot::Value)
    }
}

impl Leak for ScopeName {
    type To = Scope;

    fn leaked(&self, tables: &Tables) -> Scope {
        let mut scopes = tables.api.scopes();
        scopes.find(|scope| scope.name == self.name).map_or(tables.api.root, |scope| scope.scope)
    }
}

impl Leak for ScopeLevel {
    type To = &'static ScopeInfo;

    fn leaked(&self, tables: &Tables) -> &'static ScopeInfo {
        tables.api.scope(self.scope.leaked(tables))
    }
}

impl Leak for EventPlace {
    type To = EventSchema;

    fn leaked(&self, tables: &Tables) -> EventSchema {
        tables.events.get(self.0).copied().unwrap_or(EventSchema::Other(Schema::Any, &[], None))
    }
}
