//! Threads and asynchronous runtimes.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;

use tokio::runtime::{self, Runtime};

/// Starts a runtime with this number of threads.
///
/// # Errors
///
/// If the system cannot start as many threads and another one; the runtime itself would panic.
pub fn start_runtime(threads: usize) -> io::Result<Runtime> {
    check_threads(threads + 1)?;
    runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build()
}

/// Fails unless the system can start this number of threads at once.
///
/// # Errors
///
/// With the reason of the system.
pub fn check_threads(threads: usize) -> io::Result<()> {
    let gate: Arc<Mutex<()>> = Arc::default();
    let closed = gate.lock().unwrap_or_else(PoisonError::into_inner);
    let started: io::Result<Vec<_>> = (0..threads)
        .map(|_| {
            let gate = Arc::clone(&gate);
            Builder::new().spawn(move || drop(gate.lock()))
        })
        .collect();
    drop(closed);
    let few = |error: io::Error| {
        let reason = "this system starts too few threads; raise its limit of processes, such as `ulimit -u`";
        io::Error::new(error.kind(), format!("{reason}: {error}"))
    };
    for thread in started.map_err(few)? {
        // These threads only wait.
        let _ = thread.join();
    }
    Ok(())
}
