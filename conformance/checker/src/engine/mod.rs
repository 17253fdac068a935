//! From frames to findings.

mod ask;
mod asked;
mod body;
mod bound;
mod case;
mod cells;
mod context;
mod effect;
mod excerpt;
mod finding;
mod head;
mod hooks;
mod index;
mod judge;
mod listed;
mod locate;
mod location;
mod markup;
mod node;
mod observer;
mod plan;
mod protocol;
mod record;
mod relation;
mod reusable;
mod session;
mod stream;
mod tracker;
mod usage;
mod view;

pub use asked::{Asked, Chosen, setting_in, tools_in};
pub(crate) use bound::Bound;
pub(crate) use case::{Case, Change, Ending, Snapshot};
pub use effect::{
    Effect, Harm, LOOSEST, LOOSEST_OF_MANY, Unmeasured, alike, among_others, effects, needed, tells,
};
pub use excerpt::Excerpt;
pub use finding::{Finding, Findings, LevelName, Misnomer, Origin, Related, Supply};
pub(crate) use finding::{NO_NUMBER, Place};
pub(crate) use hooks::{EndingRule, Ends, Hooks, Moment, Native, SnapshotRule, ValueRules, phased};
pub(crate) use judge::Judge;
pub(crate) use listed::{AllListed, Listed, Lists};
pub use location::Location;
pub(crate) use markup::Tokens;
pub(crate) use node::{Node, State};
pub use observer::{Observer, Occurrence, Seen, SeenEffect};
pub(crate) use plan::Plan;
pub(crate) use record::DONE;
pub use record::{DataProblem, Payload, Record};
pub(crate) use session::{About, Connection, InFlightMessage, Steer, Turn};
pub(crate) use stream::{MOST_KEPT, Stream};
pub(crate) use usage::Usage;
pub(crate) use view::{Object, entries_that_are, number, same, short};
