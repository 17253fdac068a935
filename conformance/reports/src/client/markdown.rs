//! The report of a client as Markdown.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use results::{ClientOutcome, ClientRun};

use super::super::markdown::{cell, code, outcome};
use super::human::{claimed, groups};

/// Maximum number of cases that are listed.
const LISTED: usize = 60;

pub(super) fn markdown(run: &ClientRun) -> String {
    let word = outcome(run.outcome);
    let mut out = format!("## {word}: {}\n\n", code(&run.title()));
    let shown: Vec<ClientOutcome> =
        ClientOutcome::ALL.into_iter().filter(|outcome| run.totals.count(*outcome) > 0).collect();
    let heads: Vec<&str> = shown.iter().map(|outcome| outcome.name()).collect();
    let _ = writeln!(out, "| cases | {} |\n|---|{}", heads.join(" | "), "---:|".repeat(shown.len()));
    for (name, cases) in groups(run) {
        let count = |outcome: &ClientOutcome| cases.iter().filter(|case| case.outcome == *outcome).count();
        let counts: Vec<String> = shown.iter().map(|outcome| count(outcome).to_string()).collect();
        let _ = writeln!(out, "| {} | {} |", cell(name), counts.join(" | "));
    }
    let profiles: Vec<_> = claimed(run).collect();
    if !profiles.is_empty() {
        let _ = writeln!(out, "\n| profile | state |\n|---|---|");
        for profile in profiles {
            let _ =
                writeln!(out, "| {} {} | {} |", cell(&profile.name), profile.version, cell(&profile.words()));
        }
    }
    let bad: Vec<_> = run.cases.iter().filter(|case| case.outcome.rank() > 1).collect();
    if !bad.is_empty() {
        let _ = writeln!(out, "\n| case | outcome | what happened |\n|---|---|---|");
        for case in bad.iter().take(LISTED) {
            let _ =
                writeln!(out, "| {} | {} | {} |", cell(&case.name), case.outcome.name(), cell(&case.detail));
        }
        if bad.len() > LISTED {
            let _ = writeln!(out, "\nand {} more", bad.len() - LISTED);
        }
    }
    let mut problems: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for problem in run.cases.iter().flat_map(|case| &case.requests) {
        *problems.entry((&problem.rule, &problem.message)).or_default() += 1;
    }
    if !problems.is_empty() {
        let _ = writeln!(out, "\n| problem of requests | cases |\n|---|---:|");
        for ((rule, message), count) in problems.iter().take(LISTED) {
            let _ = writeln!(out, "| {} | {count} |", cell(&format!("{rule}: {message}")));
        }
    }
    for stale in &run.stale {
        let _ = writeln!(out, "\n- expected failure passes: {}", code(stale));
    }
    out
}
