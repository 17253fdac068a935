//! The queue between exchanges and those who judge them: bounded, and nobody waits for it.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::lost::Lost;
use crate::metrics::Metrics;
use crate::passed::{Passed, Room};
use crate::socket;

/// Maximum number of exchanges that wait.
const WAITING: usize = 1024;

/// The way to those who judge.
#[derive(Clone)]
pub struct Queue {
    sender: SyncSender<Passed>,
    room: Arc<Room>,
    metrics: Metrics,
}

impl fmt::Debug for Queue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Queue").finish_non_exhaustive()
    }
}

impl Queue {
    pub(crate) const fn room(&self) -> &Arc<Room> {
        &self.room
    }

    pub(crate) fn offer(&self, passed: Passed) {
        match self.sender.try_send(passed) {
            Ok(()) => {}
            Err(TrySendError::Full(_)) => self.lose(Lost::Queue),
            Err(TrySendError::Disconnected(_)) => self.lose(Lost::Stopped),
        }
    }

    pub(crate) fn lose(&self, why: Lost) {
        self.metrics.lost(why);
    }
}

/// The threads that judge.
#[derive(Debug)]
pub struct Judges {
    threads: Vec<JoinHandle<()>>,
}

impl Judges {
    /// Each function has a thread. Copies take at most this number of bytes. A function that panics loses the exchange at hand,
    /// and is made anew.
    pub fn start<J: FnMut(Passed)>(
        count: usize,
        most_bytes: usize,
        metrics: &Metrics,
        make: impl Fn() -> J + Clone + Send + 'static,
    ) -> std::io::Result<(Self, Queue)> {
        let (sender, receiver) = sync_channel(WAITING);
        let receiver = Arc::new(Mutex::new(receiver));
        let start = |_| {
            let (receiver, metrics, make) = (Arc::clone(&receiver), metrics.clone(), make.clone());
            thread::Builder::new().name("judge".to_owned()).spawn(move || work(&receiver, &metrics, make))
        };
        let threads = (0..count.max(1)).map(start).collect::<Result<_, _>>()?;
        Ok((Self { threads }, Queue { sender, room: Room::new(most_bytes), metrics: metrics.clone() }))
    }

    /// All is judged when the last queue is gone and this returns, unless it takes more than this time.
    pub fn finish(self, within: Duration) {
        let by = Instant::now() + within;
        for thread in self.threads {
            while !thread.is_finished() && Instant::now() < by {
                thread::sleep(Duration::from_millis(5));
            }
            if thread.is_finished() {
                // It caught its panics.
                let _ = thread.join();
            }
        }
    }
}

fn work<J: FnMut(Passed)>(receiver: &Mutex<Receiver<Passed>>, metrics: &Metrics, make: impl Fn() -> J) {
    let mut judge = make();
    loop {
        let next = receiver.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(mut passed) = next else { return };
        let judged = catch_unwind(AssertUnwindSafe(|| socket::read(&mut passed).map(|()| judge(passed))));
        match judged {
            Ok(Ok(())) => {}
            Ok(Err(why)) => metrics.lost(why),
            Err(_) => {
                metrics.lost(Lost::Panic);
                // The state of a check that panicked is not used again.
                judge = make();
            }
        }
    }
}
