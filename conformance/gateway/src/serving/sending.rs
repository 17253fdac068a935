//! The pace of a stream.

use std::collections::VecDeque;
use std::io;
use std::time::Duration;

use axum::body::{Body, Bytes};
pub use catalogue::Ending as End;
use futures_util::stream;
use tokio::task::yield_now;
use tokio::time::sleep;

use super::settings::Settings;
use crate::faults::requested::Faults;
use crate::rendering::events::event_end;
use crate::rendering::wire::WireFault;

/// Lifetime of a stalled connection.
const STALLED: Duration = Duration::from_secs(3600);
/// Number of chunks that are flushed one by one. The rest of a long stream is sent as fast as the client
/// reads.
const FLUSHED: usize = 256;

pub(super) fn send(settings: &Settings, faults: &Faults, sent: Vec<u8>) -> Body {
    let has = |fault| faults.wire.contains(&fault);
    let end = match () {
        () if has(WireFault::Stall) => End::Stall,
        () if has(WireFault::EarlyClose) => End::Break,
        () => End::Whole,
    };
    let mut rest = Bytes::from(sent);
    if end != End::Whole {
        rest.truncate(rest.len() / 2);
    }
    let source = Source::Events {
        rest,
        event: Bytes::new(),
        pace: if has(WireFault::Slow) { Duration::from_secs(1) } else { settings.pace },
        chunk: if has(WireFault::SplitUtf8) { Some(1) } else { settings.chunk },
    };
    body(source, end)
}

/// Each piece is sent that long after the one before it.
pub(super) fn play(pieces: impl IntoIterator<Item = (Duration, Vec<u8>)>, end: End) -> Body {
    let pieces = pieces.into_iter().map(|(after, bytes)| (after, Bytes::from(bytes))).collect();
    body(Source::Pieces(pieces), end)
}

#[derive(Debug)]
enum Source {
    /// Events of a stream, optionally split into chunks.
    Events { rest: Bytes, event: Bytes, pace: Duration, chunk: Option<usize> },
    /// Chunks with the delay before each.
    Pieces(VecDeque<(Duration, Bytes)>),
}

impl Source {
    fn next(&mut self) -> Option<(Duration, Bytes)> {
        match self {
            Self::Pieces(pieces) => pieces.pop_front(),
            Self::Events { rest, event, pace, chunk } => {
                let mut after = Duration::ZERO;
                if event.is_empty() {
                    if rest.is_empty() {
                        return None;
                    }
                    *event = rest.split_to(event_end(rest));
                    after = *pace;
                }
                Some((after, event.split_to(chunk.unwrap_or(usize::MAX).clamp(1, event.len()))))
            }
        }
    }

    /// Each chunk must be sent separately.
    const fn is_cut(&self) -> bool {
        matches!(self, Self::Events { chunk: Some(_), .. } | Self::Pieces(_))
    }
}

/// Each chunk is written to the connection before the next one is produced.
fn body(source: Source, end: End) -> Body {
    let pieces = stream::unfold((source, Some(end), 0_usize), |(mut source, end, sent)| async move {
        let end = end?;
        if let Some((after, piece)) = source.next() {
            if !after.is_zero() {
                sleep(after).await;
            } else if sent > 0 && (sent < FLUSHED || source.is_cut()) {
                // Chunks without delay are flushed by the connection.
                yield_now().await;
            }
            return Some((Ok(piece), (source, Some(end), sent + 1)));
        }
        match end {
            End::Whole => None,
            End::Stall => {
                sleep(STALLED).await;
                None
            }
            End::Break | End::Reset => {
                // The connection flushes these bytes before it breaks, so that the client receives them.
                yield_now().await;
                let broken = io::Error::from(io::ErrorKind::ConnectionReset);
                Some((Err(broken), (source, None, sent)))
            }
        }
    });
    Body::from_stream(pieces)
}
