//! Requests of each API as questions, and back.

mod forms;
mod table;
mod trip;

use spec::Dialect;

/// The first-party dialect of each API.
fn dialects() -> [&'static Dialect; 3] {
    ["openai", "anthropic", "chat"].map(|name| spec::dialect(name).unwrap())
}
