//! Findings for terminals, in the style of a compiler.

use std::fmt::Write as _;

use catalogue::{Level, Recorded, Rule};
use unicode_width::UnicodeWidthStr;

use super::impact::in_run;
use super::source::{Drawn, SourceLine};
use super::style::{Detail, Screen};
use results::text::{counted, cut, listed, parted, shortened, visible, wrap};
use results::{Cause, FailOn, Finding, Location, Run};

pub(super) const fn word(level: Level) -> &'static str {
    match level {
        Level::Must => "error",
        Level::Should => "warning",
        Level::May | Level::Off => "note",
    }
}

/// Maximum number of causes with a finding in full; the summary lists the others.
pub(super) const IN_FULL: usize = 10;
/// Width of the labels of remarks.
const MARGIN: usize = 20;
/// Maximum number of truncated or unreadable recordings to list.
const BROKEN_OFF: usize = 10;
/// Maximum number of scenarios of a cause.
const MAX_CASES: usize = 3;

/// Renders findings, one for each cause or all of them, and read errors.
pub fn diagnostics(run: &Run, detail: impl Into<Detail>, screen: impl Into<Screen>) -> String {
    let (detail, screen) = (detail.into(), screen.into());
    let mut out = if detail.is_verbose {
        findings(run, detail.level, screen)
    } else {
        causes(run, detail.level, screen)
    };
    let not_tested = obstacle(run, screen);
    if !not_tested.is_empty() {
        return out + &not_tested;
    }
    let remarks = broken_off(run, screen);
    let most = if detail.is_verbose { usize::MAX } else { BROKEN_OFF };
    out.extend(remarks.iter().take(most).map(String::as_str));
    if remarks.len() > most {
        let _ = writeln!(out, "and {} more like these; --verbose shows all\n", remarks.len() - most);
    }
    out
}

/// Renders what kept the run from testing the endpoint, if anything did.
pub fn obstacle(run: &Run, screen: impl Into<Screen>) -> String {
    let screen = screen.into();
    let Some((live, obstacle)) = run.live.as_ref().and_then(|live| Some((live, live.obstacle.as_ref()?)))
    else {
        return String::new();
    };
    let width = screen.width.max(Screen::LEAST_WIDTH);
    let head = format!("error[{}]", obstacle.class.name());
    let title = wrap(&visible(&obstacle.title()), width.saturating_sub(head.len() + 2));
    let mut out = format!("{}: {}\n", screen.style.level(Level::Must, &head), title.join("\n  "));
    let _ = writeln!(out, " {} {}", screen.style.frame("-->"), visible(&live.target));
    let fix = wrap(&visible(&obstacle.advice), width.saturating_sub(10));
    let _ = writeln!(
        out,
        "  {} {}: {}\n",
        screen.style.frame("="),
        screen.style.bold("fix"),
        fix.join("\n         ")
    );
    out
}

fn findings(run: &Run, shown: Level, screen: Screen) -> String {
    let mut out = String::new();
    for capture in &run.captures {
        for finding in capture.findings.iter().filter(|it| it.level >= shown || run.fail_on.fails(it)) {
            out += &diagnostic(&run.name(capture), finding, run.dialect_of(finding), run.fail_on, screen);
            out.push('\n');
        }
    }
    out
}

/// The first finding of each cause.
fn causes(run: &Run, shown: Level, screen: Screen) -> String {
    let mut out = String::new();
    let causes: Vec<&Cause> = run.own_causes().iter().filter(|cause| cause.is_shown(shown)).collect();
    for cause in causes.iter().take(IN_FULL) {
        let Some((capture, finding)) = run.first_of(cause) else { continue };
        let room = screen.width.saturating_sub(MARGIN).max(Screen::LEAST_WIDTH);
        let mut remarks = brief(finding, cause, run);
        // These are worth more than a line.
        for (_, value) in remarks.iter_mut().filter(|(name, _)| !matches!(*name, "fix" | "breaks")) {
            *value = shortened(value, room);
        }
        if cause.times > 1 {
            remarks.push(("seen", extent(run, cause)));
        }
        remarks.extend(effects(run, cause).map(|effects| ("effects", effects)));
        remarks.extend(in_run(run, cause).into_iter().map(|line| ("played", line)));
        out += &block((&run.name(capture), &cause.message), finding, &remarks, screen);
        out.push('\n');
    }
    if causes.len() > IN_FULL {
        let more = counted((causes.len() - IN_FULL) as u64, "more cause");
        let _ = writeln!(out, "and {more}, listed below; --verbose shows every finding\n");
    }
    out
}

/// Maximum number of effects of a cause.
const EFFECTS: usize = 6;

pub(super) fn effects(run: &Run, cause: &Cause) -> Option<String> {
    let effects = run.effects_by_rule(cause);
    let named = |(rule, times): &(&str, u64)| format!("{rule} ({})", counted(*times, "time"));
    (!effects.is_empty()).then(|| listed(&effects, EFFECTS, named))
}

fn extent(run: &Run, cause: &Cause) -> String {
    let text = frequency(run, cause);
    match cause.cases.len() {
        0 | 1 => text,
        _ => format!("{text}: {}", listed(&cause.cases, MAX_CASES, |case| visible(case))),
    }
}

pub(super) fn frequency(run: &Run, cause: &Cause) -> String {
    let (what, all) = match &run.live {
        Some(_) => ("answer", run.totals.streams + run.totals.bodies),
        None => ("file", run.totals.captures),
    };
    let times = counted(cause.times, "time");
    match all {
        0 | 1 => times,
        _ => format!("{times} in {} of {}", cause.captures, counted(all.max(cause.captures), what)),
    }
}

/// Renders lost connections, unreadable files, and requests without a response.
fn broken_off(run: &Run, screen: Screen) -> Vec<String> {
    let mut all = Vec::new();
    for capture in &run.captures {
        if run.live.is_some() && capture.unanswered().is_some() {
            continue;
        }
        if let Some(lost) = &capture.first_lost {
            let after = counted(lost.events, "event");
            all.push(format!(
                "{}: {}: the connection was lost after {after}: {}\n\n",
                screen.style.level(Level::May, "note"),
                visible(&run.name(capture)),
                visible(&lost.reason)
            ));
        }
        if let Some(error) = &capture.error {
            let word = screen.style.level(Level::Must, "error");
            all.push(format!("{word}: {}: {}\n\n", visible(&run.name(capture)), visible(error)));
        }
    }
    for (reason, count, first) in run.unanswered() {
        let (word, count) = (screen.style.level(Level::Must, "error"), counted(count, "request"));
        all.push(format!("{word}: {} ({count}): {}\n\n", visible(reason), visible(&run.name(first))));
    }
    all
}

/// Renders a finding: message, events, authority, broken clients, and fix.
pub fn diagnostic(
    capture: &str,
    finding: &Finding,
    dialect: &str,
    fail_on: FailOn,
    screen: impl Into<Screen>,
) -> String {
    let mut remarks = remarks(finding, dialect, fail_on);
    if finding.count > 1 {
        remarks.push(("seen", counted(finding.count, "time")));
    }
    block((capture, &finding.message), finding, &remarks, screen.into())
}

fn block(
    (capture, message): (&str, &str),
    finding: &Finding,
    remarks: &[(&str, String)],
    screen: Screen,
) -> String {
    let Screen { style, width } = screen;
    let width = width.max(Screen::LEAST_WIDTH);
    let level = finding.level;
    let lines = lines(finding);
    let last = lines.iter().map(|line| line.place.line).max().unwrap_or_default();
    let digits = last.to_string().len();
    let gutter = " ".repeat(digits);
    let bar = style.frame("|");
    let mut out = String::new();
    let head = style.level(level, &format!("{}[{}]", word(level), visible(&finding.rule)));
    let _ = writeln!(out, "{head}{}", style.bold(&format!(": {}", visible(message))));
    let _ = writeln!(out, "{gutter}{} {}", style.frame("-->"), place(capture, finding));
    let mut before: Option<u64> = None;
    for line in &lines {
        let number = line.place.line;
        if before.is_some_and(|before| number > before + 1) {
            let _ = writeln!(out, "{}", style.frame("..."));
        }
        before = Some(number);
        let Drawn { source, below } = line.draw(width.saturating_sub(digits + 3));
        let _ = writeln!(out, "{} {bar} {source}", style.frame(&format!("{number:>digits$}")));
        for row in below {
            let text = row.trim_start();
            let indent = " ".repeat(row.len() - text.len());
            let text = if line.is_primary { style.level(level, text) } else { style.frame(text) };
            let _ = writeln!(out, "{gutter} {bar} {indent}{text}");
        }
    }
    for (name, value) in remarks {
        let indent = digits + 5 + name.width();
        let rows = wrap(&visible(value), width.saturating_sub(indent).max(Screen::LEAST_WIDTH / 2));
        for (number, row) in rows.iter().enumerate() {
            let _ = match number {
                0 => writeln!(out, "{gutter} {} {}: {row}", style.frame("="), style.bold(name)),
                _ => writeln!(out, "{:indent$}{row}", ""),
            };
        }
    }
    out
}

fn lines(finding: &Finding) -> Vec<SourceLine<'_>> {
    let pointer = finding.pointer.as_deref().filter(|pointer| !pointer.is_empty());
    let place = &finding.place;
    // Only the start of the last event is kept, without a place in it.
    let is_end = pointer.is_none() && place.excerpt.mark[1] == 0 && !place.excerpt.text.is_empty();
    let label = match pointer {
        Some(pointer) => pointer,
        None if is_end => "the stream ends after this event",
        None if finding.related.is_some() => "this event",
        None => "",
    };
    let mut lines =
        vec![SourceLine { place, is_value: pointer.is_some(), label: label.to_owned(), is_primary: true }];
    lines.extend(finding.related.iter().map(|related| SourceLine {
        place: &related.place,
        is_value: false,
        label: related.label.to_string(),
        is_primary: false,
    }));
    lines.sort_by_key(|line| (line.place.line, line.place.frame));
    lines
}

fn place(capture: &str, finding: &Finding) -> String {
    let Location { line, event, event_type, sequence_number, time_ms, bytes, .. } = &finding.place;
    let mut place = visible(capture);
    // The name of the file stands for the first exchange.
    let exchange = finding.exchange.as_ref().filter(|_| finding.exchange_number != Some(1));
    let _ = write!(place, ":{line}  ");
    if let Some(exchange) = exchange {
        let _ = write!(place, "{} ·", visible(exchange));
    }
    // A non-streaming response has no events.
    let _ = if *event == 0 { write!(place, " body") } else { write!(place, " event {event}") };
    if let Some(name) = event_type {
        let _ = write!(place, " · {}", visible(name));
    }
    if let Some(number) = sequence_number {
        let _ = write!(place, " · sequence {number}");
    }
    if let Some(time) = time_ms {
        let _ = write!(place, " · +{time} ms");
    }
    let _ = write!(place, " · byte {}", bytes[0]);
    place
}

/// Maximum number of clients of a finding; its page lists all.
const CLIENTS: usize = 3;
/// Maximum combined length for one row.
const SIDE_BY_SIDE: usize = 90;
/// Maximum length of a failure of a client in a list.
const FAILURE: usize = 120;

fn remarks(finding: &Finding, dialect: &str, fail_on: FailOn) -> Vec<(&'static str, String)> {
    let mut remarks = difference(finding);
    if let Some(origin) = &finding.follows_from {
        remarks.push(("follows from", format!("{} at line {}", origin.rule, origin.line)));
    }
    let Some(rule) = catalogue::rule(&finding.rule) else {
        remarks.extend(of_log(finding));
        return remarks;
    };
    remarks.push(("authority", authority(finding, rule, dialect)));
    let clients = finding.broken_clients();
    if !clients.is_empty() {
        let named = |(client, failures): &(&str, String)| format!("{client} ({failures})");
        remarks.push(("breaks", listed(&clients, CLIENTS, named)));
    }
    remarks.extend(fails(finding, fail_on));
    remarks.extend(finding.fix().map(|fix| ("fix", fix.into_owned())));
    remarks.push(("help", format!("conformance explain {}", rule.id)));
    remarks
}

fn of_log(finding: &Finding) -> Vec<(&'static str, String)> {
    let Some(rule) = catalogue::log_rule(&finding.rule) else { return Vec::new() };
    let authority = format!("{} · {}", finding.level.keyword(), rule.foundation());
    vec![("authority", authority), ("fix", rule.fix.to_owned())]
}

fn brief(finding: &Finding, cause: &Cause, run: &Run) -> Vec<(&'static str, String)> {
    let dialect = run.dialect_of(finding);
    let mut remarks = unsaid(finding);
    let Some(rule) = catalogue::rule(&finding.rule) else {
        remarks.extend(of_log(finding));
        return remarks;
    };
    remarks.push(("authority", brief_authority(finding, rule, dialect)));
    let mut clients = finding.broken_clients();
    // Outcomes that were played replace measured ones.
    clients.retain(|(client, _)| cause.played.as_ref().is_none_or(|played| !played.has_played(client)));
    if !clients.is_empty() {
        // Each client has a failure of its own: the first one is an example.
        let word = |(at, (client, failure)): (usize, &(&str, String))| match at {
            0 => format!("{client} ({})", cut(failure, FAILURE)),
            _ => (*client).to_owned(),
        };
        let names: Vec<String> = clients.iter().enumerate().map(word).collect();
        remarks.push(("breaks", listed(&names, CLIENTS, String::clone)));
    }
    remarks.extend(fails(finding, run.fail_on));
    remarks.extend(cause.fix.clone().map(|fix| ("fix", fix)));
    remarks
}

/// Only if no MUST rule is broken.
fn fails(finding: &Finding, fail_on: FailOn) -> Option<(&'static str, String)> {
    fail_on.reason(finding).filter(|_| finding.level < Level::Must).map(|reason| ("fails", reason))
}

/// The expected and the actual value, unless the message and the fix state what is missing.
pub(super) fn unsaid(finding: &Finding) -> Vec<(&'static str, String)> {
    let is_said = |actual: &str| actual == "none" || finding.message.contains(actual.trim_matches('"'));
    let is_said = marked(finding).is_none() && finding.actual.as_deref().is_none_or(is_said);
    if is_said { Vec::new() } else { difference(finding) }
}

fn difference(finding: &Finding) -> Vec<(&'static str, String)> {
    if let Some([expected, found]) = marked(finding) {
        return vec![("expected", expected), ("found", found)];
    }
    // Skip values that the message contains.
    let found = finding.actual.as_ref().filter(|actual| !finding.message.contains(actual.as_str()));
    match (&finding.expected, found) {
        (Some(expected), Some(found)) if expected.len() + found.len() < SIDE_BY_SIDE => {
            vec![("expected", format!("{expected}; found: {found}"))]
        }
        (expected, found) => {
            let expected = expected.iter().map(|expected| ("expected", expected.clone()));
            expected.chain(found.map(|found| ("found", found.clone()))).collect()
        }
    }
}

/// Maximum length of a brief authority.
const AUTHORITY: usize = 96;

/// In one line, without the heading if it is too long.
fn brief_authority(finding: &Finding, rule: &Rule, dialect: &str) -> String {
    let text = authority(finding, rule, dialect);
    let Some(Recorded { kept, streams }) = catalogue::recorded(dialect, rule.id) else { return text };
    if text.width() <= AUTHORITY {
        return text;
    }
    let citation = &rule.in_api(&finding.api).citation;
    let id = citation.requirement.map(|id| format!(" ({id})")).unwrap_or_default();
    let (level, source) = (finding.level.keyword(), citation.source);
    let source = if id.is_empty() { source.split(',').next().unwrap_or(source) } else { source };
    format!("{level} · {source}{id}; also in {dialect}: {kept} of {streams} recorded streams")
}

/// Two words that differ in a small part, such as ids, have that part marked.
fn marked(finding: &Finding) -> Option<[String; 2]> {
    let (expected, found) = (finding.expected.as_deref()?, finding.actual.as_deref()?);
    let parts = parted(expected, found)?;
    let is_word = !expected.contains(' ') && !found.contains(' ');
    let is_small = parts.iter().all(|[before, own, behind]| own.len() < before.len() + behind.len());
    let mark = |[before, own, behind]: [&str; 3]| format!("{before}«{own}»{behind}");
    (is_word && is_small).then(|| parts.map(mark))
}

/// The level, the sentence and why it applies to this dialect.
pub(super) fn authority(finding: &Finding, rule: &Rule, dialect: &str) -> String {
    let text = format!("{} · {}", finding.level.keyword(), rule.in_api(&finding.api).citation);
    match catalogue::recorded(dialect, rule.id) {
        Some(Recorded { kept, streams }) => {
            format!("{text}; also holds in {dialect}: {kept} of {streams} recorded streams")
        }
        None => text,
    }
}
