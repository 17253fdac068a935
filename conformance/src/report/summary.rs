//! A run as a whole: by rule, by file and by client.

use std::cmp::Reverse;
use std::fmt::Write as _;

use spec::catalogue::Level;
use unicode_width::UnicodeWidthStr;

use super::human::word;
use super::run::{CaptureReport, Outcome, RuleTotal, Run, Totals};
use super::text::visible;

/// So many files are listed, the worst first.
const FILES: usize = 10;
/// So many rules are named with a client.
const RULES: usize = 6;

/// What a run found: by rule, by file and by client, and what could not be judged.
pub fn summary(run: &Run, shown: Level) -> String {
    let mut out = String::new();
    let totals = &run.totals;
    let _ = writeln!(
        out,
        "{}: {}, {}, {} checked as {}",
        match run.outcome {
            Outcome::Failed => "failed",
            Outcome::Incomplete => "incomplete",
            Outcome::Passed => "passed",
        },
        counted(totals.captures, "file"),
        counted(totals.streams, "stream"),
        counted(totals.events, "event"),
        visible(&run.dialect)
    );
    let faults = Faults::of(totals);
    if !faults.is_empty() {
        let _ = writeln!(out, "  {faults}");
    }
    by_rule(run, shown, &mut out);
    if totals.omitted > 0 {
        let _ = writeln!(out, "  {} more, not listed", counted(totals.omitted, "fault"));
    }
    by_file(run, shown, &mut out);
    by_client(run, &mut out);
    not_judged(totals, &mut out);
    out
}

fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// How often rules are broken, by how binding they are.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Faults {
    errors: u64,
    warnings: u64,
    notes: u64,
}

impl Faults {
    const fn of(totals: &Totals) -> Self {
        Self { errors: totals.errors, warnings: totals.warnings, notes: totals.notes }
    }

    const fn is_empty(&self) -> bool {
        self.errors + self.warnings + self.notes == 0
    }

    /// Without what is not shown.
    fn from(mut self, shown: Level) -> Self {
        if shown > Level::May {
            self.notes = 0;
        }
        if shown > Level::Should {
            self.warnings = 0;
        }
        self
    }
}

impl std::fmt::Display for Faults {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let all = [(self.errors, "error"), (self.warnings, "warning"), (self.notes, "note")];
        let told: Vec<_> = all
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| counted(count, what))
            .collect();
        to.write_str(&told.join(", "))
    }
}

fn by_rule(run: &Run, shown: Level, out: &mut String) {
    let mut rules: Vec<&RuleTotal> = run.rules.iter().filter(|rule| rule.times > 0).collect();
    // The sort is stable: what is equal stays in the order of names.
    rules.sort_by_key(|rule| Reverse((rule.worst, rule.captures, rule.times)));
    let widest = rules.iter().map(|rule| rule.id.len()).max().unwrap_or_default();
    heading("by rule", rules.is_empty(), out);
    for RuleTotal { id, worst, times, captures, .. } in rules {
        let hidden = if *worst < shown { "  (not shown; --level may)" } else { "" };
        let (times, files) = (counted(*times, "time"), counted(*captures, "file"));
        let _ = writeln!(out, "  {:<9}{id:<widest$}  {times} in {files}{hidden}", word(*worst));
    }
}

/// One file is what all the rest is about.
fn by_file(run: &Run, shown: Level, out: &mut String) {
    if run.captures.len() < 2 {
        return;
    }
    let with_faults = |capture: &CaptureReport| {
        let mut totals = Totals::default();
        totals.add(capture);
        (Faults::of(&totals).from(shown), visible(&capture.name))
    };
    let mut files: Vec<_> =
        run.captures.iter().map(with_faults).filter(|(faults, _)| !faults.is_empty()).collect();
    files.sort_by(|(one, name), (other, other_name)| other.cmp(one).then_with(|| name.cmp(other_name)));
    heading("by file", files.is_empty(), out);
    let widest = files.iter().take(FILES).map(|(_, name)| name.width()).max().unwrap_or_default();
    for (faults, name) in files.iter().take(FILES) {
        let _ = writeln!(out, "  {name}{:1$}  {faults}", "", widest - name.width());
    }
    if files.len() > FILES {
        let _ = writeln!(out, "  and {} more", files.len() - FILES);
    }
}

/// Which clients fail on which files, by what is known of them.
fn by_client(run: &Run, out: &mut String) {
    let broken = || run.clients.iter().filter(|client| client.captures > 0);
    heading("by client", broken().next().is_none(), out);
    for client in broken() {
        let rules: Vec<_> = client.rules.iter().take(RULES).map(|broken| broken.rule.as_str()).collect();
        let more = client.rules.len().saturating_sub(RULES);
        let more = if more > 0 { format!(", and {more} more") } else { String::new() };
        let (name, files) = (&client.name, counted(client.captures, "file"));
        let _ = writeln!(out, "  breaks {name} in {files}: {}{more}", rules.join(", "));
    }
}

fn not_judged(totals: &Totals, out: &mut String) {
    heading("not judged", totals.unjudged + totals.unread == 0, out);
    if totals.unjudged > 0 {
        let what = if totals.unjudged == 1 {
            "is neither a response nor an error"
        } else {
            "are neither responses nor errors"
        };
        let _ = writeln!(out, "  {} that {what}", counted(totals.unjudged, "answer"));
    }
    if totals.unread > 0 {
        let _ =
            writeln!(out, "  {} that could not be read, or not to the end", counted(totals.unread, "file"));
    }
}

fn heading(text: &str, is_empty: bool, out: &mut String) {
    if !is_empty {
        let _ = writeln!(out, "{text}");
    }
}
