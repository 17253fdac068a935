//! The parts that runs of several kinds have.

mod dialect;
mod exercised;
pub(crate) mod fail_on;
mod format;
mod judgement;
mod level;
mod moment;
mod outcome;
mod played;
mod profile;
mod shard;
mod shell;
mod step;
mod tally;
pub(crate) mod test;
pub mod text;
mod transport;
mod verified;

pub use dialect::{AUTO, dialect_in_words};
pub use exercised::{
    Exercised, ExercisedLane, ExercisedMember, ExercisedPath, ExercisedStep, ExercisedValue, Share,
};
pub use fail_on::FailOn;
pub use format::Format;
pub use judgement::{Judgement, UndecidedKind, Verdict};
pub use level::LevelChange;
pub use moment::{BetweenMoment, BetweenSide};
pub use outcome::Outcome;
pub use played::{Beside, IMPACT_VERSION, ImpactRun, LeftOut, PlayedClient, PlayedOutcome, PlayedResponse};
pub use profile::{Demand, ProfileReport, ProfileState, Reason, Specification};
pub use shard::Shard;
pub use shell::shell_word;
pub use step::Step;
pub use tally::Tally;
pub use test::{ExpectedFailure, Test, TestCause, TestFinding, cause_counts, first_of};
pub use transport::Transport;
pub use verified::Verified;
