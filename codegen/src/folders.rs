//! Where the files of the specification are: what is true of every API is in the folder itself, what is true of one
//! is in `apis/<name>`.

use std::fs;
use std::path::{Path, PathBuf};

/// The folder of APIs.
pub const APIS: &str = "apis";

/// The table of an API, in its folder.
pub const TABLE: &str = "api.toml";

/// The APIs that are recognised, and not checked.
pub const FOREIGN: &str = "foreign.toml";

/// The folder of recordings, one folder for each dialect.
pub const GOLDENS: &str = "goldens";

/// Folders of pages and tables. An API can have each, and all APIs can share one of the same name.
pub const PAGES: [&str; 12] = [
    BETWEEN_CASES,
    BETWEEN_PROFILES,
    BETWEEN_RULES,
    "client-profiles",
    CLIENT_RULES,
    CLIENTS,
    LOG_RULES,
    LOGS,
    "profiles",
    "requirements",
    "rules",
    "scenarios",
];

/// The cases of clients behind gateways.
pub const BETWEEN_CASES: &str = "between/cases";

/// Agents as they ask.
pub const BETWEEN_PROFILES: &str = "between/profiles";

/// The rules about what passes through gateways.
pub const BETWEEN_RULES: &str = "between/rules";

/// The contract of gateways with both ends.
pub const CONTRACT: &str = "between/contract.toml";

/// The reactions of agents to faults.
pub const AGENTS: &str = "between/agents.toml";

/// The refusals that agents recover from.
pub const REFUSALS: &str = "between/refusals.toml";

/// The limits of pairs of APIs.
pub const BETWEEN_LIMITS: &str = "between/limits.toml";

/// The rules about clients.
pub const CLIENT_RULES: &str = "client-rules";

/// The rules about rows of logs.
pub const LOG_RULES: &str = "log-rules";

/// Logs and exports.
pub const LOGS: &str = "logs";

/// The contract of clients with their callers and with servers.
pub const CLIENT_CONTRACT: &str = "client-contract.toml";

/// The cases for clients. Those of several APIs may have the same name.
pub const CLIENTS: &str = "clients";

/// Tables that an API can have, and that all APIs can share.
pub const TABLES: [&str; 10] = [
    AGENTS,
    BETWEEN_LIMITS,
    CLIENT_CONTRACT,
    CONTRACT,
    DEFECTS,
    MEASURED,
    IMPACT,
    REFUSALS,
    REQUESTS,
    SHARED_RULES,
];

/// The file of an API with its entries for shared rules.
pub const SHARED_RULES: &str = "shared-rules.toml";

/// The streams with one defect each.
pub const DEFECTS: &str = "defects.toml";

/// The public threads about streams that broke clients.
pub const THREADS: &str = "threads.toml";

/// The measured behaviour of clients.
pub const MEASURED: &str = "measured.toml";

/// The outcomes of clients, by the findings in the streams.
pub const IMPACT: &str = "impact.toml";

/// The request of clients for a golden.
pub const REQUESTS: &str = "requests.toml";

/// Returns the names of all APIs, sorted.
pub fn apis(spec: &Path) -> Vec<String> {
    let entries = fs::read_dir(spec.join(APIS)).into_iter().flatten().flatten();
    let is_api = |path: &Path| path.join(TABLE).is_file();
    let names = entries.filter(|entry| is_api(&entry.path()));
    let mut names: Vec<String> = names.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names
}

/// Returns the path of the table of an API, relative to the folder of the specification.
pub fn api(name: &str) -> PathBuf {
    table_of(name, TABLE)
}

/// Returns the folders or files of a kind that exist: the shared one, and one of each API.
pub fn of_kind(spec: &Path, kind: &str) -> Vec<PathBuf> {
    let of_apis = apis(spec).into_iter().map(|api| spec.join(APIS).join(api).join(kind));
    std::iter::once(spec.join(kind)).chain(of_apis).filter(|path| path.exists()).collect()
}

/// Returns the path of the folder of a kind that belongs to an API, or to all.
pub fn of_api(api: Option<&str>, kind: &str) -> PathBuf {
    api.map_or_else(|| PathBuf::from(kind), |api| table_of(api, kind))
}

/// Returns the path of a file that a folder of that kind has, relative to the folder of the specification. If none
/// has it, it would be shared.
pub fn file(spec: &Path, kind: &str, name: &str) -> PathBuf {
    let found = of_kind(spec, kind).into_iter().map(|folder| folder.join(name)).find(|path| path.is_file());
    let relative = found.and_then(|path| Some(path.strip_prefix(spec).ok()?.to_owned()));
    relative.unwrap_or_else(|| Path::new(kind).join(name))
}

/// Returns the API that a file relative to the folder of the specification belongs to; none if all share it.
pub fn api_of(file: &Path) -> Option<String> {
    let mut parts = file.strip_prefix(APIS).ok()?.components();
    Some(parts.next()?.as_os_str().to_str()?.to_owned())
}

/// Returns the path of a table of an API, relative to the folder of the specification.
pub fn table_of(api: &str, name: &str) -> PathBuf {
    Path::new(APIS).join(api).join(name)
}

/// Returns the recordings in the folders of dialects, each with its dialect: sorted within an API, with files that are
/// none.
pub fn goldens(spec: &Path) -> Vec<(String, PathBuf)> {
    let mut goldens = Vec::new();
    let dialects = of_kind(spec, GOLDENS).into_iter().flat_map(|folder| paths(&folder));
    for folder in dialects.filter(|path| path.is_dir()) {
        let dialect = folder.file_name().unwrap_or_default().to_string_lossy();
        goldens.extend(paths(&folder).into_iter().map(|path| (dialect.to_string(), path)));
    }
    goldens
}

/// Returns the entries of a folder, sorted; none if it cannot be opened.
pub fn paths(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_of_the_api_of_its_folder() {
        assert_eq!(api_of(Path::new("apis/chat/rules/a/b.md")).as_deref(), Some("chat"));
        assert_eq!(api_of(Path::new("rules/a/b.md")), None);
    }
}
