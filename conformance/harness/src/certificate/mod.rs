//! Certificates: the results of a run by profile.
//!
//! A certificate is a function of the evidence of a run alone, so anyone with the evidence can reproduce and compare
//! it.

mod exercise;
mod judge;
mod kept;
mod markdown;
mod requests;
mod signature;

use std::collections::BTreeMap;
use std::io;

use catalogue::{Level, PROFILES, Profile};
use serde::{Deserialize, Serialize};
use spec::Dialect;

pub use exercise::unseen;
pub use judge::{Judge, Sent};
pub use kept::{CertificateTexts, keep, verify_kept};
pub use markdown::{code, profiles, text};
pub use requests::Requests;
pub use signature::{Signed, of_profiles, sign, signed, statement, test_result};

use crate::evidence::{Evidence, Kept, RunFile, command};
use crate::file::first_difference;
use checker::level;
use results::{Demand, Options, ProfileReport, ProfileState, RunState, Specification, Transport, Verdict};

/// The version of the format of [`Certificate`], increased when a member is removed or changes its meaning.
pub const VERSION: u32 = 1;

pub use crate::evidence::{CERTIFICATE, PAGE, SIGNATURE};

/// `certificate.json`: what a run proves of an endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Certificate {
    /// Version of this format.
    pub version: u32,
    /// Version of the suite.
    pub suite: String,
    /// Build of the suite: a hash over its sources.
    pub build: String,
    /// The dialect that was checked against.
    pub dialect: String,
    /// The folder of the dialect, if it is not one of the suite: `sha256:` and the hash of its files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialect_folder: Option<String>,
    /// The name of its API.
    #[serde(default)]
    pub api: String,
    /// The headers with which the API is asked for a version of it, with their values.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub api_headers: BTreeMap<String, String>,
    /// The endpoint, without secrets.
    pub target: String,
    /// The model that was asked for.
    pub model: String,
    /// The options that bear on verdicts, or on what was sent.
    pub options: Options,
    /// The seed of the words that only this run sends.
    pub seed: String,
    /// Whether somebody asked for this seed; the suite chose it otherwise.
    pub is_seed_given: bool,
    /// The state of the run.
    pub state: RunState,
    /// The results, by profile.
    pub profiles: Vec<ProfileReport>,
    /// SHA-256 of `report.json`.
    pub report: String,
    /// The exchanges that it was judged by, each with its SHA-256.
    pub exchanges: Vec<Kept>,
    /// The commands that make such a run, and check this one.
    pub reproduce: Vec<String>,
}

impl Certificate {
    /// Returns the certificate of a run whose report was written.
    pub fn new(run: &RunFile, profiles: Vec<ProfileReport>) -> Self {
        let api = spec::dialect(&run.dialect).map(|dialect| dialect.api);
        let headers = api.into_iter().flat_map(|api| api.request.headers);
        Self {
            version: VERSION,
            suite: run.suite.clone(),
            build: run.build.clone(),
            dialect: run.dialect.clone(),
            dialect_folder: run.dialect_folder.clone(),
            api: api.map(|api| api.title.to_owned()).unwrap_or_default(),
            api_headers: headers.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            target: run.target.clone(),
            model: run.model.clone(),
            options: run.options.clone(),
            seed: run.seed.clone(),
            is_seed_given: run.is_seed_given,
            state: run.state,
            profiles,
            report: run.report.clone().unwrap_or_default(),
            exchanges: run.exchanges.clone(),
            reproduce: vec![command(run, Some("again")), "conformance verify again".to_owned()],
        }
    }

    /// The certificate as JSON, as specified by `docs/certificate.schema.json`.
    pub fn json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }

    /// Writes the certificate to the folder of the evidence.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn write(&self, evidence: &Evidence) -> io::Result<()> {
        evidence.write(CERTIFICATE, &self.json())?;
        evidence.write(PAGE, &self.markdown())
    }

    /// Returns how the certificate files in the folder differ from this certificate.
    pub fn differences(&self, evidence: &Evidence) -> Vec<String> {
        let files = [(CERTIFICATE, self.json()), (PAGE, self.markdown())];
        let differs = |(file, text): (&str, String)| match evidence.read(file) {
            Ok(bytes) if bytes == text.as_bytes() => None,
            Ok(bytes) => {
                let line = first_difference(&String::from_utf8_lossy(&bytes), &text);
                Some(format!("{file}: line {line} differs from the result of the exchanges"))
            }
            Err(error) => Some(format!("{file}: it cannot be read: {error}")),
        };
        files.into_iter().filter_map(differs).collect()
    }

    /// The result in one line: the profiles that were claimed, or that a scenario exercised.
    pub fn summary(&self) -> String {
        format!("certificate: {}", summary(self.claimed()))
    }

    /// The profiles that the run was asked for, or exercised.
    pub fn claimed(&self) -> impl Iterator<Item = &ProfileReport> {
        self.profiles.iter().filter(|profile| self.is_claimed(profile))
    }

    /// Only if the run was asked for the profile, or exercised one of its scenarios.
    fn is_claimed(&self, profile: &ProfileReport) -> bool {
        self.options.profiles.contains(&profile.name) || is_exercised(profile)
    }

    /// The certificate as Markdown.
    pub fn markdown(&self) -> String {
        markdown::page(self)
    }
}

fn is_exercised(profile: &ProfileReport) -> bool {
    let missing = |demanded: &&String| {
        profile.reasons.iter().any(|reason| {
            let scenario = Transport::scenario(&reason.name);
            reason.demand == Demand::Scenario
                && reason.verdict == Verdict::NotExercised
                && (reason.name == **demanded || demanded.split('|').any(|name| name == scenario))
        })
    };
    let has_failed = profile.reasons.iter().any(|reason| reason.verdict == Verdict::Fail);
    has_failed || profile.scenarios.iter().any(|demanded| !missing(&demanded))
}

/// Summarizes profiles in a line.
pub fn summary<'p>(profiles: impl Iterator<Item = &'p ProfileReport>) -> String {
    let profiles: Vec<_> = profiles.collect();
    let of_state = |wanted: ProfileState| {
        let names = profiles.iter().filter(|profile| profile.state == wanted);
        let names: Vec<&str> = names.map(|profile| profile.name.as_str()).collect();
        (!names.is_empty()).then(|| format!("{} {}", wanted.name(), names.join(", ")))
    };
    let states = [ProfileState::Passed, ProfileState::Failed, ProfileState::Incomplete];
    let results: Vec<String> = states.into_iter().filter_map(of_state).collect();
    if results.is_empty() { "no profile was exercised".to_owned() } else { results.join("; ") }
}

/// Returns the specification of a profile that a dialect implements, if any.
pub fn specification(profile: &Profile, dialect: &Dialect) -> Option<&'static str> {
    named(profile.specifications, dialect)
}

/// The specification among these that the dialect implements.
fn named(specifications: &[&'static str], dialect: &Dialect) -> Option<&'static str> {
    let is_it = |name: &&&str| spec::dialect(name).is_some_and(|named| named.name == dialect.name);
    specifications.iter().find(is_it).copied()
}

/// Returns which specification of a profile a dialect implements, with its version and source.
pub fn specified(specifications: &[&'static str], dialect: &'static Dialect) -> Option<Specification> {
    let name = named(specifications, dialect)?;
    // A dialect that stands for the latest version of a specification has the source of that version.
    let source = spec::dialect(name).map_or(dialect.source, judge::source);
    Some(Specification { name: name.to_owned(), source: source.to_owned() })
}

/// The rules that a profile requires in a dialect: those with level MUST.
pub fn demanded(profile: &Profile, dialect: &Dialect) -> Vec<&'static str> {
    let is_must = |id: &&&str| catalogue::rule(id).is_some_and(|rule| level(rule, dialect) == Level::Must);
    profile.rules.iter().filter(is_must).copied().collect()
}

/// Returns the profiles with these names, or all of the API of a dialect if there are none.
pub fn chosen<'n>(names: &'n [String], dialect: &'n Dialect) -> impl Iterator<Item = &'static Profile> + 'n {
    let of_api = PROFILES.iter().filter(|profile| names.is_empty() && profile.is_of(dialect.api));
    of_api.chain(with_names(names))
}

/// The profiles with these names.
pub fn with_names(names: &[String]) -> impl Iterator<Item = &'static Profile> + '_ {
    PROFILES.iter().filter(|profile| names.iter().any(|name| name == profile.name))
}

#[cfg(test)]
mod tests {
    use catalogue::Scenario;

    use super::*;
    use crate::frozen::{assert_fresh, assert_frozen};
    use crate::plan::{Offer, cases};
    use checker::Rules;

    #[test]
    fn certificate_schema_is_fresh() {
        let text = format!("{:#}\n", schemars::schema_for!(Certificate).as_value());
        assert_fresh("-p harness certificate_schema", "docs/certificate.schema.json", &text);
    }

    /// Returns the requests and requirements of the scenarios of a profile, and of those that they continue.
    fn questions(profile: &Profile) -> String {
        let mut scenarios: Vec<&Scenario> = Vec::new();
        let mut due: Vec<&str> = profile.scenarios.iter().flat_map(|ids| ids.split('|')).rev().collect();
        while let Some(scenario) = due.pop().and_then(|id| profile.scenario(id)) {
            if scenarios.iter().all(|other| other.id != scenario.id) {
                scenarios.push(scenario);
                due.extend(scenario.previous);
            }
        }
        scenarios.into_iter().map(question).collect::<Vec<_>>().join("\n")
    }

    fn question(scenario: &Scenario) -> String {
        // Texts may change. The pattern is exhaustive, so that new fields are considered here.
        let Scenario {
            id,
            operation,
            features,
            elicits,
            items,
            stops,
            status,
            twin,
            without,
            says,
            cut_after,
            fill,
            malformed,
            unknown_key,
            previous,
            websocket,
            lanes,
            rules,
            api: _,
            title: _,
            prose: _,
            request,
        } = *scenario;
        let request: serde_json::Value = serde_json::from_str(request).unwrap_or_default();
        let text = format!("{id} {} {features:?} {request}", operation.name());
        let mut text = format!("{text} {elicits:?} {without:?} {says:?} {status:?} {rules:?} {previous:?}");
        for (is_so, word) in [(twin, "twin"), (malformed, "malformed"), (unknown_key, "unknown key")] {
            text.extend(is_so.then_some([" ", word]).into_iter().flatten());
        }
        for more in [items, stops].into_iter().filter(|more| !more.is_empty()) {
            text.extend([" ", &format!("{more:?}")]);
        }
        let lanes = lanes.map(|count| format!(" {count} lanes")).unwrap_or_default();
        format!("{text} {cut_after:?} {fill:?} {websocket:?}{lanes}")
    }

    #[test]
    fn profiles_are_frozen() {
        let of = |profile: &'static Profile| {
            profile.specifications.iter().map(|name| {
                let dialect = spec::dialect(name).unwrap();
                let demands = [
                    demanded(profile, dialect).join(" "),
                    profile.scenarios.join(" "),
                    dialect.source.to_owned(),
                    questions(profile),
                ];
                (format!("{}@{} {name}", profile.name, profile.version), demands.join("\n"))
            })
        };
        assert_frozen("-p harness profiles_are_frozen", PROFILES.iter().flat_map(of));
    }

    /// Every profile can be passed in the dialect of its specification.
    #[test]
    fn profiles_demand_only_what_their_specifications_have() {
        for profile in PROFILES {
            for name in profile.specifications {
                let dialect = spec::dialect(name).unwrap();
                let cases = cases(dialect, &Rules::of(dialect), &Offer::All, &Transport::ALL);
                for id in profile.scenarios.iter().flat_map(|ids| ids.split('|')) {
                    let case = cases.iter().find(|case| case.scenario.id == id).unwrap();
                    assert_eq!(case.unfit, None, "{} in {name}: {id}", profile.name);
                }
            }
        }
    }

    #[test]
    fn versions_of_a_specification_are_told_apart() {
        let profile = Profile { specifications: &["open-responses@2026-04-24", "openai"], ..PROFILES[0] };
        for (dialect, expected) in [
            ("open-responses", Some("open-responses@2026-04-24")),
            ("open-responses@2026-04-24", Some("open-responses@2026-04-24")),
            ("open-responses@2026-01-15", None),
            ("openai", Some("openai")),
            ("wave", None),
        ] {
            let named = spec::dialect(dialect).unwrap();
            assert_eq!(specification(&profile, named), expected, "{dialect}");
        }
    }
}
