//! The changes of a golden by the violation of a rule.

use std::fmt::Write as _;

use catalogue::{Edit, Violation};

use super::steps::{Part, Step, parts, readable, steps};
use super::values::{differences, json};
use recordings::goldens::Golden;
use reports::{Screen, Style};
use results::text::{common, shortened};
use similar::{Algorithm, DiffTag};

/// With their context: - removed, + added, ~ changed.
pub(super) fn changes(golden: &Golden, edited: &[u8], violation: &Violation, screen: Screen) -> String {
    let is_renumbered = violation.edits.contains(&Edit::Renumber);
    let (before, after) = (readable(golden.bytes), readable(edited));
    let before = parts(&before, golden.format, is_renumbered);
    let after = parts(&after, golden.format, is_renumbered);
    let digits = after.last().map_or(1, |part| (part.line + 1).to_string().len());
    let mut table = Table { out: String::new(), digits, screen, is_renumbered };
    let steps = steps(&before, &after);
    let is_kept = |at: usize| matches!(steps.get(at), None | Some(Step::Kept(_)));
    let mut gap = false;
    for (at, step) in steps.iter().enumerate() {
        match step {
            Step::Kept(part) => {
                // Unchanged parts are shown only next to changes.
                let is_near = !is_kept(at + 1) || at.checked_sub(1).is_some_and(|before| !is_kept(before));
                if is_near {
                    table.gap(gap);
                    table.kept(&after[*part]);
                }
                gap = !is_near;
                continue;
            }
            Step::Changed(..) | Step::Dropped(_) | Step::Inserted(_) if at == 0 => {}
            _ => table.gap(gap),
        }
        gap = false;
        match step {
            Step::Dropped(part) => match folded(&steps, at, |step| matches!(step, Step::Dropped(_))) {
                Fold::Shown => table.whole('-', &before[*part]),
                Fold::First(left_out) => table.folded('-', left_out),
                Fold::LeftOut => {}
            },
            Step::Inserted(part) => match folded(&steps, at, |step| matches!(step, Step::Inserted(_))) {
                Fold::Shown => table.whole('+', &after[*part]),
                Fold::First(left_out) => table.folded('+', left_out),
                Fold::LeftOut => {}
            },
            Step::Changed(old, new) => table.changed(&before[*old], &after[*new]),
            Step::Kept(_) => {}
        }
    }
    table.out
}

enum Fold {
    Shown,
    /// The number of parts omitted from here.
    First(usize),
    LeftOut,
}

/// Of a long sequence of equal steps, the first and the last stay.
fn folded(steps: &[Step], at: usize, is_of_kind: impl Fn(&Step) -> bool) -> Fold {
    const MAX_STEPS: usize = 2;
    let before = steps.iter().take(at).rev().take_while(|step| is_of_kind(step)).count();
    let after = steps.iter().skip(at + 1).take_while(|step| is_of_kind(step)).count();
    let all = before + 1 + after;
    match before {
        _ if all <= MAX_STEPS + 2 || before < MAX_STEPS || after == 0 => Fold::Shown,
        MAX_STEPS => Fold::First(all - MAX_STEPS - 1),
        _ => Fold::LeftOut,
    }
}

struct Table {
    out: String,
    digits: usize,
    screen: Screen,
    is_renumbered: bool,
}

impl Table {
    fn row(&mut self, number: Option<usize>, sign: char, text: &str) {
        let (style, digits) = (self.screen.style, self.digits);
        let room = self.screen.width.max(Screen::LEAST_WIDTH).saturating_sub(self.digits + 5);
        let number = number.map(|line| (line + 1).to_string()).unwrap_or_default();
        let number = style.frame(&format!("{number:>digits$} |"));
        let text = if text.is_empty() { "(blank line)" } else { text };
        let text = paint(style, sign, &format!("{sign} {}", shortened(text, room)));
        let _ = writeln!(self.out, "{number} {text}");
    }

    fn gap(&mut self, is_gap: bool) {
        if is_gap {
            let _ = writeln!(self.out, "{}", self.screen.style.frame("..."));
        }
    }

    fn kept(&mut self, part: &Part<'_>) {
        let number = part.text.lines().position(|line| line == part.head()).unwrap_or(0);
        self.row(Some(part.line + number), ' ', part.head());
    }

    fn whole(&mut self, sign: char, part: &Part<'_>) {
        for (number, line) in part.text.split_inclusive('\n').enumerate() {
            let shown = line.strip_suffix('\n').unwrap_or(line);
            // The blank line after a frame is implied.
            if !shown.is_empty() {
                self.row((sign != '-').then_some(part.line + number), sign, shown);
            }
        }
    }

    fn folded(&mut self, sign: char, count: usize) {
        self.row(None, sign, &format!("… and {count} more"));
    }

    /// Line by line: JSON by values, other lines as a whole.
    fn changed(&mut self, old: &Part<'_>, new: &Part<'_>) {
        let [old_lines, new_lines] =
            [old, new].map(|part| part.text.split_inclusive('\n').collect::<Vec<_>>());
        for hunk in similar::capture_diff_slices(Algorithm::Myers, &old_lines, &new_lines) {
            let removed = old_lines.get(hunk.old_range()).unwrap_or_default();
            let added = new_lines.get(hunk.new_range()).unwrap_or_default();
            let line = new.line + hunk.new_range().start;
            if hunk.tag() == DiffTag::Equal {
                for (number, kept) in added.iter().enumerate().filter(|(_, kept)| !kept.trim_end().is_empty())
                {
                    self.row(Some(line + number), ' ', kept.trim_end_matches('\n'));
                }
            } else if let ([one], [other]) = (removed, added)
                && let (Some(was), Some(is)) = (json(one), json(other))
            {
                self.row(Some(line), '~', other.trim_end());
                for (pointer, difference) in differences(&was, &is, self.is_renumbered) {
                    self.value(&pointer, &difference);
                }
            } else {
                let keep = self.screen.width / 3;
                let cut = Cut::around(removed.first().copied(), added.first().copied(), keep);
                for line in removed {
                    self.row(None, '-', &cut.of(line));
                }
                for (number, added) in added.iter().enumerate() {
                    self.row(Some(line + number), '+', &cut.of(added));
                }
            }
        }
    }

    fn value(&mut self, pointer: &str, difference: &(Option<String>, Option<String>)) {
        let text = match difference {
            (Some(old), Some(new)) => {
                let cut = Cut::around(Some(old), Some(new), 20);
                format!("    {pointer}: {} → {}", shortened(&cut.of(old), 60), shortened(&cut.of(new), 60))
            }
            (Some(old), None) => format!("    {pointer}: {}, removed", shortened(old, 60)),
            (None, Some(new)) => format!("    {pointer}: {}, added", shortened(new, 60)),
            (None, None) => return,
        };
        self.row(None, '~', &text);
    }
}

fn paint(style: Style, sign: char, text: &str) -> String {
    match sign {
        '-' => style.removed(text),
        '+' => style.added(text),
        '~' => style.changed(text),
        _ => text.to_owned(),
    }
}

/// The offset at which two texts differ, and the start of the excerpt.
struct Cut {
    start: usize,
}

impl Cut {
    fn around(old: Option<&str>, new: Option<&str>, keep: usize) -> Self {
        let (old, new) = (old.unwrap_or_default(), new.unwrap_or_default());
        let same = old.get(..common(old, new)).unwrap_or_default();
        let count = same.chars().count();
        // Short texts are shown from their start.
        let start = same.char_indices().nth(count.saturating_sub(keep)).filter(|_| count > 2 * keep);
        Self { start: start.map_or(0, |(at, _)| at) }
    }

    fn of(&self, text: &str) -> String {
        let text = text.strip_suffix('\n').unwrap_or(text);
        match self.start {
            0 => text.to_owned(),
            start => format!("…{}", text.get(start..).unwrap_or(text)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use recordings::capture::Format;

    fn shown(before: &'static str, after: &str, edits: &'static [Edit]) -> String {
        let golden = Golden { dialect: "x", name: "x", format: Format::Sse, bytes: before.as_bytes() };
        let violation = Violation { golden: "x/x", also: &[], edits };
        changes(&golden, after.as_bytes(), &violation, Screen { style: Style::Plain, width: 60 })
    }

    const THREE: &str = "data: {\"type\":\"a\",\"sequence_number\":0}\n\ndata: {\"type\":\"b\",\"sequence_number\":1}\n\ndata: {\"type\":\"c\",\"sequence_number\":2}\n\n";

    #[test]
    fn what_was_renumbered_is_kept() {
        let after = "data: {\"type\":\"a\",\"sequence_number\":0}\n\ndata: {\"type\":\"c\",\"sequence_number\":1}\n\n";
        insta::assert_snapshot!(shown(THREE, after, &[Edit::Renumber]), @r#"
        1 |   data: {"type":"a","sequence_number":0}
          | - data: {"type":"b","sequence_number":1}
        3 |   data: {"type":"c","sequence_number":1}
        "#);
        insta::assert_snapshot!(shown(THREE, after, &[]), @r#"
        1 |   data: {"type":"a","sequence_number":0}
          | - data: {"type":"b","sequence_number":1}
        3 | ~ data: {"type":"c","sequence_number":1}
          | ~     /sequence_number: 2 → 1
        "#);
    }

    #[test]
    fn what_cannot_be_seen_is_shown() {
        let after = THREE.replace("1}\n\n", "1}\r\n\r\n");
        insta::assert_snapshot!(shown(THREE, &after, &[]), @r#"
        1 |   data: {"type":"a","sequence_number":0}
          | - data: {"type":"b","sequence_number":1}
          | - (blank line)
        3 | + data: {"type":"b","sequence_number":1}\r
        4 | + \r
        5 |   data: {"type":"c","sequence_number":2}
        "#);
        assert_eq!(readable(b"a\xffb"), "a\\xffb");
    }

    #[test]
    fn long_rows_are_folded() {
        let many: Vec<_> = (0..9).map(|number| format!("data: {{\"type\":\"{number}\"}}\n\n")).collect();
        let many: &str = Box::leak(many.concat().into_boxed_str());
        insta::assert_snapshot!(shown(many, "data: {\"type\":\"0\"}\n\n", &[]), @r#"
        1 |   data: {"type":"0"}
          | - data: {"type":"1"}
          | - data: {"type":"2"}
          | - … and 5 more
          | - data: {"type":"8"}
        "#);
    }
}
