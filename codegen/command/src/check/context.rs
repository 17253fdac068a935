//! The input of all checks, loaded once.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use codegen::SpecFiles;
use codegen::catalogue::Catalogue;
use codegen::dialect::{self, Dialect, Errata, LoadError, PATCH};
use codegen::folders;
use codegen::formats::{Rule, RuleInApi, Scenario};
use codegen::sound::{Report, SourcePlace};

use super::frames;
pub(super) use codegen::sound::in_dialect;

pub(super) struct Context {
    pub(super) spec: PathBuf,
    pub(super) shared: SpecFiles,
    pub(super) dialects: BTreeMap<String, Dialect>,
    pub(super) catalogue: Catalogue,
    pub(super) goldens: Vec<Golden>,
}

pub(super) struct Golden {
    /// The folder that it is in.
    pub(super) dialect: String,
    /// Without the extension.
    pub(super) name: String,
    /// Relative to the folder of the specification.
    pub(super) file: PathBuf,
    pub(super) frames: Vec<frames::Frame>,
}

impl Context {
    /// `None` if the files that all checks need cannot be loaded.
    pub(super) fn load(spec: &Path, report: &mut Report) -> Option<Self> {
        let shared = keep(SpecFiles::load(spec), spec, report);
        let names = keep(dialect::list(spec), spec, report);
        let mut dialects = BTreeMap::new();
        for name in names.iter().flatten() {
            if let Some(dialect) = keep(dialect::open(spec, name, Errata::Applied), spec, report) {
                for fault in &dialect.faults {
                    refuse(fault, spec, report);
                }
                dialects.insert(name.clone(), dialect);
            }
        }
        report.only_files = !report.findings.is_empty();
        let (catalogue, errors) = Catalogue::load(spec);
        for error in errors {
            refuse(&error, spec, report);
        }
        let goldens = goldens(spec, report);
        Some(Self { spec: spec.to_owned(), shared: shared?, dialects, catalogue, goldens })
    }

    /// Its own file, or the file of the nearest ancestor.
    pub(super) fn owner(&self, dialect: &Dialect, relative: &str) -> PathBuf {
        let mut names = std::iter::once(&dialect.name).chain(&dialect.lineage);
        let patch = relative.replace(".json", PATCH);
        let files = |name: &String| [in_dialect(name, relative), in_dialect(name, &patch)];
        let owned =
            names.find_map(|name| files(name).into_iter().find(|file| self.spec.join(file).is_file()));
        owned.unwrap_or_else(|| in_dialect(&dialect.name, relative))
    }

    /// In the dialect's own folder, by name, without patches. A kind is `events` or `types`.
    pub(super) fn own_files(&self, dialect: &str, kind: &str) -> Vec<(String, PathBuf)> {
        let paths = folders::paths(&self.spec.join(in_dialect(dialect, kind)));
        let names = paths.iter().filter_map(|path| path.file_name()?.to_str());
        let names = names.filter(|name| !name.ends_with(PATCH)).filter_map(|name| name.strip_suffix(".json"));
        let file = |name: &str| (name.to_owned(), in_dialect(dialect, &format!("{kind}/{name}.json")));
        names.map(file).collect()
    }

    pub(super) fn file(&self, kind: &str, id: &str, extension: &str) -> PathBuf {
        folders::file(&self.spec, kind, &format!("{id}.{extension}"))
    }

    /// A page, or the table of shared rules of the API. The text names the entry there.
    pub(super) fn place_in_api(&self, rule: &Rule, own: &RuleInApi, entry: &str) -> (PathBuf, String) {
        if rule.api.is_some() {
            return (self.file("rules", &rule.id, "md"), entry.to_owned());
        }
        (folders::table_of(&own.api, folders::SHARED_RULES), format!("[[rule]] {}: {entry}", rule.id))
    }

    pub(super) fn file_of(scenario: &Scenario) -> PathBuf {
        folders::of_api(scenario.api.as_deref(), "scenarios").join(format!("{}.md", scenario.id))
    }

    pub(super) fn golden(&self, path: &str) -> Option<&Golden> {
        let (dialect, name) = path.split_once('/')?;
        self.goldens.iter().find(|golden| golden.dialect == dialect && golden.name == name)
    }

    pub(super) fn has_event(&self, event: &str) -> bool {
        self.dialects.values().any(|dialect| dialect.events.contains_key(event))
    }

    /// The name is the one of an event, or of an effect: `<event>/<effect>`.
    pub(super) fn has_effect(&self, name: &str) -> bool {
        let has = |event: &str, effect: &str| {
            let events = self.dialects.values().filter_map(|dialect| dialect.events.get(event));
            events.flat_map(|event| event.lifecycle.effects()).any(|known| known.name() == effect)
        };
        self.has_event(name) || name.rsplit_once('/').is_some_and(|(event, effect)| has(event, effect))
    }
}

fn keep<T>(result: Result<T, LoadError>, spec: &Path, report: &mut Report) -> Option<T> {
    result.map_err(|error| refuse(&error, spec, report)).ok()
}

fn refuse(error: &LoadError, spec: &Path, report: &mut Report) {
    let file = error.file.strip_prefix(spec).unwrap_or(&error.file);
    let place = error.at.map_or(SourcePlace::File, |at| SourcePlace::At(at, String::new()));
    report.find(
        file,
        place,
        error.message.trim_end(),
        "correct the file; schemas/ has a JSON Schema of each format",
    );
}

fn goldens(spec: &Path, report: &mut Report) -> Vec<Golden> {
    let mut goldens: Vec<Golden> = Vec::new();
    for (dialect, path) in folders::goldens(spec) {
        let file = path.strip_prefix(spec).unwrap_or(&path).to_owned();
        let stem = path.file_stem().and_then(OsStr::to_str).map(str::to_owned);
        let reader = path.extension().and_then(OsStr::to_str).and_then(frames::reader);
        let (Some(name), Some(reader)) = (stem, reader) else {
            let message = "expected only recordings here: <name>.sse, <name>.jsonl or <name>.http";
            report.find(file, SourcePlace::File, message, "move or rename the file");
            continue;
        };
        if goldens.iter().any(|golden| golden.dialect == dialect && golden.name == name) {
            let message = format!("two goldens have the name {dialect}/{name}");
            report.find(&file, SourcePlace::File, message, "rename one of them");
        }
        let text = fs::read_to_string(&path).map_err(|error| (1, error.to_string()));
        match text.and_then(|text| reader(&text)) {
            Ok(frames) => goldens.push(Golden { dialect, name, file, frames }),
            Err((line, message)) => {
                let help = "follow the format that the README of goldens describes";
                report.find(file, SourcePlace::Line(line), message, help);
            }
        }
    }
    goldens
}
