//! A sheet as Markdown, for a pull request or a README.

use std::fmt::Write as _;

use results::Verdict;
use results::text::counted;

use super::rule::{level_of, window};
use super::{Sheet, SheetCause, Table};
use crate::markdown::{cell, code, outcome};

/// Maximum number of causes in the table.
const LISTED: usize = 60;
/// Maximum number of causes with an example.
const EXAMPLES: usize = 20;
/// Maximum number of rows of other tables.
const OTHERS: usize = 20;
/// Maximum number of characters of a side.
const SIDE: usize = 300;

pub(super) fn markdown(sheet: &Sheet<'_>) -> String {
    let word = outcome(sheet.outcome);
    let parts: Vec<String> = std::iter::once(sheet.counts()).chain(sheet.terms()).collect();
    let mut out = format!("## {word}: {}\n\n{}.\n", code(&sheet.subject), parts.join(" · "));
    table(&sheet.overview, usize::MAX, &mut out);
    if !sheet.profiles.is_empty() {
        let _ = writeln!(out, "\n| profile | state |\n|---|---|");
        for profile in &sheet.profiles {
            let _ =
                writeln!(out, "| {} {} | {} |", cell(&profile.name), profile.version, cell(&profile.words()));
        }
    }
    causes(sheet, &mut out);
    for cause in sheet.causes.iter().take(EXAMPLES) {
        example(sheet, cause, &mut out);
    }
    for line in &sheet.played {
        let _ = writeln!(out, "\n{}", code(line));
    }
    let unjudged = sheet.tests.iter().filter(|test| test.verdict == Verdict::HarnessError);
    let rows = unjudged.map(|test| vec![test.name.to_owned(), test.reason.to_owned()]).collect();
    let heads = ["test", "not judged, because"].map(str::to_owned).to_vec();
    table(&Table { heads, numbers: 0, rows }, OTHERS, &mut out);
    for other in &sheet.tables {
        table(other, OTHERS, &mut out);
    }
    for stale in sheet.stale {
        let _ = writeln!(out, "\n- expected failure passes: {}", code(stale));
    }
    out
}

fn table(of: &Table, most: usize, out: &mut String) {
    if of.rows.is_empty() {
        return;
    }
    let texts = of.heads.len() - of.numbers;
    let line = format!("{}{}", "---|".repeat(texts), "---:|".repeat(of.numbers));
    let _ = writeln!(out, "\n| {} |\n|{line}", of.heads.join(" | "));
    for row in of.rows.iter().take(most) {
        let cells: Vec<String> = row
            .iter()
            .enumerate()
            .map(|(at, text)| if at < texts { cell(text) } else { text.clone() })
            .collect();
        let _ = writeln!(out, "| {} |", cells.join(" | "));
    }
}

fn causes(sheet: &Sheet<'_>, out: &mut String) {
    if sheet.causes.is_empty() {
        return;
    }
    let groups = sheet.groups;
    let _ = writeln!(out, "\n| cause | level | what is wrong | {groups} | tests |\n|---|---|---|---:|---:|");
    for SheetCause { of, finding, .. } in sheet.causes.iter().take(LISTED) {
        let (rule, message) = (cell(&of.rule), cell(&finding.message));
        let _ =
            writeln!(out, "| {rule} | {} | {message} | {} | {} |", level_of(of), of.groups.len(), of.tests);
    }
    if sheet.causes.len() > LISTED {
        let _ = writeln!(out, "\nand {} more", sheet.causes.len() - LISTED);
    }
}

fn example(sheet: &Sheet<'_>, cause: &SheetCause<'_>, out: &mut String) {
    let SheetCause { of, finding, .. } = cause;
    let test = &sheet.tests[cause.test];
    let _ = writeln!(out, "\n### {}\n\n{}\n", code(&of.rule), code(&finding.message));
    for (name, side) in test.sides(finding) {
        let _ = writeln!(out, "- {name}: {}", code(&window(finding, side, SIDE)));
    }
    for line in &of.agents {
        let _ = writeln!(out, "- harms: {}", code(line));
    }
    for line in &cause.played {
        let _ = writeln!(out, "- played: {}", code(line));
    }
    if let Some(page) = cause.page(sheet) {
        let _ = writeln!(out, "- fix: {}", code(&page.fix));
    }
    let groups: Vec<String> = of.groups.iter().map(|group| code(group)).collect();
    let tests = counted(of.tests, "test");
    let _ = writeln!(out, "- {tests} of {}, for example {}", groups.join(", "), code(test.name));
    let files: Vec<String> = test.files.iter().map(|file| code(file)).collect();
    if !files.is_empty() {
        let _ = writeln!(out, "- recordings: {}", files.join(", "));
    }
    let _ = writeln!(out, "- again: {}", code(&(sheet.again)(test.name)));
}
