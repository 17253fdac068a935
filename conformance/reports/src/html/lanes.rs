//! Layout of the bars of a timeline in rows.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::number;
use results::{Bar, Timeline};

/// Number of bars above which bars share rows if they do not overlap.
const ROWS: usize = 40;
/// Maximum number of rows for bars of the same depth.
const LANES: usize = 8;

#[derive(Debug)]
pub(super) struct Row<'t> {
    pub(super) label: String,
    pub(super) depth: u64,
    pub(super) bars: Vec<&'t Bar>,
}

/// One for each bar if there are few.
pub(super) fn rows(timeline: &Timeline) -> Vec<Row<'_>> {
    if timeline.bars.len() > ROWS {
        return packed(timeline);
    }
    let mut rows = Vec::new();
    let mut inside: Vec<Vec<usize>> = vec![Vec::new(); timeline.bars.len()];
    let mut todo = Vec::new();
    for (at, bar) in timeline.bars.iter().enumerate().rev() {
        // Parents precede their children in any report.
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

/// Bars of the same depth share rows.
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
            // Without a free row, bars overlap.
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

pub(super) fn place(bar: &Bar) -> String {
    let index = bar.index.map(|index| format!(" {index}")).unwrap_or_default();
    words(&bar.scope) + &index
}

pub(super) fn name(bar: &Bar) -> String {
    let mut name = place(bar);
    for more in [&bar.kind, &bar.name].into_iter().flatten() {
        let _ = write!(name, " · {more}");
    }
    name
}
