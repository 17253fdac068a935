//! The judgement of an exchange that has passed.

use std::borrow::Cow;
use std::time::Duration;

use checker::{Answer, AnswerReader, Entry, Exchange, Observer, Request, Seen, Tokens, is_sign_of_life};
use http::HeaderMap;
use recordings::Checking;
use recordings::capture::{self, End, Format, Headers, Loss, Recorder};
use results::{CaptureReport, ClientTotal};
use serde::Serialize;
use spec::table::Role;
use spec::{Api, Dialect, json};
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

    /// The end of a response whose connection was not lost, by its status, its answer and its check.
    pub fn of(status: Option<u16>, told: &Told, report: &CaptureReport) -> Self {
        let has_failed = status.is_some_and(|status| status >= 400);
        let breaks = |rules: &[&str]| report.findings.iter().any(|finding| rules.contains(&&*finding.rule));
        let Some(word) = told.word.as_deref().filter(|_| !has_failed && !told.has_error) else {
            return match () {
                () if has_failed => Self::ErrorTold,
                // A body shows its status.
                () if told.has_error && status.is_none() && report.streams == 0 => Self::ErrorTold,
                () if told.has_error => Self::ErrorInStream,
                // The end of it lacks a piece.
                () if breaks(&[UNTERMINATED]) => Self::Truncated,
                () if breaks(&UNREADABLE) || report.streams + report.bodies == 0 => Self::Malformed,
                // It needs no word: a blocked prompt, or speech.
                () if report.findings.is_empty() => Self::Complete,
                () => Self::Truncated,
            };
        };
        let classes = stops(told.api.name, word);
        let is_any = |of: &[Stop]| classes.iter().any(|class| of.contains(class));
        match () {
            () if breaks(&UNREADABLE) => Self::Malformed,
            () if is_any(&[Stop::Failed]) => Self::ErrorInStream,
            () if told.api.usual_stops.contains(&word) => Self::Complete,
            () if classes.is_empty() || is_any(&[Stop::Cut, Stop::Filtered]) => Self::Incomplete,
            () => Self::Complete,
        }
    }
}

/// An exchange of an API that is checked.
#[derive(Debug)]
pub struct Judged {
    /// Its API.
    pub api: &'static Api,
    /// How it ended.
    pub outcome: Outcome,
    /// The result of the check.
    pub report: CaptureReport,
    /// Its recording, without secrets.
    pub recording: String,
    /// The time to the first chunk.
    pub first: Option<Duration>,
    /// The longest time between two chunks.
    pub gap: Option<Duration>,
    /// The token counts.
    pub tokens: Option<Tokens>,
    /// The numbers of comments, and of events that only keep the connection open.
    pub keep_alives: [u64; 2],
    /// The clients that break, as far as they were played.
    pub broken: Vec<String>,
}

/// One who judges one exchange after the other.
#[derive(Debug)]
pub struct Judge {
    checking: Checking,
}

impl Judge {
    /// A judge has a check of its own.
    pub const fn new(checking: Checking) -> Self {
        Self { checking }
    }

    /// `None` if the exchange is of no API that is checked.
    pub fn judge(&mut self, passed: &Passed) -> Option<Judged> {
        let recording = recording(passed);
        let mut seen = Watched::default();
        let format = Some(Format::Exchange);
        let report =
            self.checking.check_seen_by(passed.url.clone(), &mut recording.as_bytes(), format, &mut seen);
        // Without a response, the request says what was asked.
        let api = seen.dialect(&report).map(|dialect| dialect.api).or_else(|| asked(passed))?;
        let told = seen.told(api, &report, recording.as_bytes());
        let broken = ClientTotal::all(std::slice::from_ref(&report), &[api.name]);
        let broken = broken.into_iter().filter(|client| client.state.is_broken());
        Some(Judged {
            api,
            outcome: outcome(passed, &told, &report),
            first: passed.chunks.first().map(|(_, at)| *at),
            gap: passed.chunks.windows(2).map(|pair| pair[1].1.saturating_sub(pair[0].1)).max(),
            tokens: told.tokens,
            keep_alives: [seen.comments, seen.pings],
            broken: broken.map(|client| client.name).collect(),
            report,
            recording,
        })
    }
}

/// The end of a response, in its own words.
#[derive(Debug)]
pub struct Told {
    api: &'static Api,
    /// Why it ended; none if it does not say that it has.
    word: Option<String>,
    tokens: Option<Tokens>,
    has_error: bool,
}

/// An observer of how a stream ends.
#[derive(Debug, Default)]
pub struct Watched {
    dialect: Option<&'static Dialect>,
    reader: Option<AnswerReader>,
    /// The status in the last event, or which the last event means.
    status: Option<String>,
    has_error: bool,
    comments: u64,
    pings: u64,
}

impl Watched {
    /// The dialect of the checked response, if it was recognised.
    pub fn dialect(&self, report: &CaptureReport) -> Option<&'static Dialect> {
        report.dialects.first().and_then(|seen| spec::dialect(&seen.dialect)).or(self.dialect)
    }

    /// The end of the checked response. A body is read again.
    pub fn told(&mut self, api: &'static Api, report: &CaptureReport, recording: &[u8]) -> Told {
        let (answer, has_error) = match self.reader.take() {
            Some(reader) => (Some(reader.finish()), self.has_error),
            None if report.bodies > 0 => body(api, recording),
            None => (None, false),
        };
        let (word, tokens) = answer.map(|answer| (answer.status, answer.tokens)).unwrap_or_default();
        // The first event may say that the rest is to come.
        let is_end =
            |word: &String| api.status.member.is_empty() || api.scope(api.root).ends.contains(&word.as_str());
        let word = word.filter(is_end).or_else(|| self.status.take().filter(is_end));
        Told { api, word, tokens, has_error }
    }
}

/// Maximum number of bytes that the answer of a stream takes.
const ANSWER: usize = 1 << 20;

impl Observer for Watched {
    fn record(&mut self, seen: &Seen<'_>) {
        self.dialect = Some(seen.dialect);
        self.has_error |= seen.record.is_error;
        self.comments += seen.record.frame.comments.len() as u64;
        let kind = seen.record.event_type.as_deref().or(seen.record.frame.event.as_deref());
        self.pings += u64::from(kind.is_some_and(is_sign_of_life));
        let api = seen.dialect.api;
        if let Some(last) = seen.effects().find(|last| last.info.role == Role::Terminal) {
            let status = match () {
                () if api.stop.is_none() => {
                    last.view.snapshot(api).and_then(|root| json::string_member(root, STATUS))
                }
                () if api.status.member.is_empty() => None,
                () => last.info.phase.map(Cow::Borrowed),
            };
            self.status = status.map(Cow::into_owned).or(self.status.take());
        }
        self.reader.get_or_insert_with(|| AnswerReader::new(api).within(ANSWER)).event(seen.record);
    }
}

fn outcome(passed: &Passed, told: &Told, report: &CaptureReport) -> Outcome {
    match &passed.end.1 {
        // After the end of an answer, nothing is lost.
        Ended::ClientLeft if told.word.is_none() => Outcome::ClientGone,
        Ended::Broken(_) if told.word.is_none() => Outcome::UpstreamGone,
        Ended::Unanswered(_) => Outcome::UpstreamGone,
        _ => Outcome::of(passed.response.as_ref().map(|(status, _)| *status), told, report),
    }
}

/// The member of a response for how it ended, in an API that names no other.
const STATUS: &str = "status";
/// The rule of a stream that ends within an event.
const UNTERMINATED: &str = "wire/terminated";
/// The rules of data that no client can read.
const UNREADABLE: [&str; 2] = ["wire/json-object", "wire/utf-8"];

fn body(api: &'static Api, recording: &[u8]) -> (Option<Answer>, bool) {
    let (mut answer, mut has_error) = (None, false);
    // It was read before.
    let _ = capture::read(recording, None, &mut |entry| {
        if let Entry::Body(frame) = entry {
            let data = frame.data.as_deref().unwrap_or_default();
            has_error |= api.error_in(data).is_some();
            answer = serde_json::from_str(data).ok().map(|value| Answer::of_response(api, &value));
            if let Some(answer) = answer.as_mut().filter(|_| api.stop.is_none()) {
                answer.status = json::string_member(data, STATUS).map(Cow::into_owned);
            }
        }
    });
    (answer, has_error)
}

fn asked(passed: &Passed) -> Option<&'static Api> {
    let request = Request {
        method: passed.method.clone().into(),
        url: passed.url.clone().into(),
        ..Request::default()
    };
    let exchange = Exchange { request: Some(request), ..Exchange::default() };
    checker::Recognised::of_request(&exchange).map(|found| found.dialect.api)
}

/// It has no secrets.
fn recording(passed: &Passed) -> String {
    let recorder = Recorder::new();
    let response = passed.response.as_ref();
    let mut recording = recorder.begin(&Exchange {
        status: response.map(|(status, _)| *status),
        headers: response.map(|(_, headers)| texts(headers)).unwrap_or_default(),
        request: Some(Request {
            method: passed.method.clone().into(),
            url: passed.url.clone().into(),
            headers: texts(&passed.request_headers),
            body: Some(String::from_utf8_lossy(&passed.request)),
        }),
        ..Exchange::default()
    });
    let mut from = 0;
    for (to, at) in &passed.chunks {
        recording += &recorder.chunk(*at, passed.body.get(from..*to).unwrap_or_default());
        from = *to;
    }
    let (at, ended) = &passed.end;
    recording += &recorder.end(
        *at,
        match ended {
            Ended::Whole => End::Closed,
            Ended::ClientLeft => End::Lost(Loss::Left),
            Ended::Broken(reason) => End::Lost(Loss::Broken(reason.into())),
            Ended::Unanswered(reason) => End::Lost(Loss::Unconnected(reason.into())),
        },
    );
    recording
}

fn texts(headers: &HeaderMap) -> Headers<'_> {
    let text = |value: &http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    headers.iter().map(|(name, value)| (name.as_str().into(), text(value).into())).collect()
}
