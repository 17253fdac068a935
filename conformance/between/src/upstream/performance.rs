//! The body of a response while it is sent.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::Bytes;
use futures_core::Stream;

use super::playing::{Playing, Wait};
use super::script::{Piece, ScriptEnding};
use crate::evidence::Ended;

/// A body: each piece is written to the connection before the next one is produced, and recorded.
pub(super) struct Performance {
    playing: Arc<Playing>,
    /// The number of its exchange.
    exchange: usize,
    pieces: VecDeque<Piece>,
    ending: ScriptEnding,
    wait: Option<Wait>,
    /// Whether the next piece may be sent.
    is_due: bool,
    is_flushed: bool,
    is_over: bool,
}

impl Performance {
    pub(super) fn new(
        playing: Arc<Playing>,
        exchange: usize,
        pieces: Vec<Piece>,
        ending: ScriptEnding,
    ) -> Self {
        Self {
            playing,
            exchange,
            pieces: pieces.into(),
            ending,
            wait: None,
            is_due: false,
            is_flushed: true,
            is_over: false,
        }
    }

    fn end(&mut self, how: Ended) {
        self.is_over = true;
        self.playing.ended(self.exchange, how);
    }
}

impl Stream for Performance {
    type Item = io::Result<Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if let Some(wait) = &mut self.wait {
                if wait.as_mut().poll(context).is_pending() {
                    return Poll::Pending;
                }
                self.wait = None;
            }
            if !self.is_flushed {
                // The connection writes what it has before it asks again.
                self.is_flushed = true;
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
            if !self.is_due {
                let Some(next) = self.pieces.front() else { break };
                self.wait = Playing::wait_before(&self.playing, next);
                self.is_due = true;
                continue;
            }
            self.is_due = false;
            self.is_flushed = false;
            let bytes = self.pieces.pop_front().unwrap_or_default().bytes;
            self.playing.sent(self.exchange, &bytes);
            return Poll::Ready(Some(Ok(bytes.into())));
        }
        if self.is_over {
            return Poll::Ready(None);
        }
        match self.ending {
            ScriptEnding::Complete => {
                self.end(Ended::Complete);
                Poll::Ready(None)
            }
            ScriptEnding::Broken => {
                self.end(Ended::Broken("the script breaks the connection".to_owned()));
                Poll::Ready(Some(Err(io::ErrorKind::ConnectionReset.into())))
            }
            ScriptEnding::Stalled => Poll::Pending,
        }
    }
}

impl Drop for Performance {
    fn drop(&mut self) {
        if !self.is_over {
            self.end(Ended::Left);
        }
    }
}
