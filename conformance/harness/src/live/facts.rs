//! Facts of a recorded exchange, from which trials are judged.

use std::collections::{BTreeMap, BTreeSet};

use catalogue::Scenario;
use serde_json::Value;
use spec::table::{Operation, Role, Scope};
use spec::{Dialect, Slot};

use super::batch::answered;
use super::crowd::marks;
use checker::{Observer, Payload, Record, Seen};
use recordings::capture::{Entry, Loss, Transport};
use results::text::{cut, visible};

/// Facts of a recorded exchange.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Facts {
    /// The URL of the request.
    pub url: String,
    /// The body of the request.
    pub request: Option<Value>,
    /// The status of the response, if any.
    pub status: Option<u16>,
    /// Whether its content type is that of a stream.
    pub is_stream: bool,
    /// The id of the response.
    pub response_id: Option<String>,
    /// The response of the last event with a snapshot, or the JSON body.
    pub response: Option<Value>,
    /// The beginning of the body, if it is not JSON.
    pub beginning: String,
    /// Number of events by type.
    pub events: BTreeMap<String, u64>,
    /// Non-empty members of events, as `<type> /<member>`.
    pub members: BTreeSet<String>,
    /// First and last sequence number.
    pub numbers: Option<(u64, u64)>,
    /// The text.
    pub text: String,
    /// The mark of the request.
    pub asked_mark: Option<usize>,
    /// Marks in the response.
    pub marks: BTreeSet<usize>,
    /// Ids of the response and of its items.
    pub ids: BTreeSet<String>,
    /// Times of events in microseconds since the request.
    pub times_us: Vec<u32>,
    /// Why the response is incomplete.
    pub lost: Option<Loss<'static>>,
    /// Number of answered turns on a WebSocket; all other facts refer to the last one.
    pub turns: usize,
    /// Its lanes.
    pub(super) lanes: Lanes,
}

/// The lanes of a WebSocket.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Lanes {
    /// The lane of the last request.
    last: Option<String>,
    /// Lanes with a running response.
    open: BTreeSet<Option<String>>,
    /// Number of unanswered requests.
    unanswered: usize,
    /// The last steering or injection after the last request.
    aside: Option<Operation>,
    is_aside_answered: bool,
}

/// Maximum length of an error message.
const MAX_MESSAGE: usize = 240;
/// Maximum length of an error code.
const MAX_CODE: usize = 60;
/// Maximum size of the text.
const MAX_TEXT_BYTES: usize = 1 << 20;
/// Maximum number of marks and ids.
const MAX_NAMES: usize = 1000;
/// Maximum number of times.
const MAX_TIMES: usize = 1 << 18;
/// Status of a WebSocket handshake.
pub(super) const SWITCHED: u16 = 101;

impl Facts {
    /// Returns whether there was no connection, or no response within a limit of time.
    pub(super) fn is_silent(&self) -> bool {
        self.status.is_none() && matches!(self.lost, Some(Loss::Unconnected(_) | Loss::Silent(_)))
    }

    /// Returns what the endpoint says about a failure: the message and code of its error, or the beginning of its body.
    /// The text is in one line, and escaped.
    pub(super) fn words(&self) -> Option<String> {
        let Some(response) = &self.response else {
            return Some(&self.beginning).filter(|text| !text.is_empty()).map(|text| quoted(text));
        };
        let error = response.get("error").filter(|error| !error.is_null()).unwrap_or(response);
        let member = |name: &str| error.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
        let message = error.as_str().or(member("message")).or(member("detail"));
        let code = member("code").or(member("type")).map(|code| visible(&cut(code, MAX_CODE)));
        let message = message.map(quoted);
        match (message, code) {
            (Some(message), Some(code)) => Some(format!("{message} ({code})")),
            (Some(message), None) => Some(message),
            (None, _) if response.as_object().is_some_and(serde_json::Map::is_empty) => None,
            (None, _) => Some(quoted(&response.to_string())).filter(|_| response.get("object").is_none()),
        }
    }

    /// Returns the code or type of the error, and its message, in lower case.
    pub(super) fn error(&self) -> (String, String) {
        let error = self.response.as_ref().map(|body| body.get("error").unwrap_or(body));
        let member = |name: &str| error.and_then(|error| error.get(name)?.as_str());
        let message = error.and_then(Value::as_str).or(member("message")).or(member("detail"));
        let codes = [member("code"), member("type")].into_iter().flatten();
        (codes.collect::<Vec<_>>().join(" ").to_lowercase(), message.unwrap_or_default().to_lowercase())
    }

    /// Adds the next entry of the recording; events are observed.
    pub(super) fn add(&mut self, entry: &Entry<'_>, dialect: &Dialect) {
        match entry {
            Entry::Exchange(exchange) => {
                self.status = exchange.status;
                self.is_stream = exchange.is_stream();
                let url = exchange.request.as_ref().map(|request| request.url.clone().into_owned());
                self.url = url.unwrap_or_default();
                let body = exchange.request.as_ref().and_then(|request| request.body.as_deref());
                self.request = body.and_then(|body| serde_json::from_str(body).ok());
                self.asked_mark = body.and_then(|body| marks(body).next());
            }
            Entry::Event(_) => {}
            Entry::Body(frame) => {
                self.response = frame.data.as_deref().and_then(|body| serde_json::from_str(body).ok());
                let response = self.response.as_ref();
                self.response_id = response.and_then(|body| Some(body.get("id")?.as_str()?.to_owned()));
                self.text = response.map(output_text).unwrap_or_default();
                if response.is_none() {
                    self.beginning = beginning(frame.source);
                }
            }
            Entry::Lost(loss) => self.lost = Some(loss.clone().into_owned()),
            Entry::Sent(frame) => {
                let data = frame.data.as_deref().unwrap_or_default();
                self.lanes.ask(data, dialect);
                self.request = serde_json::from_str(data).ok();
                self.asked_mark = self.asked_mark.or_else(|| marks(frame.data.as_deref()?).next());
            }
        }
    }

    fn event(&mut self, record: &Record<'_>, dialect: &Dialect) {
        // Without a type in the data, the `event:` field has it.
        let line = record.frame.event.as_deref();
        let kind = record.event_type.as_deref().or(line).unwrap_or_default();
        let is_opening = dialect.opening == Some(kind);
        let mut response = None;
        if record.payload == Payload::Object {
            let mut member = String::new();
            spec::json::each_member(record.data(), |name, value| {
                let name = name.decoded();
                if name == "response" {
                    response = Some(value);
                }
                member.clear();
                member.extend([kind, " /", &name]);
                // Most types are known already.
                if !matches!(value, "null" | "[]" | "{}" | "\"\"") && !self.members.contains(&member) {
                    self.members.insert(member.clone());
                }
            });
        }
        if let Some(number) = record.sequence_number.as_ref().and_then(spec::Count::whole) {
            self.numbers = Some((self.numbers.map_or(number, |(first, _)| first), number));
        }
        if kind == "response.output_text.delta" && self.text.len() < MAX_TEXT_BYTES {
            self.text += &record.view.raw(Slot::Value).and_then(spec::json::string).unwrap_or_default();
        }
        if let Some(response) = response {
            self.response = serde_json::from_str(response).ok();
            let id = self.response.as_ref().and_then(|response| response.get("id")?.as_str());
            self.response_id = id.map(str::to_owned).or(self.response_id.take());
        } else if is_opening {
            // The event may be the response itself.
            self.response_id = text(record.data(), "/id").or(self.response_id.take());
        }
        self.marks.extend(marks(record.data()).take(MAX_NAMES.saturating_sub(self.marks.len())));
        if let Some(item) = opened_item(record)
            && self.ids.len() < MAX_NAMES
        {
            self.ids.extend(text(record.data(), &format!("{item}/id")));
        } else if is_opening {
            self.ids.extend(self.response_id.clone());
        }
        match self.events.get_mut(kind) {
            Some(count) => *count += 1,
            None => drop(self.events.insert(kind.to_owned(), 1)),
        }
    }

    /// Returns the output of the response.
    pub fn output(&self) -> Vec<Value> {
        let output = self.response.as_ref().and_then(|response| response.get("output")?.as_array());
        output.cloned().unwrap_or_default()
    }

    /// Returns a message may begin the answer to another turn, with the status that HTTP would have. Returns
    /// whether it is about the last request.
    fn message(&mut self, data: &str, lane: Option<&str>, dialect: &Dialect) -> bool {
        let kind = text(data, "/type").unwrap_or_default();
        let lane = lane.map(str::to_owned);
        let lanes = &mut self.lanes;
        let begins = dialect.opening == Some(&*kind);
        let is_refused = kind == dialect.error && !lanes.open.contains(&lane);
        let is_of_last = lane == lanes.last;
        if let Some((operation, _)) = answered(&kind, dialect) {
            if lanes.aside == Some(operation) && !std::mem::replace(&mut lanes.is_aside_answered, true) {
                self.turns += 1;
            }
            if lanes.open.is_empty() {
                self.status = Some(200);
            }
            return true;
        }
        if begins || is_refused {
            let is_refused_aside = is_refused && !std::mem::replace(&mut lanes.is_aside_answered, is_refused);
            let is_of_request = lanes.unanswered > 0 || lanes.aside.is_none();
            self.turns += usize::from(is_of_request || is_refused_aside);
            lanes.unanswered = lanes.unanswered.saturating_sub(1);
        }
        if (begins || is_refused) && is_of_last && lanes.aside.is_none() {
            self.events.clear();
            self.members.clear();
            self.text.clear();
            (self.response, self.response_id, self.numbers) = (None, None, None);
        }
        if (begins || is_refused) && is_of_last {
            let status = || spec::json::at(data, "/status").and_then(|status| status.parse().ok());
            self.status = if is_refused { status().or(Some(SWITCHED)) } else { Some(200) };
        }
        if begins && self.lanes.open.len() < MAX_NAMES {
            self.lanes.open.insert(lane);
        } else if dialect.terminal.contains(&&*kind) {
            self.lanes.open.remove(&lane);
        }
        is_of_last
    }

    /// Returns the expected event that is missing.
    pub fn missing(&self, scenario: &Scenario, dialect: &Dialect) -> Vec<String> {
        let mut wanted: BTreeMap<&'static str, u64> = BTreeMap::new();
        for events in scenario.elicits {
            *wanted.entry(events).or_default() += 1;
        }
        let known = |events: &'static str| events.split('|').filter(|event| dialect.event(event).is_some());
        let came = |events| known(events).filter_map(|event| self.events.get(event)).sum::<u64>();
        let short = wanted.into_iter().filter(|&(events, count)| came(events) < count);
        let told = short.map(|(events, count)| {
            // Events outside the dialect do not count.
            let events = known(events).collect::<Vec<_>>().join(" or ");
            if count == 1 { events } else { format!("{events} ({count} times)") }
        });
        told.collect()
    }

    /// Returns what is missing in a JSON response: the status of its stream, or the expected text and calls.
    pub fn missing_as_a_whole(&self, scenario: &Scenario) -> Vec<String> {
        let is_elicited = |event: &str| scenario.elicits.contains(&event);
        let output = self.output();
        let has = |kind: &str| output.iter().any(|item| item.get("type").is_some_and(|it| it == kind));
        let status = self.response.as_ref().and_then(|response| response.get("status")?.as_str());
        let mut missing = Vec::new();
        for ending in ["completed", "incomplete"] {
            if is_elicited(&format!("response.{ending}")) && status != Some(ending) {
                missing.push(format!("status {ending}"));
            }
        }
        if is_elicited("response.output_text.delta") && self.text.is_empty() {
            missing.push("text".to_owned());
        }
        if is_elicited("response.function_call_arguments.done") && !has("function_call") {
            missing.push("function_call".to_owned());
        }
        missing
    }

    /// Returns how the response ended: with its last event or its status, the tokens if they were limited, and what it
    /// says about a failure.
    pub(super) fn ending(&self, dialect: &Dialect) -> String {
        let member = |name: &str| self.response.as_ref().and_then(|response| response.get(name));
        let last = dialect.terminal.iter().find(|kind| self.events.contains_key(**kind));
        let status = member("status").and_then(Value::as_str);
        let mut text = match (last, status) {
            (Some(last), _) => format!("it ended with {last}"),
            (None, _) if self.is_stream => "it ended without a terminal event".to_owned(),
            (None, Some(status)) => format!("its status is {}", visible(&cut(status, MAX_CODE))),
            (None, None) => "it has no status".to_owned(),
        };
        if let (Some(used), Some(limit)) = (self.output_tokens(), self.limit()) {
            text += &format!(", output_tokens {used} of {limit}");
        }
        if status == Some("failed") {
            text.extend(self.words().map(|words| format!(", {words}")));
        }
        text
    }

    /// Returns whether the tokens reached their limit in a response that is completed.
    pub(super) fn is_cut_but_completed(&self) -> bool {
        let status = self.response.as_ref().and_then(|response| response.get("status")?.as_str());
        let reached = self.output_tokens().zip(self.limit()).is_some_and(|(used, limit)| used >= limit);
        status == Some("completed") && reached
    }

    fn output_tokens(&self) -> Option<u64> {
        self.response.as_ref()?.pointer("/usage/output_tokens")?.as_u64()
    }

    /// Returns the limit of tokens that was requested.
    fn limit(&self) -> Option<u64> {
        self.request.as_ref()?.get("max_output_tokens")?.as_u64()
    }

    /// Returns an event that must not occur.
    pub fn unwanted(&self, scenario: &Scenario) -> Option<&'static str> {
        let came = |it: &&&str| self.events.contains_key(**it) || self.members.contains(**it);
        scenario.without.iter().find(came).copied()
    }

    /// Returns whether the text contains these words, ignoring case.
    pub fn says(&self, words: &str) -> bool {
        self.text.to_lowercase().contains(&words.to_lowercase())
    }
}

impl Lanes {
    /// Handles a message of the client.
    fn ask(&mut self, message: &str, dialect: &Dialect) {
        let kind = text(message, "/type");
        let aside = dialect.framing.asides().find(|(_, aside)| kind.as_deref() == Some(aside.message));
        self.aside = aside.map(|(operation, _)| operation);
        if aside.is_none() {
            self.last = text(message, "/stream_id");
            self.unanswered += 1;
        }
        self.is_aside_answered = false;
    }
}

/// Returns the beginning of a body in one line.
fn beginning(body: &[u8]) -> String {
    let start = String::from_utf8_lossy(body.get(..MAX_MESSAGE * 8).unwrap_or(body));
    cut(&start.split_whitespace().collect::<Vec<_>>().join(" "), MAX_MESSAGE)
}

/// Returns a text of the endpoint in quotes: in one line, escaped and bounded.
fn quoted(text: &str) -> String {
    format!("\"{}\"", visible(&cut(text.trim(), MAX_MESSAGE)))
}

/// Adds the events of a dialect to facts.
pub(super) struct FactsObserver<'f> {
    pub(super) facts: &'f mut Facts,
    pub(super) dialect: &'static Dialect,
}

impl Observer for FactsObserver<'_> {
    fn record(&mut self, seen: &Seen<'_>) {
        let Self { facts, dialect } = self;
        let frame = seen.record.frame;
        let is_of_last =
            frame.transport != Transport::WebSocket || facts.message(seen.record.data(), seen.lane, dialect);
        if is_of_last {
            facts.event(seen.record, dialect);
        }
        let time = frame.time.filter(|_| facts.times_us.len() < MAX_TIMES);
        facts.times_us.extend(time.and_then(|time| u32::try_from(time.as_micros()).ok()));
    }
}

/// Returns the place of the item that an event opens.
fn opened_item(record: &Record<'_>) -> Option<&'static str> {
    let (_, info) = record.known?;
    info.value.filter(|_| info.scope == Scope::CONTAINER && info.role == Role::Open)
}

/// Returns the string at a pointer of JSON text.
fn text(json: &str, pointer: &str) -> Option<String> {
    serde_json::from_str(spec::json::at(json, pointer)?).ok()
}

/// Returns all text of the output of a response.
fn output_text(response: &Value) -> String {
    let items = response.get("output").and_then(Value::as_array).into_iter().flatten();
    let parts = items.filter_map(|item| item.get("content")?.as_array()).flatten();
    parts.filter_map(|part| part.get("text")?.as_str()).collect()
}

/// Returns the expected events of a scenario that the dialect lacks.
pub(super) fn lacks(dialect: &Dialect, scenario: &Scenario) -> Option<&'static str> {
    let has = |events: &&&str| events.split('|').any(|event| dialect.event(event).is_some());
    scenario.elicits.iter().find(|events| !has(events)).copied()
}
