//! The judgement of an exchange that has passed.

use std::borrow::Cow;

use checker::{Exchange, Observer, Request};
use http::HeaderMap;
use recordings::Checking;
use recordings::capture::{End, Format, Headers, Loss, Recorder, Shaper};
use results::{CaptureReport, ClientTotal};
use spec::Api;

use crate::outcome::{Outcome, Turn, Watched, outcome};
use crate::passed::{Ended, Message, Passed};
use crate::turns::Turns;

/// An exchange of an API that is checked.
#[derive(Debug)]
pub struct Judged {
    /// Its API.
    pub api: &'static Api,
    /// Its turns: one, or several on a WebSocket.
    pub turns: Vec<Turn>,
    /// The result of the check.
    pub report: CaptureReport,
    /// Its recording, without secrets.
    pub recording: String,
    /// The numbers of comments, and of events that only keep the connection open.
    pub keep_alives: [u64; 2],
    /// The clients that break, as far as they were played.
    pub broken: Vec<String>,
}

impl Judged {
    /// The first irregular outcome of its turns, or else the last.
    pub fn outcome(&self) -> Outcome {
        let irregular = self.turns.iter().find(|turn| !turn.outcome.is_regular());
        irregular.or(self.turns.last()).map_or(Outcome::Complete, |turn| turn.outcome)
    }
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
        let is_socket = passed.is_socket();
        // The Realtime API has events of the same names.
        if is_socket && asked(passed).is_none() {
            return None;
        }
        let recording = recording(passed, false);
        let (mut seen, mut turns) = (Watched::default(), Turns::new(passed));
        let observer: &mut dyn Observer = if is_socket { &mut turns } else { &mut seen };
        let format = Some(Format::Exchange);
        let report =
            self.checking.check_seen_by(passed.url.clone(), &mut recording.as_bytes(), format, observer);
        // Without a response, the request says what was asked.
        let dialect = seen.dialect(&report).or(turns.dialect);
        let api = dialect.map(|dialect| dialect.api).or_else(|| asked(passed))?;
        let (turns, keep_alives) = if is_socket {
            turns.finish(api)
        } else {
            let told = seen.told(api, &report, recording.as_bytes());
            let turn = Turn {
                model: passed.model(),
                first: passed.chunks.first().map(|(_, at)| *at),
                gap: passed.chunks.windows(2).map(|pair| pair[1].1.saturating_sub(pair[0].1)).max(),
                ..told.turn(outcome(passed, &told, &report), passed.end.0)
            };
            (vec![turn], seen.keep_alives())
        };
        if turns.is_empty() {
            return None;
        }
        let broken = ClientTotal::all(std::slice::from_ref(&report), &[api.name]);
        let broken = broken.into_iter().filter(|client| client.state.is_broken());
        let broken = broken.map(|client| client.name).collect();
        Some(Judged { api, turns, report, recording, keep_alives, broken })
    }
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

/// It has no secrets, and without texts only their filler.
pub(crate) fn recording(passed: &Passed, shape_only: bool) -> String {
    let recorder = Recorder::new();
    let is_socket = passed.is_socket();
    let request = if is_socket { "".into() } else { String::from_utf8_lossy(&passed.request) };
    let request = if shape_only { Shaper::default().json(&request).into() } else { request };
    let ends: Vec<usize> = passed.chunks.iter().map(|(end, _)| *end).collect();
    let shaped = shape_only.then(|| Shaper::default().body(&passed.body, &ends));
    let (body, ends) = shaped.as_ref().map_or((&passed.body, &ends), |shaped| (&shaped.body, &shaped.ends));
    let response = passed.response.as_ref();
    let mut recording = recorder.begin(&Exchange {
        status: response.map(|(status, _)| *status),
        headers: response.map(|(_, headers)| texts(headers)).unwrap_or_default(),
        request: Some(Request {
            method: passed.method.clone().into(),
            url: passed.url.clone().into(),
            headers: texts(&passed.request_headers),
            body: (!is_socket).then_some(request),
        }),
        ..Exchange::default()
    });
    let mut of_messages = shape_only.then(Shaper::default);
    for Message { is_sent, at, text } in &passed.messages {
        let text = of_messages.as_mut().map_or(Cow::Borrowed(&**text), |shaper| shaper.json(text).into());
        recording += &if *is_sent { recorder.sent(*at, &text) } else { recorder.received(*at, &text) };
    }
    let mut from = 0;
    let chunks = if is_socket { &[][..] } else { &passed.chunks };
    for (to, (_, at)) in ends.iter().zip(chunks) {
        recording += &recorder.chunk(*at, body.get(from..*to).unwrap_or_default());
        from = *to;
    }
    let (at, ended) = &passed.end;
    recording += &recorder.end(
        *at,
        match ended {
            Ended::Whole => End::Closed,
            Ended::ClientLeft => End::Lost(Loss::Left),
            Ended::Broken(reason) | Ended::Unreadable(reason) => End::Lost(Loss::Broken(reason.into())),
            Ended::Unanswered(reason) => End::Lost(Loss::Unconnected(reason.into())),
        },
    );
    recording
}

fn texts(headers: &HeaderMap) -> Headers<'_> {
    let text = |value: &http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    headers.iter().map(|(name, value)| (name.as_str().into(), text(value).into())).collect()
}
