//! `between/cases/<group>/<name>.md`, `between/profiles/<api>/<name>.md`, `between/rules/<group>/<name>.md`, and the tables beside them:
//! what passes through a gateway, from a client to a scripted upstream and back.

use std::collections::BTreeMap;

use codegen_derive::Constant;
use serde::{Deserialize, Serialize};

use super::constant::words;
use super::dialect::Level;
use super::page::{Block, Page, PageError, Request};
use super::rule::{Authority, Citation};

/// A question that a client asks through a gateway, and what the scripted upstream answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Constant)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct BetweenCase {
    /// Its path, `group/name`.
    #[serde(skip)]
    pub id: String,
    /// The answers of the upstream, one for each turn, in the directives of the reference gateway.
    pub answers: Vec<String>,
    /// The output of the tools, one for each answer with calls; the client sends it back for each of the calls.
    #[serde(default)]
    pub results: Vec<String>,
    /// Whether the client asks for one JSON body instead of a stream.
    #[serde(default)]
    pub is_whole: bool,
    /// How the upstream cuts its stream into writes.
    #[serde(default)]
    pub writes: Writes,
    /// Whether the upstream sends each event only when the client has received the text of the one before.
    #[serde(default)]
    pub is_in_step: bool,
    /// The place before which the upstream is silent for longer than the gateway declares to be. Without a declaration, the case is not
    /// played.
    #[serde(default)]
    pub silent_at: Option<SilentPlace>,
    /// Faults of the upstream's stream, each of which is a test of its own at each of these places.
    #[serde(default)]
    pub faults: Vec<UpstreamFault>,
    /// The places of these faults.
    #[serde(default)]
    pub places: FaultPlaces,
    /// Statuses with which the upstream refuses the request, each of which is a test of its own.
    #[serde(default)]
    pub statuses: Vec<u16>,
    /// The header `Retry-After` of these refusals.
    #[serde(default)]
    pub retry_after: Option<String>,
    /// The content type of the upstream's stream, instead of `text/event-stream`.
    #[serde(default)]
    pub content_type: Option<String>,
    /// Number of events after which the client disconnects.
    #[serde(default)]
    pub leaves_after: Option<u32>,
    /// Number of clients that ask at once, each with a word of its own.
    #[serde(default)]
    pub crowd: Option<u32>,
    /// The case whose answer the client must get, too.
    #[serde(default)]
    pub like: Option<String>,
    /// How agents play it, if it is a session: the answers are one for each request.
    #[serde(default)]
    pub session: Option<SessionCase>,
    /// The APIs of the client that can ask this; all if empty.
    #[serde(default)]
    pub fronts: Vec<String>,
    /// The APIs of the upstream that can answer this; all if empty.
    #[serde(default)]
    pub upstreams: Vec<String>,
    /// Its title.
    #[serde(skip)]
    pub title: String,
    /// The rest of the page, as Markdown.
    #[serde(skip)]
    pub prose: String,
    /// The question, in the terms that all APIs share. `{mark}` in a text is a word that marks the requests of the case.
    #[serde(skip)]
    pub question: Request,
}

/// A session that agents play over many turns.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Constant)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct SessionCase {
    /// The agents that play it; all if empty.
    pub profiles: Vec<String>,
    /// The number of the answer, counted from 0, that faults and refusals replace. The agent then asks again.
    pub fault_at: u32,
    /// The message of refusals, in the words of the API.
    pub refusal: Option<String>,
    /// The class of `between/refusals.toml` whose first words are the message instead.
    pub refused: Option<String>,
    /// The headers of refusals.
    pub refusal_headers: BTreeMap<String, String>,
    /// Changes of the agent's requests after a refusal.
    pub then: Option<AfterRefusal>,
    /// Members of its requests that its profile does not have.
    pub adds: Request,
    /// The same of headers. A header of the profile gets the value at the end of its list.
    pub adds_headers: BTreeMap<String, String>,
    /// Whether the agent sends its probes first.
    pub is_probed: bool,
    /// The number of the answer behind which the user says more beside the results of tools.
    pub interjects_at: Option<u32>,
    /// The user's words.
    pub interjection: Option<String>,
    /// The numbers of the answers that a second agent of the same session gets.
    pub helper: Vec<u32>,
    /// The task of the second agent, with `{mark}`.
    pub helper_task: Option<String>,
    /// The number of the answer where the agent begins to ask for another model, which another provider serves. Without such a model,
    /// the case is not played.
    pub moves_at: Option<u32>,
    /// The number of the answer whose text takes the place of the history before it.
    pub compacts_at: Option<u32>,
    /// Whether the agent asks for this by an item of the API, and begins anew with the item that answers it.
    pub triggers: bool,
}

/// An agent's way out of a refusal.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, Constant)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct AfterRefusal {
    /// Parts that its requests leave out: `reasoning`, `images`, `inner instructions`, members, or values of lists in headers.
    pub drops: Vec<String>,
    /// Members that have another value.
    pub members: Request,
    /// A text of the user that the next request has.
    pub says: Option<String>,
}

/// A class of refusals that agents know, and recover from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Constant)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Refusal {
    /// Its name. Gateways that hide the upstream's words send it as a token. `{beta}` is a value of the client's `anthropic-beta`.
    pub class: String,
    /// The statuses.
    #[serde(default = "bad_request")]
    pub statuses: Vec<u16>,
    /// Words of its messages, in any case. `…` stands for any text between them.
    pub says: Vec<String>,
    /// Words that tell a message apart that only looks alike.
    #[serde(default)]
    pub unless: Vec<String>,
    /// Messages of this class.
    pub words: Vec<String>,
}

fn bad_request() -> Vec<u16> {
    vec![400]
}

/// `between/refusals.toml`: the first class with the words of a message is the message's.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RefusalsFile {
    /// The classes.
    #[serde(default, rename = "refusal")]
    pub refusals: Vec<Refusal>,
}

impl BetweenCase {
    /// Parses the page of the case with this id.
    ///
    /// # Errors
    ///
    /// Fails on the first invalid line.
    pub fn parse(id: &str, text: &str) -> Result<Self, PageError> {
        let page = Page::split(text, "json")?;
        let case: Self = page.metadata()?;
        let question = page.only_block("json")?.request()?;
        Ok(Self { id: id.to_owned(), title: page.title, prose: page.prose, question, ..case })
    }
}

/// An agent as it asks: its headers, and all of its first request. Texts are of our own, with the measured lengths.
#[derive(Debug, Clone, PartialEq, Deserialize, Constant)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct AgentProfile {
    /// Its path, `api/name`.
    #[serde(skip)]
    pub id: String,
    /// The agent of `between/agents.toml`.
    pub agent: String,
    /// The day of its recorded requests.
    pub recorded: String,
    /// The version of what its certificates demand: another one if a case of it is new or another.
    #[serde(default = "first_version")]
    pub version: u32,
    /// The query of its requests.
    #[serde(default)]
    pub query: Option<String>,
    /// Its headers. `{session}` is an id of the session.
    pub headers: BTreeMap<String, String>,
    /// The header that tells a second agent of the session apart.
    #[serde(default)]
    pub helper: Option<String>,
    /// Number of its last messages whose last blocks have a cache mark.
    #[serde(default)]
    pub marked: u32,
    /// Whether its first message on a WebSocket has the instructions alone, and asks for no answer.
    #[serde(default)]
    pub is_warmed: bool,
    /// Whether it sends the phases of messages back.
    #[serde(default)]
    pub is_phased: bool,
    /// Its requests beside its turns: a method, and a path from the root of the gateway.
    #[serde(default)]
    pub probes: Vec<String>,
    /// The directive of a call of its shell, with `$` in place of the command.
    pub shell: String,
    /// Its title.
    #[serde(skip)]
    pub title: String,
    /// The rest of the page, as Markdown.
    #[serde(skip)]
    pub prose: String,
    /// Its first request. `{model}` is the model, `{first}` the first text of the user, `{fill N}` a text of N characters.
    #[serde(skip)]
    pub request: Request,
    /// The first request of a second agent.
    #[serde(skip)]
    pub helper_request: Request,
}

const fn first_version() -> u32 {
    1
}

impl AgentProfile {
    /// Parses the page of the profile with this id.
    ///
    /// # Errors
    ///
    /// Fails on the first invalid line.
    pub fn parse(id: &str, text: &str) -> Result<Self, PageError> {
        let page = Page::split(text, "json")?;
        let profile: Self = page.metadata()?;
        let request = |at: usize| page.data.get(at).map_or_else(|| Ok(Request::default()), Block::request);
        let [request, helper_request] = [request(0)?, request(1)?];
        Ok(Self {
            id: id.to_owned(),
            title: page.title,
            prose: page.prose,
            request,
            helper_request,
            ..profile
        })
    }
}

words! {
    /// How a stream is cut into writes.
    pub enum Writes = Events {
        /// Each event is written at once.
        Events,
        /// All of it is written at once.
        Whole,
        /// Each byte is written alone.
        Bytes,
        /// Writes end within lines, and within characters of several bytes.
        Split,
        /// Each event is written at once, and lines end with CR LF.
        Crlf,
        /// Comments, pings and empty lines stand between the events.
        Comments,
    }

    /// A place in the upstream's stream.
    pub enum SilentPlace {
        /// Before the first event.
        Start,
        /// After half of the events.
        Middle,
    }

    /// A fault of the upstream's stream.
    pub enum UpstreamFault {
        /// The connection breaks.
        Cut,
        /// The stream ends as if it were complete.
        End,
        /// An error event follows.
        Error,
        /// An event is no JSON.
        Malformed,
        /// Nothing follows, and the connection stays open.
        Stall,
    }

    /// The places of faults in the upstream's stream.
    pub enum FaultPlaces = Each {
        /// Before the first event, and after each but the last.
        Each,
        /// Before the first event, after the first that has output, and before the one that ends the response.
        Edges,
    }
}

/// A rule about what passes through a gateway, or about clients.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Constant)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TestRule {
    /// Its path, `group/name`. The fault of the reference translator that breaks a rule of gateways has the same name.
    #[serde(skip)]
    pub id: String,
    /// Its level.
    pub level: Level,
    /// Its ground: a clause of the contract, a standard, or a sentence of an API. Never `observed`.
    pub authority: Authority,
    /// The clause of `between/contract.toml` or `client-contract.toml`, if it rests on one.
    pub clause: Option<String>,
    /// The documents that say so; beside a clause, what they say about it.
    #[serde(default)]
    pub citations: Vec<Citation>,
    /// The threads of users who met it broken, `repository#number: what happened`. No level rests on them.
    #[serde(default)]
    pub threads: Vec<String>,
    /// The remedy where it is broken.
    pub fix: String,
    /// The modes of a gateway in which it applies; all if empty.
    #[serde(default)]
    pub modes: Vec<HandlingMode>,
    /// The rules of the client's APIs that it replaces, as it knows what a gateway may do.
    #[serde(default)]
    pub replaces: Vec<String>,
    /// The version of the suite that has it first.
    pub since: String,
    /// Its title.
    #[serde(skip)]
    pub title: String,
    /// The rest of the page, as Markdown.
    #[serde(skip)]
    pub prose: String,
    /// Rows of a log that break it, one a line; only for rules about logs.
    #[serde(skip)]
    pub violation: String,
}

impl TestRule {
    /// Parses the page of the rule with this id.
    ///
    /// # Errors
    ///
    /// Fails on the first invalid line.
    pub fn parse(id: &str, text: &str) -> Result<Self, PageError> {
        let page = Page::split(text, "json")?;
        let rule: Self = page.metadata()?;
        let violation = page.data.iter().map(|block| block.text.as_str()).collect();
        Ok(Self { id: id.to_owned(), title: page.title, prose: page.prose, violation, ..rule })
    }
}

words! {
    /// How a gateway handles an operation.
    pub enum HandlingMode = Transform {
        /// Bytes pass unchanged.
        Passthrough,
        /// Messages are read, and stay the same in meaning.
        Inspect,
        /// One API is translated to another.
        Transform,
        /// The gateway answers itself.
        Local,
    }
}

/// A duty of gateways to both of their ends, or of clients to callers and servers, that no API states.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Constant)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ContractClause {
    /// The name by which rules rest on it.
    pub id: String,
    /// The duty, in one sentence.
    pub owes: String,
    /// Why.
    pub because: String,
}

/// `between/contract.toml` and `client-contract.toml`
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ContractFile {
    /// The clauses.
    #[serde(default, rename = "clause")]
    pub clauses: Vec<ContractClause>,
}

/// `between/agents.toml`
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct AgentsFile {
    /// The agents.
    #[serde(default, rename = "agent")]
    pub agents: Vec<Agent>,
    /// Their reactions.
    #[serde(default, rename = "fault")]
    pub faults: Vec<AgentFault>,
}

/// An agent that was run with faults.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Constant)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Agent {
    /// Its name in reactions.
    pub id: String,
    /// Its name in reports.
    pub title: String,
    /// The version that was run.
    pub version: String,
    /// The day of the last run with all faults.
    pub date: String,
    /// The API that it spoke.
    pub api: String,
}

/// A fault, and what agents do after it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Constant)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct AgentFault {
    /// The failure that the agent got.
    pub after: String,
    /// The rules that a gateway breaks which brings it about.
    #[serde(default)]
    pub rules: Vec<String>,
    /// The failure that it was before a gateway broke these rules.
    #[constant(skip)]
    pub instead_of: Option<String>,
    /// How a server brings it about.
    #[constant(skip)]
    pub served: ServedFault,
    /// The reaction of each agent.
    pub reactions: Vec<Reaction>,
}

/// A failure of a server from the third request on: a refusal, a body that is no stream, or a stream with a fault.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ServedFault {
    /// The APIs that can have it; all if empty.
    #[serde(default)]
    pub apis: Vec<String>,
    /// Whether each further request fails, too.
    #[serde(default)]
    pub each: bool,
    /// Requests fail only while they have this text.
    pub while_sent: Option<String>,
    /// The status of a refusal.
    pub status: Option<u16>,
    /// The headers of a refusal.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// The message of a refusal.
    pub message: Option<String>,
    /// The code of a refusal, in APIs that have codes.
    pub code: Option<String>,
    /// The page of HTML that comes instead of a stream.
    pub page: Option<String>,
    /// The rule that the stream breaks, by API, as `conformance serve --fault` does.
    #[serde(default)]
    pub breaks: BTreeMap<String, String>,
    /// Lines that the stream has after its second event.
    pub inserts: Option<String>,
    /// The last place of the stream that is sent.
    pub until: Option<StreamPlace>,
    /// The end of the stream after this place.
    pub then: Option<StreamEnd>,
}

words! {
    /// A place in a stream.
    pub enum StreamPlace {
        /// Before the first event.
        Start,
        /// After the first event.
        Opening,
        /// After a finished call, inside the next one.
        SecondCall,
        /// Before the event that ends the response.
        Last,
    }

    /// The end of a broken stream.
    pub enum StreamEnd {
        /// The connection is reset.
        Reset,
        /// The body ends as if it were complete.
        End,
        /// An error event of the API.
        Error,
    }
}

/// The reaction of an agent to a fault: exactly one of `does` and `harm`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Constant)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Reaction {
    /// The agent.
    pub agent: String,
    /// A reaction without harm.
    pub does: Option<String>,
    /// A reaction that harms its user where a gateway brings the fault about.
    pub harm: Option<String>,
}

/// A limit of a pair of APIs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Constant)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct BetweenLimit {
    /// The API of the client; any if absent.
    pub front: Option<String>,
    /// The API of the upstream; any if absent.
    pub upstream: Option<String>,
    /// The rule that does not apply.
    pub rule: String,
    /// The case, `group/name`, or a group with `/`; all if absent.
    pub case: Option<String>,
    /// The kind of the findings that do not apply; all if absent.
    pub kind: Option<String>,
    /// Why.
    pub reason: String,
    /// Who says so.
    pub authority: String,
}

/// A demand of the published schema of requests that the servers of the API do not make.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Constant)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct BetweenLeniency {
    /// The API of the upstream.
    pub upstream: String,
    /// The end of the JSON Pointer of the place, with `*` for indexes.
    pub place: String,
    /// The demand.
    pub demand: String,
    /// Why a request without it is right.
    pub reason: String,
    /// Who says so.
    pub authority: String,
    /// A request without it, as JSON.
    pub request: String,
}

/// `between/limits.toml`
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct BetweenLimitsFile {
    /// The limits.
    #[serde(default, rename = "limit")]
    pub limits: Vec<BetweenLimit>,
    /// The demands that servers do not make.
    #[serde(default, rename = "leniency")]
    pub leniencies: Vec<BetweenLeniency>,
}
