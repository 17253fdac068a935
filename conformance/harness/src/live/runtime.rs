//! The runtime of runs.

#[cfg(unix)]
use std::fs;
use std::future::pending;
use std::io;
#[cfg(unix)]
use std::io::IsTerminal as _;
use std::sync::Arc;

use gateway::start_runtime;
use tokio::runtime::Runtime;
use tokio::sync::watch;

use crate::wire::interrupted;

/// Handles Ctrl-C, and SIGQUIT, SIGTERM and SIGHUP where they exist, from now on. The result ends with the first of them. Call it
/// within a runtime.
///
/// # Errors
///
/// When the system has no such signals.
pub fn ended() -> io::Result<impl Future<Output = ()> + Send> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};

        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut quit = signal(SignalKind::quit())?;
        let mut terminate = signal(SignalKind::terminate())?;
        let mut hangup = if hangs_up() { Some(signal(SignalKind::hangup())?) } else { None };
        Ok(async move {
            let hung_up = async {
                match &mut hangup {
                    Some(hangup) => drop(hangup.recv().await),
                    None => pending().await,
                }
            };
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = quit.recv() => {}
                _ = terminate.recv() => {}
                () = hung_up => {}
            }
        })
    }
    #[cfg(not(unix))]
    Ok(async {
        if tokio::signal::ctrl_c().await.is_err() {
            pending().await
        }
    })
}

/// Under `nohup`, SIGHUP is ignored and the output is redirected.
#[cfg(unix)]
fn hangs_up() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    match ignored.and_then(|signals| u64::from_str_radix(signals.trim(), 16).ok()) {
        // The first bit stands for SIGHUP.
        Some(ignored) => ignored & 1 == 0,
        None => io::stdout().is_terminal() || io::stderr().is_terminal(),
    }
}

/// The runtime of runs, with interruption by Ctrl-C, SIGQUIT, SIGTERM and SIGHUP.
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
        let runtime = start_runtime(1)?;
        let (over, interrupt) = watch::channel(false);
        let ended = {
            let _within = runtime.enter();
            ended()
        };
        runtime.spawn(async move {
            if let Ok(ended) = ended {
                ended.await;
                let _ = over.send(true);
            }
            // Without this thread, runs could not be interrupted.
            over.closed().await;
        });
        Ok(Self { runtime: Arc::new(runtime), interrupt })
    }

    /// The async runtime.
    pub fn runtime(&self) -> Arc<Runtime> {
        Arc::clone(&self.runtime)
    }

    /// A signal that becomes true on interruption.
    pub fn interrupt(&self) -> watch::Receiver<bool> {
        self.interrupt.clone()
    }

    /// Waits until the run is interrupted.
    pub async fn interrupted(&self) {
        interrupted(self.interrupt()).await;
    }

    /// Calls a function when the run is interrupted.
    pub fn on_interrupt(&self, then: impl FnOnce() + Send + 'static) {
        let interrupted = interrupted(self.interrupt());
        self.runtime.spawn(async move {
            interrupted.await;
            then();
        });
    }

    /// Returns whether the run was interrupted.
    pub fn is_interrupted(&self) -> bool {
        *self.interrupt.borrow()
    }
}
