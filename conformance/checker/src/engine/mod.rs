//! From frames to findings.

mod asides;
mod case;
mod cells;
mod excerpt;
mod finding;
mod hooks;
mod index;
mod judge;
mod lanes;
mod locate;
mod location;
mod node;
mod observer;
mod plan;
mod record;
mod relation;
mod reusable;
mod stream;
mod tracker;
mod usage;
mod view;

pub(crate) use asides::{About, Asides, InFlightMessage, Steer};
pub(crate) use case::{Case, Change, Connection, Ending, Snapshot, Turn};
pub use excerpt::Excerpt;
pub(crate) use finding::Place;
pub use finding::{Finding, Findings, LevelName, Related};
pub(crate) use hooks::{EndingRule, Ends, Hooks, Native, SnapshotRule, ValueRules};
pub(crate) use judge::Judge;
pub use location::Location;
pub(crate) use location::SavedLocation;
pub(crate) use node::{Node, State};
pub use observer::{Observer, Occurrence, Seen};
pub(crate) use plan::{Bound, Plan};
pub use record::{DataProblem, Payload, Record};
pub(crate) use stream::{MOST_KEPT, Stream};
pub(crate) use view::{Object, entries_that_are, number, same, short};
