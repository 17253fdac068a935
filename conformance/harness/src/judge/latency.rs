//! How fast concurrent streams are.

use super::attempt::Attempt;
use super::facts::Facts;
use results::{Latency, Spread};

/// The latencies of the streams of each case, for information only.
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

    #[test]
    fn times_are_spread() {
        let with = |times: &[u32]| Facts { times_us: times.to_vec(), ..Facts::default() };
        let streams: Vec<Facts> = (1..=100).map(|number| with(&[number, number + 10, number + 30])).collect();
        let of = |facts: &[Facts]| latency("a", &facts.iter().collect::<Vec<_>>());
        let latency = of(&streams).unwrap();
        let spread = |p50_us, p90_us, p99_us, max_us| Spread { p50_us, p90_us, p99_us, max_us };
        assert_eq!((latency.streams, latency.first_event), (100, spread(50, 90, 99, 100)));
        assert_eq!(latency.between_events, Some(spread(10, 20, 20, 20)));
        assert_eq!(latency.total, spread(80, 120, 129, 130));
        assert_eq!(of(&[with(&[])]), None);
        assert_eq!(of(&[with(&[5])]).unwrap().between_events, None);
    }
}
