//! The report of a client for a terminal.

use std::fmt::Write as _;

use catalogue::Level;
use results::text::{counted, grouped, visible, wrap};
use results::{
    ClientOutcome, ClientRun, ClientTest, FailOn, LevelChange, Outcome, ProfileReport, TestFinding, Verdict,
};

use super::super::style::{Detail, Screen};

/// Maximum number of cases of an outcome that are listed.
const LISTED: usize = 12;

pub(super) fn human(run: &ClientRun, detail: Detail, screen: Screen) -> String {
    let mut out = String::new();
    let is_verbose = detail.is_verbose;
    let most = if is_verbose { usize::MAX } else { LISTED };
    let told = ClientOutcome::ALL.into_iter().filter(|outcome| {
        is_verbose
            || !matches!(
                outcome,
                ClientOutcome::Right | ClientOutcome::Reported | ClientOutcome::NotExercised
            )
    });
    for outcome in told {
        let cases: Vec<&ClientTest> = run.tests.iter().filter(|case| case.about.outcome == outcome).collect();
        if cases.is_empty() {
            continue;
        }
        let fails = cases.iter().any(|case| case.findings.iter().any(|finding| finding.fails));
        if !fails && outcome.rule().is_some_and(|rule| rule.level < detail.level) {
            continue;
        }
        let title = format!("{} ({})", outcome.name(), cases.len());
        let _ = writeln!(out, "{}", painted(outcome, fails, &title, screen));
        for case in cases.iter().take(most) {
            list(case, is_verbose, screen, &mut out);
        }
        if cases.len() > most {
            let _ = writeln!(out, "  and {} more (--verbose lists them)", cases.len() - most);
        }
        out.push('\n');
    }
    requests(run, most, detail.level, &mut out);
    for stale in &run.stale {
        let _ = writeln!(out, "expected failure passes: {}", visible(stale));
    }
    summary(run, screen, &mut out);
    out
}

fn painted(outcome: ClientOutcome, fails: bool, text: &str, screen: Screen) -> String {
    match outcome {
        ClientOutcome::Right | ClientOutcome::Reported => screen.style.good(text),
        ClientOutcome::NotExercised => text.to_owned(),
        _ if fails => screen.style.level(Level::Must, text),
        _ => screen.style.level(Level::Should, text),
    }
}

fn list(case: &ClientTest, is_verbose: bool, screen: Screen, out: &mut String) {
    let _ = writeln!(out, "  {}  {}", screen.style.bold(&visible(&case.name)), visible(&case.about.title));
    let mut notes = Vec::new();
    if !case.reason.is_empty() {
        notes.push(visible(&case.reason));
    }
    if is_verbose {
        notes.push(format!(
            "{}: {} ({})",
            case.about.expect,
            visible(&case.about.because),
            visible(&case.about.authority)
        ));
    } else if case.about.outcome.rank() > 1 {
        notes.push(format!("wanted: {}. {}", wanted(&case.about.expect), visible(&case.about.because)));
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

pub(super) fn wanted(expect: &str) -> &str {
    match expect {
        "must-survive" => "the answer that was sent, without an error",
        "must-report" => "an error",
        "either" => "the answer that was sent, or an error",
        other => other,
    }
}

/// Each once, with the number of cases and the first.
pub(super) fn problems(run: &ClientRun) -> Vec<(&TestFinding, usize, &str)> {
    let problems = run.tests.iter().flat_map(|test| {
        test.requests().map(|problem| ((&problem.rule, &problem.message), (problem, &*test.name)))
    });
    let all = grouped(problems);
    all.into_iter().map(|(_, cases)| (cases[0].0, cases.len(), cases[0].1)).collect()
}

fn requests(run: &ClientRun, most: usize, shown: Level, out: &mut String) {
    let mut all = problems(run);
    all.retain(|(problem, ..)| problem.fails || problem.level >= shown);
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
        let counts = shown
            .iter()
            .map(|outcome| cases.iter().filter(|case| case.about.outcome == *outcome).count() as u64);
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
        counted(run.tests.len() as u64, "case"),
        run.ms / 1000,
        run.ms % 1000 / 100,
        visible(&run.dialect_in_words())
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

/// With the terms of its verdict where they are not the usual ones.
fn why(run: &ClientRun) -> Vec<String> {
    let fails = |test: &ClientTest, rule: &str| {
        test.expected.is_none() && test.findings.iter().any(|finding| finding.fails && finding.rule == rule)
    };
    let is_counted = |test: &&ClientTest| match test.about.outcome.rule() {
        Some(rule) => fails(test, rule.id),
        None => run.outcome == Outcome::Incomplete && test.verdict == Verdict::HarnessError,
    };
    let counted_of =
        |outcome| run.tests.iter().filter(|test| test.about.outcome == outcome).filter(is_counted).count();
    let told = |outcome: ClientOutcome| match counted_of(outcome) {
        0 => None,
        count => Some(format!("{count} {}: {}", outcome.name(), outcome.meaning())),
    };
    let mut reasons: Vec<String> = ClientOutcome::ALL.into_iter().filter_map(told).collect();
    let has_sent = |test: &&ClientTest| test.requests().any(|problem| fails(test, &problem.rule));
    let invalid = run.tests.iter().filter(has_sent).count() as u64;
    if invalid > 0 {
        reasons.push(format!("{} with invalid requests", counted(invalid, "case")));
    }
    for (profile, _) in run.unmet() {
        reasons.push(format!("profile {}: {}", visible(&profile.name), profile.state.name()));
    }
    if !run.stale.is_empty() {
        reasons.push(format!("{} over", counted(run.stale.len() as u64, "expected failure")));
    }
    if run.fail_on != FailOn::default() {
        reasons.push(format!("fails on {}", run.fail_on.words()));
    }
    if !run.levels.is_empty() {
        reasons.push(format!("levels changed: {}", LevelChange::words(&run.levels, LISTED)));
    }
    reasons
}

pub(super) fn claimed(run: &ClientRun) -> impl Iterator<Item = &ProfileReport> {
    let is_claimed = |profile: &&ProfileReport| {
        let missing = profile.reasons.iter().filter(|reason| reason.verdict == Verdict::NotExercised).count();
        missing < profile.scenarios.len() || run.asked.contains(&profile.name)
    };
    run.profiles.iter().filter(is_claimed)
}

pub(super) fn groups(run: &ClientRun) -> Vec<(&str, Vec<&ClientTest>)> {
    grouped(run.tests.iter().map(|case| (catalogue::group(&case.name), case)))
}
