//! `codegen check`: checks that the files of the specification are consistent.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::ensure;
use clap::Args;
use codegen::todo::MARK;

use crate::check::check;

/// Checks all cross-references between the files of the specification.
#[derive(Debug, Args)]
pub(super) struct CheckArgs {
    /// List the requirements and guarantees that no rule covers yet.
    #[arg(long)]
    list_open: bool,
    /// Accept the TODO: marks of the skeletons of `codegen new`.
    #[arg(long)]
    allow_todo: bool,
    /// Folder of the specification.
    #[arg(long, value_name = "PATH", default_value = "spec")]
    spec_dir: PathBuf,
}

impl CheckArgs {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        ensure!(
            self.spec_dir.is_dir(),
            "there is no folder {}; set it with --spec-dir",
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
            0 => writeln!(stdout, "all cross-references are valid")?,
            1 => writeln!(stdout, "1 finding")?,
            many => writeln!(stdout, "{many} findings")?,
        }
        if report.only_files {
            writeln!(stdout, "fix these files first: references to them were not checked")?;
        }
        match report.todo.len() {
            0 => {}
            1 => writeln!(stdout, "1 place to fill in ({MARK})")?,
            many => writeln!(stdout, "{many} places to fill in ({MARK})")?,
        }
        writeln!(
            stdout,
            "not covered: {} of {} requirements and {} of {} guarantees",
            report.open_requirements.len(),
            report.requirements,
            report.open_guarantees.len(),
            report.guarantees
        )?;
        Ok(if report.findings.is_empty() && todo.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
    }
}
