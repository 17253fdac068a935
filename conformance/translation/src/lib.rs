//! What passes through a gateway, in the terms that all APIs share: questions, and replies to them.
//!
//! It does no I/O. The reference gateway translates with it, and the suite for gateways compares with it what a client and
//! an upstream sent and received.

mod faults;
mod question;
mod replies;
mod reply;
mod requests;
mod translator;

pub use faults::{Crowd, break_question, break_request};
pub use question::{Call, Choice, Format, Image, Output, Part, Question, Reasoning, Role, Tool, Turn};
pub use replies::{Delta, PartKind, ReplyReader, Stopped, stops};
pub use reply::{Reply, ReplyError, Stop, Usage};
pub use translator::{Translator, UpstreamEnd};
