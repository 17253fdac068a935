//! Messages about a running response: steering and injection.

use std::sync::Arc;

use serde_json::{Value, json};
use translation::pen::aside;

use super::desk::Desk;
use super::running::Steer;
use crate::content::problem::Problem;
use crate::content::refusal::refused;
use crate::content::text;
use crate::faults::requested::Faults;
use crate::serving::context::{PastResponse, items_of};

/// Why a message about a response fails, by the names on the page of the API.
const INVALID: &str = "is_invalid";
const UNKNOWN: &str = "is_unknown";
const COMPLETED: &str = "has_completed";
const PENDING: &str = "has_pending";

impl Desk {
    pub(super) fn steer(&mut self, message: &Value) {
        let response = text(message, self.session.previous).unwrap_or_default().to_owned();
        let input = message.get("input").cloned().unwrap_or_default();
        let lane = match self.lane_about(message, &response) {
            Ok(lane) => lane,
            Err(why) => return self.fail_steer(None, &response, &input, why, ""),
        };
        self.steers += 1;
        let id = format!("steer_{}", self.steers);
        let required = self.required(&response);
        let is_settled = !required.is_empty();
        let Some(running) = self.running_in(lane) else { return };
        if running.steer.is_some() {
            return self.fail_steer(None, &response, &input, PENDING, "");
        }
        let number = running.number();
        running.steer = Some(Steer { id: id.clone(), input, required, is_settled });
        let said = [("id", json!(id)), ("response", json!(response)), ("number", json!(number))];
        self.tell(lane, "steer_accepted", &said);
        self.settle(lane);
    }

    /// The lane of the running response that a message is about, or else why it fails.
    fn lane_about(&self, message: &Value, response: &str) -> Result<usize, &'static str> {
        let dialect = self.dialect();
        match self.lane_of(response) {
            _ if dialect
                .root(self.session.request)
                .is_some_and(|root| refused(message, dialect, root).is_some()) =>
            {
                Err(INVALID)
            }
            Some(lane) => Ok(lane),
            None if self.past_of(response).is_some() => Err(COMPLETED),
            None => Err(UNKNOWN),
        }
    }

    /// The results that the client must send before the response can continue.
    fn required(&self, response: &str) -> Vec<Value> {
        let api = self.dialect().api;
        let (Some(call), Some(past)) = (api.client_call, self.past_of(response)) else { return Vec::new() };
        let calls = items_of(&past.response).iter();
        let calls = calls.filter(|item| text(item, "type").is_some_and(|kind| call.types.contains(&kind)));
        let result = |item: &Value| {
            let of = |place| item.pointer(place).cloned().unwrap_or_default();
            let said = [("type", of("/type")), ("id", of(call.id)), ("name", of(call.name))];
            aside(api, "required", &said)
        };
        calls.map(result).collect()
    }

    /// Ends a steered response early, after one of its deltas was sent.
    pub(super) fn settle(&mut self, lane: usize) {
        let gateway = Arc::clone(&self.gateway);
        let Some(running) = self.running_in(lane).filter(|running| running.has_fragments()) else { return };
        match &mut running.steer {
            Some(steer) if !steer.is_settled => steer.is_settled = true,
            _ => return,
        }
        let stopped = running.steered();
        let id = running.id.clone();
        let made = gateway.carry_out(stopped, true, &mut running.faults);
        if self.running_in(lane).is_some_and(|running| running.turn(&made)) {
            self.replace_past(&id, &made.past);
        }
    }

    /// Continues after a steered response has ended.
    pub(super) fn follow(
        &mut self,
        lane: usize,
        response: &str,
        number: u64,
        steer: Steer,
        mut faults: Faults,
    ) {
        if !steer.required.is_empty() {
            let times = 1 + u64::from(faults.applies("ws/steer-pending"));
            for number in number..number + times {
                let said = [
                    ("id", json!(steer.id)),
                    ("response", json!(response)),
                    ("required", json!(steer.required)),
                    ("number", json!(number)),
                ];
                self.tell(lane, "steer_pending", &said);
            }
            self.pending.push((response.to_owned(), steer.input));
        } else if faults.applies("ws/steer-followed") {
            self.leave();
        } else if faults.applies("ws/steer-failed") {
            self.fail_steer(Some("steer_0"), response, &steer.input, COMPLETED, "");
        } else {
            self.succeed(lane, response, &steer, faults);
        }
    }

    pub(super) fn fail_steer(
        &mut self,
        id: Option<&str>,
        response: &str,
        input: &Value,
        why: &str,
        message: &str,
    ) {
        let lane = self.home_of(response);
        let number = self.number_for(response, lane);
        let error = [("steers", json!(true)), ("message", json!(message))];
        let said = [
            ("id", json!(id)),
            ("response", json!(response)),
            ("input", input.clone()),
            ("number", json!(number)),
            ("error", aside(self.dialect().api, why, &error)),
        ];
        self.tell(lane, "steer_failed", &said);
    }

    pub(super) fn inject(&mut self, message: &Value) {
        let response = text(message, self.session.target).unwrap_or_default().to_owned();
        let lane = self.home_of(&response);
        let number = self.number_for(&response, lane);
        let mut said = vec![("response", json!(response)), ("number", json!(number))];
        match self.lane_about(message, &response) {
            Err(INVALID) => {
                let why = "The input is not an array.";
                let problem = Problem::invalid("invalid_value", why, Some("input"));
                self.refuse(lane, &problem, &mut self.faults_of(lane));
            }
            Err(why) => {
                let error = aside(self.dialect().api, why, &[]);
                said.extend([("error", error), ("input", message.get("input").cloned().unwrap_or_default())]);
                self.tell(lane, "inject_failed", &said);
            }
            Ok(_) => {
                if self.running_in(lane).is_some_and(|it| it.faults.applies("ws/inject-answered")) {
                    said.push(("response", json!("resp_0")));
                }
                self.tell(lane, "inject_created", &said);
            }
        }
    }

    /// Sends an event that its API has on its page.
    fn tell(&mut self, lane: usize, name: &str, said: &[(&'static str, Value)]) {
        self.queue(lane, aside(self.dialect().api, name, said).to_string());
    }

    fn past_of(&self, response: &str) -> Option<&PastResponse> {
        self.said.iter().map(|said| &said.past).find(|past| past.id == response)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_api_with_lanes_has_the_events_on_its_page() {
        let events = ["steer_accepted", "steer_pending", "steer_failed", "inject_created", "inject_failed"];
        let errors = [INVALID, UNKNOWN, COMPLETED, PENDING, "has_no_successor", "required"];
        for dialect in spec::DIALECTS.iter().filter(|dialect| dialect.framing.lanes) {
            for name in events {
                let event = aside(dialect.api, name, &[]);
                let kind = text(&event, "type").unwrap_or_default();
                assert!(dialect.event(kind).is_some(), "{} {name}: {event}", dialect.name);
            }
            for name in errors {
                assert!(aside(dialect.api, name, &[]).is_object(), "{} {name}", dialect.name);
            }
        }
    }
}
