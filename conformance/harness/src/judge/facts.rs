//! The facts of an exchange. Trials are judged from them.

use std::collections::{BTreeMap, BTreeSet};

use catalogue::Scenario;
use serde_json::Value;
use spec::table::{Content, Role};
use spec::{Api, Dialect};

use crate::plan::PreviousResponse;
use checker::{Answer, Tokens, setting_in};
use recordings::capture::Loss;
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
    /// Whether its content type is `text/event-stream`.
    pub is_stream: bool,
    /// Its content type.
    pub content_type: Option<String>,
    /// The id of the response.
    pub response_id: Option<String>,
    /// The response of the last event with a snapshot, or the JSON body.
    pub response: Option<Value>,
    /// The [root](spec::table::BodyShape) of dialects that this is, if it is known.
    pub root: Option<&'static str>,
    /// The beginning of the body, if it is not JSON.
    pub beginning: String,
    /// The last event that reports an error.
    pub error_event: Option<Value>,
    /// Number of events by type.
    pub events: BTreeMap<String, u64>,
    /// Non-empty members of events, as `<type> /<member>`.
    pub members: BTreeSet<String>,
    /// First and last sequence number.
    pub numbers: Option<(u64, u64)>,
    /// The content.
    pub answer: Answer,
    /// The items, if no event of a stream repeats them.
    pub items: Vec<Value>,
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
}

pub(super) const MAX_MESSAGE: usize = 240;
pub(super) const MAX_CODE: usize = 60;
/// Status of a WebSocket handshake.
pub(super) const SWITCHED: u16 = 101;

impl Facts {
    /// There was no connection, or no response within a limit of time.
    pub(super) fn is_silent(&self) -> bool {
        self.status.is_none() && matches!(self.lost, Some(Loss::Unconnected(_) | Loss::Silent(_)))
    }

    /// The connection was closed without a response.
    pub(super) fn is_closed(&self) -> bool {
        self.status.is_none() && matches!(self.lost, Some(Loss::Broken(_)))
    }

    pub(super) fn is_page(&self) -> bool {
        let start = self.beginning.get(..15).unwrap_or(&self.beginning).to_ascii_lowercase();
        start.starts_with("<!doctype html") || start.starts_with("<html")
    }

    /// The endpoint's words about a failure: the message and code of its error, or the beginning of its body. The text
    /// is in one line, and escaped.
    pub(super) fn words(&self) -> Option<String> {
        let Some(response) = self.error_event.as_ref().or(self.response.as_ref()) else {
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
            (None, _) if self.error_event.is_none() && self.root.is_some() => None,
            (None, _) => Some(quoted(&response.to_string())),
        }
    }

    pub(super) fn has_error(&self, api: &Api) -> bool {
        let error = self.response.as_ref().and_then(|response| response.get(api.error.member));
        error.is_some_and(|error| !error.is_null())
    }

    /// The codes of the error, and its message.
    pub(super) fn error(&self, api: &Api) -> (String, String) {
        let response = self.error_event.as_ref().or(self.response.as_ref());
        let error = response.map(|body| body.get("error").unwrap_or(body));
        let member = |name: &str| error.and_then(|error| error.get(name)?.as_str());
        let message = error.and_then(Value::as_str).or(member("message")).or(member("detail"));
        let class = member(api.error.class).filter(|_| !matches!(api.error.class, "code" | "type"));
        let codes = [member("code"), member("type"), class].into_iter().flatten();
        (codes.collect::<Vec<_>>().join(" ").to_lowercase(), message.unwrap_or_default().to_lowercase())
    }

    /// The items of the response.
    pub fn output(&self, api: &Api) -> &[Value] {
        if api.request.turn.is_some() {
            return &self.items;
        }
        let output = self.response.as_ref().and_then(|response| response.get(api.list)?.as_array());
        output.map(Vec::as_slice).unwrap_or_default()
    }

    pub(super) fn state(&self, api: &Api) -> Option<&str> {
        self.response.as_ref()?.get(api.status.member)?.as_str()
    }

    /// Returns the response for a request that continues it, if its id is valid in URLs. Where nothing continues a response
    /// by its id, it needs none.
    pub fn previous(&self, api: &Api) -> Option<PreviousResponse> {
        let is_usable = |id: &String| !id.is_empty() && id.len() <= 4096 && !matches!(&**id, "." | "..");
        let id = self.response_id.clone().filter(is_usable);
        let output = self.output(api).to_vec();
        let is_repeated = api.request.turn.is_some() && !output.is_empty();
        Some(PreviousResponse {
            id: id.or_else(|| is_repeated.then(String::new))?,
            output,
            last_number: self.numbers.map(|(_, last)| last),
        })
    }

    /// The expected events that are missing.
    pub fn missing(&self, scenario: &Scenario, dialect: &Dialect) -> Vec<String> {
        let mut wanted: BTreeMap<&'static str, u64> = BTreeMap::new();
        for events in scenario.elicits {
            *wanted.entry(events).or_default() += 1;
        }
        let known = |events: &'static str| events.split('|').filter(|event| dialect.named(event).is_some());
        let seen = |events| known(events).filter_map(|event| self.events.get(event)).sum::<u64>();
        let short = wanted.into_iter().filter(|&(events, count)| seen(events) < count);
        let missing = short.map(|(events, count)| {
            // Events outside the dialect do not count.
            let events = known(events).collect::<Vec<_>>().join(" or ");
            if count == 1 { events } else { format!("{events} ({count} times)") }
        });
        missing
            .chain(self.missing_items(scenario, dialect.api))
            .chain(self.other_stop(scenario, dialect.api))
            .collect()
    }

    fn missing_items(&self, scenario: &Scenario, api: &Api) -> Vec<String> {
        let mut left: Vec<&str> =
            self.output(api).iter().filter_map(|item| item.get("type")?.as_str()).collect();
        let mut missing = Vec::new();
        for kind in scenario.items {
            match left.iter().position(|it| it == kind) {
                Some(at) => drop(left.swap_remove(at)),
                None => missing.push(format!("{kind} {}", api.scope(api.container).noun())),
            }
        }
        missing
    }

    /// The expected stop reasons, if the response ended for another.
    fn other_stop(&self, scenario: &Scenario, api: &Api) -> Option<String> {
        let (_, member) = api.stop.filter(|_| !scenario.stops.is_empty())?;
        let is_other = self.answer.status.as_deref().is_none_or(|status| !scenario.stops.contains(&status));
        is_other.then(|| format!("{member} {}", scenario.stops.join(" or ")))
    }

    /// Returns what is missing in a JSON response: the status of its stream, or the expected text and calls.
    pub fn missing_as_a_whole(&self, scenario: &Scenario, dialect: &Dialect) -> Vec<String> {
        let api = dialect.api;
        let has =
            |kind: &str| self.output(api).iter().any(|item| item.get("type").is_some_and(|it| it == kind));
        let endings = [api.status.completed, api.status.incomplete];
        let mut missing = BTreeSet::new();
        let calls = |scope| api.client_call.is_some_and(|call| call.scope == scope);
        let mut wanted_calls = 0;
        for info in scenario.elicits.iter().filter_map(|event| dialect.named(event)) {
            match (info.role, info.level.content, info.phase) {
                (Role::Terminal, _, Some(phase)) if endings.contains(&phase) => {
                    let is_missing = self.state(api) != Some(phase);
                    missing.extend(is_missing.then(|| (0, format!("{} {phase}", api.status.member))));
                }
                (Role::Delta, Some(Content::Text), _) if self.answer.text().is_empty() => {
                    missing.insert((1, "text".to_owned()));
                }
                (Role::Delta, Some(Content::Refusal), _) if self.answer.refusal.is_empty() => {
                    missing.insert((1, info.level.noun()));
                }
                (Role::Open, ..) if calls(info.scope) => wanted_calls += 1,
                (Role::Final, Some(Content::Arguments), _) => {
                    let kinds = info.level.of.iter().filter(|kind| !has(kind));
                    missing.extend(kinds.map(|kind| (2, (*kind).to_owned())));
                }
                _ => {}
            }
        }
        if self.answer.calls.len() < wanted_calls {
            let noun = api.client_call.map(|call| api.scope(call.scope).noun()).unwrap_or_default();
            let times = if wanted_calls == 1 { String::new() } else { format!(" ({wanted_calls} times)") };
            missing.insert((2, format!("{noun}{times}")));
        }
        let missing = missing.into_iter().map(|(_, what)| what);
        missing.chain(self.missing_items(scenario, api)).chain(self.other_stop(scenario, api)).collect()
    }

    /// Describes the end: the last event or status, the tokens if they were limited, and the endpoint's words about a
    /// failure.
    pub(super) fn ending(&self, dialect: &Dialect) -> String {
        let api = dialect.api;
        let last = dialect.terminal.iter().find(|kind| self.events.contains_key(**kind));
        let status = self.state(api);
        let mut text = match (last, status) {
            _ if api.status.member.is_empty() => self.stop(api),
            (Some(last), _) => format!("it ended with {last}"),
            (None, _) if self.is_stream => "it ended without a terminal event".to_owned(),
            (None, Some(status)) => format!("its status is {}", visible(&cut(status, MAX_CODE))),
            (None, None) => "it has no status".to_owned(),
        };
        if let (Some(used), Some(limit)) = (self.output_tokens(api), self.limit(api)) {
            text.extend([", ", api.usage.output.0, " ", &used.to_string(), " of ", &limit.to_string()]);
        }
        if status == Some(api.status.failed) || self.error_event.is_some() {
            text.extend(self.words().map(|words| format!(", {words}")));
        }
        text
    }

    /// Some responses have no status.
    fn stop(&self, api: &Api) -> String {
        let member = api.stop.map_or("stop", |(_, member)| member);
        match &self.answer.status {
            Some(word) => format!("its {member} is {}", visible(&cut(word, MAX_CODE))),
            None => format!("it has no {member}"),
        }
    }

    /// A response that reached its limit of tokens should not be completed.
    pub(super) fn is_cut_but_completed(&self, api: &Api) -> bool {
        let reached = self.output_tokens(api).zip(self.limit(api)).is_some_and(|(used, limit)| used >= limit);
        let word = if api.status.member.is_empty() { self.answer.status.as_deref() } else { self.state(api) };
        word.is_some_and(|word| api.usual_stops.contains(&word)) && reached
    }

    fn output_tokens(&self, api: &Api) -> Option<u64> {
        if api.status.member.is_empty() {
            return self.answer.tokens?.output;
        }
        Tokens::of_response(api, self.response.as_ref()?)?.output
    }

    fn limit(&self, api: &Api) -> Option<u64> {
        setting_in(self.request.as_ref()?, api.request.limits.first()?)?.as_u64()
    }

    /// Returns an event that must not occur.
    pub fn unwanted(&self, scenario: &Scenario) -> Option<&'static str> {
        let is_there = |it: &&&str| self.events.contains_key(**it) || self.members.contains(**it);
        scenario.without.iter().find(is_there).copied()
    }

    /// Returns whether the text contains these words, ignoring case.
    pub fn says(&self, words: &str) -> bool {
        self.answer.text().to_lowercase().contains(&words.to_lowercase())
    }
}

/// One line, escaped and bounded.
fn quoted(text: &str) -> String {
    format!("\"{}\"", visible(&cut(text.trim(), MAX_MESSAGE)))
}
