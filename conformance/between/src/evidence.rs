//! The recording of a test: the client's exchanges with the gateway, and the gateway's with the upstream.

use std::fmt;
use std::time::Duration;

use catalogue::{AgentProfile, BetweenCase, FaultPlaces, HandlingMode, SessionCase, UpstreamFault, Writes};
use gateway::with_path;
use results::Declared;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use spec::{Api, Dialect};

/// Tolerance for a declared silence, on a machine with other work.
pub(crate) const SILENCE_GRACE: Duration = Duration::from_secs(1);

/// The case of all sessions.
pub(crate) static REPLAY: BetweenCase = BetweenCase {
    id: "session/replay",
    answers: &[],
    results: &[],
    is_whole: false,
    writes: Writes::Events,
    is_in_step: false,
    silent_at: None,
    faults: &[],
    places: FaultPlaces::Each,
    statuses: &[],
    retry_after: None,
    content_type: None,
    leaves_after: None,
    crowd: None,
    like: None,
    session: Some(SessionCase {
        profiles: &[],
        fault_at: 0,
        refusal: None,
        refused: None,
        refusal_headers: &[],
        then: None,
        adds: "",
        adds_headers: &[],
        is_probed: false,
        interjects_at: None,
        interjection: None,
        helper: &[],
        helper_task: None,
        compacts_at: None,
        triggers: false,
        moves_at: None,
    }),
    fronts: &[],
    upstreams: &[],
    title: "A recorded session",
    prose: "",
    question: "{}",
};

/// A case for a pair of APIs, with one of its faults if it has any.
#[derive(Clone)]
pub struct Test {
    /// Its name: `FRONT-UPSTREAM/CASE`, followed by `@FAULT` or `@FAULT:PLACE`.
    pub name: String,
    /// The case.
    pub case: &'static BetweenCase,
    /// The agent that plays it, if it is a session.
    pub agent: Option<&'static AgentProfile>,
    /// The dialect of the client.
    pub front: &'static Dialect,
    /// The dialect of the upstream.
    pub upstream: &'static Dialect,
    /// How the gateway handles the operation.
    pub mode: HandlingMode,
    /// The failure of the upstream.
    pub fault: Option<Fault>,
    /// The word that marks its requests.
    pub mark: String,
    /// The model that the client asks for.
    pub model: String,
    /// The declarations about the gateway.
    pub declared: Declared,
    /// Whether the response limit is declared to be longer than the gateway's own.
    pub is_limit_known: bool,
}

impl Test {
    pub(crate) const fn is_session(&self) -> bool {
        self.case.session.is_some()
    }

    /// The fault befalls the answer to this turn.
    pub(crate) const fn is_faulty(&self, turn: usize) -> bool {
        self.fault.is_some() && turn == self.case.fault_at()
    }

    /// How long the upstream is silent, if it is: longer than the gateway declares to be.
    pub(crate) fn silence(&self) -> Option<Duration> {
        let declared = self.declared.keeps_alive.filter(|_| self.case.silent_at.is_some())?;
        Some(Duration::from_secs(declared) + 2 * SILENCE_GRACE)
    }

    /// The number of the answer to a turn. In a session, the turn after a fault asks again.
    pub(crate) fn answer_at(&self, turn: usize) -> usize {
        let is_again = self.is_session() && self.fault.is_some() && turn > self.case.fault_at();
        turn - usize::from(is_again)
    }
}

// Dialects refer to each other in a circle, and have no end.
impl fmt::Debug for Test {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Test").field("name", &self.name).field("mark", &self.mark).finish_non_exhaustive()
    }
}

/// A failure of the upstream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// A fault of the stream, before the event of this number, counted from 0.
    Stream(UpstreamFault, usize),
    /// The request is refused with this status.
    Status(u16),
}

/// The recordings of a test.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Evidence {
    /// Exchanges of the client beside its turns, before the first one.
    pub probes: Vec<Exchanged>,
    /// The exchanges of the client with the gateway, one for each turn. Of a crowd, one for each client.
    pub client: Vec<Exchanged>,
    /// The gateway's exchanges with the upstream that carry the mark of the test, in the order of their beginnings.
    pub upstream: Vec<Exchanged>,
    /// The exchange after a fault: a plain question, which must be answered.
    pub after: Option<Exchanged>,
    /// The exchanges of the gateway with the upstream for it.
    pub after_upstream: Vec<Exchanged>,
    /// Number of requests of the gateway without a mark while the test ran.
    pub unmarked: u64,
}

/// A recorded exchange. Times are from the start of the test, on one clock.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Exchanged {
    /// When the request was sent, or received.
    pub at: Duration,
    /// The method of the request.
    pub method: Method,
    /// The path of the request.
    pub path: String,
    /// The headers of the request, with names in lower case. Keys are replaced, see [`Exchanged::keys`].
    pub headers: Vec<(String, String)>,
    /// The body of the request.
    pub body: Vec<u8>,
    /// The keys of the run that were seen in this exchange.
    pub keys: Vec<SeenKey>,
    /// The turn of the case that it belongs to.
    pub turn: usize,
    /// The status of the upgrade to a WebSocket before it, if one was asked for.
    pub upgrade: Option<u16>,
    /// The response, if there was one.
    pub response: Option<Response>,
}

/// The method of a request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Method {
    /// `POST`, as all requests for an answer.
    #[default]
    Post,
    /// `GET`.
    Get,
    /// `HEAD`.
    Head,
}

impl Method {
    /// Its name in HTTP.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Post => "POST",
            Self::Get => "GET",
            Self::Head => "HEAD",
        }
    }

    /// The method of this name. Requests without a known one are those for answers.
    pub(crate) fn named(name: &str) -> Self {
        [Self::Get, Self::Head].into_iter().find(|method| method.name() == name).unwrap_or_default()
    }
}

/// A key of the run where it was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeenKey {
    /// Whose it is.
    pub key: RunKey,
    /// Where.
    pub place: KeyPlace,
}

/// The keys of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunKey {
    /// That of the client for the gateway.
    Client,
    /// That of the gateway for the upstream.
    Upstream,
}

/// The places of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KeyPlace {
    /// The headers of the request.
    RequestHeaders,
    /// The body of the request.
    RequestBody,
    /// The headers of the response.
    ResponseHeaders,
    /// The body of the response.
    ResponseBody,
}

/// A recorded response.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Response {
    /// Its status.
    pub status: u16,
    /// Its headers, with names in lower case.
    pub headers: Vec<(String, String)>,
    /// The pieces of its body, each with the time when it was sent or received.
    pub pieces: Vec<(Duration, Vec<u8>)>,
    /// How it ended.
    pub end: Ended,
    /// When it ended.
    pub ended_at: Duration,
}

/// How a response ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Ended {
    /// The body was complete by HTTP.
    #[default]
    Complete,
    /// The connection broke.
    Broken(String),
    /// The side that reads it went away.
    Left,
    /// Nothing followed within the limit.
    Silent(String),
}

impl Evidence {
    pub(crate) fn bytes(&self) -> u64 {
        let all = self
            .probes
            .iter()
            .chain(&self.client)
            .chain(&self.upstream)
            .chain(&self.after)
            .chain(&self.after_upstream);
        let of = |exchange: &Exchanged| {
            let pieces = exchange.response.iter().flat_map(|response| &response.pieces);
            exchange.body.len() + pieces.map(|(_, bytes)| bytes.len()).sum::<usize>()
        };
        all.map(|exchange| of(exchange) as u64).sum()
    }
}

impl Exchanged {
    /// Times count from an earlier moment.
    pub(crate) fn later(mut self, by: Duration) -> Self {
        self.at += by;
        if let Some(response) = &mut self.response {
            response.pieces.iter_mut().for_each(|(at, _)| *at += by);
            response.ended_at += by;
        }
        self
    }

    /// The body of the request of an API as JSON, with the members that its path has.
    pub fn request(&self, api: &Api) -> Option<Value> {
        serde_json::from_slice(&self.body).ok().map(|body| with_path(api, &self.path, body))
    }
}

impl Response {
    /// The JSON of its events, or of its body.
    pub(crate) fn values(&self) -> Vec<Value> {
        let body = self.body();
        let text = String::from_utf8_lossy(&body);
        let lines = text.lines().map(|line| line.strip_prefix("data:").unwrap_or(line));
        lines.filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// The whole body.
    pub fn body(&self) -> Vec<u8> {
        self.pieces.iter().map(|(_, bytes)| &**bytes).collect::<Vec<_>>().concat()
    }

    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}
