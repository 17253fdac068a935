//! The judgement of an exchange that has passed.

use std::time::Duration;

use checker::{Answer, AnswerReader, Entry, Exchange, Observer, Request, Seen, Tokens, is_sign_of_life};
use http::HeaderMap;
use recordings::Checking;
use recordings::capture::{self, End, Format, Headers, Loss, Recorder};
use results::{CaptureReport, ClientTotal};
use serde::Serialize;
use spec::{Api, Dialect};
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
        let dialect = report.dialects.first().and_then(|seen| spec::dialect(&seen.dialect)).or(seen.dialect);
        // Without a response, the request says what was asked.
        let api = dialect.map(|dialect| dialect.api).or_else(|| asked(passed))?;
        let answer = match seen.reader.take() {
            Some(reader) => Some(reader.finish()),
            None if report.bodies > 0 => body(api, &recording),
            None => None,
        };
        let (word, tokens) = answer.map(|answer| (answer.status, answer.tokens)).unwrap_or_default();
        let broken = ClientTotal::all(std::slice::from_ref(&report), &[api.name]);
        let broken = broken.into_iter().filter(|client| client.state.is_broken());
        Some(Judged {
            api,
            outcome: outcome(passed, api, word.as_deref(), seen.has_error, &report),
            first: passed.chunks.first().map(|(_, at)| *at),
            gap: passed.chunks.windows(2).map(|pair| pair[1].1.saturating_sub(pair[0].1)).max(),
            tokens,
            keep_alives: [seen.comments, seen.pings],
            broken: broken.map(|client| client.name).collect(),
            report,
            recording,
        })
    }
}

/// Watches the events of a stream.
#[derive(Debug, Default)]
struct Watched {
    dialect: Option<&'static Dialect>,
    reader: Option<AnswerReader>,
    has_error: bool,
    comments: u64,
    pings: u64,
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
        self.reader.get_or_insert_with(|| AnswerReader::new(api).within(ANSWER)).event(seen.record);
    }
}

fn outcome(
    passed: &Passed,
    api: &Api,
    word: Option<&str>,
    has_error: bool,
    report: &CaptureReport,
) -> Outcome {
    let status = passed.response.as_ref().map_or(0, |(status, _)| *status);
    // The first event may say that the rest is to come.
    let is_end = |word: &&str| api.status.member.is_empty() || api.scope(api.root).ends.contains(word);
    let word = word.filter(is_end);
    match &passed.end.1 {
        // After the end of an answer, nothing is lost.
        Ended::ClientLeft if word.is_none() => return Outcome::ClientGone,
        Ended::Broken(_) if word.is_none() => return Outcome::UpstreamGone,
        Ended::Unanswered(_) => return Outcome::UpstreamGone,
        _ => {}
    }
    let breaks = |rules: &[&str]| report.findings.iter().any(|finding| rules.contains(&&*finding.rule));
    let Some(word) = word.filter(|_| status < 400 && !has_error) else {
        return match () {
            () if status >= 400 => Outcome::ErrorTold,
            () if has_error => Outcome::ErrorInStream,
            // The end of it lacks a piece.
            () if breaks(&[UNTERMINATED]) => Outcome::Truncated,
            () if breaks(&UNREADABLE) || report.streams + report.bodies == 0 => Outcome::Malformed,
            () => Outcome::Truncated,
        };
    };
    let classes = stops(api.name, word);
    let is_any = |of: &[Stop]| classes.iter().any(|class| of.contains(class));
    match () {
        () if breaks(&UNREADABLE) => Outcome::Malformed,
        () if is_any(&[Stop::Failed]) => Outcome::ErrorInStream,
        () if api.usual_stops.contains(&word) => Outcome::Complete,
        () if classes.is_empty() || is_any(&[Stop::Cut, Stop::Filtered]) => Outcome::Incomplete,
        () => Outcome::Complete,
    }
}

/// The rule of a stream that ends within an event.
const UNTERMINATED: &str = "wire/terminated";
/// The rules of data that no client can read.
const UNREADABLE: [&str; 2] = ["wire/json-object", "wire/utf-8"];

fn body(api: &'static Api, recording: &str) -> Option<Answer> {
    let mut answer = None;
    // It was read before.
    let _ = capture::read(recording.as_bytes(), Some(Format::Exchange), &mut |entry| {
        if let Entry::Body(frame) = entry {
            let value = frame.data.as_deref().and_then(|data| serde_json::from_str(data).ok());
            answer = value.map(|value| Answer::of_response(api, &value));
        }
    });
    answer
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
