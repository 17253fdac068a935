//! The rules about rows of logs.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::mem::take;

use catalogue::{Level, Log, LogRow};
use checker::{Excerpt, Finding, Frame, Location};

use super::path::first;
use super::row::{Row, Stated};

const FINISH: &str = "log/finish-recorded";
const TOKENS: &str = "log/tokens-counted";
const COST: &str = "log/cost-counted";
const FIRST: &str = "log/first-token-timed";
const SUM: &str = "log/usage-adds-up";
const TIMES: &str = "log/times-ordered";

/// Differences of clocks up to this number of seconds are no fault.
const TOLERANCE: f64 = 0.1;

/// Maximum number of answers in several rows that are kept until the end of a file. Further rows are judged alone.
const MOST_KEPT: usize = 10_000;

/// Maximum length of a value in a finding, in characters.
const SHOWN: usize = 60;

/// A rule and the paths of its value, which name a kind of rows.
type Key = (&'static str, &'static [&'static str]);

/// The rules, and the rows of a file that are not judged yet.
#[derive(Debug, Default)]
pub(crate) struct Judge {
    levels: BTreeMap<&'static str, Level>,
    /// The answers in several rows.
    joined: HashMap<String, (Row, RowPlace)>,
    /// The first finding of each rule in each kind of rows.
    findings: Vec<(Key, Finding)>,
    /// Those that count only if another row states such a value.
    doubtful: Vec<(Key, Finding)>,
    stated: Vec<Key>,
}

#[derive(Debug, Clone)]
struct RowPlace {
    kind: &'static LogRow,
    location: Location,
    exchange: Option<String>,
}

struct Fault<'f> {
    key: Key,
    message: String,
    /// The value at fault; none if it is missing.
    stated: Option<&'f Stated>,
    expected: String,
    is_doubtful: bool,
}

impl Judge {
    pub(crate) fn new(levels: BTreeMap<&'static str, Level>) -> Self {
        Self { levels, ..Self::default() }
    }

    /// Whether the row has an answer, or begins one, in a form of the log.
    pub(crate) fn row(
        &mut self,
        log: &'static Log,
        kind: &'static LogRow,
        frame: &Frame<'_>,
        exchange: Option<&str>,
    ) -> bool {
        let data = frame.data.as_deref().unwrap_or_default();
        let row = Row::of(kind, data);
        let location = Location {
            frame: 1,
            event_type: Some(log.name.to_owned()),
            line: frame.line,
            bytes: [frame.bytes.start, frame.bytes.end],
            ..Location::default()
        };
        let place = RowPlace { kind, location, exchange: exchange.map(str::to_owned) };
        let has_answer = row.has_text || row.finish.is_some();
        let id = first(data, kind.joined).map(|(_, id)| id);
        if let Some((before, _)) = id.as_ref().and_then(|id| self.joined.get_mut(id)) {
            before.join(row);
            return false;
        }
        match id.filter(|_| self.joined.len() < MOST_KEPT) {
            Some(id) => drop(self.joined.insert(id, (row, place))),
            None => self.judge(&row, &place),
        }
        has_answer
    }

    /// The findings of a file. Another one may follow.
    pub(crate) fn finish(&mut self) -> Vec<Finding> {
        let mut joined: Vec<_> = take(&mut self.joined).into_values().collect();
        joined.sort_by_key(|(_, place)| place.location.bytes);
        for (row, place) in joined {
            self.judge(&row, &place);
        }
        let stated = take(&mut self.stated);
        let certain = take(&mut self.doubtful).into_iter().filter(|(key, _)| stated.contains(key));
        let all = take(&mut self.findings).into_iter().chain(certain);
        let mut findings: Vec<Finding> = all.map(|(_, finding)| finding).collect();
        findings.sort_by_key(|finding| finding.place.bytes);
        findings
    }

    fn judge(&mut self, row: &Row, place: &RowPlace) {
        let kind = place.kind;
        for (key, stated) in [((FINISH, kind.finish), &row.finish), ((FIRST, kind.first), &row.first)] {
            if stated.is_some() && !self.stated.contains(&key) {
                self.stated.push(key);
            }
        }
        let is_whole = row.has_text && !row.has_failed;
        let number = |stated: &Option<Stated>| stated.as_ref().and_then(Stated::number);
        let (input, output) = (number(&row.input), number(&row.output));
        let more = || "more than 0".to_owned();
        if is_whole && row.finish.is_none() && !kind.finish.is_empty() {
            let message =
                "the answer has no stop reason: its stream was cut, or the user stopped it".to_owned();
            let expected = "a stop reason".to_owned();
            self.add(
                place,
                Fault { key: (FINISH, kind.finish), message, stated: None, expected, is_doubtful: true },
            );
        }
        if is_whole && output == Some(0.0) {
            let message = "the answer has text, and 0 output tokens".to_owned();
            self.add(place, Fault::of((TOKENS, kind.output), message, row.output.as_ref(), more()));
        }
        let is_paid = output.is_some_and(|output| output > 0.0) && !row.is_cached && !row.has_failed;
        if is_paid && number(&row.cost) == Some(0.0) {
            let message = format!("{} output tokens cost 0", output.unwrap_or_default());
            self.add(place, Fault::of((COST, kind.cost), message, row.cost.as_ref(), more()));
        }
        if is_whole && row.is_streamed && row.first.is_none() && !kind.first.is_empty() {
            let message = "the answer was streamed, and the time of its first token is missing".to_owned();
            let (expected, is_doubtful) = ("a time".to_owned(), !row.lacks_first);
            self.add(place, Fault { key: (FIRST, kind.first), message, stated: None, expected, is_doubtful });
        }
        let sum = input.zip(output).map(|(input, output)| input + output);
        if let Some((total, sum)) =
            number(&row.total).zip(sum).filter(|(total, sum)| (total - sum).abs() > 0.5)
        {
            let message = format!("the total is {total}, but input and output add up to {sum}");
            self.add(place, Fault::of((SUM, kind.total), message, row.total.as_ref(), sum.to_string()));
        }
        self.times(row, place);
    }

    fn times(&mut self, row: &Row, place: &RowPlace) {
        let times = [&row.start, &row.first, &row.end].map(|at| at.as_ref().and_then(Stated::seconds));
        let kind = place.kind;
        for (early, late, stated, paths, what) in [
            (times[0], times[2], row.end.as_ref(), kind.end, "the call ends before it begins"),
            (
                times[0],
                times[1],
                row.first.as_ref(),
                kind.first,
                "the first token comes before the call begins",
            ),
            (times[1], times[2], row.end.as_ref(), kind.end, "the call ends before its first token"),
        ] {
            if let Some(by) = early.zip(late).map(|(early, late)| early - late).filter(|by| *by > TOLERANCE) {
                let message = format!("{what}, by {by:.3} s");
                return self
                    .add(place, Fault::of((TIMES, paths), message, stated, "a later time".to_owned()));
            }
        }
    }

    fn add(&mut self, place: &RowPlace, fault: Fault<'_>) {
        let Fault { key, message, stated, expected, is_doubtful } = fault;
        let (rule, paths) = key;
        let level = self.levels.get(rule).copied().unwrap_or(Level::Off);
        if level == Level::Off {
            return;
        }
        let findings = if is_doubtful { &mut self.doubtful } else { &mut self.findings };
        if let Some((_, before)) = findings.iter_mut().find(|(of, _)| *of == key) {
            before.count += 1;
            return;
        }
        let pointer = stated.map(|stated| stated.path).or(paths.first().copied()).unwrap_or_default();
        let actual =
            stated.map_or_else(|| "none".to_owned(), |stated| stated.raw.chars().take(SHOWN).collect());
        let finding = Finding {
            rule: Cow::Borrowed(rule),
            api: Cow::Borrowed(""),
            dialect: Cow::Borrowed(""),
            level,
            message,
            exchange: place.exchange.clone(),
            exchange_number: None,
            place: Location { excerpt: excerpt(pointer, stated, &actual), ..place.location.clone() },
            pointer: Some(pointer.to_owned()),
            missing: None,
            supply: None,
            member: None,
            expected: Some(expected),
            actual: Some(actual),
            form: Cow::Borrowed(""),
            says: Cow::Borrowed(""),
            related: None,
            fine_in: Vec::new(),
            is_recorded: false,
            follows_from: None,
            count: 1,
        };
        findings.push((key, finding));
    }
}

impl<'f> Fault<'f> {
    const fn of(key: Key, message: String, stated: Option<&'f Stated>, expected: String) -> Self {
        Self { key, message, stated, expected, is_doubtful: false }
    }
}

/// Only the value: what is beside it in a row can be secret.
fn excerpt(pointer: &str, stated: Option<&Stated>, actual: &str) -> Excerpt {
    if stated.is_none() {
        return Excerpt { cut: [true, false], ..Excerpt::default() };
    }
    let name = pointer.rsplit('/').find(|step| *step != "*").unwrap_or_default();
    let text = format!("\"{name}\": {actual}");
    Excerpt { mark: [text.len() - actual.len(), text.len()], text, cut: [true, true] }
}
