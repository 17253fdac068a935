//! The line of progress of a run against an endpoint.

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::live::Live;

/// A line on stderr with what is done, what failed, the rate and the time left. It appears only on a terminal,
/// after a second, and is wiped when this is dropped.
pub(super) struct Progress {
    state: Arc<State>,
    painter: Option<JoinHandle<()>>,
}

/// What a session shows of its progress.
pub(super) struct Sending {
    pub(super) live: Arc<Live>,
    pub(super) failures: Arc<AtomicUsize>,
}

#[derive(Default)]
struct State {
    is_over: Mutex<bool>,
    over: Condvar,
}

/// Shorter runs need no line.
const PATIENCE: Duration = Duration::from_secs(1);
/// Time between two paintings.
const PAUSE: Duration = Duration::from_millis(100);
/// Wipes the line that the cursor is on.
const WIPE: &str = "\r\x1b[K";

impl Progress {
    /// Begins to show these sessions, if stderr is a terminal.
    pub(super) fn start(sessions: Vec<Sending>) -> Self {
        let state: Arc<State> = Arc::default();
        let painter = (io::stderr().is_terminal() && !sessions.is_empty()).then(|| {
            let state = Arc::clone(&state);
            thread::spawn(move || state.paint(&sessions))
        });
        Self { state, painter }
    }

    /// Wipes the line, for others to be printed; it comes back below them.
    pub(super) fn wipe(&self) {
        if self.painter.is_some() {
            // A closed stderr is no reason to fail.
            let _ = write!(io::stderr().lock(), "{WIPE}");
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        *self.state.is_over.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.state.over.notify_all();
        if let Some(painter) = self.painter.take() {
            // Nothing depends on the painter.
            let _ = painter.join();
        }
    }
}

impl State {
    fn paint(&self, sessions: &[Sending]) {
        let start = Instant::now();
        let mut pause = PATIENCE;
        let mut is_painted = false;
        let mut is_over = self.is_over.lock().unwrap_or_else(PoisonError::into_inner);
        while !*is_over {
            is_over = self.over.wait_timeout(is_over, pause).unwrap_or_else(PoisonError::into_inner).0;
            if start.elapsed() >= PATIENCE && !*is_over {
                let counts: Vec<_> = sessions.iter().map(|session| session.live.progress()).collect();
                let (done, all) =
                    counts.iter().fold((0, 0), |(done, all), count| (done + count.0, all + count.1));
                let failed: usize =
                    sessions.iter().map(|session| session.failures.load(Ordering::Relaxed)).sum();
                // A closed stderr is no reason to fail.
                let _ = write!(io::stderr().lock(), "{WIPE}{}", line(done, all, failed, start.elapsed()));
                is_painted = true;
                pause = PAUSE;
            }
        }
        if is_painted {
            let _ = write!(io::stderr().lock(), "{WIPE}");
        }
    }
}

/// Returns the line for what was done in this time.
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
        let shown = |done, all, failed, seconds| line(done, all, failed, Duration::from_secs(seconds));
        assert_eq!(shown(0, 97, 0, 2), "[0/97] 0 failed, 0.0/s");
        assert_eq!(shown(12, 97, 3, 10), "[12/97] 3 failed, 1.2/s, 71 s left");
        assert_eq!(shown(1, 97, 3, 10), "[1/97] 3 failed, 0.1/s, 16 min left");
        assert_eq!(shown(97, 97, 3, 10), "[97/97] 3 failed, 9.7/s, 0 s left");
    }
}
