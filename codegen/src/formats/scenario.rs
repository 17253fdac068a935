//! `scenarios/<group>/<name>.md`

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::page::{Page, PageError};
use super::word::words;

/// A request, and what its answer must bring: one page.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    /// Its path, `group/name`.
    pub id: String,
    /// What is known of it.
    pub metadata: ScenarioMetadata,
    /// What it is about, in a line.
    pub title: String,
    /// The rest of the page, as Markdown.
    pub prose: String,
    /// The body of the request; `null` where the operation has none. The model `default` is replaced by the
    /// one under test.
    pub request: Value,
}

/// What stands for the id of the response before, as `previous_response_id`.
pub const PREVIOUS: &str = "previous";

/// The type of the entry of an `input` that the output of the response before takes the place of. With
/// `call_output`, each function call in it is followed by this result.
pub const PREVIOUS_OUTPUT: &str = "previous_output";

impl Scenario {
    /// Reads the page of the scenario with that id.
    ///
    /// # Errors
    ///
    /// Names the line that is not as the format says.
    pub fn parse(id: &str, text: &str) -> Result<Self, PageError> {
        let page = Page::split(text, "json")?;
        let metadata: ScenarioMetadata = page.metadata()?;
        if !metadata.operation.has_body() {
            if let Ok(block) = page.only_block("json") {
                let message = format!("the operation {:?} has no body", metadata.operation);
                return Err(PageError::new(block.line - 1, message));
            }
            let Page { title, prose, .. } = page;
            return Ok(Self { id: id.to_owned(), metadata, title, prose, request: Value::Null });
        }
        let block = page.only_block("json")?;
        let request: Value = serde_json::from_str(&block.text).map_err(|error| {
            let line = block.line + error.line().saturating_sub(1);
            PageError::new(line, format!("the request is not JSON: {error}"))
        })?;
        if !request.is_object() {
            return Err(PageError::new(block.line, "the request must be a JSON object"));
        }
        let Page { title, prose, .. } = page;
        Ok(Self { id: id.to_owned(), metadata, title, prose, request })
    }
}

/// The metadata that a scenario page begins with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ScenarioMetadata {
    /// What is asked for.
    #[serde(default)]
    pub operation: Operation,
    /// What an endpoint must offer for the scenario to make sense, such as `tools`.
    #[serde(default)]
    pub features: Vec<String>,
    /// Event types that the answer must have: where one is missing, nothing was exercised. What is named
    /// twice must come twice, and of names with `|` between them any will do. A dialect that lacks one has
    /// no use for the scenario.
    #[serde(default)]
    pub elicits: Vec<String>,
    /// The HTTP statuses that can be the answer; 200 alone, when absent.
    #[serde(default)]
    pub status: Vec<u16>,
    /// Whether the request is sent a second time without `stream`, for an answer in JSON.
    #[serde(default)]
    pub twin: bool,
    /// Event types that the answer must not have. `<type> /<member>` means that member of the event, where
    /// it is more than null and more than empty.
    #[serde(default)]
    pub without: Vec<String>,
    /// Words that the text of the answer must have, in any case: what the request asks for, or what only the earlier
    /// turn said. `{{word 1}}` to `{{word 4}}` are words that the seed of a run chooses.
    #[serde(default)]
    pub says: Option<String>,
    /// The client leaves after so many events.
    #[serde(default)]
    pub cut_after: Option<u32>,
    /// The text of the input is repeated until it has so many kilobytes.
    #[serde(default)]
    pub fill: Option<u32>,
    /// The last character of the body is left out, so that it is no JSON.
    #[serde(default)]
    pub malformed: bool,
    /// The scenario whose response the operation is about: the request continues it by the id `previous`, or
    /// has its output in the place of an input of the type `previous_output`. Without it, an operation on a
    /// response is about an id that no response has.
    pub previous: Option<String>,
    /// The scenario is for a WebSocket alone: how its request comes there after that of `previous`. Other
    /// scenarios are sent there, too, those that continue another on the same connection as that.
    pub websocket: Option<OnSocket>,
    /// The request is sent so many times at once on a WebSocket, each time in a lane of its own: a number follows
    /// the name of its `stream_id`. `status` is about the last one.
    #[serde(default)]
    pub lanes: Option<u32>,
    /// Rules that only this request can bring to bear, on top of those for every stream.
    #[serde(default)]
    pub rules: Vec<String>,
}

words! {
    /// What is asked for.
    pub enum Operation = Create {
        /// A response is made: `POST /responses`.
        Create,
        /// A response is shown: `GET /responses/ID`.
        Retrieve,
        /// It is shown until it has ended.
        Poll,
        /// Its stream goes on after the last event that came: `GET /responses/ID?stream=true&starting_after=N`.
        Resume,
        /// It is deleted: `DELETE /responses/ID`.
        Delete,
        /// It is cancelled: `POST /responses/ID/cancel`.
        Cancel,
        /// What was put in is shown: `GET /responses/ID/input_items`.
        InputItems,
        /// A conversation is made shorter: `POST /responses/compact`.
        Compact,
        /// A response is turned to new input: the message `response.steer` on a WebSocket.
        Steer,
        /// Input is put into a response: the message `response.inject` on a WebSocket.
        Inject,
    }
}

impl Operation {
    /// Returns whether it has a body.
    pub const fn has_body(self) -> bool {
        matches!(self, Self::Create | Self::Compact | Self::Steer | Self::Inject)
    }

    /// Returns whether it is a message on a WebSocket about a response of that connection.
    pub const fn is_aside(self) -> bool {
        matches!(self, Self::Steer | Self::Inject)
    }
}

words! {
    /// How a request comes on a WebSocket.
    pub enum OnSocket {
        /// On the same connection, when the answer before it has ended.
        InTurn,
        /// On the same connection, before the answer to the one before it comes.
        Ahead,
        /// On the same connection, while the answer to the one before it comes: with the first event of an item.
        During,
        /// On a connection of its own.
        Anew,
    }
}
