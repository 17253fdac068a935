//! A reference gateway that conforms to every dialect, and breaks exactly the rules that a request selects.
//!
//! [`plan`] determines the content of the response to a request, and [`answer`] generates its events; both are pure.
//! [`directive`] documents what a request can control. [`serve`] serves the gateway on a port, [`Embedded`] within a
//! program.

mod compact;
mod content;
mod context;
mod cors;
pub mod directive;
mod emit;
mod example;
mod fault;
mod fault_list;
mod faults;
mod fit;
mod gateway;
mod given;
mod help;
mod host;
mod ids;
mod items;
mod log;
mod mcp;
mod mcp_server;
mod order;
mod plan;
mod problem;
mod replay;
mod response;
mod routes;
mod runtime;
mod sample;
mod script;
mod sending;
mod server;
mod settings;
mod socket;
mod socket_faults;
mod stage;
mod steps;
mod store;
mod voice;
mod wire;

pub use emit::{Answer, answer};
pub use example::{example, examples};
pub use fault::{faults, respond};
pub use fault_list::{FaultInfo, FaultKind, fault_list};
pub use given::given;
pub use host::is_loopback;
pub use ids::tagged;
pub use log::Log;
pub use mcp_server::McpServer;
pub use plan::{Ending, Fragments, Item, Part, Plan, Thought, tokens};
pub use problem::{Problem, invalid, refusal};
pub use replay::{Replay, replay};
pub use runtime::{check_threads, start_runtime};
pub use script::plan;
pub use sending::End;
pub use server::{Embedded, serve};
pub use settings::Settings;
pub use socket_faults::socket_faults;
pub use stage::{Act, Director, Line, Received, Stage};
pub use wire::{Wire, WireFault};
