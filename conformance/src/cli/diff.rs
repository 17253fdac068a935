//! `conformance diff`: compares two runs.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use serde::Serialize;

use super::color::Color;
use super::saved::{read, read_between, read_client};
use super::{CommandArgs, NOT_DONE, print};
use harness::evidence::Evidence;
use reports::between::BetweenDiff;
use reports::client::ClientDiff;
use reports::diff::{Diff, human, markdown};
use reports::{Screen, Style};
use results::text::visible;
use results::{BetweenRun, ClientRun, Outcome};

/// Compares two runs, for example before and after an upgrade.
///
/// Exit codes: 0 if nothing is worse, 1 if something is, 2 if a run could not be read or the new one is incomplete.
#[derive(Debug, Args)]
pub(super) struct DiffArgs {
    /// Old run: a folder written by --out, or a JSON report. Of several APIs, each is compared with itself.
    #[arg(value_name = "RUN_A")]
    before: PathBuf,
    /// New run.
    #[arg(value_name = "RUN_B")]
    after: PathBuf,
    /// Output format.
    #[arg(long, value_enum, default_value_t)]
    format: Form,
    /// When to use color.
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    color: Color,
}

#[derive(Debug, Clone, Copy, Default, ValueEnum)]
enum Form {
    /// For a terminal
    #[default]
    Human,
    /// For a pull request
    Markdown,
    /// For programs
    Json,
}

impl CommandArgs for DiffArgs {
    fn run(self) -> Result<ExitCode> {
        if let (Some(before), Some(after)) = (read_client(&self.before)?, read_client(&self.after)?) {
            return self.of_clients(&before, &after);
        }
        if let (Some(before), Some(after)) = (read_between(&self.before)?, read_between(&self.after)?) {
            return self.of_gateways(&before, &after);
        }
        let runs = |path: &PathBuf| Evidence::runs(path).unwrap_or_default();
        let (before, after) = (runs(&self.before), runs(&self.after));
        if before.len() < 2 && after.len() < 2 {
            return self.of_runs(&self.before, &self.after).map(ExitCode::from);
        }
        if matches!(self.format, Form::Json) {
            bail!(
                "the folders have a run for each API, but JSON has a document for each: compare them one by one"
            );
        }
        let mut worst = 0;
        for after in &after {
            let is_same = |before: &&PathBuf| before.file_name() == after.file_name();
            let Some(before) = before.iter().find(is_same) else {
                print(&format!("{}: not in {}\n", shown(after), shown(&self.before)))?;
                continue;
            };
            print(&format!("{}:\n", shown(after)))?;
            worst = self.of_runs(before, after)?.max(worst);
        }
        for before in
            before.iter().filter(|before| !after.iter().any(|it| it.file_name() == before.file_name()))
        {
            print(&format!("{}: not in {}\n", shown(before), shown(&self.after)))?;
            worst = worst.max(1);
        }
        Ok(ExitCode::from(worst))
    }
}

/// Returns a path for people.
fn shown(path: &Path) -> String {
    visible(&path.to_string_lossy())
}

impl DiffArgs {
    /// Compares two runs, and returns the exit code.
    fn of_runs(&self, before: &Path, after: &Path) -> Result<u8> {
        let (before, after) = (read(before)?, read(after)?);
        if before.dialect != after.dialect {
            bail!("the runs have different dialects, {} and {}", before.dialect, after.dialect);
        }
        if before.live.is_some() != after.live.is_some() {
            bail!("one run is of an endpoint, the other of recordings");
        }
        let diff = Diff::new(&before, &after);
        print(&match self.format {
            Form::Human => human(&diff, self.color.screen(&io::stdout())),
            Form::Markdown => markdown(&diff),
            Form::Json => reports::json(&diff),
        })?;
        Ok(if diff.is_worse() {
            1
        } else if diff.after.outcome == Outcome::Incomplete {
            NOT_DONE
        } else {
            0
        })
    }

    /// Prints a difference that has no Markdown of its own.
    fn print(&self, diff: &impl Serialize, human: impl Fn(Screen) -> String) -> Result<()> {
        print(&match self.format {
            Form::Human => human(self.color.screen(&io::stdout())),
            Form::Markdown => format!("```diff\n{}```\n", human(Style::Plain.into())),
            Form::Json => reports::json(diff),
        })
    }

    /// Compares two runs of both ends of gateways.
    fn of_gateways(&self, before: &BetweenRun, after: &BetweenRun) -> Result<ExitCode> {
        let diff = BetweenDiff::new(before, after);
        self.print(&diff, |screen| diff.human(screen))?;
        Ok(match (diff.is_worse(), after.outcome) {
            (true, _) => ExitCode::from(1),
            (false, Outcome::Incomplete) => ExitCode::from(NOT_DONE),
            (false, _) => ExitCode::SUCCESS,
        })
    }

    /// Compares two runs of clients.
    fn of_clients(&self, before: &ClientRun, after: &ClientRun) -> Result<ExitCode> {
        let diff = ClientDiff::new(before, after);
        self.print(&diff, |screen| diff.human(screen))?;
        Ok(if diff.is_worse() { ExitCode::from(1) } else { ExitCode::SUCCESS })
    }
}
