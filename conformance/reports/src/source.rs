//!
//! Crates for annotated sources require the whole source, count its lines themselves, and print a location as path,
//! line and column. Reports only contain excerpts of a recording, which may be a million lines apart, and locate them
//! by event.

use std::ops::Range;

use unicode_width::UnicodeWidthStr;

use results::Location;
use results::text::{Cell, cells, visible, wrap};

pub(super) struct SourceLine<'s> {
    pub(super) place: &'s Location,
    /// Whether the finding is about this value, not the whole event.
    pub(super) is_value: bool,
    pub(super) label: String,
    /// Whether this is the place of the finding, not an explanation.
    pub(super) is_primary: bool,
}

pub(super) struct Drawn {
    pub(super) source: String,
    /// The rows below: spaces, marks, label, without trailing spaces.
    pub(super) below: Vec<String>,
}

/// Width above which only the first character of a list or object is marked.
const WIDEST_TREE: usize = 40;

impl SourceLine<'_> {
    pub(super) fn draw(&self, width: usize) -> Drawn {
        let excerpt = &self.place.excerpt;
        let cells: Vec<Cell> = cells(&excerpt.text).collect();
        let mark = self.mark(&cells);
        let shown = window(&cells, &mark, excerpt.cut, width);
        let mut source = String::new();
        if shown.start > 0 || excerpt.cut[0] {
            source.push('…');
        }
        let before = source.width() + columns(cells.get(shown.start..mark.start.min(shown.end)));
        for cell in cells.get(shown.clone()).unwrap_or_default() {
            source.push_str(&cell.text);
        }
        if shown.end < cells.len() || excerpt.cut[1] {
            source.push('…');
        }
        let sign = if self.is_primary { "^" } else { "-" };
        let marks = sign.repeat(columns(cells.get(mark.start..mark.end.min(shown.end))).max(1));
        Drawn { source, below: labelled(before, &marks, &visible(&self.label), width) }
    }

    fn mark(&self, cells: &[Cell]) -> Range<usize> {
        let excerpt = &self.place.excerpt;
        let text = excerpt.text.as_str();
        let mut mark = excerpt.mark[0]..excerpt.mark[1];
        let marked = text.get(mark.clone()).unwrap_or_default();
        let is_tree = marked.starts_with(['{', '[']);
        // The type stands for the whole event.
        let of_type = || {
            let name = format!("\"{}\"", self.place.event_type.as_deref()?);
            let bare = name.trim_matches('"');
            let found = text.find(&name).map(|at| at..at + name.len());
            found.or_else(|| text.find(bare).map(|at| at..at + bare.len()))
        };
        if !self.is_value && (is_tree || mark.end == 0) {
            mark = of_type().unwrap_or(mark.start..mark.start + 1);
        } else if is_tree && (excerpt.cut[1] && mark.end == text.len() || marked.width() > WIDEST_TREE) {
            mark.end = mark.start + 1;
        }
        let at = |byte: usize| cells.partition_point(|cell| cell.at < byte);
        let start = cells.partition_point(|cell| cell.at <= mark.start).saturating_sub(1);
        let start = if mark.start >= text.len() { cells.len() } else { start };
        start..at(mark.end).max(start)
    }
}

fn window(cells: &[Cell], mark: &Range<usize>, cut: [bool; 2], width: usize) -> Range<usize> {
    // Ellipses take a column at either end, and one column beyond can be marked.
    let room = width.saturating_sub(3);
    if columns(Some(cells)) <= room {
        return 0..cells.len();
    }
    let walk_back = |from: usize, room: usize| {
        let mut left = room;
        let mut at = from;
        while let Some(cell) = at.checked_sub(1).and_then(|before| cells.get(before)) {
            if cell.width > left {
                break;
            }
            left -= cell.width;
            at -= 1;
        }
        at
    };
    let mut start = walk_back(mark.start.min(cells.len()), room / 3);
    let mut left = room;
    let mut end = start;
    while let Some(cell) = cells.get(end).filter(|cell| cell.width <= left) {
        left -= cell.width;
        end += 1;
    }
    if end == cells.len() && !cut[1] {
        start = walk_back(start, left);
    }
    start..end
}

fn columns(cells: Option<&[Cell]>) -> usize {
    cells.unwrap_or_default().iter().map(|cell| cell.width).sum()
}

/// The label stands after the marks, or below and as far right as necessary.
fn labelled(before: usize, marks: &str, label: &str, width: usize) -> Vec<String> {
    let row = |indent: usize, text: &str| " ".repeat(indent) + text;
    let behind = before + marks.len() + 1;
    if label.is_empty() {
        return vec![row(before, marks)];
    }
    if behind + label.width() <= width {
        return vec![row(before, &format!("{marks} {label}"))];
    }
    let mut rows = vec![row(before, marks)];
    for line in wrap(label, width) {
        rows.push(row(before.min(width.saturating_sub(line.width())), &line));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use results::Excerpt;

    fn drawn(text: &str, marked: &str, label: &str, width: usize) -> String {
        let at = text.find(marked).unwrap();
        let excerpt = Excerpt { text: text.to_owned(), mark: [at, at + marked.len()], ..Excerpt::default() };
        let place = Location { excerpt, ..Location::default() };
        let line = SourceLine { place: &place, is_value: true, label: label.to_owned(), is_primary: true };
        let Drawn { source, below } = line.draw(width);
        format!("{source}\n{}", below.join("\n"))
    }

    #[test]
    fn marks_stand_under_their_place() {
        assert_eq!(drawn("a日e\u{301}X", "X", "here", 40), "a日e\u{301}X\n    ^ here");
        assert_eq!(drawn("\u{1b}[31m é", "é", "", 40), "\\u{1b}[31m é\n           ^");
        assert_eq!(drawn("a日本b", "日本", "", 40), "a日本b\n ^^^^");
    }

    #[test]
    fn lines_are_cut_to_the_screen() {
        let text = format!("{}X{}", "a".repeat(50), "日".repeat(50));
        assert_eq!(drawn(&text, "X", "x", 20), "…aaaaaX日日日日日…\n      ^ x");
        let end = format!("{}X", "a".repeat(50));
        assert_eq!(
            drawn(&end, "X", "too long a label", 20),
            "…aaaaaaaaaaaaaaaaX\n                 ^\n    too long a label"
        );
    }
}
