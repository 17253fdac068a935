//! Runs suites with the flags of tests.

use std::collections::BTreeSet;
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::process::ExitCode;
use std::thread::available_parallelism;

use catalogue::Level;
use gateway::check_threads;
use libtest_mimic::{Arguments, Completion, Conclusion, FormatSetting, Trial};

use super::print::{eprint_line, show};
use super::progress;
use super::session::{Finished, Planned, Session};
use super::twins::Twins;
use super::{Invocation, RunCompletion, Suite, SuiteError, Unserved, served};
use crate::evidence::Evidence;
use crate::live::RunRuntime;
use crate::plan::random_seed;
use crate::twins;
use crate::{ProgressLine, Scratch};
use reports::{Form, Screen, Side};
use results::text::{cut, visible};
use results::{Filters, Judgement, Outcome, ProfileState, TrialResult, Verdict};

/// Exit code of a command that could not be carried out.
pub const NOT_DONE: u8 = 2;

/// Runs these trials, and then the suites' trials. All sessions send concurrently; their trials report in order.
///
/// # Errors
///
/// If a filter matches no test, nothing can be sent, or a file cannot be written.
pub fn run(
    suites: &[Suite],
    how: &Invocation,
    mut trials: Vec<Trial>,
    screen: Screen,
) -> Result<ExitCode, SuiteError> {
    let Invocation { arguments, selection, .. } = how;
    let is_one_of_several = suites.len() > 1;
    how.check(is_one_of_several)?;
    let seed = random_seed();
    let scratch = how.completion.as_ref().map(|_| Scratch::new("run")).transpose();
    let scratch = scratch.map_err(|error| SuiteError::new(format!("the folder for recordings: {error}")))?;
    let with_seed = |suite: &Suite| {
        let suite = Suite { shared_seed: Some(seed.clone()), ..suite.clone() };
        scratch.iter().fold(suite, |suite, scratch| suite.passing(scratch.path()))
    };
    let suites: &[Suite] = &suites.iter().map(with_seed).collect::<Vec<_>>();
    let is_due = |name: &str| selection.includes(name);
    let planned: Vec<_> = suites.iter().map(|suite| suite.plan(&is_due)).collect();
    let mut unmet = unmet(suites, &planned)?;
    if planned.iter().all(Planned::is_empty) {
        reachable(suites)?;
    }
    if !selection.is_everything() {
        let of_suites = suites.iter().flat_map(|suite| suite.plan(&|_| true).names().collect::<Vec<_>>());
        let others = unmet.iter().map(|result| result.name.as_str()).chain(trials.iter().map(Trial::name));
        let twins = of_suites.clone().filter(|_| is_one_of_several).filter_map(|name| {
            let case = name.split_once('/')?.1.strip_suffix("::answer")?;
            Some(twins::name(case))
        });
        let names: Vec<String> = of_suites.chain(others.map(str::to_owned)).chain(twins).collect();
        if let Some(problem) = selection.problem(&names) {
            return Err(SuiteError::of_filters(problem));
        }
    }
    unmet.retain(|result| is_due(&result.name));
    trials.retain(|trial| is_due(trial.name()));
    if arguments.list {
        let names =
            planned.iter().flat_map(Planned::names).chain(unmet.into_iter().map(|result| result.name));
        trials.extend(names.map(|name| Trial::test(name, || Ok(()))));
        let done = run_quietly(arguments, trials);
        return Ok(done.map_or(ExitCode::from(NOT_DONE), |_| ExitCode::SUCCESS));
    }
    if let Some(suite) = suites.first().filter(|_| is_one_of_several)
        && let Some(folder) = suite.out.as_deref().and_then(Path::parent)
    {
        Evidence::make_room(folder, suite.replaces).map_err(|error| suite.lost(&error))?;
    }
    let machine = RunRuntime::start().map_err(|error| SuiteError::new(error.to_string()))?;
    let is_unmet = unmet.iter().any(|result| result.judged.verdict == Verdict::Fail);
    trials.extend(unmet.into_iter().map(trial));
    let due = planned.into_iter().filter(|planned| !planned.is_empty());
    let due: Vec<Planned<'_>> = due.collect();
    let together: Vec<String> = match &*due {
        [_] | [] => Vec::new(),
        several => several.iter().map(|planned| planned.dialect().name.to_owned()).collect(),
    };
    let filters = selection.filters();
    let start =
        |planned: Planned<'_>| planned.start(&machine, &filters, &together).inspect(Session::announce);
    let sessions = due.into_iter().map(start).collect::<Result<Vec<_>, _>>()?;
    let twins = Twins::of(&sessions, selection);
    let has_lines = arguments.quiet || arguments.format.is_some() || arguments.logfile.is_some();
    let is_shown = how.shows_progress && !has_lines;
    let followed = if is_shown { sessions.iter().map(Session::tests).cloned().collect() } else { Vec::new() };
    let progress = progress::start(followed);
    let has_failed = if how.form != Form::Human {
        Some(sessions.iter().fold(is_unmet, |has_failed, session| session.has_failed() || has_failed))
    } else if has_lines {
        trials.extend(sessions.iter().flat_map(Session::trials));
        trials.extend(twins.trials());
        let arguments = Arguments { test_threads: Some(1), ..arguments.clone() };
        run_quietly(&arguments, trials).map(|conclusion| conclusion.has_failed())
    } else {
        run_briefly(how, trials, &sessions, &progress, screen)
    };
    let twins = twins.report();
    drop(progress);
    let mut is_undone = machine.is_interrupted();
    let mut is_stale = false;
    let mut is_unmet = false;
    let mut sides = Vec::new();
    for session in sessions {
        let recordings = session.live().recordings().cloned();
        let Finished { trials, report } = session.finish(&machine)?;
        let folder = suites.iter().find(|suite| suite.dialect.name == report.dialect);
        let mut report = match folder.and_then(|suite| suite.out.as_deref()) {
            Some(folder) => report.within(folder),
            None => report,
        };
        if let (Some(RunCompletion(complete)), Some(recordings)) = (&how.completion, recordings)
            && !machine.is_interrupted()
        {
            complete(&mut report, &recordings);
        }
        is_undone |= trials.iter().any(TrialResult::is_harness_error);
        is_undone |= report.live.as_ref().is_some_and(|live| live.obstacle.is_some());
        is_stale |= report.live.as_ref().is_some_and(|live| !live.stale.is_empty());
        is_unmet |= report.live.as_ref().is_some_and(|live| {
            // Of failures, those that are expected fail no run.
            let counts =
                |state| state != ProfileState::Failed || folder.is_none_or(|suite| !suite.bears_failures());
            live.unmet().any(|profile| counts(profile.state))
        });
        sides.push(Side::of(&report));
        how.write(&report, is_one_of_several)?;
        // Of the reference gateway in every dialect, only what did not pass has a full summary.
        let is_reference = report.live.as_ref().is_some_and(|live| live.is_reference);
        let is_whole = !is_one_of_several || !is_reference || report.outcome != Outcome::Passed;
        if how.form == Form::Human && is_for_people(arguments) && is_whole {
            if has_lines {
                show(&reports::obstacle(&report, screen))?;
            } else {
                show(&reports::diagnostics(&report, how.detail, screen))?;
            }
            show(&reports::summary(&report, how.detail, screen))?;
            show(&reports::reproduce(&report))?;
        }
    }
    let is_elsewhere = |side: &Side| side.is_without_path();
    if !sides.is_empty() && sides.iter().all(is_elsewhere) && !machine.is_interrupted() {
        ask_others(&how.others)?;
    }
    let folder = suites.first().and_then(|suite| suite.out.as_deref()?.parent());
    super::twins::keep(&twins, folder)?;
    how.write_twins(&twins)?;
    if how.form == Form::Human && is_for_people(arguments) && sides.len() > 1 {
        let others: Vec<String> = how.unserved.iter().map(Unserved::line).collect();
        show(&reports::side_by_side(&sides, &others, screen))?;
        show(&reports::twins(&twins, how.detail, screen))?;
    }
    Ok(match has_failed {
        None => ExitCode::from(NOT_DONE),
        Some(_) if is_undone => ExitCode::from(NOT_DONE),
        Some(has_failed) if is_stale || is_unmet || has_failed || twins.has_failed() => ExitCode::from(1),
        Some(_) => ExitCode::SUCCESS,
    })
}

/// The endpoint has no path of the APIs that were tested.
fn ask_others(others: &[Suite]) -> Result<(), SuiteError> {
    if others.is_empty() {
        return Ok(());
    }
    let found = served(others.to_vec())?;
    if found.others.len() < others.len() {
        let apis: Vec<&str> = found.suites.iter().map(|suite| suite.dialect.api.name).collect();
        eprint_line(&format!("to test what it serves: --api {}, or a profile of that API", apis.join(",")));
    }
    Ok(())
}

/// Maximum number of failing scenarios that have a line each.
const LINES: usize = 6;
/// Maximum length of a reason in a line.
const REASON: usize = 160;

/// One character for each trial, and one line for each failing scenario. Returns whether something failed, or `None` if
/// the output is closed.
fn run_briefly(
    how: &Invocation,
    trials: Vec<Trial>,
    sessions: &[Session],
    progress: &ProgressLine,
    screen: Screen,
) -> Option<bool> {
    let mut has_failed = false;
    if !trials.is_empty() {
        let quiet = Arguments { test_threads: Some(1), quiet: true, ..how.arguments.clone() };
        has_failed |= run_quietly(&quiet, trials)?.has_failed();
    }
    let most = if how.detail.is_verbose { usize::MAX } else { LINES };
    let mut failed = 0;
    for (scenario, failures) in sessions.iter().flat_map(Session::failures) {
        if failures.is_empty() {
            continue;
        }
        failed += 1;
        if failed <= most {
            progress.wipe();
            // Later output reports a stdout that cannot be written.
            let failure = screen.style.level(Level::Must, "FAIL");
            let _ = show(&format!("{failure}  {}\n", line(&scenario, &failures)));
        }
    }
    if failed > most {
        let more = failed - most;
        let what = if more == 1 { "scenario that fails" } else { "scenarios that fail" };
        let _ = show(&format!("and {more} more {what} (--verbose lists all)\n"));
    }
    if failed > 0 {
        let _ = show("\n");
    }
    Some(has_failed || failed > 0)
}

fn line(scenario: &str, failures: &[(&str, Option<String>)]) -> String {
    let failures = failures.iter().map(|(about, reason)| match reason {
        None => (*about).to_owned(),
        Some(reason) => {
            let first = reason.lines().next().unwrap_or_default();
            format!("{about} ({})", visible(&cut(first, REASON)))
        }
    });
    format!("{}  {}", visible(scenario), failures.collect::<Vec<_>>().join(", "))
}

fn unmet(suites: &[Suite], planned: &[Planned<'_>]) -> Result<Vec<TrialResult>, SuiteError> {
    let Some(snapshots) = suites.iter().find_map(|suite| suite.snapshots.as_ref()) else {
        return Ok(Vec::new());
    };
    let compared: Vec<String> = planned.iter().flat_map(Planned::shapes).collect();
    let mut others = snapshots.others(compared.iter().map(String::as_str)).map_err(SuiteError::new)?;
    let known: BTreeSet<String> = suites.iter().flat_map(Suite::known_shapes).collect();
    // Snapshots of recordings may be in the same folder.
    let groups: BTreeSet<&str> = known.iter().map(|name| catalogue::group(name)).collect();
    others.retain(|name| groups.contains(catalogue::group(name)));
    let unsent = |name: String| {
        let judged = if known.contains(&name) {
            Judgement::new(Verdict::NotExercised, "this run does not send it")
        } else {
            Judgement::new(Verdict::Fail, snapshots.stale(&name, "there is no such scenario"))
        };
        TrialResult { name: format!("{name}::snapshot"), judged }
    };
    Ok(others.into_iter().map(unsent).collect())
}

fn trial(result: TrialResult) -> Trial {
    let TrialResult { name, judged } = result;
    Trial::ignorable_test(name, move || match judged.verdict {
        Verdict::Fail => Err(judged.reason.into()),
        _ => Ok(Completion::ignored_with(judged.reason)),
    })
}

/// Filters do not matter.
fn reachable(suites: &[Suite]) -> Result<(), SuiteError> {
    let Some(profiles) = suites.first().map(|suite| &suite.options.profiles).filter(|all| !all.is_empty())
    else {
        return Ok(());
    };
    if suites.iter().any(|suite| !suite.plan(&|_| true).is_empty()) {
        return Ok(());
    }
    let (profiles, verb) = (profiles.join(", "), if profiles.len() == 1 { "demands" } else { "demand" });
    Err(SuiteError::new(format!(
        "nothing that {profiles} {verb} can be sent over this transport: choose another with --transport"
    )))
}

/// Returns whether the output of the tests is for people, not for programs.
pub const fn is_for_people(arguments: &Arguments) -> bool {
    !arguments.quiet && matches!(arguments.format, None | Some(FormatSetting::Pretty))
}

pub(super) fn judge(suite: &Suite, is_due: &dyn Fn(&str) -> bool) -> Result<Vec<TrialResult>, SuiteError> {
    let machine = RunRuntime::start().map_err(|error| SuiteError::new(error.to_string()))?;
    let planned = suite.plan(is_due);
    // A predicate cannot be stored, so the selected names are.
    let with: Vec<String> = planned.names().collect();
    let is_everything = with.len() == suite.plan(&|_| true).names().count();
    let filters =
        if is_everything { Filters::default() } else { Filters { with, exact: true, ..Filters::default() } };
    let unmet = unmet(std::slice::from_ref(suite), std::slice::from_ref(&planned))?;
    let session = planned.start(&machine, &filters, &[])?;
    session.announce();
    let mut trials = session.finish(&machine)?.trials;
    trials.extend(unmet);
    Ok(trials)
}

/// Runs the trials. Returns `None` if their results could not be printed: the printer of `libtest-mimic` panics then.
pub fn run_quietly(arguments: &Arguments, trials: Vec<Trial>) -> Option<Conclusion> {
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        let is_of_printer = info.location().is_some_and(|place| place.file().contains("libtest-mimic"));
        match info.payload().downcast_ref::<String>() {
            Some(text) if is_of_printer && text.contains("BrokenPipe") => {}
            Some(text) if is_of_printer => {
                // It unwraps an I/O error, whose own message is part of the text.
                let own = text.split_once("message: \"").and_then(|(_, rest)| Some(rest.split_once('"')?.0));
                eprint_line(&format!("error: the results cannot be printed: {}", own.unwrap_or(text)));
            }
            _ => usual(info),
        }
    }));
    let threads = arguments.test_threads.unwrap_or_else(|| available_parallelism().map_or(1, usize::from));
    let is_alone = threads == 1 || check_threads(threads).is_err();
    let arguments = Arguments {
        test_threads: if is_alone { Some(1) } else { arguments.test_threads },
        ..arguments.clone()
    };
    panic::catch_unwind(AssertUnwindSafe(|| libtest_mimic::run(&arguments, trials))).ok()
}
