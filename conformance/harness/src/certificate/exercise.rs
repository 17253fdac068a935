//! Which answers show whether a rule holds.

use std::collections::BTreeSet;

use catalogue::{OnSocket, Rule};
use spec::Dialect;
use spec::table::Scope;

use crate::live::{Attempt, Case};
use checker::is_about_bodies;

/// What answers must be for a rule to look at them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LooksAt {
    Streams,
    Bodies,
    Sockets,
}

impl LooksAt {
    fn of(rule: &Rule) -> Self {
        if rule.id.starts_with("ws/") {
            Self::Sockets
        } else if is_about_bodies(rule) {
            Self::Bodies
        } else {
            Self::Streams
        }
    }
}

/// Rules about the head of an answer, which not every recording has.
const OF_HEADS: [&str; 3] =
    ["error/status-agrees", "wire/event-stream-content-type", "wire/json-content-type"];

/// Why a recording cannot show that a rule holds, whatever is in its events.
pub fn unseen(report: &results::CaptureReport, rule: &Rule) -> Option<&'static str> {
    use recordings::capture::Format;

    let has_heads =
        matches!(report.format, Some(Format::Http | Format::Har | Format::Cassette | Format::Exchange));
    match LooksAt::of(rule) {
        _ if OF_HEADS.contains(&rule.id) && !has_heads => Some("it has no headers"),
        LooksAt::Bodies if report.bodies == report.unjudged => {
            Some("there is no answer in it that is no stream")
        }
        LooksAt::Sockets if report.format != Some(Format::WebSocket) => Some("it is of no WebSocket"),
        LooksAt::Streams | LooksAt::Sockets if report.events == 0 => Some("there is no event in it"),
        _ => None,
    }
}

/// Whether the answer to a case shows that a rule holds, if it is not found broken.
pub(super) fn exercises(case: &Case, attempt: &Attempt, rule: &Rule, dialect: &Dialect) -> bool {
    let names_it = case.scenario.rules.contains(&rule.id);
    let is_of_few = matches!(rule.group(), "error" | "request");
    match LooksAt::of(rule) {
        LooksAt::Bodies => attempt.report.bodies > 0 && (names_it || !is_of_few),
        LooksAt::Sockets => attempt.report.events > 0 && shows(case, rule),
        LooksAt::Streams if attempt.report.events == 0 => false,
        LooksAt::Streams if names_it => true,
        LooksAt::Streams if is_of_few => false,
        LooksAt::Streams => {
            let seen = scopes(attempt, dialect);
            rule.scopes.is_empty() || rule.scopes.iter().any(|scope| seen.contains(scope))
        }
    }
}

/// Whether the turns of a case bring what a rule about a WebSocket looks at.
fn shows(case: &Case, rule: &Rule) -> bool {
    let is_refused = !case.scenario.status.is_empty();
    let is_ahead = case.scenario.websocket == Some(OnSocket::Ahead);
    match rule.id {
        _ if case.turns.is_empty() => false,
        "ws/answers-create" => true,
        "ws/error-envelope" => is_refused,
        // Turns that wait for each other cannot overlap.
        "ws/one-in-flight" => is_ahead,
        // Which turn continues what the connection knows is in the scenarios alone.
        _ => case.scenario.rules.contains(&rule.id),
    }
}

/// The scopes of the events that came, with what they lie in.
fn scopes(attempt: &Attempt, dialect: &Dialect) -> BTreeSet<Scope> {
    let events = attempt.facts.events.keys().filter_map(|event| dialect.event(event));
    events.flat_map(|event| std::iter::successors(Some(event.scope), |scope| scope.info().parent)).collect()
}

#[cfg(test)]
mod tests {

    use super::OF_HEADS;

    #[test]
    fn what_is_named_is_there() {
        let ids = OF_HEADS.into_iter().chain(["ws/answers-create", "ws/error-envelope", "ws/one-in-flight"]);
        assert!(ids.into_iter().all(|id| catalogue::rule(id).is_some()));
    }
}
