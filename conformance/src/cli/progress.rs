//! How far long work is.

use std::io::{self, IsTerminal, Read, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
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
}

/// What takes no longer needs no line.
const PATIENCE: Duration = Duration::from_secs(1);
/// How often it is painted again.
const PAUSE: Duration = Duration::from_millis(100);
/// How long the bar is.
const WIDTH: usize = 24;
/// Wipes the line that the cursor is on.
const WIPE: &str = "\r\x1b[K";

impl Progress {
    /// Work on these files begins.
    pub(super) fn start(files: &[PathBuf]) -> Self {
        let state = Arc::new(State { all: files.len(), ..State::default() });
        let painter = io::stderr().is_terminal().then(|| {
            let (state, files) = (Arc::clone(&state), files.to_owned());
            thread::spawn(move || state.paint(&files))
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
    fn paint(&self, files: &[PathBuf]) {
        let start = Instant::now();
        let mut pause = PATIENCE;
        let mut size = None;
        let mut is_over = self.is_over.lock().unwrap_or_else(PoisonError::into_inner);
        while !*is_over {
            let woken = self.over.wait_timeout(is_over, pause);
            is_over = woken.unwrap_or_else(PoisonError::into_inner).0;
            if start.elapsed() >= PATIENCE && !*is_over {
                let size = *size.get_or_insert_with(|| size_of(files));
                // Nobody is left to tell when stderr is gone.
                let _ = write!(io::stderr().lock(), "{WIPE}{}", self.line(size, start.elapsed()));
                pause = PAUSE;
            }
        }
        if size.is_some() {
            let _ = write!(io::stderr().lock(), "{WIPE}");
        }
    }

    fn line(&self, size: u64, elapsed: Duration) -> String {
        let files = self.files.load(Ordering::Relaxed);
        let bytes = self.bytes.load(Ordering::Relaxed);
        let filled = bytes.saturating_mul(WIDTH as u64).checked_div(size).unwrap_or(0);
        let filled = usize::try_from(filled).unwrap_or(WIDTH).min(WIDTH);
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

/// How many bytes the files have. Of what is no file, nobody knows.
fn size_of(files: &[PathBuf]) -> u64 {
    let sizes = files.iter().filter_map(|file| Some(file.metadata().ok()?.len()));
    sizes.sum()
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
        let progress = Progress::hidden();
        let mut input = progress.reading(io::repeat(0).take(3_500_000));
        io::copy(&mut input, &mut io::sink()).unwrap();
        progress.done();
        let line = progress.state.line(14_000_000, Duration::from_secs(2));
        assert_eq!(line, "[======                  ] 1 of 0 files, 3 MB, 1 MB/s");
        let line = progress.state.line(0, Duration::ZERO);
        assert_eq!(line, format!("[{}] 1 of 0 files, 3 MB, 3500 MB/s", " ".repeat(WIDTH)));
    }
}
