//! Responses as they are sent to a client.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::time::Duration;

use catalogue::Channel;
use checker::{Answer, AnswerReader};
use gateway::{Act, End, SocketScript, Wire};
use recordings::capture::{Entry, Format, read};
use serde_json::Value;
use spec::Dialect;

use super::event::event_type;

/// The data that a client receives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Plays {
    Http(Act),
    Socket(SocketScript),
}

impl Plays {
    /// Everything that a client can observe.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Http(act) => {
                let mut bytes =
                    format!("{} {:?} {:?} {}", act.status, act.headers, act.end, act.pieces.len())
                        .into_bytes();
                act.pieces.iter().for_each(|(_, piece)| bytes.extend(piece));
                bytes
            }
            Self::Socket(script) => script
                .messages
                .iter()
                .flat_map(|(_, message)| [message, "\n"])
                .collect::<String>()
                .into_bytes(),
        }
    }
}

/// A response that is sent to a client, and what it says in a dialect.
#[derive(Debug, Clone)]
pub(crate) struct Played {
    pub(crate) dialect: &'static Dialect,
    status: u16,
    content_type: String,
    body: Vec<u8>,
    pub(crate) is_stream: bool,
    messages: Vec<Message>,
    content: OnceCell<Answer>,
    last: OnceCell<Option<Answer>>,
}

#[derive(Debug, Clone)]
struct Message {
    text: String,
    /// The data as JSON, if they are: half of a character is JSON, but no text.
    event: Option<Value>,
    /// Whether a blank line ends the event.
    is_ended: bool,
}

impl Played {
    /// A golden is a stream, or a response with its head.
    pub(crate) fn read(recording: &[u8], dialect: &'static Dialect) -> Option<Self> {
        let Some(rest) = recording.strip_prefix(b"HTTP/1.1 ") else {
            return Some(Self::stream(recording, dialect));
        };
        let end = rest.windows(4).position(|window| window == b"\r\n\r\n")?;
        let head = String::from_utf8_lossy(rest.get(..end)?).into_owned();
        let status = head.split_whitespace().next()?.parse().ok()?;
        let header = |line: &str| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-type").then(|| value.trim().to_owned())
        };
        let content_type = head.lines().find_map(header).unwrap_or_else(|| EVENT_STREAM.to_owned());
        let body = rest.get(end + 4..)?.to_vec();
        let is_stream = body.is_empty() || !body.starts_with(b"{") && !body.starts_with(b"<");
        Some(Self::new(status, content_type, body, is_stream, dialect))
    }

    pub(crate) fn stream(stream: &[u8], dialect: &'static Dialect) -> Self {
        Self::new(200, EVENT_STREAM.to_owned(), stream.to_vec(), true, dialect)
    }

    pub(crate) fn body(body: &[u8], dialect: &'static Dialect) -> Self {
        Self::new(200, "application/json".to_owned(), body.to_vec(), false, dialect)
    }

    pub(crate) fn of_wire(wire: &Wire, dialect: &'static Dialect) -> Self {
        Self::new(wire.status, wire.content_type.clone(), wire.body.clone(), wire.is_stream(), dialect)
    }

    fn new(
        status: u16,
        content_type: String,
        body: Vec<u8>,
        is_stream: bool,
        dialect: &'static Dialect,
    ) -> Self {
        let messages = messages(&body);
        Self {
            dialect,
            status,
            content_type,
            body,
            is_stream,
            messages,
            content: OnceCell::new(),
            last: OnceCell::new(),
        }
    }

    /// A blank line ends an event.
    fn ended(&self) -> impl Iterator<Item = &Message> {
        self.messages.iter().filter(|message| message.is_ended)
    }

    /// WebSocket messages.
    pub(crate) fn messages(&self) -> impl Iterator<Item = &str> {
        self.ended().map(|message| message.text.as_str())
    }

    pub(crate) fn events(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.ended().filter_map(|message| Some((message.text.as_str(), message.event.as_ref()?)))
    }

    /// `None` if one of its events is not JSON.
    pub(crate) fn deltas(&self) -> Option<&Answer> {
        self.ended().all(|message| message.event.is_some()).then(|| self.content())
    }

    /// The response object of its last event, or its body.
    fn response(&self) -> Option<Cow<'_, Value>> {
        if !self.is_stream {
            return serde_json::from_slice(&self.body).ok().map(Cow::Owned);
        }
        // Some clients read an event that no blank line ends, too.
        let mut events = self.messages.iter().filter_map(|message| message.event.as_ref());
        events.find_map(|event| {
            let is_last = self.dialect.terminal.contains(&event.get("type")?.as_str()?);
            event.get("response").filter(|_| is_last).map(Cow::Borrowed)
        })
    }

    /// Content of the last event, or of the body. If no event repeats the response, it is the content of the deltas of
    /// a stream that ends.
    pub(crate) fn last(&self) -> Option<&Answer> {
        let last = self.last.get_or_init(|| {
            let api = self.dialect.api;
            if self.is_stream && api.list.is_empty() {
                return self.is_finished().then(|| self.content().clone());
            }
            self.response().map(|response| Answer::of_body(self.dialect, &response))
        });
        last.as_ref()
    }

    /// Events that are not JSON have no content.
    pub(crate) fn content(&self) -> &Answer {
        self.content.get_or_init(|| {
            let mut reader = AnswerReader::new(self.dialect.api);
            self.events().for_each(|(text, _)| reader.data(self.dialect, text));
            reader.finish()
        })
    }

    /// The response ends with an event, or with all of its containers.
    fn is_finished(&self) -> bool {
        let dialect = self.dialect;
        let (mut opened, mut ended) = (BTreeSet::new(), BTreeSet::new());
        for (text, event) in self.events() {
            let Some(kind) = event_type(dialect, event) else { continue };
            if dialect.terminal.contains(&&*kind) {
                return true;
            }
            let Some(info) = dialect.event(&kind) else { continue };
            let (_, view, matches) = dialect.read_event(&kind, text);
            for (effect, view) in (0..matches.len()).filter_map(|nth| matches.get(nth, info, &view)) {
                let index = match view.count(dialect.api.index).map(|count| count.whole()) {
                    // It is none of any container.
                    Some(None) => continue,
                    index => index.flatten(),
                };
                if dialect.api.with_parents(effect.scope).any(|scope| scope == dialect.api.container) {
                    opened.insert(index);
                }
                if effect.level.is_container && (effect.ends_scope() || effect.completes()) {
                    ended.insert(index);
                }
            }
        }
        dialect.terminal.is_empty() && !opened.is_empty() && opened == ended
    }

    /// A damaged stream can end, too: with an event that ends the response, or a marker.
    pub(crate) fn is_at_end(&self) -> bool {
        let ends = |(_, event): (&str, &Value)| {
            event_type(self.dialect, event).is_some_and(|kind| self.dialect.terminal.contains(&&*kind))
        };
        self.events().any(ends) || self.is_finished() || has_marker(&self.body)
    }

    /// Only schemas count.
    fn is_valid(&self) -> bool {
        self.ended().all(|message| {
            let kind = message.event.as_ref().and_then(|event| event_type(self.dialect, event));
            kind.is_some_and(|kind| self.dialect.check_event(&kind, &message.text).is_valid())
        })
    }

    /// One of its messages ends the response.
    fn says_its_end(&self) -> bool {
        self.events().any(|(_, event)| {
            let kind = event.get("type").and_then(Value::as_str);
            event.get("response").is_some() && kind.is_some_and(|kind| self.dialect.terminal.contains(&kind))
        })
    }

    pub(crate) fn items(&self) -> Vec<String> {
        let response = self.response().unwrap_or_default();
        let items = response.get("output").and_then(Value::as_array).into_iter().flatten();
        items.filter_map(|item| item.get("id")?.as_str().map(str::to_owned)).collect()
    }
}

const EVENT_STREAM: &str = "text/event-stream";

/// The marker at the end of a stream, in place of the data of an event.
const DONE: &str = "[DONE]";

fn has_marker(stream: &[u8]) -> bool {
    let mut is_there = false;
    let _ = read(stream, Some(Format::Sse), &mut |entry| {
        is_there |= matches!(&entry, Entry::Event(frame) if frame.data.as_deref() == Some(DONE));
    });
    is_there
}

/// The marker is no message.
fn messages(stream: &[u8]) -> Vec<Message> {
    let mut messages = Vec::new();
    // An unreadable stream has no events.
    let _ = read(stream, Some(Format::Sse), &mut |entry| {
        if let Entry::Event(frame) = entry
            && let Some(data) = frame.data.filter(|data| data != DONE)
        {
            let event = serde_json::from_str(&data).ok();
            messages.push(Message { text: data.into_owned(), event, is_ended: frame.terminated });
        }
    });
    messages
}

/// Correct contents are the intact stream's, and those in the deltas and in the last event of the edited stream.
pub(crate) fn answers(sound: &Played, edited: &Played) -> Vec<Answer> {
    let Some(first) = sound.last() else { return Vec::new() };
    let mut all = vec![first.clone()];
    let is_repeated = !edited.dialect.api.list.is_empty();
    if let Some(last) = edited.last() {
        let mut last = last.clone();
        if edited.is_stream && !is_repeated {
            // No other event has what an invalid one lacks.
            if !edited.is_valid() {
                last.texts.clone_from(&first.texts);
                last.refusal.clone_from(&first.refusal);
                last.reasoning.clone_from(&first.reasoning);
                last.calls.clone_from(&first.calls);
            }
        } else if edited.is_stream
            && let Some(deltas) = edited.deltas()
        {
            // If these differ, only the intact stream is correct.
            if deltas.text() != last.text() {
                last.texts.clone_from(&first.texts);
            }
            if deltas.refusal != last.refusal {
                last.refusal.clone_from(&first.refusal);
            }
            if deltas.reasoning != last.reasoning {
                last.reasoning.clone_from(&first.reasoning);
            }
            if deltas.calls != last.calls {
                last.calls.clone_from(&first.calls);
            }
            all.push(Answer { id: deltas.id.clone(), ..last.clone() });
        }
        all.push(last);
    }
    all.dedup();
    all
}

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Delivery {
    pub(crate) chunk: Option<usize>,
    pub(crate) pause: Duration,
    pub(crate) end: End,
    pub(crate) end_after: Option<usize>,
}

pub(crate) fn plays(played: &Played, channel: Channel, delivery: &Delivery) -> Plays {
    if channel == Channel::Websocket {
        let messages = played.messages().map(|message| (Duration::ZERO, message.to_owned())).collect();
        return Plays::Socket(SocketScript { messages, is_last: !played.says_its_end() });
    }
    let mut act = Act::new(played.status, &played.content_type, played.body.clone());
    if played.is_stream {
        let wire = Wire { status: 200, content_type: EVENT_STREAM.to_owned(), body: played.body.clone() };
        let mut events = wire.events();
        if delivery.end != End::Whole {
            events.truncate(delivery.end_after.unwrap_or(events.len() / 2));
        }
        act.pieces = Vec::new();
        for event in events {
            for (at, piece) in event.chunks(delivery.chunk.unwrap_or(usize::MAX).max(1)).enumerate() {
                let pause = if at == 0 { delivery.pause } else { Duration::ZERO };
                act.pieces.push((pause, piece.to_vec()));
            }
        }
        act.end = delivery.end;
    }
    Plays::Http(act)
}
