//! A sheet as Markdown, for a pull request, a job summary or a README.
//!
//! Untrusted text is in code spans, where links, mentions, markup and HTML have no effect.

use std::borrow::Cow;
use std::fmt::Write as _;

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use results::text::{counted, cut, listed, visible};

use super::badge::color;
use super::{Cell, Row, Section, Sheet, SheetCause};
use crate::human::word;

/// Maximum number of names in a row.
const NAMES: usize = 16;
/// Maximum number of causes, and of rows of a section.
const ROWS: usize = 50;
const MAX_LENGTH: usize = 300;

pub(crate) fn markdown(sheet: &Sheet<'_>) -> String {
    let state = &sheet.state;
    let part = |text: &str| {
        let doubled = text.replace('-', "--").replace('_', "__");
        utf8_percent_encode(&doubled, OF_BADGE).to_string()
    };
    let badge = format!("{}-{}-{}", part(&visible(&sheet.title)), part(state), color(sheet.outcome));
    let alternative = state.replace(':', "");
    let mut out =
        format!("# Conformance: {state}\n\n![{alternative}](https://img.shields.io/badge/{badge})\n");
    for sentence in &sheet.intro {
        let _ = writeln!(out, "\n{}.", joined(sentence));
    }
    for (name, text) in &sheet.terms {
        let _ = writeln!(out, "\n{}{}: {}.", name[..1].to_uppercase(), &name[1..], code(text));
    }
    causes(sheet, &mut out);
    let over = sheet.stale.iter().map(|entry| [Cell::code(entry), Cell::plain("remove it from the list")]);
    Section::list("Unexpectedly passing", over.map(Row::new)).write(&mut out);
    for section in (sheet.sections)() {
        section.write(&mut out);
    }
    out
}

fn causes(sheet: &Sheet<'_>, out: &mut String) {
    let mut heading = "";
    for cause in sheet.causes.iter().take(ROWS) {
        if cause.heading != heading {
            heading = cause.heading;
            let _ = writeln!(out, "\n## {heading}\n");
        }
        let SheetCause { sign, rule, extent, message, .. } = cause;
        let (rule, message, extent) = (code(rule), code(message), joined(extent));
        let _ = writeln!(out, "- **{}** {rule}, {extent}\n  - {message}", word(*sign));
        for (name, cell) in &cause.remarks {
            let _ = writeln!(out, "  - {name}: {}", cell.markdown(code));
        }
    }
    let more = sheet.causes.len().saturating_sub(ROWS) as u64;
    if more > 0 {
        let _ = writeln!(out, "- and {}", counted(more, "more cause"));
    } else if heading.is_empty() && !sheet.below.is_empty() {
        out.push('\n');
    }
    for cell in &sheet.below {
        let _ = writeln!(out, "- {}", cell.markdown(code));
    }
}

impl Section {
    fn write(&self, out: &mut String) {
        if self.rows.is_empty() {
            return;
        }
        let _ = writeln!(out, "\n## {}\n", self.title);
        if !self.intro.is_empty() {
            let _ = writeln!(out, "{}\n", self.intro);
        }
        let texts = self.heads.len() - self.numbers;
        if !self.heads.is_empty() {
            let line = format!("{}{}", "---|".repeat(texts), "---:|".repeat(self.numbers));
            let _ = writeln!(out, "| {} |\n|{line}", self.heads.join(" | "));
        }
        for Row { depth, cells } in self.rows.iter().take(ROWS) {
            let cells = |code: fn(&str) -> String, between| {
                cells.iter().map(|cell| cell.markdown(code)).collect::<Vec<_>>().join(between)
            };
            let _ = if self.heads.is_empty() {
                writeln!(out, "{}- {}", "  ".repeat(*depth), cells(code, ": "))
            } else {
                writeln!(out, "| {} |", cells(cell, " | "))
            };
        }
        if self.rows.len() > ROWS {
            let _ = writeln!(out, "\nand {} more", self.rows.len() - ROWS);
        }
    }
}

fn joined(cells: &[Cell]) -> String {
    cells.iter().map(|cell| cell.markdown(code)).collect()
}

impl Cell {
    fn markdown(&self, code: fn(&str) -> String) -> Cow<'_, str> {
        match self {
            Self::Plain(text) => text.into(),
            Self::Code(text) => code(text).into(),
            Self::Codes(all) => listed(all, NAMES, |text| code(text)).into(),
        }
    }
}

pub(crate) fn code(text: &str) -> String {
    let text = visible(&cut(text, MAX_LENGTH));
    let longest = text.split(|character| character != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest + 1);
    // A span that begins or ends with a backtick or space needs padding.
    let needs_room = text.is_empty() || text.starts_with(['`', ' ']) || text.ends_with(['`', ' ']);
    let room = if needs_room { " " } else { "" };
    format!("{fence}{room}{text}{room}{fence}")
}

pub(crate) fn cell(text: &str) -> String {
    code(&text.replace('|', "\\u{7c}"))
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
