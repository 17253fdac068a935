//! `clients/<group>/<name>.md`

use std::collections::BTreeMap;

use codegen_derive::Constant;
use serde::Deserialize;

use super::constant::words;
use super::page::{Block, Page, PageError, Request};
use super::violation::Edits;

/// A response, and the expected behaviour of a client.
#[derive(Debug, Clone, PartialEq, Deserialize, Constant)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ClientCase {
    /// Its id, `group/name`.
    #[serde(skip)]
    pub id: String,
    /// Its API; none if it is played in every API.
    #[serde(skip)]
    pub api: Option<String>,
    /// The response that the client receives, in one line.
    #[serde(skip)]
    pub title: String,
    /// The reason for the expectation, as Markdown.
    #[serde(skip)]
    pub reason: String,
    /// The expected behaviour of a client.
    pub expect: Expect,
    /// The authority for the expectation: a document and its heading, or `field` and where the behaviour was seen.
    pub authority: String,
    /// The recording to play, `<dialect>/<name>`. Without it, the reference gateway responds to the request of the
    /// page in every dialect that allows the request.
    pub golden: Option<String>,
    /// The request of the client as JSON; empty for the request of the golden, or of the prompt.
    #[serde(skip)]
    pub request: Request,
    /// The text of the request, instead of a block: each API has it in a request of its own. It may have directives of the
    /// reference gateway.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub prompt: String,
    /// Edits of the response, one a line, as in the `violation` block of a rule page.
    #[serde(default)]
    pub edits: Edits,
    /// The case that is alike in all else and intact, if that is not the golden.
    #[serde(skip)]
    pub control: Option<String>,
    /// The transports; only a stream over HTTP if absent.
    #[serde(default = "sse")]
    pub transports: Vec<Channel>,
    /// Number of bytes sent at once; whole events if absent.
    pub chunk: Option<u32>,
    /// Delay before each event, in milliseconds.
    pub pause_ms: Option<u32>,
    /// The end of the connection.
    #[serde(default)]
    pub end: Ending,
    /// Number of events before this end.
    pub end_after: Option<u32>,
    /// Number of events after which the client must disconnect.
    pub cancel_after: Option<u32>,
    /// Kilobytes of text that replace the word FILL in the request.
    pub fill: Option<u32>,
    /// The parts that a client must return for the case to count; the texts, refusals, reasoning and calls of the
    /// response if absent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub about: Vec<About>,
    /// The steps of the client after the first response, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<ClientStep>,
    /// The retries of the client. Without these, it sends each request once.
    pub retries: Option<ClientRetries>,
}

impl ClientCase {
    /// Parses the page of the case with this id.
    ///
    /// # Errors
    ///
    /// Fails on the first invalid line.
    pub fn parse(id: &str, text: &str) -> Result<Self, PageError> {
        let page = Page::split(text, "json")?;
        let mut case: Self = page.metadata()?;
        let requests = page.blocks().iter().map(Block::request);
        let mut requests = requests.collect::<Result<Vec<_>, _>>()?.into_iter();
        let sends = |step: &&mut ClientStep| step.step != Step::Resume;
        let following = case.steps.iter_mut().filter(sends);
        match (&case.golden, requests.len().checked_sub(following.count())) {
            (_, Some(1)) => case.request = requests.next().unwrap_or_default(),
            (Some(_), Some(0)) => {}
            (None, Some(0)) if !case.prompt.is_empty() => {}
            _ => {
                let message =
                    "expected a block ```json for the request, and one for each step that sends one";
                return Err(PageError::new(page.metadata_line(), message));
            }
        }
        for (step, request) in case.steps.iter_mut().filter(sends).zip(requests) {
            step.request = request;
        }
        Ok(Self { id: id.to_owned(), title: page.title, reason: page.prose, ..case })
    }
}

/// A step of a client after the first response.
#[derive(Debug, Clone, PartialEq, Deserialize, Constant)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ClientStep {
    /// The kind of step.
    pub step: Step,
    /// The outputs that the client sends, by function name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub outputs: BTreeMap<String, String>,
    /// The request to send, or for the reference gateway to answer in its place, as JSON.
    #[serde(skip)]
    pub request: Request,
}

/// How often a client may send a request again, and why it does.
#[derive(Debug, Clone, PartialEq, Deserialize, Constant)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ClientRetries {
    /// Maximum number of retries of the client.
    pub max: u32,
    /// The most requests that are right; all that the client may send if absent.
    pub requests: Option<u32>,
    /// Timeout of each request of the client, in milliseconds.
    pub timeout_ms: Option<u32>,
    /// The responses to the first requests, in order. Later requests get the response of the page; if the client must
    /// report an error, they get the last of these again.
    pub failures: Vec<ClientFailure>,
}

/// The response to a request that the client may send again.
#[derive(Debug, Clone, PartialEq, Deserialize, Constant)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ClientFailure {
    /// The text of a request whose response this is, such as `[[error 429]]`.
    pub prompt: String,
    /// Further headers of the response.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// How long a header asks the client to wait, in milliseconds.
    pub wait_ms: Option<u32>,
    /// The form of this header.
    #[serde(default)]
    pub wait_as: WaitForm,
    /// The end of the connection.
    #[serde(default)]
    pub end: Ending,
    /// Number of events before this end; half of them if absent.
    pub end_after: Option<u32>,
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

    /// The kind of a step of a client after a response.
    pub enum Step {
        /// Send another request, which continues the response.
        Continue,
        /// Send the outputs of all calls; the reference gateway responds to the request of the page.
        AnswerCalls,
        /// Resume the broken stream by the id of the response.
        Resume,
    }

    /// The expected behaviour of a client on a response.
    pub enum Expect = Either {
        /// Return the response, which is intact.
        MustSurvive,
        /// Report an error, as the response is not complete.
        MustReport,
        /// Return the response, or report an error. Other content is wrong.
        Either,
    }

    /// The transport of a response to a client.
    pub enum Channel = Sse {
        /// A stream of server-sent events.
        Sse,
        /// A JSON body.
        Json,
        /// Messages of a WebSocket.
        Websocket,
    }

    /// The end of a connection to a client.
    pub enum Ending = Whole {
        /// A regular end.
        Whole,
        /// The connection stays open without further data.
        Stall,
        /// The connection breaks.
        Break,
        /// The connection breaks before the head of the response.
        Reset,
    }

    /// The header that asks a client to wait.
    pub enum WaitForm = Seconds {
        /// `Retry-After` with whole seconds.
        Seconds,
        /// `Retry-After` with a date.
        Date,
        /// `retry-after-ms`.
        Milliseconds,
    }
}
