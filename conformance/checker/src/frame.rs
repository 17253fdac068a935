//! What a recording consists of.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::time::Duration;

/// One frame of a stream: what stands between two blank lines of server-sent events, a WebSocket
/// message, a line of NDJSON.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Frame<'a> {
    /// What the `event` line says.
    pub event: Option<Cow<'a, str>>,
    /// The data, their lines joined by line feeds; absent when there is no `data` line.
    pub data: Option<Cow<'a, str>>,
    /// What the `id` line says.
    pub id: Option<Cow<'a, str>>,
    /// What the `retry` line says.
    pub retry: Option<Cow<'a, str>>,
    /// Comment lines, without their colon.
    pub comments: Vec<Cow<'a, str>>,
    /// Lines that readers of server-sent events pass over.
    pub strays: Vec<Cow<'a, str>>,
    /// The frame as it was recorded.
    pub source: &'a [u8],
    /// From which byte of the recording to which it stands, the blank line excepted.
    pub bytes: Range<u64>,
    /// The line that it begins on, counted from 1.
    pub line: u64,
    /// Whether all of its lines stand on that one line, as in a JSON string.
    pub is_on_one_line: bool,
    /// Where its data stand in `source`.
    pub places: Places,
    /// Whether a blank line ends it. Readers drop a last frame that none does.
    pub terminated: bool,
    /// It is longer than what is judged, and its data were dropped.
    pub is_cut: bool,
    /// The first byte of the recording that is not UTF-8; U+FFFD stands for it in the texts.
    pub invalid_utf8: Option<u64>,
    /// What it came on.
    pub transport: Transport,
    /// When it was complete, counted from the start of the exchange.
    pub time: Option<Duration>,
}

/// What a frame came on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Transport {
    /// An HTTP answer.
    #[default]
    Http,
    /// A WebSocket.
    WebSocket,
    /// The recording has only the events, and not what framed them.
    Unframed,
}

/// Where the data of a frame stand in its source.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Places {
    /// Not as they are: they were decoded.
    #[default]
    Nowhere,
    /// In one piece, from this offset on.
    At(usize),
    /// In pieces: the offset in the data, and in the source.
    Pieces(Vec<(usize, usize)>),
}

impl Frame<'_> {
    /// A frame of more bytes is not kept. No recorded one has a hundredth of them.
    pub const LONGEST: usize = 64 << 20;

    /// The offset in the source of an offset in the data.
    pub fn place(&self, in_data: usize) -> Option<usize> {
        match &self.places {
            Places::Nowhere => None,
            Places::At(start) => Some(start + in_data),
            Places::Pieces(pieces) => {
                let piece = pieces.iter().rev().find(|(offset, _)| *offset <= in_data)?;
                Some(piece.1 + in_data - piece.0)
            }
        }
    }
}

/// What an exchange begins with.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Exchange<'a> {
    /// Which of several in a recording it is; bytes are then those in its body, and lines those of the recording.
    pub label: Option<String>,
    /// The status of the answer.
    pub status: Option<u16>,
    /// The headers of the answer.
    pub headers: Headers<'a>,
    /// What was asked, where the recording has it.
    pub request: Option<Request<'a>>,
}

/// Names and values, in order.
pub type Headers<'a> = Vec<(Cow<'a, str>, Cow<'a, str>)>;

/// What the client asked.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Request<'a> {
    /// The method, `POST` for one.
    pub method: Cow<'a, str>,
    /// Where it went.
    pub url: Cow<'a, str>,
    /// Its headers.
    pub headers: Headers<'a>,
    /// Its body.
    pub body: Option<Cow<'a, str>>,
}

impl Exchange<'_> {
    /// Whether the headers promise a stream of events.
    pub fn is_stream(&self) -> bool {
        self.header("content-type").is_some_and(|kind| kind.trim_start().starts_with("text/event-stream"))
    }

    /// A header of the answer.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(header, _)| header.eq_ignore_ascii_case(name)).map(|(_, value)| &**value)
    }
}

/// What a recording holds, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry<'a> {
    /// An exchange begins. A bare stream has no such entry.
    Exchange(Exchange<'a>),
    /// The client sent this on a WebSocket.
    Sent(Frame<'a>),
    /// The server sent a frame of a stream.
    Event(Frame<'a>),
    /// The server sent this, which is no stream.
    Body(Frame<'a>),
    /// The rest of the answer is missing.
    Lost(Loss<'a>),
}

/// Why the rest of an answer is missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Loss<'a> {
    /// The client left, which is no fault.
    Left,
    /// The user ended the run.
    Interrupted,
    /// There never was a connection, for this reason.
    Unconnected(Cow<'a, str>),
    /// The connection broke, or the answer went beyond a limit: the reason.
    Broken(Cow<'a, str>),
}

impl Loss<'_> {
    /// The same, independent of what it was read from.
    pub fn into_owned(self) -> Loss<'static> {
        match self {
            Self::Left => Loss::Left,
            Self::Interrupted => Loss::Interrupted,
            Self::Unconnected(reason) => Loss::Unconnected(Cow::Owned(reason.into_owned())),
            Self::Broken(reason) => Loss::Broken(Cow::Owned(reason.into_owned())),
        }
    }
}

impl fmt::Display for Loss<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Left => "the client has left",
            Self::Interrupted => "interrupted",
            Self::Unconnected(reason) | Self::Broken(reason) => reason,
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
