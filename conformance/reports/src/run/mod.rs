//! The sheet of a run against an endpoint, or of checked recordings.

mod causes;
mod compared;
mod lines;
mod scanning;
mod sections;
mod tests;

use catalogue::Level;
use results::text::{counted, visible};
use results::{LiveReport, Run, Undecided, Verdict};
use serde_json::{Value, json};

use super::form::Reported;
use super::html::html;
use super::human::diagnostics;
use super::sheet::{Note, Sheet, state};
use super::style::{Detail, Screen};
use super::summary::summary;
use super::terms::terms;

pub use lines::{ndjson_of_recording, ndjson_of_run};

impl Reported for Run {
    fn sheet(&self) -> Sheet<'_> {
        let live = self.live.as_ref();
        Sheet {
            title: format!("conformance {}", self.dialect),
            id: format!("conformance/{}/", self.dialect),
            suite: &self.suite,
            outcome: self.outcome,
            fail_on: self.fail_on,
            state: state(self.outcome, failed(self), self.levels.len()),
            began: live.and_then(|live| live.options.began.as_deref()),
            intro: sections::intro(self),
            terms: terms(self),
            groups: Box::new(|| tests::groups(self)),
            facts: vec![("clients that break", tests::clients(self))],
            causes: causes::causes(self),
            below: causes::below(self),
            sections: Box::new(|| sections::sections(self)),
            notes: notes(self),
            stale: self.stale(),
            unmet: live.into_iter().flat_map(LiveReport::unmet).collect(),
            rules: Box::new(|| scanning::rules(self)),
            results: Box::new(|most| scanning::results(self, most)),
            properties: properties(self),
            lines: Box::new(|| {
                let recordings: String = self.captures.iter().map(ndjson_of_recording).collect();
                recordings + &ndjson_of_run(self)
            }),
            compared: compared::compared(self),
        }
    }

    fn human(&self, detail: Detail, screen: Screen) -> String {
        format!("{}{}", diagnostics(self, detail, screen), summary(self, detail, screen))
    }

    fn html(&self) -> String {
        html(self)
    }
}

/// The number of failures that the summary shows first.
fn failed(run: &Run) -> Option<(u64, &'static str)> {
    let count = match &run.live {
        Some(_) => (run.totals.trials.failed, "test"),
        None => (run.totals.errors, "error"),
    };
    if count.0 > 0 { Some(count) } else { run.failing().non_zero().next() }
}

fn notes(run: &Run) -> Vec<Note> {
    let undecided = |Undecided { verdict, reason, trials, .. }: &Undecided| {
        let (title, level) = match verdict {
            Verdict::HarnessError => ("harness error", Level::Must),
            _ => ("not exercised", Level::May),
        };
        let text = format!("{reason} ({})", counted(*trials, "trial"));
        Note { is_minor: level == Level::May, ..Note::new(level, title, text) }
    };
    let mut notes: Vec<Note> = run.undecided.iter().map(undecided).collect();
    for capture in &run.captures {
        // Of an endpoint, the trials say it.
        let is_minor = run.live.is_some();
        let file = (!is_minor).then(|| capture.path().into_owned());
        let name = run.name(capture);
        notes.extend(capture.error.iter().map(|error| {
            let note = Note::new(Level::Must, "cannot be read", format!("{name}: {error}"));
            Note { file: file.clone(), is_minor, ..note }
        }));
        notes.extend(capture.first_lost.iter().map(|lost| {
            let text = format!("{name}: {}", lost.reason);
            Note { is_minor: true, ..Note::new(Level::May, "the connection was lost", text) }
        }));
    }
    notes
}

fn properties(run: &Run) -> Value {
    let mut properties = json!({ "dialect": visible(&run.dialect) });
    let Some(members) = properties.as_object_mut() else { return properties };
    let recognised: Vec<Value> = run
        .recognised()
        .into_iter()
        .map(|(dialect, count, by)| json!({ "dialect": visible(dialect), "responses": count, "by": visible(by) }))
        .collect();
    if !recognised.is_empty() {
        members.insert("recognised".to_owned(), recognised.into());
    }
    if let Some(live) = &run.live {
        members.insert("target".to_owned(), visible(&live.target).into());
        members.insert("model".to_owned(), visible(&live.model).into());
    }
    properties
}
