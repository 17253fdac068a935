//! Pseudo-random numbers, the same in every run.

/// A xorshift generator.
#[derive(Debug, Clone)]
pub struct Xorshift(u64);

impl Xorshift {
    /// Creates a generator from a seed.
    pub const fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// Creates a generator from bytes.
    pub fn of(bytes: &[u8]) -> Self {
        let hash = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        Self::new(bytes.iter().fold(0xcbf2_9ce4_8422_2325, hash))
    }

    /// Returns a number below a limit; 0 if the limit is 0.
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit.max(1) as u64).unwrap_or(0)
    }
}
