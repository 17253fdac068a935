//! Reports of clients: of one run, of many side by side, and of what changed between two.

mod diff;
mod html;
mod human;
mod junit;
mod markdown;
mod matrix;

use super::json::json;
use super::style::Screen;
use results::ClientRun;

pub use diff::{Changed, ClientDiff};
pub use matrix::ClientMatrix;

/// The format of the report of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum ClientForm {
    /// A table, for a terminal
    #[default]
    Human,
    /// The whole report, for programs
    Json,
    /// `JUnit` XML, for CI systems
    Junit,
    /// For a pull request or a README
    Markdown,
    /// A page for browsers
    Html,
}

/// Renders the report of a client.
pub fn client_report(run: &ClientRun, form: ClientForm, is_verbose: bool, screen: Screen) -> String {
    match form {
        ClientForm::Human => human::human(run, is_verbose, screen),
        ClientForm::Json => json(run),
        ClientForm::Junit => junit::junit(run),
        ClientForm::Markdown => markdown::markdown(run),
        ClientForm::Html => html::report(run),
    }
}

/// Renders a matrix of clients; none, where a format has no place for one.
pub fn client_matrix(matrix: &ClientMatrix<'_>, form: ClientForm) -> Option<String> {
    match form {
        ClientForm::Human | ClientForm::Markdown => Some(matrix.markdown()),
        ClientForm::Html => Some(html::matrix(matrix)),
        ClientForm::Json => Some(json(&matrix.runs())),
        ClientForm::Junit => None,
    }
}
