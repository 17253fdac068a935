//! `conformance verify`: whether the evidence of a run bears out what it says.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use catalogue::Level;
use clap::Args;

use super::select::SelectArgs;
use super::{NOT_DONE, names, print};
use harness::certificate::{Certificate, Judge, Sent, first_difference};
use harness::live::{self, Attempt, Case, Evidence, Offer, RunFile, hash, judge};
use harness::suite;
use results::{Options, State};

/// Judges the recorded exchanges of a run again and compares the verdicts.
///
/// Exit codes: 0 if all verdicts are the same, 1 if one differs, 2 if the run could not be read.
#[derive(Debug, Args)]
pub(super) struct VerifyArgs {
    /// Folder written by `run --out`.
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
        let Compared { differences, is_unreadable } =
            compare(&evidence, &run).with_context(|| self.folder.display().to_string())?;
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
        Ok(ExitCode::from(if is_unreadable { NOT_DONE } else { 1 }))
    }
}

/// What came of comparing evidence with what its run says.
struct Compared {
    /// What is not as the run says.
    differences: Vec<String>,
    /// Whether an exchange could not be read.
    is_unreadable: bool,
}

/// Compares evidence with what its run says.
fn compare(evidence: &Evidence, run: &RunFile) -> Result<Compared> {
    let dialect = names::dialect(&run.dialect)?;
    let Options { profiles, select, ignore, .. } = &run.options;
    SelectArgs { select: select.clone(), ignore: ignore.clone() }.check()?;
    names::profiles(profiles)?;
    let rules = suite::rules(dialect, profiles, select, ignore);
    let (mut differences, mut is_unreadable) = (Vec::new(), false);
    if run.suite != env!("CARGO_PKG_VERSION") {
        let own = env!("CARGO_PKG_VERSION");
        differences.push(format!("version {} of the suite made the run, and this is {own}", run.suite));
    }
    let offer = Offer::of(&run.options);
    let cases = live::cases(dialect, &rules, &offer, &run.options.transports);
    let mut attempts: BTreeMap<&str, Vec<Attempt>> = BTreeMap::new();
    for kept in &run.exchanges {
        let Some(case) = cases.iter().find(|case| case.name == kept.case) else {
            differences.push(format!("{}: its options send no case {}", kept.file, kept.case));
            continue;
        };
        let read = evidence.read(&kept.file).map_err(|error| error.to_string());
        match read.and_then(|bytes| Attempt::read(&kept.file, &bytes, &rules, case.is_part())) {
            Ok(attempt) => {
                if attempt.sha256 != kept.sha256 {
                    differences.push(format!("{}: the file was changed", kept.file));
                }
                attempts.entry(&kept.case).or_default().push(attempt);
            }
            Err(problem) => {
                is_unreadable = true;
                differences.push(format!("cannot be read: {}: {problem}", kept.file));
            }
        }
    }
    let least = if run.options.strict { Level::Should } else { Level::Must };
    let of = |case: &Case| attempts.get(&*case.name).map(Vec::as_slice).unwrap_or_default();
    for case in &cases {
        let compared = case.compared.and_then(|at| of(cases.get(at)?).last());
        // What was not sent has nothing to show.
        for about in case.trials.iter().filter(|_| !of(case).is_empty()) {
            let name = case.trial(*about);
            let Some(told) = run.trials.iter().find(|told| told.name == name) else { continue };
            let judged = judge(case, *about, of(case), compared, least, &rules);
            if judged != told.judged {
                differences.push(format!("{name}: the run says {}, and it is {judged}", told.judged));
            }
        }
    }
    let each = |case| of(case).iter().map(move |attempt| Sent { case, attempt });
    let sent: Vec<Sent> = cases.iter().flat_map(each).collect();
    let (report, profiles) = Judge { run, rules: &rules, cases: &cases, sent: &sent }.report();
    let report = reports::json(&report);
    let told = evidence.report()?;
    if told != report.as_bytes() {
        let line = first_difference(&String::from_utf8_lossy(&told), &report);
        differences.push(format!("report.json: line {line} is not what comes of the exchanges"));
    }
    if run.report.as_deref() != Some(hash(&told).as_str()) {
        differences.push("report.json: the file was changed".to_owned());
    }
    differences.extend(Certificate::new(run, profiles).differences(evidence));
    Ok(Compared { differences, is_unreadable })
}
