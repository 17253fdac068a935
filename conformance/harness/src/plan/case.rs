//! A case: a scenario over one transport, with its trials.

use catalogue::{OnSocket, Scenario};
use spec::Api;
use spec::table::Operation;

use super::body::RequestContext;
use super::call::{Call, wants_stream};
use super::given::{Given, not_given};
use super::marks::is_marked;
use super::messages::{is_in_lane, messages};
use super::previous::PreviousResponse;
use super::seed::Seed;
use super::trials::About;
use results::{Judgement, Transport};

/// A scenario over one transport: its requests, and the trials of its response.
#[derive(Debug, Clone)]
pub struct ScenarioCase {
    /// Its name: the scenario's, followed by `.json` for a twin.
    pub name: String,
    /// The scenario.
    pub scenario: &'static Scenario,
    /// The API.
    pub api: &'static Api,
    /// Whether it is the non-streaming twin.
    pub is_twin: bool,
    /// Index of the case whose response it continues or refers to.
    pub previous: Option<usize>,
    /// Index of the case whose response must agree with its own.
    pub compared: Option<usize>,
    /// Its verdict, if it is not sent.
    pub unfit: Option<Judgement>,
    /// The feature of its operation, unless the endpoint claims to support it: its route may be missing.
    pub optional: Option<&'static str>,
    /// The words that one of its responses must contain.
    pub says: Option<String>,
    /// Its trials.
    pub trials: Vec<About>,
    /// The turns on a WebSocket, with its own turn as the last; empty over HTTP.
    pub turns: Vec<&'static Scenario>,
}

impl ScenarioCase {
    /// Skips the case if it requires a value that was not given.
    pub fn give(&mut self, given: &Given) {
        if self.unfit.is_none() {
            self.unfit = not_given(self.scenario, given);
        }
    }

    /// Expects the words that a run with this seed requests.
    pub fn expect(&mut self, seed: &Seed) {
        self.says = seed.says(self.scenario);
    }

    /// The name of one of its trials.
    pub fn trial(&self, about: About) -> String {
        format!("{}::{}", self.name, about.name())
    }

    /// The name of the trial of its shape.
    pub fn shape(&self) -> String {
        format!("{}::snapshot", self.name)
    }

    /// Returns whether its response consists of events.
    pub fn has_stream(&self) -> bool {
        self.wants_stream() || self.transport() == Transport::Websocket
    }

    /// Returns whether the order of its events depends on timing: several lanes, or messages during a response.
    pub fn is_mixed(&self) -> bool {
        self.turns.iter().any(|turn| match turn.websocket {
            Some(OnSocket::During) => true,
            Some(OnSocket::Ahead) => is_in_lane(turn, self.api),
            _ => turn.lanes.is_some(),
        })
    }

    /// Its transport.
    pub const fn transport(&self) -> Transport {
        match (self.turns.is_empty(), self.is_twin) {
            (false, _) => Transport::Websocket,
            (true, true) => Transport::Json,
            (true, false) => Transport::Sse,
        }
    }

    /// The number of its requests.
    pub fn requests(&self) -> usize {
        messages(&self.turns).count().max(1)
    }

    /// Its request.
    pub fn call(&self, context: &RequestContext<'_>, before: Option<&PreviousResponse>) -> Call {
        Call::of(self.scenario, self.api, context, before, self.is_twin)
    }

    /// Returns whether each request has a unique mark, so that many can be sent concurrently.
    pub fn is_marked(&self) -> bool {
        is_marked(self.scenario, self.is_twin)
    }

    /// Returns whether its response is a part of a stream: the start, or the rest of one.
    pub fn is_part(&self) -> bool {
        self.scenario.cut_after.is_some() || self.scenario.operation == Operation::Resume
    }

    /// Returns whether its response should be a stream.
    pub fn wants_stream(&self) -> bool {
        wants_stream(self.scenario, self.is_twin)
    }
}
