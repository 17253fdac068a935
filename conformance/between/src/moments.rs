//! Events at both sides of a gateway, in time.

use std::time::Duration;

use results::{BetweenMoment, BetweenSide};

use crate::evidence::{Ended, Evidence, Exchanged};

/// Maximum number of moments.
const MOST: usize = 60;
/// Maximum number of characters of a moment.
const LENGTH: usize = 240;
/// Maximum number of bytes that are looked at for them.
const BYTES: usize = 4 * LENGTH;

struct Moment {
    at: Duration,
    side: BetweenSide,
    what: What,
}

enum What {
    Line(String),
    /// Pieces of a response that follow each other, with their number.
    Pieces(Vec<u8>, usize),
}

/// The exchange between both sides, in time. Pieces of a response between which the other side does nothing are one moment;
/// of many moments, those in the middle are left out.
pub fn moments(evidence: &Evidence) -> Vec<BetweenMoment> {
    let mut all = Vec::new();
    for exchange in &evidence.client {
        of_exchange(exchange, BetweenSide::Client, "", &mut all);
    }
    for exchange in &evidence.upstream {
        of_exchange(exchange, BetweenSide::Upstream, "", &mut all);
    }
    for (exchanges, side) in
        [(evidence.after.as_slice(), BetweenSide::Client), (&evidence.after_upstream, BetweenSide::Upstream)]
    {
        for exchange in exchanges {
            of_exchange(exchange, side, "the request after it: ", &mut all);
        }
    }
    // The sort is stable: what one side did at the same time stays in order.
    all.sort_by_key(|moment| moment.at);
    let all: Vec<BetweenMoment> = joined(all).into_iter().map(Moment::shown).collect();
    bounded(all)
}

fn of_exchange(exchange: &Exchanged, side: BetweenSide, what: &str, all: &mut Vec<Moment>) {
    let mut add = |at, what| all.push(Moment { at, side, what });
    let body = beginning(&exchange.body);
    add(exchange.at, What::Line(format!("→ {what}POST {} {body}", exchange.path).trim_end().to_owned()));
    let Some(response) = &exchange.response else { return };
    let begun = response.pieces.first().map_or(response.ended_at, |(at, _)| *at);
    let content_type = response.header("content-type").unwrap_or_default();
    if response.status > 0 {
        add(begun, What::Line(format!("← {} {content_type}", response.status).trim_end().to_owned()));
    }
    for (at, bytes) in &response.pieces {
        add(*at, What::Pieces(bytes.iter().take(BYTES).copied().collect(), 1));
    }
    add(
        response.ended_at,
        What::Line(match &response.end {
            Ended::Complete => "← end".to_owned(),
            Ended::Broken(reason) => format!("← connection lost: {reason}"),
            Ended::Left => "← the reader went away".to_owned(),
            Ended::Silent(reason) => format!("← nothing follows: {reason}"),
        }),
    );
}

/// Pieces of one side that follow each other are one.
fn joined(all: Vec<Moment>) -> Vec<Moment> {
    let mut joined: Vec<Moment> = Vec::new();
    for moment in all {
        if let (Some(Moment { side, what: What::Pieces(bytes, count), .. }), What::Pieces(more, _)) =
            (joined.last_mut(), &moment.what)
            && *side == moment.side
        {
            let room = BYTES.saturating_sub(bytes.len());
            bytes.extend(more.iter().take(room));
            *count += 1;
            continue;
        }
        joined.push(moment);
    }
    joined
}

impl Moment {
    fn shown(self) -> BetweenMoment {
        let what = match self.what {
            What::Line(line) => results::text::cut(&line, LENGTH),
            What::Pieces(bytes, 1) => format!("← {}", beginning(&bytes)),
            What::Pieces(bytes, count) => format!("← {count} writes: {}", beginning(&bytes)),
        };
        BetweenMoment { at_us: u64::try_from(self.at.as_micros()).unwrap_or(u64::MAX), side: self.side, what }
    }
}

fn beginning(bytes: &[u8]) -> String {
    let bytes = bytes.get(..BYTES).unwrap_or(bytes);
    results::text::cut(&String::from_utf8_lossy(bytes), LENGTH)
}

/// Moments in the middle are left out.
fn bounded(mut all: Vec<BetweenMoment>) -> Vec<BetweenMoment> {
    if all.len() <= MOST {
        return all;
    }
    let begin = MOST / 2;
    let out = all.len() - (MOST - 1);
    let omitted: Vec<BetweenMoment> = all.drain(begin..begin + out).collect();
    if let Some(first) = omitted.into_iter().next() {
        all.insert(begin, BetweenMoment { what: format!("({out} more)"), ..first });
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::Response;

    fn us(micros: u64) -> Duration {
        Duration::from_micros(micros)
    }

    fn exchange(at: u64, pieces: &[(u64, &str)], end: Ended) -> Exchanged {
        Exchanged {
            at: us(at),
            path: "/v1/x".to_owned(),
            body: b"{}".to_vec(),
            response: Some(Response {
                status: 200,
                headers: vec![("content-type".to_owned(), "text/event-stream".to_owned())],
                pieces: pieces.iter().map(|(at, text)| (us(*at), text.as_bytes().to_vec())).collect(),
                end,
                ended_at: us(pieces.last().map_or(at, |(at, _)| *at) + 1),
            }),
            ..Exchanged::default()
        }
    }

    fn lines(evidence: &Evidence) -> Vec<String> {
        let line = |moment: BetweenMoment| {
            let side = if moment.side == BetweenSide::Client { "client" } else { "upstream" };
            format!("{} {side} {}", moment.at_us, moment.what)
        };
        moments(evidence).into_iter().map(line).collect()
    }

    #[test]
    fn both_sides_are_in_one_order() {
        let evidence = Evidence {
            client: vec![exchange(0, &[(30, "a"), (32, "b"), (50, "c")], Ended::Complete)],
            upstream: vec![exchange(10, &[(20, "a"), (40, "\u{fc}")], Ended::Broken("reset".to_owned()))],
            ..Evidence::default()
        };
        assert_eq!(
            lines(&evidence),
            [
                "0 client → POST /v1/x {}",
                "10 upstream → POST /v1/x {}",
                "20 upstream ← 200 text/event-stream",
                "20 upstream ← a",
                "30 client ← 200 text/event-stream",
                "30 client ← 2 writes: ab",
                "40 upstream ← ü",
                "41 upstream ← connection lost: reset",
                "50 client ← c",
                "51 client ← end",
            ]
        );
    }

    #[test]
    fn the_request_after_a_fault_has_both_sides() {
        let evidence = Evidence {
            client: vec![exchange(0, &[], Ended::Complete)],
            after: Some(exchange(10, &[], Ended::Complete)),
            after_upstream: vec![exchange(11, &[], Ended::Complete)],
            ..Evidence::default()
        };
        let after: Vec<String> =
            lines(&evidence).into_iter().filter(|line| line.contains("after it")).collect();
        assert_eq!(
            after,
            [
                "10 client → the request after it: POST /v1/x {}",
                "11 upstream → the request after it: POST /v1/x {}",
            ]
        );
    }

    #[test]
    fn they_are_bounded() {
        let long = "x".repeat(100_000);
        let pieces = |from: u64| (0..500).map(|at| (from + 10 * at, &*long)).collect::<Vec<_>>();
        let evidence = Evidence {
            client: vec![exchange(0, &pieces(5), Ended::Complete)],
            upstream: vec![exchange(1, &pieces(9), Ended::Complete)],
            after: Some(exchange(2, &[], Ended::Silent(long.clone()))),
            ..Evidence::default()
        };
        let all = moments(&evidence);
        assert_eq!(all.len(), MOST);
        assert!(all.iter().all(|moment| moment.what.chars().count() <= LENGTH + 20));
        assert!(all.is_sorted_by_key(|moment| moment.at_us));
        assert_eq!(all.iter().filter(|moment| moment.what.ends_with(" more)")).count(), 1);
    }
}
