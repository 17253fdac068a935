//! The order of events.

use spec::table::Role;

use super::steps::{Entry, Step};
use crate::content::text;

/// Something that happens to an item.
#[derive(Clone, Copy)]
pub(super) enum Moment<'e> {
    Open,
    Step(&'e Step),
    Close,
}

/// Item by item, or calls side by side.
pub(super) fn order(entries: &[Entry], is_interleaved: bool) -> Vec<(usize, Moment<'_>)> {
    let is_call = |entry: &Entry| text(&entry.opened, "type") == Some("function_call");
    let mut all = Vec::new();
    let mut at = 0;
    while let Some(entry) = entries.get(at) {
        let calls = entries.iter().skip(at).take_while(|entry| is_call(entry)).count();
        if !is_interleaved || calls < 2 {
            all.extend(turns(entry).into_iter().flatten().map(|moment| (at, moment)));
            at += 1;
            continue;
        }
        let mut waiting: Vec<_> =
            (at..at + calls).filter_map(|at| Some((at, turns(entries.get(at)?).into_iter()))).collect();
        let mut is_over = false;
        while !is_over {
            is_over = true;
            for (at, turns) in &mut waiting {
                if let Some(turn) = turns.next() {
                    is_over = false;
                    all.extend(turn.into_iter().map(|moment| (*at, moment)));
                }
            }
        }
        at += calls;
    }
    all
}

/// An item is opened with its first delta, and closed with its last value.
fn turns(entry: &Entry) -> Vec<Vec<Moment<'_>>> {
    let mut turns = vec![vec![Moment::Open]];
    let mut has_begun = false;
    for step in &entry.steps {
        let is_delta = step.role == Role::Delta;
        if (is_delta && has_begun) || step.role == Role::Final {
            turns.push(Vec::new());
        }
        has_begun |= is_delta;
        if let Some(turn) = turns.last_mut() {
            turn.push(Moment::Step(step));
        }
    }
    if let Some(turn) = turns.last_mut() {
        turn.push(Moment::Close);
    }
    turns
}
