//! Differences of two runs, for a terminal.

use std::fmt::Write as _;

use catalogue::Level;

use super::super::style::Screen;
use super::super::terminal::Page;
use super::Diff;
use super::lists::{List, MAX_LENGTH, lists, side};
use results::text::{cut, visible};

/// The differences, the worse ones first.
pub fn human(diff: &Diff, screen: impl Into<Screen>) -> String {
    let mut page = Page::new(screen.into(), false);
    page.row(0, 2, &format!("before: {}", visible(&side(&diff.before))));
    page.row(0, 2, &format!("after:  {}", visible(&side(&diff.after))));
    if diff.before.suite != diff.after.suite {
        page.row(0, 2, "note: the versions of the suite differ, and so may their rules");
    }
    if !diff.unlike.is_empty() {
        page.row(0, 2, "note: the options of the runs differ, which may explain some differences:");
        for how in &diff.unlike {
            page.row(2, 4, &visible(&cut(how, MAX_LENGTH)));
        }
    }
    if diff.is_empty() {
        page.row(0, 2, "nothing is better or worse");
    }
    for list in lists(diff) {
        page.of_list(&list);
    }
    page.out
}

impl Page {
    fn of_list(&mut self, list: &List) {
        let heading = format!("{}: {}", list.heading, list.count);
        let heading = match list.level {
            Level::Off => self.style.good(&heading),
            level => self.style.level(level, &heading),
        };
        let _ = writeln!(self.out, "{heading}");
        for row in &list.rows {
            let detail = if row.detail.is_empty() { "" } else { &format!(": {}", visible(&row.detail)) };
            let change = row.change("->");
            let between = if change.is_empty() { "" } else { "  " };
            self.row(2, 4, &format!("{}{between}{change}{detail}", visible(&row.name)));
        }
        if list.more > 0 {
            self.row(2, 4, &format!("and {} more", list.more));
        }
    }
}
