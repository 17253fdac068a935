//! Differences of the options of two runs.

use std::collections::BTreeSet;

use results::text::{counted, listed_plainly};
use results::{LevelChange, LiveReport, Options, Run};

/// Maximum number of names.
const MAX_NAMES: usize = 5;

/// Returns the differences of the options in words.
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
    let fails = |options: &Options| vec![options.fail_on().words().to_owned()];
    differs("fails on", &fails(was), &fails(is), "");
    let levels = |options: &Options| options.levels.iter().map(LevelChange::to_string).collect::<Vec<_>>();
    differs("levels changed", &levels(was), &levels(is), "none");
    out
}

/// Returns the first names, and the number of others.
pub(super) fn some(names: &[&str]) -> String {
    listed_plainly(names, MAX_NAMES, |name| (*name).to_owned())
}
