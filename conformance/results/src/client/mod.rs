//! The report of a client.

use std::cmp::Reverse;

use catalogue::{TestRule, client_rule};
use serde::{Deserialize, Serialize};

use crate::parts::test::{self, causes};
use crate::{
    ExpectedFailure, FailOn, LevelChange, Outcome, ProfileReport, ProfileState, Shard, Step, Test, TestCause,
    TestFinding, Transport, Verdict, shell_word,
};

/// Version of the format. It increases when a member is removed or changes its meaning.
pub const CLIENT_RUN_VERSION: u32 = 2;

/// The results of a client for every case.
///
/// It is written as `client.json`, read again from there, and is all that any report knows. Texts in it may come from
/// a hostile client.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ClientRun {
    /// Version of this format.
    pub client_run: u32,
    /// Version of the suite.
    pub suite: String,
    /// The name of the client.
    pub client: String,
    /// Its version, if known.
    pub client_version: Option<String>,
    /// The command of the client.
    pub command: Vec<String>,
    /// Mode: `lines`, `spawn` or `server`.
    pub mode: String,
    /// The dialect of the server.
    pub dialect: String,
    /// The hash of its folder, if the dialect is not one of the suite.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialect_folder: Option<String>,
    /// The outcome.
    pub outcome: Outcome,
    /// The findings that fail the run.
    pub fail_on: FailOn,
    /// Rules with another level than their own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<LevelChange>,
    /// The part of the run, if it was made in parts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
    /// The time limit of a case in milliseconds, if one was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<u64>,
    /// Number of tests by outcome.
    pub totals: ClientTally,
    /// Duration of the run in milliseconds.
    pub ms: u64,
    /// Causes, the worst first.
    pub causes: Vec<TestCause>,
    /// The tests.
    pub tests: Vec<ClientTest>,
    /// The results, by profile.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub profiles: Vec<ProfileReport>,
    /// The profiles that the run was asked for. It passes only if they do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asked: Vec<String>,
    /// Whether only some of the cases were selected, so that no profile can be complete.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_part: bool,
    /// Expected failures that did not fail.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stale: Vec<String>,
    /// The folder that it was written to or read from, if there is one.
    #[serde(skip)]
    pub folder: Option<String>,
}

/// A test of a client. Its reason is the difference, or the reported error.
pub type ClientTest = Test<OfClient>;

/// A case, and the reaction of the client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct OfClient {
    /// The response that the client received, in one line.
    pub title: String,
    /// Its duty: `must-survive`, `must-report` or `either`.
    pub expect: String,
    /// Why it must.
    pub because: String,
    /// The authority for it.
    pub authority: String,
    /// The transport of the response.
    pub transport: Transport,
    /// The case that plays the same stream intact. A client that fails on it, too, does not fail for the edits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control: Option<String>,
    /// The outcome.
    pub outcome: ClientOutcome,
}

/// How the ids of rules about the requests of clients begin.
const OF_REQUESTS: &str = "client-request/";

/// Quotations and numbers in the message are of one case only.
fn finding(rule: &TestRule, message: &str) -> TestFinding {
    let kind = message.split(|c: char| c.is_ascii_digit() || "\"'(".contains(c)).next();
    TestFinding {
        rule: rule.id.to_owned(),
        level: rule.level,
        fails: false,
        message: message.to_owned(),
        kind: kind.unwrap_or_default().trim_end_matches([' ', ':', ',']).to_owned(),
        breaks: Vec::new(),
        upstream: String::new(),
        client: String::new(),
    }
}

/// The reaction of a client to a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ClientOutcome {
    /// It returned the answer.
    Right,
    /// It reported an error where one is allowed.
    Reported,
    /// It failed or crashed where it must survive.
    Fragile,
    /// It returned a different answer without an error.
    Wrong,
    /// It did not report a required error.
    Silent,
    /// It did not finish.
    Hung,
    /// It declared this as unsupported.
    NotExercised,
    /// Its reply could not be parsed.
    HarnessError,
}

impl ClientOutcome {
    /// All outcomes, in the order of reports.
    pub const ALL: [Self; 8] = [
        Self::Right,
        Self::Reported,
        Self::Fragile,
        Self::Wrong,
        Self::Silent,
        Self::Hung,
        Self::NotExercised,
        Self::HarnessError,
    ];

    /// Its name in reports, a symbol for tables, and what it means for the user of the client.
    const fn words(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Right => ("right", "✓", "it returned the answer"),
            Self::Reported => ("reported", "!", "it reported an error, as it may"),
            Self::Fragile => ("fragile", "✗", "it failed on a response that it must handle"),
            Self::Wrong => ("wrong", "≠", "it returned another answer without an error"),
            Self::Silent => ("silent", "∅", "it reported no error for a response that failed"),
            Self::Hung => ("hung", "∞", "it did not come to an end"),
            Self::NotExercised => {
                ("not exercised", "–", "it does not support this, or returned nothing to judge")
            }
            Self::HarnessError => ("harness error", "?", "its reply could not be read"),
        }
    }

    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        self.words().0
    }

    /// A symbol for tables.
    pub const fn sign(self) -> &'static str {
        self.words().1
    }

    /// Returns what it means for the user of the client.
    pub const fn meaning(self) -> &'static str {
        self.words().2
    }

    /// Returns the rule that it breaks, if it breaks one.
    pub fn rule(self) -> Option<&'static TestRule> {
        match self {
            Self::Fragile => client_rule("client/fragile"),
            Self::Wrong => client_rule("client/wrong"),
            Self::Silent => client_rule("client/silent"),
            Self::Hung => client_rule("client/hung"),
            Self::Right | Self::Reported | Self::NotExercised | Self::HarnessError => None,
        }
    }

    const fn verdict(self) -> Verdict {
        match self {
            Self::NotExercised => Verdict::NotExercised,
            Self::HarnessError => Verdict::HarnessError,
            _ => Verdict::Pass,
        }
    }

    /// Its severity.
    pub const fn rank(self) -> u8 {
        match self {
            Self::NotExercised => 0,
            Self::Right | Self::Reported => 1,
            Self::Fragile => 2,
            Self::HarnessError => 3,
            Self::Wrong | Self::Silent | Self::Hung => 4,
        }
    }
}

/// Number of tests by outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ClientTally {
    /// It returned the answer.
    pub right: u64,
    /// It reported an error where one is allowed.
    pub reported: u64,
    /// It failed where it must survive.
    pub fragile: u64,
    /// It returned a different answer.
    pub wrong: u64,
    /// It did not report a required error.
    pub silent: u64,
    /// It did not finish.
    pub hung: u64,
    /// It declared this as unsupported.
    pub not_exercised: u64,
    /// Its reply could not be parsed.
    pub harness_errors: u64,
    /// Tests with an invalid request.
    pub invalid_requests: u64,
}

impl ClientTally {
    /// Counts tests.
    pub fn of(tests: &[ClientTest]) -> Self {
        let mut tally = Self::default();
        for test in tests {
            *tally.place(test.about.outcome) += 1;
            tally.invalid_requests += u64::from(test.requests().next().is_some());
        }
        tally
    }

    /// The number of tests with this outcome.
    pub const fn count(mut self, outcome: ClientOutcome) -> u64 {
        *self.place(outcome)
    }

    const fn place(&mut self, outcome: ClientOutcome) -> &mut u64 {
        match outcome {
            ClientOutcome::Right => &mut self.right,
            ClientOutcome::Reported => &mut self.reported,
            ClientOutcome::Fragile => &mut self.fragile,
            ClientOutcome::Wrong => &mut self.wrong,
            ClientOutcome::Silent => &mut self.silent,
            ClientOutcome::Hung => &mut self.hung,
            ClientOutcome::NotExercised => &mut self.not_exercised,
            ClientOutcome::HarnessError => &mut self.harness_errors,
        }
    }
}

impl Test<OfClient> {
    /// Creates a test with its findings: what the client did, and the problems of its requests, by their rules.
    pub fn of_client(name: &str, about: OfClient, reason: String, requests: &[(&str, &str)]) -> Self {
        let of_outcome = about.outcome.rule().map(|rule| finding(rule, &reason));
        let of_request = |(rule, message): &(&str, &str)| {
            client_rule(&format!("{OF_REQUESTS}{rule}")).map(|rule| finding(rule, message))
        };
        let findings = of_outcome.into_iter().chain(requests.iter().filter_map(of_request)).collect();
        Self {
            name: name.to_owned(),
            verdict: about.outcome.verdict(),
            reason,
            findings,
            files: Vec::new(),
            hash: String::new(),
            expected: None,
            ms: 0,
            about,
        }
    }

    /// The problems of its requests.
    pub fn requests(&self) -> impl Iterator<Item = &TestFinding> {
        self.findings.iter().filter(|finding| finding.rule.starts_with(OF_REQUESTS))
    }

    /// Its group of cases.
    pub fn group(&self) -> &str {
        catalogue::group(&self.name)
    }
}

impl ClientRun {
    /// Returns the run with verdicts, totals, causes and the outcome computed from its findings, levels and profiles.
    #[must_use]
    pub fn concluded(mut self) -> Self {
        for at in 0..self.tests.len() {
            let is_demanded = self.is_failing(&self.tests[at].name);
            let test = &mut self.tests[at];
            test.verdict = test.about.outcome.verdict();
            test.conclude(self.fail_on, &self.levels, is_demanded);
        }
        self.totals = ClientTally::of(&self.tests);
        self.causes = causes(&self.tests, |test| test.group().to_owned());
        let has_unmet = |outcome| self.unmet().any(|(_, unmet)| unmet == outcome);
        self.outcome = match test::outcome(&self.tests, &self.stale) {
            Outcome::Failed => Outcome::Failed,
            _ if has_unmet(Outcome::Failed) => Outcome::Failed,
            Outcome::Passed if has_unmet(Outcome::Incomplete) => Outcome::Incomplete,
            outcome => outcome,
        };
        self
    }

    /// Returns the concluded run, in which failures of this list are expected.
    #[must_use]
    pub fn expecting(self, expected: &[ExpectedFailure]) -> Self {
        let mut run = self.concluded();
        run.stale = test::expect(&mut run.tests, expected);
        run.concluded()
    }

    /// Returns whether a reply could not be read, or no case was exercised.
    pub fn is_untested(&self) -> bool {
        let is_idle = self.tests.iter().all(|test| test.about.outcome == ClientOutcome::NotExercised);
        self.totals.harness_errors > 0 || is_idle
    }

    /// A profile that the run was asked for fails because of the test.
    fn is_failing(&self, name: &str) -> bool {
        let asked = self.profiles.iter().filter(|profile| self.asked.contains(&profile.name));
        asked
            .flat_map(|profile| &profile.reasons)
            .any(|reason| reason.verdict == Verdict::Fail && reason.name == name)
    }

    /// The profiles that the run was asked for and that keep it from passing. Expected failures do not.
    pub fn unmet(&self) -> impl Iterator<Item = (&ProfileReport, Outcome)> {
        let is_expected =
            |name: &str| self.tests.iter().any(|test| test.name == name && test.expected.is_some());
        self.profiles.iter().filter(|profile| self.asked.contains(&profile.name)).filter_map(move |profile| {
            let has_failed = profile
                .reasons
                .iter()
                .any(|reason| reason.verdict != Verdict::NotExercised && !is_expected(&reason.name));
            match profile.state {
                ProfileState::Failed if has_failed => Some((profile, Outcome::Failed)),
                ProfileState::Incomplete | ProfileState::NotApplicable
                    if !self.is_part && self.shard.is_none() =>
                {
                    Some((profile, Outcome::Incomplete))
                }
                _ => None,
            }
        })
    }

    /// The tests that did not end as they must, the worst first.
    pub fn bad(&self) -> Vec<&ClientTest> {
        let mut bad: Vec<_> = self.tests.iter().filter(|test| test.about.outcome.rank() > 1).collect();
        bad.sort_by_key(|test| Reverse(test.about.outcome.rank()));
        bad
    }

    /// The tests that fail the run, or could not be judged.
    pub fn failed(&self) -> impl Iterator<Item = &ClientTest> {
        self.tests.iter().filter(|test| test.is_due())
    }

    /// The command that runs a test again.
    pub fn command_of(&self, name: &str) -> String {
        let mode =
            if self.mode == "lines" { String::new() } else { format!(" --mode {}", shell_word(&self.mode)) };
        let words: Vec<_> = self.command.iter().map(|word| shell_word(word)).collect();
        let command = if words.is_empty() { String::new() } else { format!(" -- {}", words.join(" ")) };
        format!("conformance client{mode}{} {}{command}", self.dialect_flag(), shell_word(name))
    }

    /// Suggested steps.
    pub fn next(&self) -> Vec<Step> {
        let mut steps = Vec::new();
        let bad = self.bad();
        let Some(first) = bad.iter().find(|test| test.expected.is_none()).or(bad.first()) else {
            return steps;
        };
        let (dialect, name) = (self.dialect_flag(), shell_word(&first.name));
        steps.push(Step::new(
            format!("show what {} plays, and what is expected", first.name),
            format!("conformance client --show {name}{dialect}"),
        ));
        if self.command.is_empty() {
            return steps;
        }
        steps.push(match &self.folder {
            Some(folder) if self.failed().next().is_some() => Step::new(
                "run only the failed tests again",
                format!("conformance client --rerun-failed {}", shell_word(folder)),
            ),
            _ => Step::new(format!("run only {} again", first.name), self.command_of(&first.name)),
        });
        steps
    }

    /// The flag for its dialect, unless that is the default one.
    pub fn dialect_flag(&self) -> String {
        match (&*self.dialect, &self.dialect_folder, &self.folder) {
            ("openai", ..) => String::new(),
            (name, None, _) => format!(" --dialect {}", shell_word(name)),
            (name, Some(_), Some(run)) => {
                format!(" --dialect {}", shell_word(&format!("{run}/dialect/{name}")))
            }
            (name, Some(_), None) => format!(" --dialect {}", shell_word(&format!("./{name}"))),
        }
    }

    /// The dialect, and that it is not one of the suite, if so.
    pub fn dialect_in_words(&self) -> String {
        crate::dialect_in_words(&self.dialect, self.dialect_folder.as_deref())
    }

    /// Its name and version.
    pub fn title(&self) -> String {
        match &self.client_version {
            Some(version) => format!("{} {version}", self.client),
            None => self.client.clone(),
        }
    }
}
