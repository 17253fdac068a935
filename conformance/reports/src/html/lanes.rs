//! Which bars of a timeline stand in which row.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::number;
use results::{Bar, Timeline};

/// With more bars than this, those that do not overlap share a row.
const ROWS: usize = 40;
/// So many rows there are for what is equally deep, then.
const LANES: usize = 8;

/// A row of a chart.
#[derive(Debug)]
pub(super) struct Row<'t> {
    /// What stands beside it.
    pub(super) label: String,
    /// In how many others its bars lie.
    pub(super) depth: u64,
    pub(super) bars: Vec<&'t Bar>,
}

/// The rows of a timeline: one for each bar, as long as there are few.
pub(super) fn rows(timeline: &Timeline) -> Vec<Row<'_>> {
    if timeline.bars.len() > ROWS {
        return packed(timeline);
    }
    let mut rows = Vec::new();
    let mut inside: Vec<Vec<usize>> = vec![Vec::new(); timeline.bars.len()];
    let mut todo = Vec::new();
    for (at, bar) in timeline.bars.iter().enumerate().rev() {
        // A parent stands before its children, whoever wrote the report.
        match bar.parent.filter(|parent| *parent < at).and_then(|parent| inside.get_mut(parent)) {
            Some(children) => children.push(at),
            None => todo.push(at),
        }
    }
    while let Some(at) = todo.pop() {
        let Some(bar) = timeline.bars.get(at) else { continue };
        todo.extend(inside.get(at).into_iter().flatten());
        rows.push(Row { label: name(bar), depth: bar.depth, bars: vec![bar] });
    }
    rows
}

/// What is equally deep shares rows, as far as it does not overlap.
fn packed(timeline: &Timeline) -> Vec<Row<'_>> {
    let mut levels: BTreeMap<u64, Vec<&Bar>> = BTreeMap::new();
    for bar in &timeline.bars {
        levels.entry(bar.depth).or_default().push(bar);
    }
    let mut rows = Vec::new();
    for (depth, bars) in levels {
        let mut lanes: Vec<Row<'_>> = Vec::new();
        for bar in &bars {
            let is_free = |row: &Row<'_>| row.bars.last().is_none_or(|last| last.events[1] < bar.events[0]);
            let room = lanes.iter().position(is_free);
            if room.is_none() && lanes.len() < LANES {
                lanes.push(Row { label: String::new(), depth, bars: vec![bar] });
                continue;
            }
            // Where there is no room left, bars overlap.
            let last = lanes.len() - 1;
            if let Some(row) = lanes.get_mut(room.unwrap_or(last)) {
                row.bars.push(bar);
            }
        }
        if let Some(first) = lanes.first_mut() {
            first.label = several(&bars);
        }
        rows.extend(lanes);
    }
    rows
}

/// What several bars are called together.
fn several(bars: &[&Bar]) -> String {
    let mut scopes: BTreeMap<&str, u64> = BTreeMap::new();
    for bar in bars {
        *scopes.entry(&bar.scope).or_default() += 1;
    }
    let names = scopes.iter().map(|(scope, count)| match count {
        1 => words(scope),
        _ => format!("{} × {}", words(scope), number(*count)),
    });
    names.collect::<Vec<_>>().join(", ")
}

fn words(scope: &str) -> String {
    scope.replace('_', " ")
}

/// What a bar is, and which.
pub(super) fn place(bar: &Bar) -> String {
    let index = bar.index.map(|index| format!(" {index}")).unwrap_or_default();
    words(&bar.scope) + &index
}

/// What a bar is called.
pub(super) fn name(bar: &Bar) -> String {
    let mut name = place(bar);
    for more in [&bar.kind, &bar.name].into_iter().flatten() {
        let _ = write!(name, " · {more}");
    }
    name
}
