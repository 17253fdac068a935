//! The pace of a stream.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes};
use futures_core::Stream;
use tokio::time::{Sleep, sleep};

use super::settings::Settings;
use crate::faults::requested::Faults;
use crate::rendering::wire::{WireFault, event_end};

/// Lifetime of a stalled connection.
const STALLED: Duration = Duration::from_secs(3600);
/// Number of chunks that are flushed one by one. The rest of a long stream is sent as fast as the client
/// reads.
const FLUSHED: usize = 256;

/// The end of a body.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum End {
    /// Complete.
    #[default]
    Whole,
    /// The stream stalls, and the connection stays open.
    Stall,
    /// The connection breaks.
    Break,
    /// The connection breaks before the head of the response.
    Reset,
}

/// Returns a body that is sent with the pace of the settings, and the faults of transport.
pub(super) fn send(settings: &Settings, faults: &Faults, body: Vec<u8>) -> Body {
    let has = |fault| faults.wire.contains(&fault);
    let end = match () {
        () if has(WireFault::Stall) => End::Stall,
        () if has(WireFault::EarlyClose) => End::Break,
        () => End::Whole,
    };
    let mut rest = Bytes::from(body);
    if end != End::Whole {
        rest.truncate(rest.len() / 2);
    }
    let source = Source::Events {
        rest,
        event: Bytes::new(),
        pace: if has(WireFault::Slow) { Duration::from_secs(1) } else { settings.pace },
        chunk: if has(WireFault::SplitUtf8) { Some(1) } else { settings.chunk },
    };
    Body::from_stream(Pieces::new(source, end))
}

/// Returns a body of these pieces, each sent that long after the one before it.
pub(super) fn play(pieces: impl IntoIterator<Item = (Duration, Vec<u8>)>, end: End) -> Body {
    let pieces = pieces.into_iter().map(|(after, bytes)| (after, Bytes::from(bytes))).collect();
    Body::from_stream(Pieces::new(Source::Pieces(pieces), end))
}

/// The source of the chunks of a body.
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

    /// Returns whether each chunk must be sent separately.
    const fn is_cut(&self) -> bool {
        matches!(self, Self::Events { chunk: Some(_), .. } | Self::Pieces(_))
    }
}

/// A body sent in chunks: each is written to the connection before the next one is produced.
struct Pieces {
    source: Source,
    end: Option<End>,
    next: Option<Bytes>,
    waiting: Option<Pin<Box<Sleep>>>,
    sent: usize,
    is_flushed: bool,
}

impl Pieces {
    const fn new(source: Source, end: End) -> Self {
        Self { source, end: Some(end), next: None, waiting: None, sent: 0, is_flushed: false }
    }
}

impl Stream for Pieces {
    type Item = io::Result<Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if let Some(waiting) = &mut self.waiting {
                if waiting.as_mut().poll(context).is_pending() {
                    return Poll::Pending;
                }
                self.waiting = None;
            }
            if let Some(piece) = self.next.take() {
                self.sent += 1;
                return Poll::Ready(Some(Ok(piece)));
            }
            if let Some((after, piece)) = self.source.next() {
                self.next = Some(piece);
                if !after.is_zero() {
                    self.waiting = Some(Box::pin(sleep(after)));
                } else if self.sent > 0 && (self.sent < FLUSHED || self.source.is_cut()) {
                    // Chunks without delay are flushed by the connection.
                    context.waker().wake_by_ref();
                    return Poll::Pending;
                }
                continue;
            }
            if self.end == Some(End::Break) && !self.is_flushed {
                // What the client receives before the connection breaks is flushed by the connection, too.
                self.is_flushed = true;
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
            match self.end.take() {
                Some(End::Stall) => self.waiting = Some(Box::pin(sleep(STALLED))),
                Some(End::Break | End::Reset) => {
                    return Poll::Ready(Some(Err(io::ErrorKind::ConnectionReset.into())));
                }
                Some(End::Whole) | None => return Poll::Ready(None),
            }
        }
    }
}
