//! Responses in the form in which they are sent to a client.

use std::collections::BTreeSet;
use std::sync::OnceLock;
use std::time::Duration;

use catalogue::Channel;
use checker::{Answer, AnswerReader};
use gateway::{Act, End, Line, Wire};
use recordings::capture::{Entry, Format, read};
use serde_json::Value;
use spec::Dialect;

use super::event::event_type;

/// The data that a client receives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Plays {
    /// An HTTP response.
    Http(Act),
    /// Messages of a WebSocket.
    Socket(Line),
}

impl Plays {
    /// Returns everything that a client can observe.
    pub(super) fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Http(act) => {
                let mut bytes =
                    format!("{} {:?} {:?} {}", act.status, act.headers, act.end, act.pieces.len())
                        .into_bytes();
                bytes.extend(act.pieces.iter().flat_map(|(_, piece)| piece));
                bytes
            }
            Self::Socket(line) => {
                line.messages.iter().flat_map(|(_, message)| format!("{message}\n").into_bytes()).collect()
            }
        }
    }
}

/// A response that is sent to a client.
#[derive(Debug, Clone)]
pub(super) struct Played {
    status: u16,
    content_type: String,
    body: Vec<u8>,
    pub(super) is_stream: bool,
    data: OnceLock<Vec<(String, bool)>>,
}

impl Played {
    /// Parses a golden: a stream, or a response with its head.
    pub(super) fn read(recording: &[u8]) -> Option<Self> {
        let Some(rest) = recording.strip_prefix(b"HTTP/1.1 ") else {
            let content_type = "text/event-stream".to_owned();
            return Some(Self::new(200, content_type, recording.to_vec(), true));
        };
        let end = rest.windows(4).position(|window| window == b"\r\n\r\n")?;
        let head = String::from_utf8_lossy(rest.get(..end)?).into_owned();
        let status = head.split_whitespace().next()?.parse().ok()?;
        let header = |line: &str| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-type").then(|| value.trim().to_owned())
        };
        let content_type = head.lines().find_map(header).unwrap_or_else(|| "text/event-stream".to_owned());
        let body = rest.get(end + 4..)?.to_vec();
        let is_stream = body.is_empty() || !body.starts_with(b"{") && !body.starts_with(b"<");
        Some(Self::new(status, content_type, body, is_stream))
    }

    pub(super) fn of_wire(wire: &Wire) -> Self {
        Self::new(wire.status, wire.content_type.clone(), wire.body.clone(), wire.is_stream())
    }

    pub(super) const fn new(status: u16, content_type: String, body: Vec<u8>, is_stream: bool) -> Self {
        Self { status, content_type, body, is_stream, data: OnceLock::new() }
    }

    /// Returns the data of its events except `[DONE]`, each with whether a blank line ends it.
    fn data(&self) -> &[(String, bool)] {
        self.data.get_or_init(|| {
            let mut all = Vec::new();
            // An unreadable stream has no events.
            let _ = read(&self.body, Some(Format::Sse), &mut |entry| {
                if let Entry::Event(frame) = entry
                    && let Some(data) = frame.data.filter(|data| data != "[DONE]")
                {
                    all.push((data.into_owned(), frame.terminated));
                }
            });
            all
        })
    }

    /// Returns the events of a stream; `None` if one of them is not JSON.
    pub(super) fn events(&self) -> Option<Vec<Value>> {
        self.messages().map(|data| serde_json::from_str(data).ok()).collect()
    }

    /// Returns the content of its deltas; `None` if one of its events is not JSON.
    pub(super) fn deltas(&self, dialect: &Dialect) -> Option<Answer> {
        self.messages().all(is_json).then(|| self.content(dialect))
    }

    /// Returns the WebSocket messages of these events.
    pub(super) fn messages(&self) -> impl Iterator<Item = &str> {
        self.data().iter().filter(|(_, is_ended)| *is_ended).map(|(data, _)| data.as_str())
    }

    /// Returns the response object of its last event, or its body.
    fn response(&self, dialect: &Dialect) -> Option<Value> {
        if !self.is_stream {
            return serde_json::from_slice(&self.body).ok();
        }
        // Some clients read an event that no blank line ends, too.
        self.data().iter().find_map(|(data, _)| {
            let mut event = serde_json::from_str::<Value>(data).ok()?;
            let is_last = dialect.terminal.contains(&event.get("type")?.as_str()?);
            event.get_mut("response").filter(|_| is_last).map(Value::take)
        })
    }

    /// Returns the content of its last event, or of its body. Where no event repeats the response, that of a stream that
    /// ends the response.
    pub(super) fn last(&self, dialect: &Dialect) -> Option<Answer> {
        if self.is_stream && dialect.api.list.is_empty() {
            return self.is_finished(dialect).then(|| self.content(dialect));
        }
        self.response(dialect).map(|response| Answer::of_response(dialect.api, &response))
    }

    /// Returns the content of its events that are JSON.
    fn content(&self, dialect: &Dialect) -> Answer {
        let mut reader = AnswerReader::new(dialect.api);
        for data in self.messages().filter(|data| is_json(data)) {
            reader.data(dialect, data);
        }
        reader.finish()
    }

    /// Returns whether the response ends: with an event, or with all of its containers.
    fn is_finished(&self, dialect: &Dialect) -> bool {
        let (mut opened, mut ended) = (BTreeSet::new(), BTreeSet::new());
        for data in self.messages() {
            let Ok(event) = serde_json::from_str::<Value>(data) else { continue };
            let Some(kind) = event_type(dialect, &event) else { continue };
            if dialect.terminal.contains(&&*kind) {
                return true;
            }
            let Some(info) = dialect.event(&kind) else { continue };
            let (_, view, matches) = dialect.read_event(&kind, data);
            for (effect, view) in (0..matches.len()).filter_map(|nth| matches.get(nth, info, &view)) {
                let index = view.count(dialect.api.index).and_then(|count| count.whole());
                if dialect.api.with_parents(effect.scope).any(|scope| scope == dialect.api.container) {
                    opened.insert(index);
                }
                if effect.level.is_container && effect.ends_scope() {
                    ended.insert(index);
                }
            }
        }
        dialect.terminal.is_empty() && !opened.is_empty() && opened == ended
    }

    /// Returns whether all of its events match their schemas.
    fn is_valid(&self, dialect: &Dialect) -> bool {
        let is_valid = |event: &Value, data: &str| {
            event_type(dialect, event).is_some_and(|kind| dialect.check_event(&kind, data).is_valid())
        };
        self.messages().all(|data| serde_json::from_str(data).is_ok_and(|event| is_valid(&event, data)))
    }

    /// Returns whether one of its messages ends the response.
    fn says_its_end(&self, dialect: &Dialect) -> bool {
        self.messages().any(|data| {
            let event: Value = serde_json::from_str(data).unwrap_or_default();
            let kind = event.get("type").and_then(Value::as_str);
            event.get("response").is_some() && kind.is_some_and(|kind| dialect.terminal.contains(&kind))
        })
    }

    /// Returns the ids of the items of its last event, or of its body.
    pub(super) fn items(&self, dialect: &Dialect) -> Vec<String> {
        let response = self.response(dialect).unwrap_or_default();
        let items = response.get("output").and_then(Value::as_array).into_iter().flatten();
        items.filter_map(|item| item.get("id")?.as_str().map(str::to_owned)).collect()
    }
}

/// Returns whether a message can be read: half of a character is JSON, but no text.
fn is_json(data: &str) -> bool {
    serde_json::from_str::<Value>(data).is_ok()
}

/// Returns the correct contents of an edited stream: those of the intact stream, and those of the deltas and of the
/// last event of the edited one.
pub(super) fn answers(sound: &Played, edited: &Played, dialect: &Dialect) -> Vec<Answer> {
    let Some(first) = sound.last(dialect) else { return Vec::new() };
    let mut all = vec![first.clone()];
    let is_repeated = !dialect.api.list.is_empty();
    if let Some(mut last) = edited.last(dialect) {
        if edited.is_stream && !is_repeated {
            // No other event has what an invalid one lacks.
            if !edited.is_valid(dialect) {
                last.texts.clone_from(&first.texts);
                last.refusal.clone_from(&first.refusal);
                last.reasoning.clone_from(&first.reasoning);
                last.calls.clone_from(&first.calls);
            }
        } else if edited.is_stream
            && let Some(deltas) = edited.deltas(dialect)
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
            all.push(Answer { id: deltas.id, ..last.clone() });
        }
        all.push(last);
    }
    all.dedup();
    all
}

/// The transport and timing of a case.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Delivery {
    pub(super) chunk: Option<usize>,
    pub(super) pause: Duration,
    pub(super) end: End,
    pub(super) end_after: Option<usize>,
}

pub(super) fn plays(played: &Played, channel: Channel, delivery: &Delivery, dialect: &Dialect) -> Plays {
    if channel == Channel::Websocket {
        let messages = played.messages().map(|message| (Duration::ZERO, message.to_owned())).collect();
        return Plays::Socket(Line { messages, is_last: !played.says_its_end(dialect) });
    }
    let mut act = Act::new(played.status, &played.content_type, played.body.clone());
    if played.is_stream {
        let wire =
            Wire { status: 200, content_type: "text/event-stream".to_owned(), body: played.body.clone() };
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
