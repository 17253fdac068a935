//! Expected failures of runs against an endpoint.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use catalogue::SCENARIOS;

use super::expected::{self, ExpectedArgs};
use crate::cli::input::names;
use harness::suite::{KnownFailure, Suite, file_of};
use spec::table::Fallback;

/// Tests that fail without a rule.
const TESTS: [&str; 2] = ["answer", "agrees"];

impl ExpectedArgs {
    pub(in crate::cli) fn add(&self, suite: Suite, is_one_of_several: bool) -> Result<Suite> {
        let dialect = suite.dialect();
        let own = |file: &PathBuf| {
            if is_one_of_several { file_of(file, dialect.name) } else { file.clone() }
        };
        let mut suite = suite;
        if let Some(file) = &self.expected_failures {
            let own = own(file);
            // The file of a run in one dialect still has the name from when there was one API.
            if own.exists() {
                suite = suite.expected_failures(read(&own)?);
            } else if dialect.fallback == Fallback::Any || !is_one_of_several {
                suite = suite.expected_failures(read(file)?);
            }
        }
        if let Some(given) = &self.write_expected_failures {
            let file = &own(given);
            self.check_room(given, file)?;
            suite = suite.write_failures_to(file);
        }
        Ok(suite)
    }
}

fn read(path: &Path) -> Result<Vec<KnownFailure>> {
    let mut seen = BTreeSet::new();
    expected::read(path, |known| check(known, &mut seen))
}

fn check(known: &KnownFailure, seen: &mut BTreeSet<(String, String)>) -> Result<()> {
    let KnownFailure { rule, scenarios, reason } = known;
    if !TESTS.contains(&rule.as_str()) {
        names::rule(rule)?;
    }
    if scenarios.is_empty() {
        bail!("{rule}: `scenarios` is empty; list those that break the rule");
    }
    for scenario in scenarios {
        // Names of cases have a suffix for the transport.
        let id = scenario.split('.').next().unwrap_or(scenario);
        if catalogue::scenario(id).is_none() {
            let hint = names::meant(id, SCENARIOS.iter().map(|scenario| scenario.id));
            bail!(
                "{rule}: there is no scenario \"{scenario}\"{hint}; `conformance list scenarios` lists them all"
            );
        }
        if !seen.insert((rule.clone(), scenario.clone())) {
            bail!("{rule} in {scenario} is listed twice");
        }
    }
    expected::reason(rule, reason)
}
