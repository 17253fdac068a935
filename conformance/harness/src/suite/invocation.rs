//! The invocation of a run.

use std::ffi::OsStr;
use std::fmt;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use catalogue::Level;
use libtest_mimic::Arguments;
use reports::{Detail, Form, Style, twins_in};
use results::{Run, TwinsReport};

use super::print::show;
use crate::evidence::Evidence;

use super::{Selection, Suite, SuiteError, Unserved};

/// The invocation of a run: its tests and its output.
#[derive(Debug, Clone)]
pub struct Invocation {
    /// Output format of finished tests, without filters.
    pub arguments: Arguments,
    /// The selected tests.
    pub selection: Selection,
    /// Amount of detail of reports.
    pub detail: Detail,
    /// The reports to write.
    pub reports: Vec<(Form, PathBuf)>,
    /// The report to print on stdout instead of the tests.
    pub form: Form,
    /// The file that this report is written to, instead of stdout.
    pub output: Option<PathBuf>,
    /// Whether to show progress.
    pub shows_progress: bool,
    /// The APIs of the endpoint that are not tested.
    pub unserved: Vec<Unserved>,
    /// The suites of other APIs that the endpoint may serve, if it has no path of those that are tested.
    pub others: Vec<Suite>,
    /// Called with the report of each run, before it is rendered.
    pub completion: Option<RunCompletion>,
}

/// Completes the report of a run with what follows from its recordings.
#[derive(Clone)]
pub struct RunCompletion(pub Arc<Complete>);

type Complete = dyn Fn(&mut Run, &Evidence) + Send + Sync;

impl fmt::Debug for RunCompletion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RunCompletion")
    }
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
            unserved: Vec::new(),
            others: Vec::new(),
            completion: None,
        }
    }

    /// The output of several runs must still be one document.
    pub(super) fn check(&self, is_one_of_several: bool) -> Result<(), SuiteError> {
        if !is_one_of_several || self.output.is_some() || self.form.can_follow() {
            return Ok(());
        }
        Err(SuiteError::new(
            "several APIs are tested, but this format has a document for each: write them to files with --output, or \
             choose one API with --api or --dialect",
        ))
    }

    /// A file beside each of the reports, in a format that has a place for it.
    pub(super) fn write_twins(&self, twins: &TwinsReport) -> Result<(), SuiteError> {
        if twins.dialects.is_empty() {
            return Ok(());
        }
        let output = self.output.iter().map(|file| (self.form, file));
        for (form, file) in self.reports.iter().map(|(form, file)| (*form, file)).chain(output) {
            let Some(text) = twins_in(twins, form) else { continue };
            let file = file_of(file, "twins");
            fs::write(&file, text)
                .map_err(|error| SuiteError::new(format!("{}: {error}", file.display())))?;
        }
        match twins_in(twins, self.form).filter(|_| self.output.is_none() && self.form.can_follow()) {
            Some(text) => show(&text),
            None => Ok(()),
        }
    }

    /// Writes the requested reports of a run. Of several, each has files of its own, with the dialect in their names.
    ///
    /// # Errors
    ///
    /// When a file cannot be written.
    pub fn write(&self, run: &Run, is_one_of_several: bool) -> Result<(), SuiteError> {
        let to = |form, out: &mut dyn Write| reports::write(run, form, self.detail, Style::Plain.into(), out);
        let write = |form, file: &Path| {
            let own = if is_one_of_several { file_of(file, &run.dialect) } else { file.to_owned() };
            let failed = |error| SuiteError::new(format!("{}: {error}", own.display()));
            File::create(&own).and_then(|mut file| to(form, &mut file)).map_err(failed)
        };
        for (form, file) in &self.reports {
            write(*form, file)?;
        }
        match &self.output {
            Some(file) => write(self.form, file),
            None if self.form == Form::Human => Ok(()),
            None => show(&reports::render(run, self.form, self.detail, Style::Plain.into())),
        }
    }
}

/// The file of one of several runs: `report-openai.json` for `report.json`.
pub fn file_of(file: &Path, dialect: &str) -> PathBuf {
    let part = |part: Option<&OsStr>| part.unwrap_or_default().to_string_lossy().into_owned();
    let ending = file.extension().map(|_| format!(".{}", part(file.extension()))).unwrap_or_default();
    file.with_file_name(format!("{}-{dialect}{ending}", part(file.file_stem())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_run_has_its_files() {
        for (file, own) in [
            ("report.json", "report-openai.json"),
            ("a/b.c/report.tar.gz", "a/b.c/report.tar-openai.gz"),
            ("report", "report-openai"),
        ] {
            assert_eq!(file_of(Path::new(file), "openai"), Path::new(own));
        }
    }
}
