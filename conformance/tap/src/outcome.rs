//! How a response ended.

use std::borrow::Cow;
use std::time::Duration;

use checker::{Answer, AnswerReader, Counts, Entry, Observer, Payload, Seen, Tokens, is_sign_of_life};
use recordings::capture;
use results::CaptureReport;
use serde::Serialize;
use spec::table::Role;
use spec::{Api, Dialect, Scope, json};
use translation::{Stop, stops};

use crate::passed::{Ended, Passed};

/// The end of a response, for its client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It is complete.
    Complete,
    /// It says that it is incomplete.
    Incomplete,
    /// An error, with its status.
    ErrorTold,
    /// An error in a stream that began well.
    ErrorInStream,
    /// It ends without saying how.
    Truncated,
    /// It cannot be read.
    Malformed,
    /// The client left before its end.
    ClientGone,
    /// The upstream broke it off, or gave none.
    UpstreamGone,
}

impl Outcome {
    /// Its name in metrics.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Incomplete => "incomplete",
            Self::ErrorTold => "error-told",
            Self::ErrorInStream => "error-in-stream",
            Self::Truncated => "truncated",
            Self::Malformed => "malformed",
            Self::ClientGone => "client-gone",
            Self::UpstreamGone => "upstream-gone",
        }
    }

    /// Clients expect such an end.
    pub const fn is_regular(self) -> bool {
        matches!(self, Self::Complete | Self::Incomplete | Self::ErrorTold)
    }

    pub(crate) const fn has_usage(self) -> bool {
        matches!(self, Self::Complete | Self::Incomplete)
    }

    /// The end of a response whose connection was not lost, by its status and its answer. Findings say nothing of it: rules
    /// can be switched off.
    pub fn of(status: Option<u16>, told: &Told, report: &CaptureReport) -> Self {
        let has_failed = status.is_some_and(|status| status >= 400);
        let Some(word) = told.word.as_deref().filter(|_| !has_failed && !told.has_error) else {
            return match () {
                () if has_failed => Self::ErrorTold,
                // A body shows its status.
                () if told.has_error && status.is_none() && report.streams == 0 => Self::ErrorTold,
                () if told.has_error => Self::ErrorInStream,
                // The end of it lacks a piece.
                () if told.is_cut => Self::Truncated,
                () if told.is_unreadable || report.streams + report.bodies == 0 => Self::Malformed,
                () if told.is_blocked => Self::Incomplete,
                // Bodies such as lists, and speech, need no word.
                () if report.streams == 0 || told.has_ended => Self::Complete,
                () => Self::Truncated,
            };
        };
        let classes = stops(told.api.name, word);
        let is_any = |of: &[Stop]| classes.iter().any(|class| of.contains(class));
        match () {
            () if told.is_unreadable => Self::Malformed,
            () if is_any(&[Stop::Failed]) => Self::ErrorInStream,
            () if told.api.usual_stops.contains(&word) => Self::Complete,
            () if classes.is_empty() || is_any(&[Stop::Cut, Stop::Filtered]) => Self::Incomplete,
            () => Self::Complete,
        }
    }
}

/// A request and its answer.
#[derive(Debug, Clone)]
pub struct Turn {
    /// The model that was asked for.
    pub model: Option<String>,
    /// How it ended.
    pub outcome: Outcome,
    /// The time to its end.
    pub took: Duration,
    /// The time to the first chunk.
    pub first: Option<Duration>,
    /// The longest time between two chunks.
    pub gap: Option<Duration>,
    /// The token counts.
    pub tokens: Option<Tokens>,
    /// The tokens of the input that were read from a cache, and all of it.
    pub cache: Option<(u64, u64)>,
}

impl Turn {
    pub(crate) const fn unanswered(outcome: Outcome, took: Duration) -> Self {
        Self { model: None, outcome, took, first: None, gap: None, tokens: None, cache: None }
    }
}

/// The end of a response, in its own words.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Told {
    api: &'static Api,
    /// Why it ended; none if it does not say that it has.
    word: Option<String>,
    tokens: Option<Tokens>,
    cache: Counts,
    has_error: bool,
    /// An event ended it, if only without a word.
    has_ended: bool,
    /// It is about a prompt that was blocked.
    is_blocked: bool,
    /// Some of it can be read by no client.
    is_unreadable: bool,
    /// It ends within an event.
    is_cut: bool,
}

impl Told {
    /// It does not say that it has ended.
    pub(crate) const fn is_open(&self) -> bool {
        self.word.is_none()
    }

    pub(crate) fn turn(&self, outcome: Outcome, took: Duration) -> Turn {
        let (tokens, cache) = (self.tokens, self.cache.reads(self.api));
        Turn { tokens, cache, ..Turn::unanswered(outcome, took) }
    }
}

/// An observer of how a stream ends.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Watched {
    dialect: Option<&'static Dialect>,
    reader: Option<AnswerReader>,
    /// The status in the last event, or which the last event means.
    status: Option<String>,
    has_error: bool,
    cache: Counts,
    has_ended: bool,
    is_blocked: bool,
    is_unreadable: bool,
    is_cut: bool,
    comments: u64,
    pings: u64,
}

impl Watched {
    pub(crate) const fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// The numbers of comments, and of events that only keep the connection open.
    pub(crate) const fn keep_alives(&self) -> [u64; 2] {
        [self.comments, self.pings]
    }

    /// The dialect of the checked response, if it was recognised.
    pub fn dialect(&self, report: &CaptureReport) -> Option<&'static Dialect> {
        report.dialects.first().and_then(|seen| spec::dialect(&seen.dialect)).or(self.dialect)
    }

    /// The end of the checked response. A body is read again.
    pub fn told(&mut self, api: &'static Api, report: &CaptureReport, recording: &[u8]) -> Told {
        let is_stream = self.reader.is_some();
        let (answer, has_error) = match self.reader.take() {
            Some(reader) => (Some(reader.finish()), self.has_error),
            None if report.bodies > 0 => body(api, recording, &mut self.cache),
            None => (None, false),
        };
        // A body that is not JSON has no answer, and events that are none are of no dialect.
        let has_nothing = if report.bodies > 0 { answer.is_none() } else { report.events > 0 };
        let is_unreadable = self.is_unreadable || !is_stream && has_nothing;
        let (word, tokens) = answer.map(|answer| (answer.status, answer.tokens)).unwrap_or_default();
        // The first event may say that the rest is to come.
        let is_end =
            |word: &String| api.status.member.is_empty() || api.scope(api.root).ends.contains(&word.as_str());
        let word = word.filter(is_end).or_else(|| self.status.take().filter(is_end));
        let Self { cache, has_ended, is_blocked, is_cut, .. } = *self;
        Told { api, word, tokens, cache, has_error, has_ended, is_blocked, is_unreadable, is_cut }
    }
}

/// Maximum number of bytes that the answer of a stream takes.
const ANSWER: usize = 1 << 20;

impl Observer for Watched {
    fn record(&mut self, seen: &Seen<'_>) {
        self.dialect = Some(seen.dialect);
        self.has_error |= seen.record.is_error;
        let is_marker = seen.record.payload == Payload::Done;
        self.has_ended |= is_marker && seen.dialect.api.marker_ends;
        let frame = seen.record.frame;
        self.is_cut = !frame.terminated && !is_marker;
        let is_json = matches!(seen.record.payload, Payload::Object | Payload::Done);
        self.is_unreadable |= frame.invalid_utf8.is_some() || !self.is_cut && !is_json;
        self.is_blocked |= seen.effects().any(|effect| effect.info.scope == Scope::Feedback);
        self.comments += seen.record.frame.comments.len() as u64;
        if self.is_cut {
            // Clients drop it.
            return;
        }
        let kind = seen.record.event_type.as_deref().or(seen.record.frame.event.as_deref());
        self.pings += u64::from(kind.is_some_and(is_sign_of_life));
        let api = seen.dialect.api;
        if let Some(last) = seen.effects().find(|last| last.info.role == Role::Terminal) {
            self.has_ended = true;
            let status = match () {
                () if api.stop.is_none() => {
                    last.view.snapshot(api).and_then(|root| json::string_member(root, STATUS))
                }
                () if api.status.member.is_empty() => None,
                () => last.info.phase.map(Cow::Borrowed),
            };
            self.status = status.map(Cow::into_owned).or(self.status.take());
        }
        if let Some(counts) = Counts::of_event(api, seen.record) {
            self.cache.update(counts);
        }
        self.reader.get_or_insert_with(|| AnswerReader::new(api).within(ANSWER)).event(seen.record);
    }
}

pub(crate) fn outcome(passed: &Passed, told: &Told, report: &CaptureReport) -> Outcome {
    // After the end of an answer, nothing is lost.
    let is_lost = told.word.is_none() || matches!(passed.end.1, Ended::Unanswered(_));
    lost(&passed.end.1)
        .filter(|_| is_lost)
        .unwrap_or_else(|| Outcome::of(passed.response.as_ref().map(|(status, _)| *status), told, report))
}

/// The outcome of what is lost with its connection.
pub(crate) const fn lost(ended: &Ended) -> Option<Outcome> {
    match ended {
        Ended::Whole => None,
        Ended::ClientLeft => Some(Outcome::ClientGone),
        Ended::Broken(_) | Ended::Unanswered(_) => Some(Outcome::UpstreamGone),
        Ended::Unreadable(_) => Some(Outcome::Malformed),
    }
}

/// The member of a response for how it ended, in an API that names no other.
const STATUS: &str = "status";

fn body(api: &'static Api, recording: &[u8], cache: &mut Counts) -> (Option<Answer>, bool) {
    let (mut answer, mut has_error) = (None, false);
    // It was read before.
    let _ = capture::read(recording, None, &mut |entry| {
        if let Entry::Body(frame) = entry {
            let data = frame.data.as_deref().unwrap_or_default();
            has_error |= api.error_in(data).is_some();
            let value: Option<serde_json::Value> = serde_json::from_str(data).ok();
            if let Some(counts) = value.as_ref().and_then(|value| value.get(api.usage.member)) {
                cache.update(Counts::of(api, counts).unwrap_or_default());
            }
            answer = value.map(|value| Answer::of_response(api, &value));
            if let Some(answer) = answer.as_mut().filter(|_| api.stop.is_none()) {
                answer.status = json::string_member(data, STATUS).map(Cow::into_owned);
            }
        }
    });
    (answer, has_error)
}
