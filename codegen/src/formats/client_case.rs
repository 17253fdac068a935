//! `clients/<group>/<name>.md`

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::page::{Page, PageError};
use super::violation::{Edit, edits};
use super::word::words;

/// An answer that is played to a client, and what it must make of it: one page.
#[derive(Debug, Clone, PartialEq)]
pub struct ClientCase {
    /// Its path, `group/name`.
    pub id: String,
    /// What is known of it.
    pub metadata: ClientCaseMetadata,
    /// What the client receives, in a line.
    pub title: String,
    /// Why it must do what is expected, as Markdown.
    pub prose: String,
    /// What the client is to send; nothing, where that is the request of the golden.
    pub request: Option<Value>,
    /// The requests of the steps that follow, as many as send one.
    pub following: Vec<Value>,
    /// The edits of the answer, each with its line in the block.
    pub edits: Vec<(usize, Edit)>,
}

impl ClientCase {
    /// Reads the page of the case with that id.
    ///
    /// # Errors
    ///
    /// Names the line that is not as the format says.
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
                    "a page has a block ```json for its request, and one for each step that sends one";
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

/// The metadata that the page of a client case begins with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ClientCaseMetadata {
    /// What a client has to do.
    pub expect: Expect,
    /// What makes that binding: a document and its heading, or `field` and where it was seen.
    pub authority: String,
    /// The recording that is played, `<dialect>/<name>`. Without it, the reference gateway answers the request of the
    /// page in every dialect that takes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub golden: Option<String>,
    /// Edits of the answer, one a line, as in the `violation` block of a rule page.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub edits: String,
    /// How the answer is sent; as a stream over HTTP alone, when absent.
    #[serde(default = "sse")]
    pub transports: Vec<Channel>,
    /// Bytes that are sent at once; whole events, when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chunk: Option<u32>,
    /// Milliseconds before each event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pause_ms: Option<u32>,
    /// How the connection ends.
    #[serde(default)]
    pub end: Ending,
    /// The answer ends so after this many events.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_after: Option<u32>,
    /// The number of events after which the client has to leave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancel_after: Option<u32>,
    /// Kilobytes of text that stand for the word FILL in the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fill: Option<u32>,
    /// What a client has to return for the case to count; when absent, the texts, refusals, reasoning and calls that
    /// the answer has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub about: Vec<About>,
    /// What the client does after the first answer, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<ClientStep>,
}

/// A step of a client after the first answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ClientStep {
    /// What it does.
    pub step: Step,
    /// The outputs of functions that it sends back, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub outputs: BTreeMap<String, String>,
}

fn sse() -> Vec<Channel> {
    vec![Channel::Sse]
}

words! {
    /// A part of an answer.
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
        /// The tokens that it cost.
        Usage,
    }
}

words! {
    /// What a client does after an answer.
    pub enum Step {
        /// It sends another request, which continues the response.
        Continue,
        /// It sends the outputs of all calls, and the reference gateway answers the request of the page.
        AnswerCalls,
        /// The connection is lost: it gets the rest of the stream by the id of the response.
        Resume,
    }
}

words! {
    /// What a client has to do with an answer.
    pub enum Expect = Either {
        /// Return the answer: nothing is wrong with how it came.
        MustSurvive,
        /// Report an error: there is no answer that could be taken for whole.
        MustReport,
        /// Return the answer, or report an error. Returning another answer is wrong.
        Either,
    }
}

words! {
    /// How an answer is sent to a client.
    pub enum Channel = Sse {
        /// As a stream of server-sent events.
        Sse,
        /// As one body of JSON.
        Json,
        /// As messages of a WebSocket.
        Websocket,
    }
}

words! {
    /// How a connection to a client ends.
    pub enum Ending = Whole {
        /// As it should.
        Whole,
        /// Nothing more comes, and it stays open.
        Stall,
        /// It breaks.
        Break,
    }
}
