//! Choices determined by bytes, so that a fuzzer controls them.

/// The bytes that are left.
#[derive(Debug)]
pub struct Choices<'b>(pub &'b [u8]);

impl<'b> Choices<'b> {
    /// Returns whether a choice is left.
    pub const fn is_left(&self) -> bool {
        !self.0.is_empty()
    }

    /// Returns a number below a limit; 0 if there is none.
    pub fn below(&mut self, limit: usize) -> usize {
        let size = if limit > 256 { 3 } else { 1 };
        let chosen = self.bytes(size).iter().fold(0, |number, byte| number * 256 + usize::from(*byte));
        chosen % limit.max(1)
    }

    /// Returns the next bytes, as many as are left.
    pub fn bytes(&mut self, length: usize) -> &'b [u8] {
        let (bytes, rest) = self.0.split_at(length.min(self.0.len()));
        self.0 = rest;
        bytes
    }
}
