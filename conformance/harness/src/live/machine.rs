//! What runs are made on.

use std::io;
use std::sync::Arc;

use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;

/// Waits until the program should end: for Ctrl-C, or for SIGTERM where there is such a thing.
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

/// What runs are made on, and whether the user wants them to end: Ctrl-C and SIGTERM say so.
#[derive(Debug, Clone)]
pub struct Machine {
    runtime: Arc<Runtime>,
    interrupt: watch::Receiver<bool>,
}

impl Machine {
    /// Starts it.
    ///
    /// # Errors
    ///
    /// When the system has no threads to give.
    pub fn start() -> io::Result<Self> {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let (over, interrupt) = watch::channel(false);
        runtime.spawn(async move {
            if ended().await.is_ok() {
                let _ = over.send(true);
            }
            // Nobody could end the run, were it gone.
            over.closed().await;
        });
        Ok(Self { runtime: Arc::new(runtime), interrupt })
    }

    /// What everything runs on.
    pub fn runtime(&self) -> Arc<Runtime> {
        Arc::clone(&self.runtime)
    }

    /// Turns true when the user wants an end.
    pub fn interrupt(&self) -> watch::Receiver<bool> {
        self.interrupt.clone()
    }

    /// Whether the user wants an end.
    pub fn is_interrupted(&self) -> bool {
        *self.interrupt.borrow()
    }
}
