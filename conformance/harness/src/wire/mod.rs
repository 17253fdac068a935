//! How requests are sent, over HTTP or a WebSocket, and recorded: within limits, and without secrets.

mod batch;
mod client;
mod conversation;
mod handshake;
mod limits;
mod mask;
mod proxy;
mod spread;
mod target;
mod trust;

pub(crate) use batch::answered;
pub(crate) use client::interrupted;
pub use client::{Client, Outcome};
pub(crate) use conversation::Conversation;
pub use handshake::{Socket, upgrade};
pub use limits::Limits;
pub(crate) use limits::time;
pub use mask::{Mask, Secrets};
pub(crate) use spread::Spread;
pub use target::{Target, TargetError, secrets_of};
