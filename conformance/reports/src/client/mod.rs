//! Reports of clients: of one run, and of many side by side.

mod html;
mod human;
mod matrix;

use results::{ClientOutcome, ClientRun, ClientTest};
use serde_json::json;

use super::form::Form;
use super::json::json;
use super::sheet::{Reported, Sheet, SheetCause, SheetTest, Table, rule};
use super::style::{Detail, Screen};
use human::{claimed, groups, wanted};

pub use matrix::ClientMatrix;

impl Reported for ClientRun {
    fn sheet(&self) -> Sheet<'_> {
        let shown: Vec<ClientOutcome> =
            ClientOutcome::ALL.into_iter().filter(|outcome| self.totals.count(*outcome) > 0).collect();
        let heads = std::iter::once("cases").chain(shown.iter().map(|outcome| outcome.name()));
        let rows = groups(self).into_iter().map(|(name, tests)| {
            let count =
                |outcome: &ClientOutcome| tests.iter().filter(|test| test.about.outcome == *outcome).count();
            std::iter::once(name.to_owned())
                .chain(shown.iter().map(|outcome| count(outcome).to_string()))
                .collect()
        });
        Sheet {
            command: "client",
            subject: self.title(),
            suite: &self.suite,
            outcome: self.outcome,
            fail_on: self.fail_on,
            levels: &self.levels,
            groups: "groups",
            tests: self.tests.iter().map(|test| of_test(test, self.folder.as_deref())).collect(),
            causes: SheetCause::all(&self.causes, &self.tests, |_| Vec::new()),
            overview: Table {
                heads: heads.map(str::to_owned).collect(),
                numbers: shown.len(),
                rows: rows.collect(),
            },
            tables: Vec::new(),
            profiles: claimed(self).collect(),
            unmet: self.unmet().map(|(profile, _)| profile).collect(),
            played: Vec::new(),
            remarks: Vec::new(),
            stale: &self.stale,
            members: json!({
                "client_run": self.client_run,
                "client": self.client,
                "client_version": self.client_version,
                "dialect": self.dialect,
                "totals": self.totals,
                "profiles": self.profiles,
            }),
            page: rule::of_client,
            again: Box::new(move |name| self.command_of(name)),
        }
    }

    fn human(&self, detail: Detail, screen: Screen) -> String {
        human::human(self, detail, screen)
    }

    fn html(&self) -> String {
        html::report(self)
    }
}

fn of_test<'r>(test: &'r ClientTest, folder: Option<&str>) -> SheetTest<'r> {
    let about = &test.about;
    // What a client no longer supports is worse than any outcome.
    let rank = if about.outcome == ClientOutcome::NotExercised { u8::MAX } else { about.outcome.rank() };
    SheetTest {
        state: (about.outcome.name(), rank),
        about: vec![
            ("wanted", wanted(&about.expect)),
            ("because", &about.because),
            ("authority", &about.authority),
        ],
        ..SheetTest::new(test, test.group().to_owned(), folder)
    }
}

/// Renders a matrix of clients; none, where a format has no place for one.
pub fn client_matrix(matrix: &ClientMatrix<'_>, form: Form) -> Option<String> {
    match form {
        Form::Human | Form::Markdown => Some(matrix.markdown()),
        Form::Html => Some(html::matrix(matrix)),
        Form::Json => Some(json(&matrix.runs())),
        _ => None,
    }
}
