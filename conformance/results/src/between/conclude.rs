//! Verdicts, totals and causes of a run, from the findings of its tests.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use catalogue::Level;
use serde::{Deserialize, Serialize};

use super::{BetweenCause, BetweenFinding, BetweenRun, BetweenTest};
use crate::text::counted;
use crate::{LevelChange, Outcome, Verdict};

/// An expected failure: a rule in some tests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedBetween {
    /// The rule.
    pub rule: String,
    /// The tests.
    pub tests: Vec<String>,
    /// The reason.
    pub reason: String,
}

impl BetweenTest {
    /// Returns its pair of APIs, `FRONT-UPSTREAM`.
    pub fn pair(&self) -> String {
        format!("{}-{}", self.front, self.upstream)
    }

    /// Returns its name without the pair.
    pub fn short_name(&self) -> &str {
        self.name.split_once('/').map_or(&self.name, |(_, name)| name)
    }

    /// Returns whether it fails the run.
    pub fn has_failed(&self) -> bool {
        self.verdict == Verdict::Fail && self.expected.is_none()
    }
}

impl BetweenRun {
    /// Returns the run with verdicts, totals, causes and the outcome computed from its findings and its levels. Twice is the
    /// same as once.
    #[must_use]
    pub fn concluded(mut self) -> Self {
        let levels: BTreeMap<String, LevelChange> =
            self.levels.iter().map(|change| (change.rule.clone(), change.clone())).collect();
        let fail_on = self.fail_on;
        for test in &mut self.tests {
            for finding in &mut test.findings {
                if let Some(change) = levels.get(&finding.rule) {
                    // What is doubtful has a lower level than its rule.
                    let is_usual = finding.level == change.usual;
                    finding.level = if is_usual { change.level } else { finding.level.min(change.level) };
                }
                finding.fails = fail_on.fails_with(finding.level, !finding.breaks.is_empty());
            }
            test.findings.retain(|finding| finding.level != Level::Off);
            if matches!(test.verdict, Verdict::Pass | Verdict::Fail) {
                let fails = test.findings.iter().any(|finding| finding.fails);
                test.verdict = if fails { Verdict::Fail } else { Verdict::Pass };
            }
            test.expected = test.expected.take().filter(|_| test.verdict == Verdict::Fail);
        }
        for pair in &mut self.pairs {
            let own = |test: &&BetweenTest| test.front == pair.front && test.upstream == pair.upstream;
            let count = |verdicts: &[Verdict]| {
                self.tests.iter().filter(own).filter(|test| verdicts.contains(&test.verdict)).count() as u64
            };
            let passed = count(&[Verdict::Pass]);
            let failed = count(&[Verdict::Fail]);
            let skipped = count(&[Verdict::NotExercised, Verdict::HarnessError]);
            (pair.passed, pair.failed, pair.skipped) = (passed, failed, skipped);
        }
        let known = std::mem::take(&mut self.causes);
        self.causes = causes(&self.tests);
        for cause in &mut self.causes {
            let same = known.iter().find(|known| {
                known.rule == cause.rule && known.kind == cause.kind && known.first == cause.first
            });
            let example = self.tests.get(cause.first[0]).filter(|test| !test.moments.is_empty());
            cause.timeline = example
                .map(|test| test.moments.clone())
                .or_else(|| same.map(|known| known.timeline.clone()))
                .unwrap_or_default();
            cause.played = same.and_then(|known| known.played.clone());
        }
        let has = |verdict| self.tests.iter().any(|test| test.verdict == verdict);
        self.outcome = match () {
            () if self.tests.iter().any(BetweenTest::has_failed) || !self.stale.is_empty() => Outcome::Failed,
            () if has(Verdict::HarnessError) || !has(Verdict::Pass) && !has(Verdict::Fail) => {
                Outcome::Incomplete
            }
            () => Outcome::Passed,
        };
        self
    }

    /// Returns the concluded run, in which failures of this list are expected. A test fails as expected if all of its
    /// findings that fail are listed; what is listed and does not fail is stale.
    #[must_use]
    pub fn expecting(self, expected: &[ExpectedBetween]) -> Self {
        let mut run = self.concluded();
        let reason = |rule: &str, test: &str| {
            let is_it =
                |known: &&ExpectedBetween| known.rule == rule && known.tests.iter().any(|name| name == test);
            expected.iter().find(is_it).map(|known| known.reason.clone())
        };
        let mut stale = BTreeSet::new();
        for test in &mut run.tests {
            let failing = test.findings.iter().filter(|finding| finding.fails);
            let reasons: Option<BTreeSet<String>> =
                failing.map(|finding| reason(&finding.rule, &test.name)).collect();
            let reasons = reasons.unwrap_or_default().into_iter().collect::<Vec<_>>().join("; ");
            test.expected = Some(reasons).filter(|reasons| !reasons.is_empty());
            if !matches!(test.verdict, Verdict::Pass | Verdict::Fail) {
                continue;
            }
            for known in expected.iter().filter(|known| known.tests.contains(&test.name)) {
                let fails = |finding: &BetweenFinding| finding.fails && finding.rule == known.rule;
                if !test.findings.iter().any(fails) {
                    stale.insert(format!("{} in {}", known.rule, test.name));
                }
            }
        }
        run.stale = stale.into_iter().collect();
        run.concluded()
    }

    /// Returns the example of a cause, and its test.
    pub fn first_of(&self, cause: &BetweenCause) -> Option<(&BetweenTest, &BetweenFinding)> {
        let [test, finding] = cause.first;
        let test = self.tests.get(test)?;
        Some((test, test.findings.get(finding)?))
    }

    /// Returns the number of causes, of those that fail first; every report has the same.
    pub fn cause_counts(&self) -> String {
        let failing = self.causes.iter().filter(|cause| cause.fails).count();
        match self.causes.len() - failing {
            0 => counted(failing as u64, "cause"),
            others if failing == 0 => format!("{}, none fails", counted(others as u64, "cause")),
            others => format!("{} that fail, {others} that do not", counted(failing as u64, "cause")),
        }
    }

    /// Returns the tests that fail the run, or could not be judged.
    pub fn failed(&self) -> impl Iterator<Item = &BetweenTest> {
        self.tests.iter().filter(|test| test.has_failed() || test.verdict == Verdict::HarnessError)
    }

    /// Returns the number of tests with a verdict.
    pub fn count(&self, verdict: Verdict) -> u64 {
        self.tests.iter().filter(|test| test.verdict == verdict).count() as u64
    }

    /// Returns what pairs of APIs cannot carry, each rule with its reason once, with the number of tests.
    pub fn limits(&self) -> Vec<(&str, &str, u64)> {
        let mut all: BTreeMap<(&str, &str), u64> = BTreeMap::new();
        for [rule, reason] in self.tests.iter().flat_map(|test| &test.limits) {
            *all.entry((rule, reason)).or_default() += 1;
        }
        all.into_iter().map(|((rule, reason), tests)| (rule, reason, tests)).collect()
    }
}

/// What is known of a cause while its findings are read.
struct Found {
    cause: BetweenCause,
    /// How good its example is: the least is the best.
    rank: (bool, usize),
    /// The last test that was counted.
    last: usize,
}

/// Groups findings by rule and kind, the worst first.
fn causes(tests: &[BetweenTest]) -> Vec<BetweenCause> {
    let mut all: BTreeMap<(&str, &str), Found> = BTreeMap::new();
    for (at, test) in tests.iter().enumerate() {
        for (number, finding) in test.findings.iter().enumerate() {
            let fails = finding.fails && test.expected.is_none();
            let rank = (!fails, finding.upstream.len() + finding.client.len());
            let found = all.entry((&finding.rule, &finding.kind)).or_insert_with(|| Found {
                cause: BetweenCause {
                    rule: finding.rule.clone(),
                    kind: finding.kind.clone(),
                    level: finding.level,
                    fails: false,
                    pairs: Vec::new(),
                    tests: 0,
                    first: [at, number],
                    timeline: Vec::new(),
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
            let pair = test.pair();
            if !cause.pairs.contains(&pair) {
                cause.pairs.push(pair);
            }
        }
    }
    let breaking = tests.iter().flat_map(|test| &test.findings).filter(|finding| !finding.breaks.is_empty());
    let all_breaks: BTreeSet<(&str, &str)> =
        breaking.map(|finding| (&*finding.rule, &*finding.kind)).collect();
    let mut causes: Vec<BetweenCause> = all.into_values().map(|found| found.cause).collect();
    // The sort is stable: equal causes stay in the order of names.
    causes.sort_by_key(|cause| {
        let breaks = all_breaks.contains(&(&*cause.rule, &*cause.kind));
        let worst = Reverse((cause.fails, cause.level));
        (worst, harm(&cause.rule, breaks), Reverse((cause.tests, cause.pairs.len())))
    });
    causes
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

/// Returns the place of a rule in the order of harm.
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
