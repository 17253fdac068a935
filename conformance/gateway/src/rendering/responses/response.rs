//! The response object in lifecycle events and in JSON responses.

use serde_json::{Value, json};
use spec::Dialect;
use spec::table::{Render, RenderMoment, RenderResponse};

use crate::content::plan::{Ending, ResponsePlan};
use crate::content::problem::Problem;
use crate::content::text;
use crate::rendering::edits::{Edited, Edits, parsed};

pub(in crate::rendering) fn models(models: &[String]) -> Value {
    let model =
        |id: &String| json!({"id": id, "object": "model", "created": 1_785_000_000, "owned_by": "reference"});
    json!({"object": "list", "data": models.iter().map(model).collect::<Vec<_>>()})
}

pub(in crate::rendering) fn problem(problem: &Problem) -> Value {
    let Problem { kind, code, message, param, .. } = problem;
    json!({"error": {"type": kind, "code": code, "message": message, "param": param}})
}

/// Creation time of all responses, which makes them reproducible.
pub(crate) const CREATED: u64 = 1_785_000_000;

/// The error of a failed response.
pub(super) const FAILURE: (&str, &str) =
    ("server_error", "The server had an error while processing your request.");

/// The members of a response in a dialect that lists none.
const MEMBERS: &[&str] =
    &["id", "object", "created_at", "status", "error", "incomplete_details", "model", "output", "usage"];

/// A response throughout its lifecycle.
pub(super) struct Resource<'p> {
    dialect: &'static Dialect,
    edits: Edits,
    request: &'p Value,
    plan: &'p ResponsePlan,
}

impl<'p> Resource<'p> {
    pub(super) const fn new(
        request: &'p Value,
        plan: &'p ResponsePlan,
        dialect: &'static Dialect,
        edits: Edits,
    ) -> Self {
        Self { dialect, edits, request, plan }
    }

    pub(super) fn pending(&self, status: &str) -> Value {
        let RenderResponse { members, .. } = self.dialect.render.response;
        self.rendered(members, RenderMoment::Begun, |name| match name {
            "status" => Some(json!(status)),
            "output" => Some(json!([])),
            "completed_at" | "error" | "incomplete_details" | "usage" => Some(Value::Null),
            _ => None,
        })
    }

    pub(super) fn ended(&self, output: &[Value], streamed_text: &str) -> Value {
        let RenderResponse { members, ended, .. } = self.dialect.render.response;
        let members = if ended.is_empty() { members } else { ended };
        let ending = self.plan.ending;
        self.rendered(members, RenderMoment::Ended, |name| {
            let value = match (name, ending) {
                ("status", _) => json!(self.status()),
                ("output", _) => json!(output),
                ("output_text", _) => json!(streamed_text),
                ("tool_calls", _) => {
                    let is_call = |item: &&Value| text(item, "type") == Some("function_call");
                    output.iter().filter(is_call).cloned().collect()
                }
                ("completed_at", Ending::Completed | Ending::Paused) => json!(CREATED + 2),
                ("error", Ending::Failed(_)) => json!({"code": FAILURE.0, "message": FAILURE.1}),
                ("incomplete_details", Ending::Incomplete(reason)) => json!({"reason": reason}),
                ("usage", Ending::Completed | Ending::Paused | Ending::Incomplete(_)) => self.usage(),
                ("completed_at" | "error" | "incomplete_details" | "usage", _) => Value::Null,
                _ => return None,
            };
            Some(value)
        })
    }

    /// Without an event that ends it, the response counts as completed.
    fn status(&self) -> &'static str {
        let status = match self.plan.ending {
            Ending::Completed | Ending::Paused => "completed",
            Ending::Incomplete(_) => "incomplete",
            Ending::Failed(_) => "failed",
        };
        self.dialect.ending(status).map_or("completed", |_| status)
    }

    /// Members without a value of the response repeat the request.
    fn rendered(
        &self,
        members: &[&str],
        moment: RenderMoment,
        value: impl Fn(&str) -> Option<Value>,
    ) -> Value {
        let members = if members.is_empty() { MEMBERS } else { members };
        let of_response = |name: &str| match name {
            "id" => Some(json!("resp_1")),
            "object" => Some(json!("response")),
            "created_at" => Some(json!(CREATED)),
            name => value(name),
        };
        let member =
            |name: &&str| ((*name).to_owned(), of_response(name).unwrap_or_else(|| self.repeated(name)));
        let mut response = Value::Object(members.iter().map(member).collect());
        self.edits.apply(Edited::response(moment), &mut response);
        response
    }

    fn repeated(&self, name: &str) -> Value {
        let Render { tools, response: RenderResponse { defaults, .. }, .. } = self.dialect.render;
        let requested = self.request.get(name).filter(|value| !value.is_null()).cloned();
        let mut value = requested.unwrap_or_else(|| match name {
            "model" => json!("reference-1"),
            name => defaults
                .iter()
                .find(|(known, _)| *known == name)
                .map_or(Value::Null, |(_, json)| parsed(json)),
        });
        if let ("tools", Some(entries), false) = (name, value.as_array_mut(), tools.is_empty()) {
            entries.retain(|tool| text(tool, "type").is_some_and(|kind| tools.contains(&kind)));
        }
        value
    }

    fn usage(&self) -> Value {
        let (input, output) = (self.plan.input_tokens, self.plan.output_tokens());
        json!({"input_tokens": input, "input_tokens_details": {"cached_tokens": self.plan.read_tokens}, "output_tokens": output,
            "output_tokens_details": {"reasoning_tokens": self.plan.reasoning_tokens()},
            "total_tokens": input + output})
    }
}
