//! Reports of both ends of a gateway.

mod html;
mod human;

use std::collections::BTreeMap;

use results::text::counted;
use results::{BetweenRun, BetweenTest};
use serde_json::json;

use super::impact::{in_all, in_between};
use super::sheet::{Reported, Sheet, SheetCause, SheetTest, Table, rule};
use super::style::{Detail, Screen};

/// Maximum number of clients that were not played to, in a line.
const CLIENTS: usize = 20;

impl Reported for BetweenRun {
    fn sheet(&self) -> Sheet<'_> {
        let of_test = |test| {
            let all = SheetTest::new(test, BetweenTest::pair(test), self.folder.as_deref());
            SheetTest { short_name: test.short_name(), ..all }
        };
        let heads = ["client", "upstream", "mode", "passed", "failed", "skipped"];
        let rows = self.pairs.iter().map(|pair| {
            let names = [&pair.front, &pair.upstream, &pair.mode].map(String::clone);
            let counts = [pair.passed, pair.failed, pair.skipped].map(|count| count.to_string());
            names.into_iter().chain(counts).collect()
        });
        let tests: BTreeMap<&str, &BetweenTest> = self.tests.iter().map(|test| (&*test.name, test)).collect();
        Sheet {
            command: "between",
            subject: self.gateway.clone(),
            suite: &self.suite,
            outcome: self.outcome,
            fail_on: self.fail_on,
            levels: &self.levels,
            groups: "pairs",
            tests: self.tests.iter().map(of_test).collect(),
            causes: SheetCause::all(&self.causes, &self.tests, |cause| in_between(self, cause)),
            overview: Table { heads: heads.map(str::to_owned).to_vec(), numbers: 3, rows: rows.collect() },
            tables: vec![measures(self), limits(self), unaccounted(self)],
            profiles: Vec::new(),
            unmet: Vec::new(),
            played: in_all(
                self.causes.iter().filter_map(|cause| cause.played.as_ref()),
                &self.not_played,
                CLIENTS,
            ),
            remarks: self
                .unaccounted
                .iter()
                .map(|request| {
                    (
                        "unaccounted request",
                        format!("{}, {}", request.request, counted(request.times, "time")),
                    )
                })
                .collect(),
            stale: &self.stale,
            members: json!({
                "between_run": self.between_run,
                "gateway": self.gateway,
                "model": self.model,
                "pairs": self.pairs,
                "unaccounted": self.unaccounted,
            }),
            page: rule::of_pair,
            again: Box::new(move |name| {
                tests.get(name).map(|test| self.command_of(test)).unwrap_or_default()
            }),
        }
    }

    fn human(&self, detail: Detail, screen: Screen) -> String {
        human::human(self, detail, screen)
    }

    fn html(&self) -> String {
        html::html(self)
    }
}

fn measures(run: &BetweenRun) -> Table {
    let heads = ["session", "measures"].map(str::to_owned).to_vec();
    let measured = run.tests.iter().filter(|test| !test.about.measures.is_empty());
    let rows = measured.map(|test| vec![test.name.clone(), test.about.measures.join(" · ")]);
    Table { heads, numbers: 0, rows: rows.collect() }
}

fn limits(run: &BetweenRun) -> Table {
    let heads = ["rule", "not judged, because", "tests"].map(str::to_owned).to_vec();
    let row = |(rule, reason, tests): (&str, &str, u64)| {
        vec![rule.to_owned(), reason.to_owned(), tests.to_string()]
    };
    Table { heads, numbers: 1, rows: run.limits().into_iter().map(row).collect() }
}

fn unaccounted(run: &BetweenRun) -> Table {
    let heads = ["request upstream that no test accounts for", "body", "times"].map(str::to_owned).to_vec();
    let rows = run
        .unaccounted
        .iter()
        .map(|request| vec![request.request.clone(), request.body.clone(), request.times.to_string()]);
    Table { heads, numbers: 1, rows: rows.collect() }
}
