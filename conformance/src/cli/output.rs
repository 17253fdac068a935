//! Output of runs.

use std::fs;
use std::io::{self, Write as _};
use std::path::PathBuf;

use anyhow::Context as _;
use catalogue::Level;
use clap::{Args, ValueEnum};

use super::color::Color;
use super::print;
use harness::suite::file_of;
use reports::{Detail, Form, Style};
use results::Run;

/// The common flags of all commands that report a run.
#[derive(Debug, Args)]
pub(super) struct OutputArgs {
    /// human, json, ndjson, junit, sarif, github, markdown, badge or html.
    #[arg(long, value_enum, default_value_t, hide_possible_values = true, hide_default_value = true, help_heading = HEADING)]
    pub(super) format: Form,
    /// Write to this file instead of stdout.
    #[arg(long, value_name = "FILE", help_heading = HEADING)]
    pub(super) output: Option<PathBuf>,
    /// Also write reports, as in html=a.html,junit=b.xml.
    #[arg(long, value_name = "FORMAT=FILE", value_delimiter = ',', value_parser = report::<Form>, help_heading = HEADING)]
    pub(super) report: Vec<(Form, PathBuf)>,
    /// Lowest level to show: must, should, may [default: should].
    ///
    /// Findings below it that fail are shown, too.
    #[arg(long, value_enum, default_value_t, hide_possible_values = true, hide_default_value = true, help_heading = HEADING)]
    pub(super) level: Shown,
    /// Show every finding and table, not one finding for each cause.
    #[arg(long, short, help_heading = HEADING)]
    pub(super) verbose: bool,
    /// When to use color.
    #[arg(long, value_enum, default_value_t, value_name = "WHEN", hide_short_help = true, help_heading = HEADING)]
    pub(super) color: Color,
}

/// The heading of these flags.
pub(super) const HEADING: &str = "Output";

/// The lowest level of findings that is shown.
#[derive(Debug, Clone, Copy, Default, ValueEnum)]
pub(super) enum Shown {
    /// Errors
    Must,
    /// Errors and warnings
    #[default]
    Should,
    /// Errors, warnings and notes
    May,
}

impl From<Shown> for Level {
    fn from(shown: Shown) -> Self {
        match shown {
            Shown::Must => Self::Must,
            Shown::Should => Self::Should,
            Shown::May => Self::May,
        }
    }
}

impl OutputArgs {
    /// Returns the same output for one of several runs: with files of its own.
    pub(super) fn of(&self, dialect: &str) -> anyhow::Result<Self> {
        let output = self.output.as_deref().map(|file| file_of(file, dialect));
        anyhow::ensure!(
            output.is_some() || self.format.can_follow(),
            "the folder has a run for each API, but this format has a document for each: write them to files with \
             --output, or choose one run"
        );
        let report = self.report.iter().map(|(form, file)| (*form, file_of(file, dialect))).collect();
        Ok(Self { output, report, ..*self })
    }

    /// Returns whether any report shows timelines.
    pub(super) fn draws(&self) -> bool {
        self.format.draws() || self.report.iter().any(|(form, _)| form.draws())
    }

    /// Returns the amount of detail.
    pub(super) fn detail(&self) -> Detail {
        Detail { level: self.level.into(), is_verbose: self.verbose }
    }

    /// Writes the requested reports to files.
    pub(super) fn write(&self, render: impl Fn(Form) -> anyhow::Result<String>) -> anyhow::Result<()> {
        write(&self.report, self.output.as_ref().map(|file| (self.format, file)), render)
    }

    /// Writes the requested reports.
    pub(super) fn write_reports(&self, run: &Run) -> anyhow::Result<()> {
        let detail = self.detail();
        self.write(|form| Ok(reports::render(run, form, detail, Style::Plain.into())))
    }

    /// Prints a run, and writes the requested reports. Terminal output has findings on stderr and the summary
    /// on stdout.
    pub(super) fn print(&self, run: &Run) -> anyhow::Result<()> {
        let detail = self.detail();
        let render = |form| reports::render(run, form, detail, Style::Plain.into());
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
            (None, form) => print(&render(form)),
        }
    }
}

/// Writes reports, and the output to its file or stdout.
pub(super) fn write<F: Copy>(
    reports: &[(F, PathBuf)],
    output: Option<(F, &PathBuf)>,
    render: impl Fn(F) -> anyhow::Result<String>,
) -> anyhow::Result<()> {
    for (form, file) in reports.iter().map(|(form, file)| (*form, file)).chain(output) {
        fs::write(file, render(form)?).with_context(|| file.display().to_string())?;
    }
    Ok(())
}

/// Parses a report to write, such as `junit=report.xml`.
pub(super) fn report<F: ValueEnum>(text: &str) -> Result<(F, PathBuf), String> {
    let names = || {
        let forms = F::value_variants().iter().filter_map(ValueEnum::to_possible_value);
        forms.map(|form| form.get_name().to_owned()).collect::<Vec<_>>().join(", ")
    };
    let (form, file) = text
        .split_once('=')
        .filter(|(_, file)| !file.is_empty())
        .ok_or_else(|| "expected FORMAT=FILE, as in junit=report.xml".to_owned())?;
    let form = F::from_str(form, false)
        .map_err(|_| format!("there is no format \"{form}\"; there are: {}", names()))?;
    Ok((form, PathBuf::from(file)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_have_a_format_and_a_file() {
        assert_eq!(report("junit=a=b.xml"), Ok((Form::Junit, PathBuf::from("a=b.xml"))));
        assert!(report::<Form>("junit").unwrap_err().contains("FORMAT=FILE"));
        assert!(report::<Form>("junti=a.xml").unwrap_err().contains("html"));
    }
}
