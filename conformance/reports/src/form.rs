//! The formats of a report.

use std::io::{self, BufWriter, Write};

use serde::Serialize;

use super::json::{json, write_json};
use super::sheet::{Sheet, badge, github, junit, markdown, ndjson, sarif};
use super::style::{Detail, Screen};

/// The format of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Form {
    /// Findings and a summary, for a terminal
    #[default]
    Human,
    /// The whole report, for programs
    Json,
    /// A line of JSON for each finding and each recording
    Ndjson,
    /// `JUnit` XML, for CI systems
    Junit,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// Annotations of a GitHub workflow
    Github,
    /// For a pull request or a README
    Markdown,
    /// An endpoint of shields.io
    Badge,
    /// A page for browsers
    Html,
}

impl Form {
    /// The names of all formats, for help.
    pub const NAMES: &str = "human, json, ndjson, junit, sarif, github, markdown, badge or html";

    /// All formats.
    pub const ALL: [Self; 9] = [
        Self::Human,
        Self::Json,
        Self::Ndjson,
        Self::Junit,
        Self::Sarif,
        Self::Github,
        Self::Markdown,
        Self::Badge,
        Self::Html,
    ];

    /// Returns whether one document can follow another in the same output.
    pub const fn can_follow(self) -> bool {
        matches!(self, Self::Human | Self::Ndjson | Self::Github | Self::Markdown)
    }

    /// Returns whether it shows timelines.
    pub const fn draws(self) -> bool {
        matches!(self, Self::Json | Self::Html)
    }
}

/// A run whose report has all formats.
pub trait Reported: Serialize {
    /// Returns what the formats show that are alike for all runs.
    fn sheet(&self) -> Sheet<'_>;
    /// Renders it for a terminal.
    fn human(&self, detail: Detail, screen: Screen) -> String;
    /// Renders it as a page for browsers.
    fn html(&self) -> String;
}

/// Renders the report of a run. Formats for people only count findings below the level of `detail`.
pub fn render(run: &impl Reported, form: Form, detail: impl Into<Detail>, screen: Screen) -> String {
    let detail = detail.into();
    match form {
        Form::Human => run.human(detail, screen),
        Form::Json => json(run),
        Form::Ndjson => ndjson(&run.sheet()),
        Form::Junit => junit(&run.sheet()),
        Form::Sarif => sarif(&run.sheet()),
        Form::Github => github(&run.sheet(), detail.level),
        Form::Markdown => markdown(&run.sheet()),
        Form::Badge => badge(&run.sheet()),
        Form::Html => run.html(),
    }
}

/// Writes the report of a run like [`render`]. JSON is long, and written piece by piece.
///
/// # Errors
///
/// Those of `out`.
pub fn write(
    run: &impl Reported,
    form: Form,
    detail: impl Into<Detail>,
    screen: Screen,
    out: &mut dyn Write,
) -> io::Result<()> {
    match form {
        Form::Json => write_json(run, BufWriter::new(out)),
        _ => out.write_all(render(run, form, detail, screen).as_bytes()),
    }
}
