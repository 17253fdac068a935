//! Text for a terminal, row by row.

use std::fmt::Write as _;

use results::Step;
use results::text::{cut, shortened, visible, wrap};

use super::style::{Screen, Style};

/// Maximum number of entries that are over.
const STALE: usize = 4;
/// Maximum length of an entry.
const ENTRY: usize = 300;

pub(super) struct Page {
    pub(super) out: String,
    pub(super) width: usize,
    pub(super) style: Style,
    pub(super) is_verbose: bool,
}

impl Page {
    pub(super) fn new(screen: Screen, is_verbose: bool) -> Self {
        let width = screen.width.max(Screen::LEAST_WIDTH);
        Self { out: String::new(), width, style: screen.style, is_verbose }
    }

    pub(super) fn heading(&mut self, text: &str) {
        for row in wrap(text, self.width) {
            let _ = writeln!(self.out, "{}", self.style.bold(&row));
        }
    }

    /// Wrapped; continuation rows are indented further.
    pub(super) fn row(&mut self, indent: usize, hang: usize, text: &str) {
        for (number, row) in wrap(text, self.width.saturating_sub(hang)).iter().enumerate() {
            let indent = if number == 0 { indent } else { hang };
            let _ = writeln!(self.out, "{:indent$}{row}", "");
        }
    }

    /// Shortened unless verbose.
    pub(super) fn short_row(&mut self, text: &str) {
        if self.is_verbose {
            self.row(2, 4, text);
        } else {
            let text = shortened(text, self.width.saturating_sub(2));
            let _ = writeln!(self.out, "  {text}");
        }
    }

    /// Expected failures that passed.
    pub(super) fn stale(&mut self, stale: &[String]) {
        if stale.is_empty() {
            return;
        }
        self.heading("unexpectedly passing: remove from the list of expected failures");
        let most = if self.is_verbose { usize::MAX } else { STALE };
        for entry in stale.iter().take(most) {
            self.row(2, 4, &visible(&cut(entry, ENTRY)));
        }
        self.more(stale.len(), most);
    }

    pub(super) fn more(&mut self, all: usize, most: usize) {
        if all > most {
            let _ = writeln!(self.out, "  and {} more (--verbose shows all)", all - most);
        }
    }

    pub(super) fn next(&mut self, steps: &[Step]) {
        if steps.is_empty() {
            return;
        }
        self.heading("next");
        for step in steps {
            self.row(2, 2, &visible(&step.why));
            // Commands are never wrapped, so that they can be copied.
            let _ = writeln!(self.out, "    {}", self.style.bold(&visible(&step.command)));
        }
    }
}
