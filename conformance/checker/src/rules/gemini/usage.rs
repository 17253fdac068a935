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

/// The counts of this chunk and of the one before it.
fn counts<'c>(case: &Case<'c>) -> Option<(&'c Object<'static>, Object<'c>)> {
    let before = case.stream.response()?.closing.get()?;
    let record = case.record()?;
    Some((before, record.object(record.member("usageMetadata")?)))
}

/// Where tools of the service take part, counts start anew.
fn start_anew(case: &Case<'_>, now: &Object<'_>) -> bool {
    let stream = case.stream;
    let uses_tools = || now.number("toolUsePromptTokenCount").is_some_and(|count| count > 0.0);
    let mut served =
        candidates(case).filter(|it| it.is_served(stream) || it.value.get("urlContextMetadata").is_some());
    stream.has_gap || uses_tools() || served.next().is_some()
}

pub(in crate::rules) fn grows(case: &mut Case<'_>) {
    let Some((before, now)) = counts(case).filter(|(_, now)| now.get("totalTokenCount").is_some()) else {
        return;
    };
    for name in ["candidatesTokenCount", "thoughtsTokenCount"] {
        let Some(was) = before.number(name) else { continue };
        let is = now.number(name).unwrap_or_default();
        if is < was && !start_anew(case, &now) {
            case.fault("/usageMetadata", &format!("{name} of {was} or more"), &is.to_string(), || {
                format!("{name} falls from {was} to {is}, but each chunk counts all tokens so far")
            });
        }
    }
}

/// A short text can be part of a token.
const SHORT: usize = 4;

/// The chunk has thoughts that count as tokens, or anything else that does.
fn has_content(case: &Case<'_>, thoughts: bool) -> bool {
    super::parts(case).any(|part| {
        let is_long = || part.value.string("text").is_some_and(|text| text.chars().count() >= SHORT);
        let call = || part.value.get("functionCall");
        part.is_thought() == thoughts && is_long()
            || !thoughts && call().is_some_and(|call| json::at(call, "/args").is_some())
    })
}

pub(in crate::rules) fn counts_text(case: &mut Case<'_>) {
    let Some((before, now)) = counts(case) else { return };
    for (name, thoughts) in [("thoughtsTokenCount", true), ("candidatesTokenCount", false)] {
        let Some((was, is)) = before.number(name).zip(now.number(name)) else { continue };
        if is <= was && has_content(case, thoughts) && !start_anew(case, &now) {
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
    let finishes = || candidates(case).any(|candidate| candidate.value.value("finishReason").is_some());
    if record.member("usageMetadata").is_none() && super::is_current(case) && !finishes() {
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
    let counts = record.object(counts);
    let has_count = PARTS.iter().chain(&["totalTokenCount"]).any(|name| counts.get(name).is_some());
    if !has_count && super::is_current(case) {
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
