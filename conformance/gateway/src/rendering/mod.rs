//! How a plan becomes events and bodies, by the tables of a dialect.

pub(crate) mod edits;
pub(crate) mod responses;
pub(crate) mod wire;

use serde_json::Value;
use spec::Dialect;

use crate::content::plan::ResponsePlan;

/// A response, ready to be sent as a stream or as JSON.
#[derive(Debug, Clone, PartialEq)]
pub struct RenderedResponse {
    /// The events, as server-sent events.
    pub events: Vec<String>,
    /// The queued, the running and the final response.
    pub snapshots: [Value; 3],
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

/// What reads the requests of an API, and writes its responses.
struct Renderer {
    /// The name of the API.
    api: &'static str,
    plan: fn(&Value, &Dialect, u64) -> ResponsePlan,
    render: fn(&Value, &ResponsePlan, &'static Dialect, u64) -> RenderedResponse,
}

/// The APIs that the gateway speaks.
static RENDERERS: [Renderer; 1] = [Renderer {
    api: "responses",
    plan: crate::content::responses::script::plan,
    render: responses::emit::render,
}];

/// Returns the dialects that it speaks.
pub fn dialects() -> impl Iterator<Item = &'static Dialect> {
    let speaks = |dialect: &&Dialect| RENDERERS.iter().any(|renderer| renderer.api == dialect.api.name);
    spec::DIALECTS.iter().copied().filter(speaks)
}

/// Returns the renderer of a dialect. A dialect that it does not speak has the first one.
fn renderer(dialect: &Dialect) -> &'static Renderer {
    let [first, ..] = &RENDERERS;
    RENDERERS.iter().find(|renderer| renderer.api == dialect.api.name).unwrap_or(first)
}

/// Returns the plan of the response to a valid request.
pub fn plan(request: &Value, dialect: &Dialect, seed: u64) -> ResponsePlan {
    (renderer(dialect).plan)(request, dialect, seed)
}

/// Returns the planned response to a request.
pub fn render(
    request: &Value,
    plan: &ResponsePlan,
    dialect: &'static Dialect,
    seed: u64,
) -> RenderedResponse {
    (renderer(dialect).render)(request, plan, dialect, seed)
}
