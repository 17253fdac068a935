//! What runs are made on.

use std::io;
use std::sync::Arc;

use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;

/// What runs are made on, and whether the user wants them to end: Ctrl-C says so.
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
            if tokio::signal::ctrl_c().await.is_ok() {
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
