//! Certificates of clients: the result of a run for each profile.

use std::fmt::Write as _;

use catalogue::{CLIENT_PROFILES, Channel, ClientProfile};
use harness::certificate::{CertificateTexts, code, profiles as profiles_page, specified, text};
use harness::evidence::DIALECT;
use harness::hash;
use results::{
    ClientOutcome, ClientRun, ClientTest, Demand, FailOn, LevelChange, Outcome, ProfileReport, Reason,
    Verdict, dialect_in_words, shell_word,
};
use serde::{Deserialize, Serialize};
use spec::Dialect;

use super::cases::cases;
use crate::cases::case::transport;

/// The version of the format of [`ClientCertificate`]. It increases when a member is removed or changes its meaning.
pub const CERTIFICATE_VERSION: u32 = 2;

/// `certificate.json`: the certificate of a client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ClientCertificate {
    /// Version of this format.
    pub client_certificate: u32,
    /// Version of the suite.
    pub suite: String,
    /// The name of the client.
    pub client: String,
    /// Its version, if known.
    pub client_version: Option<String>,
    /// The API.
    #[serde(default)]
    pub api: String,
    /// The dialect of the server.
    pub dialect: String,
    /// The hash of its folder, if the dialect is not one of the suite.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialect_folder: Option<String>,
    /// The mode: `lines`, `spawn` or `server`.
    pub mode: String,
    /// The outcome of the run.
    pub outcome: Outcome,
    /// The findings that fail the run.
    pub fail_on: FailOn,
    /// Rules with another level than their own.
    pub levels: Vec<LevelChange>,
    /// The results, by profile.
    pub profiles: Vec<ProfileReport>,
    /// SHA-256 of `client.json`.
    pub report: String,
    /// SHA-256 over the hashes of the recordings of all tests.
    pub evidence: String,
    /// The command that reproduces the run.
    pub reproduce: String,
}

impl ClientCertificate {
    /// Creates the certificate of a run from the text of its report.
    pub fn new(run: &ClientRun, report: &str) -> Self {
        let hashes = run.tests.iter().map(|test| format!("{} {}\n", test.name, test.hash));
        Self {
            client_certificate: CERTIFICATE_VERSION,
            suite: run.suite.clone(),
            client: run.client.clone(),
            client_version: run.client_version.clone(),
            api: spec::dialect(&run.dialect).map(|dialect| dialect.api.title.to_owned()).unwrap_or_default(),
            dialect: run.dialect.clone(),
            dialect_folder: run.dialect_folder.clone(),
            mode: run.mode.clone(),
            outcome: run.outcome,
            fail_on: run.fail_on,
            levels: run.levels.clone(),
            profiles: run.profiles.clone(),
            report: hash(report.as_bytes()),
            evidence: hash(hashes.collect::<String>().as_bytes()),
            reproduce: reproduce(run),
        }
    }

    /// The certificate as JSON.
    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    pub(super) fn texts(&self) -> CertificateTexts {
        [self.json(), self.markdown()]
    }

    /// The certificate as Markdown.
    pub fn markdown(&self) -> String {
        let mut out = "# Conformance certificate of a client\n\n".to_owned();
        for (name, value) in [
            ("Client", text(&self.client)),
            ("Version", self.client_version.as_deref().map_or_else(|| "unknown".to_owned(), text)),
            ("API", text(&self.api)),
            ("Dialect", code(&dialect_in_words(&self.dialect, self.dialect_folder.as_deref()))),
            ("Suite", format!("conformance {}", text(&self.suite))),
            ("Failures", format!("{} (`--fail-on {}`)", self.fail_on.words(), self.fail_on.name())),
            ("Levels changed", text(&LevelChange::words(&self.levels, usize::MAX))),
        ] {
            if !value.is_empty() {
                let _ = writeln!(out, "- {name}: {value}");
            }
        }
        out += &profiles_page(&self.profiles, &is_exercised);
        let _ = writeln!(
            out,
            "\n## Reproduce\n\nWith version {} of the suite:\n\n```sh\n{}\n```\n\nSHA-256 of `client.json`: `{}`. SHA-256 over \
             the hashes of the recordings: `{}`.",
            text(&self.suite),
            self.reproduce.replace("```", ""),
            text(&self.report),
            text(&self.evidence)
        );
        out
    }
}

fn reproduce(run: &ClientRun) -> String {
    let mut transports: Vec<&str> = Vec::new();
    for case in &run.tests {
        if !transports.contains(&case.about.transport.name()) {
            transports.push(case.about.transport.name());
        }
    }
    let dialect = match run.dialect_folder {
        Some(_) => format!("./{DIALECT}/{}", run.dialect),
        None => run.dialect.clone(),
    };
    let mut words = vec!["conformance client".to_owned(), format!("--dialect {}", shell_word(&dialect))];
    words.push(format!("--transport {}", transports.join(",")));
    if run.mode != "lines" {
        words.push(format!("--mode {}", run.mode));
    }
    if let Some(ms) = run.timeout {
        words.push(format!("--timeout {ms}ms"));
    }
    if run.fail_on != FailOn::default() {
        words.push(format!("--fail-on {}", run.fail_on.name()));
    }
    for change in &run.levels {
        words.push(format!("--rule {}", shell_word(&format!("{}={}", change.rule, change.level.name()))));
    }
    if !run.command.is_empty() {
        words.push("--".to_owned());
        words.extend(run.command.iter().map(|word| shell_word(word).into_owned()));
    }
    words.join(" ").replace(['\n', '\r'], " ")
}

pub(super) fn is_exercised(profile: &ProfileReport) -> bool {
    profile.reasons.iter().filter(|reason| reason.verdict == Verdict::NotExercised).count()
        < profile.scenarios.len()
}

/// Returns the profiles with these names; all if there are no names.
pub fn client_profiles(names: &[String]) -> impl Iterator<Item = &'static ClientProfile> + '_ {
    CLIENT_PROFILES.iter().filter(|profile| names.is_empty() || names.iter().any(|name| name == profile.name))
}

/// Returns whether a profile is about the API of a dialect.
pub fn is_of_api(profile: &ClientProfile, dialect: &Dialect) -> bool {
    let mut specifications = profile.specifications.iter().filter_map(|name| spec::dialect(name));
    specifications.any(|specification| specification.api.name == dialect.api.name)
}

/// The names of the cases that a profile requires in a dialect.
pub fn demanded_cases(profile: &ClientProfile, dialect: &'static Dialect) -> Vec<String> {
    let all = cases(dialect);
    let of = |id: &&'static str| {
        let names = profile
            .transports
            .iter()
            .map(move |channel: &Channel| format!("{id}{}", transport(*channel).suffix()));
        names.filter(|name| all.binary_search_by(|case| case.name.cmp(name)).is_ok()).collect::<Vec<_>>()
    };
    profile.cases.iter().flat_map(of).collect()
}

pub(super) fn profiles(
    names: &[String],
    dialect: &'static Dialect,
    run: &[ClientTest],
) -> Vec<ProfileReport> {
    let own = client_profiles(names).filter(|profile| is_of_api(profile, dialect));
    own.map(|profile| of_profile(profile, dialect, run)).collect()
}

fn of_profile(profile: &ClientProfile, dialect: &'static Dialect, run: &[ClientTest]) -> ProfileReport {
    let specification = specified(profile.specifications, dialect);
    let mut report = ProfileReport::new(profile.name, profile.version, profile.title, specification);
    if report.specification.is_none() {
        let reason = format!(
            "the profile is for {}, but the run used {}",
            profile.specifications.join(", "),
            dialect.name
        );
        report.reasons.push(Reason::of_run(reason));
        return report;
    }
    report.scenarios = demanded_cases(profile, dialect);
    for name in &report.scenarios {
        let why = match run.iter().find(|case| case.name == *name) {
            None => Some((Verdict::NotExercised, "the run did not select it".to_owned())),
            Some(case) => unmet(case),
        };
        report.reasons.extend(why.map(|(verdict, why)| Reason::new(Demand::Case, name, verdict, why)));
    }
    report.decided()
}

/// `None` if the case meets the profile. Expected failures count as failures.
fn unmet(test: &ClientTest) -> Option<(Verdict, String)> {
    let outcome = test.about.outcome;
    let with_detail = |verdict| Some((verdict, format!("{}: {}", outcome.name(), test.reason)));
    match outcome {
        ClientOutcome::Right | ClientOutcome::Reported => {
            let problem = test.requests().next()?;
            let rule = problem.rule.rsplit('/').next().unwrap_or_default();
            Some((Verdict::Fail, format!("invalid request: {rule}: {}", problem.message)))
        }
        ClientOutcome::NotExercised => Some((Verdict::NotExercised, test.reason.clone())),
        ClientOutcome::HarnessError => with_detail(Verdict::HarnessError),
        ClientOutcome::Fragile | ClientOutcome::Wrong | ClientOutcome::Silent | ClientOutcome::Hung => {
            with_detail(Verdict::Fail)
        }
    }
}
