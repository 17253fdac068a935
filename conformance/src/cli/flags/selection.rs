//! Flags of all runs of tests: against an endpoint, of a client, and of both ends of a gateway.

use std::path::PathBuf;
use std::str::FromStr as _;
use std::time::Duration;

use clap::Args;

use super::output;
use super::target::{LIMITS, some_time};
use results::Shard;

pub(in crate::cli) const HEADING: &str = "Tests";

/// Which tests are made, and whether each has a line.
#[derive(Debug, Args)]
pub(in crate::cli) struct TestsArgs {
    /// Skip tests that match FILTER.
    #[arg(long, value_name = "FILTER", help_heading = HEADING)]
    pub(in crate::cli) skip: Vec<String>,
    /// Run only part I of N equal parts, as in 2/4.
    ///
    /// Tests that belong together stay together, such as a scenario over all transports. `conformance report --merge` joins
    /// the reports of all parts.
    #[arg(long, value_name = "I/N", value_parser = Shard::from_str, help_heading = HEADING, hide_short_help = true)]
    pub(in crate::cli) shard: Option<Shard>,
    /// Run only the tests that failed in this run.
    ///
    /// DIR is a folder written by --out. The run decides what is tested, unless flags say otherwise.
    #[arg(long, value_name = "DIR", help_heading = HEADING)]
    pub(in crate::cli) rerun_failed: Option<PathBuf>,
    /// List the tests without running them.
    #[arg(long, help_heading = HEADING)]
    pub(in crate::cli) list: bool,
    /// Print a line for each test, with its findings, as `cargo test` does.
    #[arg(long, conflicts_with = "format", help_heading = output::HEADING, hide_short_help = true)]
    pub(in crate::cli) all_tests: bool,
}

impl TestsArgs {
    pub(in crate::cli) fn none_left(&self) -> String {
        match self.shard {
            Some(shard) => format!("no test is left: shard {shard} has none of the selected tests"),
            None => "no test is left: this build has none of the selected tests".to_owned(),
        }
    }
}

/// How much a run may take.
#[derive(Debug, Args)]
pub(in crate::cli) struct BudgetArgs {
    /// Start no more tests after this many recorded bytes [default: no limit].
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u64).range(1..), help_heading = LIMITS, hide_short_help = true)]
    pub(in crate::cli) max_total_bytes: Option<u64>,
    /// Start no more tests after this time [default: no limit].
    #[arg(long, value_name = "TIME", value_parser = some_time, help_heading = LIMITS, hide_short_help = true)]
    pub(in crate::cli) max_total_time: Option<Duration>,
}

/// The folder of a run.
#[derive(Debug, Args)]
pub(in crate::cli) struct OutArgs {
    /// Keep the run in this folder.
    #[arg(long, value_name = "DIR", help_heading = output::HEADING)]
    pub(in crate::cli) out: Option<PathBuf>,
    /// Replace the run that the folder of --out contains.
    #[arg(long, requires = "out", help_heading = output::HEADING, hide_short_help = true)]
    pub(in crate::cli) replace: bool,
}
