//! Runs against endpoints: sends the cases of a [plan](crate::plan), and has the recordings [judged](crate::judge).

mod models;
mod plan;
mod run;
mod runtime;

pub use models::{FirstModel, first_model, is_reference_gateway};
pub use plan::RunPlan;
pub use run::{CaseOutcome, Live};
pub use runtime::{RunRuntime, ended};
