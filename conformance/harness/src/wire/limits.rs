//! Limits of time and size of an endpoint.

use std::time::Duration;

use results::Options;
use tokio::time::{Instant, timeout_at};

/// Limits of time and size of an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Connection timeout.
    pub connect: Duration,
    /// Timeout from the request to the end of the first event.
    pub first_event: Duration,
    /// Timeout between the ends of two events, including comments; between bytes in JSON responses.
    pub idle: Duration,
    /// Timeout from the request to the end of the response, including waits.
    pub total: Duration,
    /// Maximum size of a response in bytes.
    pub bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self::of(&Options::usual())
    }
}

impl Limits {
    /// Returns the limits of a run.
    pub fn of(options: &Options) -> Self {
        Self {
            connect: time(options.connect_ms),
            first_event: time(options.first_event_ms),
            idle: time(options.idle_ms),
            total: time(options.total_ms),
            bytes: options.bytes,
        }
    }
}

/// A time of a report, which may be forged, is at most the longest that a flag takes.
pub(crate) fn time(ms: u128) -> Duration {
    const LONGEST: u64 = 30 * 24 * 60 * 60 * 1000;
    Duration::from_millis(u64::try_from(ms).unwrap_or(LONGEST).min(LONGEST))
}

/// The used part of a response's size limit.
///
/// Frames have a limit of their own, as each has a line in the recording even if it is empty.
#[derive(Debug, Default)]
pub(super) struct Volume {
    pub(super) bytes: usize,
    frames: usize,
}

/// Size of what the suite stores of an empty frame.
const FRAME: usize = 32;
/// Number of frames that any response may have.
const FRAMES: usize = 10_000;

impl Volume {
    /// A frame is a message, or the bytes of one read.
    ///
    /// # Errors
    ///
    /// If the response exceeds the limit of bytes.
    pub(super) fn add(&mut self, bytes: usize, limit: usize) -> Result<(), String> {
        self.bytes = self.bytes.saturating_add(bytes);
        self.frames += 1;
        let frames = (limit / FRAME).max(FRAMES);
        if self.bytes > limit {
            return Err(too_long(limit));
        }
        if self.frames > frames {
            return Err(format!("the response has more than {frames} frames, too many for {limit} bytes"));
        }
        Ok(())
    }
}

/// `None` on a timeout. Results that are there at once, one after the other, do not delay it.
pub(super) async fn in_time<T>(by: Instant, result: impl Future<Output = T>) -> Option<T> {
    if Instant::now() >= by {
        return None;
    }
    timeout_at(by, result).await.ok()
}

pub(super) fn too_long(limit: usize) -> String {
    format!("the response is longer than {limit} bytes")
}

/// Detects the ends of events in chunks.
#[derive(Debug, Default)]
pub(super) struct Ends {
    /// Number of line ends since the last other byte.
    line_ends: u8,
    after_return: bool,
}

impl Ends {
    /// The offset where this many events have ended. If fewer have, the number is decreased.
    pub(super) fn count(&mut self, bytes: &[u8], wanted: &mut usize) -> Option<usize> {
        for (at, byte) in bytes.iter().enumerate() {
            if self.are_in(std::slice::from_ref(byte)) {
                *wanted = wanted.saturating_sub(1);
                if *wanted == 0 {
                    return Some(at + 1);
                }
            }
        }
        None
    }

    /// Comments end like events.
    pub(super) fn are_in(&mut self, bytes: &[u8]) -> bool {
        let mut found = false;
        for byte in bytes {
            match byte {
                b'\n' if self.after_return => {}
                b'\n' | b'\r' => {
                    self.line_ends = self.line_ends.saturating_add(1);
                    found |= self.line_ends >= 2;
                }
                _ => self.line_ends = 0,
            }
            self.after_return = *byte == b'\r';
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_frames_are_bounded() {
        let mut volume = Volume::default();
        assert!((0..FRAMES).all(|_| volume.add(0, 1000) == Ok(())));
        assert!(volume.add(0, 1000).unwrap_err().contains("more than 10000 frames"));
        assert_eq!(Volume::default().add(1001, 1000), Err(too_long(1000)));
    }

    #[test]
    fn events_are_counted() {
        let (mut ends, mut wanted) = (Ends::default(), 2);
        assert_eq!(ends.count(b"a\n\nb", &mut wanted), None);
        assert_eq!(ends.count(b"\n", &mut wanted), None);
        assert_eq!(ends.count(b"\nc\n\n", &mut wanted), Some(1));
    }

    #[test]
    fn blank_lines_end_events_however_they_are_cut() {
        for (pieces, expected) in [
            (vec!["data: 1\n", "\n"], vec![false, true]),
            (vec!["data: 1\r\n\r", "\ndata: 2\r\n"], vec![true, false]),
            (vec!["a\r\nb\r\nc", "\r\r"], vec![false, true]),
            (vec!["endless", "endless", "\n"], vec![false; 3]),
        ] {
            let mut ends = Ends::default();
            let found: Vec<bool> = pieces.iter().map(|piece| ends.are_in(piece.as_bytes())).collect();
            assert_eq!(found, expected, "{pieces:?}");
        }
    }
}
