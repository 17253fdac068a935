//! Comparison of many clients.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use results::{ClientOutcome, ClientRun, ClientTest};

use super::super::sheet::markdown::{cell, code};

/// Clients side by side: rows are cases, columns clients.
#[derive(Debug)]
pub struct ClientMatrix<'r> {
    runs: &'r [ClientRun],
    names: Vec<String>,
    rows: BTreeMap<&'r str, Vec<Option<&'r ClientTest>>>,
}

impl<'r> ClientMatrix<'r> {
    /// Compares runs side by side. Runs of one client are labelled with their versions, or with their folders.
    pub fn new(runs: &'r [ClientRun], folders: &[String]) -> Self {
        let is_alone = |name: &str, of: fn(&ClientRun) -> String| {
            runs.iter().filter(|other| of(other) == name).count() == 1
        };
        let column = |(run, folder): (&ClientRun, &String)| {
            let (client, title) = (run.client.clone(), run.title());
            if is_alone(&client, |run| run.client.clone()) {
                client
            } else if is_alone(&title, ClientRun::title) {
                title
            } else {
                format!("{client} ({folder})")
            }
        };
        let columns = runs.iter().zip(folders).map(column).collect();
        let names: BTreeSet<&str> =
            runs.iter().flat_map(|run| run.tests.iter().map(|case| case.name.as_str())).collect();
        let by_name: Vec<BTreeMap<&str, &ClientTest>> = runs
            .iter()
            .map(|run| run.tests.iter().map(|case| (case.name.as_str(), case)).collect())
            .collect();
        let row = |name: &'r str| (name, by_name.iter().map(|cases| cases.get(name).copied()).collect());
        Self { runs, names: columns, rows: names.into_iter().map(row).collect() }
    }

    /// The runs.
    pub const fn runs(&self) -> &'r [ClientRun] {
        self.runs
    }

    /// No two are equal.
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    pub(crate) fn legend() -> String {
        let signs = ClientOutcome::ALL.map(|outcome| format!("{} {}", outcome.sign(), outcome.name()));
        format!("{}. A blank cell: the case was not sent.", signs.join(", "))
    }

    /// Cases where clients differ from the best outcome, each with a cell for every client.
    pub(crate) fn telling(&self) -> impl Iterator<Item = (&'r str, &[Option<&'r ClientTest>])> {
        let is_bad = |case: &&ClientTest| case.about.outcome.rank() > 1;
        let rows = self.rows.iter();
        rows.filter(move |(_, cells)| cells.iter().flatten().any(is_bad))
            .map(|(name, cells)| (*name, &**cells))
    }

    pub(crate) fn handled(&self) -> usize {
        self.rows.len() - self.telling().count()
    }

    /// Renders the matrix as Markdown.
    pub fn markdown(&self) -> String {
        let mut out = String::new();
        let _ = writeln!(out, "| client | version | {} |", names().join(" | "));
        let _ = writeln!(out, "|---|---|{}", "---:|".repeat(ClientOutcome::ALL.len()));
        for (run, name) in self.runs.iter().zip(&self.names) {
            let counts: Vec<String> =
                ClientOutcome::ALL.iter().map(|outcome| run.totals.count(*outcome).to_string()).collect();
            let version = run.client_version.as_deref().map_or_else(|| "-".to_owned(), cell);
            let _ = writeln!(out, "| {} | {version} | {} |", cell(name), counts.join(" | "));
        }
        let _ = writeln!(out, "\n{}\n", Self::legend());
        let heads: Vec<String> = self.names.iter().map(|name| cell(name)).collect();
        let _ =
            writeln!(out, "| case | must | {} |\n|---|---|{}", heads.join(" | "), "---|".repeat(heads.len()));
        for (name, cells) in self.telling() {
            let expect = cells.iter().flatten().next().map_or("", |case| case.about.expect.as_str());
            let signs: Vec<&str> =
                cells.iter().map(|case| case.map_or("", |case| case.about.outcome.sign())).collect();
            let _ = writeln!(out, "| {} | {} | {} |", cell(name), cell(expect), signs.join(" | "));
        }
        let _ = writeln!(
            out,
            "\n{} more cases are handled correctly or reported by every client.",
            self.handled()
        );
        let _ = writeln!(out, "\n### What happened\n");
        for (name, cells) in self.telling() {
            for (client, case) in self.names.iter().zip(cells) {
                if let Some(case) = case.filter(|case| case.about.outcome.rank() > 1) {
                    let (client, outcome) = (code(client), case.about.outcome.name());
                    let _ = writeln!(out, "- {}, {client}: {outcome}: {}", code(name), code(&case.reason));
                }
            }
        }
        out
    }
}

fn names() -> Vec<&'static str> {
    ClientOutcome::ALL.iter().map(|outcome| outcome.name()).collect()
}
