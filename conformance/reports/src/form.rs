//! The formats of a report.

use catalogue::Level;

use super::style::Screen;
use super::{badge, github, html, human, json, markdown, summary};
use super::{junit, sarif};
use results::Run;

/// The format of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Form {
    /// Findings and a summary, for a terminal
    #[default]
    Human,
    /// The whole report, for programs
    Json,
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
    /// Whether it shows how exchanges went.
    pub const fn draws(self) -> bool {
        matches!(self, Self::Json | Self::Html)
    }
}

/// A report of a run. What is less binding than `shown` is only counted where a format is for people.
pub fn render(run: &Run, form: Form, shown: Level, screen: Screen) -> String {
    match form {
        Form::Human => format!("{}{}", human::diagnostics(run, shown, screen), summary(run, shown, screen)),
        Form::Json => json(run),
        Form::Junit => junit::junit(run),
        Form::Sarif => sarif::sarif(run),
        Form::Github => github::github(run, shown),
        Form::Markdown => markdown::markdown(run),
        Form::Badge => badge::badge(run),
        Form::Html => html::html(run),
    }
}
