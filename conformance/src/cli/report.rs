//! `conformance report`: a finished run, in another format.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Args;
use serde::Deserialize;

use super::check::{Shown, tell};
use super::color::Color;
use reports::{Detail, Form, Style};
use results::Run;

/// Tells again what a run found.
///
/// Exit codes: 0 when it was told, whatever it says, 2 when it could not be read.
#[derive(Debug, Args)]
pub(super) struct ReportArgs {
    /// The folder that was given to --out, or a report as JSON.
    #[arg(value_name = "DIR")]
    run: PathBuf,
    /// How to tell it.
    #[arg(long, value_enum, default_value_t)]
    format: Form,
    /// Write it to this file, instead of stdout.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Show what is at least so binding.
    #[arg(long, value_enum, default_value_t)]
    level: Shown,
    /// Show every finding and every table, instead of one finding for each cause.
    #[arg(long, short)]
    verbose: bool,
    /// Whether to use colour.
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    color: Color,
}

impl ReportArgs {
    pub(super) fn run(self) -> Result<ExitCode> {
        let folder = if self.run.is_dir() { Some(&*self.run) } else { self.run.parent() };
        let run = read(&self.run)?.within(folder.unwrap_or(Path::new("")));
        let detail = Detail { level: self.level.into(), is_verbose: self.verbose };
        match &self.output {
            None => tell(&run, self.format, detail, self.color)?,
            Some(file) => {
                let text = reports::render(&run, self.format, detail, Style::Plain.into());
                fs::write(file, text).with_context(|| file.display().to_string())?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// The report of a run: a file, or that in the folder of the run.
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
