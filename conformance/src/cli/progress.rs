//! How far long work is.

use std::io::{self, IsTerminal, Read, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// A line on stderr that says how many files and bytes were read. It is there only when stderr is a
/// terminal, from the first second on, and is wiped when this is dropped.
pub(super) struct Progress {
    state: Arc<State>,
    painter: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct State {
    all: usize,
    files: AtomicUsize,
    bytes: AtomicU64,
    is_over: Mutex<bool>,
    over: Condvar,
    is_visible: AtomicBool,
}

/// What takes no longer needs no line.
const PATIENCE: Duration = Duration::from_secs(1);
/// How often it is painted again.
const PAUSE: Duration = Duration::from_millis(100);
/// Wipes the line that the cursor is on.
const WIPE: &str = "\r\x1b[K";

impl Progress {
    /// Work on so many files begins.
    pub(super) fn start(all: usize) -> Self {
        let state = Arc::new(State { all, ..State::default() });
        let painter = io::stderr().is_terminal().then(|| {
            let state = Arc::clone(&state);
            thread::spawn(move || state.paint())
        });
        Self { state, painter }
    }

    /// Work of which something else tells how far it is.
    pub(super) fn hidden() -> Self {
        Self { state: Arc::default(), painter: None }
    }

    /// Counts what is read of a file.
    pub(super) fn reading<R: Read>(&self, input: R) -> Counted<'_, R> {
        Counted { input, bytes: &self.state.bytes }
    }

    /// A file is done.
    pub(super) fn done(&self) {
        self.state.files.fetch_add(1, Ordering::Relaxed);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        *self.state.is_over.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.state.over.notify_all();
        if let Some(painter) = self.painter.take() {
            // It cannot fail, and nothing would depend on it.
            let _ = painter.join();
        }
    }
}

impl State {
    fn paint(&self) {
        let start = Instant::now();
        let mut pause = PATIENCE;
        let mut is_over = self.is_over.lock().unwrap_or_else(PoisonError::into_inner);
        while !*is_over {
            let woken = self.over.wait_timeout(is_over, pause);
            is_over = woken.unwrap_or_else(PoisonError::into_inner).0;
            if start.elapsed() >= PATIENCE && !*is_over {
                self.is_visible.store(true, Ordering::Relaxed);
                // Nobody is left to tell when stderr is gone.
                let _ = write!(io::stderr().lock(), "{WIPE}{}", self.line(start.elapsed()));
                pause = PAUSE;
            }
        }
        if self.is_visible.load(Ordering::Relaxed) {
            let _ = write!(io::stderr().lock(), "{WIPE}");
        }
    }

    fn line(&self, elapsed: Duration) -> String {
        const WIDTH: usize = 24;
        let files = self.files.load(Ordering::Relaxed);
        let filled = (WIDTH * files).checked_div(self.all).unwrap_or(0).min(WIDTH);
        let bytes = self.bytes.load(Ordering::Relaxed);
        let rate = u128::from(bytes) * 1000 / elapsed.as_millis().max(1);
        format!(
            "[{}{}] {files} of {} files, {} MB, {} MB/s",
            "=".repeat(filled),
            " ".repeat(WIDTH - filled),
            self.all,
            bytes / 1_000_000,
            rate / 1_000_000
        )
    }
}

/// Something that is read, and counted.
pub(super) struct Counted<'p, R> {
    input: R,
    bytes: &'p AtomicU64,
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.input.read(buffer)?;
        self.bytes.fetch_add(length as u64, Ordering::Relaxed);
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_done_is_counted() {
        let progress = Progress::start(4);
        let mut input = progress.reading(io::repeat(0).take(3_500_000));
        io::copy(&mut input, &mut io::sink()).unwrap();
        progress.done();
        let line = progress.state.line(Duration::from_secs(2));
        assert_eq!(line, "[======                  ] 1 of 4 files, 3 MB, 1 MB/s");
        assert_eq!(
            Progress::start(0).state.line(Duration::ZERO),
            format!("[{}] 0 of 0 files, 0 MB, 0 MB/s", " ".repeat(24))
        );
    }
}
