//! Verdicts, totals and causes of a run, from the findings of its tests.

use std::collections::{BTreeMap, BTreeSet};

use catalogue::{AGENT_PROFILES, Agent, AgentProfile, agents_harmed};

use super::{BetweenRun, BetweenTest, OfPair};
use crate::parts::test::{self, causes};
use crate::{ExpectedFailure, Test, TestCause, TestFinding, Verdict};

impl Test<OfPair> {
    /// Its pair of APIs, `FRONT-UPSTREAM`.
    pub fn pair(&self) -> String {
        format!("{}-{}", self.about.front, self.about.upstream)
    }

    /// Its name without the pair.
    pub fn short_name(&self) -> &str {
        self.name.split_once('/').map_or(&self.name, |(_, name)| name)
    }
}

impl BetweenRun {
    /// Returns the run with verdicts, totals, causes and the outcome computed from its findings and its levels. Twice is the
    /// same as once.
    #[must_use]
    pub fn concluded(mut self) -> Self {
        for test in &mut self.tests {
            test.conclude(self.fail_on, &self.levels, false);
        }
        for pair in &mut self.pairs {
            let is_own =
                |test: &&BetweenTest| test.about.front == pair.front && test.about.upstream == pair.upstream;
            let count = |verdicts: &[Verdict]| {
                self.tests.iter().filter(is_own).filter(|test| verdicts.contains(&test.verdict)).count()
                    as u64
            };
            let passed = count(&[Verdict::Pass]);
            let failed = count(&[Verdict::Fail]);
            let skipped = count(&[Verdict::NotExercised, Verdict::HarnessError]);
            (pair.passed, pair.failed, pair.skipped) = (passed, failed, skipped);
        }
        let known = std::mem::take(&mut self.causes);
        self.causes = causes(&self.tests, BetweenTest::pair);
        let played = |profile: &&AgentProfile| self.profiles.contains(profile.name());
        let players: Vec<&str> = AGENT_PROFILES.iter().filter(played).map(|profile| profile.agent).collect();
        // Without profiles, no agent plays, and each could be behind the gateway.
        let plays = |agent: &Agent| players.is_empty() || players.contains(&agent.id);
        for cause in &mut self.causes {
            let same = known.iter().find(|known| {
                known.rule == cause.rule && known.kind == cause.kind && known.first == cause.first
            });
            let example = self.tests.get(cause.first[0]).filter(|test| !test.about.moments.is_empty());
            cause.timeline = example
                .map(|test| test.about.moments.clone())
                .or_else(|| same.map(|known| known.timeline.clone()))
                .unwrap_or_default();
            let fronts: BTreeSet<&str> =
                cause.groups.iter().filter_map(|pair| Some(pair.split_once('-')?.0)).collect();
            let harmed = fronts.into_iter().flat_map(|api| agents_harmed(api, &cause.rule));
            cause.agents = harmed.filter(|(agent, _)| plays(agent)).map(|(_, how)| how).collect();
            cause.played = same.and_then(|known| known.played.clone());
        }
        self.outcome = test::outcome(&self.tests, &self.stale);
        self
    }

    /// Returns the concluded run, in which failures of this list are expected. A test fails as expected if all of its
    /// findings that fail are listed; what is listed and does not fail is stale.
    #[must_use]
    pub fn expecting(self, expected: &[ExpectedFailure]) -> Self {
        let mut run = self.concluded();
        run.stale = test::expect(&mut run.tests, expected);
        run.concluded()
    }

    /// The example of a cause, and its test.
    pub fn first_of(&self, cause: &TestCause) -> Option<(&BetweenTest, &TestFinding)> {
        test::first_of(&self.tests, cause)
    }

    /// The tests that fail the run, or could not be judged.
    pub fn failed(&self) -> impl Iterator<Item = &BetweenTest> {
        self.tests.iter().filter(|test| test.is_due())
    }

    /// The number of tests with a verdict.
    pub fn count(&self, verdict: Verdict) -> u64 {
        self.tests.iter().filter(|test| test.verdict == verdict).count() as u64
    }

    /// Returns what pairs of APIs cannot carry, each rule with its reason once, with the number of tests.
    pub fn limits(&self) -> Vec<(&str, &str, u64)> {
        let mut all: BTreeMap<(&str, &str), u64> = BTreeMap::new();
        for [rule, reason] in self.tests.iter().flat_map(|test| &test.about.limits) {
            *all.entry((rule, reason)).or_default() += 1;
        }
        all.into_iter().map(|((rule, reason), tests)| (rule, reason, tests)).collect()
    }
}
