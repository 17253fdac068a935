//! How two runs differ in what was asked.

use std::collections::BTreeSet;

use results::text::counted;
use results::{LiveReport, Run};

/// So many names are told.
const NAMES: usize = 5;

/// What was asked in one of the runs only, in words.
pub(super) fn unlike(before: &Run, after: &Run) -> Vec<String> {
    let (Some(was), Some(is)) = (&before.live, &after.live) else { return Vec::new() };
    let mut out = Vec::new();
    let cases = |live: &LiveReport| live.cases.iter().map(|case| case.name.clone()).collect::<BTreeSet<_>>();
    let (asked_before, asked_after) = (cases(was), cases(is));
    for (one, other, which) in
        [(&asked_before, &asked_after, "before"), (&asked_after, &asked_before, "after")]
    {
        let only: Vec<&str> = one.difference(other).map(String::as_str).collect();
        if !only.is_empty() {
            let of = counted(one.len() as u64, "scenario");
            out.push(format!("only {which}, {} of {of}: {}", only.len(), some(&only)));
        }
    }
    let (was, is) = (&was.options, &is.options);
    let mut differs = |what: &str, before: &[String], after: &[String], none: &str| {
        let words = |names: &[String]| if names.is_empty() { none.to_owned() } else { names.join(", ") };
        if before != after {
            out.push(format!("{what}: {} before, {} after", words(before), words(after)));
        }
    };
    differs("profiles", &was.profiles, &is.profiles, "all");
    differs("rules selected", &was.select, &is.select, "all");
    differs("rules ignored", &was.ignore, &is.ignore, "none");
    if was.strict != is.strict {
        out.push(format!("warnings count as failures only {}", if was.strict { "before" } else { "after" }));
    }
    out
}

/// The first of the names, and how many there are more.
pub(super) fn some(names: &[&str]) -> String {
    let shown = names.get(..NAMES).unwrap_or(names).join(", ");
    match names.len().saturating_sub(NAMES) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
