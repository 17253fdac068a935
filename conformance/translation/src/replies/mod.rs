//! Replies as they arrive: what each event adds, and the reply that this comes to.

mod delta;
mod fold;
mod page;
mod parts;
mod reader;
mod reading;
mod stops;
mod whole;

pub use delta::{Delta, PartKind, Stopped};
pub use reader::ReplyReader;
pub use stops::{stops, words};
