//! The report of a client or of a gateway for a terminal.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::iter;

use catalogue::Level;
use results::text::{counted, cut, listed, parted, shortened, visible, wrap};
use results::{Test, TestCause, TestFinding, Verdict, cause_counts, first_of};
use serde::Serialize;
use unicode_width::UnicodeWidthStr;

use super::rule::{first_difference, level_of, sides, window};
use super::{Tested, counts, files, terms};
use crate::human::word;
use crate::sheet::{Cell, Section};
use crate::style::{Detail, Screen, Style};
use crate::terminal::Page;

/// Maximum number of causes with their example; the others have a line.
const IN_FULL: usize = 10;
/// Maximum number of other causes.
const IN_LINE: usize = 40;
/// Maximum number of names in a line.
const NAMES: usize = 9;
/// Maximum number of rows of a section.
const ROWS: usize = 20;
/// Maximum number of characters of a side.
const SIDE: usize = 400;
/// Maximum number of characters of a message.
const MESSAGE: usize = 600;
/// Maximum number of characters of a cell.
const CELL: usize = 300;
/// Width of the labels of remarks.
const LABEL: usize = 10;

impl<A: Serialize> Tested<'_, A> {
    pub(crate) fn human(&self, detail: Detail, screen: Screen) -> String {
        let mut page = Page::new(screen, detail.is_verbose);
        if detail.is_verbose {
            self.list_tests(&mut page);
        }
        self.list_causes(detail, &mut page);
        for cell in &self.below {
            page.row(0, 2, &visible(&cell.text()));
        }
        if !self.below.is_empty() {
            page.out.push('\n');
        }
        for section in self.sections() {
            page.section(&section);
        }
        page.stale(self.stale);
        page.next(&self.steps);
        self.conclude(&mut page);
        page.out
    }

    fn list_tests(&self, page: &mut Page) {
        for test in self.tests {
            let sign = match test.verdict {
                Verdict::Pass => page.style.good(test.verdict.sign()),
                Verdict::Fail | Verdict::HarnessError => page.style.level(Level::Must, test.verdict.sign()),
                Verdict::NotExercised => test.verdict.sign().to_owned(),
            };
            let title = format!("  {}", visible((self.title)(test)));
            let _ = writeln!(page.out, "{sign} {}{}", visible(&test.name), title.trim_end());
            for finding in &test.findings {
                let text = format!("{}: {}", finding.rule, cut(&finding.message, MESSAGE));
                page.row(4, 6, &visible(&text));
            }
            if let Some(reason) = &test.expected {
                page.row(4, 6, &format!("expected: {}", visible(reason)));
            }
            if test.has_failed() {
                for (name, text) in (self.about)(test, None) {
                    page.row(4, 6, &format!("{name}: {}", visible(text)));
                }
            }
            if test.findings.is_empty() && !test.reason.is_empty() {
                page.row(4, 6, &visible(&cut(&test.reason, MESSAGE)));
            }
        }
        page.out.push('\n');
    }

    fn list_causes(&self, detail: Detail, page: &mut Page) {
        let most = if detail.is_verbose { usize::MAX } else { IN_FULL };
        let (shown, hidden): (Vec<&TestCause>, Vec<&TestCause>) =
            self.causes.iter().partition(|cause| cause.is_shown(detail.level));
        let mut names: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
        for test in self.tests {
            for finding in &test.findings {
                let names = names.entry((&finding.rule, &finding.kind)).or_default();
                if names.last() != Some(&&*test.name) {
                    names.push(&test.name);
                }
            }
        }
        for cause in shown.iter().take(most) {
            let Some((test, finding)) = first_of(self.tests, cause) else { continue };
            let others = names.get(&(&*cause.rule, &*cause.kind)).into_iter().flatten();
            let others: Vec<&str> = others.copied().filter(|name| *name != test.name).collect();
            self.write_cause(cause, (test, finding), &others, page);
        }
        let rest = shown.get(most.min(shown.len())..).unwrap_or_default();
        if !rest.is_empty() {
            let _ = writeln!(page.out, "{}", counted(rest.len() as u64, "more cause"));
            for cause in rest.iter().take(IN_LINE) {
                let Some((_, finding)) = first_of(self.tests, cause) else { continue };
                let message = shortened(&finding.message, page.room(50));
                let (level, rule) = (cause.level.keyword(), visible(&cause.rule));
                let _ = writeln!(page.out, "  {level}  {rule}: {message} ({})", counted(cause.tests, "test"));
            }
            page.more(rest.len(), IN_LINE);
            page.out.push('\n');
        }
        if !hidden.is_empty() {
            let hidden = counted(hidden.len() as u64, "cause");
            let _ = writeln!(page.out, "{hidden} below {} not shown (--level)\n", detail.level.keyword());
        }
    }

    fn write_cause(
        &self,
        cause: &TestCause,
        (test, finding): (&Test<A>, &TestFinding),
        others: &[&str],
        page: &mut Page,
    ) {
        let head = format!("{}[{}]", word(cause.level), visible(&cause.rule));
        let message = visible(&cut(&finding.message, MESSAGE));
        let message = wrap(&message, page.room(head.len() + 2)).join("\n  ");
        let head = page.style.level(cause.level, &head);
        let _ = writeln!(page.out, "{head}: {}", page.style.bold(&message));
        for (name, text) in compared(finding, page.style) {
            page.remark(name, &text);
        }
        if let Some(at) = first_difference(finding) {
            page.remark("", &format!("they differ from character {at}"));
        }
        let groups = listed(&cause.groups, NAMES, |group| visible(group));
        page.remark("seen", &format!("{} of {groups}; {}", counted(cause.tests, "test"), level_of(cause)));
        if !finding.breaks.is_empty() {
            page.remark("breaks", &listed(&finding.breaks, NAMES, |client| visible(client)));
        }
        for (name, lines) in [("harms", &cause.agents), ("played", &(self.played)(cause))] {
            for line in lines {
                page.remark(name, &visible(line));
            }
        }
        if let Some(rule) = self.page_of(cause) {
            page.remark("fix", &visible(&rule.fix));
        }
        page.remark("example", &visible(&test.name));
        if let Some(reason) = &test.expected {
            page.remark("expected", &visible(reason));
        }
        for file in files(test, self.folder) {
            page.remark("", &visible(&file));
        }
        for (name, text) in (self.about)(test, Some(finding)) {
            page.remark(name, &visible(text));
        }
        if !others.is_empty() {
            let most = if page.is_verbose { usize::MAX } else { NAMES };
            page.remark("also", &listed(others, most, |name| visible(name)));
        }
        // It is not wrapped, so that it can be copied.
        let label = page.style.frame(&format!("{:LABEL$}", "again"));
        let _ = writeln!(page.out, "  {label} {}\n", visible(&(self.again)(test)));
    }

    fn conclude(&self, page: &mut Page) {
        let mut parts = vec![counts(self.tests), visible(&self.subject)];
        parts.extend((!self.causes.is_empty()).then(|| cause_counts(self.causes)));
        let unmet = |name: &str, state: &str| format!("profile {}: {state}", visible(name));
        parts.extend(self.unmet.iter().map(|profile| unmet(&profile.name, profile.state.name())));
        if !self.stale.is_empty() {
            parts.push(format!("{} over", counted(self.stale.len() as u64, "expected failure")));
        }
        parts.extend(terms(self.fail_on, self.levels).into_iter().map(|(name, text)| match name {
            "fails on" => format!("{name} {text}"),
            _ => format!("{name}: {text}"),
        }));
        parts.extend(self.dialect.as_ref().map(|dialect| format!("dialect {}", visible(dialect))));
        parts.push(format!("{}.{} s", self.ms / 1000, self.ms % 1000 / 100));
        let outcome = page.style.outcome(self.outcome, self.outcome.name());
        let _ = writeln!(page.out, "{outcome}: {}", parts.join(" · "));
    }
}

/// Both sides, escaped, with the difference in another color.
fn compared(finding: &TestFinding, style: Style) -> Vec<(&'static str, String)> {
    let parts = parted(&finding.upstream, &finding.client);
    let side = |(name, text): (&'static str, &str)| {
        let is_client = name == "client";
        let shown = visible(&window(finding, text, SIDE));
        let differing =
            parts.as_ref().map(|[upstream, client]| if is_client { client[1] } else { upstream[1] });
        let differing = differing.map(visible).filter(|part| !part.is_empty() && !part.contains(' '));
        let painted = differing.and_then(|part| {
            let (before, behind) = shown.split_once(&*part)?;
            let part = if is_client { style.removed(&part) } else { style.added(&part) };
            Some(format!("{before}{part}{behind}"))
        });
        (name, painted.unwrap_or(shown))
    };
    sides(finding).into_iter().map(side).collect()
}

impl Page {
    fn room(&self, margin: usize) -> usize {
        self.width.saturating_sub(margin).max(Screen::LEAST_WIDTH)
    }

    fn remark(&mut self, name: &str, text: &str) {
        let rows = wrap(text, self.room(LABEL + 5)).join(&format!("\n  {:LABEL$} ", ""));
        let _ = writeln!(self.out, "  {} {rows}", self.style.frame(&format!("{name:LABEL$}")));
    }

    /// A table that is too wide has its cells one after the other.
    fn section(&mut self, section: &Section) {
        if section.rows.is_empty() {
            return;
        }
        let (first, rest) = section.title.split_at(1);
        self.heading(&format!("{}{rest}", first.to_lowercase()));
        let most = if self.is_verbose { usize::MAX } else { ROWS };
        let texts = section.heads.len() - section.numbers;
        let cell = |(at, cell): (usize, &Cell)| match &*cell.text() {
            "0" if at >= texts => "-".to_owned(),
            text => visible(&cut(text, CELL)),
        };
        let rows = section.rows.iter().take(most).map(|row| row.cells.iter().enumerate().map(cell).collect());
        let rows: Vec<Vec<String>> = iter::once(section.heads.clone()).chain(rows).collect();
        let width = |at| rows.iter().filter_map(|row| row.get(at)).map(|cell: &String| cell.width()).max();
        let widths: Vec<usize> = (0..section.heads.len()).filter_map(width).collect();
        let is_wide = widths.iter().map(|width| width + 2).sum::<usize>() > self.width;
        for (number, row) in rows.iter().enumerate() {
            if !is_wide {
                let cells = row.iter().zip(&widths).enumerate().map(|(at, (cell, width))| {
                    let space = " ".repeat(width.saturating_sub(cell.width()));
                    if at < texts { format!("  {cell}{space}") } else { format!("  {space}{cell}") }
                });
                let _ = writeln!(self.out, "{}", cells.collect::<String>().trim_end());
            } else if number > 0 {
                let cells =
                    row.iter().zip(&section.heads).enumerate().filter(|(_, (cell, _))| !cell.is_empty());
                let named = |(at, (cell, head)): (usize, (&String, &String))| match at {
                    0 => cell.clone(),
                    _ => format!("{head}: {cell}"),
                };
                self.row(2, 4, &cells.map(named).collect::<Vec<_>>().join(" · "));
            }
        }
        self.more(section.rows.len(), most);
        self.out.push('\n');
    }
}
