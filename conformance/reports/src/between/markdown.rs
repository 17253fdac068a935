//! The report of both ends of a gateway as Markdown.

use std::fmt::Write as _;

use results::text::counted;
use results::{BetweenCause, BetweenRun, Verdict};

use super::super::impact::{in_all, in_between};
use super::super::markdown::{cell, code, outcome};
use super::human::counts;
use super::rule::{files, level_of, page_of, sides, window};

/// Maximum number of causes in the table.
const LISTED: usize = 60;
/// Maximum number of causes with an example.
const EXAMPLES: usize = 20;
/// Maximum number of limits, and of requests that are not accounted for.
const OTHERS: usize = 20;
/// Maximum number of characters of a side.
const SIDE: usize = 300;

pub(super) fn markdown(run: &BetweenRun) -> String {
    let word = outcome(run.outcome);
    let found = if run.causes.is_empty() { String::new() } else { format!(" · {}", run.cause_counts()) };
    let mut out = format!("## {word}: {}\n\n{}{found}.\n\n", code(&run.gateway), counts(run));
    out.push_str("| client | upstream | mode | passed | failed | skipped |\n|---|---|---|---:|---:|---:|\n");
    for pair in &run.pairs {
        let names = [&pair.front, &pair.upstream, &pair.mode].map(|name| cell(name));
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} |",
            names[0], names[1], names[2], pair.passed, pair.failed, pair.skipped
        );
    }
    causes(run, &mut out);
    for cause in run.causes.iter().take(EXAMPLES) {
        example(run, cause, &mut out);
    }
    for line in in_all(run.causes.iter().filter_map(|cause| cause.played.as_ref()), &run.not_played, OTHERS) {
        let _ = writeln!(out, "\n{}", code(&line));
    }
    rest(run, &mut out);
    out
}

fn causes(run: &BetweenRun, out: &mut String) {
    if run.causes.is_empty() {
        return;
    }
    out.push_str("\n| cause | level | what is wrong | pairs | tests |\n|---|---|---|---:|---:|\n");
    for cause in run.causes.iter().take(LISTED) {
        let Some((_, finding)) = run.first_of(cause) else { continue };
        let level = level_of(cause);
        let _ = writeln!(
            out,
            "| {} | {level} | {} | {} | {} |",
            cell(&cause.rule),
            cell(&finding.message),
            cause.pairs.len(),
            cause.tests
        );
    }
    if run.causes.len() > LISTED {
        let _ = writeln!(out, "\nand {} more", run.causes.len() - LISTED);
    }
}

fn example(run: &BetweenRun, cause: &BetweenCause, out: &mut String) {
    let Some((test, finding)) = run.first_of(cause) else { return };
    let _ = writeln!(out, "\n### {}\n\n{}\n", code(&cause.rule), code(&finding.message));
    for (name, side) in sides(finding) {
        let _ = writeln!(out, "- {name}: {}", code(&window(finding, side, SIDE)));
    }
    for line in in_between(run, cause) {
        let _ = writeln!(out, "- played: {}", code(&line));
    }
    if let Some(page) = page_of(cause) {
        let _ = writeln!(out, "- fix: {}", code(&page.fix));
    }
    let pairs: Vec<String> = cause.pairs.iter().map(|pair| code(pair)).collect();
    let _ = writeln!(
        out,
        "- {} of {}, for example {}",
        counted(cause.tests, "test"),
        pairs.join(", "),
        code(&test.name)
    );
    let files: Vec<String> = files(run, test).iter().map(|file| code(file)).collect();
    if !files.is_empty() {
        let _ = writeln!(out, "- recordings: {}", files.join(", "));
    }
    let _ = writeln!(out, "- again: {}", code(&run.command_of(test)));
}

fn rest(run: &BetweenRun, out: &mut String) {
    let unjudged: Vec<_> = run.tests.iter().filter(|test| test.verdict == Verdict::HarnessError).collect();
    if !unjudged.is_empty() {
        out.push_str("\n| test | not judged, because |\n|---|---|\n");
        for test in unjudged.iter().take(OTHERS) {
            let _ = writeln!(out, "| {} | {} |", cell(&test.name), cell(&test.reason));
        }
    }
    let limits = run.limits();
    if !limits.is_empty() {
        out.push_str("\n| rule | not judged, because | tests |\n|---|---|---:|\n");
        for (rule, reason, tests) in limits.iter().take(OTHERS) {
            let _ = writeln!(out, "| {} | {} | {tests} |", cell(rule), cell(reason));
        }
    }
    if !run.unaccounted.is_empty() {
        out.push_str("\n| request upstream that no test accounts for | times | body |\n|---|---:|---|\n");
        for request in run.unaccounted.iter().take(OTHERS) {
            let _ =
                writeln!(out, "| {} | {} | {} |", cell(&request.request), request.times, cell(&request.body));
        }
    }
    for stale in &run.stale {
        let _ = writeln!(out, "\n- expected failure passes: {}", code(stale));
    }
}
