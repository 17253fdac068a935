//! The terms of comparison: `spec/twins.toml`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use catalogue::Level;
use checker::tools_in;
use serde::Deserialize;
use serde_json::Value;
use spec::Api;

use results::LevelName;

/// A part of an answer that is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Aspect {
    /// The class of the status of an error.
    Error,
    /// The kinds of content.
    Kinds,
    /// The calls.
    Calls,
    /// Why the answer ended.
    Stop,
    /// The words of the run that the answer repeats.
    Words,
    /// Whether reasoning is shown.
    Reasoning,
    /// Whether there are token counts.
    Counted,
    /// The token counts.
    Usage,
}

impl Aspect {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Kinds => "kinds",
            Self::Calls => "calls",
            Self::Stop => "stop",
            Self::Words => "words",
            Self::Reasoning => "reasoning",
            Self::Counted => "counted",
            Self::Usage => "usage",
        }
    }
}

/// A difference that the APIs themselves make.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Declared {
    /// The scenario, with the suffix of its transport if it is only in that; `*` is every stream.
    pub scenario: String,
    /// The part that differs.
    pub aspect: Aspect,
    /// The API that differs from the others.
    pub api: String,
    /// Why.
    pub reason: String,
}

impl Declared {
    pub(super) fn covers(&self, case: &str, aspect: Aspect, apis: [&str; 2]) -> bool {
        let id = results::Transport::scenario(case);
        let is_case = self.scenario == case || self.scenario == id || self.scenario == "*" && id == case;
        is_case && self.aspect == aspect && apis.contains(&&*self.api)
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    levels: BTreeMap<Aspect, Leveled>,
    stop: BTreeMap<String, BTreeMap<String, Vec<String>>>,
    error: BTreeMap<String, Vec<u16>>,
    tools: BTreeMap<String, Tools>,
    #[serde(default)]
    difference: Vec<Declared>,
}

/// Where a request has its tools.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Tools {
    list: String,
    names: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Leveled(#[serde(with = "LevelName")] Level);

static FILE: LazyLock<File> = LazyLock::new(|| {
    let text = include_str!("../../../../spec/twins.toml");
    toml::from_str(text).unwrap_or_else(|error| unreachable!("a test reads the file: {error}"))
});

pub(super) fn level(aspect: Aspect) -> Level {
    FILE.levels.get(&aspect).map_or(Level::Must, |Leveled(level)| *level)
}

pub(super) fn stops(api: &str, word: &str) -> &'static [String] {
    FILE.stop.get(api).and_then(|words| words.get(word)).map(Vec::as_slice).unwrap_or_default()
}

pub(super) fn class(status: u16) -> Option<&'static str> {
    FILE.error.iter().find(|(_, statuses)| statuses.contains(&status)).map(|(class, _)| class.as_str())
}

pub(super) fn tool<'r>(api: &Api, request: &'r Value, name: &str) -> Option<&'r Value> {
    let (list, names): (&str, Vec<&str>) = match (api.request.offers, FILE.tools.get(api.name)) {
        (Some(offers), _) => (offers.list, offers.names.to_vec()),
        (None, Some(tools)) => (&tools.list, tools.names.iter().map(String::as_str).collect()),
        (None, None) => return None,
    };
    let is_it =
        |tool: &&Value| names.iter().any(|place| tool.pointer(place).and_then(Value::as_str) == Some(name));
    let inner = api.request.offers.and_then(|offers| offers.inner);
    tools_in(request, list, inner).find(is_it)
}

/// The declared differences.
pub fn declared() -> &'static [Declared] {
    &FILE.difference
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_the_file_are_known() {
        let is_api = |name: &str| spec::APIS.iter().any(|api| api.name == name);
        assert!(FILE.stop.keys().all(|api| is_api(api)));
        assert_eq!(FILE.levels.len(), 8);
        for declared in declared() {
            let id = results::Transport::scenario(&declared.scenario);
            let pages = catalogue::SCENARIOS.iter().filter(|scenario| scenario.id == id).count();
            let is_case = pages > 1 || declared.scenario == "*";
            assert!(is_api(&declared.api) && is_case && !declared.reason.trim().is_empty(), "{declared:?}");
        }
        // The tools of each API are found in one of the two places.
        for api in spec::spoken() {
            assert_eq!(api.request.offers.is_none(), FILE.tools.contains_key(api.name), "{}", api.name);
        }
        // Every usual word of an API has a class.
        for api in spec::spoken() {
            assert!(api.usual_stops.iter().all(|word| !stops(api.name, word).is_empty()), "{}", api.name);
        }
    }
}
