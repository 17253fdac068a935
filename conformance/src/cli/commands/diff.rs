//! `conformance diff`: compares two runs.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use clap::{Args, ValueEnum};

use crate::cli::color::Color;
use crate::cli::input::saved::{read, read_between, read_client};
use crate::cli::{CommandArgs, NOT_DONE, print};
use harness::evidence::Evidence;
use reports::diff::{Diff, html, human, markdown};
use reports::{Reported, Screen, Style};
use results::Outcome;
use results::text::visible;

/// Compares two runs, for example before and after an upgrade.
///
/// Exit codes: 0 if nothing is worse, 1 if something is, 2 if a run could not be read or the new one is incomplete.
#[derive(Debug, Args)]
pub(in crate::cli) struct DiffArgs {
    /// Old run: a folder written by --out, or a JSON report. Of several APIs, each is compared with itself.
    #[arg(value_name = "RUN_A")]
    before: PathBuf,
    /// New run.
    #[arg(value_name = "RUN_B")]
    after: PathBuf,
    /// Output format.
    #[arg(long, value_enum, default_value_t)]
    format: Form,
    /// Write to this file instead of stdout.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
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
    /// For a browser
    Html,
    /// For programs
    Json,
}

/// The differences as text, and the exit code.
type Compared = (String, u8);

impl CommandArgs for DiffArgs {
    fn run(self) -> Result<ExitCode> {
        let (text, code) = self.compare()?;
        match &self.output {
            Some(file) => fs::write(file, text).with_context(|| file.display().to_string())?,
            None => print(&text)?,
        }
        Ok(ExitCode::from(code))
    }
}

fn shown(path: &Path) -> String {
    visible(&path.to_string_lossy())
}

impl DiffArgs {
    fn compare(&self) -> Result<Compared> {
        let clients = (read_client(&self.before)?, read_client(&self.after)?);
        if let (Some(before), Some(after)) = &clients {
            return Ok(self.compared(before, after));
        }
        let gateways = (read_between(&self.before)?, read_between(&self.after)?);
        if let (Some(before), Some(after)) = &gateways {
            return Ok(self.compared(before, after));
        }
        let kinds = [
            (clients.0.is_some() || clients.1.is_some(), "of a client"),
            (gateways.0.is_some() || gateways.1.is_some(), "of both ends of a gateway"),
        ];
        if let Some((_, kind)) = kinds.iter().find(|(is_one, _)| *is_one) {
            bail!("one of the runs is {kind}, the other is not: runs of one kind are compared");
        }
        let runs = |path: &PathBuf| Evidence::runs(path).unwrap_or_default();
        let (before, after) = (runs(&self.before), runs(&self.after));
        if before.len() < 2 && after.len() < 2 {
            return self.of_runs(&self.before, &self.after);
        }
        if matches!(self.format, Form::Json | Form::Html) {
            bail!(
                "the folders have a run for each API, but this format has a document for each: compare them one by one"
            );
        }
        let (mut text, mut worst) = (String::new(), 0);
        for after in &after {
            let is_same = |before: &&PathBuf| before.file_name() == after.file_name();
            let Some(before) = before.iter().find(is_same) else {
                let _ = writeln!(text, "{}: not in {}", shown(after), shown(&self.before));
                continue;
            };
            let (own, code) = self.of_runs(before, after)?;
            let _ = write!(text, "{}:\n{own}", shown(after));
            worst = worst.max(code);
        }
        for before in
            before.iter().filter(|before| !after.iter().any(|it| it.file_name() == before.file_name()))
        {
            let _ = writeln!(text, "{}: not in {}", shown(before), shown(&self.after));
            worst = worst.max(1);
        }
        Ok((text, worst))
    }

    fn of_runs(&self, before: &Path, after: &Path) -> Result<Compared> {
        let (before, after) = (read(before)?, read(after)?);
        if before.dialect != after.dialect {
            bail!("the runs have different dialects, {} and {}", before.dialect, after.dialect);
        }
        if before.live.is_some() != after.live.is_some() {
            bail!("one run is of an endpoint, the other of recordings");
        }
        Ok(self.compared(&before, &after))
    }

    fn screen(&self) -> Screen {
        match self.output {
            Some(_) => Style::Plain.into(),
            None => self.color.screen(&io::stdout()),
        }
    }

    fn compared(&self, before: &impl Reported, after: &impl Reported) -> Compared {
        let diff = Diff::new(before, after);
        let text = match self.format {
            Form::Human => human(&diff, self.screen()),
            Form::Markdown => markdown(&diff),
            Form::Html => html(&diff),
            Form::Json => reports::json(&diff),
        };
        (text, code(diff.is_worse(), diff.after.outcome))
    }
}

fn code(is_worse: bool, after: Outcome) -> u8 {
    match after {
        _ if is_worse => 1,
        Outcome::Incomplete => NOT_DONE,
        _ => 0,
    }
}
