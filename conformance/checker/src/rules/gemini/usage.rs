//! Rules of the group `token-count`.

use spec::table::Scope;

use super::has;
use crate::engine::{Case, Node, Object};

/// The counts that add up to the total. Thoughts are not part of the candidates, cached tokens are part of the prompt.
const PARTS: [&str; 4] =
    ["promptTokenCount", "candidatesTokenCount", "thoughtsTokenCount", "toolUsePromptTokenCount"];

pub(in crate::rules) fn adds_up(case: &mut Case<'_>, _: &Node, usage: &Object<'_>) {
    let total = usage.number("totalTokenCount").filter(|_| super::is_current(case));
    let Some(total) = total else { return };
    let sum: f64 = PARTS.iter().filter_map(|part| usage.number(part)).sum();
    if (sum - total).abs() > 0.5 {
        case.fault("/usageMetadata/totalTokenCount", &sum.to_string(), &total.to_string(), || {
            format!("totalTokenCount is {total}, but the prompt, candidates, thoughts and tools are {sum}")
        });
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

/// Clients read the counts of the last chunk.
pub(in crate::rules) fn at_finish(case: &mut Case<'_>, _: &Node, _: &Object<'_>) {
    let Some(record) = case.record() else { return };
    if super::is_current(case) && record.member("usageMetadata").is_none() {
        case.lacks("", "usageMetadata", || "the chunk that finishes has no usageMetadata".to_owned());
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
