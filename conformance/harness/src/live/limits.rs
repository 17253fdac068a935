//! How long an endpoint may take, and how much it may say.

use std::time::Duration;

/// How long an endpoint may take, and how much it may say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Until a connection stands.
    pub connect: Duration,
    /// From the request to the end of the first event of a stream.
    pub first_event: Duration,
    /// Between the ends of two events, comments included; between bytes, where an answer is no stream.
    pub idle: Duration,
    /// From the request to the end of the answer, with all that is waited for on the way.
    pub total: Duration,
    /// How many bytes an answer may have.
    pub bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_event: Duration::from_secs(60),
            idle: Duration::from_secs(60),
            total: Duration::from_secs(300),
            bytes: 64 << 20,
        }
    }
}

/// Finds the ends of events in bytes that come in pieces.
#[derive(Debug, Default)]
pub(super) struct Ends {
    /// Line ends since the last byte that is none.
    line_ends: u8,
    after_return: bool,
}

impl Ends {
    /// Where in these bytes so many events have ended, if they have; the number that is left otherwise.
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

    /// Whether an event, or a comment, ends in these bytes.
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
