//! Differences of two runs, as Markdown.

use std::fmt::Write as _;

use super::super::sheet::markdown::code;
use super::Diff;
use super::lists::{List, MAX_LENGTH, Row, lists, side};
use results::text::cut;

/// The differences, the worse ones first.
pub fn markdown(diff: &Diff) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "# Conformance: {}\n", diff.words());
    let _ = writeln!(out, "- before: {}\n- after: {}", code(&side(&diff.before)), code(&side(&diff.after)));
    if diff.before.suite != diff.after.suite {
        out.push_str("- The versions of the suite differ, and so may their rules.\n");
    }
    if !diff.unlike.is_empty() {
        out.push_str("- The options of the runs differ, which may explain some differences:\n");
        for how in &diff.unlike {
            let _ = writeln!(out, "  - {}", code(&cut(how, MAX_LENGTH)));
        }
    }
    for List { heading, count, rows, more, .. } in lists(diff) {
        let (first, rest) = heading.split_at(1);
        let _ = writeln!(out, "\n## {}{rest}: {count}\n", first.to_uppercase());
        for row in rows {
            let Row { name, detail, .. } = &row;
            let change = Some(row.change("→")).filter(|change| !change.is_empty());
            let detail = (!detail.is_empty()).then(|| code(detail));
            let parts: Vec<String> = [code(name)].into_iter().chain(change).chain(detail).collect();
            let _ = writeln!(out, "- {}", parts.join(": "));
        }
        if more > 0 {
            let _ = writeln!(out, "- and {more} more");
        }
    }
    out
}
