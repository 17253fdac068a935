//! A run as Markdown, for a pull request, a job summary or a README.
//!
//! Untrusted text is in code spans, where links, mentions, markup and HTML have no effect.

use std::fmt::Write as _;

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

use super::badge;
use super::human::word;
use super::impact::{in_all, in_run};
use super::terms::{dialect, reason, terms};
use results::text::{counted, cut, listed, visible};
use results::{ClientTotal, GroupTotal, LiveReport, Matrix, Outcome, Run, Tally, Unknown, Verdict};

/// Maximum number of names in a row.
const MAX_NAMES: usize = 8;
/// Maximum number of causes.
const CAUSES: usize = 50;
/// Maximum number of clients in a row.
const CLIENTS: usize = 16;
/// Maximum length of a text.
const MAX_LENGTH: usize = 300;

pub(super) fn markdown(run: &Run) -> String {
    let mut out = String::new();
    head(run, &mut out);
    causes(run, &mut out);
    answers(run, &mut out);
    clients(run, &mut out);
    groups(&run.groups, run.totals.trials, &mut out);
    profiles(run, &mut out);
    speed(run, &mut out);
    stale(run, &mut out);
    undecided(run, &mut out);
    next(run, &mut out);
    out
}

fn head(run: &Run, out: &mut String) {
    let (state, color) = badge::words(run);
    let label = badge::label(run);
    let _ = writeln!(out, "# Conformance: {state}\n");
    let part = |text: &str| {
        let doubled = text.replace('-', "--").replace('_', "__");
        utf8_percent_encode(&doubled, OF_BADGE).to_string()
    };
    let address = format!("https://img.shields.io/badge/{}-{}-{color}", part(&label), part(&state));
    let _ = writeln!(out, "![{}]({address})\n", state.replace(':', ""));
    let totals = &run.totals;
    if let Some(live) = &run.live {
        let target = if live.is_reference { "the reference gateway".to_owned() } else { code(&live.target) };
        let _ = writeln!(out, "{target}, model {}: {}.\n", code(&live.model), totals.trials);
    }
    let _ = writeln!(
        out,
        "{}, {} and {} checked{} by version {} of the suite: {}, seen {} ({}).",
        counted(totals.captures, "recording"),
        counted(totals.streams, "stream"),
        counted(totals.events, "event"),
        dialect(run)
            .map(|dialect| if dialect.contains(' ') {
                format!(" as {dialect}")
            } else {
                format!(" as {}", code(&dialect))
            })
            .unwrap_or_default(),
        code(&run.suite),
        counted(run.own_causes().len() as u64, "cause"),
        counted(totals.faults().all(), "time"),
        [(totals.errors, "error"), (totals.warnings, "warning"), (totals.notes, "note")]
            .map(|(count, what)| counted(count, what))
            .join(", ")
    );
    for (name, text) in terms(run) {
        let _ = writeln!(out, "\n{}{}: {}.", name[..1].to_uppercase(), &name[1..], code(&text));
    }
}

/// Characters to escape in any part of a URL.
pub(super) const OF_URL: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// Characters to escape in the URL of a badge.
const OF_BADGE: &AsciiSet = &OF_URL.add(b'(').add(b')').add(b'/');

fn profiles(run: &Run, out: &mut String) {
    let Some(live) = run.live.as_ref().filter(|live| !live.profiles.is_empty()) else { return };
    out.push_str("\n## Profiles\n\n| profile | version | result |\n|---|---:|---|\n");
    for profile in &live.profiles {
        let _ =
            writeln!(out, "| {} | {} | {} |", cell(&profile.name), profile.version, cell(&profile.words()));
    }
    matrix(&run.matrix, out);
}

/// Writes the results of profiles.
fn matrix(matrix: &Matrix, out: &mut String) {
    if matrix.profiles.is_empty() {
        return;
    }
    out.push_str("\nScenarios and rules that meet each profile:\n\n");
    let mut row = |head: &str, cells: Vec<String>| {
        let _ = writeln!(out, "| {head} | {} |", cells.join(" | "));
    };
    let text = |tally: Tally| if tally == Tally::NONE { String::new() } else { tally.to_string() };
    let mut rows: Vec<(String, Vec<String>)> = (matrix.groups.iter())
        .map(|group| {
            let cells = group.cells.iter().map(|tally| text(tally.unwrap_or_default()));
            (cell(&group.name), cells.collect())
        })
        .collect();
    rows.push(("*rules*".to_owned(), matrix.profiles.iter().map(|profile| text(profile.rules)).collect()));
    // Profiles of which nothing was tested have no column.
    let is_tested =
        |at: usize| rows.iter().any(|(_, cells)| cells.get(at).is_some_and(|cell| !cell.is_empty()));
    let tested: Vec<usize> = (0..matrix.profiles.len()).filter(|at| is_tested(*at)).collect();
    let columns = |of: &dyn Fn(usize) -> Option<String>| tested.iter().filter_map(|at| of(*at)).collect();
    row("group", columns(&|at| Some(cell(&matrix.profiles.get(at)?.name))));
    row("---", columns(&|_| Some("---".to_owned())));
    for (name, cells) in rows.iter().filter(|(_, cells)| cells.iter().any(|cell| !cell.is_empty())) {
        row(name, columns(&|at| cells.get(at).cloned()));
    }
}

fn speed(run: &Run, out: &mut String) {
    let mut crowds = run.live.iter().flat_map(LiveReport::crowds).peekable();
    if crowds.peek().is_some() {
        out.push_str(
            "\n## Latency of concurrent requests\n\nMedian, with the 99th percentile in brackets:\n\n",
        );
    }
    for latency in crowds {
        let _ = writeln!(out, "- {}: {}", code(&latency.case), latency.words());
    }
}

fn groups(groups: &[GroupTotal], all: Tally, out: &mut String) {
    if groups.is_empty() {
        return;
    }
    out.push_str("\n## Scenarios\n\n");
    // Columns of zeros are left out.
    let shown: Vec<Verdict> = Verdict::ALL.into_iter().filter(|verdict| all.of(*verdict) > 0).collect();
    let heads: Vec<&str> = shown.iter().map(|verdict| verdict.word()).collect();
    let _ = writeln!(out, "| group | {} |\n|---|{}", heads.join(" | "), "---:|".repeat(shown.len()));
    let mut row = |name: &str, trials: Tally| {
        let counts: Vec<String> = shown.iter().map(|verdict| trials.of(*verdict).to_string()).collect();
        let _ = writeln!(out, "| {name} | {} |", counts.join(" | "));
    };
    for group in groups {
        row(&cell(&group.name), group.trials);
    }
    row("all", all);
}

fn causes(run: &Run, out: &mut String) {
    if run.causes.is_empty() {
        return;
    }
    out.push_str("\n## Causes\n\n");
    let causes = run.own_causes();
    for cause in causes.iter().take(CAUSES) {
        let (times, captures) = (counted(cause.times, "time"), counted(cause.captures, "recording"));
        let level = word(cause.level);
        let _ = writeln!(out, "- **{level}** {}, {times} in {captures}", code(&cause.rule));
        let _ = writeln!(out, "  - {}", code(&cause.message));
        if let Some((capture, finding)) = run.first_of(cause) {
            let _ = writeln!(out, "  - first in {}, line {}", code(&run.name(capture)), finding.place.line);
        }
        if !cause.clients.is_empty() {
            let clients: Vec<&str> = cause.clients.iter().map(String::as_str).collect();
            let _ = writeln!(out, "  - breaks: {}", names(&clients));
        }
        for line in in_run(run, cause) {
            let _ = writeln!(out, "  - played: {}", code(&line));
        }
        if let Some(reason) = reason(cause) {
            let _ = writeln!(out, "  - fails: {}", code(reason));
        }
        if let Some(fix) = &cause.fix {
            let _ = writeln!(out, "  - fix: {}", code(fix));
        }
        let effects = run.effects_by_rule(cause);
        if !effects.is_empty() {
            let named = |(rule, times): &(&str, u64)| format!("{} ({})", code(rule), counted(*times, "time"));
            let _ = writeln!(out, "  - effects: {}", listed(&effects, MAX_NAMES, named));
        }
        if let (Some(rule), Some((_, finding))) = (catalogue::rule(&cause.rule), run.first_of(cause)) {
            let citation = &rule.in_api(&finding.api).citation;
            let _ = writeln!(out, "  - authority: {}", code(&citation.to_string()));
        }
    }
    if causes.len() > CAUSES {
        let _ = writeln!(out, "- and {}", counted((causes.len() - CAUSES) as u64, "more cause"));
    }
    if run.totals.omitted > 0 {
        let _ = writeln!(out, "- and {} not listed", counted(run.totals.omitted, "fault"));
    }
    for line in in_all(causes.iter().filter_map(|cause| cause.played.as_ref()), &run.not_played, CLIENTS) {
        let _ = writeln!(out, "- {}", code(&line));
    }
}

/// Writes why responses are unexpected.
fn answers(run: &Run, out: &mut String) {
    let answers = run.wrong_answers();
    if answers.is_empty() {
        return;
    }
    out.push_str("\n## Unexpected responses\n\n");
    for (reason, tests) in answers.iter().take(CAUSES) {
        let _ =
            writeln!(out, "- {}, in {}: {}", code(reason), counted(tests.len() as u64, "test"), names(tests));
    }
}

fn clients(run: &Run, out: &mut String) {
    if run.causes.is_empty() {
        return;
    }
    let start = out.len();
    for failing in run.failing_clients() {
        let files = counted(failing.captures, "recording");
        let _ = writeln!(out, "- broken, in {files}: {}", clients_named(&failing.clients));
        for broken in failing.rules.iter().take(MAX_NAMES) {
            let _ = writeln!(out, "  - {}: {}", code(&broken.rule), code(&broken.failure));
        }
        more(failing.rules.len(), "rule", out);
    }
    for (state, clients) in run.other_clients() {
        let _ = writeln!(out, "- {}: {}", state.words(), clients_named(&clients));
    }
    if !run.has_measured_clients() && !run.clients.is_empty() {
        let _ = writeln!(out, "- no client was measured with these findings");
    }
    for (unknown, clients) in run.unmeasured_clients() {
        let why = |unknown: &Unknown| {
            let rules = listed(&unknown.rules, MAX_NAMES, |rule| code(rule));
            if rules.is_empty() {
                unknown.reason.to_string()
            } else {
                format!("{} ({rules})", unknown.reason)
            }
        };
        let why: Vec<String> = unknown.iter().map(why).collect();
        let _ = writeln!(out, "- not measured: {}: {}", clients_named(&clients), why.join("; "));
    }
    if out.len() > start {
        out.insert_str(start, "\n## Clients\n\n");
    }
}

fn clients_named(clients: &[&ClientTotal]) -> String {
    listed(clients, CLIENTS, |client| code(&client.named()))
}

fn stale(run: &Run, out: &mut String) {
    if run.stale().is_empty() {
        return;
    }
    out.push_str("\n## Unexpectedly passing\n\n");
    for entry in run.stale() {
        let _ = writeln!(out, "- {}: remove it from the list", code(entry));
    }
}

fn undecided(run: &Run, out: &mut String) {
    let not_judged = run.not_judged();
    if run.undecided.is_empty() && not_judged.is_empty() {
        return;
    }
    out.push_str("\n## Not tested\n\n");
    for undecided in &run.undecided {
        let cases: Vec<&str> = undecided.cases.iter().map(String::as_str).collect();
        let (trials, reason) = (counted(undecided.trials, "trial"), code(&undecided.reason));
        let _ = writeln!(out, "- {trials}: {reason}: {}", names(&cases));
    }
    for (what, files) in not_judged {
        let files: Vec<&str> = files.iter().map(|file| &**file).collect();
        let _ = writeln!(out, "- {what}: {}", names(&files));
    }
}

fn next(run: &Run, out: &mut String) {
    if run.next.is_empty() {
        return;
    }
    out.push_str("\n## Next\n\n");
    for step in &run.next {
        let _ = writeln!(out, "- {}: {}", code(&step.why), code(&step.command));
    }
}

fn names(names: &[&str]) -> String {
    listed(names, MAX_NAMES, |name| code(name))
}

fn more(count: usize, what: &str, out: &mut String) {
    if count > MAX_NAMES {
        let _ = writeln!(out, "  - and {}", counted((count - MAX_NAMES) as u64, &format!("more {what}")));
    }
}

pub(super) const fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Passed => "✅ Passed",
        Outcome::Failed => "❌ Failed",
        Outcome::Incomplete => "⚠️ Incomplete",
    }
}

/// Returns a text as a code span, without markup.
pub(super) fn code(text: &str) -> String {
    let text = visible(&cut(text, MAX_LENGTH));
    let longest = text.split(|character| character != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest + 1);
    // A span that begins or ends with a backtick or space needs padding.
    let needs_room = text.is_empty() || text.starts_with(['`', ' ']) || text.ends_with(['`', ' ']);
    let room = if needs_room { " " } else { "" };
    format!("{fence}{room}{text}{room}{fence}")
}

/// Returns a text as a code span for a table cell.
pub(super) fn cell(text: &str) -> String {
    code(&text.replace('|', "\\u{7c}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_hold_what_they_hold() {
        assert_eq!(code("a"), "`a`");
        assert_eq!(code("`a``b`"), "``` `a``b` ```");
        assert_eq!(code("a\n# b"), "`a\\n# b`");
        assert_eq!(cell("a|b"), "`a\\u{7c}b`");
        assert_eq!(code(""), "`  `");
    }
}
