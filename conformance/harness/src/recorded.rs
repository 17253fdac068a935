//! Twins of the runs in a folder, compared again.

use std::collections::BTreeMap;
use std::path::Path;

use spec::Dialect;

use crate::compare::Replanned;
use crate::evidence::{Evidence, TWINS};
use crate::judge::{Attempt, mark_answered};
use crate::plan::{About, ScenarioCase, all_given};
use crate::suite::Selection;
use crate::twins::{Strictness, TwinSide, is_comparable, name, names, twin};
use results::{TWINS_VERSION, TwinsReport};

/// A run, read again.
struct Recorded {
    dialect: &'static Dialect,
    cases: Vec<ScenarioCase>,
    attempts: BTreeMap<String, Vec<Attempt>>,
    /// The names of its tests.
    trials: Vec<String>,
    selection: Selection,
    is_reference: bool,
}

impl Recorded {
    fn read(folder: &Path) -> Result<Self, String> {
        let evidence = Evidence::open(folder);
        let run = evidence.run().map_err(|error| error.to_string())?;
        let Replanned { dialect, rules, mut cases, .. } = Replanned::of(&run)?;
        let given = all_given(&run.options.given, run.is_reference);
        for case in &mut cases {
            case.give(&given);
        }
        let mut attempts: BTreeMap<String, Vec<Attempt>> = BTreeMap::new();
        for kept in &run.exchanges {
            let bytes = evidence.read(&kept.file).map_err(|error| format!("{}: {error}", kept.file))?;
            let mut attempt = Attempt::read(&kept.file, &bytes, &rules, false)?;
            attempt.place = kept.place;
            attempts.entry(kept.case.clone()).or_default().push(attempt);
        }
        mark_answered(&cases, &mut attempts);
        let selection = Selection::of_filters(&run.options.filters, dialect)?;
        let trials = run.trials.into_iter().map(|trial| trial.name).collect();
        Ok(Self { dialect, cases, attempts, trials, selection, is_reference: run.is_reference })
    }

    /// Returns its side of a case, if it was selected.
    fn side(&self, case: &str) -> Option<TwinSide<'_>> {
        let case = self.cases.iter().find(|own| own.name == case && is_comparable(own))?;
        let is_due = self.trials.contains(&case.trial(About::Answer));
        let attempts = self.attempts.get(&case.name).map(Vec::as_slice).unwrap_or_default();
        is_due.then_some(TwinSide { dialect: self.dialect, case, attempts })
    }
}

/// Returns the twins of runs in these folders.
///
/// # Errors
///
/// If one cannot be read.
fn again(folders: &[&Path], dialects: &[String]) -> Result<TwinsReport, String> {
    let mut runs = folders.iter().map(|folder| Recorded::read(folder)).collect::<Result<Vec<_>, _>>()?;
    // The first one is compared with all others.
    runs.sort_by_key(|run| dialects.iter().position(|name| name == run.dialect.name));
    let strictness =
        if runs.iter().all(|run| run.is_reference) { Strictness::Exact } else { Strictness::Kinds };
    let mut twins = Vec::new();
    for case in names(runs.iter().map(|run| run.cases.as_slice())) {
        let is_selected = runs.iter().any(|run| run.selection.includes(&name(&case)));
        let sides: Vec<TwinSide<'_>> = runs.iter().filter_map(|run| run.side(&case)).collect();
        if is_selected && sides.len() > 1 {
            twins.push(twin(&case, &sides, strictness));
        }
    }
    let dialects = runs.iter().map(|run| run.dialect.name.to_owned()).collect();
    Ok(TwinsReport { version: TWINS_VERSION, suite: env!("CARGO_PKG_VERSION").to_owned(), dialects, twins })
}

/// Compares the twins that a folder states with those that its runs show. Returns their number, and what differs.
///
/// # Errors
///
/// If a run cannot be read.
pub fn verify_twins(folder: &Path, runs: &[&Path]) -> Result<(usize, Vec<String>), String> {
    let file = folder.join(TWINS);
    let text = std::fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
    let stated: TwinsReport =
        serde_json::from_str(&text).map_err(|error| format!("{}: {error}", file.display()))?;
    let shown = again(runs, &stated.dialects)?;
    let mut differences = Vec::new();
    for twin in &stated.twins {
        match shown.twins.iter().find(|other| other.name == twin.name) {
            Some(other) if other == twin => {}
            Some(other) => differences.push(format!(
                "{}: {TWINS} states {}, but the exchanges show {}",
                twin.name, twin.judged, other.judged
            )),
            None => differences.push(format!("{}: the runs have no such twins", twin.name)),
        }
    }
    let is_stated = |name: &str| stated.twins.iter().any(|twin| twin.name == name);
    let missing = shown.twins.iter().filter(|twin| !is_stated(&twin.name));
    differences.extend(missing.map(|twin| format!("{}: {TWINS} does not have it", twin.name)));
    if differences.is_empty() && stated != shown {
        differences.push(format!("{TWINS}: it differs from what the exchanges show"));
    }
    Ok((stated.twins.len(), differences))
}
