//! `scenarios/<group>/<name>.md`

use codegen_derive::Constant;
use serde::{Deserialize, Serialize};

use super::constant::words;
use super::page::{Page, PageError, Request};

/// Placeholder for the id of the previous response in `previous_response_id`.
pub const PREVIOUS: &str = "previous";

/// The type of the entry of a conversation that the output of the previous response replaces. With `call_output`, this
/// result follows each function call.
pub const PREVIOUS_OUTPUT: &str = "previous_output";

/// A request, and the expected response. Several APIs can have pages of one id: they are the same scenario, in which only
/// the request and the demands on its response differ.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Constant)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Its path, `group/name`.
    #[serde(skip)]
    pub id: String,
    /// The API that it is a request of, by the folder of its page; any if absent.
    #[serde(skip)]
    pub api: Option<String>,
    /// The operation.
    #[serde(default)]
    pub operation: Operation,
    /// The features that the endpoint needs, such as `tools`.
    #[serde(default)]
    pub features: Vec<String>,
    /// Event types that the response must contain, or effects `<type>/<effect>` of events; without them, the scenario is
    /// not exercised. An entry that is listed twice must occur twice; of alternatives, separated by `|`, one is enough.
    /// Dialects without one of the events skip the scenario.
    #[serde(default)]
    pub elicits: Vec<String>,
    /// Types of items that the response must contain, as `elicits` has types of events.
    #[serde(default)]
    pub items: Vec<String>,
    /// Words of the API for why the response ended, of which the response must have one.
    #[serde(default)]
    pub stops: Vec<String>,
    /// The HTTP statuses that the response can have; only 200 if absent.
    #[serde(default)]
    pub status: Vec<u16>,
    /// Whether the request is sent again without `stream`, for a JSON response.
    #[serde(default)]
    pub twin: bool,
    /// Event types that the response must not contain. `<type> /<member>` means this member of the event, unless it is
    /// null or empty.
    #[serde(default)]
    pub without: Vec<String>,
    /// Words that the text of the response must contain, in any case: words of the request, or of an earlier turn.
    /// `{{word 1}}` to `{{word 4}}` are words that the seed of a run selects.
    #[serde(default)]
    pub says: Option<String>,
    /// Number of events after which the client disconnects.
    #[serde(default)]
    pub cut_after: Option<u32>,
    /// Size in kilobytes to which the last text of the conversation is repeated.
    #[serde(default)]
    pub fill: Option<u32>,
    /// Whether the last character of the body is removed, so that it is not JSON.
    #[serde(default)]
    pub malformed: bool,
    /// Whether the request has a key that no endpoint knows, instead of the key of the run.
    #[serde(default)]
    pub unknown_key: bool,
    /// The scenario whose response the operation uses: the request continues it by the id `previous`, or with its
    /// output in place of an entry of the type `previous_output`. Without it, an operation on a response uses an
    /// unknown id.
    pub previous: Option<String>,
    /// For scenarios that need a WebSocket: when its request is sent after the request of `previous`. Other scenarios
    /// run on a WebSocket, too; those that continue another use the same connection.
    pub websocket: Option<OnSocket>,
    /// Number of concurrent requests on a WebSocket, each in a lane of its own: a number is appended to its
    /// `stream_id`. `status` applies to the last one.
    #[serde(default)]
    pub lanes: Option<u32>,
    /// Rules that only this request exercises, besides those for every stream.
    #[serde(default)]
    pub rules: Vec<String>,
    /// Its title.
    #[serde(skip)]
    pub title: String,
    /// The rest of the page, as Markdown.
    #[serde(skip)]
    pub prose: String,
    /// The body of the request as JSON, empty if the operation has none. The model `default` is replaced by the tested
    /// one, the id `previous` by the id of the previous response, and an entry of type `previous_output` by its output,
    /// with the result `call_output` of each call after it.
    #[serde(skip)]
    pub request: Request,
}

impl Scenario {
    /// Parses the page of the scenario with this id.
    ///
    /// # Errors
    ///
    /// Fails on the first invalid line.
    pub fn parse(id: &str, text: &str) -> Result<Self, PageError> {
        let page = Page::split(text, "json")?;
        let mut scenario: Self = page.metadata()?;
        if scenario.operation.has_body() {
            let block = page.only_block("json")?;
            scenario.request = block.request()?;
            if !scenario.request.is_object() {
                return Err(PageError::new(block.line, "the request must be a JSON object"));
            }
        } else if let Ok(block) = page.only_block("json") {
            let operation = scenario.operation.name();
            let message = format!("the operation {operation} has no body, but the page has a request");
            return Err(PageError::new(block.line - 1, message));
        }
        Ok(Self { id: id.to_owned(), title: page.title, prose: page.prose, ..scenario })
    }
}

words! {
    /// The operation of a request.
    pub enum Operation = Create {
        /// Creates a response: `POST /responses`.
        Create,
        /// Retrieves a response: `GET /responses/ID`.
        Retrieve,
        /// Retrieves a response repeatedly until it has ended.
        Poll,
        /// Resumes a stream after its last received event: `GET /responses/ID?stream=true&starting_after=N`.
        Resume,
        /// Deletes a response: `DELETE /responses/ID`.
        Delete,
        /// Cancels a response: `POST /responses/ID/cancel`.
        Cancel,
        /// Lists the input items of a response: `GET /responses/ID/input_items`.
        InputItems,
        /// Compacts a conversation: `POST /responses/compact`.
        Compact,
        /// Counts the tokens of a request: `POST /messages/count_tokens`.
        Count,
        /// Steers a response in flight: the message `response.steer` on a WebSocket.
        Steer,
        /// Adds input to a response in flight: the message `response.inject` on a WebSocket.
        Inject,
    }
}

impl Operation {
    /// Returns whether it has a body.
    pub const fn has_body(self) -> bool {
        matches!(self, Self::Create | Self::Compact | Self::Count | Self::Steer | Self::Inject)
    }

    /// Returns whether it is a WebSocket message about a response of that connection.
    pub const fn is_aside(self) -> bool {
        matches!(self, Self::Steer | Self::Inject)
    }
}

words! {
    /// When a request is sent on a WebSocket.
    pub enum OnSocket {
        /// On the same connection, after the previous response has ended.
        InTurn,
        /// On the same connection, before the response to the previous request begins.
        Ahead,
        /// On the same connection, during the previous response: at the first event of an item.
        During,
        /// On a new connection.
        Anew,
    }
}
