//! Rules of the groups `generation`, `candidate` and `grounding`.

use std::collections::BTreeSet;

use catalogue::Level;
use spec::json;
use spec::table::Scope;

use super::{Candidate, LISTS, MOST, candidates, has, is_body, is_current, is_served, list};
use crate::engine::{Case, FaultPlace, Node, Object, number, short};

pub(in crate::rules) fn has_candidates(case: &mut Case<'_>) {
    let Some(record) = case.record().filter(|record| !record.is_error) else { return };
    let is_blocked = record.member("promptFeedback").is_some_and(|value| value != "null");
    if !is_blocked && candidates(case).next().is_none() {
        let inside =
            |wrapped| ["/candidates", "/promptFeedback"].iter().any(|it| json::at(wrapped, it).is_some());
        let is_wrapped = record.member("response").is_some_and(inside);
        if is_wrapped {
            case.fault("/response", "candidates in the chunk itself", "candidates in `response`", || {
                "the chunk is wrapped in `response`, as Code Assist sends it".to_owned()
            });
        } else {
            case.lacks("", "candidates", || "the chunk has neither candidates nor promptFeedback".to_owned());
        }
    }
}

pub(in crate::rules) fn role(case: &mut Case<'_>) {
    for candidate in candidates(case).filter(|candidate| !candidate.parts.is_empty()) {
        let [role] = json::values(candidate.value.value("content").unwrap_or_default(), ["role"]);
        let role = Some(role).filter(|role| !role.is_empty());
        match role.and_then(json::string) {
            Some(role) if role == "model" => {}
            Some(role) => {
                let actual = format!("{role:?}");
                case.fault(&candidate.pointer("/content/role"), "\"model\"", &actual, || {
                    format!("the role of a candidate is {role:?}")
                });
            }
            // The schema reports other values.
            None if role.is_some() => {}
            None => {
                if !is_current(case) {
                    case.limit(Level::May);
                }
                case.lacks(&candidate.pointer("/content"), "role", || {
                    "the content of a candidate has no role".to_owned()
                });
            }
        }
    }
}

pub(in crate::rules) fn index_distinct(case: &mut Case<'_>) {
    let mut seen = BTreeSet::new();
    let is_one = case.record().is_some_and(|record| record.listed(LISTS).entries.len() < 2);
    for candidate in candidates(case).filter(|_| !is_one) {
        let index = candidate.value.get("index").unwrap_or("0");
        if !seen.insert(index.to_owned()) {
            case.fault(&candidate.pointer("/index"), "an index of its own", index, || {
                format!("two candidates of one chunk have the index {index}")
            });
        }
    }
}

/// The chunk that finishes may have no content.
pub(in crate::rules) fn has_parts(case: &mut Case<'_>) {
    let is_expected = |of: &Candidate<'_>| !of.parts.is_empty() || of.value.value("finishReason").is_some();
    if let Some(candidate) = candidates(case).find(|candidate| !is_expected(candidate)) {
        case.fault(&candidate.pointer(""), "parts, or a finishReason", "neither", || {
            "a candidate has neither parts nor a finishReason".to_owned()
        });
    }
}

pub(in crate::rules) fn message_at_finish(case: &mut Case<'_>) {
    let is_early = |of: &Candidate<'_>| {
        of.value.get("finishMessage").is_some() && of.value.value("finishReason").is_none()
    };
    if let Some(candidate) = candidates(case).find(is_early) {
        case.fault(&candidate.pointer("/finishMessage"), "finishReason beside it", "none", || {
            "a candidate has a finishMessage, but no finishReason".to_owned()
        });
    }
}

/// Candidates that go on after they have finished.
fn resumed<'c>(case: &Case<'c>) -> impl Iterator<Item = (Candidate<'c>, &'c Node)> + use<'c> {
    let stream = case.stream;
    let has_finished = stream.items().any(|known| known.phase.is_some());
    let is_meant = has_finished && is_current(case) && !stream.has_gap;
    let all = candidates(case).filter(move |_| is_meant);
    all.filter_map(|candidate| {
        let known = candidate.known(stream).filter(|known| known.phase.is_some())?;
        (!candidate.is_served(stream)).then_some((candidate, known))
    })
}

pub(in crate::rules) fn nothing_after_finish(case: &mut Case<'_>) {
    for (candidate, known) in resumed(case).filter(|(candidate, _)| !candidate.parts.is_empty()) {
        let name = case.name(known);
        case.fault(&candidate.pointer("/content/parts"), "nothing after finishReason", "parts", || {
            format!("{name} has parts after its finishReason")
        });
    }
}

pub(in crate::rules) fn finished_once(case: &mut Case<'_>) {
    for (candidate, known) in resumed(case) {
        if let Some(reason) = candidate.value.value("finishReason") {
            let name = case.name(known);
            case.fault(&candidate.pointer("/finishReason"), "one finishReason", reason, || {
                format!("{name} finishes a second time")
            });
        }
    }
}

/// A number is allowed where all enumerations are numbers.
pub(in crate::rules) fn reason_known(case: &mut Case<'_>, _: &Node, candidate: &Object<'_>) {
    let Some(reason) = candidate.value("finishReason") else { return };
    let pointer = |case: &Case<'_>| {
        let filled = case.record().map(|record| record.filled("/candidates/*/finishReason").into_owned());
        filled.unwrap_or_default()
    };
    let Some(word) = json::string(reason) else {
        let has_words = case.record().is_some_and(|record| {
            let details =
                record.member("usageMetadata").and_then(|it| json::at(it, "/promptTokensDetails/0/modality"));
            details.is_none_or(|modality| modality.starts_with('"'))
        });
        if has_words {
            let (pointer, expected) = (pointer(case), "a word such as \"STOP\"");
            case.report(&wrong_reason(&pointer, expected, reason, "number"), || {
                format!("finishReason is {reason}, not a word")
            });
        }
        return;
    };
    let is_of_google = !word.is_empty() && word.bytes().all(|it| it.is_ascii_uppercase() || it == b'_');
    if !is_of_google || word == "FINISH_REASON_UNSPECIFIED" {
        // Some clients read their words in any case.
        let is_lower = LOWER.contains(&&*word);
        let (pointer, form) = (pointer(case), if is_lower { "lower-case" } else { "other" });
        let place = wrong_reason(&pointer, "a word such as \"STOP\" or \"MAX_TOKENS\"", reason, form);
        case.report(&place, || format!("finishReason is {reason}, which is no reason of this API"));
    }
}

/// Words of this API in lower case.
const LOWER: [&str; 5] = ["stop", "max_tokens", "safety", "recitation", "other"];

fn wrong_reason<'p>(
    pointer: &'p str,
    expected: &'p str,
    actual: &'p str,
    form: &'static str,
) -> FaultPlace<'p> {
    FaultPlace {
        pointer: Some(pointer),
        expected: Some(expected),
        actual: Some(actual),
        form,
        ..FaultPlace::WHOLE
    }
}

pub(in crate::rules) fn stop_has_output(case: &mut Case<'_>, node: &Node, candidate: &Object<'_>) {
    let stream = case.stream;
    if candidate.plain("finishReason") != Some("STOP") || stream.has_gap {
        return;
    }
    let texts = [Scope::Text, Scope::Thought];
    let has_text =
        texts.iter().any(|scope| stream.children(node, *scope).any(|text| !text.joined.is_empty()));
    let others = [Scope::FunctionCall, Scope::FileOutput, Scope::Seal];
    if !has_text && !others.iter().any(|scope| has(stream, node, *scope)) && !is_served(stream, node) {
        let name = case.name(node);
        // Bodies of the service do it.
        if is_body(case) {
            case.limit(Level::May);
        }
        case.expected("a part before it", || format!("{name} finishes with STOP, but has no content"));
    }
}

/// The entries of the sources of a candidate, and of the segments that refer to them.
fn grounding<'v>(candidate: &'v Object<'_>) -> [Vec<&'v str>; 2] {
    let names = ["groundingChunks", "groundingSupports"];
    let lists = json::values(candidate.value("groundingMetadata").unwrap_or_default(), names);
    lists.map(|list| json::entries(list).unwrap_or_default())
}

/// Offsets are bytes of the joined text in UTF-8; in bodies, some are offsets in a part.
pub(in crate::rules) fn segment_in_text(case: &mut Case<'_>, node: &Node, candidate: &Object<'_>) {
    let stream = case.stream;
    if is_body(case) {
        return;
    }
    let Some(text) =
        stream.children(node, Scope::Text).next().filter(|text| !text.partial && !stream.has_gap)
    else {
        return;
    };
    let [_, supports] = grounding(candidate);
    for support in supports.into_iter().take(MOST) {
        let segment = json::at(support, "/segment").unwrap_or_default();
        let [quoted, start, end] = json::values(segment, ["text", "startIndex", "endIndex"]);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "negative offsets are at 0"
        )]
        let offset = |raw: &str| number(raw).map_or(0, |it| it as usize);
        let Some(quoted) = json::string(quoted) else { continue };
        let (start, end) = (offset(start), offset(end));
        let found = text.joined.as_bytes().get(start..end);
        if found != Some(quoted.as_bytes()) {
            let found = found.map(String::from_utf8_lossy).unwrap_or_default();
            let (expected, actual) = (format!("{quoted:?}"), format!("{found:?}"));
            case.fault_of_event(&short(&expected), &short(&actual), || {
                format!("bytes {start} to {end} of the text are not the text of the segment")
            });
            return;
        }
    }
}

pub(in crate::rules) fn indices_in_chunks(case: &mut Case<'_>, _: &Node, candidate: &Object<'_>) {
    let [sources, supports] = grounding(candidate);
    let count = u32::try_from(sources.len()).unwrap_or(u32::MAX);
    let indices = supports.into_iter().take(MOST).flat_map(|support| list(support, "/groundingChunkIndices"));
    let beyond = indices.filter_map(number).find(|index| *index >= f64::from(count));
    if let Some(index) = beyond {
        // Bodies of the service have them.
        if is_body(case) {
            case.limit(Level::May);
        }
        case.fault_of_event(&format!("an index below {count}"), &index.to_string(), || {
            format!("a segment refers to source {index} of {count}")
        });
    }
}

pub(in crate::rules) fn blocked_alone(case: &mut Case<'_>, _: &Node, _: &Object<'_>) {
    if case.stream.items().next().is_some() || candidates(case).next().is_some() {
        case.fault("/promptFeedback/blockReason", "no candidates", "candidates", || {
            "the prompt is blocked, but there are candidates".to_owned()
        });
    }
}
