//! An exchange that was recorded, and what can be said of it. It is read as it comes: what is kept does not
//! grow with it.

use sha2::{Digest, Sha256};
use spec::Dialect;
use spec::catalogue::Level;

use super::case::{About, Case};
use super::evidence::digits;
use super::facts::Facts;
use crate::capture::{Format, Reader};
use crate::engine::Rules;
use crate::report::{CaptureReport, Checking, Finding};
use crate::shape::Tracing;

/// A recorded attempt at a case, and what is wrong with it.
#[derive(Debug, Clone)]
pub struct Attempt {
    /// What the recording says of the exchange.
    pub facts: Facts,
    /// What rules find in it; its name is that of the file with the evidence.
    pub report: CaptureReport,
    /// SHA-256 of the recording.
    pub sha256: String,
    /// Its [shape](crate::shape), where that is wanted.
    pub shape: Option<Result<Option<String>, String>>,
}

impl Attempt {
    /// Reads a recorded exchange, and checks it; for a report, that is to draw how it went.
    ///
    /// # Errors
    ///
    /// When it is not one.
    pub fn read(file: &str, recording: &[u8], rules: &Rules, is_reported: bool) -> Result<Self, String> {
        let mut reading = Reading::new(rules, is_reported);
        reading.push(recording);
        reading.finish(file)
    }

    /// Findings that a trial is about and that count.
    pub fn findings<'a>(
        &'a self,
        case: &'a Case,
        about: About,
        least: Level,
    ) -> impl Iterator<Item = &'a Finding> {
        let is_meant = move |finding: &Finding| match about {
            About::Answer | About::Agrees | About::Apart => false,
            About::Group(of) => finding.group() == of,
            About::Rest => !case.trials.iter().any(|about| about.name() == finding.group()),
        };
        let all = self.report.findings.iter();
        all.filter(move |finding| finding.level >= least && is_meant(finding))
    }
}

/// An exchange that is being read, in whatever pieces it comes.
pub(super) struct Reading<'r> {
    reader: Reader,
    facts: Facts,
    checking: Checking<'r>,
    tracing: Option<Tracing>,
    hash: Sha256,
    problem: Option<String>,
}

impl<'r> Reading<'r> {
    pub(super) fn new(rules: &'r Rules, is_reported: bool) -> Self {
        Self {
            reader: Reader::new(Some(Format::Exchange)),
            facts: Facts::default(),
            checking: Checking::new(rules, is_reported),
            tracing: None,
            hash: Sha256::new(),
            problem: None,
        }
    }

    /// Writes down its shape, too.
    pub(super) fn tracing(self, dialect: &'static Dialect) -> Self {
        Self { tracing: Some(Tracing::new(dialect)), ..self }
    }

    pub(super) fn push(&mut self, piece: &[u8]) {
        self.hash.update(piece);
        let Self { reader, facts, checking, tracing, problem, .. } = self;
        if problem.is_none() {
            let read = reader.push(piece, &mut |entry| {
                facts.add(&entry);
                checking.entry(&entry);
                if let Some(tracing) = tracing.as_mut() {
                    tracing.entry(&entry);
                }
            });
            *problem = read.err().map(|error| error.to_string());
        }
    }

    pub(super) fn finish(self, file: &str) -> Result<Attempt, String> {
        let Self { reader, mut facts, mut checking, mut tracing, hash, problem } = self;
        if let Some(problem) = problem {
            return Err(problem);
        }
        let read = reader.finish(&mut |entry| {
            facts.add(&entry);
            checking.entry(&entry);
            if let Some(tracing) = tracing.as_mut() {
                tracing.entry(&entry);
            }
        });
        let format = read.map_err(|error| error.to_string())?;
        let report = checking.finish(file.to_owned(), Ok(format));
        Ok(Attempt { facts, report, sha256: digits(&hash.finalize()), shape: tracing.map(Tracing::finish) })
    }
}
