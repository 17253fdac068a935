//! `conformance verify`: whether the evidence of a run bears out what it says.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;
use spec::catalogue::Level;

use super::select::SelectArgs;
use super::{NOT_DONE, names, print};
use crate::certificate::{Certificate, Judge, Sent, first_difference};
use crate::live::{self, Attempt, Evidence, Offer, RunFile, hash, judge};
use crate::report::{self, Options, Run, State};
use crate::suite;

/// Judges the exchanges of a finished run again, and compares what comes of it with what the run said.
///
/// Exit codes: 0 when all is as it says, 1 when something differs, 2 when it could not be read.
#[derive(Debug, Args)]
pub(super) struct VerifyArgs {
    /// The folder that was given to --out.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

impl VerifyArgs {
    pub(super) fn run(self) -> Result<ExitCode> {
        let evidence = Evidence::open(&self.folder);
        let run = evidence.run()?;
        if run.state == State::Begun {
            anyhow::bail!("{} has no results: the run did not come to its end", self.folder.display());
        }
        let differences = compare(&evidence, &run).with_context(|| self.folder.display().to_string())?;
        if differences.is_empty() {
            let (exchanges, trials) = (run.exchanges.len(), run.trials.len());
            print(&format!("verified: {exchanges} exchanges bear out the verdicts of {trials} trials\n"))?;
            return Ok(ExitCode::SUCCESS);
        }
        let mut text = format!("{} differs from what the run says:\n", self.folder.display());
        for difference in &differences {
            let _ = writeln!(text, "  {difference}");
        }
        print(&text)?;
        let is_unreadable = differences.iter().any(|difference| difference.starts_with(UNREADABLE));
        Ok(ExitCode::from(if is_unreadable { NOT_DONE } else { 1 }))
    }
}

const UNREADABLE: &str = "cannot be read: ";

/// What is not as the run says.
fn compare(evidence: &Evidence, run: &RunFile) -> Result<Vec<String>> {
    let dialect = names::dialect(&run.dialect)?;
    let Options { profiles, select, ignore, .. } = &run.options;
    SelectArgs { select: select.clone(), ignore: ignore.clone() }.check()?;
    names::profiles(profiles)?;
    let rules = suite::rules(dialect, profiles, select, ignore);
    let mut differences = Vec::new();
    if run.suite != env!("CARGO_PKG_VERSION") {
        let own = env!("CARGO_PKG_VERSION");
        differences.push(format!("version {} of the suite made the run, and this is {own}", run.suite));
    }
    let offer = run.options.features.clone().map_or(Offer::All, Offer::Only);
    let cases = live::cases(dialect, &rules, &offer, &run.options.transports);
    let mut attempts: Vec<(&str, Attempt)> = Vec::new();
    for kept in &run.exchanges {
        let read = evidence.read(&kept.file).map_err(|error| error.to_string());
        let is_part = cases.iter().any(|case| case.name == kept.case && case.is_part());
        match read.and_then(|bytes| Attempt::read(&kept.file, &bytes, &rules, is_part)) {
            Ok(attempt) => {
                if attempt.sha256 != kept.sha256 {
                    differences.push(format!("{}: the file was changed", kept.file));
                }
                attempts.push((&kept.case, attempt));
            }
            Err(problem) => differences.push(format!("{UNREADABLE}{}: {problem}", kept.file)),
        }
    }
    let least = if run.options.strict { Level::Should } else { Level::Must };
    for case in &cases {
        let of_case: Vec<Attempt> = attempts
            .iter()
            .filter(|(name, _)| *name == case.name)
            .map(|(_, attempt)| attempt.clone())
            .collect();
        let compared = case.compared.and_then(|at| cases.get(at)).and_then(|other| {
            let of_other = attempts.iter().rev().find(|(name, _)| *name == other.name);
            of_other.map(|(_, attempt)| attempt)
        });
        // What was not sent has nothing to show.
        for about in case.trials.iter().filter(|_| !of_case.is_empty()) {
            let name = case.trial(*about);
            let Some(told) = run.trials.iter().find(|told| told.name == name) else { continue };
            let judged = judge(case, *about, &of_case, compared, least, &rules);
            if judged != told.judged {
                differences.push(format!("{name}: the run says {}, and it is {judged}", told.judged));
            }
        }
    }
    let sent: Vec<Sent> = attempts.iter().map(|(case, attempt)| Sent { case, attempt }).collect();
    let profiles = Judge { run, rules: &rules, cases: &cases, sent: &sent }.profiles();
    let latency = live::latencies(sent.iter().map(|sent| (sent.case, sent.attempt)));
    let captures = attempts.iter().map(|(_, attempt)| attempt.report.clone()).collect();
    let report = report::json(&Run::new(&rules, captures, Some(run.report(profiles.clone(), latency))));
    let told = evidence.report()?;
    if told != report.as_bytes() {
        let line = first_difference(&String::from_utf8_lossy(&told), &report);
        differences.push(format!("report.json: line {line} is not what comes of the exchanges"));
    }
    if run.report.as_deref() != Some(hash(&told).as_str()) {
        differences.push("report.json: the file was changed".to_owned());
    }
    differences.extend(Certificate::new(run, profiles).differences(evidence));
    Ok(differences)
}
