//! The cross-checks: references between the files of the specification are valid.
//!
//! A file that cannot be parsed is a finding, too, so one run reports every problem.

mod between;
mod catalogue;
mod client_cases;
mod context;
mod coverage;
mod defects;
mod dialects;
mod exchange;
mod frames;
mod goldens;
mod lifecycle;
mod measured;
mod profiles;
mod render;
mod requests;
mod schemas;
mod shared;
mod shared_rules;
mod signatures;
mod stops;
mod structure;
mod threads;
mod todo;
mod violations;
mod walk;
mod words;

use std::path::Path;

pub use codegen::sound::{Finding, Open, Report, SourcePlace};

use codegen::sound as report;

use context::Context;
use schemas::Judges;

/// Checks everything under the folder of the specification.
///
/// If files of dialects are invalid, only these are reported: findings of cross-references would repeat them.
pub fn check(spec: &Path) -> Report {
    let mut report = Report::default();
    todo::check(spec, &mut report);
    let context = Context::load(spec, &mut report);
    let Some(context) = context.filter(|_| !report.only_files) else {
        report.sort();
        return report;
    };
    let mut judges = Judges::default();
    lifecycle::check(&context, &mut report);
    exchange::check(&context, &mut report);
    schemas::check(&context, &mut judges, &mut report);
    goldens::check(&context, &mut judges, &mut report);
    dialects::check(&context, &mut report);
    signatures::check(&context, &mut report);
    render::check(&context, &mut report);
    words::check(&context, &mut report);
    stops::check(&context, &mut report);
    catalogue::check(&context, &mut judges, &mut report);
    shared::check(&context, &mut report);
    shared_rules::check(&context, &mut report);
    profiles::check(&context, &mut report);
    client_cases::check(&context, &mut report);
    coverage::check(&context, &mut report);
    defects::check(&context, &mut report);
    threads::check(&context, &mut report);
    measured::check(&context, &mut report);
    requests::check(&context, &mut report);
    between::check(&context, &mut report);
    report.sort();
    report
}
