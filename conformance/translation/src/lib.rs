//! Questions and replies that pass through a gateway, in the terms that all APIs share.
//!
//! It does no I/O. The reference gateway translates with it, and the suite for gateways compares the client's and the
//! upstream's messages with it.

mod faults;
mod pages;
pub mod pen;
mod question;
mod replies;
mod reply;
mod requests;
mod template;
mod translator;

pub use faults::{Crowd, break_question, break_request, break_turn, lessen};
pub use question::{Call, Choice, Format, Image, Output, Part, Question, Reasoning, Role, Tool, Turn};
pub use replies::{Delta, PartKind, ReplyReader, Stopped, stops, words};
pub use reply::{Reply, ReplyError, Stop, Usage};
pub use requests::{NO_ID, lower_types};
pub use template::Template;
pub use translator::{Translator, UpstreamEnd};
