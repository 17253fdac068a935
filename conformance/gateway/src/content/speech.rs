//! The APIs whose requests the gateway reads.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use spec::{Api, Dialect};

use super::ask::{Ask, Format};
use super::plan::{Item, ResponsePlan};
use super::problem::Problem;
use super::{chat, gemini, messages, responses};

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
    /// Whether a response can say that its prompt is blocked.
    pub(super) blocks: bool,
    /// Makes a streaming request with an input.
    request: fn(&str) -> Value,
}

static SPOKEN: [Speech; 4] = [
    Speech {
        api: "responses",
        ask: responses::ask,
        plan: responses::plan,
        // They may belong to a stored response.
        unmatched: |_| None,
        unserved: |_| None,
        can_say: |_| true,
        pauses: false,
        blocks: false,
        request: |input| {
            // The counts of the goldens, unless nothing is said: an empty text has no tokens.
            let is_counted = !input.contains("[[usage") && input != "[[say ]]";
            let counts = if is_counted { "[[usage 20 20]]" } else { "" };
            json!({"model": "reference-1", "input": format!("{input}{counts}"), "stream": true})
        },
    },
    Speech {
        api: "messages",
        ask: messages::ask,
        plan: messages::plan,
        unmatched: messages::unmatched,
        unserved: messages::unserved,
        can_say: messages::can_say,
        pauses: true,
        blocks: false,
        request: |input| {
            json!({"model": "reference-1", "max_tokens": 8192,
                "messages": [{"role": "user", "content": input}], "stream": true})
        },
    },
    Speech {
        api: "chat",
        ask: chat::ask,
        plan: chat::plan,
        unmatched: chat::unmatched,
        unserved: |_| None,
        can_say: chat::can_say,
        pauses: false,
        blocks: false,
        // Violations name the model of the goldens.
        request: |input| json!({"model": "gpt-5.4", "messages": [{"role": "user", "content": input}], "stream": true}),
    },
    Speech {
        api: "gemini",
        ask: gemini::ask,
        plan: gemini::plan,
        unmatched: gemini::unmatched,
        unserved: |_| None,
        can_say: gemini::can_say,
        pauses: false,
        blocks: true,
        // The path says the model, and whether it is a stream.
        request: |input| json!({"model": "gemini-2.5-flash", "contents": [{"role": "user", "parts": [{"text": input}]}], "stream": true}),
    },
];

/// Returns the dialects that the gateway speaks.
pub fn dialects() -> impl Iterator<Item = &'static Dialect> {
    spec::DIALECTS.iter().copied().filter(|dialect| is_spoken(dialect))
}

/// Those among them that the suite calls, too.
pub fn called_dialects() -> impl Iterator<Item = &'static Dialect> {
    dialects().filter(|dialect| !dialect.api.operations.is_empty())
}

/// Returns whether the gateway speaks the API of a dialect.
pub fn is_spoken(dialect: &Dialect) -> bool {
    SPOKEN.iter().any(|speech| speech.api == dialect.api.name)
}

/// An API that the gateway does not speak is read as the first one.
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
        plan.limit_as(request, dialect.api);
    }
}

/// The requests for responses like goldens, by API: `examples.toml`.
static EXAMPLES: LazyLock<BTreeMap<String, Examples>> = LazyLock::new(|| {
    let text = include_str!("examples.toml");
    toml::from_str(text).unwrap_or_else(|error| unreachable!("a test reads the file: {error}"))
});

#[derive(Deserialize)]
struct Examples {
    /// Goldens, each with the input.
    inputs: Vec<(String, String)>,
    /// Other members of requests.
    requests: Vec<Members>,
}

#[derive(Deserialize)]
struct Members {
    goldens: Vec<String>,
    with: Map<String, Value>,
}

/// Returns the goldens with a known request.
pub fn examples() -> impl Iterator<Item = &'static str> {
    let inputs = SPOKEN.iter().filter_map(|speech| Some(&EXAMPLES.get(speech.api)?.inputs));
    inputs.flatten().map(|(golden, _)| &**golden)
}

/// Returns a request whose response is like a golden, streaming unless the golden is not a stream.
pub fn example(golden: &str) -> Option<Value> {
    let of = |speech: &Speech| {
        let Examples { inputs, requests } = EXAMPLES.get(speech.api)?;
        let (_, input) = inputs.iter().find(|(known, _)| known == golden)?;
        let mut request = (speech.request)(input);
        for Members { with, .. } in
            requests.iter().filter(|members| members.goldens.iter().any(|it| it == golden))
        {
            request.as_object_mut()?.extend(with.clone());
        }
        Some(request)
    };
    SPOKEN.iter().find_map(of)
}

/// Returns the text of a request like the ones in examples.
pub fn input_text(request: &Value) -> Option<&str> {
    ["/input", "/messages/0/content", "/contents/0/parts/0/text"]
        .iter()
        .find_map(|at| request.pointer(at)?.as_str())
}

/// Returns a streaming request with an input, which may contain directives.
pub fn request(input: &str, api: &Api) -> Value {
    (speech(api).request)(input)
}
