//! Tests of clients and gateways, and what follows from their findings: verdicts, causes, and how a run ends.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use catalogue::Level;
use checker::LevelName;
use serde::{Deserialize, Serialize};

use super::moment::BetweenMoment;
use crate::text::counted;
use crate::{FailOn, LevelChange, Outcome, PlayedResponse, Verdict};

/// A test and its verdict. `about` has what only clients or only gateways have.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Test<A> {
    /// Its name.
    pub name: String,
    /// The verdict.
    pub verdict: Verdict,
    /// Why it was not run or not judged; of a client, what it did.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// The findings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<TestFinding>,
    /// The recordings, relative to the folder of the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// SHA-256 of its files, if they were written.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub hash: String,
    /// Reason of an expected failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// Duration in milliseconds.
    pub ms: u64,
    /// The case.
    #[serde(flatten)]
    pub about: A,
}

/// A finding of a test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct TestFinding {
    /// The rule: of clients, of both ends of a gateway, or of the client's API.
    pub rule: String,
    /// Its level.
    #[serde(with = "LevelName")]
    pub level: Level,
    /// Whether it fails the run.
    pub fails: bool,
    /// The fault.
    pub message: String,
    /// The key by which two findings of a rule have the same cause, such as the name of a member.
    pub kind: String,
    /// Clients that are measured to break on it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub breaks: Vec<String>,
    /// The excerpt of the upstream.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub upstream: String,
    /// The excerpt of the client.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub client: String,
}

/// A cause: the findings of a rule of the same kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct TestCause {
    /// The rule.
    pub rule: String,
    /// The kind of its findings.
    pub kind: String,
    /// The worst level.
    #[serde(with = "LevelName")]
    pub level: Level,
    /// Whether it fails the run.
    pub fails: bool,
    /// Where it occurs: pairs of APIs as `FRONT-UPSTREAM`, or groups of cases of a client.
    pub groups: Vec<String>,
    /// Number of tests.
    pub tests: u64,
    /// The smallest example: the numbers of its test and of the finding in it.
    pub first: [usize; 2],
    /// The messages of both sides of a gateway in that test, in time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub timeline: Vec<BetweenMoment>,
    /// How agents are harmed by what breaks the rule, as far as they were run with it: a sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<String>,
    /// The outcomes of clients with the gateway's response in that test, if it was played to them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub played: Option<PlayedResponse>,
}

impl TestCause {
    /// Returns whether it is shown from a level on: one that fails is shown whatever its level is.
    pub fn is_shown(&self, from: Level) -> bool {
        self.level >= from || self.fails
    }
}

/// An expected failure: a rule in some tests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedFailure {
    /// The rule.
    pub rule: String,
    /// The tests.
    pub tests: Vec<String>,
    /// The reason.
    pub reason: String,
}

impl<A> Test<A> {
    /// Returns whether it fails the run.
    pub fn has_failed(&self) -> bool {
        self.verdict == Verdict::Fail && self.expected.is_none()
    }

    /// Returns whether it fails the run, or could not be judged.
    pub fn is_due(&self) -> bool {
        self.has_failed() || self.verdict == Verdict::HarnessError
    }

    /// `is_demanded`: all that is wrong with it fails.
    pub(crate) fn conclude(&mut self, fail_on: FailOn, levels: &[LevelChange], is_demanded: bool) {
        for finding in &mut self.findings {
            if let Some(change) = levels.iter().find(|change| change.rule == finding.rule) {
                // A doubtful finding has a lower level than its rule.
                let is_usual = finding.level == change.usual;
                finding.level = if is_usual { change.level } else { finding.level.min(change.level) };
            }
            finding.fails = is_demanded || fail_on.fails_with(finding.level, !finding.breaks.is_empty());
        }
        self.findings.retain(|finding| finding.level != Level::Off);
        let fails = self.findings.iter().any(|finding| finding.fails);
        self.verdict = match self.verdict {
            Verdict::Pass | Verdict::Fail if !fails => Verdict::Pass,
            Verdict::HarnessError | Verdict::NotExercised if !fails => self.verdict,
            Verdict::HarnessError => Verdict::HarnessError,
            Verdict::Pass | Verdict::Fail | Verdict::NotExercised => Verdict::Fail,
        };
        self.expected = self.expected.take().filter(|_| self.verdict == Verdict::Fail);
    }

    /// The test fails as expected if all of its findings that fail are listed. Returns what is listed and does not fail.
    fn expect(&mut self, expected: &[ExpectedFailure]) -> Vec<String> {
        let of_test = || expected.iter().filter(|known| known.tests.contains(&self.name));
        let reason = |finding: &TestFinding| of_test().find(|known| known.rule == finding.rule);
        let failing = || self.findings.iter().filter(|finding| finding.fails);
        let reasons: Option<BTreeSet<&str>> =
            failing().map(|finding| reason(finding).map(|known| &*known.reason)).collect();
        let is_over = |known: &&ExpectedFailure| !failing().any(|finding| finding.rule == known.rule);
        let is_judged = matches!(self.verdict, Verdict::Pass | Verdict::Fail);
        let over = of_test().filter(|_| is_judged).filter(is_over);
        let over = over.map(|known| format!("{} in {}", known.rule, self.name)).collect();
        let reasons = reasons.unwrap_or_default().into_iter().collect::<Vec<_>>().join("; ");
        self.expected = Some(reasons).filter(|reasons| !reasons.is_empty());
        over
    }
}

/// The result is what is listed and does not fail.
pub(crate) fn expect<A>(tests: &mut [Test<A>], expected: &[ExpectedFailure]) -> Vec<String> {
    let mut stale: Vec<String> = tests.iter_mut().flat_map(|test| test.expect(expected)).collect();
    stale.sort_unstable();
    stale
}

pub(crate) fn outcome<A>(tests: &[Test<A>], stale: &[String]) -> Outcome {
    let has = |verdict| tests.iter().any(|test| test.verdict == verdict);
    match () {
        () if tests.iter().any(Test::has_failed) || !stale.is_empty() => Outcome::Failed,
        () if has(Verdict::HarnessError) || !has(Verdict::Pass) && !has(Verdict::Fail) => Outcome::Incomplete,
        () => Outcome::Passed,
    }
}

/// The number of causes, of those that fail first; every report has the same.
pub fn cause_counts(causes: &[TestCause]) -> String {
    let failing = causes.iter().filter(|cause| cause.fails).count();
    match causes.len() - failing {
        0 => counted(failing as u64, "cause"),
        others if failing == 0 => format!("{}, none fails", counted(others as u64, "cause")),
        others => format!("{} that fail, {others} that do not", counted(failing as u64, "cause")),
    }
}

struct CauseSoFar {
    cause: TestCause,
    /// How good its example is: the least is the best.
    rank: (bool, usize),
    /// The last test that was counted.
    last: usize,
}

/// Groups findings by rule and kind, the worst first.
pub(crate) fn causes<A>(tests: &[Test<A>], group: impl Fn(&Test<A>) -> String) -> Vec<TestCause> {
    let mut all: BTreeMap<(&str, &str), CauseSoFar> = BTreeMap::new();
    for (at, test) in tests.iter().enumerate() {
        for (number, finding) in test.findings.iter().enumerate() {
            let fails = finding.fails && test.expected.is_none();
            let rank = (!fails, finding.upstream.len() + finding.client.len());
            let found = all.entry((&finding.rule, &finding.kind)).or_insert_with(|| CauseSoFar {
                cause: TestCause {
                    rule: finding.rule.clone(),
                    kind: finding.kind.clone(),
                    level: finding.level,
                    fails: false,
                    groups: Vec::new(),
                    tests: 0,
                    first: [at, number],
                    timeline: Vec::new(),
                    agents: Vec::new(),
                    played: None,
                },
                rank,
                last: usize::MAX,
            });
            if rank < found.rank {
                (found.rank, found.cause.first) = (rank, [at, number]);
            }
            let cause = &mut found.cause;
            cause.level = cause.level.max(finding.level);
            cause.fails |= fails;
            cause.tests += u64::from(found.last != at);
            found.last = at;
            let group = group(test);
            if !cause.groups.contains(&group) {
                cause.groups.push(group);
            }
        }
    }
    let breaking = tests.iter().flat_map(|test| &test.findings).filter(|finding| !finding.breaks.is_empty());
    let all_breaks: BTreeSet<(&str, &str)> =
        breaking.map(|finding| (&*finding.rule, &*finding.kind)).collect();
    let mut causes: Vec<TestCause> = all.into_values().map(|found| found.cause).collect();
    // The sort is stable: equal causes stay in the order of names.
    causes.sort_by_key(|cause| {
        let breaks = all_breaks.contains(&(&*cause.rule, &*cause.kind));
        let worst = Reverse((cause.fails, cause.level));
        (worst, harm(&cause.rule, breaks), Reverse((cause.tests, cause.groups.len())))
    });
    causes
}

/// The example of a cause, and its test.
pub fn first_of<'t, A>(tests: &'t [Test<A>], cause: &TestCause) -> Option<(&'t Test<A>, &'t TestFinding)> {
    let [test, finding] = cause.first;
    let test = tests.get(test)?;
    Some((test, test.findings.get(finding)?))
}

/// Rules and groups by the harm that is done where they are broken, the worst first. A request that is invalid, or an answer
/// that is none, has others as effects; then comes what ends the loop of an agent.
const HARM: [&[&str]; 3] = [
    &["keys/", "request/schema", "answer/kind", "fault/malformed"],
    &[
        "answer/arguments",
        "answer/calls",
        "answer/ids",
        "answer/stop",
        "call/",
        "request/results",
        "request/tool-choice",
        "request/tools",
        "stop/call-means-tool-use",
        "tool-call/",
        "tool-use/",
    ],
    &["answer/order", "answer/text", "fault/false-complete", "fault/hung", "fault/replay"],
];

/// The place of the rule in the order of harm.
fn harm(rule: &str, breaks_clients: bool) -> usize {
    let is_it = |known: &&str| rule == *known || known.ends_with('/') && rule.starts_with(known);
    let known = HARM.iter().position(|rules| rules.iter().any(is_it));
    known.unwrap_or(HARM.len() - usize::from(breaks_clients))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_harmful_is_known() {
        for name in HARM.into_iter().flatten() {
            let is_it = |id: &str| id == *name || name.ends_with('/') && id.starts_with(name);
            let own = catalogue::BETWEEN_RULES.iter().any(|rule| is_it(rule.id));
            assert!(own || catalogue::RULES.iter().any(|rule| is_it(rule.id)), "{name}");
        }
        assert!(harm("answer/stop", false) < harm("message/model-asked", false));
    }
}
