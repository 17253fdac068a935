//! Files of expected failures.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use clap::Args;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use toml::Spanned;

use crate::cli::input::small_file;
use crate::cli::message::Lines;
use reports::Reported;
use results::ExpectedFailure;
use serde_json::Value;

const HEADING: &str = "Known failures";

/// Expected failures.
#[derive(Debug, Args)]
pub(in crate::cli) struct ExpectedArgs {
    /// Expected failures.
    ///
    /// A listed failure does not fail the run; a listed test that passes does. Where several APIs are tested, each has a
    /// file of its own, such as known-anthropic.toml for known.toml.
    #[arg(long, value_name = "FILE", help_heading = HEADING)]
    pub(in crate::cli) expected_failures: Option<PathBuf>,
    /// Write all failures to this file instead of failing.
    ///
    /// With both flags the file is rewritten: reasons are kept, and entries that no longer fail are dropped.
    #[arg(long, value_name = "FILE", help_heading = HEADING, hide_short_help = true)]
    pub(in crate::cli) write_expected_failures: Option<PathBuf>,
}

impl ExpectedArgs {
    /// The rule of an expected failure must be known.
    pub(in crate::cli) fn of_tests(
        &self,
        is_known: impl Fn(&str) -> Result<()>,
    ) -> Result<Vec<ExpectedFailure>> {
        if let Some(file) = &self.write_expected_failures {
            self.check_room(file, file)?;
        }
        let Some(file) = &self.expected_failures else { return Ok(Vec::new()) };
        let mut seen = BTreeSet::new();
        read(file, |known: &ExpectedFailure| {
            is_known(&known.rule)?;
            if known.tests.is_empty() {
                bail!("{}: `tests` is empty; list those that fail", known.rule);
            }
            for test in &known.tests {
                if !seen.insert((known.rule.clone(), test.clone())) {
                    bail!("{} in {test} is listed twice", known.rule);
                }
            }
            reason(&known.rule, &known.reason)
        })
    }

    /// A file of failures may replace only the expected failures.
    pub(in crate::cli) fn check_room(&self, given: &PathBuf, file: &Path) -> Result<()> {
        if file.exists() && Some(given) != self.expected_failures.as_ref() {
            bail!(
                "{} exists; also pass it as --expected-failures to keep its reasons, or choose another file",
                file.display()
            );
        }
        Ok(())
    }

    /// All failures, of a run of a client or a gateway. False if nothing was to be written.
    pub(in crate::cli) fn write(
        &self,
        command: &str,
        run: &impl Reported,
        known: &[ExpectedFailure],
    ) -> Result<bool> {
        let Some(file) = &self.write_expected_failures else { return Ok(false) };
        let mut text = format!(
            "# Expected failures for `conformance {command} --expected-failures`. Each needs a reason.\n"
        );
        for ExpectedFailure { rule, tests, reason } in run.sheet().failures(known) {
            let _ = writeln!(text, "\n[[failure]]\nrule = {}\ntests = [", Value::from(rule));
            for test in tests {
                let _ = writeln!(text, "  {},", Value::from(test));
            }
            let _ = writeln!(text, "]\nreason = {}", Value::from(reason));
        }
        fs::write(file, text).with_context(|| file.display().to_string())?;
        Ok(true)
    }
}

/// The file: its entries, each with its place.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File<T> {
    #[serde(default = "Vec::new")]
    failure: Vec<Spanned<T>>,
}

/// The error lists every entry that does not pass a check, with its line.
pub(in crate::cli) fn read<T: DeserializeOwned>(
    path: &Path,
    mut check: impl FnMut(&T) -> Result<()>,
) -> Result<Vec<T>> {
    let name = path.display().to_string();
    let text = small_file::text(path)?;
    let file: File<T> = small_file::parsed(path, &text)?;
    let mut problems = Vec::new();
    for entry in &file.failure {
        if let Err(problem) = check(entry.get_ref()) {
            let before = text.get(..entry.span().start).unwrap_or(&text);
            problems.push(format!("{name}:{}: {problem}", before.matches('\n').count() + 1));
        }
    }
    match &*problems {
        [] => Ok(file.failure.into_iter().map(Spanned::into_inner).collect()),
        [problem] => bail!("{problem}"),
        problems => {
            let head = format!("{name} has {} invalid entries", problems.len());
            let lines = problems.iter().map(|problem| format!("  {problem}"));
            Err(Lines(std::iter::once(head).chain(lines).collect()).into())
        }
    }
}

pub(in crate::cli) fn reason(failure: &str, reason: &str) -> Result<()> {
    if reason.trim().is_empty() {
        bail!("{failure}: `reason` is empty; state why it fails and why that is acceptable");
    }
    Ok(())
}
