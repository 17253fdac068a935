//! The body of a response while it is sent.

use std::collections::VecDeque;
use std::future::pending;
use std::io;
use std::sync::Arc;

use axum::body::Bytes;
use futures_util::Stream;
use futures_util::stream::unfold;
use gateway::End;
use tokio::task::yield_now;

use super::playing::Playing;
use super::script::Piece;
use crate::evidence::Ended;

/// Each piece is written to the connection before the next one is produced, and recorded.
pub(super) fn perform(
    playing: Arc<Playing>,
    exchange: usize,
    pieces: Vec<Piece>,
    ending: End,
) -> impl Stream<Item = io::Result<Bytes>> {
    let performance =
        Performance { playing, exchange, pieces: pieces.into(), ending, has_sent: false, is_over: false };
    unfold(performance, |mut performance| async move { Some((performance.next().await?, performance)) })
}

struct Performance {
    playing: Arc<Playing>,
    exchange: usize,
    pieces: VecDeque<Piece>,
    ending: End,
    has_sent: bool,
    is_over: bool,
}

impl Performance {
    async fn next(&mut self) -> Option<io::Result<Bytes>> {
        if self.is_over {
            return None;
        }
        if self.has_sent {
            // The connection writes what it has before it asks again.
            yield_now().await;
        }
        if let Some(piece) = self.pieces.pop_front() {
            self.playing.wait_before(&piece).await;
            self.playing.sent(self.exchange, &piece.bytes);
            self.has_sent = true;
            return Some(Ok(piece.bytes.into()));
        }
        match self.ending {
            End::Whole => {
                self.end(Ended::Complete);
                None
            }
            End::Break | End::Reset => {
                self.end(Ended::Broken("the script breaks the connection".to_owned()));
                Some(Err(io::ErrorKind::ConnectionReset.into()))
            }
            End::Stall => pending().await,
        }
    }

    fn end(&mut self, how: Ended) {
        self.is_over = true;
        self.playing.ended(self.exchange, how);
    }
}

impl Drop for Performance {
    fn drop(&mut self) {
        if !self.is_over {
            self.end(Ended::Left);
        }
    }
}
