//! The clients that recordings are played to: `tests/clients/drivers.toml`, and the drivers beside it.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;
use serde::de::IgnoredAny;

/// A client, and how its driver is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImpactClient {
    /// Its name, as in `measured.toml`.
    pub name: String,
    /// The API that it speaks.
    pub api: String,
    /// The name of its packages.
    pub packages: String,
    /// The script of its driver, with its arguments.
    pub(super) run: Vec<String>,
    /// How much longer than others it takes for a response, as it starts anew.
    pub(super) start_seconds: u64,
}

/// Packages that are installed into one folder.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ImpactPackages {
    /// Packages for Python.
    pub pip: Vec<String>,
    /// Packages for Node.js.
    pub npm: Vec<String>,
}

impl ImpactPackages {
    /// Returns all of them, each with its version.
    pub fn all(&self) -> impl Iterator<Item = &str> {
        self.pip.iter().chain(&self.npm).map(String::as_str)
    }

    pub(super) const fn is_for_node(&self) -> bool {
        !self.npm.is_empty()
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    packages: BTreeMap<String, ImpactPackages>,
    #[serde(rename = "client")]
    clients: Vec<Entry>,
}

/// It can play recordings if it has packages.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    api: String,
    packages: Option<String>,
    #[serde(default)]
    run: Vec<String>,
    #[serde(default)]
    start_seconds: u64,
    /// How `tests/clients/run` plays cases to it.
    #[serde(rename = "measured")]
    _measured: Option<IgnoredAny>,
}

impl Entry {
    fn played(self) -> Option<ImpactClient> {
        let Self { name, api, packages, run, start_seconds, .. } = self;
        Some(ImpactClient { name, api, packages: packages?, run, start_seconds })
    }
}

static FILE: LazyLock<(BTreeMap<String, ImpactPackages>, Vec<ImpactClient>)> = LazyLock::new(|| {
    let text = include_str!("../../../../tests/clients/drivers.toml");
    let File { packages, clients } =
        toml::from_str(text).unwrap_or_else(|error| unreachable!("a test reads the file: {error}"));
    (packages, clients.into_iter().filter_map(Entry::played).collect())
});

/// The clients that recordings can be played to.
pub fn impact_clients() -> &'static [ImpactClient] {
    &FILE.1
}

/// Returns packages by their name.
pub fn packages(name: &str) -> Option<&'static ImpactPackages> {
    FILE.0.get(name)
}

macro_rules! drivers {
    ($($file:literal),* $(,)?) => {
        /// The drivers and what they share, by the names of their files.
        pub(super) const DRIVERS: &[(&str, &str)] =
            &[$(($file, include_str!(concat!("../../../../tests/clients/", $file)))),*];
    };
}

drivers![
    "agents.mjs",
    "ai_sdk.mjs",
    "anthropic_node.mjs",
    "anthropic_python.py",
    "google_genai.mjs",
    "google_genai.py",
    "langchain.py",
    "lines.mjs",
    "lines.py",
    "litellm_client.py",
    "openai_agents.py",
    "openai_node.mjs",
    "openai_python.py",
    "pydantic_ai_client.py",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_client_has_a_driver_packages_and_an_api() {
        for client in impact_clients() {
            let script = client.run.first().unwrap();
            assert!(DRIVERS.iter().any(|(file, _)| file == script), "{}: {script}", client.name);
            assert!(packages(&client.packages).is_some(), "{}: {}", client.name, client.packages);
            assert!(spec::APIS.iter().any(|api| api.name == client.api), "{}: {}", client.name, client.api);
            let is_known = |known: &&catalogue::Client| known.name == client.name && known.is_of(&client.api);
            // Agents are played to, and take too long to be measured.
            assert!(
                client.packages == "agents" || catalogue::CLIENTS.iter().any(|known| is_known(&known)),
                "no measured.toml has {}",
                client.name
            );
        }
    }
}
