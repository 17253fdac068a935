//! Rules, scenarios, cases for clients, profiles and requirements: everything under `spec/` besides dialects.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

use crate::dialect::{LoadError, Position, entries, read_toml};
use crate::folders::{
    self, AGENTS, BETWEEN_CASES, BETWEEN_LIMITS, BETWEEN_PROFILES, BETWEEN_RULES, CLIENT_CONTRACT,
    CLIENT_RULES, CLIENTS, CONTRACT, DEFECTS, IMPACT, LOG_RULES, LOGS, MEASURED, REFUSALS, REQUESTS,
    SHARED_RULES, THREADS,
};
use crate::formats::{
    AgentProfile, AgentsFile, ApiFile, BetweenCase, BetweenLimitsFile, ClientCase, ClientProfile,
    ContractFile, Defect, DefectsFile, GuaranteesFile, ImpactFile, Log, MeasuredFile, PageError, Profile,
    RefusalsFile, RequestsFile, RequirementsFile, Rule, RuleInApi, Scenario, SharedRulesFile, TestRule,
    Thread, ThreadsFile,
};

/// Rules, scenarios, cases, profiles and requirements, as read from their files.
#[derive(Debug, Clone, Default)]
pub struct Catalogue {
    /// `rules/`, by id.
    pub rules: BTreeMap<String, Rule>,
    /// `shared-rules.toml`, by API.
    pub shared_rules: BTreeMap<String, SharedRulesFile>,
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
    /// `impact.toml`, by API.
    pub impact: BTreeMap<String, ImpactFile>,
    /// `requests.toml`, by API.
    pub requests: BTreeMap<String, RequestsFile>,
    /// `between/cases/`, by id.
    pub between_cases: BTreeMap<String, BetweenCase>,
    /// `between/profiles/`, by id.
    pub between_profiles: BTreeMap<String, AgentProfile>,
    /// `between/rules/`, by id.
    pub between_rules: BTreeMap<String, TestRule>,
    /// `between/agents.toml`.
    pub agents: AgentsFile,
    /// `between/refusals.toml`.
    pub refusals: RefusalsFile,
    /// `between/contract.toml`.
    pub contract: ContractFile,
    /// `client-rules/`, by id.
    pub client_rules: BTreeMap<String, TestRule>,
    /// `client-contract.toml`.
    pub client_contract: ContractFile,
    /// `log-rules/`, by id.
    pub log_rules: BTreeMap<String, TestRule>,
    /// `logs/`, by the name of the file.
    pub logs: BTreeMap<String, Log>,
    /// `between/limits.toml`.
    pub between_limits: BetweenLimitsFile,
    /// The features of all APIs, with their descriptions.
    pub features: BTreeMap<String, String>,
}

impl Catalogue {
    /// Reads all files, and collects an error for each one that cannot be read.
    pub fn load(spec: &Path) -> (Self, Vec<LoadError>) {
        let mut read = Reader { spec, errors: Vec::new() };
        let mut catalogue = Self {
            rules: read.pages("rules", Rule::parse),
            shared_rules: read.of_apis(SHARED_RULES),
            scenarios: read.scenarios(),
            client_cases: read.client_cases(),
            profiles: read.tables("profiles"),
            client_profiles: read.tables("client-profiles"),
            requirements: read.tables("requirements"),
            guarantees: read.guarantees(),
            defects: read.defects(),
            threads: read.threads(),
            measured: read.of_apis(MEASURED),
            impact: read.of_apis(IMPACT),
            requests: read.of_apis(REQUESTS),
            between_cases: read.pages(BETWEEN_CASES, BetweenCase::parse),
            between_profiles: read.pages(BETWEEN_PROFILES, AgentProfile::parse),
            between_rules: read.pages(BETWEEN_RULES, TestRule::parse),
            agents: read.shared(AGENTS),
            refusals: read.shared(REFUSALS),
            contract: read.shared(CONTRACT),
            client_rules: read.pages(CLIENT_RULES, TestRule::parse),
            client_contract: read.shared(CLIENT_CONTRACT),
            log_rules: read.pages(LOG_RULES, TestRule::parse),
            logs: read.tables(LOGS),
            between_limits: read.shared(BETWEEN_LIMITS),
            features: read.features(),
        };
        catalogue.name_entries();
        for (id, rule) in &mut catalogue.rules {
            rule.api = folders::api_of(&folders::file(spec, "rules", &format!("{id}.md")));
            for own in &mut rule.in_apis {
                own.api = rule.api.clone().unwrap_or_default();
            }
        }
        catalogue.share_rules();
        (catalogue, read.errors)
    }

    fn share_rules(&mut self) {
        for (api, file) in &self.shared_rules {
            for own in &file.rules {
                if let Some(rule) = self.rules.get_mut(&own.id).filter(|rule| rule.api.is_none()) {
                    rule.in_apis.push(RuleInApi { api: api.clone(), ..own.clone() });
                }
            }
        }
    }

    /// Returns the scenario with this id that an API has; any of that id if no API is meant.
    pub fn scenario(&self, api: Option<&str>, id: &str) -> Option<&Scenario> {
        let from = self.scenarios.range((id.to_owned(), None)..);
        let mut of_id = from.take_while(|((own, _), _)| own == id).map(|(_, scenario)| scenario);
        of_id.find(|scenario| api.is_none() || scenario.api.is_none() || scenario.api.as_deref() == api)
    }

    /// Some members follow from the name of a file, or from the rest of it.
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

type Parse<T> = fn(&str, &str) -> Result<T, PageError>;

/// Collects an error for each file that cannot be read.
struct Reader<'s> {
    spec: &'s Path,
    errors: Vec<LoadError>,
}

impl Reader<'_> {
    fn toml<T: DeserializeOwned>(&mut self, path: &Path) -> Option<T> {
        read_toml(path).map_err(|error| self.errors.push(error)).ok()
    }

    /// The table need not exist.
    fn shared<T: DeserializeOwned + Default>(&mut self, name: &str) -> T {
        let path = self.spec.join(name);
        path.exists().then(|| self.toml(&path)).flatten().unwrap_or_default()
    }

    fn existing<T: DeserializeOwned>(
        &mut self,
        tables: impl IntoIterator<Item = (String, PathBuf)>,
    ) -> BTreeMap<String, T> {
        let tables = tables.into_iter().filter(|(_, path)| path.is_file());
        tables.filter_map(|(name, path)| Some((name, self.toml(&path)?))).collect()
    }

    fn of_apis<T: DeserializeOwned>(&mut self, name: &str) -> BTreeMap<String, T> {
        let path = |api: String| (api.clone(), self.spec.join(folders::table_of(&api, name)));
        let paths: Vec<_> = folders::apis(self.spec).into_iter().map(path).collect();
        self.existing(paths)
    }

    /// Each with its description and its route if it has one.
    fn features(&mut self) -> BTreeMap<String, String> {
        let mut features = BTreeMap::new();
        for api in self.of_apis::<ApiFile>(folders::TABLE).values() {
            for (name, description) in &api.features {
                features.entry(name.clone()).or_insert_with(|| api.described(name, description));
            }
        }
        features
    }

    fn defects(&mut self) -> DefectsFile {
        let of_api = |(api, file): (String, DefectsFile)| {
            file.defects.into_iter().map(move |defect| Defect { api: api.clone(), ..defect })
        };
        DefectsFile { defects: self.of_apis(DEFECTS).into_iter().flat_map(of_api).collect() }
    }

    fn threads(&mut self) -> Vec<Thread> {
        let of_api = |(api, file): (String, ThreadsFile)| {
            file.threads.into_iter().map(move |thread| Thread { api: api.clone(), ..thread })
        };
        self.of_apis(THREADS).into_iter().flat_map(of_api).collect()
    }

    /// A case that is alike in several APIs has the same id in each.
    fn client_cases(&mut self) -> Vec<ClientCase> {
        let cases = self.pages_by_api(CLIENTS, ClientCase::parse).into_iter();
        let mut all: Vec<_> = cases.map(|(api, _, case)| ClientCase { api, ..case }).collect();
        all.sort_by(|one, other| one.id.cmp(&other.id));
        all
    }

    fn scenarios(&mut self) -> BTreeMap<(String, Option<String>), Scenario> {
        let scenarios = self.pages_by_api("scenarios", Scenario::parse).into_iter();
        scenarios.map(|(api, id, page)| ((id, api.clone()), Scenario { api, ..page })).collect()
    }

    /// Several APIs may have pages of one id: each page has its API and its id.
    fn pages_by_api<T>(&mut self, kind: &str, parse: Parse<T>) -> Vec<(Option<String>, String, T)> {
        let mut all = Vec::new();
        let apis = folders::apis(self.spec).into_iter().map(Some);
        for api in std::iter::once(None).chain(apis) {
            let groups = self.entries(&self.spec.join(folders::of_api(api.as_deref(), kind)));
            let pages = self.pages_of(groups, parse).into_iter();
            all.extend(pages.map(|(id, page)| (api.clone(), id, page)));
        }
        all
    }

    fn pages<T>(&mut self, kind: &str, parse: Parse<T>) -> BTreeMap<String, T> {
        let groups = self.all_entries(kind);
        self.pages_of(groups, parse)
    }

    /// Each group is a folder.
    fn pages_of<T>(&mut self, groups: Vec<PathBuf>, parse: Parse<T>) -> BTreeMap<String, T> {
        let mut pages = BTreeMap::new();
        for group in groups {
            let Some(group_name) = self.name(&group, "") else { continue };
            for path in self.entries(&group) {
                let Some(name) = self.name(&path, ".md") else { continue };
                let id = format!("{group_name}/{name}");
                let text = fs::read_to_string(&path).map_err(|error| (None, error.to_string()));
                match text.and_then(|text| parse(&id, &text).map_err(|it| (Some(it.line), it.message))) {
                    Ok(page) => {
                        if pages.insert(id.clone(), page).is_some() {
                            let message = format!("another folder has a page {id}, too");
                            self.errors.push(LoadError { file: path, at: None, message });
                        }
                    }
                    Err((line, message)) => {
                        let at = line.map(|line| Position { line, column: None });
                        self.errors.push(LoadError { file: path, at, message });
                    }
                }
            }
        }
        pages
    }

    fn tables<T: DeserializeOwned>(&mut self, kind: &str) -> BTreeMap<String, T> {
        let paths = self.all_entries(kind).into_iter();
        let named: Vec<_> = paths.filter_map(|path| Some((self.name(&path, ".toml")?, path))).collect();
        self.existing(named)
    }

    fn guarantees(&mut self) -> BTreeMap<String, GuaranteesFile> {
        let named = |folder: PathBuf| {
            Some((folder.file_name()?.to_str()?.to_owned(), folder.join("guarantees.toml")))
        };
        let folders = self.entries(&self.spec.join("dialects")).into_iter();
        self.existing(folders.filter_map(named))
    }

    fn all_entries(&mut self, kind: &str) -> Vec<PathBuf> {
        folders::of_kind(self.spec, kind).iter().flat_map(|folder| self.entries(folder)).collect()
    }

    /// Sorted. Empty if there is no such folder.
    fn entries(&mut self, folder: &Path) -> Vec<PathBuf> {
        let found = if folder.is_dir() { entries(folder) } else { Ok(Vec::new()) };
        found.map_err(|error| self.errors.push(error)).unwrap_or_default()
    }

    /// Without its extension.
    fn name(&mut self, path: &Path, extension: &str) -> Option<String> {
        let stem = path.file_name().and_then(|name| name.to_str()?.strip_suffix(extension));
        let is_right_kind = path.is_dir() == extension.is_empty();
        let name = stem.filter(|stem| is_right_kind && is_name(stem));
        if name.is_none() {
            let expected =
                if extension.is_empty() { "folders".to_owned() } else { format!("files <name>{extension}") };
            let message = format!(
                "expected only {expected} here, named with a-z, 0-9, `-`, and `.` and `@` for versions"
            );
            self.errors.push(LoadError { file: path.to_owned(), at: None, message });
        }
        name.map(str::to_owned)
    }
}

/// Whether a rule, scenario, group, profile or dialect can have this name.
pub fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "-.@".contains(c))
}
