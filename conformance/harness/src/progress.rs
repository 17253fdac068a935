//! The line that shows the progress of long work.

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// A line on stderr that is painted again and again. It appears only on a terminal, after a second, and is wiped
/// when this is dropped.
#[derive(Debug, Default)]
pub struct ProgressLine {
    end: Arc<End>,
    painter: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct End {
    is_over: Mutex<bool>,
    over: Condvar,
}

/// Shorter work needs no line.
const PATIENCE: Duration = Duration::from_secs(1);
/// Time between two paintings.
const PAUSE: Duration = Duration::from_millis(100);
/// Wipes the line that the cursor is on.
const WIPE: &str = "\r\x1b[K";

impl ProgressLine {
    /// Begins to show what this returns for the time since now, if stderr is a terminal. The default shows nothing.
    pub fn start(line: impl FnMut(Duration) -> String + Send + 'static) -> Self {
        let end: Arc<End> = Arc::default();
        let painter = io::stderr().is_terminal().then(|| {
            let end = Arc::clone(&end);
            thread::spawn(move || end.paint_until(line))
        });
        Self { end, painter }
    }

    /// Wipes the line, for others to be printed; it comes back below them.
    pub fn wipe(&self) {
        if self.painter.is_some() {
            print(WIPE);
        }
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        *self.end.is_over.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.end.over.notify_all();
        if let Some(painter) = self.painter.take() {
            // Nothing depends on the painter.
            let _ = painter.join();
        }
    }
}

impl End {
    fn paint_until(&self, mut line: impl FnMut(Duration) -> String) {
        let start = Instant::now();
        let mut pause = PATIENCE;
        let mut is_painted = false;
        let mut is_over = self.is_over.lock().unwrap_or_else(PoisonError::into_inner);
        while !*is_over {
            is_over = self.over.wait_timeout(is_over, pause).unwrap_or_else(PoisonError::into_inner).0;
            if start.elapsed() >= PATIENCE && !*is_over {
                print(&format!("{WIPE}{}", line(start.elapsed())));
                is_painted = true;
                pause = PAUSE;
            }
        }
        if is_painted {
            print(WIPE);
        }
    }
}

fn print(text: &str) {
    // A closed stderr must not fail the work.
    let _ = io::stderr().lock().write_all(text.as_bytes());
}
