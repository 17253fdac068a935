//! Progress of reading files.

use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use harness::ProgressLine;

/// A progress line with the number of files and bytes read.
#[derive(Default)]
pub(super) struct Progress {
    read: Arc<Counts>,
    _line: ProgressLine,
}

#[derive(Default)]
struct Counts {
    all: usize,
    files: AtomicUsize,
    bytes: AtomicU64,
}

const WIDTH: usize = 24;

impl Progress {
    pub(super) fn start(files: Arc<Vec<PathBuf>>) -> Self {
        let read = Arc::new(Counts { all: files.len(), ..Counts::default() });
        let shown = Arc::clone(&read);
        // Sizes are only needed for long runs.
        let mut size = None;
        let line = ProgressLine::start(move |elapsed| {
            let size = *size.get_or_insert_with(|| size_of(&files));
            shown.line(size, elapsed)
        });
        Self { read, _line: line }
    }

    pub(super) fn hidden() -> Self {
        Self::default()
    }

    pub(super) fn reading<R: Read>(&self, input: R) -> Counted<'_, R> {
        Counted { input, bytes: &self.read.bytes }
    }

    pub(super) fn done(&self) {
        self.read.files.fetch_add(1, Ordering::Relaxed);
    }
}

impl Counts {
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

fn size_of(files: &[PathBuf]) -> u64 {
    let sizes = files.iter().filter_map(|file| Some(file.metadata().ok()?.len()));
    sizes.sum()
}

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
        let line = progress.read.line(14_000_000, Duration::from_secs(2));
        assert_eq!(line, "[======                  ] 1 of 0 files, 3 MB, 1 MB/s");
        let line = progress.read.line(0, Duration::ZERO);
        assert_eq!(line, format!("[{}] 1 of 0 files, 3 MB, 3500 MB/s", " ".repeat(WIDTH)));
    }
}
