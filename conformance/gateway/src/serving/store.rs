//! Stored responses.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use spec::{Api, Slot};
use translation::pen::aside;

use super::context::entries;
use crate::content::problem::Problem;
use crate::content::text;
use crate::rendering::events::events;

/// Maximum number of stored responses, and of bytes that they take; the oldest are dropped first.
const MAX_RESPONSES: usize = 10_000;
const BYTES: usize = 256 << 20;

#[derive(Debug, Clone)]
pub(super) struct Stored {
    pub(super) request: Value,
    stream: Vec<u8>,
    /// The queued, the running and the final response.
    snapshots: [Value; 3],
    context: Vec<Value>,
    /// Approximate number of bytes that all of this takes.
    size: usize,
    looks: usize,
    is_cancelled: bool,
}

impl Stored {
    pub(super) fn new(request: Value, stream: Vec<u8>, snapshots: [Value; 3], context: Vec<Value>) -> Self {
        let values = [&request].into_iter().chain(&snapshots).chain(&context);
        let size = stream.len() + values.map(size).sum::<usize>();
        Self { request, stream, snapshots, context, size, looks: 0, is_cancelled: false }
    }

    /// All of it, or the part after the event with this number.
    pub(super) fn stream(&self, starting_after: Option<u64>) -> Vec<u8> {
        starting_after.map_or(&*self.stream, |number| rest(&self.stream, number)).to_vec()
    }

    fn is_background(&self) -> bool {
        self.request.get("background") == Some(&Value::Bool(true))
    }

    /// A background response proceeds with every retrieval.
    pub(super) fn look(&mut self) -> Value {
        let [queued, in_progress, ended] = &self.snapshots;
        if self.is_cancelled {
            let mut cancelled = in_progress.clone();
            cancelled["status"] = json!("cancelled");
            return cancelled;
        }
        let seen = match self.looks {
            0 if self.is_background() => queued,
            1 if self.is_background() => in_progress,
            _ => ended,
        };
        self.looks += 1;
        seen.clone()
    }

    pub(super) fn cancel(&mut self) -> Result<Value, Problem> {
        if !self.is_background() {
            let message = "Only background responses can be cancelled.";
            return Err(Problem::invalid("invalid_value", message, None));
        }
        self.is_cancelled |= self.looks < 3;
        Ok(self.look())
    }

    pub(super) fn input(&self, api: &Api) -> Value {
        let input = entries(&self.request);
        let items: Vec<Value> = input.iter().enumerate().map(|(at, entry)| item(api, entry, at)).collect();
        let id = |item: Option<&Value>| json!(item.and_then(|item| text(item, "id")).unwrap_or_default());
        aside(
            api,
            "items",
            &[("first", id(items.first())), ("last", id(items.last())), ("items", json!(items))],
        )
    }
}

pub(super) fn item(api: &Api, entry: &Value, at: usize) -> Value {
    if text(entry, "type").unwrap_or("message") != "message" {
        let mut item = entry.clone();
        if item.get("id").is_none() {
            item["id"] = json!(format!("item_{}", at + 1));
        }
        return item;
    }
    let role = text(entry, "role").unwrap_or("user");
    let content = match entry.get("content") {
        Some(Value::String(text)) => {
            let said = [("text", json!(text)), ("is_answer", json!(role == "assistant"))];
            json!([aside(api, "text", &said)])
        }
        content => content.cloned().unwrap_or_else(|| json!([])),
    };
    aside(api, "message", &[("number", json!(at + 1)), ("role", json!(role)), ("content", content)])
}

#[derive(Debug)]
pub(super) struct Store {
    made: u64,
    /// Number of bytes of responses, and its maximum.
    bytes: usize,
    room: usize,
    order: BTreeMap<u64, String>,
    responses: BTreeMap<String, Stored>,
}

impl Default for Store {
    fn default() -> Self {
        Self { made: 0, bytes: 0, room: BYTES, order: BTreeMap::new(), responses: BTreeMap::new() }
    }
}

impl Store {
    pub(super) fn next(&mut self) -> u64 {
        self.made += 1;
        self.made
    }

    pub(super) fn keep(&mut self, number: u64, id: String, stored: Stored) {
        self.forget(&id);
        self.bytes += stored.size;
        self.order.insert(number, id.clone());
        self.responses.insert(id, stored);
        while self.order.len() > MAX_RESPONSES || (self.bytes > self.room && self.order.len() > 1) {
            let Some((_, oldest)) = self.order.pop_first() else { break };
            self.forget(&oldest);
        }
    }

    fn forget(&mut self, id: &str) {
        let forgotten = self.responses.remove(id);
        self.bytes -= forgotten.map_or(0, |stored| stored.size);
    }

    pub(super) fn get(&mut self, id: &str) -> Result<&mut Stored, Problem> {
        self.responses.get_mut(id).ok_or_else(|| {
            Problem::not_found(
                "response_not_found",
                format!("There is no response {id:?}, or none was stored."),
                None,
            )
        })
    }

    pub(super) fn remove(&mut self, api: &Api, id: &str) -> Result<Value, Problem> {
        self.get(id)?;
        self.forget(id);
        self.order.retain(|_, kept| kept != id);
        Ok(aside(api, "deleted", &[("id", json!(id))]))
    }

    pub(super) fn continued(&mut self, id: &str) -> Result<Vec<Value>, Problem> {
        self.get(id).map(|stored| stored.context.clone()).map_err(|_| unknown_previous(id))
    }
}

fn size(value: &Value) -> usize {
    let below = match value {
        Value::String(text) => text.len(),
        Value::Array(values) => values.iter().map(size).sum(),
        Value::Object(members) => members.iter().map(|(name, value)| name.len() + size(value)).sum(),
        _ => 0,
    };
    size_of::<Value>() + below
}

pub(super) fn unknown_previous(id: &str) -> Problem {
    let message = format!("There is no previous response {id:?}, or it was not stored.");
    Problem::not_found("previous_response_not_found", message, Some("previous_response_id"))
}

/// An event without a number has the next one.
fn rest(stream: &[u8], number: u64) -> &[u8] {
    let (mut sent, mut next) = (0, 0);
    for event in events(stream) {
        let own = sequence_number(event).unwrap_or(next);
        if own > number {
            break;
        }
        (sent, next) = (sent + event.len(), own.saturating_add(1));
    }
    stream.get(sent..).unwrap_or_default()
}

fn sequence_number(event: &[u8]) -> Option<u64> {
    let data = std::str::from_utf8(event).ok()?.lines().find_map(|line| line.strip_prefix("data: "))?;
    spec::json::at(data, &format!("/{}", Slot::SequenceNumber.name()))?.parse().ok()
}

#[cfg(test)]
mod tests {
    use spec::table::Operation;

    use super::*;

    #[test]
    fn the_oldest_are_forgotten_when_there_is_no_more_room() {
        let mut store = Store { room: 10_900, ..Store::default() };
        let mut keep = |number: u64, bytes: usize| {
            let stored = Stored::new(Value::Null, vec![b' '; 1000 * bytes], Default::default(), Vec::new());
            store.keep(number, number.to_string(), stored);
            store.responses.keys().cloned().collect::<String>()
        };
        assert_eq!([keep(1, 4), keep(2, 6), keep(3, 1), keep(4, 3)], ["1", "12", "23", "234"]);
        // The last response can always be continued.
        assert_eq!([keep(5, 100), keep(6, 10)], ["5", "6"]);
        assert!(store.remove(spec::openai::DIALECT.api, "6").is_ok() && store.bytes == 0);
    }

    #[test]
    fn a_stream_goes_on_after_a_number() {
        let stream =
            b"data: {\"sequence_number\":0}\n\ndata: {}\n\ndata: {\"sequence_number\":4}\n\ndata: [DONE]\n\n";
        let rest_after = |number| String::from_utf8_lossy(rest(stream, number)).into_owned();
        assert!(rest_after(0).starts_with("data: {}\n\n"));
        assert!(rest_after(1).starts_with("data: {\"sequence_number\":4}") && rest_after(1) == rest_after(3));
        assert_eq!((rest_after(4), rest_after(5)), ("data: [DONE]\n\n".to_owned(), String::new()));
    }

    #[test]
    fn an_api_that_stores_responses_has_the_bodies_on_its_page() {
        let stores = |api: &&&Api| api.route(Operation::Retrieve).is_some();
        for api in spec::APIS.iter().filter(stores) {
            for name in ["items", "message", "text", "deleted", "compaction", "compacted"] {
                assert!(aside(api, name, &[]).is_object(), "{} {name}", api.name);
            }
        }
    }
}
