//! A frame, read once.

use std::borrow::Cow;

use spec::json::{Outline, RawString, Scanner};
use spec::table::{EventInfo, EventLine};
use spec::{Count, Dialect, Memory, Slot, Verdict, View};

use crate::{Frame, Transport};

/// A frame with data, and what its dialect makes of it.
#[derive(Debug)]
pub struct Record<'a> {
    /// The frame.
    pub frame: &'a Frame<'a>,
    /// Which frame of the stream it is, counted from 1.
    pub number: u64,
    /// Which event of the stream it is, counted from 1.
    pub event: u64,
    /// Its type, by the dialect's framing.
    pub event_type: Option<Cow<'a, str>>,
    /// What the dialect knows of that type, and where in the list of its events.
    pub known: Option<(usize, &'static EventInfo)>,
    /// Its sequence number.
    pub sequence_number: Option<Count>,
    /// It reports an error.
    pub(crate) is_error: bool,
    /// Its indices and its sequence number are digits alone, and few.
    pub(crate) has_usual_counts: bool,
    /// What its data are.
    pub payload: Payload,
    /// What the schema of its type says.
    pub verdict: Verdict,
    /// The values that lifecycle and rules are about.
    pub view: View<'a>,
    /// The members of the object that the event is about, where they were noted.
    pub(crate) outline: Option<&'a Outline>,
    /// Nothing in the data is escaped, and no character was lost.
    pub(crate) is_plain: bool,
}

/// What the data of a frame are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Payload {
    /// The marker `[DONE]`.
    Done,
    /// A JSON object.
    Object,
    /// Another JSON value.
    OtherValue,
    /// No JSON: what is wrong, and at which byte of the data.
    NotJson(&'static str, usize),
}

impl<'a> Record<'a> {
    /// Reads a frame; a frame without data is nobody's event.
    #[expect(clippy::inline_always, reason = "a record is large, and would be copied for each event")]
    #[inline(always)]
    pub fn read(
        dialect: &Dialect,
        frame: &'a Frame<'a>,
        (number, event): (u64, u64),
        recent: &mut Option<(usize, &'static EventInfo)>,
        memory: &'a mut Memory,
    ) -> Option<Record<'a>> {
        let data = frame.data.as_deref()?;
        let is_done = data == "[DONE]";
        let has_it = |known: &(usize, &EventInfo)| has_type(dialect, data, known.1.name);
        let said = || frame.event.as_deref().and_then(|name| dialect.position(name));
        let guessed = recent.filter(has_it).or_else(|| said().filter(has_it));
        let event_type = match guessed {
            Some((_, info)) => Some(Cow::Borrowed(info.name)),
            None if is_done => None,
            None => event_type(dialect, frame, data),
        };
        let known = guessed.or_else(|| event_type.as_deref().and_then(|name| dialect.position(name)));
        *recent = known;
        let is_error = event_type.as_deref() == Some(dialect.error);
        let mut view = View::nothing();
        let mut verdict = memory.next_event(known.map(|(_, info)| info), data, &mut view);
        let payload = if is_done || !verdict.is_valid() {
            if frame.transport == Transport::WebSocket && is_error {
                verdict = socket_error(dialect, data, verdict);
            }
            if frame.is_cut { TOO_LONG } else { what_else(data, is_done, &verdict) }
        } else {
            Payload::Object
        };
        Some(Record {
            frame,
            number,
            event,
            event_type,
            known,
            is_error,
            sequence_number: view.count(Slot::SequenceNumber),
            payload,
            has_usual_counts: view.has_usual_counts(),
            verdict,
            view,
            outline: Some(memory.outline()),
            is_plain: is_plain(data),
        })
    }

    /// An answer that is no stream, and so no event.
    pub(crate) fn of_body(frame: &'a Frame<'a>, number: u64) -> Self {
        Self {
            frame,
            number,
            event: 0,
            event_type: None,
            known: None,
            is_error: false,
            sequence_number: None,
            has_usual_counts: true,
            payload: payload(frame.data.as_deref().unwrap_or_default()),
            verdict: Verdict::Unknown,
            view: View::nothing(),
            outline: None,
            is_plain: is_plain(frame.data.as_deref().unwrap_or_default()),
        }
    }

    /// Returns whether it opens a response.
    pub(crate) fn begins(&self) -> bool {
        self.known.is_some_and(|(_, info)| info.is_opening())
    }

    /// A value that is a string, not yet decoded.
    pub(crate) fn string(&self, slot: Slot) -> Option<RawString<'a>> {
        if !self.is_plain {
            return self.view.string(slot);
        }
        let raw = self.view.raw(slot)?.strip_prefix('"')?.strip_suffix('"')?;
        Some(RawString { raw, escaped: false })
    }

    /// Its type, for longer than the frame; empty when it has none.
    pub(crate) fn kept_type(&self) -> Cow<'static, str> {
        match self.known {
            Some((_, info)) => Cow::Borrowed(info.name),
            None => Cow::Owned(self.event_type.as_deref().unwrap_or_default().to_owned()),
        }
    }

    /// The data.
    pub fn data(&self) -> &'a str {
        self.frame.data.as_deref().unwrap_or_default()
    }
}

/// The problem of a frame that was dropped because it is too long.
const TOO_LONG: Payload = Payload::NotJson("the event is longer than 64 MiB", 0);

/// Whether nothing is escaped, and no U+FFFD can stand there: it begins with that byte.
fn is_plain(data: &str) -> bool {
    memchr::memchr2(b'\\', 0xef, data.as_bytes()).is_none()
}

/// Whether data begin with that type, as they mostly do. Nothing is known when they do not.
fn has_type(dialect: &Dialect, data: &str, name: &str) -> bool {
    dialect.framing.event_line != EventLine::Discriminator
        && data
            .strip_prefix("{\"type\":\"")
            .and_then(|rest| rest.strip_prefix(name))
            .is_some_and(|rest| rest.starts_with('"'))
}

/// The type of an event, where its dialect has it.
fn event_type<'a>(dialect: &Dialect, frame: &'a Frame<'_>, data: &'a str) -> Option<Cow<'a, str>> {
    let inside = || spec::json::Checker::new(data).tag("type").ok().flatten();
    let line = || frame.event.as_deref().map(Cow::Borrowed);
    match dialect.framing.event_line {
        EventLine::EqualsType | EventLine::AlwaysMessage => inside(),
        // Recordings without event lines can only say it inside.
        EventLine::Discriminator => line().or_else(inside),
        EventLine::DiscriminatorIfUntyped => inside().or_else(line),
    }
}

/// What comes of an error that answers a message: it is in an envelope of its own, not in a stream.
#[cold]
fn socket_error(dialect: &Dialect, data: &str, as_event: Verdict) -> Verdict {
    match as_event {
        Verdict::Invalid(..) | Verdict::Unknown => dialect
            .root("websocket_error")
            .map_or(Verdict::Valid, |envelope| dialect.check_type(envelope, data)),
        other => other,
    }
}

/// What data are that are no valid event of the dialect.
#[cold]
fn what_else(data: &str, is_done: bool, verdict: &Verdict) -> Payload {
    match *verdict {
        _ if is_done => Payload::Done,
        Verdict::NotJson(problem, at) => Payload::NotJson(problem, at),
        Verdict::Valid => Payload::Object,
        Verdict::Invalid(..) | Verdict::Unknown => payload(data),
    }
}

fn payload(data: &str) -> Payload {
    let mut scanner = Scanner::new(data);
    if scanner.peek() == 0 && data.trim_ascii().is_empty() {
        return Payload::NotJson("it is empty", 0);
    }
    let is_object = scanner.peek() == b'{';
    match scanner.skip().and_then(|()| scanner.end()) {
        Ok(()) if is_object => Payload::Object,
        Ok(()) => Payload::OtherValue,
        Err(_) => Payload::NotJson(scanner.problem(), scanner.offset()),
    }
}
