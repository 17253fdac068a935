//! A recorded exchange, parsed incrementally in bounded memory.

use grammar::{Observed, Walk};
use serde::de::IgnoredAny;
use sha2::{Digest, Sha256};

use super::facts::Facts;
use super::facts_reader::FactsReader;
use super::obstacle::obstacle;
use super::unsupported::unsupported;
use crate::digest::digits;
use crate::plan::{About, ScenarioCase};
use crate::wire::{Secrets, Spread};
use checker::Rules;
use recordings::Checking;
use recordings::capture::{Entry, Format, Reader};
use recordings::shape::Tracing;
use results::{CaptureReport, FailOn, Finding, Obstacle};

/// A recorded attempt at a case, with its report.
#[derive(Debug, Clone)]
pub struct Attempt {
    /// The facts of the exchange.
    pub facts: Facts,
    /// Its findings, under the name of the evidence file.
    pub report: CaptureReport,
    /// SHA-256 of the recording.
    pub sha256: String,
    /// Number of exchanges of the run that had ended with this one; 0 if unknown.
    pub place: usize,
    /// Whether an exchange of the run that ended before was answered.
    pub follows_answer: bool,
    /// Its [shape](recordings::shape), if requested.
    pub shape: Option<Result<Option<String>, String>>,
    /// The steps of its streams.
    pub observed: Observed,
    /// The bytes of the events, if they are part of a stream and not too large.
    pub(super) events: Option<Vec<u8>>,
}

/// Maximum size of a part of a stream.
const PART: usize = 8 << 20;

impl Attempt {
    /// Parses and checks a recorded exchange, which may be part of a stream.
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

    #[must_use]
    pub(crate) fn deciding_by(mut self, rules: &Rules) -> Self {
        let CaptureReport { findings, outside, .. } = &mut self.report;
        findings.retain(|finding| {
            let decides = rules.iter().any(|rule| rule.id == finding.rule);
            if !decides {
                outside.entry(finding.rule.to_string()).or_default().add(finding);
            }
            decides
        });
        self
    }

    pub(crate) fn obstacle(&self, case: &ScenarioCase) -> Option<Obstacle> {
        obstacle(case, &self.facts, self.follows_answer)
    }

    /// The endpoint lacks the route, or cannot be tested.
    pub(crate) fn is_no_answer(&self, case: &ScenarioCase) -> bool {
        unsupported(case, &self.facts).is_some() || self.obstacle(case).is_some()
    }

    /// An endpoint that answered can be tested.
    pub(crate) fn is_answered(&self, case: &ScenarioCase) -> bool {
        self.facts.status.is_some() && self.obstacle(case).is_none()
    }

    /// Returns the findings that fail a trial.
    pub fn findings<'a>(
        &'a self,
        case: &'a ScenarioCase,
        about: About,
        fail_on: FailOn,
    ) -> impl Iterator<Item = &'a Finding> {
        let is_no_answer = self.is_no_answer(case);
        let is_meant = move |finding: &Finding| match about {
            _ if is_no_answer => false,
            About::Answer | About::Agrees | About::Apart => false,
            About::Group(of) => finding.group() == of,
            About::Rest => !case.trials.iter().any(|about| about.name() == finding.group()),
        };
        let all = self.report.findings.iter();
        all.filter(move |finding| fail_on.fails(finding) && is_meant(finding))
    }
}

pub(crate) struct Reading {
    reader: Reader,
    taken: Taken,
    hash: Sha256,
    problem: Option<String>,
}

struct Taken {
    facts: FactsReader,
    checking: Checking,
    tracing: Option<Tracing>,
    walk: Walk,
    events: Option<Vec<u8>>,
    spread: Option<Spread>,
}

impl Taken {
    fn entry(&mut self, entry: &Entry<'_>) {
        if let (Entry::Event(frame), Some(spread)) = (entry, &mut self.spread) {
            spread.add(frame.data.as_deref().unwrap_or_default());
        }
        self.facts.entry(entry);
        if let Some(tracing) = &mut self.tracing {
            tracing.entry(entry);
        }
        if matches!(entry, Entry::Exchange(_)) {
            self.walk.end_stream();
        }
        let mut others = (&mut self.tracing, &mut self.walk);
        self.checking.entry(entry, &mut (&mut self.facts, &mut others));
        if let (Entry::Event(frame), Some(events)) = (entry, &mut self.events)
            && (frame.terminated || frame.data.as_deref().is_some_and(is_whole))
        {
            events.extend_from_slice(frame.source);
            events.extend_from_slice(b"\n\n");
        }
        self.events = self.events.take().filter(|events| events.len() <= PART);
    }
}

/// A stream resumes after an event whose data is complete, even if the client disconnected before the blank line.
fn is_whole(data: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(data).is_ok()
}

impl Reading {
    pub(crate) fn new(rules: &Rules, is_reported: bool) -> Self {
        let checking = Checking::new(rules, is_reported);
        Self {
            reader: Reader::new(Some(Format::Exchange)),
            taken: Taken {
                facts: FactsReader::new(rules.dialect()),
                checking,
                tracing: None,
                walk: Walk::default(),
                events: None,
                spread: None,
            },
            hash: Sha256::new(),
            problem: None,
        }
    }

    /// Also records its shape.
    pub(crate) fn tracing(mut self) -> Self {
        self.taken.tracing = Some(Tracing::default());
        self
    }

    /// Also keeps the events.
    pub(crate) fn keeping(mut self) -> Self {
        self.taken.events = Some(Vec::new());
        self
    }

    /// Also checks whether its joined events contain these secrets.
    pub(crate) fn watching(mut self, secrets: Secrets) -> Self {
        self.taken.spread = Some(Spread::new(secrets));
        self
    }

    pub(crate) fn has_spread_secret(&self) -> bool {
        self.taken.spread.as_ref().is_some_and(Spread::is_found)
    }

    pub(crate) fn push(&mut self, piece: &[u8]) {
        self.hash.update(piece);
        let Self { reader, taken, problem, .. } = self;
        if problem.is_none() {
            let read = reader.push(piece, &mut |entry| taken.entry(&entry));
            *problem = read.err().map(|error| error.to_string());
        }
    }

    pub(crate) fn finish(self, file: &str) -> Result<Attempt, String> {
        let Self { reader, mut taken, hash, problem } = self;
        if let Some(problem) = problem {
            return Err(problem);
        }
        let read = reader.finish(&mut |entry| taken.entry(&entry));
        let format = read.map_err(|error| error.to_string())?;
        let Taken { facts, mut checking, tracing, walk, events, .. } = taken;
        let report = checking.finish(file.to_owned(), Ok(format));
        let shape = tracing.map(Tracing::finish);
        Ok(Attempt {
            facts: facts.finish(),
            report,
            sha256: digits(&hash.finalize()),
            place: 0,
            follows_answer: false,
            shape,
            observed: walk.observed,
            events,
        })
    }
}
