//! Compares the values of a stream by the relations of rules.

use std::borrow::Cow;

use spec::table::{Role, Scope, Slot};

use super::Tracker;
use crate::engine::bound::Bound;
use crate::engine::cells::Cell;
use crate::engine::finding::FaultPlace;
use crate::engine::node::Node;
use crate::engine::relation::{Act, Step, Target, Template};
use crate::engine::stream::RESPONSE;
use crate::engine::view::{Object, inside, same, short};

impl<'r> Tracker<'_, 'r> {
    /// Most events are deltas, which have none.
    #[inline]
    pub(super) fn relate(&mut self, event: usize, node: usize) {
        let steps = &self.plan.steps[event];
        if !steps.is_empty() {
            self.take_steps(steps, node);
        }
    }

    #[inline(never)]
    fn take_steps(&mut self, steps: &[Step], node: usize) {
        let plan = self.plan;
        for step in steps {
            let bound = plan.relations[step.relation];
            let Some(holder) = self.holder(bound, node) else { continue };
            match self.value(step.at.as_ref()) {
                Some(raw) => self.step(step, bound, holder, raw),
                None => self.step_without(step, bound, holder),
            }
        }
    }

    fn holder(&self, bound: Bound, node: usize) -> Option<usize> {
        let mut at = node;
        loop {
            let found = self.stream.nodes.get(at)?;
            if bound.rule.scopes.is_empty() || bound.rule.scopes.contains(&found.scope) {
                return Some(at);
            }
            match found.parent {
                Some(parent) => at = parent,
                // The parent keeps values of single events.
                None => return Some(node),
            }
        }
    }

    fn value(&self, at: Option<&Target>) -> Option<&'r str> {
        let view = &self.record.view;
        let Some(target) = at else { return view.raw(Slot::Value) };
        if let (Some((name, rest)), Some(response)) = (target.in_response, &self.response) {
            return inside(view.snapshot(self.plan.api())?.get(response.place(name)?)?, rest);
        }
        if let Some(rest) = target.in_value {
            let raw = view.raw(Slot::Value)?;
            return match (target.in_member, &self.value) {
                (Some((name, rest)), Some(value)) => inside(raw.get(value.place(name)?)?, rest),
                _ => spec::json::at(raw, rest),
            };
        }
        match target.member {
            Some(member) => self.record.member(member),
            None => spec::json::at(self.record.data(), &self.record.filled(target.pointer)),
        }
    }

    fn step(&mut self, step: &Step, bound: Bound, holder: usize, raw: &'r str) {
        let record = self.record;
        let pointer = || record.filled(step.at.map_or("", |target| target.pointer));
        let Some(node) = self.stream.nodes.get_mut(holder) else { return };
        match step.act {
            Act::StaysTheSame => match node.cells.get(step.relation) {
                Some(Cell::Value(first)) if !same(first, raw) => {
                    let first = first.clone();
                    let (hint, pointer) = (self.hint(raw), pointer());
                    self.report_mismatch(bound, &pointer, &first, raw, |_| {
                        format!("{pointer} is {}{hint}, but was {} before", short(raw), short(&first))
                    });
                }
                // A phase that begins again may have no value at first.
                None if raw == "null" && record.known.is_some_and(|(_, info)| info.role == Role::Phase) => {}
                None => node.cells.set(step.relation, raw),
                Some(_) => {}
            },
            Act::IsRepeated => {
                if node.cells.get(step.relation).is_none() {
                    node.cells.set(step.relation, "");
                }
            }
            Act::OccursOnce => {
                if !node.cells.add_unique(step.relation, raw) {
                    let first = spec::json::string(raw).and_then(|id| self.stream.nodes.item_named(&id));
                    let related = first
                        .and_then(|first| self.related(first, |node| node.opened.get(), "was added here"));
                    let pointer = pointer();
                    let place = FaultPlace {
                        pointer: (!pointer.is_empty()).then_some(&pointer),
                        expected: Some("a value that no earlier event has"),
                        actual: Some(raw),
                        ..FaultPlace::WHOLE
                    };
                    self.findings.add(bound, self.record, &place, related, &|| {
                        format!("{} occurs a second time", short(raw))
                    });
                }
            }
            Act::IsOneOf(values) => {
                if !values.iter().any(|value| same(value, raw)) {
                    let (list, pointer) = (values.join(", "), pointer());
                    self.report_mismatch(bound, &pointer, &list, raw, |_| {
                        format!("{pointer} is {}, not one of {list}", short(raw))
                    });
                }
            }
            Act::Keep => node.cells.set(step.relation, raw),
            Act::Collect => node.cells.collect(step.relation, raw),
            Act::IsWhatWasKept => {
                if let Some(Cell::Value(kept)) = node.cells.get(step.relation)
                    && !same(kept, raw)
                {
                    let (kept, pointer) = (kept.clone(), pointer());
                    self.report_mismatch(bound, &pointer, &kept, raw, |name| {
                        format!("{name}: {pointer} is {}, but was {}", short(raw), short(&kept))
                    });
                }
            }
            Act::IsWhatWasJoined => self.compare_joined(bound, holder, raw),
        }
    }

    fn step_without(&mut self, step: &Step, bound: Bound, holder: usize) {
        let is_kept =
            |node: &Node| matches!(step.act, Act::IsRepeated) && node.cells.get(step.relation).is_some();
        let Some(target) = step.at.filter(|_| self.stream.nodes.get(holder).is_some_and(is_kept)) else {
            return;
        };
        let place = FaultPlace {
            pointer: Some(""),
            missing: target.member,
            expected: Some(target.pointer),
            actual: Some("none"),
            ..FaultPlace::WHOLE
        };
        self.findings.add(bound, self.record, &place, None, &|| {
            format!("{} is missing, but an earlier event has it", target.pointer)
        });
    }

    /// The final value must equal its deltas.
    fn compare_joined(&mut self, bound: Bound, at: usize, raw: &str) {
        let Some(node) = self.stream.nodes.get_mut(at) else { return };
        if node.fragments == 0 || node.partial {
            return;
        }
        let Some(whole) = spec::json::string(raw).filter(|whole| node.joined != **whole) else { return };
        node.disputed = true;
        let fragments = node.fragments;
        let (join, has) = (node.joined.chars().count(), whole.chars().count());
        let from = first_difference(&node.joined, &whole);
        let (joined, whole) = differing(&node.joined, &whole);
        let event = self.record.event_type.as_deref().unwrap_or("the final value").to_owned();
        self.report_mismatch(bound, "", &joined, &whole, |name| {
            let deltas = if fragments == 1 { "the delta".to_owned() } else { format!("the {fragments} deltas") };
            let joins = if fragments == 1 { "has" } else { "join to" };
            format!(
                "{deltas} of the {name} {joins} {join} characters, but {event} has {has}; they differ from character {from}"
            )
        });
    }

    pub(super) fn carry(&mut self, node: usize, value: &Object<'_>, prefix: &str) {
        let plan = self.plan;
        let Some(closed) = self.stream.nodes.get(node) else { return };
        for (scope, relation) in &plan.collected[closed.scope as usize] {
            self.compare_collected(*relation, node, *scope, value, prefix);
        }
        let mut lists = Lists::default();
        for nth in 0.. {
            let Some(closed) = self.stream.nodes.get(node) else { return };
            let Some(child) = closed.children.get(nth).copied() else { return };
            let Some(found) = self.stream.nodes.get(child) else { continue };
            let places = &plan.places[found.scope as usize];
            let in_closer = if node == RESPONSE { &places.in_response } else { &places.in_parent };
            let Some(template) = in_closer else { continue };
            let relations = &plan.carried[found.scope as usize];
            let is_settled = plan.protocol.scope_events(found.scope).closes;
            if is_settled && relations.is_empty() {
                continue;
            }
            let Some(raw) = lists.at(value, template, found) else { continue };
            let pointer = |node: &Node| format!("{prefix}{}", template.fill(node));
            if !is_settled {
                let inner = pointer(found);
                self.carry(child, &Object::new(raw), &inner);
            }
            for relation in relations {
                self.compare_carried(*relation, child, raw, &pointer);
            }
        }
    }

    fn compare_carried(
        &mut self,
        relation: usize,
        child: usize,
        raw: &str,
        pointer: &dyn Fn(&Node) -> String,
    ) {
        let bound = self.plan.relations[relation];
        let Some(node) = self.stream.nodes.get(child) else { return };
        if node.closing.get().is_some_and(|closing| closing.text() == raw) {
            return;
        }
        let Some(found) = spec::json::string(raw) else { return };
        let closing = node.closing.get().map(Object::text).and_then(spec::json::string);
        let joined = (node.fragments > 0 && !node.partial).then_some(node.joined.as_str());
        let Some(own) = closing.as_deref().or(joined) else { return };
        if own == found || node.disputed && node.joined == *found {
            return;
        }
        let from = first_difference(own, &found);
        let (own, found) = differing(own, &found);
        let pointer = format!("{}{}", self.value_pointer(), pointer(node));
        let child = self.stream.name(node);
        self.report_mismatch(bound, &pointer, &own, &found, |_| {
            format!("{pointer} differs from the {child} before it, from character {from} on")
        });
    }

    fn compare_collected(
        &mut self,
        relation: usize,
        node: usize,
        scope: Scope,
        value: &Object<'_>,
        prefix: &str,
    ) {
        let bound = self.plan.relations[relation];
        let Some(holder) = self.stream.nodes.get(node) else { return };
        if self.stream.has_gap || holder.has_gaps || holder.partial {
            return;
        }
        let kept = holder.cells.get(relation);
        let values: &[Box<str>] = match kept {
            Some(Cell::Values(values)) => values,
            _ => &[],
        };
        let Some(list) = &self.plan.places[scope as usize].in_parent else { return };
        let Some(entries) = list.holder(value).and_then(spec::json::entries) else { return };
        if entries.len() == values.len() && entries.iter().zip(values).all(|(one, other)| same(one, other)) {
            return;
        }
        let (came, has) = (values.len(), entries.len());
        let pointer = format!("{}{prefix}{}", self.value_pointer(), list.holder);
        let (expected, actual) = (format!("the {came} that were streamed"), format!("{has}"));
        self.report_mismatch(bound, &pointer, &expected, &actual, |_| {
            if came == has {
                format!("{pointer} differs from the streamed entries")
            } else {
                format!("{pointer} has {has} entries, but {came} were streamed")
            }
        });
    }

    fn value_pointer(&self) -> Cow<'static, str> {
        if let Some(value) = self.record.known.and_then(|(_, info)| info.value) {
            return self.record.filled(value);
        }
        let snapshot = self.record.view.snapshot(self.plan.api());
        match snapshot.and_then(|_| self.plan.dialect().snapshot_member()) {
            Some(member) => format!("/{member}").into(),
            None => "".into(),
        }
    }

    /// An unexpected id may belong to another object of the stream.
    fn hint(&self, raw: &str) -> String {
        let known = spec::json::string(raw).and_then(|id| self.stream.known_as(&id));
        known.map(|what| format!(", {what}")).unwrap_or_default()
    }

    #[cold]
    fn report_mismatch(
        &mut self,
        bound: Bound,
        pointer: &str,
        expected: &str,
        actual: &str,
        message: impl Fn(&str) -> String,
    ) {
        let place = FaultPlace {
            pointer: (!pointer.is_empty()).then_some(pointer),
            expected: Some(expected),
            actual: Some(actual),
            ..FaultPlace::WHOLE
        };
        let name = self.current.and_then(|at| self.stream.nodes.get(at)).map(|node| self.stream.name(node));
        self.findings
            .add(bound, self.record, &place, None, &|| message(name.as_deref().unwrap_or("the event")));
    }
}

#[derive(Default)]
struct Lists<'v> {
    /// The last used list, and its entries: most values are in one list.
    last: Option<(&'static str, Vec<&'v str>)>,
}

impl<'v> Lists<'v> {
    fn at(&mut self, value: &'v Object<'_>, template: &Template, node: &Node) -> Option<&'v str> {
        if !template.is_list {
            return template.holder(value);
        }
        let entries = match &self.last {
            Some((known, entries)) if *known == template.holder => entries,
            _ => {
                let entries = template.holder(value).and_then(spec::json::entries).unwrap_or_default();
                &self.last.insert((template.holder, entries)).1
            }
        };
        entries.get(usize::try_from(node.key.entry()?).ok()?).copied()
    }
}

/// Counted from 1.
fn first_difference(one: &str, other: &str) -> usize {
    one.chars().zip(other.chars()).take_while(|(one, other)| one == other).count() + 1
}

/// JSON strings with the text around the first difference.
fn differing(one: &str, other: &str) -> (String, String) {
    const BEFORE: usize = 12;
    const BEHIND: usize = 24;
    let same = first_difference(one, other) - 1;
    let cut = |text: &str| {
        let start = same.saturating_sub(BEFORE);
        let piece: String = text.chars().skip(start).take(same - start + BEHIND).collect();
        let before = if start > 0 { "…" } else { "" };
        let behind = if text.chars().count() > same + BEHIND { "…" } else { "" };
        format!("{before}{piece:?}{behind} ({} characters)", text.chars().count())
    };
    (cut(one), cut(other))
}
