//! Rules of the groups `generation`, `candidate` and `grounding`.

use std::collections::BTreeSet;

use catalogue::Level;
use spec::json;
use spec::table::Scope;

use super::{candidates, has, is_current, parts};
use crate::engine::{Case, Node, Object, number, short};

/// The service runs these itself. With them, a reason to finish can come before the end.
const OF_SERVICE: [Scope; 4] =
    [Scope::ExecutableCode, Scope::CodeResult, Scope::ServerCall, Scope::FunctionResponse];

pub(in crate::rules) fn has_candidates(case: &mut Case<'_>) {
    let Some(record) = case.record().filter(|record| !record.is_error) else { return };
    let is_blocked = record.member("promptFeedback").is_some_and(|value| value != "null");
    if !is_blocked && candidates(case).is_empty() {
        case.lacks("", "candidates", || "the chunk has neither candidates nor promptFeedback".to_owned());
    }
}

pub(in crate::rules) fn role(case: &mut Case<'_>) {
    for (nth, candidate) in candidates(case).iter().enumerate() {
        if parts(candidate).is_empty() {
            continue;
        }
        let content = Object::new(candidate.value("content").unwrap_or_default());
        let pointer = format!("/candidates/{nth}/content");
        match content.string("role") {
            Some(role) if role == "model" => {}
            Some(role) => {
                let actual = format!("{role:?}");
                case.fault(&format!("{pointer}/role"), "\"model\"", &actual, || {
                    format!("the role of a candidate is {role:?}")
                });
            }
            // The schema reports other values.
            None if content.get("role").is_some() => {}
            None => {
                if !is_current(case) {
                    case.limit(Level::May);
                }
                case.lacks(&pointer, "role", || "the content of a candidate has no role".to_owned());
            }
        }
    }
}

pub(in crate::rules) fn index_distinct(case: &mut Case<'_>) {
    let mut seen = BTreeSet::new();
    for (nth, candidate) in candidates(case).iter().enumerate() {
        let index = candidate.get("index").unwrap_or("0");
        if !seen.insert(index.to_owned()) {
            case.fault(&format!("/candidates/{nth}/index"), "an index of its own", index, || {
                format!("two candidates of one chunk have the index {index}")
            });
        }
    }
}

/// Candidates that go on after they have finished, by their place in the chunk.
fn resumed<'c>(case: &Case<'c>) -> Vec<(usize, Object<'c>, &'c Node)> {
    let stream = case.stream;
    if !is_current(case) || stream.has_gap {
        return Vec::new();
    }
    let again = candidates(case).into_iter().enumerate().filter_map(|(nth, candidate)| {
        let index = candidate.get("index").map_or(Some(0), |index| index.parse().ok())?;
        let known = stream.items().find(|item| item.key.entry() == Some(index))?;
        let is_served = |part: &Object<'_>| {
            ["executableCode", "codeExecutionResult", "toolCall", "toolResponse", "functionResponse"]
                .iter()
                .any(|kind| part.get(kind).is_some())
        };
        let is_of_service = OF_SERVICE.iter().any(|scope| has(stream, known, *scope))
            || parts(&candidate).iter().any(is_served);
        (known.phase.is_some() && !is_of_service).then_some((nth, candidate, known))
    });
    again.collect()
}

pub(in crate::rules) fn nothing_after_finish(case: &mut Case<'_>) {
    for (nth, candidate, known) in resumed(case) {
        if !parts(&candidate).is_empty() {
            let name = case.name(known);
            let pointer = format!("/candidates/{nth}/content/parts");
            case.fault(&pointer, "nothing after finishReason", "parts", || {
                format!("{name} has parts after its finishReason")
            });
        }
    }
}

pub(in crate::rules) fn finished_once(case: &mut Case<'_>) {
    for (nth, candidate, known) in resumed(case) {
        if let Some(reason) = candidate.value("finishReason") {
            let name = case.name(known);
            case.fault(&format!("/candidates/{nth}/finishReason"), "one finishReason", reason, || {
                format!("{name} finishes a second time")
            });
        }
    }
}

/// A number is allowed where all enumerations are numbers.
pub(in crate::rules) fn reason_known(case: &mut Case<'_>, _: &Node, candidate: &Object<'_>) {
    let Some(reason) = candidate.value("finishReason") else { return };
    let pointer = case.record().map(|record| record.filled("/candidates/*/finishReason").into_owned());
    let pointer = pointer.unwrap_or_default();
    let Some(word) = json::string(reason) else {
        let has_words = case.record().is_some_and(|record| {
            let details =
                record.member("usageMetadata").and_then(|it| json::at(it, "/promptTokensDetails/0/modality"));
            details.is_none_or(|modality| modality.starts_with('"'))
        });
        if has_words {
            case.fault(&pointer, "a word such as \"STOP\"", reason, || {
                format!("finishReason is {reason}, not a word")
            });
        }
        return;
    };
    let is_of_google = !word.is_empty() && word.bytes().all(|it| it.is_ascii_uppercase() || it == b'_');
    if !is_of_google {
        case.fault(&pointer, "a word such as \"STOP\" or \"MAX_TOKENS\"", reason, || {
            format!("finishReason is {reason}, a word of another API")
        });
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
    if !has_text && !others.iter().chain(&OF_SERVICE).any(|scope| has(stream, node, *scope)) {
        let name = case.name(node);
        // Bodies of the service do it.
        if stream.events == 0 {
            case.limit(Level::May);
        }
        case.expected("a part before it", || format!("{name} finishes with STOP, but has no content"));
    }
}

/// Offsets are bytes of the joined text in UTF-8; in bodies, some are offsets in a part.
pub(in crate::rules) fn segment_in_text(case: &mut Case<'_>, node: &Node, candidate: &Object<'_>) {
    let stream = case.stream;
    if stream.events == 0 {
        return;
    }
    let supports = candidate
        .value("groundingMetadata")
        .and_then(|it| json::entries(json::at(it, "/groundingSupports")?));
    let Some(text) =
        stream.children(node, Scope::Text).next().filter(|text| !text.partial && !stream.has_gap)
    else {
        return;
    };
    for support in supports.unwrap_or_default().into_iter().take(super::MOST) {
        let at = |name: &str| json::at(support, &format!("/segment/{name}"));
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "negative offsets are at 0"
        )]
        let offset = |name: &str| at(name).and_then(number).map(|it| it as usize);
        let Some(quoted) = at("text").and_then(json::string) else { continue };
        let (start, end) = (offset("startIndex").unwrap_or(0), offset("endIndex").unwrap_or(0));
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

pub(in crate::rules) fn blocked_alone(case: &mut Case<'_>, _: &Node, _: &Object<'_>) {
    if case.stream.items().next().is_some() || !candidates(case).is_empty() {
        case.fault("/promptFeedback/blockReason", "no candidates", "candidates", || {
            "the prompt is blocked, but there are candidates".to_owned()
        });
    }
}
