//! Rules, scenarios, cases for clients, profiles and requirements: everything under `spec/` besides dialects.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::dialect::{LoadError, read_toml};
use crate::folders::{
    self, BETWEEN_CASES, BETWEEN_LIMITS, BETWEEN_RULES, CLIENTS, DEFECTS, MEASURED, PLAYED, REQUESTS, THREADS,
};
use crate::formats::{
    ApiFile, BetweenCase, BetweenLimitsFile, BetweenRule, ClientCase, ClientProfile, Defect, DefectsFile,
    GuaranteesFile, MeasuredFile, PageError, PlayedFile, Profile, RequestsFile, RequirementsFile, Rule,
    Scenario, Thread, ThreadsFile,
};

/// Rules, scenarios, cases, profiles and requirements, as read from their files.
#[derive(Debug, Clone, Default)]
pub struct Catalogue {
    /// `rules/`, by id.
    pub rules: BTreeMap<String, Rule>,
    /// `scenarios/`, by id and API.
    pub scenarios: BTreeMap<(String, Option<String>), Scenario>,
    /// `clients/`, by id. Cases of several APIs may have the same id.
    pub client_cases: Vec<ClientCase>,
    /// `profiles/`, by name.
    pub profiles: BTreeMap<String, Profile>,
    /// `client-profiles/`, by name.
    pub client_profiles: BTreeMap<String, ClientProfile>,
    /// `requirements/`, by version.
    pub requirements: BTreeMap<String, RequirementsFile>,
    /// `guarantees.toml` of the dialects that have one, by dialect.
    pub guarantees: BTreeMap<String, GuaranteesFile>,
    /// `defects.toml` of all APIs.
    pub defects: DefectsFile,
    /// `threads.toml` of all APIs.
    pub threads: Vec<Thread>,
    /// `measured.toml`, by API.
    pub measured: BTreeMap<String, MeasuredFile>,
    /// `played.toml`, by API.
    pub played: BTreeMap<String, PlayedFile>,
    /// `requests.toml`, by API.
    pub requests: BTreeMap<String, RequestsFile>,
    /// `between/cases/`, by id.
    pub between_cases: BTreeMap<String, BetweenCase>,
    /// `between/rules/`, by id.
    pub between_rules: BTreeMap<String, BetweenRule>,
    /// `between/limits.toml`.
    pub between_limits: BetweenLimitsFile,
    /// The features of all APIs, with their descriptions.
    pub features: BTreeMap<String, String>,
}

impl Catalogue {
    /// Reads all files, and collects an error for each one that cannot be read.
    pub fn load(spec: &Path) -> (Self, Vec<LoadError>) {
        let mut errors = Vec::new();
        let mut catalogue = Self {
            rules: pages(spec, "rules", Rule::parse, &mut errors),
            scenarios: scenarios(spec, &mut errors),
            client_cases: client_cases(spec, &mut errors),
            profiles: tables(spec, "profiles", &mut errors),
            client_profiles: tables(spec, "client-profiles", &mut errors),
            requirements: tables(spec, "requirements", &mut errors),
            guarantees: guarantees(&spec.join("dialects"), &mut errors),
            defects: defects(spec, &mut errors),
            threads: threads(spec, &mut errors),
            measured: of_apis(spec, MEASURED, &mut errors),
            played: of_apis(spec, PLAYED, &mut errors),
            requests: of_apis(spec, REQUESTS, &mut errors),
            between_cases: pages(spec, BETWEEN_CASES, BetweenCase::parse, &mut errors),
            between_rules: pages(spec, BETWEEN_RULES, BetweenRule::parse, &mut errors),
            between_limits: between_limits(spec, &mut errors),
            features: features(spec, &mut errors),
        };
        catalogue.name_entries();
        let api_of = |kind: &str, id: &str| folders::api_of(&folders::file(spec, kind, &format!("{id}.md")));
        for (id, rule) in &mut catalogue.rules {
            rule.api = api_of("rules", id);
        }
        (catalogue, errors)
    }

    /// Returns the scenario with this id that an API has; any of that id if no API is meant.
    pub fn scenario(&self, api: Option<&str>, id: &str) -> Option<&Scenario> {
        let of_id = self.scenarios_named(id);
        of_id
            .into_iter()
            .find(|scenario| api.is_none() || scenario.api.is_none() || scenario.api.as_deref() == api)
    }

    /// Returns the pages of a scenario, one for each API that has it.
    pub fn scenarios_named(&self, id: &str) -> Vec<&Scenario> {
        let from = self.scenarios.range((id.to_owned(), None)..);
        from.take_while(|((own, _), _)| own == id).map(|(_, scenario)| scenario).collect()
    }

    /// Sets the members that follow from the name of a file, or from the rest of it.
    fn name_entries(&mut self) {
        for (name, profile) in &mut self.profiles {
            profile.name.clone_from(name);
        }
        for (name, profile) in &mut self.client_profiles {
            profile.name.clone_from(name);
        }
        for (version, RequirementsFile { source, address, requirements }) in &mut self.requirements {
            for requirement in requirements {
                requirement.version.clone_from(version);
                requirement.source.clone_from(source);
                requirement.address.clone_from(address);
            }
        }
        for (api, file) in &mut self.measured {
            let mut columns = 0..;
            for client in &mut file.clients {
                client.api.clone_from(api);
                client.column = client.version.as_ref().and_then(|_| columns.next());
            }
        }
    }
}

/// Returns the features of all APIs, each with its description and its route if it has one.
fn features(spec: &Path, errors: &mut Vec<LoadError>) -> BTreeMap<String, String> {
    let mut features = BTreeMap::new();
    for name in folders::apis(spec) {
        match read_toml::<ApiFile>(&spec.join(folders::api(&name))) {
            Ok(api) => {
                for (name, description) in &api.features {
                    features.entry(name.clone()).or_insert_with(|| api.described(name, description));
                }
            }
            Err(error) => errors.push(error),
        }
    }
    features
}

/// Reads the cases for clients. What is alike in several APIs has the same id in each.
fn client_cases(spec: &Path, errors: &mut Vec<LoadError>) -> Vec<ClientCase> {
    let mut all = Vec::new();
    for folder in folders::of_kind(spec, CLIENTS) {
        let api = folder.strip_prefix(spec).ok().and_then(folders::api_of);
        let cases = pages_of(entries(&folder, errors), ClientCase::parse, errors);
        all.extend(cases.into_values().map(|case| ClientCase { api: api.clone(), ..case }));
    }
    all.sort_by(|one, other| one.id.cmp(&other.id));
    all
}

/// Reads what pairs of APIs cannot carry.
fn between_limits(spec: &Path, errors: &mut Vec<LoadError>) -> BetweenLimitsFile {
    let file = spec.join(BETWEEN_LIMITS);
    if !file.exists() {
        return BetweenLimitsFile::default();
    }
    read_toml(&file).unwrap_or_else(|error| {
        errors.push(error);
        BetweenLimitsFile::default()
    })
}

/// Reads the defects of all APIs.
fn defects(spec: &Path, errors: &mut Vec<LoadError>) -> DefectsFile {
    let mut all = DefectsFile::default();
    for (api, file) in of_apis::<DefectsFile>(spec, DEFECTS, errors) {
        all.defects.extend(file.defects.into_iter().map(|defect| Defect { api: api.clone(), ..defect }));
    }
    all
}

/// Reads the threads of all APIs.
fn threads(spec: &Path, errors: &mut Vec<LoadError>) -> Vec<Thread> {
    let mut all = Vec::new();
    for (api, file) in of_apis::<ThreadsFile>(spec, THREADS, errors) {
        all.extend(file.threads.into_iter().map(|thread| Thread { api: api.clone(), ..thread }));
    }
    all
}

/// Reads a table of each API that has it, by API.
fn of_apis<T: serde::de::DeserializeOwned>(
    spec: &Path,
    name: &str,
    errors: &mut Vec<LoadError>,
) -> BTreeMap<String, T> {
    let mut tables = BTreeMap::new();
    for api in folders::apis(spec) {
        let path = spec.join(folders::table_of(&api, name));
        match path.is_file().then(|| read_toml(&path)) {
            Some(Ok(table)) => drop(tables.insert(api, table)),
            Some(Err(error)) => errors.push(error),
            None => {}
        }
    }
    tables
}

/// Reads the scenarios of all APIs, of which several may have pages of one id.
fn scenarios(spec: &Path, errors: &mut Vec<LoadError>) -> BTreeMap<(String, Option<String>), Scenario> {
    const KIND: &str = "scenarios";

    let mut all = BTreeMap::new();
    let apis = folders::apis(spec).into_iter().map(Some);
    for api in std::iter::once(None).chain(apis) {
        let groups = entries(&spec.join(folders::of_api(api.as_deref(), KIND)), errors);
        for (id, scenario) in pages_of(groups, Scenario::parse, errors) {
            all.insert((id, api.clone()), Scenario { api: api.clone(), ..scenario });
        }
    }
    all
}

type Parse<T> = fn(&str, &str) -> Result<T, PageError>;

fn pages<T>(spec: &Path, kind: &str, parse: Parse<T>, errors: &mut Vec<LoadError>) -> BTreeMap<String, T> {
    pages_of(all_entries(spec, kind, errors), parse, errors)
}

/// Reads the pages of groups, each of which is a folder.
fn pages_of<T>(groups: Vec<PathBuf>, parse: Parse<T>, errors: &mut Vec<LoadError>) -> BTreeMap<String, T> {
    let mut pages = BTreeMap::new();
    for group in groups {
        let Some(group_name) = name(&group, "", errors) else { continue };
        for path in entries(&group, errors) {
            let Some(name) = name(&path, ".md", errors) else { continue };
            let id = format!("{group_name}/{name}");
            let text = fs::read_to_string(&path).map_err(|error| (None, error.to_string()));
            match text.and_then(|text| parse(&id, &text).map_err(|error| (Some(error.line), error.message))) {
                Ok(page) => {
                    if pages.insert(id.clone(), page).is_some() {
                        let message = format!("another folder has a page {id}, too");
                        errors.push(LoadError { file: path, line: None, message });
                    }
                }
                Err((line, message)) => errors.push(LoadError { file: path, line, message }),
            }
        }
    }
    pages
}

fn tables<T: serde::de::DeserializeOwned>(
    spec: &Path,
    kind: &str,
    errors: &mut Vec<LoadError>,
) -> BTreeMap<String, T> {
    let mut tables = BTreeMap::new();
    for path in all_entries(spec, kind, errors) {
        let Some(name) = name(&path, ".toml", errors) else { continue };
        match read_toml(&path) {
            Ok(table) => drop(tables.insert(name, table)),
            Err(error) => errors.push(error),
        }
    }
    tables
}

fn guarantees(dialects: &Path, errors: &mut Vec<LoadError>) -> BTreeMap<String, GuaranteesFile> {
    let mut found = BTreeMap::new();
    for folder in entries(dialects, errors) {
        let path = folder.join("guarantees.toml");
        let Some(name) = folder.file_name().and_then(|name| name.to_str()).filter(|_| path.is_file()) else {
            continue;
        };
        match read_toml(&path) {
            Ok(table) => drop(found.insert(name.to_owned(), table)),
            Err(error) => errors.push(error),
        }
    }
    found
}

/// Returns the entries of all folders of a kind.
fn all_entries(spec: &Path, kind: &str, errors: &mut Vec<LoadError>) -> Vec<PathBuf> {
    folders::of_kind(spec, kind).iter().flat_map(|folder| entries(folder, errors)).collect()
}

/// Returns the entries of a folder, sorted; none if there is no such folder.
fn entries(folder: &Path, errors: &mut Vec<LoadError>) -> Vec<PathBuf> {
    if !folder.is_dir() {
        return Vec::new();
    }
    let read = fs::read_dir(folder)
        .and_then(|list| list.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>, _>>());
    let mut paths = read.unwrap_or_else(|error| {
        errors.push(LoadError { file: folder.to_owned(), line: None, message: error.to_string() });
        Vec::new()
    });
    paths.sort();
    paths
}

/// Returns the name of a file or folder without its extension.
fn name(path: &Path, extension: &str, errors: &mut Vec<LoadError>) -> Option<String> {
    let stem = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_suffix(extension));
    let is_right_kind = path.is_dir() == extension.is_empty();
    let name = stem.filter(|stem| is_right_kind && is_name(stem));
    if name.is_none() {
        let expected =
            if extension.is_empty() { "folders".to_owned() } else { format!("files <name>{extension}") };
        let message =
            format!("expected only {expected} here, named with a-z, 0-9, `-`, and `.` and `@` for versions");
        errors.push(LoadError { file: path.to_owned(), line: None, message });
    }
    name.map(str::to_owned)
}

/// Returns whether this is a valid name of a rule, scenario, group, profile or dialect.
pub(crate) fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "-.@".contains(c))
}
