//! The result of a comparison.

use super::compare::Comparison;
use super::pairs::Start;
use super::{Counts, Diff, Events, OneSided};

impl Comparison<'_> {
    pub(super) fn into_diff(self) -> Diff {
        let (a, b) = (self.a, self.b);
        let starts = self.starts();
        let reached: Vec<_> =
            starts.into_iter().map(|(start, pair)| (start, self.pairs.reached_from(pair))).collect();
        let mut events = Events {
            added: beyond(b.events.keys(), |name| a.events.contains_key(name)),
            removed: beyond(a.events.keys(), |name| b.events.contains_key(name)),
            ..Events::default()
        };
        for (start, pairs) in &reached {
            if let Start::Event(name) = start {
                let changed = pairs.iter().any(|pair| self.pairs.differs(*pair));
                if changed { &mut events.changed } else { &mut events.unchanged }.push((*name).to_owned());
            }
        }
        let types = OneSided {
            added: beyond(b.types.keys(), |name| self.met_b.contains(name) || a.types.contains_key(name)),
            removed: beyond(a.types.keys(), |name| self.met_a.contains(name) || b.types.contains_key(name)),
        };
        let roots = OneSided {
            added: beyond(b.roots.keys(), |role| a.roots.contains_key(role)),
            removed: beyond(a.roots.keys(), |role| b.roots.contains_key(role)),
        };
        let schemas = self.pairs.into_schemas(&reached);
        let findings = || schemas.iter().flat_map(|schema| &schema.changes);
        let counts = Counts {
            changes: findings().count() + events.added.len() + events.removed.len(),
            breaking_for_reader: findings().filter(|found| found.breaks.reader).count() + events.added.len(),
            breaking_for_writer: findings().filter(|found| found.breaks.writer).count()
                + events.removed.len(),
        };
        let errata_left_out = a.errata_left_out + b.errata_left_out;
        Diff {
            version: 1,
            a: a.name.clone(),
            b: b.name.clone(),
            errata_left_out,
            events,
            types,
            roots,
            schemas,
            counts,
        }
    }
}

fn beyond<'n>(names: impl Iterator<Item = &'n String>, known: impl Fn(&str) -> bool) -> Vec<String> {
    names.filter(|name| !known(name)).cloned().collect()
}
