//! The answer: what the client got of what the upstream sent.

pub(super) mod order;
pub(super) mod stop;
pub(super) mod stream;
pub(super) mod usage;

use std::collections::HashSet;

use results::text::counted;
use serde_json::Value;
use spec::Api;
use spec::table::Content;
use translation::{Call, Part, Reply, Stop};

use self::stream::empty_texts;
use crate::evidence::Response;
use crate::judge::Turn;
use crate::judge::parts::findings::{Findings, Problem, first_difference, tail};
use crate::judge::parts::framing::is_stream;
use crate::judge::parts::values::difference;

/// Texts that may stand between the parts of an answer where an API joins them.
const JOINTS: [&str; 3] = ["", "\n", "\n\n"];

/// Content that can only be guessed is not compared. Returns whether the client got the kind of answer that it wants.
pub(in crate::judge) fn judge(findings: &mut Findings<'_>, turn: &Turn<'_>, is_guess: bool) -> bool {
    let Some(response) = turn.response() else { return false };
    let client = turn.client_reply();
    let upstream = turn.upstream_reply();
    if let Some(problem) = wrong_kind(turn, &client) {
        findings.add("answer/kind", problem);
        return false;
    }
    if !client.is_ended && upstream.is_ended {
        let message = "the upstream's answer is complete, and the client's has no end";
        let body = response.body();
        findings.add("answer/kind", Problem::new("no end", message).sided(turn, &body));
        return false;
    }
    let asked = turn.question();
    if !is_guess {
        said(findings, turn.test.front.api, [&upstream, &client]);
        calls(findings, &upstream, &client);
        order::judge(findings, turn, [&upstream, &client]);
    }
    stop::judge(findings, turn.test, asked.as_ref(), [&upstream, &client]);
    usage::judge(findings, turn, [&upstream, &client]);
    model(findings, turn, [&upstream, &client]);
    invented(findings, turn, [&upstream, &client]);
    true
}

impl Problem {
    /// Shows the ends of both responses.
    fn sided(self, turn: &Turn<'_>, client: &[u8]) -> Self {
        let upstream = turn.answer().map(|answer| tail(&answer.body())).unwrap_or_default();
        Self { sides: [upstream, tail(client)], ..self }
    }
}

/// The client did not get an answer of the kind that it wants.
fn wrong_kind(turn: &Turn<'_>, client: &Reply) -> Option<Problem> {
    let response = turn.response()?;
    let body = response.body();
    let (status, wants_stream) = (response.status, !turn.test.case.is_whole);
    if status == 0 {
        let message = "the upstream's answer is complete, and the client gets no response";
        return Some(Problem::new("no response", message).sided(turn, &body));
    }
    if status >= 400 {
        let message =
            format!("the upstream's answer is complete, and the client gets an error with status {status}");
        return Some(Problem::new(format!("error {status}"), message).sided(turn, &body));
    }
    if client.error.is_some() {
        let message = "the upstream's answer is complete, and the client gets an error";
        return Some(Problem::new("error event", message).sided(turn, &body));
    }
    let found = if is_stream(response, &body) { "a stream" } else { "a body" };
    let expected = if wants_stream { "a stream" } else { "a body" };
    (found != expected).then(|| {
        let message = format!("the client wants {expected}, and gets {found}");
        Problem::new(format!("{found} instead of {expected}"), message).sided(turn, &body)
    })
}

/// The content of a reply besides calls.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::judge) struct Said<'r> {
    pub(in crate::judge) texts: Vec<&'r str>,
    pub(in crate::judge) refusal: String,
    pub(in crate::judge) reasoning: Vec<&'r str>,
}

impl<'r> Said<'r> {
    pub(in crate::judge) fn of(reply: &'r Reply) -> Self {
        let mut said = Self::default();
        for part in &reply.parts {
            match part {
                Part::Text(text) => said.texts.push(text),
                Part::Refusal(text) => said.refusal.push_str(text),
                Part::Reasoning(reasoning) => said.reasoning.push(&reasoning.text),
                _ => {}
            }
        }
        said
    }

    fn text(&self) -> String {
        self.texts.concat()
    }

    fn thought(&self) -> String {
        letters(&self.reasoning.concat())
    }

    fn is_text(&self, text: &str) -> bool {
        JOINTS.iter().any(|joint| self.texts.join(joint) == text)
    }
}

/// Summaries are joined in different ways, so white space does not count.
fn letters(text: &str) -> String {
    text.split_whitespace().collect()
}

fn has_refusals(api: &Api) -> bool {
    api.scopes().any(|scope| scope.content == Some(Content::Refusal))
}

fn said(findings: &mut Findings<'_>, front: &Api, [upstream, client]: [&Reply; 2]) {
    let [sent, found] = [upstream, client].map(Said::of);
    let (text, refusal) = (found.text(), &found.refusal);
    let (own, thought) = (sent.text(), sent.thought());
    // An API without refusals has them as text.
    let whole = |said: &Said<'_>| said.text() + &said.refusal;
    let is_plain_refusal = sent.refusal.is_empty() != refusal.is_empty() && whole(&sent) == whole(&found);
    let has_thought = !thought.is_empty() && found.thought() != thought;
    let is_thought_aloud = has_thought && text != own && letters(&text).contains(&thought);
    if has_thought {
        let (kind, message) = match () {
            () if is_thought_aloud => ("as text", "the upstream's reasoning is part of the client's text"),
            () if found.thought().is_empty() => ("lost", "the client does not get the upstream's reasoning"),
            () => ("changed", "the client's reasoning differs from the upstream's"),
        };
        let shown = if is_thought_aloud { text.clone() } else { found.reasoning.concat() };
        findings
            .add("answer/reasoning", Problem::new(kind, message).between(&sent.reasoning.concat(), &shown));
    }
    if is_plain_refusal && refusal.is_empty() && has_refusals(front) {
        let message =
            "the upstream refuses, and the client gets the refusal as text, as if it were the answer";
        findings.add("answer/refusal", Problem::new("as text", message).showing(&sent.refusal, &text));
        return;
    }
    if !sent.refusal.is_empty() && !is_plain_refusal && sent.refusal != *refusal {
        let kind = if refusal.is_empty() { "lost" } else { "changed" };
        let message = format!(
            "the client's refusal differs from character {}",
            first_difference(&sent.refusal, refusal)
        );
        findings.add("answer/refusal", Problem::new(kind, message).between(&sent.refusal, refusal));
        return;
    }
    if own.is_empty() && !text.is_empty() && !is_plain_refusal && !is_thought_aloud {
        let message = "the client gets a text, and the upstream sent none";
        findings.add("answer/nothing-invented", Problem::new("text", message).showing("", &text));
        return;
    }
    if is_plain_refusal || is_thought_aloud || sent.is_text(&text) || found.is_text(&own) {
        return;
    }
    let kind = match () {
        () if text.is_empty() => "lost",
        () if own.starts_with(&text) => "cut off",
        () if letters(&own) == letters(&text) => "white space",
        () if text.contains('\u{fffd}') && !own.contains('\u{fffd}') => "broken characters",
        () if !own.is_empty() && text == own.repeat(text.len() / own.len()) => "repeated",
        () => "changed",
    };
    let message = format!(
        "the client's text has {} characters, the upstream's {}; they differ from character {}",
        text.chars().count(),
        own.chars().count(),
        first_difference(&own, &text)
    );
    findings.add("answer/text", Problem::new(kind, message).between(&own, &text));
}

pub(in crate::judge) fn calls_of(reply: &Reply) -> Vec<&Call> {
    let calls = reply.parts.iter().filter_map(|part| match part {
        Part::Call(call) => Some(call),
        _ => None,
    });
    calls.collect()
}

fn names<'c>(calls: &[&'c Call]) -> Vec<&'c str> {
    calls.iter().map(|call| call.name.as_str()).collect()
}

fn calls(findings: &mut Findings<'_>, upstream: &Reply, client: &Reply) {
    let [sent, found] = [upstream, client].map(calls_of);
    let [own, other] = [&sent, &found].map(|calls| names(calls));
    if own != other {
        let mut sorted = [own.clone(), other.clone()];
        for names in &mut sorted {
            names.sort_unstable();
        }
        let kind = match () {
            () if other.len() < own.len() => "lost",
            () if other.len() > own.len() => "added",
            () if sorted[0] == sorted[1] => "order",
            () => "name",
        };
        let [sent, got] = [&own, &other].map(Vec::len);
        let message = format!("the client gets {}, the upstream sent {sent}", counted(got as u64, "call"));
        findings.add("answer/calls", Problem::new(kind, message).between(&own.join(", "), &other.join(", ")));
        return;
    }
    for (sent, found) in sent.iter().zip(&found) {
        if let Some(kind) = different_arguments(&sent.arguments, &found.arguments) {
            let name = crate::judge::parts::findings::shown(&sent.name);
            let message = format!("the arguments of {name} differ");
            findings.add(
                "answer/arguments",
                Problem::new(kind, message).between(&sent.arguments, &found.arguments),
            );
        }
    }
    let mut ids = HashSet::new();
    let has_empty = found.iter().any(|call| call.id.is_empty());
    let has_twice = !found.iter().all(|call| ids.insert(call.id.as_str()));
    if has_empty || has_twice {
        let shown =
            |calls: &[&Call]| calls.iter().map(|call| call.id.as_str()).collect::<Vec<_>>().join(", ");
        let (kind, message) = if has_empty {
            ("empty", "a call of the client's answer has no id")
        } else {
            ("twice", "two calls of the client's answer have the same id")
        };
        findings.add("answer/ids", Problem::new(kind, message).between(&shown(&sent), &shown(&found)));
    }
}

/// Arguments that are no JSON, as a limit cut them, are compared as text.
fn different_arguments(sent: &str, found: &str) -> Option<&'static str> {
    let value = |text: &str| serde_json::from_str::<Value>(text);
    let sent = if sent.trim().is_empty() { "{}" } else { sent };
    match (value(sent), value(found)) {
        (Ok(sent), Ok(found)) => difference(&sent, &found).map(|_| "changed"),
        (Ok(_), Err(_)) if found.is_empty() => Some("empty"),
        (Ok(_), Err(_)) => Some("no JSON"),
        // A body has a whole value where a stream has the text of one that is cut.
        (Err(_), Ok(_)) => Some("mended"),
        (Err(_), Err(_)) => (sent != found).then_some("changed"),
    }
}

fn model(findings: &mut Findings<'_>, turn: &Turn<'_>, [upstream, client]: [&Reply; 2]) {
    let asked = turn.upstream_question().map(|question| question.model);
    let known = [Some(&turn.test.model), upstream.model.as_ref(), asked.as_ref()];
    let own = client.model.as_deref().unwrap_or_default();
    if own.is_empty() {
        findings.add("answer/model", Problem::new("missing", "the client's response names no model"));
    } else if !known.into_iter().flatten().any(|model| model == own) {
        let message = "the model of the client's response is neither that of its request nor the upstream's";
        let sent = upstream.model.as_deref().unwrap_or_default();
        findings.add("answer/model", Problem::new("another", message).showing(sent, own));
    }
}

fn invented(findings: &mut Findings<'_>, turn: &Turn<'_>, [upstream, client]: [&Reply; 2]) {
    let [sent, found] = [upstream, client].map(Said::of);
    let mut add = |kind: &str, message: &str, text: &str| {
        findings.add("answer/nothing-invented", Problem::new(kind, message).showing("", text));
    };
    let empty = |response: Option<&Response>, dialect| response.map_or(0, |it| empty_texts(dialect, it));
    if empty(turn.response(), turn.test.front) > empty(turn.answer(), turn.test.upstream) {
        add("empty text", "the client gets an empty text that the upstream did not send", "");
    }
    if !found.reasoning.is_empty() && sent.reasoning.is_empty() {
        add(
            "reasoning",
            "the client gets reasoning that the upstream did not send",
            &found.reasoning.concat(),
        );
    }
    // An upstream that refuses may explain it beside the text.
    let is_said = sent.text().contains(&found.refusal) || upstream.stop == Some(Stop::Refused);
    if !found.refusal.is_empty() && sent.refusal.is_empty() && !is_said {
        add("refusal", "the client gets a refusal that the upstream did not send", &found.refusal);
    }
}

/// The client may get the beginning of an incomplete answer, and nothing else.
pub(in crate::judge) fn judge_beginning(findings: &mut Findings<'_>, upstream: &Reply, client: &Reply) {
    let [sent, found] = [upstream, client].map(Said::of);
    let (own, text) = (sent.text() + &sent.refusal, found.text() + &found.refusal);
    if !own.starts_with(&text) && !sent.is_text(&text) && sent.thought().is_empty() {
        let message = format!(
            "the client's text is not the beginning of the upstream's: they differ from character {}",
            first_difference(&own, &text)
        );
        findings.add("answer/text", Problem::new("not a beginning", message).between(&own, &text));
    }
}
