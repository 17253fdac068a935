//! The part of a lifecycle that streams exercised.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use catalogue::{VALUES, reached};
use results::{Exercised, ExercisedLane, ExercisedMember, ExercisedPath, ExercisedStep, ExercisedValue};
use spec::Dialect;

use crate::lifecycle::Lifecycle;
use crate::walk::Observed;
use crate::window::{Stage, Window};

/// Features that an endpoint claims, which limit what can be exercised.
#[derive(Clone, Copy)]
pub enum Claim<'c> {
    /// All that is legal.
    All,
    /// A function says which features are allowed.
    Features(&'c dyn Fn(&str) -> bool),
}

impl fmt::Debug for Claim<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if matches!(self, Self::All) { "All" } else { "Features" })
    }
}

/// Returns what streams exercised of the lifecycle of a dialect; none if nothing is known of it.
pub fn exercised(dialect: &'static Dialect, observed: &Observed, claim: Claim<'_>) -> Option<Exercised> {
    let reachable: Option<BTreeSet<(&str, &str)>> = match claim {
        Claim::All => None,
        Claim::Features(allows) => {
            let due = reached(dialect.api.name).filter(|step| step.is_reached(allows));
            Some(due.map(|step| (step.lane, step.step)).collect())
        }
    };
    let is_reachable = |lane: &str, step: &dyn fmt::Display| {
        reachable.as_ref().is_none_or(|steps| steps.contains(&(lane, step.to_string().as_str())))
    };
    let lifecycle = Lifecycle::of(dialect);
    let mut lanes: BTreeMap<&str, Vec<Window>> = BTreeMap::new();
    for window in lifecycle.windows.keys() {
        if window.stages.iter().flatten().all(|stage| is_reachable(window.lane, stage)) {
            lanes.entry(window.lane).or_default().push(*window);
        }
    }
    let seen: BTreeSet<Window> =
        observed.windows.iter().filter(|(of, _)| *of == dialect.name).map(|(_, window)| *window).collect();
    let root = dialect.api.scope(dialect.api.root).name;
    let mut lanes: Vec<ExercisedLane> = lanes
        .into_iter()
        .map(|(name, windows)| lane(name, name != root, &windows, &seen, &lifecycle.goldens))
        .collect();
    lanes.sort_by_key(|lane| lane.is_container);
    let mut members: Vec<ExercisedMember> = Vec::new();
    for value in lifecycle.values.iter().filter(|value| is_reachable(VALUES, value)) {
        if members.last().is_none_or(|member| member.name != value.member) {
            members.push(ExercisedMember { name: value.member.clone(), values: Vec::new() });
        }
        let is_exercised = observed.values.contains(&(dialect.name, *value));
        let of = ExercisedValue { name: value.value.to_owned(), is_exercised };
        members.last_mut().expect("one was added").values.push(of);
    }
    // Without a golden of one, the containers of a dialect are not known.
    let is_known = lanes.iter().any(|lane| lane.is_container);
    is_known.then(|| Exercised::new(dialect.name, matches!(claim, Claim::Features(_)), lanes, members))
}

fn lane(
    name: &str,
    is_container: bool,
    windows: &[Window],
    seen: &BTreeSet<Window>,
    goldens: &BTreeMap<Window, u64>,
) -> ExercisedLane {
    let parts = |length: usize| {
        // Whether it was exercised, and how many goldens have it.
        let mut parts: BTreeMap<Vec<Stage>, (bool, u64)> = BTreeMap::new();
        let end =
            |window: &Window| -> Option<Vec<Stage>> { window.stages[3 - length..].iter().copied().collect() };
        parts.extend(windows.iter().filter_map(end).map(|part| (part, (false, 0))));
        for part in seen.iter().filter(|window| window.lane == name).filter_map(end) {
            parts.entry(part).and_modify(|(is_exercised, _)| *is_exercised = true);
        }
        for (window, count) in goldens.iter().filter(|(window, _)| window.lane == name) {
            if let Some(part) = end(window) {
                parts.entry(part).and_modify(|(_, goldens)| *goldens += count);
            }
        }
        parts
    };
    let states = parts(1);
    let order = in_order(windows);
    let place = |stage: &Stage| order.iter().position(|known| known == stage).unwrap_or_default();
    let paths = |length| {
        let mut paths: Vec<ExercisedPath> = parts(length)
            .into_iter()
            .map(|(part, (is_exercised, goldens))| ExercisedPath {
                steps: part.iter().map(place).collect(),
                is_exercised,
                goldens,
            })
            .collect();
        paths.sort_by(|one, other| one.steps.cmp(&other.steps));
        paths
    };
    let step = |stage: &Stage| ExercisedStep {
        name: stage.to_string(),
        is_exercised: states.get(std::slice::from_ref(stage)).is_some_and(|(is_exercised, _)| *is_exercised),
    };
    ExercisedLane {
        name: name.to_owned(),
        is_container,
        steps: order.iter().map(step).collect(),
        transitions: paths(2),
        pairs: paths(3),
    }
}

/// Each step follows another one. Steps that end a lane come last.
fn in_order(windows: &[Window]) -> Vec<Stage> {
    let mut order: Vec<Stage> = Vec::new();
    let rank = |stage: &Stage| (stage.effect.ends_scope() && stage.effect.level.is_root, *stage);
    let mut due: Vec<Stage> = windows
        .iter()
        .filter(|window| window.stages[1].is_none())
        .filter_map(|window| window.stages[2])
        .collect();
    while !due.is_empty() {
        due.sort_by_key(rank);
        due.dedup();
        order.extend(&due);
        let is_next = |window: &&Window| window.stages[1].is_some_and(|before| due.contains(&before));
        let next = windows.iter().filter(is_next).filter_map(|window| window.stages[2]);
        due = next.filter(|stage| !order.contains(stage)).collect();
    }
    let others: BTreeSet<Stage> = windows.iter().filter_map(|window| window.stages[2]).collect();
    order.extend(others.difference(&order.iter().copied().collect()));
    order
}
