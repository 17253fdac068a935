//! What came of checking recordings.

use std::io::{self, Read};

use spec::Dialect;
use spec::catalogue::Level;

use crate::capture::{CaptureError, Entry, Format, Reader};
use crate::engine::{Checker, Finding, Rules};

/// What came of checking recordings in one dialect.
#[derive(Debug)]
pub struct Run {
    /// The dialect.
    pub dialect: &'static Dialect,
    /// The rules that were checked.
    pub rules: Rules,
    /// One report for each recording, in order.
    pub captures: Vec<CaptureReport>,
}

/// What came of checking one recording.
#[derive(Debug, Clone, Default)]
pub struct CaptureReport {
    /// Its name, as it was given.
    pub name: String,
    /// Its format, if it could be read.
    pub format: Option<Format>,
    /// How many streams with events it holds.
    pub streams: u64,
    /// How many events.
    pub events: u64,
    /// How many answers that are no stream.
    pub bodies: u64,
    /// How many of these no rule reads: they are neither a response nor an error.
    pub unjudged: u64,
    /// What is wrong.
    pub findings: Vec<Located>,
    /// How many faults there were beyond those that are listed.
    pub omitted: u64,
    /// Why it could not be read, or not to its end.
    pub error: Option<String>,
}

/// A finding, and the exchange that it is about where a recording has several.
#[derive(Debug, Clone)]
pub struct Located {
    /// The exchange.
    pub exchange: Option<String>,
    /// The finding.
    pub finding: Finding,
}

impl Run {
    /// Whether a rule that binds is broken.
    pub fn has_failed(&self) -> bool {
        self.captures.iter().any(CaptureReport::has_failed)
    }

    /// Whether a recording could not be read.
    pub fn is_incomplete(&self) -> bool {
        self.captures.iter().any(|capture| capture.error.is_some())
    }
}

impl CaptureReport {
    /// Whether a rule that binds is broken.
    pub fn has_failed(&self) -> bool {
        self.findings.iter().any(|located| located.finding.level == Level::Must)
    }
}

/// So many bytes are read at once.
const PIECE: usize = 256 << 10;

/// Checks a recording of any format, stream by stream. What cannot be read is told in the report.
pub fn check(
    name: impl Into<String>,
    input: &mut dyn Read,
    format: Option<Format>,
    rules: &Rules,
) -> CaptureReport {
    let mut session =
        Session { rules, checker: None, exchange: None, status: None, report: CaptureReport::default() };
    let outcome = session.read(input, format);
    session.end_stream();
    let mut report = session.report;
    report.name = name.into();
    match outcome {
        Ok(format) => report.format = Some(format),
        Err(problem) => report.error = Some(problem),
    }
    report
}

/// The checks of one recording.
struct Session<'r> {
    rules: &'r Rules,
    checker: Option<Checker>,
    exchange: Option<String>,
    status: Option<u16>,
    report: CaptureReport,
}

impl Session<'_> {
    fn read(&mut self, input: &mut dyn Read, format: Option<Format>) -> Result<Format, String> {
        let mut reader = Reader::new(format);
        let mut piece = vec![0; PIECE];
        let in_words = |error: CaptureError| error.to_string();
        loop {
            match input.read(&mut piece) {
                Ok(0) => return reader.finish(&mut |entry| self.entry(&entry)).map_err(in_words),
                Ok(length) => {
                    reader.push(&piece[..length], &mut |entry| self.entry(&entry)).map_err(in_words)?;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.to_string()),
            }
        }
    }

    fn entry(&mut self, entry: &Entry<'_>) {
        match entry {
            Entry::Exchange(exchange) => {
                self.end_stream();
                self.exchange.clone_from(&exchange.label);
                self.status = exchange.status;
                self.checker().exchange(exchange);
            }
            Entry::Event(frame) => {
                self.checker().frame(frame);
            }
            Entry::Body(frame) => {
                self.report.bodies += 1;
                let body = frame.data.as_deref().unwrap_or_default();
                self.report.unjudged += u64::from(!self.is_judged(body));
                self.checker().body(frame);
            }
            Entry::Sent(frame) => {
                self.checker().sent(frame);
            }
            Entry::Lost(_) => {}
        }
    }

    /// Whether an answer that is no stream is one that rules read.
    fn is_judged(&self, body: &str) -> bool {
        let is_response = || spec::json::at(body, "/object") == Some("\"response\"");
        let is_error = || spec::json::at(body, "/error").is_some_and(|error| error != "null");
        let has_failed = self.status.is_some_and(|status| status >= 400);
        has_failed || is_error() || is_response() && self.rules.dialect().root("response").is_some()
    }

    fn checker(&mut self) -> &mut Checker {
        let rules = self.rules;
        self.checker.get_or_insert_with(|| Checker::with_rules(rules))
    }

    fn end_stream(&mut self) {
        let Some(mut checker) = self.checker.take() else { return };
        checker.finish();
        let report = &mut self.report;
        report.streams += u64::from(checker.events() > 0);
        report.events += checker.events();
        let (findings, omitted) = checker.into_findings();
        report.omitted += omitted;
        let located = |finding| Located { exchange: self.exchange.clone(), finding };
        report.findings.extend(findings.into_iter().map(located));
    }
}
