//! Time limits.

use std::io::{self, Write as _};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// Longer than anything may take on a machine that is busy.
const LIMIT: Duration = Duration::from_secs(120);

/// Does the work, and panics if it panics or does not end.
pub fn within<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let (done, wait) = mpsc::channel();
    thread::scope(|scope| {
        scope.spawn(move || done.send(work()));
        match wait.recv_timeout(LIMIT) {
            Ok(result) => result,
            // The scope would wait for it forever.
            Err(mpsc::RecvTimeoutError::Timeout) => {
                let _ = writeln!(io::stderr(), "it did not end within {LIMIT:?}");
                std::process::abort();
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => panic!("it panicked"),
        }
    })
}
