//! `codegen check`: whether the files of the specification agree with each other.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::ensure;
use clap::Args;

use crate::check::check;
use crate::todo::MARK;

/// Checks every cross-reference between the files of the specification.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// List the requirements and guarantees that no rule covers yet.
    #[arg(long)]
    list_open: bool,
    /// Let the places that a skeleton of `codegen new` leaves to be filled in, marked TODO:, be for now.
    #[arg(long)]
    allow_todo: bool,
    /// The folder of the specification.
    #[arg(long, value_name = "PATH", default_value = "spec")]
    spec_dir: PathBuf,
}

impl CheckArgs {
    /// Checks, and prints what was found.
    ///
    /// # Errors
    ///
    /// Fails when there is no such folder.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        ensure!(
            self.spec_dir.is_dir(),
            "there is no folder {}; name it with --spec-dir",
            self.spec_dir.display()
        );
        let report = check(&self.spec_dir);
        let mut stderr = std::io::stderr().lock();
        let todo = if self.allow_todo { &[][..] } else { &report.todo };
        for finding in report.findings.iter().chain(todo) {
            writeln!(stderr, "{finding}")?;
        }
        let mut stdout = std::io::stdout().lock();
        if self.list_open {
            for open in report.open_requirements.iter().chain(&report.open_guarantees) {
                writeln!(
                    stdout,
                    "{} {}: {}\n    to do: {}",
                    open.file.display(),
                    open.id,
                    open.statement,
                    open.plan
                )?;
            }
        }
        match report.findings.len() {
            0 => writeln!(stdout, "all cross-references hold")?,
            1 => writeln!(stdout, "1 thing does not hold")?,
            many => writeln!(stdout, "{many} things do not hold")?,
        }
        if report.only_files {
            writeln!(stdout, "correct these files first: what refers to them was not checked")?;
        }
        match report.todo.len() {
            0 => {}
            1 => writeln!(stdout, "1 place is still to be filled in ({MARK})")?,
            many => writeln!(stdout, "{many} places are still to be filled in ({MARK})")?,
        }
        writeln!(
            stdout,
            "open: {} of {} requirements and {} of {} guarantees have no rule yet",
            report.open_requirements.len(),
            report.requirements,
            report.open_guarantees.len(),
            report.guarantees
        )?;
        Ok(if report.findings.is_empty() && todo.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
    }
}
