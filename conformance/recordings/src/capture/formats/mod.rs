//! The formats of recordings, and how one is detected.

pub(in crate::capture) mod cassette;
pub(in crate::capture) mod csv;
pub(in crate::capture) mod detect;
pub(in crate::capture) mod document;
pub(in crate::capture) mod exchange;
pub(in crate::capture) mod har;
pub(in crate::capture) mod http;
pub(in crate::capture) mod json;
pub(in crate::capture) mod lines;
pub(in crate::capture) mod log;
pub mod ndjson;
pub(in crate::capture) mod nested;
pub(in crate::capture) mod recorded;
pub(in crate::capture) mod txtar;
pub(in crate::capture) mod websocket;
