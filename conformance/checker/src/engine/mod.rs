//! From frames to findings.

mod asides;
mod case;
mod excerpt;
mod finding;
mod hooks;
mod index;
mod judge;
mod kept;
mod lanes;
mod locate;
mod node;
mod plan;
mod record;
mod relation;
mod spot;
mod stream;
mod tracker;
mod view;

pub(crate) use asides::{About, Asides, Steer};
pub(crate) use case::{Case, Change, Connection, Ending, Snapshot, Turn};
pub use excerpt::Excerpt;
pub use finding::{Finding, Findings, Related};
pub(crate) use finding::{Place, missing_property};
pub(crate) use hooks::{Hooks, InScope, Native, OfEnding, OfSnapshot, OfValue};
pub(crate) use judge::Judge;
pub(crate) use node::{Node, State};
pub(crate) use plan::{Bound, Plan};
pub use record::{Payload, Record};
pub(crate) use spot::Mark;
pub use spot::Spot;
pub(crate) use stream::Stream;
pub(crate) use view::{Object, entries_that_are, number, same, short};
