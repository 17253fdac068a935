//! Files of expected failures.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Result, bail};
use serde_json::Value;

use super::levels;
use crate::cli::expected;
use results::{BetweenRun, ExpectedBetween};

/// Reads expected failures. Rules must be known.
pub(super) fn read(file: &Path) -> Result<Vec<ExpectedBetween>> {
    let mut seen = BTreeSet::new();
    expected::read(file, |known: &ExpectedBetween| {
        levels::known_rule(&known.rule)?;
        if known.tests.is_empty() {
            bail!("{}: `tests` is empty; list those that fail", known.rule);
        }
        for test in &known.tests {
            if !seen.insert((known.rule.clone(), test.clone())) {
                bail!("{} in {test} is listed twice", known.rule);
            }
        }
        expected::reason(&known.rule, &known.reason)
    })
}

/// Returns all failures as a file to expect them by. Reasons that are known stay.
pub(super) fn failures(run: &BetweenRun, expected: &[ExpectedBetween]) -> String {
    let reason = |rule: &str, test: &str| {
        let is_it =
            |known: &&ExpectedBetween| known.rule == rule && known.tests.iter().any(|name| name == test);
        expected.iter().find(is_it).map(|known| known.reason.clone()).unwrap_or_default()
    };
    let mut all: BTreeMap<(&str, String), BTreeSet<&str>> = BTreeMap::new();
    for test in &run.tests {
        for finding in test.findings.iter().filter(|finding| finding.fails) {
            all.entry((&finding.rule, reason(&finding.rule, &test.name))).or_default().insert(&test.name);
        }
    }
    let mut text =
        "# Expected failures for `conformance between --expected-failures`. Each needs a reason.\n"
            .to_owned();
    for ((rule, reason), tests) in all {
        let _ = writeln!(text, "\n[[failure]]\nrule = {}\ntests = [", Value::from(rule));
        for test in tests {
            let _ = writeln!(text, "  {},", Value::from(test));
        }
        let _ = writeln!(text, "]\nreason = {}", Value::from(reason));
    }
    text
}
