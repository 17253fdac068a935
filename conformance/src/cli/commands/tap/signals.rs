//! Signals to a tap.

use std::io;

/// The signals that end a tap, and the one that has it read its settings again.
#[cfg(unix)]
#[derive(Debug)]
pub(super) struct Signals {
    ends: [tokio::signal::unix::Signal; 3],
    hangup: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    /// They are handled from now on.
    pub(super) fn new() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};

        let ends = [SignalKind::interrupt(), SignalKind::quit(), SignalKind::terminate()];
        let [interrupt, quit, terminate] = ends.map(signal);
        Ok(Self { ends: [interrupt?, quit?, terminate?], hangup: signal(SignalKind::hangup())? })
    }

    /// It is over when the tap is to end. A command ends with its terminal; otherwise, SIGHUP reloads.
    pub(super) async fn ended(&mut self, is_for_command: bool, reload: impl Fn()) {
        use std::io::IsTerminal as _;

        let had_terminal = io::stderr().is_terminal();
        let [interrupt, quit, terminate] = &mut self.ends;
        loop {
            tokio::select! {
                _ = interrupt.recv() => return,
                _ = quit.recv() => return,
                _ = terminate.recv() => return,
                _ = self.hangup.recv() => {
                    // A terminal that was closed is none any more.
                    if is_for_command || had_terminal && !io::stderr().is_terminal() {
                        return;
                    }
                    reload();
                }
            }
        }
    }
}

/// Elsewhere, a tap only ends.
#[cfg(not(unix))]
#[derive(Debug)]
pub(super) struct Signals;

#[cfg(not(unix))]
impl Signals {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self)
    }

    pub(super) async fn ended(&mut self, _: bool, _: impl Fn()) {
        if let Ok(ended) = harness::live::ended() {
            ended.await;
        }
    }
}
