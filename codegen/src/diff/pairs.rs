//! Pairs of schemas, with their differences and the events that reach them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::change::Finding;
use super::{Kind, SchemaDiff};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Pair<'d> {
    pub(super) kind: Kind,
    pub(super) a: &'d str,
    pub(super) b: &'d str,
}

#[derive(Debug, Default)]
pub(super) struct KnownPair<'d> {
    pub(super) findings: Vec<Finding>,
    /// Whether `null` was compared. Inside a union that allows `null`, it is not.
    pub(super) null_compared: bool,
    leads_to: BTreeSet<Pair<'d>>,
}

#[derive(Debug, Default)]
pub(super) struct Pairs<'d> {
    known: BTreeMap<Pair<'d>, KnownPair<'d>>,
    waiting: VecDeque<Pair<'d>>,
}

impl<'d> Pairs<'d> {
    pub(super) fn reach(&mut self, from: Option<Pair<'d>>, to: Pair<'d>) -> &mut KnownPair<'d> {
        if let Some(from) = from.filter(|from| *from != to) {
            self.known.entry(from).or_default().leads_to.insert(to);
        }
        let waiting = &mut self.waiting;
        self.known.entry(to).or_insert_with(|| {
            waiting.push_back(to);
            KnownPair::default()
        })
    }

    pub(super) fn next(&mut self) -> Option<Pair<'d>> {
        self.waiting.pop_front()
    }

    pub(super) fn reached_from(&self, start: Pair<'d>) -> BTreeSet<Pair<'d>> {
        let mut reached = BTreeSet::from([start]);
        let mut ahead = vec![start];
        while let Some(known) = ahead.pop().and_then(|pair| self.known.get(&pair)) {
            ahead.extend(known.leads_to.iter().copied().filter(|pair| reached.insert(*pair)));
        }
        reached
    }

    pub(super) fn differs(&self, pair: Pair<'d>) -> bool {
        self.known.get(&pair).is_some_and(|known| !known.findings.is_empty())
    }

    pub(super) fn into_schemas(self, starts: &[(Start<'d>, BTreeSet<Pair<'d>>)]) -> Vec<SchemaDiff> {
        let differing = self.known.into_iter().filter(|(_, known)| !known.findings.is_empty());
        let mut schemas: Vec<SchemaDiff> = differing
            .map(|(pair, known)| {
                let from = |wanted: fn(Start<'d>) -> Option<&'d str>| -> Vec<String> {
                    let reaching = starts.iter().filter(|(_, reached)| reached.contains(&pair));
                    reaching.filter_map(|(start, _)| wanted(*start)).map(str::to_owned).collect()
                };
                SchemaDiff {
                    kind: pair.kind,
                    a: pair.a.to_owned(),
                    b: pair.b.to_owned(),
                    events: from(|start| if let Start::Event(name) = start { Some(name) } else { None }),
                    roots: from(|start| if let Start::Root(role) = start { Some(role) } else { None }),
                    changes: known.findings,
                }
            })
            .collect();
        schemas.sort_by(|x, y| (x.kind, y.events.len()).cmp(&(y.kind, x.events.len())));
        schemas
    }
}

/// Start of a comparison: an event or the role of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Start<'d> {
    Event(&'d str),
    Root(&'d str),
}
