//! A response whose events are being sent.

use serde_json::{Value, json};
use spec::table::Role;
use spec::{Dialect, Slot};
use tokio::time::Instant;

use crate::faults::requested::Faults;
use crate::rendering::wire::Wire;
use crate::serving::gateway::{Made, PlannedRequest};

pub(super) struct Running {
    pub(super) id: String,
    pub(super) planned: PlannedRequest,
    /// All its events, without the lane.
    events: Vec<String>,
    /// Messages to send after its last event.
    pub(super) afterwards: Vec<String>,
    sent: usize,
    fragments: usize,
    /// Number of interleaved events with their own sequence numbers.
    between: u64,
    /// Time until which it waits for the client.
    pub(super) waits: Option<Instant>,
    pub(super) steer: Option<Steer>,
    pub(super) faults: Faults,
}

/// Steering input that was accepted.
#[derive(Debug, Clone)]
pub(super) struct Steer {
    pub(super) id: String,
    pub(super) input: Value,
    /// Results of calls that the client must send first.
    pub(super) required: Vec<Value>,
    /// Whether the response has ended for it, or need not.
    pub(super) is_settled: bool,
}

impl Running {
    pub(super) fn new(made: &Made, faults: Faults) -> Self {
        Self {
            id: made.past.id.clone(),
            planned: made.planned.clone(),
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

    pub(super) fn append(&mut self, events: impl IntoIterator<Item = String>) {
        self.events.extend(events);
    }

    pub(super) fn pop(&mut self) {
        self.events.pop();
    }

    /// Sends its events under the id of another response.
    pub(super) fn take_id(&mut self, other: &str) {
        let (own, other) = (format!("\"{}\"", self.id), format!("\"{other}\""));
        self.events.iter_mut().for_each(|event| *event = event.replace(&own, &other));
    }

    pub(super) fn has_sent_all(&self) -> bool {
        self.sent >= self.events.len()
    }

    pub(super) const fn has_fragments(&self) -> bool {
        self.fragments > 0
    }

    pub(super) const fn sent(&self) -> usize {
        self.sent
    }

    /// One of its events ends a turn.
    pub(super) fn ends(&self, dialect: &Dialect) -> bool {
        self.events.iter().any(|event| kind(event).is_some_and(|kind| is_end(&kind, dialect)))
    }

    pub(super) fn next(&mut self, dialect: &Dialect) -> Option<String> {
        let event = self.events.get(self.sent)?.clone();
        self.sent += 1;
        let role = kind(&event).and_then(|kind| Some(dialect.event(&kind)?.role));
        self.fragments += usize::from(role == Some(Role::Delta));
        Some(if self.between == 0 { event } else { shifted(&event, self.between) })
    }

    pub(super) fn number(&mut self) -> u64 {
        let number = self.sent as u64 + self.between;
        self.between += 1;
        number
    }

    /// False if the sent events are not the start of the other response.
    pub(super) fn turn(&mut self, made: &Made) -> bool {
        let events = events(made);
        let is_same = events.len() > self.sent && events.get(..self.sent) == self.events.get(..self.sent);
        if is_same {
            self.events = events;
        }
        is_same
    }

    /// The response looks as if it had ended after the sent deltas.
    pub(super) fn steered(&self) -> PlannedRequest {
        let mut planned = self.planned.clone();
        planned.plan = planned.plan.steered(self.fragments);
        planned
    }
}

fn events(made: &Made) -> Vec<String> {
    made.stream.iter().flat_map(Wire::events).filter_map(|event| data(&event)).collect()
}

pub(super) fn data(event: &[u8]) -> Option<String> {
    let event = String::from_utf8_lossy(event);
    let data = event.lines().find_map(|line| line.strip_prefix("data: "))?;
    (data != "[DONE]").then(|| data.to_owned())
}

fn is_end(kind: &str, dialect: &Dialect) -> bool {
    kind == "error" || dialect.terminal.contains(&kind)
}

fn kind(event: &str) -> Option<String> {
    spec::json::at(event, "/type").and_then(|kind| serde_json::from_str(kind).ok())
}

fn shifted(event: &str, by: u64) -> String {
    let Ok(mut value) = serde_json::from_str::<Value>(event) else { return event.to_owned() };
    if let Some(number) = value.get_mut(Slot::SequenceNumber.name())
        && let Some(own) = number.as_u64()
    {
        *number = json!(own.saturating_add(by));
    }
    value.to_string()
}
