//! Recorded exchanges as a [`Recorder`](super::Recorder) writes them, one JSON object a line.

use std::borrow::Cow;
use std::time::Duration;

use serde::Deserialize;

use super::websocket;
use crate::capture::pack::base64;
use crate::capture::pack::body::Body;
use crate::capture::recorder::VERSION;
use crate::capture::{CaptureError, Format};
use checker::{Entry, Exchange, Frame, Headers, Loss, Request};

#[derive(Deserialize, Default)]
#[serde(default)]
struct ExchangeLine<'a> {
    exchange: Option<u64>,
    #[serde(borrow)]
    request: Option<RequestLine<'a>>,
    #[serde(borrow)]
    response: Option<Answered<'a>>,
    /// Milliseconds.
    at: Option<f64>,
    #[serde(borrow)]
    bytes: Option<Cow<'a, str>>,
    #[serde(borrow)]
    text: Option<Cow<'a, str>>,
    #[serde(borrow)]
    sent: Option<Cow<'a, str>>,
    #[serde(borrow)]
    received: Option<Cow<'a, str>>,
    #[serde(borrow)]
    end: Option<Cow<'a, str>>,
    #[serde(borrow)]
    reason: Option<Cow<'a, str>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct RequestLine<'a> {
    #[serde(borrow)]
    method: Cow<'a, str>,
    #[serde(borrow)]
    url: Cow<'a, str>,
    #[serde(borrow)]
    headers: Headers<'a>,
    #[serde(borrow)]
    body: Option<Cow<'a, str>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Answered<'a> {
    status: Option<u16>,
    #[serde(borrow)]
    headers: Headers<'a>,
}

#[derive(Debug, Default)]
pub(in crate::capture) struct ExchangeState {
    exchanges: u64,
    messages: u64,
    body: Option<Body>,
    is_open: bool,
}

pub(in crate::capture) fn on_line(mut entry: Entry<'_>, line: u64) -> Entry<'_> {
    if let Entry::Event(frame) | Entry::Body(frame) | Entry::Sent(frame) = &mut entry {
        frame.line = line;
        frame.is_on_one_line = true;
    }
    if let Entry::Row(row) = &mut entry {
        row.frame.line = line;
    }
    entry
}

impl ExchangeState {
    pub(in crate::capture) const fn is_open(&self) -> bool {
        self.is_open
    }

    pub(in crate::capture) fn take(
        &mut self,
        line: &Frame<'_>,
        sink: &mut impl FnMut(Entry<'_>),
    ) -> Result<(), CaptureError> {
        // A frame has the number of the line that completes it.
        self.line(line, &mut |entry: Entry<'_>| sink(on_line(entry, line.line)))
    }

    fn line(&mut self, frame: &Frame<'_>, sink: &mut impl FnMut(Entry<'_>)) -> Result<(), CaptureError> {
        let fail =
            |problem: String| CaptureError::Malformed { format: Format::Exchange, line: frame.line, problem };
        let line: ExchangeLine<'_> =
            serde_json::from_slice(frame.source).map_err(|error| fail(error.to_string()))?;
        if let Some(version) = line.exchange {
            if version != VERSION {
                return Err(fail(format!(
                    "the exchange has format version {version}, but this build reads version {VERSION}"
                )));
            }
            self.end(Some(Loss::Cut("the next exchange begins before it has ended".into())), sink)?;
            self.begin(line, sink);
            return Ok(());
        }
        if !self.is_open {
            return Err(fail("no exchange has begun; its first line must have `\"exchange\":1`".to_owned()));
        }
        let time = line.at.and_then(time);
        if let Some(how) = &line.end {
            let reason = line.reason.unwrap_or(Cow::Borrowed("the connection was lost"));
            let lost = match &**how {
                "closed" => None,
                "left" => Some(Loss::Left),
                "interrupted" => Some(Loss::Interrupted),
                "unconnected" => Some(Loss::Unconnected(reason)),
                "silent" => Some(Loss::Silent(reason)),
                "lost" => Some(Loss::Broken(reason)),
                _ => {
                    let known = "`closed`, `left`, `interrupted`, `unconnected`, `silent` or `lost`";
                    return Err(fail(format!("the end is {known}, not `{how}`")));
                }
            };
            return self.end(lost, sink);
        }
        if let Some(text) = line.sent.as_deref().or(line.received.as_deref()) {
            self.messages += 1;
            let frame = websocket::frame(text, self.messages, time);
            sink(if line.sent.is_some() { Entry::Sent(frame) } else { Entry::Event(frame) });
            return Ok(());
        }
        let bytes = match (&line.text, &line.bytes) {
            (Some(text), _) => Cow::Borrowed(text.as_bytes()),
            (None, Some(text)) => {
                Cow::Owned(base64::decode(text).ok_or_else(|| fail("`bytes` is not base64".to_owned()))?)
            }
            (None, None) => {
                return Err(fail("expected `bytes`, `text`, `sent`, `received` or `end`".to_owned()));
            }
        };
        match &mut self.body {
            Some(body) => body.push(&bytes, time, sink),
            None => Ok(()),
        }
    }

    fn begin(&mut self, line: ExchangeLine<'_>, sink: &mut impl FnMut(Entry<'_>)) {
        let asked = line.request.unwrap_or_default();
        let answered = line.response.unwrap_or_default();
        self.exchanges += 1;
        self.messages = 0;
        let exchange = Exchange {
            label: Some(format!("exchange {}, {} {}", self.exchanges, asked.method, asked.url)),
            number: Some(self.exchanges),
            status: answered.status,
            headers: answered.headers,
            request: Some(Request {
                method: asked.method,
                url: asked.url,
                headers: asked.headers,
                body: asked.body,
            }),
        };
        self.body = Some(Body::new(&exchange, (0, 1)));
        self.is_open = true;
        sink(Entry::Exchange(exchange));
    }

    /// A lost connection has a reason.
    pub(in crate::capture) fn end(
        &mut self,
        lost: Option<Loss<'_>>,
        sink: &mut impl FnMut(Entry<'_>),
    ) -> Result<(), CaptureError> {
        let outcome = match (self.body.take(), &lost) {
            (Some(body), Some(lost)) if lost.may_be_sent() => body.cut(sink),
            (Some(body), _) => body.finish(sink),
            (None, _) => Ok(()),
        };
        if let (true, Some(reason)) = (std::mem::take(&mut self.is_open), lost) {
            sink(Entry::Lost(reason));
        }
        outcome
    }
}

/// Rounded to microseconds.
fn time(milliseconds: f64) -> Option<Duration> {
    let seconds = Duration::try_from_secs_f64(milliseconds / 1000.0).ok()?;
    let rounded = seconds.checked_add(Duration::from_nanos(500))?.as_micros();
    u64::try_from(rounded).ok().map(Duration::from_micros)
}
