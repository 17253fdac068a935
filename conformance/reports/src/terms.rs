//! The terms of a run's verdict: what fails it, the dialects that were recognised, and the levels that its reader changed.

use catalogue::Level;
use results::text::{counted, listed, visible};
use results::{AUTO, CaptureReport, Cause, Exercised, FailOn, LevelChange, PlayedResponse, Run};

/// Maximum number of changed levels to list.
const LEVELS: usize = 12;

/// Only those that differ from the usual ones or that decided the verdict, each with its name.
pub(super) fn terms(run: &Run) -> Vec<(&'static str, String)> {
    let mut terms = Vec::new();
    let mut failing = run.failing();
    failing.errors = 0;
    let below: Vec<String> = failing.non_zero().map(|(count, what)| counted(count, what)).collect();
    if run.fail_on != FailOn::default() || !below.is_empty() {
        let mut text = format!("{} (--fail-on {})", run.fail_on.words(), run.fail_on.name());
        if !below.is_empty() {
            text = format!("{text}: {}", below.join(", "));
        }
        terms.push(("fails on", text));
    }
    terms.extend(dialects(run.recognised()).map(|text| ("recognised", text)));
    terms.extend(run.logs().into_iter().map(|log| ("log", log)));
    // Those who check recordings ask for it; a vendor reads it after all else.
    if run.live.is_none() {
        terms.extend(coverage(run).map(|text| ("exercised", text)));
    }
    terms.extend(levels(run).map(|levels| ("levels changed", levels)));
    terms
}

pub(super) fn coverage(run: &Run) -> impl Iterator<Item = String> {
    run.exercised.iter().map(|of| exercised(of, run))
}

/// Maximum number of transitions that are named.
const NEVER: usize = 3;

fn exercised(of: &Exercised, run: &Run) -> String {
    let whose = match (of.is_claimed, run.exercised.len()) {
        (true, _) => "of the features you claim".to_owned(),
        (false, _) => format!("of {}", of.dialect),
    };
    let never: Vec<String> = of.never().collect();
    let names = match never.len() {
        0 => String::new(),
        _ => format!("; never: {}", listed(&never, NEVER, |name| visible(name))),
    };
    // Reports of earlier versions have no values.
    let values = match of.values.reachable {
        0 => String::new(),
        _ => format!(" and {} enumeration values", of.values),
    };
    format!("{} transitions{values} {whose}{names}", of.transitions)
}

/// Maximum number of recognised dialects.
const DIALECTS: usize = 12;

pub(super) fn dialects<'s>(all: impl IntoIterator<Item = (&'s str, u64, &'s str)>) -> Option<String> {
    let all: Vec<_> = all.into_iter().collect();
    let told = |(dialect, count, by): &(&str, u64, &str)| format!("{dialect} {count} ({by})");
    (!all.is_empty()).then(|| visible(&listed(&all, DIALECTS, told)))
}

/// The recognised dialects of a recording, with what shows each.
pub fn dialects_of(capture: &CaptureReport) -> Option<String> {
    dialects(capture.dialects.iter().map(|seen| (&*seen.dialect, seen.responses, &*seen.by)))
}

/// The number of dialects if the recordings differ. `None` if none was recognised.
pub(super) fn dialect(run: &Run) -> Option<String> {
    match &*run.recognised() {
        [(only, ..)] => Some(visible(only)),
        [] => Some(visible(&run.dialect_in_words())).filter(|_| run.dialect != AUTO),
        several => Some(counted(several.len() as u64, "dialect")),
    }
}

/// The number of clients that it breaks, and whether it fails below MUST. `None` if it does neither.
pub(super) fn harm(cause: &Cause) -> Option<String> {
    let count = cause.clients.len() as u64;
    let breaks = match cause.played.as_ref().map(PlayedResponse::broken_of) {
        Some([broken, all]) if all > 0 => {
            Some(format!("breaks {broken} of {} played", counted(all, "client")))
        }
        _ => (count > 0).then(|| format!("breaks {}", counted(count, "client"))),
    };
    match (cause.fails.is_some() && cause.level < Level::Must, breaks) {
        (true, Some(breaks)) => Some(format!("fails: {breaks}")),
        (true, None) => Some("fails".to_owned()),
        (false, breaks) => breaks,
    }
}

/// Only if no MUST rule is broken. For reports that list its clients elsewhere.
pub(super) fn reason(cause: &Cause) -> Option<&str> {
    cause.fails.as_deref().filter(|_| cause.level < Level::Must)
}

pub(super) fn levels(run: &Run) -> Option<String> {
    (!run.levels.is_empty()).then(|| LevelChange::words(&run.levels, LEVELS))
}
