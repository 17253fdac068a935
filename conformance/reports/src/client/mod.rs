//! Reports of clients: of one run, and of many side by side.

mod html;
mod matrix;

use results::text::grouped;
use results::{ClientOutcome, ClientRun, ClientTest, OfClient, ProfileReport, Test, Verdict, shell_word};
use serde_json::json;

use super::form::{Form, Reported};
use super::json::json as text_of;
use super::sheet::{Cell, Section, Sheet};
use super::style::{Detail, Screen};
use super::test::html::Page;
use super::test::{Tested, rule};

pub use matrix::ClientMatrix;

/// The rule of requests whose cases explain it.
const RETRY: &str = "client-request/retry";

impl Reported for ClientRun {
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

fn tested(run: &ClientRun) -> Tested<'_, OfClient> {
    Tested {
        command: "client",
        subject: run.title(),
        suite: &run.suite,
        outcome: run.outcome,
        fail_on: run.fail_on,
        levels: &run.levels,
        tests: &run.tests,
        causes: &run.causes,
        stale: &run.stale,
        unmet: run.unmet().map(|(profile, _)| profile).collect(),
        folder: run.folder.as_deref(),
        group: |test| test.group().to_owned(),
        short_name: |test| &test.name,
        state,
        title: |test| &test.about.title,
        dialect: Some(run.dialect_in_words()),
        model: None,
        noun: "group",
        about: |Test { about, .. }, finding| {
            // But for retries, a request is wrong whatever the response is.
            if finding.is_some_and(|it| {
                it.rule != RETRY && about.outcome.rule().is_none_or(|rule| rule.id != it.rule)
            }) {
                return Vec::new();
            }
            let response = finding.map(|_| ("response", &*about.title));
            let rest = [
                ("wanted", wanted(&about.expect)),
                ("because", &about.because),
                ("authority", &about.authority),
            ];
            response.into_iter().chain(rest).collect()
        },
        page: rule::of_client,
        again: Box::new(|test| run.command_of(&test.name)),
        played: Box::new(|_| Vec::new()),
        below: Vec::new(),
        sections: Box::new(|| vec![cases(run), Section::profiles(claimed(run))]),
        notes: Vec::new(),
        steps: run.next(),
        ms: run.ms,
        report: Box::new(move || json!(run)),
    }
}

fn page(run: &ClientRun) -> Page<'_, OfClient> {
    let outcomes =
        ClientOutcome::ALL.map(|outcome| (run.totals.count(outcome), html::look(outcome), outcome.name()));
    let invalid = run.totals.invalid_requests;
    let sound = (run.tests.len() as u64).saturating_sub(invalid);
    let requests =
        vec![(sound, "good", "with valid requests"), (invalid, "unknown", "with invalid requests")];
    let words: Vec<_> = run.command.iter().map(|word| shell_word(word)).collect();
    Page {
        kind: "Client conformance",
        facts: vec![("dialect", run.dialect_in_words()), ("mode", run.mode.clone())],
        command: format!("conformance client -- {}", words.join(" ")),
        meters: vec![("cases", outcomes.to_vec()), ("requests", requests)],
        look: |test| {
            let outcome = test.about.outcome;
            [html::look(outcome), outcome.sign(), outcome.name()]
        },
        facts_of: Box::new(|test| {
            let show = format!("conformance client --show {}{}", shell_word(&test.name), run.dialect_flag());
            vec![
                (test.about.outcome.name().to_owned(), test.about.outcome.meaning().to_owned()),
                ("show it".to_owned(), show),
            ]
        }),
        version: run.client_run,
    }
}

fn state(test: &ClientTest) -> (&'static str, Option<u8>) {
    let outcome = test.about.outcome;
    // A case that a client no longer supports is worse than any outcome.
    let rank = if outcome == ClientOutcome::NotExercised { u8::MAX } else { outcome.rank() };
    (outcome.name(), Some(rank))
}

fn wanted(expect: &str) -> &str {
    match expect {
        "must-survive" => "the answer that was sent, without an error",
        "must-report" => "an error",
        "either" => "the answer that was sent, or an error",
        other => other,
    }
}

fn claimed(run: &ClientRun) -> impl Iterator<Item = &ProfileReport> {
    let is_claimed = |profile: &&ProfileReport| {
        let missing = profile.reasons.iter().filter(|reason| reason.verdict == Verdict::NotExercised).count();
        missing < profile.scenarios.len() || run.asked.contains(&profile.name)
    };
    run.profiles.iter().filter(is_claimed)
}

/// The numbers of cases by group and outcome.
fn cases(run: &ClientRun) -> Section {
    let shown: Vec<ClientOutcome> =
        ClientOutcome::ALL.into_iter().filter(|outcome| run.totals.count(*outcome) > 0).collect();
    let groups = grouped(run.tests.iter().map(|test| (test.group(), test)));
    let row = |(name, tests): (&str, Vec<&ClientTest>)| {
        let count =
            |outcome: &ClientOutcome| tests.iter().filter(|test| test.about.outcome == *outcome).count();
        let counts = shown.iter().map(|outcome| Cell::plain(count(outcome).to_string()));
        std::iter::once(Cell::code(name)).chain(counts).collect()
    };
    let rows = groups.into_iter().chain([("all", run.tests.iter().collect())]).map(row);
    let heads = std::iter::once("group").chain(shown.iter().map(|outcome| outcome.name()));
    Section::table("Cases", heads, shown.len(), rows)
}

/// Renders a matrix of clients; none, where a format has no place for one.
pub fn client_matrix(matrix: &ClientMatrix<'_>, form: Form) -> Option<String> {
    match form {
        Form::Human | Form::Markdown => Some(matrix.markdown()),
        Form::Html => Some(html::matrix(matrix)),
        Form::Json => Some(text_of(&matrix.runs())),
        _ => None,
    }
}
