//! What decides whether rules hold, where that takes code of its own.

mod case;
mod hooks;
mod schema;
mod wire;

pub(crate) use case::{Case, Connection, Ending, Snapshot, Turn};
pub(crate) use hooks::{Hooks, OfScope};
use hooks::Native;
use spec::catalogue::NativeRule;

/// When a rule is asked, and what decides it then.
pub(crate) const fn hooks(rule: NativeRule) -> &'static [Native] {
    match rule {
        NativeRule::WireJsonObject => &[Native::Frame(wire::json_object)],
        NativeRule::SchemaEventKnown => &[Native::Frame(schema::event_known)],
        NativeRule::SchemaEventValid => &[Native::Frame(schema::event_valid)],
    }
}
