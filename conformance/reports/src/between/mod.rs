//! Reports of both ends of a gateway: of one run, and of what changed between two.

mod diff;
mod github;
mod html;
mod human;
mod junit;
mod markdown;
mod ndjson;
mod rule;
mod sarif;

use super::json::json;
use super::style::Screen;
use results::BetweenRun;

pub use diff::{BetweenDiff, CauseChange, TestChange};

/// The format of the report of both ends of a gateway.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum BetweenForm {
    /// Pairs of APIs and causes, for a terminal
    #[default]
    Human,
    /// The whole report, for programs
    Json,
    /// A line of JSON for each test and each cause
    Ndjson,
    /// `JUnit` XML, for CI systems
    Junit,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// Annotations of a GitHub workflow
    Github,
    /// For a pull request or a README
    Markdown,
    /// A page for browsers
    Html,
}

/// Renders the report of both ends of a gateway.
pub fn between_report(run: &BetweenRun, form: BetweenForm, is_verbose: bool, screen: Screen) -> String {
    match form {
        BetweenForm::Human => human::human(run, is_verbose, screen),
        BetweenForm::Json => json(run),
        BetweenForm::Ndjson => ndjson::ndjson(run),
        BetweenForm::Junit => junit::junit(run),
        BetweenForm::Sarif => sarif::sarif(run),
        BetweenForm::Github => github::github(run),
        BetweenForm::Markdown => markdown::markdown(run),
        BetweenForm::Html => html::html(run),
    }
}
