//! The progress line of a run.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::session::Tests;
use crate::ProgressLine;

/// Shows done, failed, rate and time left.
pub(super) fn start(sessions: Vec<Arc<Tests>>) -> ProgressLine {
    if sessions.is_empty() {
        return ProgressLine::default();
    }
    ProgressLine::start(move |elapsed| {
        let counts = sessions.iter().map(|session| session.live.progress());
        let (done, all) = counts.fold((0, 0), |(done, all), count| (done + count.0, all + count.1));
        let failed = sessions.iter().map(|session| session.failures.load(Ordering::Relaxed)).sum();
        line(done, all, failed, elapsed)
    })
}

fn line(done: usize, all: usize, failed: usize, elapsed: Duration) -> String {
    let tenths = |number: u128| format!("{}.{}", number / 10, number % 10);
    let ms = elapsed.as_millis().max(1);
    let rate = done as u128 * 10_000 / ms;
    let left = match (all.saturating_sub(done) as u128 * ms).checked_div(done as u128) {
        None => String::new(),
        Some(left) if left < 120_000 => format!(", {} s left", left.div_ceil(1000)),
        Some(left) => format!(", {} min left", left.div_ceil(60_000)),
    };
    format!("[{done}/{all}] {failed} failed, {}/s{left}", tenths(rate))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_has_counts_rate_and_time_left() {
        let rendered = |done, all, failed, seconds| line(done, all, failed, Duration::from_secs(seconds));
        assert_eq!(rendered(0, 97, 0, 2), "[0/97] 0 failed, 0.0/s");
        assert_eq!(rendered(12, 97, 3, 10), "[12/97] 3 failed, 1.2/s, 71 s left");
        assert_eq!(rendered(1, 97, 3, 10), "[1/97] 3 failed, 0.1/s, 16 min left");
        assert_eq!(rendered(97, 97, 3, 10), "[97/97] 3 failed, 9.7/s, 0 s left");
    }
}
