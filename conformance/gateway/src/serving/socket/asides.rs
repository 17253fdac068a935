//! Messages about a running response: steering and injection.

use std::sync::Arc;

use serde_json::{Value, json};

use super::desk::Desk;
use super::running::Steer;
use crate::content::plan::Item;
use crate::content::plan::ResponsePlan;
use crate::content::refusal::refused;
use crate::content::text;
use crate::faults::requested::Faults;
use crate::serving::context::PastResponse;

#[derive(Debug, Clone, Copy)]
enum Refusal {
    Invalid,
    NotFound,
    Completed,
    Pending,
}

impl Refusal {
    fn error(self) -> Value {
        let (code, message) = match self {
            Self::Invalid => ("invalid_input", "The input is invalid."),
            Self::NotFound => ("response_not_found", "There is no such response on this connection."),
            Self::Completed => ("response_already_completed", "The response has already completed."),
            Self::Pending => ("too_many_pending_steers", "The response is already being steered."),
        };
        json!({"type": "invalid_request_error", "code": code, "message": message})
    }
}

/// The client must send these results before the response can continue.
fn required(plan: &ResponsePlan, response: &Value) -> Vec<Value> {
    let is_call = |item: &Item| matches!(item, Item::Function { .. } | Item::Custom { .. });
    if !plan.items.iter().any(is_call) {
        return Vec::new();
    }
    let output = response.get("output").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let result = |item: &Value| {
        let kind = match text(item, "type")? {
            "function_call" => "function_call_output",
            "custom_tool_call" => "custom_tool_call_output",
            _ => return None,
        };
        Some(json!({"type": kind, "call_id": item.get("call_id")?, "name": item.get("name")?}))
    };
    output.iter().filter_map(result).collect()
}

impl Desk {
    pub(super) fn steer(&mut self, message: &Value) {
        let response = text(message, "previous_response_id").unwrap_or_default().to_owned();
        let input = message.get("input").cloned().unwrap_or_default();
        let is_wrong = refused(message, self.dialect(), "ResponseSteerEvent").is_some();
        let known = self.past_of(&response).is_some();
        let Some(lane) = self.lane_of(&response).filter(|_| !is_wrong) else {
            let refusal = match (is_wrong, known) {
                (true, _) => Refusal::Invalid,
                (false, true) => Refusal::Completed,
                (false, false) => Refusal::NotFound,
            };
            self.fail_steer(None, &response, &input, &refusal.error());
            return;
        };
        self.steers += 1;
        let id = format!("steer_{}", self.steers);
        let ended = self.past_of(&response).map(|past| past.response.clone()).unwrap_or_default();
        let Some(running) = self.running_in(lane) else { return };
        if running.steer.is_some() {
            self.fail_steer(None, &response, &input, &Refusal::Pending.error());
            return;
        }
        let required = required(&running.planned.plan, &ended);
        let is_settled = !required.is_empty();
        let number = running.number();
        running.steer = Some(Steer { id: id.clone(), input, required, is_settled });
        let steer = json!({"id": id, "previous_response_id": response});
        let accepted = json!({"type": "response.steer.accepted", "sequence_number": number, "steer": steer});
        self.queue(lane, &accepted);
        self.settle(lane);
    }

    /// Ends a steered response early, after one of its deltas was sent.
    pub(super) fn settle(&mut self, lane: usize) {
        let gateway = Arc::clone(&self.gateway);
        let Some(running) = self.running_in(lane).filter(|running| running.has_fragments()) else { return };
        match &mut running.steer {
            Some(steer) if !steer.is_settled => steer.is_settled = true,
            _ => return,
        }
        let stopped = running.stopped("steered");
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
        let about = json!({"id": steer.id, "previous_response_id": response});
        if !steer.required.is_empty() {
            let pending = json!({"type": "response.steer.pending", "reason": "waiting_for_required_input",
                "required_input": steer.required, "sequence_number": number, "steer": about});
            self.queue(lane, &pending);
            if faults.applies("ws/steer-pending") {
                let mut again = pending;
                again["sequence_number"] = json!(number + 1);
                self.queue(lane, &again);
            }
            self.pending.push((response.to_owned(), steer.input));
            return;
        }
        if faults.applies("ws/steer-followed") {
            self.leave();
            return;
        }
        if faults.applies("ws/steer-failed") {
            let error = Refusal::Completed.error();
            self.fail_steer(Some("steer_0"), response, &steer.input, &error);
            return;
        }
        self.succeed(lane, response, &steer, faults);
    }

    pub(super) fn fail_steer(&mut self, id: Option<&str>, response: &str, input: &Value, error: &Value) {
        let mut steer = json!({"input": input, "previous_response_id": response});
        if let Some(id) = id {
            steer["id"] = json!(id);
        }
        let lane = self.home_of(response);
        let number = self.number_for(response, lane);
        let failed = json!({"type": "response.steer.failed", "error": error, "sequence_number": number, "steer": steer});
        self.queue(lane, &failed);
    }

    pub(super) fn inject(&mut self, message: &Value) {
        let response = text(message, "response_id").unwrap_or_default().to_owned();
        let is_wrong = refused(message, self.dialect(), "ResponseInjectEvent").is_some();
        let lane = self.home_of(&response);
        let number = self.number_for(&response, lane);
        if is_wrong {
            let problem = crate::content::problem::Problem::invalid(
                "invalid_value",
                "The input is not an array.",
                Some("input"),
            );
            self.refuse(lane, &problem, &mut self.faults_of(lane));
        } else if self.lane_of(&response).is_some() {
            let is_broken = self.running_in(lane).is_some_and(|it| it.faults.applies("ws/inject-answered"));
            let id = if is_broken { "resp_0" } else { &*response };
            let created =
                json!({"type": "response.inject.created", "response_id": id, "sequence_number": number});
            self.queue(lane, &created);
        } else {
            let known = self.past_of(&response).is_some();
            let mut error = if known { Refusal::Completed } else { Refusal::NotFound }.error();
            if let Some(members) = error.as_object_mut() {
                members.shift_remove("type");
            }
            let input = message.get("input").cloned().unwrap_or_default();
            let failed = json!({"type": "response.inject.failed", "response_id": response, "input": input,
                "error": error, "sequence_number": number});
            self.queue(lane, &failed);
        }
    }

    fn past_of(&self, response: &str) -> Option<&PastResponse> {
        self.said.iter().map(|said| &said.past).find(|past| past.id == response)
    }
}
