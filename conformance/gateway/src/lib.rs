//! A reference gateway that conforms to every dialect, and breaks exactly the rules that a request selects.
//!
//! [`plan`] determines the content of the response to a request, and [`render`] generates its events; both are pure.
//! [`directive`] documents what a request can control. [`serve`] serves the gateway on a port, [`Embedded`] within a
//! program.

mod content;
mod faults;
mod rendering;
mod serving;

pub use content::address::{wants_list, with_path, without_path};
pub use content::directive;
pub use content::given::given;
pub use content::items::ToolItem;
pub use content::pieces::{Fragments, tokens};
pub use content::plan::{Ending, Item, Part, ResponsePlan, Thought};
pub use content::planning::plan;
pub use content::problem::Problem;
pub use content::refusal::{invalid, refusal};
pub use content::speech::{called_dialects, dialects, example, examples, input_text, is_spoken, request};
pub use faults::list::{FaultInfo, FaultKind, fault_list};
pub use faults::regardless::{regardless, request_about, request_faults};
pub use faults::socket::socket_faults;
pub use faults::violation::{faults, respond};
pub use rendering::ids::tagged;
pub use rendering::list::listed;
pub use rendering::wire::{Wire, WireFault};
pub use rendering::{RenderedResponse, render};
pub use serving::host::{Host, is_loopback};
pub use serving::log::Log;
pub use serving::mcp_server::McpServer;
pub use serving::replay::{Replay, replay};
pub use serving::routes::IDENTITY;
pub use serving::runtime::{check_threads, start_runtime};
pub use serving::sending::End;
pub use serving::server::{Embedded, serve};
pub use serving::settings::Settings;
pub use serving::stage::{Act, Director, Received, SocketScript, Stage};
pub use serving::talk::Talk;
pub use serving::via::{EmbeddedVia, ViaSettings, serve_via, via_faults};
