//! Replies as they arrive: what each event adds, and the reply that this comes to.

mod delta;
mod fold;
mod reader;
mod reading;
mod stops;
mod translator;
mod writing;

pub use delta::{Delta, PartKind, Stopped};
pub use fold::ReplyFold;
pub use reader::ReplyReader;
pub(crate) use reading::error;
pub use stops::stops;
pub use translator::{Translator, UpstreamEnd};
