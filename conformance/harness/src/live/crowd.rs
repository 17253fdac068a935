//! Concurrent streams: whether they are isolated, and how fast they are.
//!
//! Each request has a unique mark in its input that the response must repeat. A mark of another request in a response,
//! or an id that two responses share, has leaked between streams. Sequence numbers that are counted across streams are
//! found by the rules of each stream.

use std::collections::BTreeMap;

use super::attempt::Attempt;
use super::facts::Facts;
use results::{Judgement, Latency, Spread, Verdict};

/// Placeholder of the mark in a request.
pub(super) const PLACEHOLDER: &str = "{mark}";

/// Prefix and suffix of a mark, and its number of digits.
const BEGIN: &str = "zq";
const DIGITS: usize = 5;
const END: &str = "qz";
/// Maximum number of leaks to report.
const MAX_LEAKS: usize = 3;

/// Returns the mark of a request: a word that does not occur by chance.
pub(super) fn mark(number: usize) -> String {
    format!("{BEGIN}{number:0DIGITS$}{END}")
}

/// Returns the numbers of all marks in a text.
pub(super) fn marks(text: &str) -> impl Iterator<Item = usize> {
    text.match_indices(BEGIN).filter_map(|(at, _)| {
        let rest = text.get(at + BEGIN.len()..)?;
        let digits = rest.get(..DIGITS).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
        rest.get(DIGITS..)?.starts_with(END).then(|| digits.parse().ok())?
    })
}

/// Returns the verdict on whether concurrent streams were kept apart.
pub(super) fn apart(attempts: &[&Facts]) -> Judgement {
    if attempts.len() < 2 {
        return Judgement::new(
            Verdict::NotExercised,
            "it was sent alone; --concurrent sends several at once",
        );
    }
    let mut leaks = foreign_marks(attempts);
    leaks.extend(shared_ids(attempts));
    if !leaks.is_empty() {
        let more = leaks.len().saturating_sub(MAX_LEAKS);
        leaks.truncate(MAX_LEAKS);
        let more = if more > 0 { format!("; and {more} more") } else { String::new() };
        return Judgement::new(Verdict::Fail, leaks.join("; ") + &more);
    }
    let is_told = |facts: &&&Facts| facts.asked_mark.is_some_and(|mark| facts.marks.contains(&mark));
    match attempts.iter().filter(is_told).count() {
        0 => Judgement::new(Verdict::NotExercised, "no response repeats the mark of its request"),
        _ => Judgement::PASS,
    }
}

fn foreign_marks(attempts: &[&Facts]) -> Vec<String> {
    let of_mark = |mark: usize| attempts.iter().position(|facts| facts.asked_mark == Some(mark));
    let mut found = Vec::new();
    for (at, facts) in attempts.iter().enumerate() {
        for other in facts.marks.iter().filter(|mark| facts.asked_mark != Some(**mark)) {
            if let Some(of) = of_mark(*other) {
                found.push(format!(
                    "response {} contains the mark of the request for response {}",
                    at + 1,
                    of + 1
                ));
            }
        }
    }
    found
}

fn shared_ids(attempts: &[&Facts]) -> Vec<String> {
    let mut first: BTreeMap<&str, usize> = BTreeMap::new();
    let mut found = Vec::new();
    for (at, facts) in attempts.iter().enumerate() {
        for id in &facts.ids {
            match first.get(id.as_str()) {
                Some(of) => found.push(format!("responses {} and {} share the id {id:?}", of + 1, at + 1)),
                None => {
                    first.insert(id, at);
                }
            }
        }
    }
    found
}

/// Returns the latencies of the streams of each case, for information only.
pub fn latencies<'a>(attempts: impl IntoIterator<Item = (&'a str, &'a Attempt)>) -> Vec<Latency> {
    let mut cases: Vec<(&str, Vec<&Facts>)> = Vec::new();
    for (case, attempt) in attempts {
        match cases.last_mut().filter(|(last, _)| *last == case) {
            Some((_, facts)) => facts.push(&attempt.facts),
            None => cases.push((case, vec![&attempt.facts])),
        }
    }
    cases.iter().filter_map(|(case, facts)| latency(case, facts)).collect()
}

fn latency(case: &str, attempts: &[&Facts]) -> Option<Latency> {
    let streams: Vec<&[u32]> =
        attempts.iter().map(|facts| facts.times_us.as_slice()).filter(|times| !times.is_empty()).collect();
    let gaps = |times: &&[u32]| -> Vec<u32> {
        times.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).collect()
    };
    Some(Latency {
        case: case.to_owned(),
        streams: streams.len(),
        first_event: spread(streams.iter().filter_map(|times| times.first().copied()).collect())?,
        between_events: spread(streams.iter().flat_map(gaps).collect()),
        total: spread(streams.iter().filter_map(|times| times.last().copied()).collect())?,
    })
}

fn spread(mut times: Vec<u32>) -> Option<Spread> {
    times.sort_unstable();
    // Nearest-rank percentile.
    let at = |percent: usize| times.get((times.len() * percent).div_ceil(100).max(1) - 1).copied();
    Some(Spread { p50_us: at(50)?, p90_us: at(90)?, p99_us: at(99)?, max_us: at(100)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(mark: usize, marks: &[usize], ids: &[&str]) -> Facts {
        Facts {
            asked_mark: Some(mark),
            marks: marks.iter().copied().collect(),
            ids: ids.iter().map(|id| (*id).to_owned()).collect(),
            ..Facts::default()
        }
    }

    fn judged(attempts: &[Facts]) -> String {
        apart(&attempts.iter().collect::<Vec<_>>()).to_string()
    }

    #[test]
    fn marks_are_found_in_what_surrounds_them() {
        let text = format!("{{\"delta\":\"{}{}, zq12qz zq1234xqz zqzq00003qz\"}}", mark(7), mark(12345));
        assert_eq!(marks(&text).collect::<Vec<_>>(), [7, 12345, 3]);
    }

    #[test]
    fn what_leaks_is_told() {
        let good = [facts(1, &[1], &["a"]), facts(2, &[2], &["b"]), facts(3, &[], &["c"])];
        assert_eq!(judged(&good), "pass");
        let mark = [facts(1, &[1, 2], &["a"]), facts(2, &[2], &["b"])];
        assert_eq!(judged(&mark), "fail (response 1 contains the mark of the request for response 2)");
        let id = [facts(1, &[1], &["a"]), facts(2, &[2], &["b"]), facts(3, &[3], &["a"])];
        assert_eq!(judged(&id), "fail (responses 1 and 3 share the id \"a\")");
    }

    #[test]
    fn what_shows_nothing_is_no_pass() {
        assert!(judged(&[facts(1, &[1], &["a"])]).starts_with("not exercised"));
        assert!(judged(&[facts(1, &[], &["a"]), facts(2, &[], &["b"])]).starts_with("not exercised"));
        // A mark that was not sent is the model's invention.
        assert_eq!(judged(&[facts(1, &[1, 9], &["a"]), facts(2, &[], &["b"])]), "pass");
    }

    #[test]
    fn times_are_spread() {
        let with = |times: &[u32]| Facts { times_us: times.to_vec(), ..Facts::default() };
        let streams: Vec<Facts> = (1..=100).map(|number| with(&[number, number + 10, number + 30])).collect();
        let of = |facts: &[Facts]| latency("a", &facts.iter().collect::<Vec<_>>());
        let told = of(&streams).unwrap();
        let spread = |p50_us, p90_us, p99_us, max_us| Spread { p50_us, p90_us, p99_us, max_us };
        assert_eq!((told.streams, told.first_event), (100, spread(50, 90, 99, 100)));
        assert_eq!(told.between_events, Some(spread(10, 20, 20, 20)));
        assert_eq!(told.total, spread(80, 120, 129, 130));
        assert_eq!(of(&[with(&[])]), None);
        assert_eq!(of(&[with(&[5])]).unwrap().between_events, None);
    }
}
