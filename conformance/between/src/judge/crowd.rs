//! Clients that send their requests at once.

use super::Turn;
use crate::judge::parts::findings::{Findings, Problem, tail};
use crate::mark::own_mark;

pub(super) fn judge(findings: &mut Findings<'_>, turn: &Turn<'_>) -> bool {
    let Some(response) = turn.response() else { return false };
    let own = own_mark(&String::from_utf8_lossy(&turn.client.body), &turn.test.mark);
    let body = response.body();
    let said = String::from_utf8_lossy(&body);
    let words = said
        .match_indices(turn.test.mark.as_str())
        .map(|(at, _)| own_mark(said.get(at..).unwrap_or_default(), &turn.test.mark));
    let other = words.into_iter().find(|word| *word != own && *word != turn.test.mark);
    if let Some(other) = &other {
        let message = format!("the client with the word {own} gets the word {other} of another one");
        findings.add("crowd/separate", Problem::new("another's word", message).showing("", &tail(&body)));
    }
    other.is_some()
}
