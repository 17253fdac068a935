//! How the responses of each API are written: by a page for each API, whose templates have holes for what is in a response.

pub mod edits;
mod errors;
mod head;
mod page;
pub mod resource;
mod template;
mod writer;

use serde_json::Value;
use spec::Dialect;

pub(crate) use errors::{class_of, status_of};
pub(crate) use writer::{Writer, error_body};

/// The receiver of a response.
#[derive(Debug, Clone)]
pub(crate) struct Front {
    pub(crate) dialect: &'static Dialect,
    /// The request, as responses can repeat it.
    pub(crate) request: Value,
    /// The model, unless the upstream names one.
    pub(crate) model: String,
    /// The time, as seconds since 1970.
    pub(crate) now: u64,
}
