//! Tests of recordings.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use catalogue::Rule;
use libtest_mimic::{Completion, Failed, Trial};

use crate::cli::NOT_DONE;
use crate::cli::commands::check::check_file;
use crate::cli::flags::dialect::DialectRules;
use crate::cli::flags::snapshots::SnapshotArgs;
use crate::cli::input::files;
use crate::cli::progress::Progress;
use harness::certificate::unseen;
use harness::suite::{Invocation, is_for_people, run_quietly, show};
use recordings::capture::Format;
use reports::{Screen, Style, diagnostic};
use results::text::visible;
use results::{CaptureReport, FailOn, Finding, Outcome, Run};

pub(super) struct Tested {
    pub(super) rules: DialectRules,
    pub(super) fail_on: FailOn,
    pub(super) files: Vec<PathBuf>,
    pub(super) format: Option<Format>,
    pub(super) draws: bool,
}

/// A recording and its report, computed by its first test.
struct Recording {
    file: PathBuf,
    /// Whether it is checked whatever its API is.
    is_named: bool,
    report: OnceLock<CaptureReport>,
}

impl Recording {
    fn check(&self, rules: &DialectRules, format: Option<Format>, draws: bool) -> CaptureReport {
        let mut checking = rules.checking(draws);
        checking.pass_over_other_apis(!self.is_named);
        check_file(&self.file, format, &mut checking, &mut None, &Progress::hidden())
    }
}

impl Tested {
    pub(super) fn run(
        self,
        paths: &[PathBuf],
        snapshots: &SnapshotArgs,
        how: &Invocation,
        screen: Screen,
    ) -> anyhow::Result<ExitCode> {
        let given: HashSet<&PathBuf> = paths.iter().collect();
        let recording = |file: &PathBuf| {
            let is_named = given.contains(file);
            Arc::new(Recording { file: file.clone(), is_named, report: OnceLock::new() })
        };
        let recordings: Vec<_> = self.files.iter().map(recording).collect();
        let incomplete = Arc::new(AtomicBool::new(false));
        let mut trials = self.trials(&recordings, &incomplete);
        trials.extend(snapshots.trials(&self.files, self.format, self.rules.dialect(), &incomplete));
        trials.extend(snapshots.stale(paths, &self.files)?);
        let names: Vec<String> = trials.iter().map(|trial| trial.name().to_owned()).collect();
        if let Some(problem) = how.selection.problem(&names) {
            anyhow::bail!(problem);
        }
        trials.retain(|trial| how.selection.includes(trial.name()));
        let Some(conclusion) = run_quietly(&how.arguments, trials) else {
            return Ok(ExitCode::from(NOT_DONE));
        };
        let mut run = self.tested(&recordings, how);
        if !run.captures.is_empty() {
            incomplete.fetch_or(run.is_incomplete(), Ordering::Relaxed);
            // A shape can differ without a broken rule.
            if conclusion.has_failed() && run.outcome == Outcome::Passed {
                run.outcome = Outcome::Failed;
            }
            how.write(&run, false)?;
            if is_for_people(&how.arguments) {
                show(&reports::summary(&run, how.detail, screen))?;
            }
        }
        Ok(match (incomplete.load(Ordering::Relaxed), conclusion.has_failed()) {
            (true, _) => ExitCode::from(NOT_DONE),
            (false, true) => ExitCode::from(1),
            (false, false) => ExitCode::SUCCESS,
        })
    }

    fn tested(&self, recordings: &[Arc<Recording>], how: &Invocation) -> Run {
        let is_wanted = |file: &Path, rule: &str| how.selection.includes(&trial_name(file, rule));
        let captures = recordings.iter().filter_map(|recording| {
            let mut report = recording.report.get()?.clone();
            report.findings.retain(|finding| is_wanted(&recording.file, &finding.rule));
            Some(report)
        });
        let wanted = |rule: &&Rule| self.files.iter().any(|file| is_wanted(file, rule.id));
        let wanted = catalogue::RULES.iter().filter(wanted).map(|rule| rule.id).collect();
        self.rules.only(wanted).run(captures.collect(), self.fail_on)
    }

    fn trials(&self, recordings: &[Arc<Recording>], incomplete: &Arc<AtomicBool>) -> Vec<Trial> {
        let (format, draws, fail_on) = (self.format, self.draws, self.fail_on);
        let mut trials = Vec::new();
        // Names of tests have rules, which depend on the dialects of a recording: these show when it is read.
        let unjudged = self.rules.only(BTreeSet::new());
        for recording in recordings {
            let is_read = self.rules.dialect().is_none() && !files::is_stdin(&recording.file);
            let seen = is_read.then(|| recording.check(&unjudged, format, false));
            for rule in self.rules.of(seen.as_ref()) {
                let (recording, rules) = (Arc::clone(recording), self.rules.clone());
                let incomplete = Arc::clone(incomplete);
                trials.push(Trial::ignorable_test(trial_name(&recording.file, rule.id), move || {
                    let report = recording.report.get_or_init(|| recording.check(&rules, format, draws));
                    if report.error.is_some() {
                        incomplete.store(true, Ordering::Relaxed);
                    }
                    verdict(rule, report, fail_on)?;
                    Ok(unseen(report, rule).map_or(Completion::Completed, Completion::ignored_with))
                }));
            }
        }
        trials
    }
}

fn trial_name(file: &Path, rule: &str) -> String {
    format!("{}::{rule}", visible(&files::name(file)))
}

fn verdict(rule: &Rule, report: &CaptureReport, fail_on: FailOn) -> Result<(), Failed> {
    fail_if_any(report, fail_on, |finding| finding.rule == rule.id)
}

pub(super) fn fail_if_any(
    report: &CaptureReport,
    fail_on: FailOn,
    is_meant: impl Fn(&Finding) -> bool,
) -> Result<(), Failed> {
    if let Some(error) = &report.error {
        return Err(visible(&format!("{}: {error}", report.name)).into());
    }
    let meant = report.findings.iter().filter(|finding| fail_on.fails(finding) && is_meant(finding));
    let text: String =
        meant.map(|finding| diagnostic(&report.name, finding, "", fail_on, Style::Plain) + "\n").collect();
    if text.is_empty() { Ok(()) } else { Err(text.into()) }
}
