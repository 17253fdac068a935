//! Responses on the wire, and transport faults.

use std::fmt;
use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::RenderedResponse;
use super::events::events;
use super::list::ListWriter;
use crate::content::problem::Problem;
use spec::Api;

/// A response on the wire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wire {
    /// Its status.
    pub status: u16,
    /// Its content type.
    pub content_type: String,
    /// Its body.
    pub body: Vec<u8>,
}

impl Wire {
    /// Creates a streaming response.
    pub fn stream(answer: &RenderedResponse) -> Self {
        Self { status: 200, content_type: "text/event-stream".to_owned(), body: answer.stream().into_bytes() }
    }

    /// Creates a non-streaming response.
    pub fn json(status: u16, body: &str) -> Self {
        Self { status, content_type: "application/json".to_owned(), body: body.as_bytes().to_vec() }
    }

    /// Creates the response to a refused request.
    pub fn refused(problem: &Problem, api: &Api) -> Self {
        Self::json(problem.status, &super::body_of(problem, api).to_string())
    }

    /// Returns whether it is a stream.
    pub fn is_stream(&self) -> bool {
        self.content_type == "text/event-stream"
    }

    /// Returns the events of a stream as sent.
    pub fn events(&self) -> Vec<Vec<u8>> {
        events(&self.body).map(<[u8]>::to_vec).collect()
    }

    /// A stream, or an error, as the JSON list that some APIs send without `alt=sse`.
    #[must_use]
    pub(crate) fn into_list(mut self) -> Self {
        if self.is_stream() {
            let mut writer = ListWriter::default();
            self.body = [writer.push(&self.body).as_slice(), writer.end()].concat();
            "application/json".clone_into(&mut self.content_type);
        } else if self.status >= 400 && self.body.starts_with(b"{") {
            self.body = [b"[", &*self.body, b"\n]"].concat();
        }
        self
    }

    /// Returns its recording, with the head if that is relevant.
    pub fn recording(&self) -> Vec<u8> {
        let head = format!("HTTP/1.1 {} \r\ncontent-type: {}\r\n\r\n", self.status, self.content_type);
        [head.as_bytes(), &self.body].concat()
    }

    pub(crate) fn read(recording: &[u8], unchanged: &Self) -> Option<Self> {
        let Some(rest) = recording.strip_prefix(b"HTTP/1.1 ") else {
            return Some(Self { body: recording.to_vec(), ..unchanged.clone() });
        };
        let end = rest.windows(4).position(|window| window == b"\r\n\r\n")?;
        let head = String::from_utf8_lossy(rest.get(..end)?);
        let status = head.split_whitespace().next()?.parse().ok()?;
        let header = |line: &str| {
            let (name, value) = line.split_once(": ")?;
            name.eq_ignore_ascii_case("content-type").then(|| value.to_owned())
        };
        let content_type = head.lines().find_map(header).unwrap_or_else(|| unchanged.content_type.clone());
        Some(Self { status, content_type, body: rest.get(end + 4..)?.to_vec() })
    }
}

/// A transport fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WireFault {
    /// The stream ends in the middle of an event.
    Cut,
    /// Lines end with CR LF, which is allowed.
    Crlf,
    /// Every byte is sent in its own chunk, which is allowed.
    SplitUtf8,
    /// The stream stalls, and the connection stays open.
    Stall,
    /// A second passes before every event, which is allowed.
    Slow,
    /// The stream begins with a comment of 16 MiB, which is allowed.
    HugeLine,
    /// The content type is HTML.
    WrongContentType,
    /// The body is compressed even if the request does not allow it.
    Gzip,
    /// The connection breaks in the middle of the stream.
    EarlyClose,
    /// An error is sent as a stream with an error status.
    ErrorAsStream,
}

const HUGE: usize = 16 << 20;

impl WireFault {
    /// All transport faults.
    pub const ALL: [Self; 10] = [
        Self::Cut,
        Self::Crlf,
        Self::SplitUtf8,
        Self::Stall,
        Self::Slow,
        Self::HugeLine,
        Self::WrongContentType,
        Self::Gzip,
        Self::EarlyClose,
        Self::ErrorAsStream,
    ];

    /// Its name.
    pub const fn name(self) -> &'static str {
        self.words().0
    }

    /// Its effect on a stream.
    pub const fn effect(self) -> &'static str {
        self.words().1
    }

    const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Cut => ("cut", "the stream ends in the middle of an event"),
            Self::Crlf => ("crlf", "lines end with CR LF, which is allowed"),
            Self::SplitUtf8 => ("split-utf8", "every byte is sent separately, which is allowed"),
            Self::Stall => {
                ("stall", "half of the stream is sent, then nothing, and the connection stays open")
            }
            Self::Slow => ("slow", "a second passes before every event, which is allowed"),
            Self::HugeLine => ("huge-line", "the stream begins with a comment of 16 MiB, which is allowed"),
            Self::WrongContentType => ("wrong-content-type", "the content type is text/html"),
            Self::Gzip => ("gzip", "the body is compressed even if the request does not allow it"),
            Self::EarlyClose => ("early-close", "the connection breaks in the middle of the stream"),
            Self::ErrorAsStream => {
                ("error-as-stream", "the response is an error sent as a stream with status 500")
            }
        }
    }

    /// The fault of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|fault| fault.name() == name)
    }

    /// Only streams have faults. Returns the compression, if any.
    pub(crate) fn change(self, wire: &mut Wire) -> Option<&'static str> {
        if !wire.is_stream() {
            return None;
        }
        match self {
            Self::Cut => {
                let end = wire.body.windows(2).rposition(|pair| pair == b":{").unwrap_or(wire.body.len() / 2);
                wire.body.truncate(end + 2);
            }
            Self::Crlf => {
                wire.body = wire.body.split(|byte| *byte == b'\n').collect::<Vec<_>>().join(&b"\r\n"[..]);
            }
            Self::HugeLine => {
                let mut comment = vec![b'x'; HUGE];
                comment.splice(..2, *b": ");
                comment.extend_from_slice(b"\n\n");
                wire.body.splice(..0, comment);
            }
            Self::WrongContentType => "text/html".clone_into(&mut wire.content_type),
            Self::ErrorAsStream => {
                wire.status = 500;
                wire.body = b"event: error\ndata: {\"type\":\"error\",\"sequence_number\":0,\"error\":\
                    {\"type\":\"server_error\",\"code\":\"server_error\",\
                    \"message\":\"The server had an error.\",\"param\":null}}\n\n"
                    .to_vec();
            }
            Self::Gzip => {
                let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
                // Writing to memory cannot fail.
                if encoder.write_all(&wire.body).is_ok() {
                    wire.body = encoder.finish().unwrap_or_default();
                }
                return Some("gzip");
            }
            Self::SplitUtf8 | Self::Stall | Self::Slow | Self::EarlyClose => {}
        }
        None
    }
}

impl fmt::Display for WireFault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}
