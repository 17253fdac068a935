//! Whether what the upstream sends leaves the gateway in time. It is found by what came before what, and by no duration.

use super::Turn;
use super::findings::{Findings, Problem, tail};
use super::progress::{Moment, progress};
use crate::content::LANES;
use crate::evidence::{Ended, Response};

/// Judges a test in which the upstream waits for the client.
pub(super) fn judge(findings: &mut Findings<'_>, turn: &Turn<'_>) {
    let (Some(sent), Some(received)) = (turn.answer(), turn.response()) else { return };
    let (Some((last, _)), Some((first, _))) = (sent.pieces.last(), received.pieces.first()) else { return };
    if sent.pieces.len() < 2 {
        let message = "the client wants a stream, and the gateway requests none from the upstream";
        findings.add("time/first-byte", Problem::new("no stream", message));
        return;
    }
    if first >= last {
        let message = format!(
            "the client gets its first byte only after the upstream has sent all of its {} events",
            sent.pieces.len()
        );
        findings.add("time/first-byte", Problem::new("buffered", message));
        return;
    }
    let [upstream, client] = [(sent, turn.test.upstream), (received, turn.test.front)]
        .map(|(it, dialect)| progress(it, dialect.api));
    if let Some((moment, lane)) = held_back(sent, &upstream, &client) {
        let (number, name) = (moment.piece + 1, LANES.get(lane).copied().unwrap_or_default());
        let message = format!(
            "the client gets the {name} of event {number} only after the upstream has sent event {}, which waits for it",
            number + 1
        );
        let event = sent.pieces.get(moment.piece).map(|(_, bytes)| tail(bytes)).unwrap_or_default();
        findings.add("time/in-step", Problem::new(name, message).showing(&event, ""));
    }
}

/// Returns the first piece of the upstream whose content reaches the client only after the next one was sent, and what it
/// is.
fn held_back(sent: &Response, upstream: &[Moment], client: &[Moment]) -> Option<(Moment, usize)> {
    let mut before = [0; LANES.len()];
    for moment in upstream {
        let grown = (0..LANES.len()).filter(|lane| moment.said.get(*lane) > before.get(*lane));
        for lane in grown {
            let wanted = moment.said.get(lane)?;
            let (next, _) = sent.pieces.get(moment.piece + 1)?;
            // What never arrives is lost, and a finding of another rule.
            let arrival = client.iter().find(|it| it.said.get(lane) >= Some(wanted));
            if arrival.is_some_and(|arrival| arrival.at > *next) {
                return Some((*moment, lane));
            }
        }
        before = moment.said;
    }
    None
}

/// Judges a test whose client leaves.
pub(super) fn judge_leaving(findings: &mut Findings<'_>, turn: &Turn<'_>) {
    let Some(left) = turn.response().filter(|response| response.end == Ended::Left) else { return };
    for exchange in &turn.requests {
        let Some(response) = &exchange.response else { continue };
        // A client that has waited for all of a stream leaves too late.
        if response.end == Ended::Left || response.ended_at <= left.ended_at {
            continue;
        }
        let message = "the client has left, and the gateway still reads the upstream's stream to its end";
        findings.add("cancel/upstream-left", Problem::new("", message).showing(&tail(&response.body()), ""));
    }
}
