//! Rules about one API.

pub(super) mod candidate;
pub(super) mod part;
pub(super) mod usage;

use spec::json;
use spec::table::Scope;

use crate::engine::{Case, Node, Object, Stream};

/// Number of entries of a list that are looked at.
const MOST: usize = 256;

fn candidates<'c>(case: &Case<'c>) -> Vec<Object<'c>> {
    let list = case.record().and_then(|record| json::entries(record.member("candidates")?));
    list.unwrap_or_default().into_iter().take(MOST).map(Object::new).collect()
}

fn parts<'c>(candidate: &'c Object<'_>) -> Vec<Object<'c>> {
    let list = candidate.value("content").and_then(|content| json::entries(json::at(content, "/parts")?));
    list.unwrap_or_default().into_iter().take(MOST).map(Object::new).collect()
}

/// Chunks of 2023 and 2024 have no ids, and other habits.
fn is_current(case: &Case<'_>) -> bool {
    case.record().is_some_and(|record| record.member("responseId").is_some())
}

fn has(stream: &Stream, candidate: &Node, scope: Scope) -> bool {
    stream.children(candidate, scope).next().is_some()
}
