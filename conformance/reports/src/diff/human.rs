//! Differences of two runs, for a terminal.

use std::fmt::Write as _;

use catalogue::Level;

use super::super::style::{Screen, Style};
use super::Diff;
use super::lists::{List, MAX_LENGTH, lists, side};
use results::text::{cut, visible, wrap};

/// Returns the differences, the worse ones first.
pub fn human(diff: &Diff, screen: impl Into<Screen>) -> String {
    let Screen { style, width } = screen.into();
    let mut page = Page { out: String::new(), style, width: width.max(Screen::LEAST_WIDTH) };
    page.row(0, &format!("before: {}", visible(&side(&diff.before))));
    page.row(0, &format!("after:  {}", visible(&side(&diff.after))));
    if diff.before.suite != diff.after.suite {
        page.row(0, "note: the versions of the suite differ, and so may their rules");
    }
    if !diff.unlike.is_empty() {
        page.row(0, "note: the options of the runs differ, which may explain some differences:");
        for how in &diff.unlike {
            page.row(2, &visible(&cut(how, MAX_LENGTH)));
        }
    }
    if diff.is_empty() {
        page.row(0, "nothing is better or worse");
    }
    for list in lists(diff) {
        page.list(&list);
    }
    page.out
}

struct Page {
    out: String,
    style: Style,
    width: usize,
}

impl Page {
    fn list(&mut self, list: &List) {
        let heading = format!("{}: {}", list.heading, list.count);
        let heading = match list.level {
            Level::Off => self.style.good(&heading),
            level => self.style.level(level, &heading),
        };
        let _ = writeln!(self.out, "{heading}");
        for row in &list.rows {
            let detail = if row.detail.is_empty() { "" } else { &format!(": {}", visible(&row.detail)) };
            self.row(2, &format!("{}  {} -> {}{detail}", visible(&row.name), row.before, row.after));
        }
        if list.more > 0 {
            self.row(2, &format!("and {} more", list.more));
        }
    }

    fn row(&mut self, indent: usize, text: &str) {
        for (number, row) in wrap(text, self.width.saturating_sub(indent + 2)).iter().enumerate() {
            let indent = if number == 0 { indent } else { indent + 2 };
            let _ = writeln!(self.out, "{:indent$}{row}", "");
        }
    }
}
