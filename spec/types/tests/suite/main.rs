//! Tests of the public functions, in one program.

#[cfg(all(feature = "anthropic", feature = "chat"))]
mod apis;
mod examples;
mod lenient;
mod types;
