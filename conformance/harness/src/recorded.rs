//! Twins of the runs in a folder, compared again.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use spec::Dialect;

use crate::compare::Replanned;
use crate::evidence::{Evidence, TWINS};
use crate::judge::{Attempt, mark_answered};
use crate::plan::{About, ScenarioCase, all_given};
use crate::suite::Selection;
use crate::twins::{Strictness, TwinSide, is_comparable, name, names, twin};
use reports::{Form, twins_in};
use results::{TWINS_VERSION, TwinsReport};

struct Recorded {
    dialect: &'static Dialect,
    cases: Vec<ScenarioCase>,
    attempts: BTreeMap<String, Vec<Attempt>>,
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

    /// Its side of a case, if it was selected.
    fn side(&self, case: &str) -> Option<TwinSide<'_>> {
        let case = self.cases.iter().find(|own| own.name == case && is_comparable(own))?;
        let is_due = self.trials.contains(&case.trial(About::Answer));
        let attempts = self.attempts.get(&case.name).map(Vec::as_slice).unwrap_or_default();
        is_due.then_some(TwinSide { dialect: self.dialect, case, attempts })
    }
}

/// Twins of runs in these folders.
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

/// The runs of a folder that were made together, compared with what the folder has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Together {
    /// Number of compared twins.
    pub twins: usize,
    /// The differences.
    pub differences: Vec<String>,
}

/// Compares a folder with its runs. Each run states the others that it was made with, and the folder must have no other
/// files, the twins included. None, if the runs were made one by one.
///
/// # Errors
///
/// If a run cannot be read.
pub fn verify_together(folder: &Path, runs: &[&Path]) -> Result<Option<Together>, String> {
    let read = |run: &&Path| Evidence::open(run).run().map_err(|error| error.to_string());
    let files = runs.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let made: BTreeSet<&str> = files.iter().flat_map(|file| &file.together).map(String::as_str).collect();
    let has_twins = fs::symlink_metadata(folder.join(TWINS)).is_ok();
    if made.is_empty() && !has_twins {
        return Ok(None);
    }
    let mut differences = Vec::new();
    for (run, file) in runs.iter().zip(&files) {
        let name = run.file_name().unwrap_or_default().to_string_lossy();
        if name != file.dialect {
            differences.push(format!("{name}: its run is one of {}", file.dialect));
        }
        if !made.iter().eq(&file.together.iter().map(String::as_str).collect::<BTreeSet<_>>()) {
            differences.push(format!("{name}: it was made with other runs than those beside it"));
        }
        if fs::symlink_metadata(run).is_ok_and(|found| found.is_symlink()) {
            differences.push(format!("{name}: it is a symbolic link"));
        }
    }
    let is_there =
        |dialect: &&&str| runs.iter().any(|run| run.file_name().is_some_and(|name| name == **dialect));
    let missing = made.iter().filter(|dialect| !is_there(dialect));
    differences.extend(missing.map(|dialect| format!("{dialect}: the run is missing")));
    for entry in fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))? {
        let name = entry.map_err(|error| error.to_string())?.file_name();
        let name = name.to_string_lossy();
        if name != TWINS && !made.contains(&*name) {
            differences.push(format!("{name}: it belongs to none of the runs"));
        }
    }
    differences.sort_unstable();
    let apis: BTreeSet<&str> =
        made.iter().filter_map(|name| spec::dialect(name)).map(|dialect| dialect.api.name).collect();
    // Dialects of one API have no twins.
    let is_compared = made.len() > 1 && apis.len() == made.len();
    if !is_compared && !has_twins {
        return Ok(Some(Together { twins: 0, differences }));
    }
    let twins = twins(folder, runs, &mut differences)?;
    Ok(Some(Together { twins, differences }))
}

fn twins(folder: &Path, runs: &[&Path], differences: &mut Vec<String>) -> Result<usize, String> {
    let stated: Result<(Vec<u8>, TwinsReport), String> = Evidence::open(folder)
        .read(TWINS)
        .map_err(|error| error.to_string())
        .and_then(|text| Ok((serde_json::from_slice(&text).map_err(|error| error.to_string())?, text)))
        .map(|(stated, text)| (text, stated));
    let (text, stated) = match stated {
        Ok(stated) => stated,
        Err(problem) => {
            differences.push(format!("{TWINS}: it cannot be read: {problem}"));
            return Ok(0);
        }
    };
    let shown = again(runs, &stated.dialects)?;
    let before = differences.len();
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
    if differences.len() == before
        && twins_in(&shown, Form::Json).is_none_or(|shown| shown.as_bytes() != text)
    {
        differences.push(format!("{TWINS}: it differs from what the suite writes of these exchanges"));
    }
    Ok(stated.twins.len())
}
