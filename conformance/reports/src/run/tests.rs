//! The tests of a run: the trials of an endpoint, or the groups of rules that a recording keeps.

use std::borrow::Cow;
use std::collections::BTreeSet;

use results::text::counted;
use results::{CaptureReport, CaseReport, ClientTotal, Finding, Run, TrialResult, Verdict};

use crate::human::diagnostic;
use crate::sheet::{SheetFinding, SheetGroup, SheetTest};
use crate::style::{Screen, Style};
use crate::terms::dialects_of;
use crate::test::by_verdict;

/// Maximum number of recordings with their own group.
const RECORDINGS: usize = 1000;

pub(super) fn groups(run: &Run) -> Vec<SheetGroup<'_>> {
    match &run.live {
        Some(live) => live.cases.iter().map(|case| of_scenario(run, case)).collect(),
        None => of_recordings(run),
    }
}

pub(super) fn clients(run: &Run) -> Vec<(String, String)> {
    let broken = |client: &&ClientTotal| {
        let rules = client.rules.iter().map(|broken| format!("\n{}: {}", broken.rule, broken.failure));
        let text = format!("broken in {}", counted(client.captures, "recording"));
        (client.named(), text + &rules.collect::<String>())
    };
    run.broken_clients().iter().map(broken).collect()
}

fn of_scenario<'r>(run: &'r Run, case: &'r CaseReport) -> SheetGroup<'r> {
    let file = case.recordings(run).last().and_then(|capture| run.file(capture)).map(Cow::into_owned);
    let trial = |(number, told): (usize, &'r TrialResult)| {
        let verdict = told.judged.verdict;
        let findings = (verdict == Verdict::Fail).then(|| case.findings(told, run));
        SheetTest {
            name: Cow::Borrowed(&told.name),
            short_name: Cow::Borrowed(case.about(told)),
            findings: findings.into_iter().flatten().map(|(of, found)| finding(run, of, found)).collect(),
            file: file.clone(),
            // All trials judge the same exchanges.
            ms: if number == 0 { case.recordings(run).map(time_of).sum() } else { 0 },
            ..test(verdict, told.judged.reason.clone())
        }
    };
    SheetGroup {
        name: case.name.clone(),
        tests: case.trials.iter().enumerate().map(trial).collect(),
        remarks: case.title.clone(),
    }
}

fn test<'r>(verdict: Verdict, message: String) -> SheetTest<'r> {
    let state = by_verdict(verdict);
    SheetTest { verdict, state, reason: Cow::Owned(message.clone()), message, ..SheetTest::default() }
}

fn finding<'r>(run: &'r Run, capture: &'r CaptureReport, found: &'r Finding) -> SheetFinding<'r> {
    let screen = Screen { style: Style::Plain, width: Screen::USUAL_WIDTH };
    SheetFinding {
        rule: &found.rule,
        fails: run.fail_on.fails(found),
        message: &found.message,
        in_full: Box::new(move || {
            diagnostic(&run.name(capture), found, run.dialect_of(found), run.fail_on, screen) + "\n"
        }),
    }
}

/// The duration of all exchanges in milliseconds.
fn time_of(capture: &CaptureReport) -> u64 {
    capture.timelines.iter().filter_map(|timeline| timeline.duration_ms).sum()
}

/// The worst recordings have groups of their own.
fn of_recordings(run: &Run) -> Vec<SheetGroup<'_>> {
    let rules: BTreeSet<&str> = run.rules.iter().map(|rule| catalogue::group(&rule.id)).collect();
    let has_failed = |capture: &CaptureReport| capture.has_failed(run.fail_on) || capture.error.is_some();
    let mut order: Vec<&CaptureReport> = run.captures.iter().collect();
    if order.len() > RECORDINGS {
        order.sort_by_key(|capture| (!has_failed(capture), capture.findings.is_empty()));
    }
    let mut groups: Vec<SheetGroup<'_>> =
        order.iter().take(RECORDINGS).map(|capture| of_recording(run, capture, &rules)).collect();
    let rest = order.get(RECORDINGS..).unwrap_or_default();
    if !rest.is_empty() {
        let failed = rest.iter().filter(|capture| has_failed(capture)).count();
        let verdict = if failed > 0 { Verdict::Fail } else { Verdict::Pass };
        let all = test(verdict, format!("{failed} of them failed"));
        let tests = vec![SheetTest { short_name: "all groups".into(), ..all }];
        let name = format!("and {} more recordings", rest.len());
        groups.push(SheetGroup { name, tests, remarks: String::new() });
    }
    groups
}

fn of_recording<'r>(run: &'r Run, capture: &'r CaptureReport, rules: &BTreeSet<&'r str>) -> SheetGroup<'r> {
    let recognised = dialects_of(capture).map(|dialects| format!("recognised: {dialects}"));
    let lost = capture.first_lost.as_ref().map(|lost| {
        format!("a connection was lost after {}: {}", counted(lost.events, "event"), lost.reason)
    });
    let remarks: Vec<String> = recognised.into_iter().chain(lost).collect();
    let has_nothing = capture.streams + capture.bodies == 0;
    let error = capture.error.iter().map(|error| ("reading", test(Verdict::HarnessError, error.clone())));
    let of_rules = rules.iter().map(|group| {
        let own = || capture.findings.iter().filter(|found| found.group() == *group);
        let failed = run.fail_on.broken(own());
        let (verdict, message) = match (failed.is_empty(), has_nothing) {
            (false, _) => (Verdict::Fail, failed),
            (true, true) => (Verdict::NotExercised, "it has no stream".to_owned()),
            (true, false) => (Verdict::Pass, String::new()),
        };
        let findings = own().map(|found| finding(run, capture, found)).collect();
        (*group, SheetTest { findings, ..test(verdict, message) })
    });
    let tests = error.chain(of_rules).enumerate().map(|(number, (about, test))| SheetTest {
        name: format!("{}::{about}", capture.name).into(),
        short_name: about.into(),
        file: run.file(capture).map(Cow::into_owned),
        ms: if number == 0 { time_of(capture) } else { 0 },
        ..test
    });
    let tests = tests.collect();
    SheetGroup { name: capture.name.clone(), tests, remarks: remarks.join("\n") }
}
