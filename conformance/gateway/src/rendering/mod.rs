//! How a plan becomes events and bodies, by the tables of a dialect.

pub(crate) mod events;
pub(crate) mod ids;
pub(crate) mod list;
mod responses;
mod spoken;
pub(crate) mod wire;

use serde_json::{Value, json};
use spec::{Api, Dialect};
use translation::ReplyError;
use translation::pen;

pub(crate) use self::spoken::CREATED;
use crate::content::plan::ResponsePlan;
use crate::content::problem::{NO_THREADS, Problem};

/// A response, ready to be sent as a stream or as JSON.
#[derive(Debug, Clone, PartialEq)]
pub struct RenderedResponse {
    /// The events, as server-sent events.
    pub events: Vec<String>,
    /// The queued, the running and the final response.
    pub snapshots: [Value; 3],
    /// The status of the final response without a stream.
    pub status: u16,
}

impl RenderedResponse {
    /// The whole stream.
    pub fn stream(&self) -> String {
        self.events.concat()
    }

    /// The final response.
    pub const fn response(&self) -> &Value {
        let [_, _, ended] = &self.snapshots;
        ended
    }
}

/// The planned response to a request.
pub fn render(
    request: &Value,
    plan: &ResponsePlan,
    dialect: &'static Dialect,
    seed: u64,
) -> RenderedResponse {
    // Where a message is one of many items, these have many forms.
    if pen::has_item(dialect.api, "message") {
        return responses::render(request, plan, dialect, seed);
    }
    spoken::render(request, plan, dialect)
}

pub(crate) fn body_of(problem: &Problem, api: &Api) -> Value {
    let Problem { code, message, param, status } = problem;
    let error = ReplyError { class: pen::class(api, *status).to_owned(), message: message.clone() };
    let details = match *code {
        NO_THREADS => json!({"error_code": code, "unsupported": [param]}),
        _ => Value::Null,
    };
    let said = [
        ("error_code", json!(code)),
        ("param", json!(param)),
        ("details", details),
        ("request_id", "req_1".into()),
    ];
    pen::error_body(api, &error, &said)
}
