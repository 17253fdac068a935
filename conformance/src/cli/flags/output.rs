//! Output of runs.

use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::Context as _;
use catalogue::Level;
use clap::{Args, ValueEnum};
use libtest_mimic::{Arguments, Completion, Trial};

use crate::cli::color::Color;
use crate::cli::input::known::one_of;
use crate::cli::{print, printed};
use harness::suite::{file_of, run_quietly};
use reports::sheet::SheetTest;
use reports::{Detail, Form, Reported, Screen, Style, render};
use results::text::visible;
use results::{Run, Verdict};

/// The common flags of all commands that report a run.
#[derive(Debug, Args)]
pub(in crate::cli) struct OutputArgs {
    #[arg(long, help = Form::NAMES, value_enum, default_value_t, hide_possible_values = true, hide_default_value = true, help_heading = HEADING)]
    pub(in crate::cli) format: Form,
    /// Write to this file instead of stdout.
    #[arg(long, value_name = "FILE", help_heading = HEADING)]
    pub(in crate::cli) output: Option<PathBuf>,
    /// Also write reports, as in html=a.html,junit=b.xml.
    #[arg(long, value_name = "FORMAT=FILE", value_delimiter = ',', value_parser = report, help_heading = HEADING)]
    pub(in crate::cli) report: Vec<(Form, PathBuf)>,
    /// Lowest level to show: must, should, may [default: should].
    ///
    /// Findings below it that fail are shown, too.
    #[arg(long, value_parser = one_of(SHOWN, Level::name), default_value = "should", hide_possible_values = true, hide_default_value = true, help_heading = HEADING)]
    pub(in crate::cli) level: Level,
    /// Show every finding and table, not one finding for each cause.
    #[arg(long, short, help_heading = HEADING)]
    pub(in crate::cli) verbose: bool,
    /// When to use color.
    #[arg(long, value_enum, default_value_t, value_name = "WHEN", hide_short_help = true, help_heading = HEADING)]
    pub(in crate::cli) color: Color,
}

pub(in crate::cli) const HEADING: &str = "Output";

/// The lowest levels of findings that can be shown.
const SHOWN: &[(Level, &str)] = &[
    (Level::Must, "Errors"),
    (Level::Should, "Errors and warnings"),
    (Level::May, "Errors, warnings and notes"),
];

impl OutputArgs {
    /// One of several runs has files of its own.
    pub(in crate::cli) fn of(&self, dialect: &str) -> anyhow::Result<Self> {
        let output = self.output.as_deref().map(|file| file_of(file, dialect));
        anyhow::ensure!(
            output.is_some() || self.format.can_follow(),
            "the folder has a run for each API, but this format has a document for each: write them to files with \
             --output, or choose one run"
        );
        let report = self.report.iter().map(|(form, file)| (*form, file_of(file, dialect))).collect();
        Ok(Self { output, report, ..*self })
    }

    pub(in crate::cli) fn draws(&self) -> bool {
        self.format.draws() || self.report.iter().any(|(form, _)| form.draws())
    }

    pub(in crate::cli) fn detail(&self) -> Detail {
        Detail { level: self.level, is_verbose: self.verbose }
    }

    pub(in crate::cli) fn write_reports(&self, run: &Run) -> anyhow::Result<()> {
        let detail = self.detail();
        let output = self.output.as_ref().map(|file| (self.format, file));
        write(&self.report, output, |form, out| {
            Ok(reports::write(run, form, detail, Style::Plain.into(), out)?)
        })
    }

    /// `as_tests` prints its tests as `cargo test` does.
    pub(in crate::cli) fn print_run(&self, run: &impl Reported, as_tests: bool) -> anyhow::Result<()> {
        if !as_tests {
            return self.print_all(|form, screen| Ok(render(run, form, self.detail(), screen)));
        }
        write(&self.report, None, |form, out| {
            Ok(out.write_all(render(run, form, self.detail(), Style::Plain.into()).as_bytes())?)
        })?;
        let arguments = Arguments { test_threads: Some(1), ..Arguments::default() };
        let trials = run.sheet().tests().into_iter().map(trial).collect();
        run_quietly(&arguments, trials).map(drop).context("the results of the tests could not be printed")
    }

    /// Also writes the requested reports.
    pub(in crate::cli) fn print_all(
        &self,
        render: impl Fn(Form, Screen) -> anyhow::Result<String>,
    ) -> anyhow::Result<()> {
        let output = self.output.as_ref().map(|file| (self.format, file));
        write(&self.report, output, |form, out| {
            Ok(out.write_all(render(form, Style::Plain.into())?.as_bytes())?)
        })?;
        match self.output {
            Some(_) => Ok(()),
            None => print(&render(self.format, self.color.screen(&io::stdout()))?),
        }
    }

    /// Terminal output has findings on stderr and the summary on stdout.
    pub(in crate::cli) fn print(&self, run: &Run) -> anyhow::Result<()> {
        let detail = self.detail();
        self.write_reports(run)?;
        match (&self.output, self.format) {
            (Some(_), _) => Ok(()),
            (None, Form::Human) => {
                let findings = reports::diagnostics(run, detail, self.color.screen(&io::stderr()));
                // A closed stderr is not an error.
                let _ = io::stderr().lock().write_all(findings.as_bytes());
                print(&reports::summary(run, detail, self.color.screen(&io::stdout())))?;
                print(&reports::reproduce(run))
            }
            (None, form) => printed(|out| reports::write(run, form, detail, Style::Plain.into(), out)),
        }
    }
}

/// As a test of `cargo test`.
fn trial(test: SheetTest<'_>) -> Trial {
    let failures = test.failures().join("\n");
    let has_failed = matches!(test.verdict, Verdict::Fail | Verdict::HarnessError);
    let ignored = match (test.expected, test.verdict) {
        (Some(expected), _) => Some(format!("{failures} (expected: {})", visible(expected))),
        (None, Verdict::NotExercised) => Some(failures.clone()),
        (None, _) => None,
    };
    Trial::ignorable_test(test.name.into_owned(), move || match ignored {
        Some(reason) => Ok(Completion::ignored_with(reason)),
        None if has_failed => Err(failures.into()),
        None => Ok(Completion::Completed),
    })
}

fn write(
    reports: &[(Form, PathBuf)],
    output: Option<(Form, &PathBuf)>,
    write: impl Fn(Form, &mut dyn Write) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    for (form, file) in reports.iter().map(|(form, file)| (*form, file)).chain(output) {
        let written = File::create(file).map_err(Into::into).and_then(|mut file| write(form, &mut file));
        written.with_context(|| file.display().to_string())?;
    }
    Ok(())
}

fn report(text: &str) -> Result<(Form, PathBuf), String> {
    let names = || {
        let forms = Form::value_variants().iter().filter_map(ValueEnum::to_possible_value);
        forms.map(|form| form.get_name().to_owned()).collect::<Vec<_>>().join(", ")
    };
    let (form, file) = text
        .split_once('=')
        .filter(|(_, file)| !file.is_empty())
        .ok_or_else(|| "expected FORMAT=FILE, as in junit=report.xml".to_owned())?;
    let form = Form::from_str(form, false)
        .map_err(|_| format!("there is no format \"{form}\"; there are: {}", names()))?;
    Ok((form, PathBuf::from(file)))
}
