//! Content that goes back to the upstream: its calls with their outputs, and its reasoning.

use std::collections::{BTreeMap, BTreeSet};

use catalogue::Level;
use serde_json::Value;
use spec::Api;
use translation::{Call, NO_ID, Output, Part, Question, Role};

use crate::judge::Turn;
use crate::judge::answer::calls_of;
use crate::judge::parts::findings::{Findings, Problem, shown};
use crate::judge::parts::values::difference;

/// The calls of a conversation, each with its output if it has one.
type Calls<'q> = Vec<(&'q Call, Option<&'q Output>)>;

pub(in crate::judge) fn judge(
    findings: &mut Findings<'_>,
    before: &[Turn<'_>],
    turn: &Turn<'_>,
    [got, asked]: [&Question; 2],
) {
    if behind_texts(got).len() > behind_texts(asked).len() {
        let message = "a text of the user stands between a call and its output upstream, and none does in the client's request";
        findings.add("request/results", Problem::new("behind a text", message));
    }
    let is_wrapped = [turn.test.front, turn.test.upstream].iter().any(|end| wraps_outputs(end.api));
    calls(findings, before, is_wrapped, [got, asked]);
    reasoning(findings, before, got);
}

/// Providers refuse an output behind a text of the user.
pub(in crate::judge) fn behind_texts(question: &Question) -> BTreeSet<String> {
    let mut has_text = false;
    let parts = question.turns.iter().flat_map(|turn| turn.parts.iter().map(|part| (turn.role, part)));
    let late = parts.filter_map(|(role, part)| match part {
        Part::Call(_) => {
            has_text = false;
            None
        }
        Part::Text(_) if role == Role::User => {
            has_text = true;
            None
        }
        Part::Result(output) if has_text => Some(output.id.clone()),
        _ => None,
    });
    late.collect()
}

fn calls_in<'q>(question: &'q Question) -> Calls<'q> {
    let parts = || question.turns.iter().flat_map(|turn| &turn.parts);
    let mut left: Vec<&Output> = parts()
        .filter_map(|part| if let Part::Result(output) = part { Some(output) } else { None })
        .collect();
    let calls = parts().filter_map(|part| if let Part::Call(call) = part { Some(call) } else { None });
    let with_output = |call: &'q Call| {
        let output = left.iter().position(|output: &&Output| output.id == call.id);
        (call, output.map(|at| left.remove(at)))
    };
    calls.map(with_output).collect()
}

/// Its outputs are objects, and the member with the output has a name by convention.
fn wraps_outputs(api: &Api) -> bool {
    api.request.result.is_some_and(|result| result.entry.contains(r#"{"output":"{output}"}"#))
}

fn calls(findings: &mut Findings<'_>, before: &[Turn<'_>], is_wrapped: bool, [got, asked]: [&Question; 2]) {
    // Ids that are equal cannot go back to different calls.
    let has_equal_ids = findings.has("answer/ids");
    let mut add = |kind: &str, message: String, sides: [&str; 2]| {
        let [upstream, client] = sides;
        findings.add("request/results", Problem::new(kind, message).between(upstream, client));
    };
    let [own, wanted] = [got, asked].map(calls_in);
    let names =
        |calls: &Calls<'_>| calls.iter().map(|(call, _)| call.name.clone()).collect::<Vec<_>>().join(", ");
    if own.len() != wanted.len() {
        let kind = if own.len() < wanted.len() { "call lost" } else { "call added" };
        let message = format!("the upstream gets {} calls back, the client sent {}", own.len(), wanted.len());
        add(kind, message, [&names(&own), &names(&wanted)]);
        return;
    }
    for ((call, output), (sent, sent_output)) in own.iter().zip(&wanted) {
        let name = shown(&sent.name);
        if call.name != sent.name {
            add("call name", format!("the call of {name} has another name"), [&call.name, &sent.name]);
        }
        if !is_same_json(&call.arguments, &sent.arguments) {
            add(
                "call arguments",
                format!("the arguments of {name} differ"),
                [&call.arguments, &sent.arguments],
            );
        }
        let Some(sent_output) = sent_output else { continue };
        let Some(output) = output else {
            let message = format!("the upstream gets no output with the id of the call of {name}");
            add("output lost", message, [&call.id, &sent_output.text]);
            continue;
        };
        let is_inner = || is_wrapped && is_only_member(&output.text, &sent_output.text);
        // Where a failure has no mark, a text may tell it.
        let is_told = sent_output.is_error && !output.is_error && output.text.contains(&*sent_output.text);
        if !is_same_json(&output.text, &sent_output.text) && !is_inner() && !is_told {
            add("output", format!("the output of {name} differs"), [&output.text, &sent_output.text]);
        }
        if output.is_error != sent_output.is_error {
            let words = |is_error| if is_error { "failed" } else { "not failed" };
            let message = format!("the output of {name} does not say whether the tool failed");
            add("failure", message, [words(output.is_error), words(sent_output.is_error)]);
        }
    }
    // The last calls are those that the upstream made itself.
    let replies: Vec<_> = before.iter().map(Turn::upstream_reply).collect();
    let given: Vec<&str> = replies.iter().flat_map(calls_of).map(|call| call.id.as_str()).collect();
    let ids: Vec<&str> = own.iter().map(|(call, _)| call.id.as_str()).collect();
    let returned = ids.get(ids.len().saturating_sub(given.len())..).unwrap_or_default();
    if ids.len() >= given.len() && returned != given && !has_equal_ids {
        // An API may tell calls apart by their order alone.
        let (kind, what, level) = if returned.iter().all(|id| id.starts_with(NO_ID)) {
            ("id lost", "without the ids", Level::Should)
        } else {
            ("id", "with other ids than", Level::Must)
        };
        let message = format!("the upstream gets its calls back {what} it gave them");
        let problem = Problem::new(kind, message).between(&returned.join(", "), &given.join(", "));
        findings.add("request/results", problem.at(level));
    }
}

fn is_same_json(one: &str, other: &str) -> bool {
    let value = |text: &str| serde_json::from_str::<Value>(text).ok();
    one == other
        || value(one).zip(value(other)).is_some_and(|(one, other)| difference(&one, &other).is_none())
}

fn is_only_member(object: &str, wanted: &str) -> bool {
    let members = serde_json::from_str::<BTreeMap<String, Value>>(object).unwrap_or_default();
    members.len() == 1 && members.values().any(|value| value.as_str() == Some(wanted))
}

/// Only the upstream can read the seal.
fn reasoning(findings: &mut Findings<'_>, before: &[Turn<'_>], got: &Question) {
    let returned: Vec<&str> = got.turns.iter().flat_map(|turn| &turn.parts).filter_map(seal).collect();
    let replies: Vec<_> = before.iter().map(Turn::upstream_reply).collect();
    let given = replies.iter().flat_map(|reply| &reply.parts).filter_map(seal);
    for seal in given {
        if !returned.contains(&seal) {
            let kind = if returned.is_empty() { "seal lost" } else { "seal changed" };
            let message = "the upstream does not get back the signature or encrypted reasoning that it sent";
            let shown = returned.join(", ");
            findings.add("request/reasoning", Problem::new(kind, message).between(&shown, seal));
        }
    }
}

fn seal(part: &Part) -> Option<&str> {
    match part {
        Part::Reasoning(reasoning) => reasoning.seal.as_deref().filter(|seal| !seal.is_empty()),
        _ => None,
    }
}
