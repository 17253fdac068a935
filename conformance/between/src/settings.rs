//! Settings of a run.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use catalogue::{AgentProfile, HandlingMode};
use harness::suite::Selection;
use results::{Declared, Shard};
use spec::Dialect;

use crate::session::Session;

/// Settings of a run.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The base URL of the gateway, such as `http://127.0.0.1:4000/v1`.
    pub gateway: String,
    /// The name of the gateway in reports.
    pub name: String,
    /// The command that started it, if the suite did.
    pub command: Vec<String>,
    /// Headers to send with each request, as `Name: value`.
    pub headers: Vec<String>,
    /// The pairs of APIs.
    pub pairs: Vec<Pair>,
    /// The model to ask for.
    pub model: String,
    /// The key of the client for the gateway.
    pub key: Option<String>,
    /// The key that the gateway has for the upstream, if known.
    pub upstream_key: Option<String>,
    /// The declarations about the gateway.
    pub declared: Declared,
    /// The agents that play sessions instead of the cases.
    pub agents: Vec<&'static AgentProfile>,
    /// The sessions to replay instead of the cases.
    pub sessions: Vec<Arc<Session>>,
    /// The tests to run.
    pub selection: Selection,
    /// The part of them to run.
    pub shard: Option<Shard>,
    /// Number of tests to run at once.
    pub jobs: usize,
    /// Limit of a response.
    pub limit: Duration,
    /// Whether this limit is declared to be longer than the gateway's own.
    pub is_limit_known: bool,
    /// Maximum number of bytes that the run records.
    pub max_bytes: Option<u64>,
    /// Maximum duration of the run.
    pub max_time: Option<Duration>,
    /// Limit of a wait of the upstream for the client.
    pub patience: Duration,
    /// The folder for the evidence.
    pub out: Option<PathBuf>,
}

/// A pair of APIs.
#[derive(Debug, Clone)]
pub struct Pair {
    /// The dialect of the client.
    pub front: &'static Dialect,
    /// The dialect of the upstream.
    pub upstream: &'static Dialect,
    /// How the gateway handles it.
    pub mode: HandlingMode,
    /// The base URL of the gateway for this pair, if it has one of its own.
    pub gateway: Option<String>,
}

impl Pair {
    /// Returns the pair of two APIs, in their usual dialects.
    pub const fn new(front: &'static Dialect, upstream: &'static Dialect, mode: HandlingMode) -> Self {
        Self { front, upstream, mode, gateway: None }
    }

    /// Returns the pair of two APIs for a translation.
    pub fn transforming(front: &'static Dialect, upstream: &'static Dialect) -> Self {
        Self::new(front, upstream, HandlingMode::Transform)
    }

    /// Returns the pair of two APIs as the reference translator handles it: it passes bytes on where the APIs are the same.
    pub fn of_reference(front: &'static Dialect, upstream: &'static Dialect) -> Self {
        let is_same = front.api.name == upstream.api.name;
        let mode = if is_same { HandlingMode::Passthrough } else { HandlingMode::Transform };
        Self::new(front, upstream, mode)
    }

    /// The names of the two APIs.
    pub fn name(&self) -> String {
        format!("{}-{}", self.front.api.name, self.upstream.api.name)
    }
}
