//! Rules about one API.

pub(super) mod call;
pub(super) mod candidate;
pub(super) mod part;
pub(super) mod request;
pub(super) mod usage;

use spec::json;
use spec::table::Scope;

use crate::Transport;
use crate::engine::{AllListed, Case, Listed, Lists, Node, Object, Record, Stream};

pub(super) const LISTS: Lists = ("candidates", "/content/parts");

/// Number of entries of a list that are looked at.
const MOST: usize = 256;

/// The service runs these itself. With them, a reason to finish can come before the end.
const OF_SERVICE: [(Scope, &str); 5] = [
    (Scope::ExecutableCode, "executableCode"),
    (Scope::CodeResult, "codeExecutionResult"),
    (Scope::ServerCall, "toolCall"),
    (Scope::ServerResult, "toolResponse"),
    (Scope::FunctionResponse, "functionResponse"),
];

/// A candidate of the chunk, by its place in it.
struct Candidate<'c> {
    nth: usize,
    value: Object<'c>,
    record: &'c Record<'c>,
    parts: &'c [Listed],
}

struct Part<'c> {
    nth: usize,
    value: Object<'c>,
    record: &'c Record<'c>,
    candidate: usize,
}

fn listed<'c>(case: &Case<'c>) -> Option<(&'c Record<'c>, &'c AllListed)> {
    case.record().map(|record| (record, record.listed(LISTS)))
}

fn candidates<'c>(case: &Case<'c>) -> impl Iterator<Item = Candidate<'c>> + use<'c> {
    let all = listed(case).map(|(record, all)| {
        all.entries.iter().enumerate().map(move |(nth, entry)| Candidate {
            nth,
            value: record.listed_object(entry),
            record,
            parts: all.inner.get(entry.inner.clone()).unwrap_or_default(),
        })
    });
    all.into_iter().flatten()
}

fn parts<'c>(case: &Case<'c>) -> impl Iterator<Item = Part<'c>> + use<'c> {
    let all = listed(case).map(|(record, all)| {
        all.inner.iter().enumerate().map(move |(at, part)| {
            let first = all.entries.get(part.around).map_or(0, |entry| entry.inner.start);
            Part { nth: at - first, value: record.listed_object(part), record, candidate: part.around }
        })
    });
    all.into_iter().flatten()
}

impl<'c> Candidate<'c> {
    fn pointer(&self, rest: &str) -> String {
        format!("/candidates/{}{rest}", self.nth)
    }

    fn parts(&self) -> impl Iterator<Item = Object<'c>> + use<'c> {
        let record = self.record;
        self.parts.iter().map(move |part| record.listed_object(part))
    }

    /// The candidate of the chunks before.
    fn known(&self, stream: &'c Stream) -> Option<&'c Node> {
        let index = self.value.get("index").map_or(Some(0), |index| index.parse().ok())?;
        stream.items().find(|item| item.key.entry() == Some(index))
    }

    fn is_served(&self, stream: &'c Stream) -> bool {
        let is_of_service = |part: &Object<'_>| OF_SERVICE.iter().any(|(_, kind)| part.get(kind).is_some());
        self.known(stream).is_some_and(|known| is_served(stream, known))
            || self.parts().any(|it| is_of_service(&it))
    }
}

impl Part<'_> {
    fn pointer(&self, rest: &str) -> String {
        format!("/candidates/{}/content/parts/{}{rest}", self.candidate, self.nth)
    }

    /// The candidate finishes in the same chunk.
    fn is_last(&self) -> bool {
        let candidate = self.record.listed(LISTS).entries.get(self.candidate);
        candidate
            .is_some_and(|candidate| self.record.listed_object(candidate).value("finishReason").is_some())
    }

    fn is_thought(&self) -> bool {
        self.value.get("thought") == Some("true")
    }
}

/// Chunks of 2023 and 2024 have no ids, and other habits.
fn is_current(case: &Case<'_>) -> bool {
    case.record().is_some_and(|record| record.member("responseId").is_some())
}

/// Bodies have habits of their own.
fn is_body(case: &Case<'_>) -> bool {
    let is_unframed = case.record().is_none_or(|record| record.frame.transport == Transport::Unframed);
    is_unframed && case.stream.events == 0
}

fn has(stream: &Stream, candidate: &Node, scope: Scope) -> bool {
    stream.children(candidate, scope).next().is_some()
}

fn is_served(stream: &Stream, candidate: &Node) -> bool {
    OF_SERVICE.iter().any(|(scope, _)| has(stream, candidate, *scope))
}

fn list<'v>(value: &'v str, pointer: &str) -> impl Iterator<Item = &'v str> + use<'v> {
    json::at(value, pointer).and_then(json::entries).unwrap_or_default().into_iter().take(MOST)
}
