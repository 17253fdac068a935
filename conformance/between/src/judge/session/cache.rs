//! The needs of caches: equal beginnings, marks, keys, parameters, and counts that reach the client.

use results::text::shortened;
use serde_json::Value;

use super::canonical::{Part, Segment};
use super::{End, Prefix, Session, SessionTurn};
use crate::judge::answer::usage::SWITCHES;
use crate::judge::parts::findings::{Findings, Problem};

/// Maximum number of marks of a request.
const MOST_MARKS: usize = 4;
/// Number of characters of a change that are shown.
const SHOWN: usize = 60;
const KEY: &str = "prompt_cache_key";
const WRITTEN: &str = "\"cache_creation_input_tokens\":";

/// Members whose values start a new prefix.
const PARAMETERS: [&str; 10] = [
    "thinking",
    "reasoning",
    "reasoning_effort",
    "output_config",
    "tool_choice",
    "temperature",
    "top_p",
    "speed",
    "parallel_tool_calls",
    "service_tier",
];

pub(super) fn judge(findings: &mut Findings<'_>, session: &Session<'_>) {
    for own in &session.prefixes {
        prefix(findings, own);
    }
    for [(before, upstream_before), (turn, upstream)] in session.neighbours() {
        parameters(findings, [&before.sent, &turn.sent], turn, [upstream_before, upstream]);
    }
    for (turn, upstream) in session.both() {
        marks(findings, session, turn, upstream);
    }
    key(findings, session);
    for turn in &session.turns {
        usage(findings, session, turn);
    }
}

/// A client that changes its own beginning excuses changes from there on.
fn prefix(findings: &mut Findings<'_>, Prefix { number, upstream, client }: &Prefix) {
    let Some(change) = &upstream.change else { return };
    let allowed = client.change.as_ref().map(|change| change.segment);
    if allowed.is_some_and(|segment| segment <= change.segment) {
        return;
    }
    let message = format!(
        "turn {number}: the upstream's request keeps {} of the {} characters of the request before it, the client's {} of {}; it changes in {}",
        upstream.same, upstream.all, client.same, client.all, change.place
    );
    let sides = [&change.after, &change.before].map(|text| shortened(text, SHOWN));
    let problem =
        Problem::new(segment(change.segment), message).showing(&sides[0], &format!("before: {}", sides[1]));
    findings.add("cache/prefix-stable", problem);
}

const fn segment(segment: Segment) -> &'static str {
    match segment {
        Segment::Tools => "tools",
        Segment::System => "system",
        Segment::Messages => "messages",
    }
}

fn parameters(findings: &mut Findings<'_>, client: [&End; 2], turn: &SessionTurn<'_>, upstream: [&End; 2]) {
    let of = |ends: [&End; 2], name: &str| ends.map(|end| end.request.get(name).cloned());
    let is_equal = |[one, other]: &[Option<Value>; 2]| one == other;
    if PARAMETERS.iter().any(|name| !is_equal(&of(client, name))) {
        return;
    }
    for name in PARAMETERS {
        let values = of(upstream, name);
        if !is_equal(&values) {
            let [before, after] =
                values.map(|value| value.map_or_else(|| "none".to_owned(), |value| value.to_string()));
            let message = format!(
                "turn {}: `{name}` changes upstream, and none of the client's parameters does",
                turn.number
            );
            findings.add(
                "cache/params-stable",
                Problem::new(name, message).showing(&after, &format!("before: {before}")),
            );
        }
    }
}

pub(super) fn marks_of(parts: &[Part]) -> Vec<(usize, &str, &str)> {
    let all = parts.iter().enumerate();
    all.flat_map(|(at, part)| part.marks.iter().map(move |mark| (at, part.text.as_str(), mark.as_str())))
        .collect()
}

/// A gateway may join a text with those in front of it.
fn is_on(upstream: &str, part: &str) -> bool {
    let text = |part: &str| {
        let part: Value = serde_json::from_str(part).ok()?;
        part.get("text")?.as_str().map(str::to_owned)
    };
    upstream == part
        || text(part)
            .filter(|part| !part.is_empty())
            .zip(text(upstream))
            .is_some_and(|(part, upstream)| upstream.ends_with(&part))
}

/// Number of the client's marks that are upstream on the same part.
pub(super) fn kept_marks(client: &[Part], upstream: &[Part]) -> usize {
    let own = marks_of(upstream);
    marks_of(client)
        .iter()
        .filter(|(_, text, mark)| own.iter().any(|(_, on, is)| is == mark && is_on(on, text)))
        .count()
}

fn marks(findings: &mut Findings<'_>, session: &Session<'_>, turn: &SessionTurn<'_>, upstream: &End) {
    let (client, own) = (marks_of(&turn.sent.parts), marks_of(&upstream.parts));
    let count = format!("{} marks upstream", own.len());
    if own.len() > MOST_MARKS && client.len() <= MOST_MARKS {
        let message = format!(
            "turn {}: the upstream's request has {} marks, and the API takes {MOST_MARKS}",
            turn.number,
            own.len()
        );
        findings.add("cache/marks-limit", Problem::new("too many", message).showing(&count, ""));
    }
    if client.is_empty() {
        return;
    }
    if !session.is_same {
        findings.is_limit("cache/marks-kept");
        return;
    }
    for (at, text, mark) in &client {
        let on: Vec<&str> = own.iter().filter(|(_, on, _)| is_on(on, text)).map(|(.., is)| *is).collect();
        let place = turn.sent.parts.get(*at).map_or("", |part| &part.place);
        let problem = match on.as_slice() {
            own if own.contains(mark) => continue,
            [] => Problem::new(
                "lost",
                format!("turn {}: the mark on {place} is not on that part upstream", turn.number),
            ),
            [first, ..] => Problem::new(
                "changed",
                format!("turn {}: the mark on {place} is another upstream", turn.number),
            )
            .showing(first, mark),
        };
        findings.add("cache/marks-kept", problem);
    }
}

fn key(findings: &mut Findings<'_>, session: &Session<'_>) {
    let of = |end: &End| end.request.get(KEY).cloned();
    for (turn, upstream) in session.both() {
        if of(&turn.sent).is_some() && of(upstream).is_none() {
            let message = format!("turn {}: `{KEY}` of the client is not upstream", turn.number);
            findings.add("cache/key-stable", Problem::new("lost", message));
        }
    }
    for [(before, one), (turn, other)] in session.neighbours() {
        let [before_key, key] = [one, other].map(of);
        if key.is_some() && before_key.is_some() && key != before_key && of(&before.sent) == of(&turn.sent) {
            let shown = [key, before_key].map(|key| key.unwrap_or_default().to_string());
            let message =
                format!("turn {}: `{KEY}` changes upstream, and the client's does not", turn.number);
            let problem =
                Problem::new("changed", message).showing(&shown[0], &format!("before: {}", shown[1]));
            findings.add("cache/key-stable", problem);
        }
    }
}

/// Token counts of caches at both ends: those that the upstream sent, and those that the client got.
pub(super) fn cached(turn: &SessionTurn<'_>) -> Option<[u64; 2]> {
    let [upstream, client] = turn.replies()?;
    let is_good = upstream.is_ended && upstream.error.is_none() && client.is_ended && client.error.is_none();
    let sent = upstream.usage?.cached.filter(|_| is_good)?;
    Some([sent, client.usage.and_then(|usage| usage.cached).unwrap_or_default()])
}

fn usage(findings: &mut Findings<'_>, session: &Session<'_>, turn: &SessionTurn<'_>) {
    unasked(findings, session, turn);
    // A sum over several requests is too much.
    let Some([sent, told]) = cached(turn) else { return };
    let mut add = |kind: &str, counted: &str, sent: u64, told: u64| {
        let number = turn.number;
        let message =
            format!("turn {number}: the upstream reports {sent} {counted}, and the client gets {told}");
        let problem = Problem::new(kind, message).showing(&sent.to_string(), &told.to_string());
        findings.add("cache/usage-kept", problem);
    };
    if sent != told {
        add("read from the cache", "tokens read from the cache", sent, told);
    }
    if !session.is_same {
        return;
    }
    let [sent, told] =
        [turn.answer(), turn.response()].map(|response| response.map_or(0, |it| written(&it.body())));
    if sent != told {
        add("wrote to the cache", "tokens written to the cache", sent, told);
    }
}

/// A stream of some APIs has counts only if the request asks for them.
fn unasked(findings: &mut Findings<'_>, session: &Session<'_>, turn: &SessionTurn<'_>) {
    let Some(upstream) = &turn.got else { return };
    let lacks = |api: &str, request: &Value| {
        let switch = SWITCHES.iter().find(|(of, _)| *of == api);
        let is_stream = request.get("stream") == Some(&Value::Bool(true));
        switch.is_some_and(|(_, switch)| is_stream && request.pointer(switch) != Some(&Value::Bool(true)))
    };
    let [front, back] = [session.test.front.api.name, session.test.upstream.api.name];
    if lacks(back, &upstream.request) && !lacks(front, &turn.sent.request) {
        let message = format!("turn {}: the gateway does not ask the upstream for token counts", turn.number);
        findings.add("cache/usage-kept", Problem::new("not asked for", message));
    }
}

/// The greatest count counts: the first event of a stream may have less.
fn written(body: &[u8]) -> u64 {
    let text = String::from_utf8_lossy(body);
    let counts = text.match_indices(WRITTEN).filter_map(|(at, name)| {
        let rest = text.get(at + name.len()..)?.trim_start();
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        rest.get(..end)?.parse().ok()
    });
    counts.max().unwrap_or_default()
}
