//! The pace of a stream: what is sent at once, and when.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes};
use futures_core::Stream;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::time::sleep;

use super::server::Settings;
use super::wire::WireFault;

/// So long a stalled connection is kept.
const STALLED: Duration = Duration::from_secs(3600);

/// What comes through a channel, as a body.
struct Pieces(Receiver<io::Result<Bytes>>);

impl Stream for Pieces {
    type Item = io::Result<Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_recv(context)
    }
}

/// A body that is sent as the settings say.
pub(super) fn send(settings: &Settings, body: Vec<u8>) -> Body {
    let has = |fault| settings.wire.contains(&fault);
    let pace = if has(WireFault::Slow) { Duration::from_secs(1) } else { settings.pace };
    let chunk = if has(WireFault::SplitUtf8) { Some(1) } else { settings.chunk };
    let end = match () {
        () if has(WireFault::Stall) => End::Stall,
        () if has(WireFault::EarlyClose) => End::Break,
        () => End::Whole,
    };
    if pace.is_zero() && chunk.is_none() && end == End::Whole {
        return Body::from(body);
    }
    let (sender, receiver) = channel(1);
    tokio::spawn(feed(sender, body, pace, chunk, end));
    Body::from_stream(Pieces(receiver))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Whole,
    /// Half of it comes, and then nothing.
    Stall,
    /// Half of it comes, and the connection breaks.
    Break,
}

/// Sends a body piece by piece. It ends early when nobody reads any more.
async fn feed(
    sender: Sender<io::Result<Bytes>>,
    body: Vec<u8>,
    pace: Duration,
    chunk: Option<usize>,
    end: End,
) {
    let half = if end == End::Whole { body.len() } else { body.len() / 2 };
    let mut rest = Bytes::from(body);
    rest.truncate(half);
    while !rest.is_empty() {
        if !pace.is_zero() {
            sleep(pace).await;
        }
        let mut event = rest.split_to(event_end(&rest));
        while !event.is_empty() {
            let piece = event.split_to(chunk.unwrap_or(usize::MAX).clamp(1, event.len()));
            if sender.send(Ok(piece)).await.is_err() {
                return;
            }
            if chunk.is_some() {
                // Pieces that wait for each other are sent together.
                tokio::task::yield_now().await;
            }
        }
    }
    match end {
        End::Whole => {}
        End::Stall => {
            tokio::select! {
                () = sender.closed() => {}
                () = sleep(STALLED) => {}
            }
        }
        End::Break => {
            let _ = sender.send(Err(io::ErrorKind::ConnectionReset.into())).await;
        }
    }
}

/// Where the first event ends.
pub(super) fn event_end(bytes: &[u8]) -> usize {
    let is_end = |at: &usize| {
        let after = bytes.get(at + 1..).unwrap_or_default();
        after.starts_with(b"\n") || after.starts_with(b"\r\n")
    };
    let end = memchr::memchr_iter(b'\n', bytes).find(is_end);
    let length = |at: usize| if bytes.get(at + 1) == Some(&b'\n') { 2 } else { 3 };
    end.map_or(bytes.len(), |at| at + length(at))
}

#[cfg(test)]
mod tests {
    use super::event_end;

    #[test]
    fn events_end_with_a_blank_line() {
        for (bytes, end) in
            [(&b"a: b\n\nc"[..], 6), (b"a: b\r\n\r\nc", 8), (b"a\nb\n\n\n", 5), (b"a\nb\n", 4), (b"", 0)]
        {
            assert_eq!(event_end(bytes), end, "{bytes:?}");
        }
    }
}
