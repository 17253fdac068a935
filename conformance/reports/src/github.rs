//!
//! GitHub shows ten errors and ten warnings of a step. Therefore each cause has one annotation, at its first finding,
//! sorted by the number of broken clients. Failed responses follow, grouped by reason, and then the number of omitted
//! annotations. An annotation has a file only if that can be in the repository, unlike the responses of an endpoint.

use std::fmt::Write as _;

use catalogue::Level;

use super::human::{effects, extent};
use super::terms::{levels, reason};
use results::text::{counted, cut, listed, visible};
use results::{Cause, Run, Verdict};

/// Maximum number of annotations of a kind that GitHub shows.
const MAX_ANNOTATIONS: usize = 10;
/// Maximum number of names in a message.
const MAX_NAMES: usize = 6;
/// Maximum length of a message.
const MAX_LENGTH: usize = 1000;

/// An annotation.
pub(super) struct Annotation {
    pub(super) level: Level,
    /// A file of the repository, and a line.
    pub(super) file: Option<(String, u64)>,
    pub(super) title: String,
    pub(super) message: String,
}

pub(super) fn github(run: &Run, shown: Level) -> String {
    let mut all = causes(run, shown);
    all.extend(trials(run));
    all.extend(levels(run).map(|levels| Annotation::new(Level::May, "levels changed", levels)));
    lines(&all)
}

/// Returns annotations, one per line. Those beyond what GitHub shows are counted.
pub(super) fn lines(all: &[Annotation]) -> String {
    let mut out = String::new();
    for (level, word) in [(Level::Must, "error"), (Level::Should, "warning"), (Level::May, "notice")] {
        let of_level: Vec<&Annotation> = all.iter().filter(|annotation| annotation.level == level).collect();
        // The last notice counts the omitted annotations.
        let most = if level == Level::May { MAX_ANNOTATIONS - 2 } else { MAX_ANNOTATIONS };
        for annotation in of_level.iter().take(most) {
            annotation.write(word, &mut out);
        }
        if of_level.len() > most {
            let more = of_level.len() - most;
            let _ = writeln!(
                out,
                "::notice title=conformance::and {more} more {word} annotations, not shown here"
            );
        }
    }
    out
}

/// Returns annotations of trials that failed without a rule, and of harness errors.
fn trials(run: &Run) -> Vec<Annotation> {
    let mut all = Vec::new();
    for undecided in run.undecided.iter().filter(|undecided| undecided.verdict == Verdict::HarnessError) {
        let message = format!("{} ({})", undecided.reason, counted(undecided.trials, "trial"));
        all.push(Annotation::new(Level::Must, "harness error", message));
    }
    all.extend(passing(run.stale()));
    for (reason, names) in run.wrong_answers() {
        let message = format!("{reason}: {}", listed(&names, MAX_NAMES, |name| (*name).to_owned()));
        all.push(Annotation::new(Level::Must, "answer", message));
    }
    for capture in run.captures.iter().filter(|_| run.live.is_none()) {
        all.extend(capture.error.iter().map(|error| Annotation {
            file: Some((capture.path().into_owned(), 1)),
            ..Annotation::new(Level::Must, "cannot be read", error.clone())
        }));
    }
    all
}

/// Returns an annotation for the first place of each cause.
fn causes(run: &Run, shown: Level) -> Vec<Annotation> {
    let annotation = |cause: &Cause| {
        let (capture, finding) = run.first_of(cause)?;
        let mut message = cause.message.clone();
        if cause.times > 1 {
            let _ = write!(message, " ({})", extent(run, cause));
        }
        if !cause.clients.is_empty() {
            let _ = write!(message, "; breaks {}", listed(&cause.clients, MAX_NAMES, String::clone));
        }
        if let Some(reason) = reason(cause) {
            let _ = write!(message, "; fails: {reason}");
        }
        if let Some(fix) = &cause.fix {
            let _ = write!(message, "; fix: {fix}");
        }
        if let Some(effects) = effects(run, cause) {
            let _ = write!(message, "; effects: {effects}");
        }
        let (path, line) = (run.name(capture).into_owned(), finding.place.line.max(1));
        let is_in_repository = run.live.is_none() && !path.starts_with('/');
        if !is_in_repository {
            let _ = write!(message, "; first in {path}:{line}");
        }
        Some(Annotation {
            level: cause.level,
            file: is_in_repository.then_some((path, line)),
            title: cause.rule.clone(),
            message,
        })
    };
    run.own_causes().iter().filter(|cause| cause.is_shown(shown)).filter_map(annotation).collect()
}

pub(super) fn passing(stale: &[String]) -> impl Iterator<Item = Annotation> {
    let message = |entry: &String| format!("{entry}; remove it from the list");
    stale.iter().map(move |entry| Annotation::new(Level::Must, "unexpectedly passing", message(entry)))
}

impl Annotation {
    pub(super) fn new(level: Level, title: &str, message: String) -> Self {
        Self { level, file: None, title: title.to_owned(), message }
    }

    fn write(&self, word: &str, out: &mut String) {
        let _ = write!(out, "::{word} ");
        if let Some((file, line)) = &self.file {
            let _ = write!(out, "file={},line={line},", property(&visible(file)));
        }
        let message = visible(&cut(&self.message, MAX_LENGTH));
        let _ = writeln!(out, "title={}::{}", property(&visible(&self.title)), data(&message));
    }
}

/// Escapes a message.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes a property, in which more characters are special.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
