//! The requests of a client for a case, and their problems.

use std::time::Instant;

use gateway::Received;
use results::text::{cut, visible};
use spec::Api;

const LONGEST: usize = 300;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RequestProblem {
    /// The name of its rule in `client-request/`, such as `schema`, or the id of the violated sentence.
    pub(super) rule: &'static str,
    pub(super) message: String,
}

/// A request of a client with the time at which it came, or a message on a WebSocket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Sent {
    Request(Received, Instant),
    Message(String),
}

/// With the times when they came.
pub(super) fn attempts<'s>(sent: &'s [Sent], api: &Api) -> Vec<(&'s Received, Instant)> {
    let of_case = |one: &'s Sent| match one {
        Sent::Request(request, at) if request.method == "POST" && api.is_at(&request.path) => {
            Some((request, *at))
        }
        _ => None,
    };
    sent.iter().filter_map(of_case).collect()
}

pub(super) fn problem(rule: &'static str, message: impl AsRef<str>) -> RequestProblem {
    RequestProblem { rule, message: visible(&cut(message.as_ref(), LONGEST)) }
}
