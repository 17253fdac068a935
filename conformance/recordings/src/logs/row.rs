//! The statements of a row of a log.

use catalogue::LogRow;

use super::path::{each, first, text};
use super::time;

/// A value of a row, with its path.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Stated {
    pub(super) path: &'static str,
    /// As JSON.
    pub(super) raw: String,
}

impl Stated {
    pub(super) fn number(&self) -> Option<f64> {
        self.raw.trim_matches('"').parse().ok().filter(|number: &f64| number.is_finite())
    }

    pub(super) fn seconds(&self) -> Option<f64> {
        time::seconds(&self.raw)
    }
}

/// The statements of a row, or of several rows of one answer.
#[derive(Debug, Clone, Default, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(super) struct Row {
    pub(super) has_text: bool,
    pub(super) has_failed: bool,
    pub(super) is_cached: bool,
    pub(super) is_streamed: bool,
    /// Whether the time of the first token is null, and not merely left out.
    pub(super) lacks_first: bool,
    pub(super) finish: Option<Stated>,
    pub(super) input: Option<Stated>,
    pub(super) output: Option<Stated>,
    pub(super) total: Option<Stated>,
    pub(super) cost: Option<Stated>,
    pub(super) start: Option<Stated>,
    pub(super) first: Option<Stated>,
    pub(super) end: Option<Stated>,
}

impl Row {
    pub(super) fn of(kind: &'static LogRow, row: &str) -> Self {
        let stated =
            |paths: &'static [&'static str]| first(row, paths).map(|(path, raw)| Stated { path, raw });
        let holds = |paths| stated(paths).is_some_and(|stated| is_true(&stated.raw));
        let any = |paths: &[&str], test: &dyn Fn(&str) -> bool| {
            paths.iter().any(|path| each(row, path, &mut |value| test(value)))
        };
        let is_success = |stated: Stated| kind.success.contains(&stated.raw.trim_matches('"'));
        Self {
            has_text: any(kind.text, &|value| text(value).is_some()),
            has_failed: holds(kind.error) || stated(kind.status).is_some_and(|status| !is_success(status)),
            is_cached: holds(kind.cached),
            is_streamed: holds(kind.streamed),
            lacks_first: any(kind.first, &|value| matches!(value, "null" | "\"\"")),
            finish: stated(kind.finish),
            input: stated(kind.input),
            output: stated(kind.output),
            total: stated(kind.total),
            cost: stated(kind.cost),
            start: stated(kind.start),
            first: stated(kind.first),
            end: stated(kind.end),
        }
    }

    /// The last count of the rows of an answer is the count of the whole answer.
    pub(super) fn join(&mut self, later: Self) {
        self.has_text |= later.has_text;
        self.has_failed |= later.has_failed;
        self.finish = later.finish.or(self.finish.take());
        self.output = later.output.or(self.output.take());
    }
}

/// Some programs write booleans as words.
fn is_true(raw: &str) -> bool {
    let word = raw.trim_matches('"');
    let is_false = word.eq_ignore_ascii_case("false") || word.eq_ignore_ascii_case("none");
    !is_false && !matches!(word, "null" | "" | "0" | "{}" | "[]")
}
