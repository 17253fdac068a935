//! The steps after the first response of a case.

use std::collections::BTreeMap;
use std::time::Duration;

use catalogue::{Channel, ClientCase, Step};
use checker::Answer;
use gateway::{Act, tagged};
use serde_json::{Map, Value, json};
use spec::{Api, Dialect};

use super::conversation::{answers, entries, is_whole, outputs, sealed};
use super::played::{Delivery, Played, Plays, plays};
use crate::protocol::CaseStep;

/// A step of the client after a response.
#[derive(Debug, Clone)]
pub struct PlayedTurn {
    /// The kind of step.
    pub step: Step,
    /// The outputs that the client sends, by function.
    pub outputs: BTreeMap<String, String>,
    /// The request that continues the response.
    pub request: Value,
    /// The previous response.
    pub before: Answer,
    /// The ids of its items.
    items: Vec<String>,
    /// Entries of all responses before that go back unchanged.
    pub(crate) sealed: Vec<Map<String, Value>>,
    /// Number of answers in a conversation that goes on with it.
    answers: usize,
    api: &'static Api,
    pub(crate) plays: Plays,
}

/// The last step has a response of its own.
pub(crate) fn turns(
    row: &ClientCase,
    asked: &Value,
    first: &Played,
    channel: Channel,
    dialect: &'static Dialect,
) -> Option<(Vec<PlayedTurn>, Answer)> {
    let api = dialect.api;
    let mut turns = Vec::new();
    let mut kept = sealed_in_response(asked, dialect);
    let mut before = first.last()?.clone();
    let mut items = first.items();
    for (at, step) in row.steps.iter().enumerate() {
        let outputs = step.outputs.iter().map(|(name, output)| ((*name).to_owned(), (*output).to_owned()));
        let (request, answered) = match step.step {
            Step::Resume => (Value::Null, first.clone()),
            Step::Continue | Step::AnswerCalls => {
                let request: Value = serde_json::from_str(step.request).ok()?;
                let mut sent = request.clone();
                sent["stream"] = json!(channel != Channel::Json);
                if gateway::invalid(&sent, dialect).is_some() {
                    return None;
                }
                let mut wire = gateway::respond(&sent, dialect);
                wire.body = tagged(&wire.body, &format!("t{}", at + 2));
                (request, Played::of_wire(&wire, dialect))
            }
        };
        let answer = answered.last()?.clone();
        let plays = plays(&answered, channel, &Delivery::default());
        let sealed = kept.clone();
        kept.extend(sealed_in_response(&request, dialect));
        turns.push(PlayedTurn {
            step: step.step,
            outputs: outputs.collect(),
            request,
            before,
            items,
            sealed,
            answers: answers(asked, api) + at + 1,
            api,
            plays,
        });
        before = answer;
        items = answered.items();
    }
    Some((turns, before))
}

/// Entries of the reference gateway's response that go back unchanged.
fn sealed_in_response(request: &Value, dialect: &'static Dialect) -> Vec<Map<String, Value>> {
    if dialect.api.request.sealed.is_empty() || !request.is_object() {
        return Vec::new();
    }
    let mut request = request.clone();
    request["stream"] = json!(false);
    let wire = gateway::respond(&request, dialect);
    let response: Value = serde_json::from_slice(&wire.body).unwrap_or_default();
    sealed(&response, dialect.api).into_iter().cloned().collect()
}

impl PlayedTurn {
    /// Returns the step in the form of the protocol.
    pub fn case_step(&self) -> CaseStep {
        match self.step {
            Step::Continue => CaseStep::Continue { request: self.request.clone() },
            Step::AnswerCalls => CaseStep::AnswerCalls { outputs: self.outputs.clone() },
            Step::Resume => CaseStep::Resume,
        }
    }

    /// A request refers to the previous response by its id, by outputs of its calls, by references to its items, or by
    /// its text; where requests have the whole conversation, by the number of answers in it.
    pub(crate) fn follows(&self, body: &Value) -> bool {
        if is_whole(self.api) {
            return answers(body, self.api) >= self.answers;
        }
        let input = entries(body, self.api);
        let named = text(body, "previous_response_id");
        named.is_some() && named == self.before.id.as_deref()
            || self.before.calls.iter().any(|call| !outputs(body, &call.id, self.api).is_empty())
            || input.iter().any(|item| self.is_reference(item) || self.is_said(item))
    }

    /// The request refers to the previous response.
    pub(crate) fn repeats(&self, body: &Value) -> bool {
        let is_call = |item: &Value| {
            let id = text(item, "call_id").filter(|_| text(item, "type") == Some("function_call"));
            id.is_some_and(|id| self.before.calls.iter().any(|call| call.id == id))
        };
        let is_old = |item: &Value| self.is_reference(item) || self.is_said(item) || is_call(item);
        text(body, "previous_response_id").is_none() || entries(body, self.api).iter().any(is_old)
    }

    fn is_reference(&self, item: &Value) -> bool {
        let id = text(item, "id").filter(|_| text(item, "type") == Some("item_reference"));
        id.is_some_and(|id| self.items.iter().any(|known| known == id))
    }

    fn is_said(&self, item: &Value) -> bool {
        let said = self.before.text();
        !said.is_empty() && text(item, "role") == Some("assistant") && holds(item, &said)
    }

    /// Without a stream, it is the whole response.
    pub(crate) fn rest(&self, query: &str) -> Option<Act> {
        let Plays::Http(whole) = &self.plays else { return None };
        let parameter = |name: &str| {
            query.split('&').filter_map(|pair| pair.split_once('=')).find(|(known, _)| *known == name)
        };
        let data = |piece: &[u8]| -> Option<Value> {
            let text = String::from_utf8_lossy(piece).into_owned();
            text.lines().find_map(|line| serde_json::from_str(line.strip_prefix("data:")?).ok())
        };
        if parameter("stream").is_none_or(|(_, value)| value != "true") {
            let last =
                whole.pieces.iter().rev().find_map(|(_, piece)| data(piece)?.get("response").cloned())?;
            return Some(Act::new(200, "application/json", last.to_string()));
        }
        let after: Option<u64> = parameter("starting_after").and_then(|(_, number)| number.parse().ok());
        let is_left = |piece: &[u8]| {
            let number = data(piece).and_then(|event| event.get("sequence_number")?.as_u64());
            number.is_none_or(|number| after.is_none_or(|after| number > after))
        };
        let pieces = whole.pieces.iter().filter(|(_, piece)| is_left(piece)).cloned().collect();
        Some(Act { pieces, ..whole.clone() })
    }
}

pub(crate) fn text<'v>(value: &'v Value, name: &str) -> Option<&'v str> {
    value.get(name)?.as_str()
}

pub(crate) fn holds(value: &Value, wanted: &str) -> bool {
    match value {
        Value::String(text) => text == wanted,
        Value::Array(values) => values.iter().any(|value| holds(value, wanted)),
        Value::Object(members) => members.values().any(|value| holds(value, wanted)),
        _ => false,
    }
}

/// Additional timeout for each further step.
pub(crate) const STEP: Duration = Duration::from_secs(2);
