//! Requests that a gateway sends again.

use crate::judge::Turn;
use crate::judge::parts::findings::{Findings, Problem};
use crate::judge::parts::progress::progress;

/// The number of the upstream's requests, and their times.
pub(in crate::judge) fn judge(findings: &mut Findings<'_>, turn: &Turn<'_>) {
    let count = turn.requests.len();
    let shown = turn.response().and_then(|response| progress(response, turn.test.front.api).first().copied());
    if let Some(shown) = shown
        && turn.requests.iter().skip(1).any(|exchange| exchange.at > shown.at)
    {
        let message = "the gateway sends the request again after the client got output";
        findings.add("fault/replay", Problem::new("after output", message));
        return;
    }
    let most = 1 + usize::try_from(turn.test.declared.retries).unwrap_or(usize::MAX - 1);
    // A request without a fault needs no other.
    let most = if turn.is_faulty() { most } else { 1 };
    if count > most {
        let message = format!("the upstream gets {count} requests, expected at most {most}");
        let kind = if turn.is_faulty() { "after a fault" } else { "without a fault" };
        findings.add("fault/requests", Problem::new(kind, message));
    }
}
