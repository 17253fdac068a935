//! Why an answer ended.

use translation::{Choice, Question, Reply, Stop, stops, words};

use crate::evidence::Test;
use crate::judge::parts::findings::{Findings, Problem};

pub(in crate::judge) fn judge(
    findings: &mut Findings<'_>,
    test: &Test,
    question: Option<&Question>,
    [upstream, client]: [&Reply; 2],
) {
    let Some(sent) = upstream.stop else { return };
    let word = client.word.as_deref().unwrap_or_default();
    let api = test.front.api.name;
    let is_same_api = api == test.upstream.api.name;
    if is_same_api && client.word == upstream.word {
        return;
    }
    let classes = stops(api, word);
    let is_forced = question.is_some_and(|question| matches!(question.choice, Choice::One(_)));
    let is_forced_call = sent == Stop::Calls && is_forced && client.stop == Some(Stop::Calls);
    // A word for an answer that ended says of a refusal only what the content shows.
    let is_meant = |stop: &Stop| {
        let is_shown = *stop != Stop::Refused || client.stop == Some(Stop::Refused);
        classes.contains(stop) && (is_shown || !classes.contains(&Stop::Ended))
    };
    let own = upstream.word.as_deref().unwrap_or_default();
    let is_filtered = stops(test.upstream.api.name, own).contains(&Stop::Filtered);
    // A refusal of a filter is no text that the model ended.
    let is_near = |stop: &&Stop| **stop != Stop::Ended || sent != Stop::Refused || !is_filtered;
    let is_nearest = !is_same_api && nearest(sent).iter().filter(is_near).any(is_meant);
    if !is_meant(&sent) && !is_forced_call && !is_nearest {
        let found = if word.is_empty() { "nothing" } else { word };
        let kind = format!("{found} instead of {}", name(sent));
        let message = format!("the answer ends with {word:?}, expected {}", wanted(api, sent));
        findings.add("answer/stop", Problem::new(kind, message).showing(own, word));
    }
    if sent == Stop::Sequence && is_same_api && client.stopped_before != upstream.stopped_before {
        let [sent, found] = [upstream, client].map(|it| it.stopped_before.as_deref().unwrap_or_default());
        let message = "the text before which the answer stopped differs";
        findings.add("answer/stop", Problem::new("stop sequence", message).showing(sent, found));
    }
}

/// The words that an API has for a reason, or for the nearest. A word for an answer that ended is none for a refusal.
fn wanted(api: &str, sent: Stop) -> String {
    let of = |stop: Stop| {
        let all = words(api, stop).into_iter();
        let own = all.filter(|word| sent != Stop::Refused || !stops(api, word).contains(&Stop::Ended));
        own.map(|word| format!("{word:?}")).collect::<Vec<_>>().join(" or ")
    };
    let all = [sent].into_iter().chain(nearest(sent).iter().copied());
    let words = all.map(of).find(|words| !words.is_empty());
    format!("{} for {}", words.unwrap_or_else(|| "a word".to_owned()), name(sent))
}

/// Another API may not have the class.
const fn nearest(stop: Stop) -> &'static [Stop] {
    match stop {
        Stop::Sequence | Stop::Paused => &[Stop::Ended],
        Stop::Refused => &[Stop::Filtered, Stop::Ended],
        Stop::Filtered => &[Stop::Refused],
        Stop::Ended | Stop::Calls | Stop::Cut | Stop::Failed => &[],
    }
}

const fn name(stop: Stop) -> &'static str {
    match stop {
        Stop::Ended => "ended",
        Stop::Sequence => "sequence",
        Stop::Calls => "calls",
        Stop::Cut => "cut",
        Stop::Filtered => "filtered",
        Stop::Refused => "refused",
        Stop::Paused => "paused",
        Stop::Failed => "failed",
    }
}
