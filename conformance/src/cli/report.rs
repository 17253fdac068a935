//! `conformance report`: the report of a finished run, in any format.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use serde::Deserialize;

use super::output::OutputArgs;
use results::Run;

/// Renders the report of a finished run in any format, or merges reports of recordings.
///
/// Exit codes: 0 if the report was written (whatever it contains), 2 if the run could not be read.
#[derive(Debug, Args)]
pub(super) struct ReportArgs {
    /// A folder written by `run --out`, or a JSON report.
    #[arg(value_name = "DIR", required = true)]
    runs: Vec<PathBuf>,
    /// Merge JSON reports of recordings into one, in this order.
    ///
    /// The result is the report of one check of all their recordings. They must be of one dialect, one selection of
    /// rules and this version of the suite.
    #[arg(long)]
    merge: bool,
    #[command(flatten)]
    output: OutputArgs,
}

impl ReportArgs {
    pub(super) fn run(self) -> Result<ExitCode> {
        let run = match &*self.runs {
            runs if self.merge => merged(runs)?,
            [run] => {
                let folder = if run.is_dir() { Some(&**run) } else { run.parent() };
                read(run)?.within(folder.unwrap_or(Path::new("")))
            }
            _ => bail!("several reports are merged with --merge"),
        };
        self.output.tell(&run)?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Reads reports and merges them.
fn merged(paths: &[PathBuf]) -> Result<Run> {
    let runs = paths.iter().map(|path| read(path)).collect::<Result<Vec<_>>>()?;
    Run::merge(runs).map_err(|problem| match paths.get(problem.at()) {
        Some(path) => anyhow!("{}: {problem}", path.display()),
        None => problem.into(),
    })
}

/// Reads the report of a run: a file, or that in the folder of the run.
pub(super) fn read(path: &Path) -> Result<Run> {
    let file = if path.is_dir() { path.join("report.json") } else { path.to_owned() };
    let text = fs::read_to_string(&file).with_context(|| {
        let hint = if path.is_dir() { ": has the run come to its end?" } else { "" };
        format!("{}{hint}", file.display())
    })?;
    let of_file = || file.display().to_string();
    // A report can be large: the version alone first, which builds nothing of the rest.
    let Format { version } = serde_json::from_str(&text).with_context(of_file)?;
    if version != Some(u64::from(results::VERSION)) {
        let version = version.map_or_else(|| "no version".to_owned(), |version| format!("version {version}"));
        bail!("{} has {version}, and this build reads {}", of_file(), results::VERSION);
    }
    serde_json::from_str(&text).with_context(of_file)
}

/// What is read of a report before it is known to be one.
#[derive(Deserialize)]
struct Format {
    version: Option<u64>,
}
