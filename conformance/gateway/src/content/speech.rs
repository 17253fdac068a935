//! The APIs whose requests the gateway reads.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::{Map, Value};
use spec::{Api, Dialect};
use translation::Template;

use super::pieces::Fragments;

/// How the requests of an API are read, and what its responses can say: `speech.toml`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(crate) struct Speech {
    /// A streaming request, as JSON, and the place of its input.
    request: String,
    text: String,
    /// A directive for inputs without counts.
    counts: String,
    /// The place of directives beside the conversation.
    pub(super) reference: Option<String>,
    /// The kinds of items of tools that it can say; all without a list.
    pub(super) says: Option<Vec<String>>,
    /// It has no empty messages, and no annotations of text.
    pub(super) needs_words: bool,
    pub(super) is_plain: bool,
    /// Whether a client continues a paused turn.
    pub(super) pauses: bool,
    /// Whether a response can say that its prompt is blocked.
    pub(super) blocks: bool,
    /// The member for a conversation that the server holds.
    pub(super) threads: Option<String>,
    /// The error of an empty conversation.
    pub(super) empty: Option<String>,
    /// The roles, if others are refused.
    pub(super) roles: Vec<String>,
    /// The error of a result without its call.
    pub(super) unmatched: String,
    /// The places of what turns thoughts on, and of what hides them; the thought.
    pub(super) thinks: Vec<String>,
    pub(super) hides: Option<Hides>,
    pub(super) thought: Vec<String>,
    /// The event that shows a thought; any event with reasoning if none is named.
    pub(super) shown_by: Option<String>,
    /// The place of what asks for a summary instead, and its parts.
    pub(super) summarizes: String,
    pub(super) summary: Vec<Fragments>,
    /// The place of what asks for encrypted thoughts.
    pub(super) encrypts: Vec<String>,
    /// The items of tools other than functions, in order.
    pub(super) hosted: Vec<Hosted>,
    /// The event of a conversation that a trigger compacts.
    pub(super) compacts: Option<String>,
    /// The places of what turns log probabilities on, and of what turns padding off.
    pub(super) logprobs: Vec<String>,
    pub(super) unpadded: Option<String>,
    /// The member that marks the end of what is cached.
    pub(super) cached: Option<String>,
}

/// An item of a tool: one whose type begins so, or that has this member.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Hosted {
    pub(super) tool: String,
    /// The directive that would add it.
    pub(super) item: String,
    /// Other values. Their `text` is the text of the item.
    #[serde(default)]
    pub(super) values: Template,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Hides {
    pub(super) at: String,
    pub(super) is: String,
}

static SPEECHES: LazyLock<BTreeMap<String, Speech>> = LazyLock::new(|| {
    let text = include_str!("speech.toml");
    toml::from_str(text).unwrap_or_else(|error| unreachable!("a test reads the file: {error}"))
});

/// An API whose requests are read, in the order of the tables.
fn spoken() -> impl Iterator<Item = (&'static Api, &'static Speech)> {
    spec::APIS.iter().filter_map(|api| Some((*api, SPEECHES.get(api.name)?)))
}

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
    SPEECHES.contains_key(dialect.api.name)
}

/// Nothing is read from the requests of an API that the gateway does not speak.
pub(crate) fn speech(api: &Api) -> &'static Speech {
    static BLANK: LazyLock<Speech> = LazyLock::new(Speech::default);
    SPEECHES.get(api.name).unwrap_or(&BLANK)
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
    let inputs = spoken().filter_map(|(api, _)| Some(&EXAMPLES.get(api.name)?.inputs));
    inputs.flatten().map(|(golden, _)| &**golden)
}

/// Returns a request whose response is like a golden, streaming unless the golden is not a stream.
pub fn example(golden: &str) -> Option<Value> {
    let of = |(api, _): (&'static Api, _)| {
        let Examples { inputs, requests } = EXAMPLES.get(api.name)?;
        let (_, input) = inputs.iter().find(|(known, _)| known == golden)?;
        let mut request = request(input, api);
        for Members { with, .. } in
            requests.iter().filter(|members| members.goldens.iter().any(|it| it == golden))
        {
            request.as_object_mut()?.extend(with.clone());
        }
        Some(request)
    };
    spoken().find_map(of)
}

/// Returns the text of a request like the ones in examples.
pub fn input_text(request: &Value) -> Option<&str> {
    spoken().find_map(|(_, speech)| request.pointer(&speech.text)?.as_str())
}

/// Returns a streaming request with an input, which may contain directives.
pub fn request(input: &str, api: &Api) -> Value {
    let Speech { request, text, counts, .. } = speech(api);
    let mut request: Value = serde_json::from_str(request).unwrap_or_default();
    let is_counted = !input.contains("[[usage") && input != "[[say ]]";
    if let Some(text) = request.pointer_mut(text) {
        *text = format!("{input}{}", if is_counted { counts } else { "" }).into();
    }
    request
}
