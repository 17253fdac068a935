//! A run as annotations of a GitHub workflow.
//!
//! GitHub shows ten errors and ten warnings of a step. So the first place of each rule is told, the worst
//! rule first, and what is left out is counted.

use std::fmt::Write as _;

use catalogue::Level;

use results::text::{counted, cut, visible};
use results::{RuleTotal, Run, Verdict};

/// So many of a kind are shown by GitHub.
const MOST: usize = 10;
/// So long may a message be.
const LENGTH: usize = 1000;

/// What is told of one place.
struct Annotation {
    level: Level,
    file: Option<(String, u64)>,
    title: String,
    message: String,
}

/// The annotations, one a line.
pub(super) fn github(run: &Run, shown: Level) -> String {
    let mut all = trials(run);
    all.extend(rules(run, shown));
    let mut out = String::new();
    for (level, word) in [(Level::Must, "error"), (Level::Should, "warning"), (Level::May, "notice")] {
        let of_level: Vec<&Annotation> = all.iter().filter(|annotation| annotation.level == level).collect();
        // The last notice is for what is left out.
        let most = if level == Level::May { MOST - 2 } else { MOST };
        for annotation in of_level.iter().take(most) {
            annotation.write(word, &mut out);
        }
        if of_level.len() > most {
            let more = of_level.len() - most;
            let _ =
                writeln!(out, "::notice title=conformance::and {more} more of kind {word}, not shown here");
        }
    }
    out
}

/// Trials that failed without a rule, and those of which nothing is known.
fn trials(run: &Run) -> Vec<Annotation> {
    let mut all = Vec::new();
    for undecided in run.undecided.iter().filter(|undecided| undecided.verdict == Verdict::HarnessError) {
        all.push(Annotation {
            level: Level::Must,
            file: None,
            title: "harness error".to_owned(),
            message: format!("{} ({})", undecided.reason, counted(undecided.trials, "trial")),
        });
    }
    all.extend(run.stale().iter().map(|entry| Annotation {
        level: Level::Must,
        file: None,
        title: "expected to fail, and does not".to_owned(),
        message: format!("{entry}; take it out of the list"),
    }));
    for case in run.live.iter().flat_map(|live| &live.cases) {
        let failed = case.trials.iter().filter(|trial| trial.judged.verdict == Verdict::Fail);
        for trial in failed.filter(|trial| case.about(trial) == "answer") {
            all.push(Annotation {
                level: Level::Must,
                file: case.recordings(run).last().map(|capture| (capture.path().into_owned(), 1)),
                title: trial.name.clone(),
                message: trial.judged.reason.clone(),
            });
        }
    }
    for capture in run.captures.iter().filter(|_| run.live.is_none()) {
        all.extend(capture.error.iter().map(|error| Annotation {
            level: Level::Must,
            file: Some((capture.path().into_owned(), 1)),
            title: "cannot be read".to_owned(),
            message: error.clone(),
        }));
    }
    all
}

/// The first place of each rule, and how many there are.
fn rules(run: &Run, shown: Level) -> Vec<Annotation> {
    let annotation = |rule: &RuleTotal| {
        let (capture, finding) = run.first(rule)?;
        let more = if rule.times > 1 { format!(" (and {} more)", rule.times - 1) } else { String::new() };
        Some(Annotation {
            level: rule.worst,
            file: Some((capture.path().into_owned(), finding.place.line.max(1))),
            title: rule.id.clone(),
            message: format!("{}{more}", finding.message),
        })
    };
    run.broken().into_iter().filter(|rule| rule.worst >= shown).filter_map(annotation).collect()
}

impl Annotation {
    fn write(&self, word: &str, out: &mut String) {
        let _ = write!(out, "::{word} ");
        if let Some((file, line)) = &self.file {
            let _ = write!(out, "file={},line={line},", property(&visible(file)));
        }
        let message = visible(&cut(&self.message, LENGTH));
        let _ = writeln!(out, "title={}::{}", property(&visible(&self.title)), data(&message));
    }
}

/// A message, so that it ends where it ends.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A value before the message, where more characters mean something.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
