//! A response whose events are being sent.

use serde_json::{Value, json};
use spec::Dialect;
use spec::table::Role;
use tokio::time::Instant;

use crate::Wire;
use crate::faults::Faults;
use crate::server::{Asked, Made};

/// A response whose events are being sent.
pub(super) struct Running {
    /// Its id.
    pub(super) id: String,
    /// What it answers.
    pub(super) asked: Asked,
    /// All its events, without the lane.
    events: Vec<String>,
    /// What is said at once when all of them were sent.
    pub(super) afterwards: Vec<String>,
    /// So many of them were sent.
    sent: usize,
    /// So many of those were fragments.
    fragments: usize,
    /// So many events about it came in between, each with a number of its own.
    between: u64,
    /// The client is listened to until then.
    pub(super) waits: Option<Instant>,
    /// What the client has steered it with.
    pub(super) steer: Option<Steer>,
    /// What is broken in it.
    pub(super) faults: Faults,
}

/// Steering input that was accepted.
#[derive(Debug, Clone)]
pub(super) struct Steer {
    /// Its id.
    pub(super) id: String,
    /// What the client has said.
    pub(super) input: Value,
    /// Results of calls that the client has to send before it is taken up.
    pub(super) required: Vec<Value>,
    /// The response was cut short for it, or need not be.
    pub(super) is_settled: bool,
}

impl Running {
    pub(super) fn new(made: &Made, faults: Faults) -> Self {
        Self {
            id: made.turn.id.clone(),
            asked: made.asked.clone(),
            events: events(made),
            afterwards: Vec::new(),
            sent: 0,
            fragments: 0,
            between: 0,
            waits: None,
            steer: None,
            faults,
        }
    }

    /// Appends messages that belong to no plan.
    pub(super) fn append(&mut self, events: impl IntoIterator<Item = String>) {
        self.events.extend(events);
    }

    /// Leaves out the last event.
    pub(super) fn pop(&mut self) {
        self.events.pop();
    }

    pub(super) fn has_sent_all(&self) -> bool {
        self.sent >= self.events.len()
    }

    /// Whether a fragment was sent.
    pub(super) const fn has_fragments(&self) -> bool {
        self.fragments > 0
    }

    /// How many events were sent.
    pub(super) const fn sent(&self) -> usize {
        self.sent
    }

    /// Whether one of its events ends a turn.
    pub(super) fn ends(&self, dialect: &Dialect) -> bool {
        self.events.iter().any(|event| kind(event).is_some_and(|kind| is_end(&kind, dialect)))
    }

    /// The next event.
    pub(super) fn next(&mut self, dialect: &Dialect) -> Option<String> {
        let event = self.events.get(self.sent)?.clone();
        self.sent += 1;
        let role = kind(&event).and_then(|kind| Some(dialect.event(&kind)?.role));
        self.fragments += usize::from(role == Some(Role::Delta));
        Some(if self.between == 0 { event } else { shifted(&event, self.between) })
    }

    /// The sequence number of an event about it that comes now.
    pub(super) fn number(&mut self) -> u64 {
        let number = self.sent as u64 + self.between;
        self.between += 1;
        number
    }

    /// Goes on as that, if what was sent is the beginning of it.
    pub(super) fn turn(&mut self, made: &Made) -> bool {
        let events = events(made);
        let is_same = events.len() > self.sent && events.get(..self.sent) == self.events.get(..self.sent);
        if is_same {
            self.events = events;
        }
        is_same
    }

    /// What it would be if it had ended after the fragments that were sent.
    pub(super) fn stopped(&self, reason: &'static str) -> Asked {
        let mut asked = self.asked.clone();
        asked.plan = asked.plan.stopped(self.fragments, reason);
        asked
    }
}

/// The events of an answer.
fn events(made: &Made) -> Vec<String> {
    made.stream.iter().flat_map(Wire::events).filter_map(|event| data(&event)).collect()
}

/// The data of an event, as the message that it is on a WebSocket.
pub(super) fn data(event: &[u8]) -> Option<String> {
    let event = String::from_utf8_lossy(event);
    let data = event.lines().find_map(|line| line.strip_prefix("data: "))?;
    (data != "[DONE]").then(|| data.to_owned())
}

/// Whether no more comes in a turn after an event.
fn is_end(kind: &str, dialect: &Dialect) -> bool {
    kind == "error" || dialect.terminal.contains(&kind)
}

fn kind(event: &str) -> Option<String> {
    spec::json::at(event, "/type").and_then(|kind| serde_json::from_str(kind).ok())
}

/// An event with a sequence number that is greater by so much.
fn shifted(event: &str, by: u64) -> String {
    let Ok(mut value) = serde_json::from_str::<Value>(event) else { return event.to_owned() };
    if let Some(number) = value.get("sequence_number").and_then(Value::as_u64) {
        value["sequence_number"] = json!(number.saturating_add(by));
    }
    value.to_string()
}
