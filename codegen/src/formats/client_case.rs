//! `clients/<group>/<name>.md`

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::page::{Page, PageError};
use super::violation::{Edit, edits};
use super::word::words;

/// The page of a case for clients: a response, and the expected behaviour of a client.
#[derive(Debug, Clone, PartialEq)]
pub struct ClientCase {
    /// Its path, `group/name`.
    pub id: String,
    /// Its metadata.
    pub metadata: ClientCaseMetadata,
    /// Its title: the response that the client receives.
    pub title: String,
    /// The reason for the expectation, as Markdown.
    pub prose: String,
    /// The request of the client; absent for that of the golden.
    pub request: Option<Value>,
    /// The requests of later steps, one for each step that sends one.
    pub following: Vec<Value>,
    /// The edits of the response, each with its line in the block.
    pub edits: Vec<(usize, Edit)>,
}

impl ClientCase {
    /// Parses the page of the case with this id.
    ///
    /// # Errors
    ///
    /// Fails on the first invalid line.
    pub fn parse(id: &str, text: &str) -> Result<Self, PageError> {
        let page = Page::split(text, "json")?;
        let metadata: ClientCaseMetadata = page.metadata()?;
        let mut requests = Vec::new();
        for block in page.blocks() {
            let request: Value = serde_json::from_str(&block.text).map_err(|error| {
                let line = block.line + error.line().saturating_sub(1);
                PageError::new(line, format!("the request is not JSON: {error}"))
            })?;
            requests.push(request);
        }
        let following = metadata.steps.iter().filter(|next| next.step != Step::Resume).count();
        let first = match (&metadata.golden, requests.len().checked_sub(following)) {
            (_, Some(1)) => 1,
            (Some(_), Some(0)) => 0,
            _ => {
                let message =
                    "expected a block ```json for the request, and one for each step that sends one";
                return Err(PageError::new(page.metadata_line(), message));
            }
        };
        let following = requests.split_off(first);
        let request = requests.pop();
        let edits = edits(&metadata.edits).map_err(|error| {
            PageError::new(page.metadata_line(), format!("edits, line {}: {}", error.line, error.message))
        })?;
        let Page { title, prose, .. } = page;
        Ok(Self { id: id.to_owned(), metadata, title, prose, request, following, edits })
    }
}

/// The metadata of the page of a client case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ClientCaseMetadata {
    /// The expected behaviour of a client.
    pub expect: Expect,
    /// The authority for the expectation: a document and its heading, or `field` and where the behaviour was seen.
    pub authority: String,
    /// The recording to play, `<dialect>/<name>`. Without it, the reference gateway responds to the request of the
    /// page in every dialect that allows the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub golden: Option<String>,
    /// Edits of the response, one a line, as in the `violation` block of a rule page.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub edits: String,
    /// The transports; only a stream over HTTP if absent.
    #[serde(default = "sse")]
    pub transports: Vec<Channel>,
    /// Number of bytes sent at once; whole events if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chunk: Option<u32>,
    /// Delay before each event, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pause_ms: Option<u32>,
    /// The end of the connection.
    #[serde(default)]
    pub end: Ending,
    /// Number of events before this end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_after: Option<u32>,
    /// Number of events after which the client must disconnect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancel_after: Option<u32>,
    /// Kilobytes of text that replace the word FILL in the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fill: Option<u32>,
    /// The parts that a client must return for the case to count; the texts, refusals, reasoning and calls of the
    /// response if absent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub about: Vec<About>,
    /// The steps of the client after the first response, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<ClientStep>,
}

/// A step of a client after the first response.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ClientStep {
    /// The kind of step.
    pub step: Step,
    /// The outputs that the client sends, by function name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub outputs: BTreeMap<String, String>,
}

fn sse() -> Vec<Channel> {
    vec![Channel::Sse]
}

words! {
    /// A part of a response.
    pub enum About {
        /// The text.
        Text,
        /// The refusal.
        Refusal,
        /// Summaries and texts of reasoning.
        Reasoning,
        /// Calls of functions and custom tools.
        Calls,
        /// The status of the response.
        Status,
        /// The id of the response.
        Id,
        /// The token usage.
        Usage,
    }
}

words! {
    /// The kind of a step of a client after a response.
    pub enum Step {
        /// Send another request, which continues the response.
        Continue,
        /// Send the outputs of all calls; the reference gateway responds to the request of the page.
        AnswerCalls,
        /// Resume the broken stream by the id of the response.
        Resume,
    }
}

words! {
    /// The expected behaviour of a client on a response.
    pub enum Expect = Either {
        /// Return the response, which is intact.
        MustSurvive,
        /// Report an error, as the response is not complete.
        MustReport,
        /// Return the response, or report an error. Other content is wrong.
        Either,
    }
}

words! {
    /// The transport of a response to a client.
    pub enum Channel = Sse {
        /// A stream of server-sent events.
        Sse,
        /// A JSON body.
        Json,
        /// Messages of a WebSocket.
        Websocket,
    }
}

words! {
    /// The end of a connection to a client.
    pub enum Ending = Whole {
        /// A regular end.
        Whole,
        /// The connection stays open without further data.
        Stall,
        /// The connection breaks.
        Break,
    }
}
