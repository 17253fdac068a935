//! The order of reasoning, text and calls.

use translation::{Part, Reply};

use super::stream::finished;
use crate::judge::Turn;
use crate::judge::parts::findings::{Findings, Problem};

/// Bodies of Chat Completions have no order.
pub(in crate::judge) fn judge(findings: &mut Findings<'_>, turn: &Turn<'_>, [upstream, client]: [&Reply; 2]) {
    if turn.test.case.is_whole {
        return;
    }
    // Where the last event has the whole answer, its order is what clients store and send back.
    let finished = turn.response().and_then(|response| finished(turn.test.front, response));
    let finished = finished.filter(|finished| finished.parts.len() >= client.parts.len());
    let [sent, found] = [upstream, finished.as_ref().unwrap_or(client)].map(kinds);
    let is_moved = sent.len() == found.len() && sent.iter().all(|kind| found.contains(kind)) && sent != found;
    if is_moved {
        let message = "the parts of the client's answer are in another order than the upstream's";
        let [sent, found] = [sent, found].map(|kinds| kinds.join(", "));
        findings.add("answer/order", Problem::new(found.clone(), message).showing(&sent, &found));
    }
}

/// In the order of their first parts.
fn kinds(reply: &Reply) -> Vec<&'static str> {
    let mut kinds = Vec::new();
    for part in &reply.parts {
        let kind = match part {
            Part::Text(text) | Part::Refusal(text) if !text.is_empty() => "text",
            Part::Reasoning(reasoning) if !reasoning.text.is_empty() => "reasoning",
            Part::Call(_) => "calls",
            _ => continue,
        };
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    kinds
}
