//! Rules that compare a response with its request.

use spec::table::Scope;

use super::call::has_prefix;
use super::{candidates, has, is_body, parts};
use crate::engine::{Case, Node, Object, number};
use crate::rules::request;

pub(in crate::rules) fn count_asked(case: &mut Case<'_>) {
    let Some(asked) = &case.head.asked else { return };
    let count = asked.at("/generationConfig/candidateCount").and_then(number).unwrap_or(1.0);
    for candidate in candidates(case) {
        let Some(index) = candidate.value.number("index").filter(|index| *index >= count) else { continue };
        case.fault(&candidate.pointer("/index"), &format!("less than {count}"), &index.to_string(), || {
            format!("the request asks for {count} candidates, but one has the index {index}")
        });
    }
}

/// Tools of the service bring functions of their own; the service lets a model invent some in bodies.
pub(in crate::rules) fn offered(case: &mut Case<'_>, node: &Node, call: &Object<'_>) {
    // `function-call/not-prefixed` reports the prefix.
    let is_prefixed = || call.string("name").is_some_and(|name| has_prefix(&name));
    if !is_body(case) && !is_prefixed() {
        request::offered(case, node, call);
    }
}

pub(in crate::rules) fn format_kept(case: &mut Case<'_>, candidate: &Node, _: &Object<'_>) {
    let stream = case.stream;
    let Some(asked) = request::of_whole(case) else { return };
    let is_json = asked.at("/generationConfig/responseMimeType") == Some("\"application/json\"");
    if !is_json || !request::is_complete(case, candidate) || has(stream, candidate, Scope::FunctionCall) {
        return;
    }
    let text = stream.children(candidate, Scope::Text).next().filter(|text| !text.partial);
    if let Some(text) = text.map(|text| text.joined.clone()) {
        request::json(case, &text, false);
    }
}

/// The service reads requests in two spellings, which can be mixed.
pub(in crate::rules) fn thoughts_asked(case: &mut Case<'_>) {
    let Some(asked) = &case.head.asked else { return };
    let is_named =
        |config: &str| ["includeThoughts", "include_thoughts"].iter().any(|name| config.contains(name));
    let configs = ["generationConfig", "generation_config"].iter().filter_map(|name| asked.value(name));
    if configs.into_iter().any(is_named) {
        return;
    }
    for part in parts(case).filter(super::Part::is_thought) {
        case.fault(&part.pointer("/thought"), "no thoughts", "true", || {
            "a part is a thought, which the request does not ask for".to_owned()
        });
    }
}
