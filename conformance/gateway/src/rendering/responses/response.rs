//! The response object in lifecycle events and in JSON responses.

use serde_json::{Value, json};
use spec::Dialect;
use spec::table::RenderMoment;

use crate::content::plan::{Ending, ResponsePlan};
use crate::content::text;
use translation::pen::edits::Edits;
use translation::pen::resource::response;

/// Creation time of all responses, which makes them reproducible.
pub(crate) const CREATED: u64 = 1_785_000_000;

/// The error of a failed response.
pub(super) const FAILURE: (&str, &str) =
    ("server_error", "The server had an error while processing your request.");

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
        self.rendered(RenderMoment::Begun, |name| match name {
            "status" => Some(json!(status)),
            "output" => Some(json!([])),
            "completed_at" | "error" | "incomplete_details" | "usage" => Some(Value::Null),
            _ => None,
        })
    }

    pub(super) fn ended(&self, output: &[Value], streamed_text: &str) -> Value {
        let ending = self.plan.ending;
        self.rendered(RenderMoment::Ended, |name| {
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

    fn rendered(&self, moment: RenderMoment, value: impl Fn(&str) -> Option<Value>) -> Value {
        response(self.dialect, self.edits, self.request, moment, |name| match name {
            "id" => Some(json!("resp_1")),
            "object" => Some(json!("response")),
            "created_at" => Some(json!(CREATED)),
            name => value(name),
        })
    }

    fn usage(&self) -> Value {
        let (input, output) = (self.plan.input_tokens, self.plan.output_tokens());
        json!({"input_tokens": input, "input_tokens_details": {"cached_tokens": self.plan.read_tokens}, "output_tokens": output,
            "output_tokens_details": {"reasoning_tokens": self.plan.reasoning_tokens()},
            "total_tokens": input + output})
    }
}
