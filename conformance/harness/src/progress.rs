//! A progress line.

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use crate::lock;

/// A progress line on stderr. It appears only on a terminal, after a second, and is cleared when dropped.
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

/// Delay before the line appears.
const PATIENCE: Duration = Duration::from_secs(1);
/// Time between two updates.
const PAUSE: Duration = Duration::from_millis(100);
/// Escape sequence that clears the line.
const WIPE: &str = "\r\x1b[K";

impl ProgressLine {
    /// Starts to show the result of this function for the elapsed time, if stderr is a terminal. The default
    /// shows nothing.
    pub fn start(line: impl FnMut(Duration) -> String + Send + 'static) -> Self {
        let end: Arc<End> = Arc::default();
        let painter = io::stderr().is_terminal().then(|| {
            let end = Arc::clone(&end);
            // Without a thread for it, there is no line.
            Builder::new().spawn(move || end.paint_until(line)).ok()
        });
        let painter = painter.flatten();
        Self { end, painter }
    }

    /// Clears the line for other output; it reappears below.
    pub fn wipe(&self) {
        if self.painter.is_some() {
            print(WIPE);
        }
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        *lock(&self.end.is_over) = true;
        self.end.over.notify_all();
        if let Some(painter) = self.painter.take() {
            // The work does not depend on the line.
            let _ = painter.join();
        }
    }
}

impl End {
    fn paint_until(&self, mut line: impl FnMut(Duration) -> String) {
        let start = Instant::now();
        let mut pause = PATIENCE;
        let mut is_painted = false;
        let mut is_over = lock(&self.is_over);
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
