//! Findings for people, in the manner of a compiler.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use spec::catalogue::{self, Level, Rule};
use unicode_width::UnicodeWidthStr;

use super::run::{CaptureReport, Located, Run};
use super::text::{push_visible, visible};
use crate::engine::{Excerpt, Finding};

/// Whether to use colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Text alone.
    Plain,
    /// With the escapes of a terminal.
    Colour,
}

impl Style {
    fn paint(self, code: &str, text: &str) -> String {
        match self {
            Self::Plain => text.to_owned(),
            Self::Colour => format!("\x1b[{code}m{text}\x1b[0m"),
        }
    }

    fn dim(self, text: &str) -> String {
        self.paint("1;34", text)
    }

    fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    fn level(self, level: Level, text: &str) -> String {
        let code = match level {
            Level::Must => "1;31",
            Level::Should => "1;33",
            Level::May | Level::Off => "1;36",
        };
        self.paint(code, text)
    }
}

const fn word(level: Level) -> &'static str {
    match level {
        Level::Must => "error",
        Level::Should => "warning",
        Level::May | Level::Off => "note",
    }
}

/// One finding, with the line that it is about.
pub fn diagnostic(capture: &str, located: &Located, style: Style) -> String {
    let finding = &located.finding;
    let gutter = " ".repeat(finding.spot.line.to_string().len());
    let bar = style.dim("|");
    let mut out = String::new();
    let head = style.level(finding.level, &format!("{}[{}]", word(finding.level), finding.rule));
    let _ = writeln!(out, "{head}{}", style.bold(&format!(": {}", visible(&finding.message))));
    let _ = writeln!(out, "{gutter}{} {}", style.dim("-->"), place(capture, located));
    let _ = writeln!(out, "{gutter} {bar}");
    let (line, mark) = source_line(&finding.spot.excerpt);
    let _ = writeln!(out, "{} {bar} {line}", style.dim(&finding.spot.line.to_string()));
    let _ = writeln!(out, "{gutter} {bar} {}", style.level(finding.level, &mark));
    let _ = writeln!(out, "{gutter} {bar}");
    let rule = catalogue::rule(finding.rule);
    for (name, value) in remarks(finding, rule) {
        let _ = writeln!(out, "{gutter} {} {}: {}", style.dim("="), style.bold(name), visible(&value));
    }
    out
}

fn place(capture: &str, located: &Located) -> String {
    let finding = &located.finding;
    let mut place = visible(capture);
    if let Some(exchange) = &located.exchange {
        let _ = write!(place, " ({})", visible(exchange));
    }
    let _ = write!(place, ":{}  event {}", finding.spot.line, finding.spot.event);
    if let Some(name) = &finding.spot.event_type {
        let _ = write!(place, " · {}", visible(name));
    }
    if let Some(number) = finding.spot.sequence_number {
        let _ = write!(place, " · sequence {number}");
    }
    if let Some(time) = finding.spot.time {
        let _ = write!(place, " · +{} ms", time.as_millis());
    }
    let _ = write!(place, " · byte {}", finding.spot.bytes.start);
    place
}

/// The line of the recording, and a line that marks the place in it.
fn source_line(excerpt: &Excerpt) -> (String, String) {
    let part = |range| excerpt.text.get(range).unwrap_or_default();
    let mut line = String::from(if excerpt.cut.0 { "…" } else { "" });
    push_visible(part(0..excerpt.mark.start), &mut line);
    let before = line.width();
    push_visible(part(excerpt.mark.clone()), &mut line);
    // Of what goes on for long, the first character is enough.
    let marked = match part(excerpt.mark.clone()).as_bytes() {
        [b'{' | b'[', ..] => 1,
        _ => (line.width() - before).max(1),
    };
    push_visible(part(excerpt.mark.end..excerpt.text.len()), &mut line);
    if excerpt.cut.1 {
        line.push('…');
    }
    (line, " ".repeat(before) + &"^".repeat(marked))
}

fn remarks(finding: &Finding, rule: Option<&Rule>) -> Vec<(&'static str, String)> {
    let mut remarks = Vec::new();
    if let Some(pointer) = finding.pointer.as_ref().filter(|pointer| !pointer.is_empty()) {
        remarks.push(("at", pointer.clone()));
    }
    remarks.extend(finding.expected.clone().map(|expected| ("expected", expected)));
    // The message may have said so.
    let found = finding.actual.clone().filter(|actual| !finding.message.ends_with(actual));
    remarks.extend(found.map(|actual| ("found", actual)));
    if let Some(rule) = rule {
        let level = match finding.level {
            Level::Must => "MUST",
            Level::Should => "SHOULD",
            Level::May | Level::Off => "MAY",
        };
        let citation = rule.citation;
        remarks.push(("authority", format!("{level} · {}, {}", citation.source, citation.heading)));
        let breaks: Vec<String> =
            rule.breaks.iter().map(|broken| format!("{} ({})", broken.client, broken.failure)).collect();
        if !breaks.is_empty() {
            remarks.push(("can break", breaks.join(", ")));
        }
    }
    let more =
        if finding.count > 1 { format!("  (and {} more like it)", finding.count - 1) } else { String::new() };
    remarks.push(("help", format!("conformance explain {}{more}", finding.rule)));
    remarks
}

/// What a run found, by rule and by client.
pub fn summary(run: &Run, shown: Level) -> String {
    let mut out = String::new();
    let of = |count: fn(&CaptureReport) -> u64| run.captures.iter().map(count).sum::<u64>();
    let files = run.captures.len() as u64;
    let (streams, events) = (of(|capture| capture.streams), of(|capture| capture.events));
    let _ = writeln!(
        out,
        "{}: {}, {}, {} checked as {}",
        match (run.has_failed(), run.is_incomplete()) {
            (true, _) => "failed",
            (false, true) => "incomplete",
            (false, false) => "passed",
        },
        counted(files, "recording"),
        counted(streams, "stream"),
        counted(events, "event"),
        run.dialect.name
    );
    let bodies = of(|capture| capture.bodies);
    if bodies > 0 {
        let _ = writeln!(out, "  {} no stream; no rule reads them yet", is_or_are(bodies, "answer"));
    }
    for (rule, found) in by_rule(run) {
        let hidden = if found.level < shown { "  (not shown; --level may)" } else { "" };
        let _ = writeln!(
            out,
            "  {:<9}{rule:<28} {} in {}{hidden}",
            word(found.level),
            counted(found.times, "time"),
            counted(found.captures, "recording"),
        );
    }
    let omitted = of(|capture| capture.omitted);
    if omitted > 0 {
        let _ = writeln!(out, "  {} more, not listed", counted(omitted, "fault"));
    }
    for (client, captures) in by_client(run) {
        let _ = writeln!(out, "  can break {client} in {}", counted(captures, "recording"));
    }
    let unread = run.captures.iter().filter(|capture| capture.error.is_some()).count() as u64;
    if unread > 0 {
        let _ = writeln!(out, "  {} could not be read", counted(unread, "recording"));
    }
    out
}

fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn is_or_are(count: u64, what: &str) -> String {
    format!("{} {}", counted(count, what), if count == 1 { "is" } else { "are" })
}

struct OfRule {
    level: Level,
    times: u64,
    captures: u64,
}

fn by_rule(run: &Run) -> BTreeMap<&'static str, OfRule> {
    let mut rules = BTreeMap::new();
    for capture in &run.captures {
        let mut here = BTreeSet::new();
        for Located { finding, .. } in &capture.findings {
            let of_rule =
                rules.entry(finding.rule).or_insert(OfRule { level: Level::Off, times: 0, captures: 0 });
            of_rule.level = of_rule.level.max(finding.level);
            of_rule.times += finding.count;
            of_rule.captures += u64::from(here.insert(finding.rule));
        }
    }
    rules
}

/// In how many recordings something stands that a client fails on.
fn by_client(run: &Run) -> BTreeMap<&'static str, u64> {
    let mut clients = BTreeMap::new();
    for capture in &run.captures {
        let binding = capture.findings.iter().filter(|located| located.finding.level >= Level::Should);
        let rules = binding.filter_map(|located| catalogue::rule(located.finding.rule));
        let here: BTreeSet<_> = rules.flat_map(|rule| rule.breaks).map(|broken| broken.client).collect();
        for client in here {
            *clients.entry(client).or_insert(0) += 1;
        }
    }
    clients
}
