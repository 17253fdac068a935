//! Reports of both ends of a gateway.

use catalogue::Level;
use results::text::counted;
use results::{BetweenRun, BetweenTest, OfPair, StreamOutcome, Unaccounted, Verdict};
use serde_json::json;

use super::form::Reported;
use super::impact::{in_all, in_between};
use super::sheet::{Cell, Note, Section, Sheet};
use super::style::{Detail, Screen};
use super::test::html::{Page, by_verdict as look_of};
use super::test::{Tested, by_verdict, rule};

/// Maximum number of clients that were not played to, in a line.
const CLIENTS: usize = 20;

impl Reported for BetweenRun {
    fn sheet(&self) -> Sheet<'_> {
        tested(self).sheet()
    }

    fn human(&self, detail: Detail, screen: Screen) -> String {
        tested(self).human(detail, screen)
    }

    fn html(&self) -> String {
        tested(self).html(&page(self))
    }
}

fn tested(run: &BetweenRun) -> Tested<'_, OfPair> {
    let unaccounted = |Unaccounted { request, times, .. }: &Unaccounted| {
        let text = format!("{request}, {}", counted(*times, "time"));
        Note::new(Level::May, "unaccounted request", text)
    };
    Tested {
        command: "between",
        subject: run.gateway.clone(),
        suite: &run.suite,
        outcome: run.outcome,
        fail_on: run.fail_on,
        levels: &run.levels,
        tests: &run.tests,
        causes: &run.causes,
        stale: &run.stale,
        unmet: Vec::new(),
        folder: run.folder.as_deref(),
        group: BetweenTest::pair,
        short_name: BetweenTest::short_name,
        state: |test| by_verdict(test.verdict),
        title: |test| test.about.stream.map_or("", StreamOutcome::name),
        dialect: None,
        model: Some(&run.model),
        noun: "pair",
        about: |_, _| Vec::new(),
        page: rule::of_pair,
        again: Box::new(|test| run.command_of(test)),
        played: Box::new(|cause| in_between(run, cause)),
        below: played(run).into_iter().map(Cell::Code).collect(),
        sections: Box::new(|| {
            vec![pairs(run), outcomes(run), measures(run), limits(run), self::unaccounted(run)]
        }),
        notes: run.unaccounted.iter().map(unaccounted).collect(),
        steps: run.next(),
        ms: run.ms,
        report: Box::new(move || json!(run)),
    }
}

/// Lines about all responses that were played to clients.
fn played(run: &BetweenRun) -> Vec<String> {
    in_all(run.causes.iter().filter_map(|cause| cause.played.as_ref()), &run.not_played, CLIENTS)
}

fn pairs(run: &BetweenRun) -> Section {
    let heads = ["client", "upstream", "mode", "passed", "failed", "skipped"];
    let rows = run.pairs.iter().map(|pair| {
        let names = [&pair.front, &pair.upstream, &pair.mode].map(Cell::code);
        let counts = [pair.passed, pair.failed, pair.skipped].map(|count| Cell::plain(count.to_string()));
        names.into_iter().chain(counts).collect()
    });
    Section::table("Pairs", heads, 3, rows)
}

fn measures(run: &BetweenRun) -> Section {
    let measured = run.tests.iter().filter(|test| !test.about.measures.is_empty());
    let rows = measured.map(|test| vec![Cell::code(&test.name), Cell::code(test.about.measures.join(" · "))]);
    Section::table("Sessions", ["session", "measures"], 0, rows)
}

fn limits(run: &BetweenRun) -> Section {
    let row = |(rule, reason, tests): (&str, &str, u64)| {
        vec![Cell::code(rule), Cell::code(reason), Cell::plain(tests.to_string())]
    };
    let rows = run.limits().into_iter().map(row);
    Section::table("Limits of the APIs", ["rule", "not judged, because", "tests"], 1, rows)
}

fn unaccounted(run: &BetweenRun) -> Section {
    let row = |Unaccounted { request, body, times }: &Unaccounted| {
        vec![Cell::code(request), Cell::code(body), Cell::plain(times.to_string())]
    };
    let heads = ["request upstream", "body", "times"];
    Section::table("Requests that no test accounts for", heads, 1, run.unaccounted.iter().map(row))
}

fn page(run: &BetweenRun) -> Page<'_, OfPair> {
    let limit = |[rule, reason]: &[String; 2]| (format!("not judged: {rule}"), reason.clone());
    let count = |verdict| run.count(verdict);
    let of =
        |has_failed: bool| run.pairs.iter().filter(|pair| (pair.failed > 0) == has_failed).count() as u64;
    Page {
        kind: "Both ends of a gateway",
        facts: vec![("gateway", run.url.clone()), ("model", run.model.clone())],
        command: run.typed.clone().unwrap_or_else(|| run.command_for(&[], &[])),
        meters: vec![
            (
                "tests",
                vec![
                    (count(Verdict::Pass), "good", "passed"),
                    (count(Verdict::Fail), "bad", "failed"),
                    (count(Verdict::NotExercised), "idle", "skipped"),
                    (count(Verdict::HarnessError), "unknown", "not judged"),
                ],
            ),
            ("pairs", vec![(of(false), "good", "without failures"), (of(true), "bad", "with failures")]),
        ],
        look: |test| look_of(test.verdict),
        facts_of: Box::new(move |test| test.about.limits.iter().map(limit).collect()),
        version: run.between_run,
    }
}

/// All outcomes of a client's stream, the best first.
const OUTCOMES: [StreamOutcome; 8] = [
    StreamOutcome::Complete,
    StreamOutcome::ErrorEvent,
    StreamOutcome::JsonError,
    StreamOutcome::Truncated,
    StreamOutcome::Incomplete,
    StreamOutcome::Malformed,
    StreamOutcome::FalseComplete,
    StreamOutcome::Hung,
];

fn outcomes(run: &BetweenRun) -> Section {
    let is_seen = |outcome: &StreamOutcome| run.tests.iter().any(|test| test.about.stream == Some(*outcome));
    let shown: Vec<StreamOutcome> = OUTCOMES.into_iter().filter(is_seen).collect();
    let rows = run.pairs.iter().filter(|_| !shown.is_empty()).map(|pair| {
        let own = run.tests.iter().map(|test| &test.about);
        let own: Vec<&OfPair> =
            own.filter(|about| about.front == pair.front && about.upstream == pair.upstream).collect();
        let count = |outcome| own.iter().filter(|about| about.stream == Some(outcome)).count();
        let counts = shown.iter().map(|outcome| Cell::plain(count(*outcome).to_string()));
        [&pair.front, &pair.upstream].map(Cell::code).into_iter().chain(counts).collect()
    });
    let heads = ["client", "upstream"].into_iter().chain(shown.iter().map(|outcome| outcome.name()));
    Section::table("Outcomes of the client's streams", heads, shown.len(), rows)
}
