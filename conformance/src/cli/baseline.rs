//! Failures that are known, in a file of the user's.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use catalogue::SCENARIOS;
use clap::Args;
use serde::Deserialize;

use super::names;
use harness::suite::{Known, Suite};

/// What is known to fail.
#[derive(Debug, Args)]
#[command(next_help_heading = "Known failures")]
pub(super) struct BaselineArgs {
    /// Bear the failures that this file lists; it fails when one of them is over.
    #[arg(long, value_name = "FILE", conflicts_with = "capture")]
    expected_failures: Option<PathBuf>,
    /// Write all failures to this file, for --expected-failures, instead of failing by them. Reasons that are
    /// known are kept.
    #[arg(long, value_name = "FILE", conflicts_with = "capture")]
    write_expected_failures: Option<PathBuf>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct BaselineFile {
    #[serde(default)]
    failure: Vec<Known>,
}

/// Tests that fail by themselves, not by rules.
const TESTS: [&str; 2] = ["answer", "agrees"];

impl BaselineArgs {
    /// Adds what is known to a suite.
    pub(super) fn add(&self, suite: Suite, is_one_of_several: bool) -> Result<Suite> {
        let files = self.expected_failures.iter().chain(&self.write_expected_failures);
        if is_one_of_several && files.count() > 0 {
            bail!("failures are expected of one dialect at a time: name it with --dialect");
        }
        let mut suite = suite;
        if let Some(file) = &self.expected_failures {
            suite = suite.expecting(read(file)?);
        }
        if let Some(file) = &self.write_expected_failures {
            if file.exists() && Some(file) != self.expected_failures.as_ref() {
                bail!(
                    "{} is there already: with --expected-failures, too, its reasons are kept; or name another file",
                    file.display()
                );
            }
            suite = suite.listing_failures(file);
        }
        Ok(suite)
    }
}

fn read(path: &Path) -> Result<Vec<Known>> {
    let name = path.display().to_string();
    let text = fs::read_to_string(path).with_context(|| name.clone())?;
    let file: BaselineFile = toml::from_str(&text).with_context(|| name.clone())?;
    let mut seen = BTreeSet::new();
    for known in &file.failure {
        check(known, &mut seen).with_context(|| name.clone())?;
    }
    Ok(file.failure)
}

fn check<'k>(known: &'k Known, seen: &mut BTreeSet<(&'k str, &'k str)>) -> Result<()> {
    let Known { rule, scenarios, reason } = known;
    if !TESTS.contains(&rule.as_str()) {
        names::rule(rule)?;
    }
    if scenarios.is_empty() {
        bail!("{rule}: it names no scenario in which it is known to be broken");
    }
    for scenario in scenarios {
        // A scenario that is sent in several ways has names with an ending.
        let id = scenario.split('.').next().unwrap_or(scenario);
        if catalogue::scenario(id).is_none() {
            let hint = names::meant(id, SCENARIOS.iter().map(|scenario| scenario.id));
            bail!(
                "{rule}: there is no scenario \"{scenario}\"{hint}; `conformance list scenarios` names them all"
            );
        }
        if !seen.insert((rule, scenario)) {
            bail!("{rule} in {scenario} is listed twice");
        }
    }
    if reason.trim().is_empty() {
        bail!("{rule}: it has no reason; say why it fails, and why that is borne");
    }
    Ok(())
}
