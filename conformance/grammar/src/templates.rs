//! Values for streams, from the goldens.

use std::collections::{BTreeMap, BTreeSet};

use checker::{Checker, Observer, Rules, Seen, SeenEffect, sse};
use recordings::capture::Format;
use recordings::goldens::{GOLDENS, Golden};
use serde_json::Value;
use spec::Dialect;
use spec::table::{EventInfo, Role};

use crate::kinds;
use crate::read::key_of;
use crate::step::{Key, Nesting, around, place};
use crate::walk::Walk;
use crate::window::Window;

/// The events of goldens, each the shortest of its kind, and the values in them.
#[derive(Debug, Default)]
pub(crate) struct Templates {
    events: Vec<Template>,
    pairs: Vec<Pair>,
    pub(crate) nestings: BTreeSet<Nesting>,
    /// The numbers of effects that an event has together.
    together: BTreeSet<(usize, usize)>,
    /// The numbers of effects that open or close an occurrence, and its type.
    values: BTreeSet<(usize, Option<&'static str>)>,
    /// How many goldens have a step with the two before it.
    pub(crate) windows: BTreeMap<Window, u64>,
    /// Members with a listed value in a golden.
    pub(crate) members: BTreeSet<&'static str>,
}

/// An event with one effect alone.
#[derive(Debug)]
struct Template {
    effect: usize,
    /// Number of dialects between this golden's and the grammar's.
    distance: Option<usize>,
    event: Value,
}

/// The values that open and close an occurrence of a scope, in one golden.
#[derive(Debug, Clone)]
pub(crate) struct Pair {
    pub(crate) nesting: Nesting,
    pub(crate) opening: Value,
    pub(crate) closing: Option<Value>,
    /// The last phase, if it could have been another one.
    pub(crate) end: Option<&'static str>,
}

impl Templates {
    /// Goldens of the dialects that it extends count, too.
    pub(crate) fn of(dialect: &'static Dialect) -> Self {
        let names = || std::iter::once(dialect.name).chain(dialect.lineage.iter().copied());
        let is_meant =
            |golden: &&Golden| golden.format == Format::Sse && names().any(|name| golden.holds_for(name));
        let distance = |golden: &Golden| names().position(|name| golden.holds_for(name));
        let mut goldens: Vec<_> = GOLDENS.iter().filter(is_meant).collect();
        goldens.sort_by_key(|golden| (distance(golden), golden.bytes.len()));
        // Without a value of the root, each event has what is the same throughout its stream.
        let snapshot = dialect.api.snapshot.map_or("", |slot| dialect.pointer(slot));
        let rules = Rules::of(dialect);
        let scans: Vec<_> =
            goldens.into_iter().map(|golden| (distance(golden), Scan::of(&rules, golden))).collect();
        let shared = scans.iter().filter_map(|(distance, scan)| Some((*distance, scan.first(snapshot)?)));
        let shared = shared.min_by_key(|(distance, first)| (*distance, first.to_string().len()));
        let shared = shared.map(|(_, first)| first.clone());
        let mut templates = Self::default();
        for (distance, mut scan) in scans {
            templates.nestings.extend(scan.pairs.iter().map(|pair| pair.nesting));
            templates.pairs.append(&mut scan.pairs);
            templates.together.append(&mut scan.together);
            templates.values.append(&mut scan.values);
            for (_, window) in &scan.walk.observed.windows {
                *templates.windows.entry(*window).or_default() += 1;
            }
            templates.members.extend(scan.walk.observed.values.iter().map(|(_, value)| &*value.member));
            let first = scan.first(snapshot).cloned();
            for (effect, mut event) in scan.events {
                if let (Some(first), Some(shared), Some(snapshot)) =
                    (&first, &shared, event.pointer_mut(snapshot))
                {
                    share(snapshot, first, shared, dialect);
                }
                templates.add(effect, event, distance);
            }
        }
        // The shortest say the least besides.
        templates.pairs.sort_by_cached_key(|pair| {
            let closing = pair.closing.as_ref().map(|value| value.to_string().len());
            (closing.is_none(), closing.unwrap_or_default() + pair.opening.to_string().len())
        });
        templates
    }

    /// A shorter event stays, and so does an event of a nearer dialect.
    fn add(&mut self, effect: &EventInfo, event: Value, distance: Option<usize>) {
        let Some(known) = self.events.iter_mut().find(|known| known.effect == effect.number) else {
            self.events.push(Template { effect: effect.number, distance, event });
            return;
        };
        if known.distance == distance && known.event.to_string().len() > event.to_string().len() {
            known.event = event;
        }
    }

    pub(crate) fn has(&self, effect: &EventInfo) -> bool {
        self.event(effect).is_some()
    }

    pub(crate) fn event(&self, effect: &EventInfo) -> Option<&Value> {
        self.events.iter().find(|known| known.effect == effect.number).map(|known| &known.event)
    }

    /// Both effects are in one event of a golden.
    pub(crate) fn are_together(&self, one: &EventInfo, other: &EventInfo) -> bool {
        self.together.contains(&(one.number, other.number))
    }

    /// Events without a value have any.
    pub(crate) fn has_value(&self, effect: &EventInfo, kind: Option<&'static str>) -> bool {
        effect.value.is_none() || effect.when.is_some() || self.values.contains(&(effect.number, kind))
    }

    /// The values of an occurrence that ended in the phase.
    pub(crate) fn pair(&self, nesting: Nesting, end: Option<&str>) -> Option<&Pair> {
        let mut pairs = self.pairs.iter().filter(|pair| pair.nesting == nesting);
        pairs.clone().find(|pair| end.is_none() || pair.end == end).or_else(|| pairs.next())
    }
}

/// Members that are the same throughout the other stream are shared, except for the status.
fn share(snapshot: &mut Value, first: &Value, shared: &Value, dialect: &Dialect) {
    let (status, is_root) = (dialect.api.status.member, dialect.api.snapshot.is_some());
    let Some(members) = snapshot.as_object_mut() else { return };
    for (name, value) in shared.as_object().into_iter().flatten().filter(|_| is_root) {
        if first.get(name).is_none() {
            members.insert(name.clone(), value.clone());
        }
    }
    for (name, value) in members {
        let is_text = !value.is_array() && !value.is_object();
        if name != status
            && (is_text || is_root)
            && first.get(name) == Some(value)
            && let Some(other) = shared.get(name)
        {
            *value = other.clone();
        }
    }
}

struct Scan {
    dialect: &'static Dialect,
    events: Vec<(&'static EventInfo, Value)>,
    pairs: Vec<Pair>,
    keys: Vec<Key>,
    together: BTreeSet<(usize, usize)>,
    values: BTreeSet<(usize, Option<&'static str>)>,
    walk: Walk,
}

impl Scan {
    fn of(rules: &Rules, golden: &Golden) -> Self {
        let mut scan = Self {
            dialect: rules.dialect(),
            events: Vec::new(),
            pairs: Vec::new(),
            keys: Vec::new(),
            together: BTreeSet::new(),
            values: BTreeSet::new(),
            walk: Walk::default(),
        };
        let mut checker = Checker::with_rules(rules);
        let mut parser = sse::Parser::default();
        let mut show = |frame: checker::Frame<'_>| {
            checker.frame_seen_by(&frame, &mut scan);
        };
        parser.push(golden.bytes, &mut show);
        parser.finish(&mut show);
        scan
    }

    fn first(&self, pointer: &str) -> Option<&Value> {
        self.events.iter().find_map(|(_, event)| event.pointer(pointer))
    }

    /// The values open and close an occurrence.
    fn keep(&mut self, effect: &SeenEffect<'_>, alone: &Value) {
        let info = effect.info;
        let value = info.value.and_then(|pointer| alone.pointer(&place(pointer)));
        let (Some(value), Some(key)) = (value.cloned(), key_of(effect)) else { return };
        if matches!(info.role, Role::Open | Role::Point) && !info.level.is_root {
            let kind = value.get("type").and_then(Value::as_str).and_then(kinds::known);
            let outer = around(self.dialect.api, info.scope, key).and_then(|(scope, key)| {
                let at = self.position(scope, key)?;
                self.pairs.get(at)?.nesting.kind
            });
            let nesting = Nesting { scope: info.scope, outer, kind };
            self.pairs.push(Pair { nesting, opening: value, closing: None, end: None });
            self.keys.push(key);
            self.values.insert((info.number, kind));
        } else if info.role == Role::Close
            && let Some(at) = self.position(info.scope, key)
            && let Some(pair) = self.pairs.get_mut(at)
        {
            pair.closing = Some(value);
            self.values.insert((info.number, pair.nesting.kind));
        }
    }

    fn note_end(&mut self, effect: &SeenEffect<'_>) {
        let info = effect.info;
        if info.role != Role::Phase || !info.ends_scope() || info.level.ends.len() < 2 {
            return;
        }
        let outer = key_of(effect).and_then(|key| around(self.dialect.api, info.scope, key));
        let at = outer.and_then(|(scope, key)| self.position(scope, key));
        if let Some(pair) = at.and_then(|at| self.pairs.get_mut(at)) {
            pair.end = info.phase;
        }
    }

    fn position(&self, scope: spec::table::Scope, key: Key) -> Option<usize> {
        let mut pairs = self.pairs.iter().zip(&self.keys);
        pairs.position(|(pair, of)| pair.nesting.scope == scope && *of == key)
    }
}

impl Observer for Scan {
    fn record(&mut self, seen: &Seen<'_>) {
        self.walk.record(seen);
        let Some(event) = seen.record.frame.data.as_deref().and_then(|data| serde_json::from_str(data).ok())
        else {
            return;
        };
        let event: Value = event;
        let effects: Vec<_> = seen.effects().collect();
        for effect in &effects {
            let mut alone = event.clone();
            let others = effects.iter().filter(|other| other.info.number != effect.info.number);
            others.clone().for_each(|other| leave_out(&mut alone, other.info));
            self.together.extend(others.map(|other| (effect.info.number, other.info.number)));
            self.keep(effect, &alone);
            self.note_end(effect);
            self.events.push((effect.info, alone));
        }
    }
}

/// The event has several effects.
fn leave_out(event: &mut Value, effect: &EventInfo) {
    let place = place(effect.value.unwrap_or_default());
    if let Some(when) = effect.when {
        if let Some(member) = event.pointer_mut(&format!("{place}/{when}")) {
            *member = Value::Null;
        }
        return;
    }
    let Some((parent, member)) = place.rsplit_once('/') else { return };
    if let Some(members) = event.pointer_mut(parent).and_then(Value::as_object_mut) {
        members.shift_remove(member);
    }
}
