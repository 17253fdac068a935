//! Joins the parts of a run that was made with `--shard`.

use std::collections::HashMap;

use results::{BetweenRun, BetweenTest, Unmergeable};

use crate::judge::settle;
use crate::plan::all_names;

/// Joins all parts of a run: it is the same as the run in one part.
///
/// # Errors
///
/// If they are not parts of one run, or one is missing.
pub fn merge(runs: Vec<BetweenRun>) -> Result<BetweenRun, Unmergeable> {
    let places: HashMap<String, usize> = all_names().into_iter().zip(0..).collect();
    let place = |test: &BetweenTest| places.get(&test.name).copied().unwrap_or(usize::MAX);
    BetweenRun::merge(runs, place, settle)
}
