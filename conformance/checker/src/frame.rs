//! The parts of a recording.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::time::Duration;

use catalogue::Log;

/// One frame of a stream: the lines between two blank lines of server-sent events, a WebSocket
/// message, a line of NDJSON.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Frame<'a> {
    /// Value of the `event` field.
    pub event: Option<Cow<'a, str>>,
    /// The data, lines joined by line feeds; absent without a `data` field.
    pub data: Option<Cow<'a, str>>,
    /// Value of the `id` field.
    pub id: Option<Cow<'a, str>>,
    /// Value of the `retry` field.
    pub retry: Option<Cow<'a, str>>,
    /// Comment lines, without their colon.
    pub comments: Vec<Cow<'a, str>>,
    /// Lines that are not fields of server-sent events.
    pub strays: Vec<Cow<'a, str>>,
    /// The frame as it was recorded.
    pub source: &'a [u8],
    /// Byte range in the recording, without the blank line.
    pub bytes: Range<u64>,
    /// First line in the recording, counted from 1.
    pub line: u64,
    /// Whether all of its lines are on that line, as in a JSON string.
    pub is_on_one_line: bool,
    /// Position of the data in `source`.
    pub places: Places,
    /// Whether a blank line ends it. Readers drop a last frame without one.
    pub terminated: bool,
    /// Whether it exceeds [`Frame::LONGEST`], so that its data were dropped.
    pub is_cut: bool,
    /// First byte of the recording that is not UTF-8; texts have U+FFFD in its place.
    pub invalid_utf8: Option<u64>,
    /// Transport of the frame.
    pub transport: Transport,
    /// Time when it was complete, from the start of the exchange.
    pub time: Option<Duration>,
}

/// The transport of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Transport {
    /// An HTTP response.
    #[default]
    Http,
    /// A WebSocket.
    WebSocket,
    /// The recording has events without their framing.
    Unframed,
}

/// The position of the data of a frame in its source.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Places {
    /// Nowhere: the data were decoded.
    #[default]
    Nowhere,
    /// In one piece, from this offset.
    At(usize),
    /// In pieces: the offset in the data, and in the source.
    Pieces(Vec<(usize, usize)>),
}

impl Places {
    pub(crate) fn after(&self, offset: usize) -> Self {
        match self {
            Self::Nowhere => Self::Nowhere,
            Self::At(start) => Self::At(start + offset),
            Self::Pieces(pieces) => {
                let ends = pieces.iter().skip(1).map(|(end, _)| *end).chain([usize::MAX]);
                let rest = pieces.iter().zip(ends).filter(|(_, end)| *end > offset);
                let moved = rest.map(|((at, source), _)| {
                    (at.saturating_sub(offset), source + offset.saturating_sub(*at))
                });
                Self::Pieces(moved.collect())
            }
        }
    }
}

impl Frame<'_> {
    pub(crate) fn to_static(&self) -> Frame<'static> {
        let all = |texts: &[Cow<'_, str>]| texts.iter().map(|text| owned(text)).collect();
        Frame {
            event: self.event.as_deref().map(owned),
            data: self.data.as_deref().map(owned),
            id: self.id.as_deref().map(owned),
            retry: self.retry.as_deref().map(owned),
            comments: all(&self.comments),
            strays: all(&self.strays),
            source: &[],
            bytes: self.bytes.clone(),
            line: self.line,
            is_on_one_line: self.is_on_one_line,
            places: self.places.clone(),
            terminated: self.terminated,
            is_cut: self.is_cut,
            invalid_utf8: self.invalid_utf8,
            transport: self.transport,
            time: self.time,
        }
    }

    /// Maximum length of a frame in bytes. No recorded frame has a hundredth of it.
    pub const LONGEST: usize = 64 << 20;

    /// Converts an offset in the data to an offset in the source, if that is known.
    pub fn place(&self, in_data: usize) -> Option<usize> {
        match &self.places {
            Places::Nowhere => None,
            Places::At(start) => start.checked_add(in_data),
            Places::Pieces(pieces) => {
                let piece = pieces.iter().rev().find(|(offset, _)| *offset <= in_data)?;
                piece.1.checked_add(in_data - piece.0)
            }
        }
    }
}

/// The head of an exchange.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Exchange<'a> {
    /// Name of the exchange in a recording of several; bytes then count in its body, lines in the recording.
    pub label: Option<String>,
    /// Number of the exchange in a recording of this suite, which has one unless several were joined.
    pub number: Option<u64>,
    /// Status of the response.
    pub status: Option<u16>,
    /// Headers of the response.
    pub headers: Headers<'a>,
    /// The request, if the recording has it.
    pub request: Option<Request<'a>>,
}

/// Names and values, in order.
pub type Headers<'a> = Vec<(Cow<'a, str>, Cow<'a, str>)>;

/// The request of a client.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Request<'a> {
    /// The method, such as `POST`.
    pub method: Cow<'a, str>,
    /// The URL.
    pub url: Cow<'a, str>,
    /// Its headers.
    pub headers: Headers<'a>,
    /// Its body.
    pub body: Option<Cow<'a, str>>,
}

impl Exchange<'_> {
    pub(crate) fn to_static(&self) -> Exchange<'static> {
        let request = self.request.as_ref().map(|request| Request {
            method: owned(&request.method),
            url: owned(&request.url),
            headers: owned_pairs(&request.headers),
            body: request.body.as_deref().map(owned),
        });
        let headers = owned_pairs(&self.headers);
        Exchange { label: self.label.clone(), number: self.number, status: self.status, headers, request }
    }

    /// Returns whether the content type is `text/event-stream`.
    pub fn is_stream(&self) -> bool {
        self.header("content-type").is_some_and(|value| has_media_type(value, EVENT_STREAM))
    }

    /// Returns a header of the response.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(header, _)| header.eq_ignore_ascii_case(name)).map(|(_, value)| &**value)
    }
}

fn owned(text: &str) -> Cow<'static, str> {
    Cow::Owned(text.to_owned())
}

fn owned_pairs(headers: &Headers<'_>) -> Headers<'static> {
    headers.iter().map(|(name, value)| (owned(name), owned(value))).collect()
}

pub(crate) const EVENT_STREAM: &str = "text/event-stream";

pub(crate) fn has_media_type(content_type: &str, media_type: &str) -> bool {
    let name = content_type.split_once(';').map_or(content_type, |(name, _)| name);
    name.trim().eq_ignore_ascii_case(media_type)
}

/// An entry of a recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry<'a> {
    /// The start of an exchange. A bare stream has none.
    Exchange(Exchange<'a>),
    /// A client's message on a WebSocket.
    Sent(Frame<'a>),
    /// A frame of a stream.
    Event(Frame<'a>),
    /// The body of a response that is not a stream.
    Body(Frame<'a>),
    /// A row of a log. The next body may be its answer.
    Row(Row<'a>),
    /// The rest of the response is missing.
    Lost(Loss<'a>),
}

/// A row of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row<'a> {
    /// The log.
    pub log: &'static Log,
    /// The row, as JSON.
    pub frame: Frame<'a>,
}

/// The reason why the rest of a response is missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Loss<'a> {
    /// The client closed the connection, which is not a fault.
    Left,
    /// The user interrupted the run.
    Interrupted,
    /// No connection could be made, for this reason.
    Unconnected(Cow<'a, str>),
    /// No response began within a limit of time, for this reason.
    Silent(Cow<'a, str>),
    /// The connection broke, or the response exceeded a limit, for this reason.
    Broken(Cow<'a, str>),
    /// The recording ends before the response, for this reason.
    Cut(Cow<'a, str>),
}

impl Loss<'_> {
    /// Returns whether the server may have sent the rest, as nobody received or recorded it.
    pub const fn may_be_sent(&self) -> bool {
        matches!(self, Self::Left | Self::Interrupted | Self::Cut(_))
    }

    /// Returns a copy that borrows nothing.
    pub fn into_owned(self) -> Loss<'static> {
        match self {
            Self::Left => Loss::Left,
            Self::Interrupted => Loss::Interrupted,
            Self::Unconnected(reason) => Loss::Unconnected(Cow::Owned(reason.into_owned())),
            Self::Silent(reason) => Loss::Silent(Cow::Owned(reason.into_owned())),
            Self::Broken(reason) => Loss::Broken(Cow::Owned(reason.into_owned())),
            Self::Cut(reason) => Loss::Cut(Cow::Owned(reason.into_owned())),
        }
    }
}

impl fmt::Display for Loss<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Left => "the client has left",
            Self::Interrupted => "interrupted",
            Self::Unconnected(reason) | Self::Silent(reason) | Self::Broken(reason) | Self::Cut(reason) => {
                reason
            }
        })
    }
}

impl<'a> From<&'a str> for Loss<'a> {
    fn from(reason: &'a str) -> Self {
        Self::Broken(Cow::Borrowed(reason))
    }
}

impl From<String> for Loss<'_> {
    fn from(reason: String) -> Self {
        Self::Broken(Cow::Owned(reason))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Checker, Rules};

    #[test]
    fn a_stream_is_what_the_rule_accepts() {
        let dialect = spec::dialect("openai").expect("the dialect");
        let rules = Rules::of(dialect).only(|rule| rule.id == "wire/event-stream-content-type");
        for (content_type, is_stream) in [
            ("text/event-stream", true),
            ("Text/Event-Stream", true),
            (" text/event-stream ;charset=utf-8", true),
            ("text/event-streams", false),
            ("text/event-stream+json", false),
            ("application/json; of=text/event-stream", false),
            ("", false),
        ] {
            let headers = vec![("Content-Type".into(), content_type.into())];
            let exchange = Exchange { headers, ..Exchange::default() };
            assert_eq!(exchange.is_stream(), is_stream, "{content_type:?}");
            let mut checker = Checker::with_rules(&rules);
            checker.exchange(&exchange);
            checker.push(b"event: a\ndata: {\"type\":\"a\"}\n\n");
            assert_eq!(checker.findings().is_empty(), is_stream, "{content_type:?}");
        }
    }
}
