//! The invocation of a run.

use std::fs;
use std::path::{Path, PathBuf};

use catalogue::Level;
use libtest_mimic::Arguments;
use reports::{Detail, Form, Style};
use results::Run;

use super::print::show;
use super::{Selection, SuiteError};

/// The invocation of a run: its tests and its output.
#[derive(Debug, Clone)]
pub struct Invocation {
    /// Output format of finished tests, without filters.
    pub arguments: Arguments,
    /// The selected tests.
    pub selection: Selection,
    /// Amount of detail of reports.
    pub detail: Detail,
    /// Reports to write.
    pub reports: Vec<(Form, PathBuf)>,
    /// The report to print on stdout instead of the tests.
    pub form: Form,
    /// The file that this report is written to, instead of stdout.
    pub output: Option<PathBuf>,
    /// Whether to show progress.
    pub shows_progress: bool,
}

impl Invocation {
    /// Returns the invocation of the flags of a Rust test.
    pub fn of(arguments: Arguments) -> Self {
        let selection = Selection::of(&arguments);
        let arguments = Arguments { filter: None, skip: Vec::new(), exact: false, ..arguments };
        Self::new(arguments, selection)
    }

    /// Returns an invocation that runs and prints the selected tests.
    pub fn new(arguments: Arguments, selection: Selection) -> Self {
        Self {
            arguments,
            selection,
            detail: Level::Should.into(),
            reports: Vec::new(),
            form: Form::Human,
            output: None,
            shows_progress: false,
        }
    }

    /// Writes the requested reports of a run.
    ///
    /// # Errors
    ///
    /// When a file cannot be written.
    pub fn write(&self, run: &Run) -> Result<(), SuiteError> {
        let render = |form| reports::render(run, form, self.detail, Style::Plain.into());
        let write = |form, file: &Path| {
            let failed = |error| SuiteError::new(format!("{}: {error}", file.display()));
            fs::write(file, render(form)).map_err(failed)
        };
        for (form, file) in &self.reports {
            write(*form, file)?;
        }
        match &self.output {
            Some(file) => write(self.form, file),
            None if self.form == Form::Human => Ok(()),
            None => show(&render(self.form)),
        }
    }
}
