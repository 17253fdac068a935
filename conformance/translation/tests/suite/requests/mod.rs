//! Requests of each API as questions, and back.

mod forms;
mod table;
mod trip;

use spec::Dialect;

/// The first-party dialect of each API.
fn dialects() -> [&'static Dialect; 4] {
    ["openai", "anthropic", "chat", "gemini"].map(|name| spec::dialect(name).unwrap())
}
