//! `conformance verify`: whether the evidence of a run bears out what it says.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow};
use catalogue::Level;
use clap::Args;

use super::select::SelectArgs;
use super::{NOT_DONE, names, print};
use harness::certificate::{
    CERTIFICATE, Certificate, Judge, PAGE, Requests, SIGNATURE, Sent, first_difference, unsigned,
};
use harness::live::{self, Attempt, Case, Chain, Evidence, Offer, REPORT, RUN, RunFile, Seed, hash, judge};
use harness::suite;
use results::{Options, State, Verdict};

/// Checks whether a run is consistent: its requests are those of the scenarios, its exchanges bear out its
/// verdicts, and nothing was changed, added or left out.
///
/// It does not prove that the exchanges came from the endpoint that is named.
///
/// Exit codes: 0 if all verdicts are the same, 1 if one differs, 2 if the run could not be read.
#[derive(Debug, Args)]
pub(super) struct VerifyArgs {
    /// Folder written by `run --out`.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Public key that the certificate must be signed with: Ed25519, PEM
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
}

impl VerifyArgs {
    pub(super) fn run(self) -> Result<ExitCode> {
        let evidence = Evidence::open(&self.folder);
        let run = evidence.run()?;
        if run.state == State::Begun {
            anyhow::bail!("{} has no results: the run did not finish", self.folder.display());
        }
        let Compared { mut differences, is_unreadable } =
            compare(&evidence, &run).with_context(|| self.folder.display().to_string())?;
        if let Some(file) = &self.key {
            let named = || file.display().to_string();
            let key = fs::read(file).with_context(named)?;
            let unsigned = unsigned(&evidence, &key).map_err(|problem| anyhow!(problem));
            differences.extend(unsigned.with_context(named)?);
        }
        if differences.is_empty() {
            let (exchanges, trials) = (run.exchanges.len(), run.trials.len());
            print(&format!(
                "consistent: these {exchanges} exchanges support the verdicts of {trials} trials\n{UNPROVEN}"
            ))?;
            return Ok(ExitCode::SUCCESS);
        }
        let mut text = format!("{} differs from the run:\n", self.folder.display());
        for difference in &differences {
            let _ = writeln!(text, "  {difference}");
        }
        print(&text)?;
        Ok(ExitCode::from(if is_unreadable { NOT_DONE } else { 1 }))
    }
}

/// What no look at the files can tell.
const UNPROVEN: &str = "not proven: that they came from the named endpoint; to check this, run the \
                        commands under Reproduce in certificate.md\n";

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
        differences
            .push(format!("the run was made by version {} of the suite, but this is {own}", run.suite));
    }
    let offer = Offer::of(&run.options);
    let mut cases = live::cases(dialect, &rules, &offer, &run.options.transports);
    let seed = Seed::new(&*run.seed, dialect, &offer);
    for case in &mut cases {
        case.expect(&seed);
    }
    let mut attempts: BTreeMap<&str, Vec<Attempt>> = BTreeMap::new();
    // Of each recording, its case and how many attempts came before it.
    let mut order: Vec<(&str, usize)> = Vec::new();
    if let Some(line) = evidence.run_difference(run)? {
        differences.push(format!("run.json: line {line} differs from what the suite writes"));
    }
    let mut files: BTreeSet<&str> = run.exchanges.iter().map(|kept| &*kept.file).collect();
    if files.len() < run.exchanges.len() {
        differences.push("run.json: an exchange is listed twice".to_owned());
    }
    files.extend([RUN, REPORT, CERTIFICATE, PAGE, SIGNATURE]);
    match Chain::of(run).map(Chain::into_text) {
        Ok(chain) if chain == run.chain => {}
        Ok(_) => differences.push("run.json: its chain does not match its exchanges".to_owned()),
        Err(problem) => differences.push(format!("run.json: {problem}")),
    }
    let strangers = evidence.strangers(&files)?;
    differences.extend(strangers.iter().map(|file| format!("{file}: it is not listed in run.json")));
    let mut recordings: Vec<Vec<u8>> = Vec::new();
    for kept in &run.exchanges {
        let Some(case) = cases.iter().find(|case| case.name == kept.case) else {
            differences.push(format!("{}: its options send no case {}", kept.file, kept.case));
            continue;
        };
        let read = evidence.read(&kept.file).map_err(|error| error.to_string());
        let attempt = read.and_then(|bytes| {
            let attempt = Attempt::read(&kept.file, &bytes, &rules, case.is_part())?;
            Ok((attempt, bytes))
        });
        match attempt {
            Ok((attempt, bytes)) => {
                recordings.push(bytes);
                order.push((&*kept.case, attempts.get(&*kept.case).map_or(0, Vec::len)));
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
        for about in &case.trials {
            let name = case.trial(*about);
            let Some(told) = run.trials.iter().find(|told| told.name == name) else { continue };
            if of(case).is_empty() {
                // What was not sent has nothing to show.
                if matches!(told.judged.verdict, Verdict::Pass | Verdict::Fail) {
                    differences
                        .push(format!("{name}: the run states {}, but no request was sent", told.judged));
                }
                continue;
            }
            let judged = judge(case, *about, of(case), compared, least, &rules);
            if judged != told.judged {
                differences
                    .push(format!("{name}: the run states {}, but the exchanges show {judged}", told.judged));
            }
        }
    }
    let each = |case| of(case).iter().map(move |attempt| Sent { case, attempt });
    let sent: Vec<Sent> = cases.iter().flat_map(each).collect();
    let mut requests = Requests::new(run, &cases, dialect, &offer);
    for ((name, before), recording) in order.iter().zip(&recordings) {
        let Some(case) = cases.iter().find(|case| case.name == *name) else { continue };
        let file = &of(case)[*before].report.name;
        let difference = requests.difference(case, before + 1, file, recording, &sent);
        differences.extend(difference.map(|problem| format!("{file}: {problem}")));
    }
    let told: Vec<&str> = run.trials.iter().map(|told| &*told.name).collect();
    let is_due = |prefix: &str| suite::due_names(&cases, &run.options, dialect, prefix) == told;
    if !is_due("") && !is_due(&format!("{}/", dialect.name)) {
        differences.push("run.json: its trials do not match its options".to_owned());
    }
    let (report, profiles) = Judge { run, rules: &rules, cases: &cases, sent: &sent }.report();
    let report = reports::json(&report);
    let told = evidence.report()?;
    if told != report.as_bytes() {
        let line = first_difference(&String::from_utf8_lossy(&told), &report);
        differences.push(format!("report.json: line {line} differs from the result of the exchanges"));
    }
    if run.report.as_deref() != Some(hash(&told).as_str()) {
        differences.push("report.json: the file was changed".to_owned());
    }
    differences.extend(Certificate::new(run, profiles).differences(evidence));
    Ok(Compared { differences, is_unreadable })
}
