//! Clients that fetch their cases over HTTP, such as browsers and phones, which the suite cannot start.

use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use gateway::{Act, Received};
use harness::lock;
use serde_json::{Value, json};

use super::child::Ended;
use crate::protocol::CaseMessage;

/// Grace period after the timeout of a case.
const GRACE: Duration = Duration::from_secs(5);

/// Time for a client to learn that no case is left.
const FAREWELL: Duration = Duration::from_millis(500);

pub(crate) struct CaseDesk {
    messages: OnceLock<Vec<(CaseMessage, Duration)>>,
    origins: Vec<String>,
    state: Mutex<DeskState>,
}

struct DeskState {
    next: usize,
    given: BTreeMap<usize, Instant>,
    ended: BTreeMap<usize, (Ended, Duration)>,
    last: Instant,
}

impl CaseDesk {
    pub(crate) fn new(origins: Vec<String>) -> Self {
        let state =
            DeskState { next: 0, given: BTreeMap::new(), ended: BTreeMap::new(), last: Instant::now() };
        Self { messages: OnceLock::new(), origins, state: Mutex::new(state) }
    }

    pub(crate) fn open(&self, messages: Vec<(CaseMessage, Duration)>) {
        // Later calls have no effect.
        let _ = self.messages.set(messages);
    }

    fn messages(&self) -> &[(CaseMessage, Duration)] {
        self.messages.get().map(Vec::as_slice).unwrap_or_default()
    }

    pub(crate) fn count(&self) -> usize {
        lock(&self.state).ended.len()
    }

    pub(crate) fn origins(&self) -> &[String] {
        &self.origins
    }

    /// A run is over, too, if no client has sent a request for that long.
    pub(crate) fn is_over(&self, patience: Duration) -> bool {
        let mut state = lock(&self.state);
        let late: Vec<usize> = state
            .given
            .iter()
            .filter(|(at, since)| {
                self.messages().get(**at).is_none_or(|(_, limit)| since.elapsed() > *limit + GRACE)
            })
            .map(|(at, _)| *at)
            .collect();
        for at in late {
            if let Some(since) = state.given.remove(&at) {
                state.ended.insert(at, (Ended::Hung, since.elapsed()));
            }
        }
        let rest = if state.ended.len() == self.messages().len() { FAREWELL } else { patience };
        state.last.elapsed() > rest
    }

    pub(crate) fn take(&self, at: usize) -> Option<(Ended, Duration)> {
        lock(&self.state).ended.remove(&at)
    }

    /// `None` for other requests than those for a case or with a reply.
    pub(crate) fn answer(&self, request: &Received) -> Option<Act> {
        match (&*request.method, &*request.path) {
            ("GET", "/") => Some(Act::new(200, "text/plain; charset=utf-8", HELP)),
            ("POST", "/next") => Some(self.next()),
            ("POST", "/result") => Some(self.result(&request.body)),
            _ => None,
        }
    }

    fn next(&self) -> Act {
        let mut state = lock(&self.state);
        state.last = Instant::now();
        let at = state.next;
        let Some((message, _)) = self.messages().get(at) else {
            return Act { status: 204, ..Act::default() };
        };
        state.next += 1;
        state.given.insert(at, Instant::now());
        Act::new(200, "application/json", serde_json::to_string(message).unwrap_or_default())
    }

    fn result(&self, body: &[u8]) -> Act {
        let refuse =
            |message: String| Act::new(400, "application/json", json!({"error": message}).to_string());
        let value: Value = match serde_json::from_slice(body) {
            Ok(value) => value,
            Err(error) => return refuse(format!("the reply is not JSON: {error}")),
        };
        let name = value.get("case").and_then(Value::as_str).unwrap_or_default();
        let Some(at) = self.messages().iter().position(|(message, _)| message.case == name) else {
            return refuse("unknown case".to_owned());
        };
        let mut state = lock(&self.state);
        state.last = Instant::now();
        let Some(since) = state.given.remove(&at) else {
            return refuse(
                "this case is not in progress: it was not fetched, has a reply, or timed out".to_owned(),
            );
        };
        state.ended.insert(at, (Ended::of(value), since.elapsed()));
        Act { status: 204, ..Act::default() }
    }
}

const HELP: &str = "\
This server tests clients that cannot be started from a command line.

POST /next    returns a case as JSON, or 204 if no case is left
POST /result  receives the reply as JSON: {\"case\": NAME, \"status\": \"ok\" | \"error\" | \"unsupported\", \"text\": ...}
";
