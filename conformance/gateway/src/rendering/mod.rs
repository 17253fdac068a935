//! How a plan becomes events and bodies, by the tables of a dialect.

mod chat;
mod messages;
pub(crate) mod responses;
pub(crate) mod wire;

use serde_json::Value;
use spec::{Api, Dialect};

use crate::content::plan::ResponsePlan;
use crate::content::problem::Problem;

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
    /// Returns the whole stream.
    pub fn stream(&self) -> String {
        self.events.concat()
    }

    /// Returns the final response.
    pub const fn response(&self) -> &Value {
        let [_, _, ended] = &self.snapshots;
        ended
    }
}

/// The functions that write the responses of an API.
struct Renderer {
    /// The name of the API.
    api: &'static str,
    render: fn(&Value, &ResponsePlan, &'static Dialect, u64) -> RenderedResponse,
    problem: fn(&Problem) -> Value,
    /// The header that has the id of a request.
    id_header: &'static str,
    /// Lists models by their names.
    models: fn(&[String]) -> Value,
}

static RENDERERS: [Renderer; 3] = [
    Renderer {
        api: "responses",
        render: responses::emit::render,
        problem: responses::response::problem,
        id_header: "x-request-id",
        models: responses::response::models,
    },
    Renderer {
        api: "messages",
        render: messages::message::render,
        problem: messages::message::problem,
        id_header: "request-id",
        models: messages::message::models,
    },
    Renderer {
        api: "chat",
        render: chat::chunks::render,
        problem: chat::chunks::problem,
        id_header: "x-request-id",
        models: responses::response::models,
    },
];

/// An API that the gateway does not speak has the first one.
fn renderer(api: &Api) -> &'static Renderer {
    let [first, ..] = &RENDERERS;
    RENDERERS.iter().find(|renderer| renderer.api == api.name).unwrap_or(first)
}

/// Returns the planned response to a request.
pub fn render(
    request: &Value,
    plan: &ResponsePlan,
    dialect: &'static Dialect,
    seed: u64,
) -> RenderedResponse {
    (renderer(dialect.api).render)(request, plan, dialect, seed)
}

pub(crate) fn body_of(problem: &Problem, api: &Api) -> Value {
    (renderer(api).problem)(problem)
}

pub(crate) fn id_header(api: &Api) -> &'static str {
    renderer(api).id_header
}

pub(crate) fn model_list(models: &[String], api: &Api) -> Value {
    (renderer(api).models)(models)
}
