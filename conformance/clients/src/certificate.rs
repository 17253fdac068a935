//! Certificates of clients: what a run proves of a client, profile by profile.

use std::fmt::Write as _;

use catalogue::{CLIENT_PROFILES, Channel, ClientProfile};
use harness::certificate::{code, profiles, specified, text};
use harness::live::hash;
use results::{
    ClientCaseReport, ClientOutcome, ClientRun, Demand, Outcome, ProfileReport, Reason, Verdict, shell_word,
};
use serde::{Deserialize, Serialize};
use spec::Dialect;

use super::case::{cases, transport};

/// The version of the format of [`ClientCertificate`]. It rises when a member goes away or changes its meaning.
pub const CERTIFICATE_VERSION: u32 = 1;

/// `certificate.json`: what a run proves of a client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ClientCertificate {
    /// Version of this format.
    pub client_certificate: u32,
    /// Version of the suite.
    pub suite: String,
    /// The name of the client.
    pub client: String,
    /// Its version, as far as that is known.
    pub client_version: Option<String>,
    /// The dialect that it was spoken to in.
    pub dialect: String,
    /// How it was driven: `lines`, `spawn` or `server`.
    pub mode: String,
    /// How the run ended.
    pub outcome: Outcome,
    /// What the run comes to, by profile.
    pub profiles: Vec<ProfileReport>,
    /// SHA-256 of `client.json`.
    pub report: String,
    /// The command that makes such a run.
    pub reproduce: String,
}

impl ClientCertificate {
    /// Returns the certificate of a run whose report is this text.
    pub fn new(run: &ClientRun, report: &str) -> Self {
        Self {
            client_certificate: CERTIFICATE_VERSION,
            suite: run.suite.clone(),
            client: run.client.clone(),
            client_version: run.client_version.clone(),
            dialect: run.dialect.clone(),
            mode: run.mode.clone(),
            outcome: run.outcome,
            profiles: run.profiles.clone(),
            report: hash(report.as_bytes()),
            reproduce: reproduce(run),
        }
    }

    /// Returns it as JSON.
    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// Returns it as a page of Markdown.
    pub fn markdown(&self) -> String {
        let mut out = "# Conformance certificate of a client\n\n".to_owned();
        for (name, value) in [
            ("Client", text(&self.client)),
            ("Version", self.client_version.as_deref().map_or_else(|| "unknown".to_owned(), text)),
            ("Dialect", code(&self.dialect)),
            ("Suite", format!("conformance {}", text(&self.suite))),
        ] {
            let _ = writeln!(out, "- {name}: {value}");
        }
        out += &profiles(&self.profiles, &is_exercised);
        let _ = writeln!(
            out,
            "\n## Reproduce\n\nWith version {} of the suite:\n\n```sh\n{}\n```\n\nSHA-256 of `client.json`: `{}`.",
            text(&self.suite),
            self.reproduce.replace("```", ""),
            text(&self.report)
        );
        out
    }
}

/// Returns the command that makes a run again.
fn reproduce(run: &ClientRun) -> String {
    let mut transports: Vec<&str> = Vec::new();
    for case in &run.cases {
        if !transports.contains(&case.transport.name()) {
            transports.push(case.transport.name());
        }
    }
    let mut words = vec!["conformance client".to_owned(), format!("--dialect {}", run.dialect)];
    words.push(format!("--transport {}", transports.join(",")));
    if run.mode != "lines" {
        words.push(format!("--mode {}", run.mode));
    }
    if !run.command.is_empty() {
        words.push("--".to_owned());
        words.extend(run.command.iter().map(|word| shell_word(word).into_owned()));
    }
    words.join(" ").replace(['\n', '\r'], " ")
}

fn is_exercised(profile: &ProfileReport) -> bool {
    profile.reasons.iter().filter(|reason| reason.verdict == Verdict::NotExercised).count()
        < profile.scenarios.len()
}

/// Returns the profiles of these names; all, when there are none.
pub fn client_profiles(names: &[String]) -> impl Iterator<Item = &'static ClientProfile> + '_ {
    CLIENT_PROFILES.iter().filter(|profile| names.is_empty() || names.iter().any(|name| name == profile.name))
}

/// Returns the cases that a profile demands in a dialect, by their names.
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

/// Returns what a run comes to for a profile.
pub(super) fn of_profile(
    profile: &ClientProfile,
    dialect: &'static Dialect,
    run: &[ClientCaseReport],
) -> ProfileReport {
    let specification = specified(profile.specifications, dialect);
    let mut report = ProfileReport::new(profile.name, profile.version, profile.title, specification);
    if report.specification.is_none() {
        let reason =
            format!("it is about {}, and the run was in {}", profile.specifications.join(", "), dialect.name);
        report.reasons.push(Reason::new(Demand::Run, "", Verdict::NotExercised, reason));
        return report;
    }
    report.scenarios = demanded_cases(profile, dialect);
    for name in &report.scenarios {
        let why = match run.iter().find(|case| case.name == *name) {
            None => Some((Verdict::NotExercised, "the run left it out".to_owned())),
            Some(case) => unmet(case),
        };
        report.reasons.extend(why.map(|(verdict, why)| Reason::new(Demand::Case, name, verdict, why)));
    }
    report.decided()
}

/// Returns why a case is not as demanded. What is expected to fail does so all the same.
fn unmet(case: &ClientCaseReport) -> Option<(Verdict, String)> {
    let told = |verdict| Some((verdict, format!("{}: {}", case.outcome.name(), case.detail)));
    match case.outcome {
        ClientOutcome::Right | ClientOutcome::Reported => {
            let problem = case.requests.first()?;
            Some((Verdict::Fail, format!("invalid request: {}: {}", problem.rule, problem.message)))
        }
        ClientOutcome::NotExercised => Some((Verdict::NotExercised, case.detail.clone())),
        ClientOutcome::HarnessError => told(Verdict::HarnessError),
        ClientOutcome::Fragile | ClientOutcome::Wrong | ClientOutcome::Silent | ClientOutcome::Hung => {
            told(Verdict::Fail)
        }
    }
}
