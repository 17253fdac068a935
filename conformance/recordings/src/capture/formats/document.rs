//! The kind of a JSON document in a recording: a line, or an entry of a list.

use std::borrow::Cow;
use std::sync::LazyLock;

use catalogue::Log;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::exchange::on_line;
use super::{log, recorded};
use crate::capture::pack::body::{Body, starts_with_field};
use crate::capture::source::{parsed, said, unwrapped};
use crate::capture::{CaptureError, other_api};
use crate::logs::log_of;
use checker::{Entry, Exchange, Frame, Loss};
use spec::json::Indexed;
use spec::{APIS, FOREIGN};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::capture) enum Kind {
    /// An event of a stream.
    Event,
    /// An error that is the same as an event and as a body.
    Error,
    /// A response, or an error.
    Body,
    /// A line of the output of a batch: the response to a request of the batch.
    Batch,
    /// A stream as text, under a name.
    Stream,
    /// An exchange of a test recorder.
    Recorded,
    /// The first line of an exchange that this suite recorded.
    Exchange,
    /// A row of a log, or several.
    Log(&'static Log),
    Other,
}

/// A stream as text: `{"id": NAME, "stream": TEXT}`.
#[derive(Deserialize)]
struct Stored<'a> {
    #[serde(borrow, default)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    stream: Cow<'a, str>,
}

/// A line of the output of a batch, or of its errors.
#[derive(Deserialize)]
struct Batch<'a> {
    #[serde(borrow, default)]
    custom_id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    response: Option<BatchResponse<'a>>,
    #[serde(borrow, default)]
    error: Option<BatchError<'a>>,
}

#[derive(Deserialize)]
struct BatchResponse<'a> {
    #[serde(default)]
    status_code: Option<u16>,
    #[serde(borrow, default)]
    body: Option<&'a RawValue>,
}

/// Why a request of a batch has no response.
#[derive(Deserialize)]
struct BatchError<'a> {
    #[serde(borrow, default)]
    code: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    message: Option<Cow<'a, str>>,
}

impl Kind {
    pub(in crate::capture) fn of(text: &str) -> Self {
        let (mut is_typed, mut is_wrapped, mut has_data, mut has_error) = (false, false, false, false);
        let (mut object, mut stream, mut batch, mut answer, mut exchange) = (None, None, false, false, false);
        let mut has_request = false;
        let is_object = spec::json::each_member(text, |name, value| match name.raw {
            "type" => is_typed = value.starts_with('"'),
            "event" => is_wrapped = value.starts_with('"'),
            "data" => has_data = true,
            "object" => object = Some(value),
            "stream" => stream = Some(value),
            "custom_id" => batch = true,
            "exchange" => exchange = value.bytes().all(|byte| byte.is_ascii_digit()),
            "request" | "when" | "scope" | "RequestUri" | "interactions" | "http_interactions"
            | "recordings" | "mappings" | "Entries" | "entries" => has_request = true,
            "response" => answer = true,
            "error" => (has_error, answer) = (value != "null", true),
            _ => {}
        });
        if !is_object {
            Self::Other
        } else if exchange {
            Self::Exchange
        } else if object.is_some() && is_answer(text) {
            Self::Body
        } else if let Some(log) = log_of(text) {
            Self::Log(log)
        } else if is_typed && object.is_none_or(|raw| !raw.starts_with('"')) {
            Self::of_typed(text)
        } else if is_wrapped && has_data {
            Self::Event
        } else if batch && answer {
            Self::Batch
        } else if stream.is_some_and(holds_events) {
            Self::Stream
        } else if has_request && recorded::is_recorded(text) {
            Self::Recorded
        } else if other_api::is_body(text) {
            Self::Body
        } else if other_api::is_known_object(text) {
            Self::Event
        } else if has_error {
            Self::Body
        } else {
            Self::Other
        }
    }

    /// A body if its API has such a body, or else an event.
    fn of_typed(text: &str) -> Self {
        if !BODY_TYPES.iter().any(|kind| spec::json::string_member(text, "type").as_deref() == Some(*kind)) {
            Self::Event
        } else if other_api::is_body(text) {
            Self::Body
        } else if APIS.iter().any(|api| api.body(text).is_some() && api.error_in(text).is_some()) {
            Self::Error
        } else {
            Self::Event
        }
    }
}

static BODY_TYPES: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let marks = APIS.iter().flat_map(|api| api.bodies).flat_map(|body| body.mark.texts);
    marks.filter(|(place, _)| *place == "/type").map(|(_, kind)| *kind).collect()
});

/// The beginnings of bodies with their type as the first member.
static BODY_STARTS: LazyLock<Vec<String>> =
    LazyLock::new(|| BODY_TYPES.iter().map(|kind| format!("{{\"type\":\"{kind}\"")).collect());

/// Only responses of known APIs count.
fn is_answer(text: &str) -> bool {
    let object = Indexed::new(text);
    APIS.iter().any(|api| api.body(text).is_some())
        || other_api::is_body(text)
        || FOREIGN.iter().any(|api| api.signature.has_body(&object))
}

/// The value is the text of a stream.
fn holds_events(raw: &str) -> bool {
    raw.strip_prefix('"').is_some_and(|text| {
        // The first line of a stream has no escapes but its end.
        starts_with_field(text.as_bytes())
    })
}

/// Hands out documents in order. Events that follow each other are streams; every other document is an exchange of its
/// own.
#[derive(Debug, Default)]
pub(in crate::capture) struct Documents {
    /// Whether the last document was an exchange of its own.
    pub(in crate::capture) is_apart: bool,
    /// Whether there is only this document, so that it needs no name.
    is_single: bool,
    /// The first document, which is handed out alone, shows whether all are of a log.
    has_begun: bool,
    log: Option<&'static Log>,
}

impl Documents {
    pub(in crate::capture) fn single() -> Self {
        Self { is_single: true, ..Self::default() }
    }

    /// At first sight, an event follows others, and begins with its type.
    #[inline]
    pub(in crate::capture) fn is_event(&self, frame: &Frame<'_>) -> bool {
        self.has_begun
            && !self.is_apart
            && frame.source.starts_with(b"{\"type\":\"")
            && !BODY_STARTS.iter().any(|start| frame.source.starts_with(start.as_bytes()))
    }

    pub(in crate::capture) fn hand_out(
        &mut self,
        kind: Kind,
        frame: Frame<'_>,
        sink: &mut impl FnMut(Entry<'_>),
    ) -> Result<(), CaptureError> {
        // Programs add types of rows.
        let is_row = |_: &&'static Log| {
            let text = frame.data.as_deref().unwrap_or_default();
            matches!(kind, Kind::Event | Kind::Other) && !other_api::is_known_object(text)
        };
        let kind = self.log.filter(is_row).map_or(kind, Kind::Log);
        self.log = if let Kind::Log(log) = kind { Some(log) } else { None };
        self.has_begun = true;
        // A document that is the whole recording has lines of its own.
        let (line, is_single) = (frame.line, self.is_single);
        let sink = &mut |entry: Entry<'_>| sink(if is_single { entry } else { on_line(entry, line) });
        let is_event = match kind {
            Kind::Event => true,
            Kind::Other => !self.is_apart,
            // Among events, it is one.
            Kind::Error => !self.is_apart && !is_single,
            _ => false,
        };
        let was_apart = std::mem::replace(&mut self.is_apart, !is_event);
        match kind {
            _ if is_event => {
                if was_apart {
                    let label = Some(format!("events from line {}", frame.line));
                    sink(Entry::Exchange(Exchange { label, ..Exchange::default() }));
                }
                sink(Entry::Event(unwrapped(frame)));
                Ok(())
            }
            Kind::Batch => batch(&frame, sink),
            Kind::Stream => stream(&frame, sink),
            Kind::Recorded => {
                let document: Value = parsed(&frame)?;
                recorded::read([&document], sink)
            }
            Kind::Log(log) => {
                log::rows(log, &frame, sink);
                Ok(())
            }
            Kind::Event | Kind::Error | Kind::Body | Kind::Exchange | Kind::Other => {
                if !self.is_single {
                    sink(Entry::Exchange(exchange_of(&frame, None, None)));
                }
                sink(Entry::Body(frame));
                Ok(())
            }
        }
    }
}

fn exchange_of(frame: &Frame<'_>, name: Option<&str>, status: Option<u16>) -> Exchange<'static> {
    let line = format!("line {}", frame.line);
    let label = match name.filter(|name| !name.is_empty()) {
        Some(name) => format!("{line} ({name})"),
        None => line,
    };
    Exchange { label: Some(label), status, ..Exchange::default() }
}

fn batch(frame: &Frame<'_>, sink: &mut impl FnMut(Entry<'_>)) -> Result<(), CaptureError> {
    let Batch { custom_id, response, error } = parsed(frame)?;
    let status = response.as_ref().and_then(|response| response.status_code);
    sink(Entry::Exchange(exchange_of(frame, custom_id.as_deref(), status)));
    if let Some(body) = response.and_then(|response| response.body) {
        let (text, _) = said(frame.source, body);
        return Body::new(&Exchange::default(), (0, 1)).read(text.as_bytes(), sink);
    }
    let BatchError { code, message } = error.unwrap_or(BatchError { code: None, message: None });
    let parts: Vec<&str> = [code.as_deref(), message.as_deref()].into_iter().flatten().collect();
    let reason = if parts.is_empty() { "the batch has no response".to_owned() } else { parts.join(": ") };
    sink(Entry::Lost(Loss::Unconnected(reason.into())));
    Ok(())
}

fn stream(frame: &Frame<'_>, sink: &mut impl FnMut(Entry<'_>)) -> Result<(), CaptureError> {
    let Stored { id, stream } = parsed(frame)?;
    sink(Entry::Exchange(exchange_of(frame, id.as_deref(), None)));
    Body::new(&Exchange::default(), (0, 1)).read(stream.as_bytes(), sink)
}
