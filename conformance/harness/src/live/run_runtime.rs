//! The runtime of runs.

use std::io;
use std::sync::Arc;

use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;

/// Waits for Ctrl-C, or for SIGTERM where it exists.
///
/// # Errors
///
/// When the system has no such signals.
pub async fn ended() -> io::Result<()> {
    #[cfg(unix)]
    {
        let mut terminate = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
        tokio::select! {
            interrupted = tokio::signal::ctrl_c() => interrupted,
            _ = terminate.recv() => Ok(()),
        }
    }
    #[cfg(not(unix))]
    tokio::signal::ctrl_c().await
}

/// The runtime of runs, with interruption by Ctrl-C and SIGTERM.
#[derive(Debug, Clone)]
pub struct RunRuntime {
    runtime: Arc<Runtime>,
    interrupt: watch::Receiver<bool>,
}

impl RunRuntime {
    /// Starts the runtime.
    ///
    /// # Errors
    ///
    /// Fails if the system cannot create threads.
    pub fn start() -> io::Result<Self> {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let (over, interrupt) = watch::channel(false);
        runtime.spawn(async move {
            if ended().await.is_ok() {
                let _ = over.send(true);
            }
            // Without this thread, runs could not be interrupted.
            over.closed().await;
        });
        Ok(Self { runtime: Arc::new(runtime), interrupt })
    }

    /// Returns the async runtime.
    pub fn runtime(&self) -> Arc<Runtime> {
        Arc::clone(&self.runtime)
    }

    /// Returns a signal that becomes true on interruption.
    pub fn interrupt(&self) -> watch::Receiver<bool> {
        self.interrupt.clone()
    }

    /// Returns whether the run was interrupted.
    pub fn is_interrupted(&self) -> bool {
        *self.interrupt.borrow()
    }
}
