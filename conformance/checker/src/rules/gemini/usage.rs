//! Rules of the group `token-count`.

use spec::json;
use spec::table::Scope;

use super::{candidates, has};
use crate::engine::{Case, Node, Object};
use crate::rules::counts::parts_sum_to;

/// The counts that add up to the total. Thoughts are not part of the candidates, cached tokens are part of the prompt.
const PARTS: [&str; 4] =
    ["promptTokenCount", "candidatesTokenCount", "thoughtsTokenCount", "toolUsePromptTokenCount"];

pub(in crate::rules) fn adds_up(case: &mut Case<'_>, _: &Node, usage: &Object<'_>) {
    if super::is_current(case) {
        let named = "the prompt, candidates, thoughts and tools";
        parts_sum_to(case, "/usageMetadata", usage, ("totalTokenCount", &PARTS), named);
    }
}

pub(in crate::rules) fn cached_within(case: &mut Case<'_>, _: &Node, usage: &Object<'_>) {
    let counts = (usage.number("cachedContentTokenCount"), usage.number("promptTokenCount"));
    let (Some(cached), Some(prompt)) = counts else { return };
    if cached > prompt {
        let expected = format!("at most {prompt}");
        case.fault("/usageMetadata/cachedContentTokenCount", &expected, &cached.to_string(), || {
            format!("cachedContentTokenCount is {cached}, more than the promptTokenCount {prompt}")
        });
    }
}

/// The counts of this chunk and of the one before it, unless tools of the service take part: with them, counts start anew.
fn counts<'c>(case: &Case<'c>) -> Option<(&'c Object<'static>, Object<'c>)> {
    let stream = case.stream;
    let before = stream.response()?.closing.get()?;
    let now = Object::new(case.record()?.member("usageMetadata")?);
    let is_served =
        candidates(case).any(|it| it.is_served(stream) || it.value.get("urlContextMetadata").is_some());
    let uses_tools = now.number("toolUsePromptTokenCount").is_some_and(|count| count > 0.0);
    (!is_served && !uses_tools && !stream.has_gap).then_some((before, now))
}

pub(in crate::rules) fn grows(case: &mut Case<'_>) {
    let Some((before, now)) = counts(case).filter(|(_, now)| now.get("totalTokenCount").is_some()) else {
        return;
    };
    for name in ["candidatesTokenCount", "thoughtsTokenCount"] {
        let Some(was) = before.number(name) else { continue };
        let is = now.number(name).unwrap_or_default();
        if is < was {
            case.fault("/usageMetadata", &format!("{name} of {was} or more"), &is.to_string(), || {
                format!("{name} falls from {was} to {is}, but each chunk counts all tokens so far")
            });
        }
    }
}

/// A short text can be part of a token.
const SHORT: usize = 4;

pub(in crate::rules) fn counts_text(case: &mut Case<'_>) {
    let Some((before, now)) = counts(case) else { return };
    let (mut has_thought, mut has_answer) = (false, false);
    for part in super::parts(case) {
        let is_long = part.value.string("text").is_some_and(|text| text.chars().count() >= SHORT);
        has_thought |= is_long && part.is_thought();
        let has_args =
            || part.value.get("functionCall").is_some_and(|call| json::at(call, "/args").is_some());
        has_answer |= is_long && !part.is_thought() || has_args();
    }
    for (is_there, name) in [(has_thought, "thoughtsTokenCount"), (has_answer, "candidatesTokenCount")] {
        let Some((was, is)) = before.number(name).zip(now.number(name)).filter(|_| is_there) else {
            continue;
        };
        if is <= was {
            let pointer = format!("/usageMetadata/{name}");
            case.fault(&pointer, &format!("more than {was}"), &is.to_string(), || {
                format!("the chunk has content, but {name} is {is}, and was {was} before it")
            });
        }
    }
}

pub(in crate::rules) fn in_each(case: &mut Case<'_>) {
    let Some(record) = case.record().filter(|record| !record.is_error) else { return };
    // `token-count/at-finish` reports the chunk that finishes.
    let finishes = candidates(case).any(|candidate| candidate.value.value("finishReason").is_some());
    if super::is_current(case) && !finishes && record.member("usageMetadata").is_none() {
        case.lacks("", "usageMetadata", || "the chunk has no usageMetadata".to_owned());
    }
}

/// Clients read the counts of the last chunk.
pub(in crate::rules) fn at_finish(case: &mut Case<'_>, _: &Node, _: &Object<'_>) {
    let Some(record) = case.record() else { return };
    let Some(counts) = record.member("usageMetadata") else {
        if super::is_current(case) {
            case.lacks("", "usageMetadata", || "the chunk that finishes has no usageMetadata".to_owned());
        }
        return;
    };
    let counts = Object::new(counts);
    let has_count = PARTS.iter().chain(&["totalTokenCount"]).any(|name| counts.get(name).is_some());
    if super::is_current(case) && !has_count {
        case.lacks("/usageMetadata", "totalTokenCount", || {
            "usageMetadata of the chunk that finishes has no counts of this API".to_owned()
        });
    }
}

pub(in crate::rules) fn thoughts_counted(case: &mut Case<'_>) {
    let stream = case.stream;
    let counts = stream.response().and_then(|root| root.closing.get());
    let is_whole = !stream.has_gap && !stream.error.is_set() && stream.items().all(|it| it.phase.is_some());
    let Some(counts) = counts.filter(|_| is_whole) else { return };
    let is_counted = counts.number("thoughtsTokenCount").is_some_and(|count| count > 0.0);
    if !is_counted && stream.items().any(|candidate| has(stream, candidate, Scope::Thought)) {
        case.expected("thoughtsTokenCount above 0", || {
            "the response has thoughts, but counts none".to_owned()
        });
    }
}
