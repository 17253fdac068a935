//! Differences between two runs.

use conformance::reports::Style;
use conformance::reports::diff::{Diff, RuleChange, human, markdown};
use conformance::results::{Run, Verdict};

use crate::runs;

fn names(changes: &[conformance::reports::diff::TrialChange]) -> Vec<&str> {
    changes.iter().map(|change| change.name.as_str()).collect()
}

/// Returns the run without a trial.
fn without(mut run: Run, trial: &str) -> Run {
    for case in run.live.iter_mut().flat_map(|live| &mut live.cases) {
        case.trials.retain(|told| told.name != trial);
    }
    run
}

/// Returns the run with another verdict of a trial.
fn ended(mut run: Run, trial: &str, verdict: Verdict) -> Run {
    let cases = run.live.iter_mut().flat_map(|live| &mut live.cases);
    let told = cases.flat_map(|case| &mut case.trials).find(|told| told.name == trial);
    told.expect("there is such a trial").judged.verdict = verdict;
    run
}

#[test]
fn a_run_does_not_differ_from_itself() {
    for run in [runs::good(), runs::bad(), runs::hostile()] {
        assert!(Diff::new(&run, &run).is_empty());
    }
}

#[test]
fn worse_and_better_are_told_apart() {
    let (good, bad) = (runs::good(), runs::bad());
    let worse = Diff::new(&good, &bad);
    assert!(worse.is_worse());
    let rules: Vec<&str> = worse.worse_rules.iter().map(|rule| rule.id.as_str()).collect();
    assert_eq!(rules, ["part/before-open", "schema/event-known", "text/equals-part", "wire/json-object"]);
    // The one was good; the others were not run before.
    let failing = ["text/hello::part", "text/long::answer", "text/long::wire", "text/two::text"];
    assert_eq!(names(&worse.worse_trials), failing);
    assert!(names(&worse.newly_exercised).contains(&"text/two::answer"));
    assert!(names(&worse.no_longer_exercised).contains(&"call/parallel::part"));
    let better = Diff::new(&bad, &good);
    assert!(!better.is_worse());
    let ids = |rules: &[RuleChange]| rules.iter().map(|rule| rule.id.clone()).collect::<Vec<_>>();
    assert_eq!(ids(&better.better_rules), ["part/before-open", "schema/event-known"]);
    // The scenarios that broke these were not sent again, so it is unknown whether they are better.
    assert_eq!(ids(&better.other_rules), ["text/equals-part", "wire/json-object"]);
    assert_eq!(names(&better.better_trials), ["text/hello::part"]);
    insta::assert_snapshot!("diff_human", human(&worse, Style::Plain));
    insta::assert_snapshot!("diff_markdown", markdown(&worse));
    insta::assert_snapshot!("diff_json", serde_json::to_string_pretty(&better).expect("it can be written"));
}

#[test]
fn each_turn_of_a_trial_has_its_place() {
    let (pass, fail) = (Verdict::Pass, Verdict::Fail);
    let (skipped, broken) = (Verdict::NotExercised, Verdict::HarnessError);
    let trial = "text/hello::part";
    for (before, after, list) in [
        (pass, fail, 0),
        (skipped, fail, 0),
        (broken, fail, 0),
        (fail, pass, 1),
        (skipped, pass, 2),
        (broken, pass, 2),
        (pass, skipped, 3),
        (fail, broken, 3),
        (skipped, broken, 4),
        (fail, fail, 4),
    ] {
        let diff = Diff::new(&ended(runs::good(), trial, before), &ended(runs::good(), trial, after));
        let lists =
            [&diff.worse_trials, &diff.better_trials, &diff.newly_exercised, &diff.no_longer_exercised];
        for (at, changes) in lists.into_iter().enumerate() {
            assert_eq!(changes.len(), usize::from(at == list), "{before:?} -> {after:?}: {at}");
        }
        assert_eq!(diff.is_worse(), list == 0, "{before:?} -> {after:?}");
    }
}

/// A failing trial that is missing in the old run is not a known failure.
#[test]
fn a_trial_that_was_not_run_before_has_its_place() {
    let trial = "text/hello::part";
    let before = without(runs::good(), trial);
    for (after, list) in
        [(Verdict::Fail, 0), (Verdict::Pass, 2), (Verdict::NotExercised, 4), (Verdict::HarnessError, 4)]
    {
        let diff = Diff::new(&before, &ended(runs::good(), trial, after));
        let lists =
            [&diff.worse_trials, &diff.better_trials, &diff.newly_exercised, &diff.no_longer_exercised];
        for (at, changes) in lists.into_iter().enumerate() {
            assert_eq!(changes.len(), usize::from(at == list), "{after:?}: {at}");
        }
        assert_eq!(diff.is_worse(), after == Verdict::Fail, "{after:?}");
        let told = human(&diff, Style::Plain);
        assert_eq!(told.contains("text/hello::part not run -> "), list != 4, "{told}");
    }
    // Trials missing in the new run are reported, regardless of their verdict.
    for was in [Verdict::Pass, Verdict::Fail] {
        let diff = Diff::new(&ended(runs::good(), trial, was), &before);
        assert_eq!(names(&diff.no_longer_exercised), [trial]);
        assert!(!diff.is_worse());
    }
}

/// Cases in only one of the runs come first, with their trials by group.
#[test]
fn unlike_runs_are_folded() {
    let mut whole = runs::good();
    let live = whole.live.as_mut().expect("it is of an endpoint");
    let case = live.cases.first().expect("there is one").clone();
    for number in 0..30 {
        let mut more = case.clone();
        more.name = format!("{}/more-{number:02}", if number < 20 { "call" } else { "text" });
        for told in &mut more.trials {
            let about = told.name.rsplit("::").next().unwrap_or_default().to_owned();
            told.name = format!("{}::{about}", more.name);
        }
        live.cases.push(more);
    }
    let few = runs::good();
    let mut asked = few.clone();
    asked.live.as_mut().expect("it is of an endpoint").options.profiles = vec!["core".to_owned()];
    let diff = Diff::new(&whole, &asked);
    assert_eq!(diff.unlike[1..], ["profiles: all before, core after"]);
    let told = human(&diff, Style::Plain);
    let trials = case.trials.len();
    let first = "only before, 30 of 32 scenarios: call/more-00, call/more-01, call/more-02, call/more-03, call/more-04 \
                 and 25 more";
    let in_a_line = told.split_whitespace().collect::<Vec<_>>().join(" ");
    let at = |what: &str| in_a_line.find(what).unwrap_or_else(|| panic!("{what}\n{told}"));
    assert!(at("the options of the runs differ") < at(first));
    let folded = format!("call {} trials, pass -> not run: call/more-00::", 20 * trials);
    assert!(at(first) < at("no longer exercised") && at("no longer exercised") < at(&folded));
    assert!(told.lines().count() < 30, "{told}");
    let page = markdown(&diff);
    assert!(
        page.contains("- `call`: ") && page.contains("and 25 more") && page.lines().count() < 30,
        "{page}"
    );
    // Failures are listed one by one. If both runs have the same cases, nothing precedes them.
    let mut failing = whole.clone();
    for told in failing.live.iter_mut().flat_map(|live| &mut live.cases).flat_map(|case| &mut case.trials) {
        told.judged.verdict = Verdict::Fail;
    }
    let worse = Diff::new(&whole, &failing);
    assert!(worse.unlike.is_empty() && worse.worse_trials.len() > 60);
    assert!(human(&worse, Style::Plain).contains("call/more-19::answer pass -> fail"));
}

/// Recordings are compared by how many break a rule, too.
#[test]
fn recordings_are_counted() {
    let one = |count: usize| {
        let broken = |at: usize| runs::violated(&format!("{at}.sse"), "text/equals-part");
        runs::run((0..count).map(broken).collect(), None)
    };
    assert!(Diff::new(&one(1), &one(2)).is_worse());
    assert!(!Diff::new(&one(2), &one(1)).is_worse());
    assert_eq!(Diff::new(&one(2), &one(1)).better_rules.len(), 1);
}
