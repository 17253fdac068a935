//! Why exchanges are not judged.

/// Why an exchange was not judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Lost {
    /// Too many wait.
    Queue,
    /// The copies take too much memory.
    Memory,
    /// The check panicked.
    Panic,
    /// Nobody judges any more.
    Stopped,
    /// It became a connection of a protocol that is not read.
    Upgrade,
    /// It was not in the sample.
    Sample,
}

impl Lost {
    /// All reasons.
    pub const ALL: [Self; 6] =
        [Self::Queue, Self::Memory, Self::Panic, Self::Stopped, Self::Upgrade, Self::Sample];

    /// Its name in metrics.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Queue => "queue",
            Self::Memory => "memory",
            Self::Panic => "panic",
            Self::Stopped => "stopped",
            Self::Upgrade => "upgrade",
            Self::Sample => "sample",
        }
    }
}
