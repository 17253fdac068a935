//! Whether what the upstream sends leaves the gateway in time. It is found by what came before what, and by no duration.

use std::ops::Range;
use std::time::Duration;

use catalogue::Level;

use super::Turn;
use crate::content::LANES;
use crate::evidence::{Ended, Response, SILENCE_GRACE};
use crate::judge::parts::findings::{Findings, Problem, tail};
use crate::judge::parts::progress::{Moment, progress};

/// Tolerance for a declared drain, on a machine with other work.
const DRAIN_GRACE: Duration = Duration::from_millis(500);

pub(super) fn judge(findings: &mut Findings<'_>, turn: &Turn<'_>) {
    let (Some(sent), Some(received)) = (turn.answer(), turn.response()) else { return };
    let (Some((last, _)), Some((first, _))) = (sent.pieces.last(), received.pieces.first()) else { return };
    if sent.pieces.len() < 2 {
        let message = "the client wants a stream, and the gateway requests none from the upstream";
        findings.add("time/in-step", Problem::new("no stream", message));
        return;
    }
    if first >= last {
        let message = format!(
            "the client gets its first byte only after the upstream has sent all of its {} events",
            sent.pieces.len()
        );
        findings.add("time/in-step", Problem::new("buffered", message));
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

/// Such a piece reaches the client only after the next one was sent.
fn held_back(sent: &Response, upstream: &[Moment], client: &[Moment]) -> Option<(Moment, usize)> {
    let mut before = [0; LANES.len()];
    let all = |moments: &[Moment], lane: usize| {
        moments.last().and_then(|last| last.said.get(lane).copied()).unwrap_or_default()
    };
    for moment in upstream {
        let grown = (0..LANES.len()).filter(|lane| moment.said.get(*lane) > before.get(*lane));
        for lane in grown {
            // Lost content is a finding of another rule, and nobody waits for it.
            let lost = all(upstream, lane).saturating_sub(all(client, lane));
            let wanted = moment.said.get(lane)?.saturating_sub(lost);
            if wanted == 0 {
                continue;
            }
            let (next, _) = sent.pieces.get(moment.piece + 1)?;
            let arrival = client.iter().find(|it| it.said.get(lane) >= Some(&wanted));
            if arrival.is_some_and(|arrival| arrival.at > *next) {
                return Some((*moment, lane));
            }
        }
        before = moment.said;
    }
    None
}

pub(super) fn judge_silence(findings: &mut Findings<'_>, turn: &Turn<'_>) {
    let (Some(declared), Some(silent)) = (turn.test.declared.keeps_alive, silence(turn)) else { return };
    let received = turn.response().map(|received| &*received.pieces).unwrap_or_default();
    let heard = received.iter().map(|(at, _)| *at).filter(|at| silent.contains(at));
    let Some(nothing) = longest(silent.start, heard.chain([silent.end])) else { return };
    let [silent, nothing] = [silent, nothing].map(|time| time.end.saturating_sub(time.start));
    if nothing <= Duration::from_secs(declared) + SILENCE_GRACE {
        return;
    }
    let [silent, nothing] = [silent, nothing].map(|time| time.as_secs_f64());
    let message = format!(
        "the upstream is silent for {silent:.1} s, and the client gets no byte for {nothing:.1} s of them; the gateway \
         declares {declared} s"
    );
    findings.add("time/kept-alive", Problem::new("", message));
}

/// The longest silence of the upstream.
fn silence(turn: &Turn<'_>) -> Option<Range<Duration>> {
    longest(turn.requests.last()?.at, turn.answer()?.pieces.iter().map(|(at, _)| *at))
}

/// The longest time between two of these, which are in order.
fn longest(first: Duration, others: impl Iterator<Item = Duration>) -> Option<Range<Duration>> {
    let mut before = first;
    let pairs = others.map(|at| std::mem::replace(&mut before, at)..at);
    pairs.max_by_key(|time| time.end.saturating_sub(time.start))
}

pub(super) fn judge_leaving(findings: &mut Findings<'_>, turn: &Turn<'_>) {
    let Some(left) = turn.response().filter(|response| response.end == Ended::Left) else { return };
    for exchange in &turn.requests {
        let Some(response) = &exchange.response else { continue };
        let after = response.ended_at.saturating_sub(left.ended_at);
        let problem = match turn.test.declared.drains.map(Duration::from_secs) {
            // One that was declared is a promise.
            Some(declared) if after > declared + DRAIN_GRACE => {
                let [declared, after] = [declared, after].map(|time| time.as_secs_f64());
                let message = format!(
                    "the client has left, and {after:.1} s later the gateway still reads the upstream's stream; it \
                     declares at most {declared} s"
                );
                Problem::new("longer than declared", message)
            }
            // A client that has waited for all of a stream leaves too late.
            None if response.end != Ended::Left && !after.is_zero() => {
                let message =
                    "the client has left, and the gateway still reads the upstream's stream to its end";
                // Some gateways go on to learn the token counts, which not all upstreams bill otherwise.
                Problem::new("", message).at(Level::Should)
            }
            _ => continue,
        };
        findings.add("cancel/upstream-left", problem.showing(&tail(&response.body()), ""));
    }
}
