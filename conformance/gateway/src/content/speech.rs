//! The APIs whose requests the gateway reads.

use serde_json::Value;
use spec::{Api, Dialect};

use super::ask::{Ask, Format};
use super::length::limit;
use super::plan::{Item, ResponsePlan};
use super::problem::Problem;
use super::{chat, messages, responses};

/// How the requests of an API are read.
pub(crate) struct Speech {
    /// The name of the API.
    api: &'static str,
    /// Reads what a request asks for.
    pub(super) ask: fn(&Value) -> Ask,
    /// Plans the response to a valid request.
    pub(crate) plan: fn(&Value, &Dialect, u64) -> ResponsePlan,
    /// Returns the error of results without a matching call.
    pub(super) unmatched: fn(&Value) -> Option<Problem>,
    /// Returns the error of what only some servers of the API do, and the gateway does not.
    pub(super) unserved: fn(&Value) -> Option<Problem>,
    /// Returns whether the API has a way to say an item.
    pub(super) can_say: fn(&Item) -> bool,
    /// Whether a client continues a paused turn.
    pub(super) pauses: bool,
    /// The inputs that request a response like each golden.
    pub(super) examples: &'static [(&'static str, &'static str)],
    /// Makes a streaming request with an input, for a response with the shape of a golden.
    pub(super) request: fn(&str, &str) -> Value,
}

static SPOKEN: [Speech; 3] = [
    Speech {
        api: "responses",
        ask: responses::script::ask,
        plan: responses::script::plan,
        // They may belong to a stored response.
        unmatched: |_| None,
        unserved: |_| None,
        can_say: |_| true,
        pauses: false,
        examples: responses::example::EXAMPLES,
        request: responses::example::request,
    },
    Speech {
        api: "messages",
        ask: messages::script::ask,
        plan: messages::script::plan,
        unmatched: messages::script::unmatched,
        unserved: messages::script::unserved,
        can_say: messages::script::can_say,
        pauses: true,
        examples: messages::example::EXAMPLES,
        request: messages::example::request,
    },
    Speech {
        api: "chat",
        ask: chat::script::ask,
        plan: chat::script::plan,
        unmatched: chat::script::unmatched,
        unserved: |_| None,
        can_say: chat::script::can_say,
        pauses: false,
        examples: chat::example::EXAMPLES,
        request: chat::example::request,
    },
];

/// Returns the dialects that the gateway speaks.
pub fn dialects() -> impl Iterator<Item = &'static Dialect> {
    let is_spoken = |dialect: &&Dialect| SPOKEN.iter().any(|speech| speech.api == dialect.api.name);
    spec::DIALECTS.iter().copied().filter(is_spoken)
}

/// Returns how the requests of an API are read. One that the gateway does not speak is read as the first one.
pub(crate) fn speech(api: &Api) -> &'static Speech {
    let [first, ..] = &SPOKEN;
    SPOKEN.iter().find(|speech| speech.api == api.name).unwrap_or(first)
}

/// Returns the plan of the response to a valid request.
pub fn plan(request: &Value, dialect: &Dialect, seed: u64) -> ResponsePlan {
    (speech(dialect.api).plan)(request, dialect, seed)
}

/// Lengthens the texts of a response unless the request determines them.
pub(crate) fn lengthen(plan: &mut ResponsePlan, request: &Value, fragments: usize, dialect: &Dialect) {
    if (speech(dialect.api).ask)(request).format == Format::Text {
        plan.lengthen(fragments);
        limit(plan, request, dialect.api);
    }
}

/// Returns the goldens with a known request.
pub fn examples() -> impl Iterator<Item = &'static str> {
    SPOKEN.iter().flat_map(|speech| speech.examples).map(|(golden, _)| *golden)
}

/// Returns a request whose response is like a golden, streaming unless the golden is not a stream.
pub fn example(golden: &str) -> Option<Value> {
    let of = |speech: &Speech| {
        let (_, input) = speech.examples.iter().find(|(known, _)| *known == golden)?;
        Some((speech.request)(golden, input))
    };
    SPOKEN.iter().find_map(of)
}

/// Returns the text of a request like those of examples.
pub fn input_text(request: &Value) -> Option<&str> {
    ["/input", "/messages/0/content"].iter().find_map(|at| request.pointer(at)?.as_str())
}

/// Returns a streaming request with an input, which may contain directives.
pub fn request(input: &str, api: &Api) -> Value {
    (speech(api).request)("", input)
}
