//! The report of a client for a terminal.

use std::fmt::Write as _;

use catalogue::Level;
use results::text::{counted, grouped, visible, wrap};
use results::{ClientCaseReport, ClientOutcome, ClientRun, Outcome, ProfileReport, RequestProblem, Verdict};

use super::super::style::Screen;

/// Maximum number of cases of an outcome that are listed.
const LISTED: usize = 12;

pub(super) fn human(run: &ClientRun, is_verbose: bool, screen: Screen) -> String {
    let mut out = String::new();
    let most = if is_verbose { usize::MAX } else { LISTED };
    let told = ClientOutcome::ALL.into_iter().filter(|outcome| {
        is_verbose
            || !matches!(
                outcome,
                ClientOutcome::Right | ClientOutcome::Reported | ClientOutcome::NotExercised
            )
    });
    for outcome in told {
        let cases: Vec<&ClientCaseReport> = run.cases.iter().filter(|case| case.outcome == outcome).collect();
        if cases.is_empty() {
            continue;
        }
        let title = format!("{} ({})", outcome.name(), cases.len());
        let _ = writeln!(out, "{}", painted(outcome, run.strict, &title, screen));
        for case in cases.iter().take(most) {
            list(case, is_verbose, screen, &mut out);
        }
        if cases.len() > most {
            let _ = writeln!(out, "  and {} more (--verbose lists them)", cases.len() - most);
        }
        out.push('\n');
    }
    requests(run, most, &mut out);
    for stale in &run.stale {
        let _ = writeln!(out, "expected failure passes: {}", visible(stale));
    }
    summary(run, screen, &mut out);
    out
}

fn painted(outcome: ClientOutcome, is_strict: bool, text: &str, screen: Screen) -> String {
    match outcome {
        ClientOutcome::Right | ClientOutcome::Reported => screen.style.good(text),
        ClientOutcome::NotExercised => text.to_owned(),
        outcome if outcome.fails(is_strict) => screen.style.level(Level::Must, text),
        _ => screen.style.level(Level::Should, text),
    }
}

fn list(case: &ClientCaseReport, is_verbose: bool, screen: Screen, out: &mut String) {
    let _ = writeln!(out, "  {}  {}", screen.style.bold(&visible(&case.name)), visible(&case.title));
    let mut notes = Vec::new();
    if !case.detail.is_empty() {
        notes.push(visible(&case.detail));
    }
    if is_verbose {
        notes.push(format!("{}: {} ({})", case.expect, visible(&case.reason), visible(&case.authority)));
    } else if case.outcome.rank() > 1 {
        notes.push(format!("wanted: {}. {}", wanted(&case.expect), visible(&case.reason)));
    }
    if let Some(reason) = &case.expected {
        notes.push(format!("expected: {}", visible(reason)));
    }
    for note in notes {
        for line in wrap(&note, screen.width.saturating_sub(6)) {
            let _ = writeln!(out, "      {line}");
        }
    }
}

/// Returns what a client must do, by the name of the expectation.
pub(super) fn wanted(expect: &str) -> &str {
    match expect {
        "must-survive" => "the answer that was sent, without an error",
        "must-report" => "an error",
        "either" => "the answer that was sent, or an error",
        other => other,
    }
}

/// Returns the problems of requests, each once, with the number of cases and the first.
pub(super) fn problems(run: &ClientRun) -> Vec<(&RequestProblem, usize, &str)> {
    let problems =
        run.cases.iter().flat_map(|case| case.requests.iter().map(move |problem| (problem, &*case.name)));
    let all = grouped(problems);
    all.into_iter().map(|(problem, cases)| (problem, cases.len(), cases[0])).collect()
}

fn requests(run: &ClientRun, most: usize, out: &mut String) {
    let all = problems(run);
    if all.is_empty() {
        return;
    }
    let _ = writeln!(out, "requests of the client ({})", all.len());
    for (problem, count, case) in all.iter().take(most) {
        let _ = writeln!(
            out,
            "  {}: {} ({count} case{}, first {})",
            visible(&problem.rule),
            visible(&problem.message),
            if *count == 1 { "" } else { "s" },
            visible(case)
        );
    }
    if all.len() > most {
        let _ = writeln!(out, "  and {} more (--verbose lists them)", all.len() - most);
    }
    out.push('\n');
}

fn summary(run: &ClientRun, screen: Screen, out: &mut String) {
    let groups: Vec<(String, _)> =
        groups(run).into_iter().map(|(name, cases)| (visible(name), cases)).collect();
    let width = groups.iter().map(|(name, _)| name.len()).max().unwrap_or(0).max(5);
    let shown: Vec<ClientOutcome> =
        ClientOutcome::ALL.into_iter().filter(|outcome| run.totals.count(*outcome) > 0).collect();
    let head: Vec<String> = shown.iter().map(|outcome| outcome.name().to_owned()).collect();
    let row = |name: &str, counts: Vec<u64>| {
        let cells = counts.iter().zip(&head).map(|(count, head)| {
            let text = if *count == 0 { "-".to_owned() } else { count.to_string() };
            format!("  {text:>width$}", width = head.len())
        });
        format!("{name:width$}{}", cells.collect::<String>())
    };
    let _ = writeln!(out, "{:width$}  {}", "cases", head.join("  "));
    for (name, cases) in &groups {
        let counts =
            shown.iter().map(|outcome| cases.iter().filter(|case| case.outcome == *outcome).count() as u64);
        let _ = writeln!(out, "{}", row(name, counts.collect()));
    }
    let _ = writeln!(out, "{}", row("all", shown.iter().map(|outcome| run.totals.count(*outcome)).collect()));
    for profile in claimed(run) {
        for line in
            wrap(&format!("profile {}: {}", visible(&profile.name), visible(&profile.words())), screen.width)
        {
            let _ = writeln!(out, "{line}");
        }
    }
    let _ = writeln!(
        out,
        "\n{}: {} · {} in {}.{} s · dialect {}",
        screen.style.outcome(run.outcome, run.outcome.name()),
        visible(&run.title()),
        counted(run.cases.len() as u64, "case"),
        run.ms / 1000,
        run.ms % 1000 / 100,
        visible(&run.dialect)
    );
    for why in why(run) {
        let _ = writeln!(out, "  {why}");
    }
    let next = run.next();
    if !next.is_empty() {
        let _ = writeln!(out, "\nnext");
    }
    for step in next {
        let _ = writeln!(out, "  {}\n    {}", visible(&step.why), visible(&step.command));
    }
}

/// Returns why a run did not pass.
fn why(run: &ClientRun) -> Vec<String> {
    let is_counted = |outcome: &ClientOutcome| {
        outcome.fails(run.strict)
            || run.outcome == Outcome::Incomplete && *outcome == ClientOutcome::HarnessError
    };
    let count =
        |outcome| run.cases.iter().filter(|case| case.outcome == outcome && case.expected.is_none()).count();
    let told = |outcome: ClientOutcome| match count(outcome) {
        0 => None,
        count => Some(format!("{count} {}: {}", outcome.name(), outcome.meaning())),
    };
    let mut reasons: Vec<String> =
        ClientOutcome::ALL.into_iter().filter(is_counted).filter_map(told).collect();
    if run.strict && run.totals.invalid_requests > 0 {
        reasons.push(format!("{} with invalid requests", counted(run.totals.invalid_requests, "case")));
    }
    for (profile, _) in run.unmet() {
        reasons.push(format!("profile {}: {}", visible(&profile.name), profile.state.name()));
    }
    if !run.stale.is_empty() {
        reasons.push(format!("{} over", counted(run.stale.len() as u64, "expected failure")));
    }
    reasons
}

/// Returns the profiles with an exercised case.
pub(super) fn claimed(run: &ClientRun) -> impl Iterator<Item = &ProfileReport> {
    let is_claimed = |profile: &&ProfileReport| {
        let missing = profile.reasons.iter().filter(|reason| reason.verdict == Verdict::NotExercised).count();
        missing < profile.scenarios.len() || run.asked.contains(&profile.name)
    };
    run.profiles.iter().filter(is_claimed)
}

/// Returns the cases by group, in order.
pub(super) fn groups(run: &ClientRun) -> Vec<(&str, Vec<&ClientCaseReport>)> {
    grouped(run.cases.iter().map(|case| (catalogue::group(&case.name), case)))
}
