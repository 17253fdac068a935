//! A gateway that answers as every dialect promises, and breaks exactly the rules it is told to.
//!
//! [`plan`] decides what the answer to a request is, [`answer`] makes the events of it; both are pure. What
//! a request can ask for is told in [`directive`]. [`serve`] puts it on a port, [`Embedded`] does so within
//! a program.

mod compact;
mod content;
mod context;
pub mod directive;
mod emit;
mod example;
mod fault;
mod fit;
mod given;
mod host;
mod ids;
mod items;
mod mcp;
mod notes;
mod order;
mod plan;
mod problem;
mod response;
mod routes;
mod sample;
mod script;
mod sending;
mod server;
mod socket;
mod store;
mod voice;
mod wire;

pub use emit::{Answer, answer};
pub use example::{example, examples};
pub use fault::{Wire, faults, respond};
pub use given::given;
pub use host::is_loopback;
pub use notes::Notes;
pub use plan::{Ending, Fragments, Item, Part, Plan, Thought, tokens};
pub use problem::{Problem, refusal};
pub use script::plan;
pub use server::{Embedded, Settings, serve};
pub use socket::socket_faults;
pub use wire::WireFault;
