//! Recorded sessions of agents: what a client sent over many turns, and what its upstream answered.
//!
//! `docs/sessions.md` describes the form. Recordings with requests are read, too.

mod answer;
mod asking;
mod ends;
mod form;
mod hidden;
mod played;
mod read;
mod recording;
#[cfg(test)]
mod tests;
mod transcript;

use std::sync::Arc;

use catalogue::AgentProfile;
use spec::{Api, Dialect};

pub(crate) use answer::{RecordedAnswer, answer};
pub use ends::judge_ends;
pub(crate) use played::PlayedSession;
pub use read::read_sessions;

/// A recorded session.
#[derive(Debug, Clone)]
pub struct Session {
    /// Its name, which is part of the name of its tests.
    pub name: String,
    /// The API of the client, with its usual dialect.
    pub(crate) front: &'static Dialect,
    /// Its requests that create responses, in order.
    pub(crate) requests: Vec<RecordedRequest>,
    /// Number of its other lines, such as probes and messages of a `WebSocket`.
    pub left_out: usize,
    /// The agent whose requests its requests are made like, if it is a transcript.
    pub made_as: Option<&'static AgentProfile>,
}

/// A recorded request, with the upstream's answer.
#[derive(Debug, Clone, Default)]
pub(crate) struct RecordedRequest {
    /// The segments of its path, if these name the model.
    pub(crate) at: Vec<String>,
    /// The query of its path.
    pub(crate) query: Option<String>,
    /// The headers that a client sends by itself, without keys and headers of one connection.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
    pub(crate) status: u16,
    pub(crate) response_headers: Vec<(String, String)>,
    pub(crate) response: String,
    /// The connection broke before the end of the response.
    pub(crate) is_cut: bool,
}

impl RecordedRequest {
    fn target(&self, api: &Api) -> String {
        let path = match &*self.at {
            [] => api.path.to_owned(),
            segments => format!("/{}", segments.join("/")),
        };
        self.query.as_ref().map_or_else(|| path.clone(), |query| format!("{path}?{query}"))
    }
}

impl Session {
    /// The API of the client.
    pub const fn api(&self) -> &'static Api {
        self.front.api
    }

    /// The number of its requests that create responses.
    #[expect(clippy::len_without_is_empty, reason = "each has one")]
    pub const fn len(&self) -> usize {
        self.requests.len()
    }

    pub(crate) fn test_name(&self) -> String {
        format!("session/{}", self.name)
    }
}

pub(crate) fn of_test<'s>(sessions: &'s [Arc<Session>], test: &str) -> Option<&'s Arc<Session>> {
    let (_, name) = test.split_once('/')?;
    sessions.iter().find(|session| session.test_name() == name)
}
