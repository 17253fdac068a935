//! An exchange that was recorded, and what can be said of it. It is read as it comes: what is kept does not
//! grow with it.

use catalogue::Level;
use serde::de::IgnoredAny;
use sha2::{Digest, Sha256};

use super::case::{About, Case};
use super::evidence::digits;
use super::facts::Facts;
use checker::Rules;
use recordings::Checking;
use recordings::capture::{Entry, Format, Reader};
use recordings::shape::Tracing;
use results::{CaptureReport, Finding};

/// A recorded attempt at a case, and what is wrong with it.
#[derive(Debug, Clone)]
pub struct Attempt {
    /// What the recording says of the exchange.
    pub facts: Facts,
    /// What rules find in it; its name is that of the file with the evidence.
    pub report: CaptureReport,
    /// SHA-256 of the recording.
    pub sha256: String,
    /// Its [shape](recordings::shape), where that is wanted.
    pub shape: Option<Result<Option<String>, String>>,
    /// The events as they came, where they are a part of a stream that is not too long to be kept.
    pub(super) events: Option<Vec<u8>>,
}

/// So many bytes of a part of a stream are kept.
const PART: usize = 8 << 20;

impl Attempt {
    /// Reads a recorded exchange, and checks it for a report; it may be a part of a stream.
    ///
    /// # Errors
    ///
    /// When it is not one.
    pub fn read(file: &str, recording: &[u8], rules: &Rules, is_part: bool) -> Result<Self, String> {
        let mut reading = Reading::new(rules, true);
        if is_part {
            reading = reading.keeping();
        }
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
    taken: Taken<'r>,
    hash: Sha256,
    problem: Option<String>,
}

/// What was taken of an exchange so far.
struct Taken<'r> {
    facts: Facts,
    checking: Checking<'r>,
    tracing: Option<Tracing>,
    events: Option<Vec<u8>>,
}

impl Taken<'_> {
    fn entry(&mut self, entry: &Entry<'_>) {
        self.facts.add(entry);
        if let Some(tracing) = &mut self.tracing {
            tracing.entry(entry);
        }
        self.checking.entry(entry, &mut (&mut self.facts, &mut self.tracing));
        if let (Entry::Event(frame), Some(events)) = (entry, &mut self.events)
            && (frame.terminated || frame.data.as_deref().is_some_and(is_whole))
        {
            events.extend_from_slice(frame.source);
            events.extend_from_slice(b"\n\n");
        }
        self.events = self.events.take().filter(|events| events.len() <= PART);
    }
}

/// Whether the data of an event are all there: then it counts for where a stream goes on, though the client may
/// have left before the blank line.
fn is_whole(data: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(data).is_ok()
}

impl<'r> Reading<'r> {
    pub(super) fn new(rules: &'r Rules, is_reported: bool) -> Self {
        let checking = Checking::new(rules, is_reported);
        Self {
            reader: Reader::new(Some(Format::Exchange)),
            taken: Taken { facts: Facts::default(), checking, tracing: None, events: None },
            hash: Sha256::new(),
            problem: None,
        }
    }

    /// Writes down its shape, too.
    pub(super) fn tracing(mut self) -> Self {
        self.taken.tracing = Some(Tracing::default());
        self
    }

    /// Keeps the events, too.
    pub(super) fn keeping(mut self) -> Self {
        self.taken.events = Some(Vec::new());
        self
    }

    pub(super) fn push(&mut self, piece: &[u8]) {
        self.hash.update(piece);
        let Self { reader, taken, problem, .. } = self;
        if problem.is_none() {
            let read = reader.push(piece, &mut |entry| taken.entry(&entry));
            *problem = read.err().map(|error| error.to_string());
        }
    }

    pub(super) fn finish(self, file: &str) -> Result<Attempt, String> {
        let Self { reader, mut taken, hash, problem } = self;
        if let Some(problem) = problem {
            return Err(problem);
        }
        let read = reader.finish(&mut |entry| taken.entry(&entry));
        let format = read.map_err(|error| error.to_string())?;
        let Taken { facts, mut checking, tracing, events } = taken;
        let report = checking.finish(file.to_owned(), Ok(format));
        let shape = tracing.map(Tracing::finish);
        Ok(Attempt { facts, report, sha256: digits(&hash.finalize()), shape, events })
    }
}
