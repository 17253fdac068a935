//! Findings for people, in the manner of a compiler.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use catalogue::{Level, Rule};
use unicode_width::UnicodeWidthStr;

use super::source::{Drawn, Line};
use super::style::Screen;
use results::text::{counted, listed, visible, wrap};
use results::{Finding, Location, Run};

pub(super) const fn word(level: Level) -> &'static str {
    match level {
        Level::Must => "error",
        Level::Should => "warning",
        Level::May | Level::Off => "note",
    }
}

/// So many findings of one rule are shown.
const OF_RULE: u64 = 20;

/// What is wrong, finding by finding, and what could not be read.
pub fn diagnostics(run: &Run, shown: Level, screen: impl Into<Screen>) -> String {
    let screen = screen.into();
    let mut out = String::new();
    let mut told: BTreeMap<&str, u64> = BTreeMap::new();
    for capture in &run.captures {
        for finding in capture.findings.iter().filter(|finding| finding.level >= shown) {
            let of_rule = told.entry(&finding.rule).or_default();
            *of_rule += 1;
            if *of_rule <= OF_RULE {
                out += &diagnostic(&capture.path(), finding, screen);
                out.push('\n');
            }
        }
        if run.live.is_some() && capture.unanswered().is_some() {
            continue;
        }
        if let Some(lost) = &capture.first_lost {
            let after = counted(lost.events, "event");
            let _ = writeln!(
                out,
                "{}: {}: the connection was lost after {after}: {}\n",
                screen.style.level(Level::May, "note"),
                visible(&capture.path()),
                visible(&lost.reason)
            );
        }
        if let Some(error) = &capture.error {
            let word = screen.style.level(Level::Must, "error");
            let _ = writeln!(out, "{word}: {}: {}\n", visible(&capture.path()), visible(error));
        }
    }
    for (reason, count, first) in run.unanswered() {
        let (word, count) = (screen.style.level(Level::Must, "error"), counted(count, "request"));
        let _ = writeln!(out, "{word}: {} ({count}): {}\n", visible(reason), visible(&first.path()));
    }
    for (rule, count) in told.into_iter().filter(|(_, count)| *count > OF_RULE) {
        let _ = writeln!(
            out,
            "and {} of {} that are not shown; --format json has them",
            counted(count - OF_RULE, "finding"),
            visible(rule)
        );
    }
    out
}

/// One finding: what is wrong, the events that it is about, on what authority, and what breaks by it.
pub fn diagnostic(capture: &str, finding: &Finding, screen: impl Into<Screen>) -> String {
    let Screen { style, width } = screen.into();
    let width = width.max(Screen::LEAST_WIDTH);
    let lines = lines(finding);
    let last = lines.iter().map(|line| line.place.line).max().unwrap_or_default();
    let digits = last.to_string().len();
    let gutter = " ".repeat(digits);
    let bar = style.frame("|");
    let mut out = String::new();
    let head = style.level(finding.level, &format!("{}[{}]", word(finding.level), finding.rule));
    let _ = writeln!(out, "{head}{}", style.bold(&format!(": {}", visible(&finding.message))));
    let _ = writeln!(out, "{gutter}{} {}", style.frame("-->"), place(capture, finding));
    let _ = writeln!(out, "{gutter} {bar}");
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
            let text = if line.is_primary { style.level(finding.level, text) } else { style.frame(text) };
            let _ = writeln!(out, "{gutter} {bar} {indent}{text}");
        }
    }
    let _ = writeln!(out, "{gutter} {bar}");
    for (name, value) in remarks(finding, catalogue::rule(&finding.rule)) {
        let indent = digits + 5 + name.width();
        let rows = wrap(&visible(&value), width.saturating_sub(indent).max(Screen::LEAST_WIDTH / 2));
        for (number, row) in rows.iter().enumerate() {
            let _ = match number {
                0 => writeln!(out, "{gutter} {} {}: {row}", style.frame("="), style.bold(name)),
                _ => writeln!(out, "{:indent$}{row}", ""),
            };
        }
    }
    let more = if finding.count > 1 {
        format!("        (and {} more like it)", finding.count - 1)
    } else {
        String::new()
    };
    let _ = writeln!(
        out,
        "{gutter} {} {}: conformance explain {}{more}",
        style.frame("="),
        style.bold("help"),
        finding.rule
    );
    out
}

/// What is shown of the recording, in its order.
fn lines(finding: &Finding) -> Vec<Line<'_>> {
    let pointer = finding.pointer.as_deref().filter(|pointer| !pointer.is_empty());
    let place = &finding.place;
    // Of the last event only the beginning is kept, and no place in it.
    let is_end = pointer.is_none() && place.excerpt.mark[1] == 0 && !place.excerpt.text.is_empty();
    let label = match pointer {
        Some(pointer) => pointer,
        None if is_end => "the stream is over after this event",
        None if finding.related.is_some() => "this event",
        None => "",
    };
    let mut lines =
        vec![Line { place, is_value: pointer.is_some(), label: label.to_owned(), is_primary: true }];
    lines.extend(finding.related.iter().map(|related| Line {
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
    let _ = write!(place, ":{line}  ");
    if let Some(exchange) = &finding.exchange {
        let _ = write!(place, "{} ·", visible(exchange));
    }
    // What is no stream has no events.
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

/// So many clients are named with each finding; its page names them all.
const CLIENTS: usize = 3;

fn remarks(finding: &Finding, rule: Option<&Rule>) -> Vec<(&'static str, String)> {
    let mut remarks = Vec::new();
    remarks.extend(finding.expected.clone().map(|expected| ("expected", expected)));
    // The message may have said so.
    let found = finding.actual.clone().filter(|actual| !finding.message.contains(actual.as_str()));
    remarks.extend(found.map(|actual| ("found", actual)));
    let Some(rule) = rule else { return remarks };
    remarks.push(("authority", format!("{} · {}", finding.level.keyword(), rule.citation)));
    let clients = finding.broken_clients();
    if !clients.is_empty() {
        let named = listed(&clients, CLIENTS, |(client, failures)| format!("{client} ({failures})"));
        remarks.push(("breaks", named));
    }
    remarks
}
