//! Rules about relations of values.

use std::borrow::Cow;

use catalogue::{DecidedBy, LooksAt, Operand as Values, Relation, Whose};
use spec::Api;
use spec::table::{EventInfo, Role, Scope, ScopeInfo, Slot};

use super::bound::Bound;
use super::node::Node;
use super::view::{Object, first_segment, inside};

#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    /// Position of the relation in the plan.
    pub(super) relation: usize,
    /// Place of the value; the lifecycle value of the event if absent.
    pub(super) at: Option<Target>,
    pub(super) act: Act,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Target {
    pub(super) pointer: &'static str,
    /// The member of the event, if the place is one.
    pub(super) member: Option<&'static str>,
    /// The member of the response, and the rest of the pointer.
    pub(super) in_response: Option<(&'static str, &'static str)>,
    /// The pointer from the lifecycle value of the event, if the place is inside it.
    pub(super) in_value: Option<&'static str>,
    /// The member of that value, and the rest of the pointer.
    pub(super) in_member: Option<(&'static str, &'static str)>,
}

impl Target {
    fn new(api: &Api, pointer: &'static str, event: &EventInfo) -> Self {
        let in_value = event.value.and_then(|value| pointer.strip_prefix(value));
        let of_root = api.snapshot.map(Slot::name);
        let in_snapshot = of_root.and_then(|member| pointer.strip_prefix('/')?.strip_prefix(member));
        Self {
            pointer,
            member: pointer.strip_prefix('/').filter(|member| !member.contains(['/', '~'])),
            in_response: in_snapshot.and_then(first_segment),
            in_value,
            in_member: in_value.and_then(first_segment),
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Act {
    StaysTheSame,
    IsRepeated,
    OccursOnce,
    IsOneOf(&'static [&'static str]),
    Keep,
    Collect,
    IsWhatWasKept,
    IsWhatWasJoined,
}

impl Step {
    pub(super) fn all_of(api: &Api, event: &EventInfo, relations: &[Bound]) -> Vec<Self> {
        let mut steps = Vec::new();
        for (relation, bound) in relations.iter().enumerate() {
            let DecidedBy::Relation(kind) = bound.rule.decided_by else { continue };
            let mut add = |values: Values, act: Act| {
                let is_meant = match values.of {
                    // An event with a list has the role of the row only if no effect takes place.
                    Whose::Role(role) => {
                        let has_list = !event.effects.is_empty();
                        role == event.role && !has_list && bound.rule.scopes.contains(&event.scope)
                    }
                    Whose::Events(names) => names.iter().any(|name| event.is_named(name)),
                    Whose::Parent | Whose::Response => false,
                };
                if is_meant {
                    steps.push(Self { relation, at: values.at.map(|at| Target::new(api, at, event)), act });
                }
            };
            match kind {
                Relation::Constant(of) => add(of, Act::StaysTheSame),
                Relation::Repeated(of) => add(of, Act::IsRepeated),
                Relation::Unique(of) => add(of, Act::OccursOnce),
                Relation::Value { of, is } => add(of, Act::IsOneOf(is)),
                Relation::Equal { of, equals } => {
                    // The final value of a text is always kept.
                    if of.of != Whose::Role(Role::Final) {
                        add(of, Act::Keep);
                    }
                    add(equals, Act::IsWhatWasKept);
                }
                // Deltas are always joined.
                Relation::Concat { equals, .. } => add(equals, Act::IsWhatWasJoined),
                Relation::Collect { of, .. } => add(of, Act::Collect),
            }
        }
        steps
    }
}

impl Step {
    /// The relation says nothing new of an event that equals the last one, except for values at these places.
    pub(super) fn is_settled_by_the_last(&self, places: &[&str]) -> bool {
        let is_apart =
            |pointer: &str, place: &&str| !pointer.starts_with(*place) && !place.starts_with(pointer);
        let is_apart = |target: Target| places.iter().all(|place| is_apart(target.pointer, place));
        matches!(self.act, Act::StaysTheSame | Act::IsRepeated | Act::IsOneOf(_))
            && self.at.is_some_and(is_apart)
    }

    /// Only rules that look at bodies have steps here. They are listed by the event that opens an item.
    pub(super) fn all_of_body(api: &Api, event: &EventInfo, relations: &[Bound]) -> Vec<Self> {
        let mut steps = Self::all_of(api, event, relations);
        steps.retain(|step| {
            let looks_at_bodies = relations[step.relation].rule.looks_at.contains(&LooksAt::Body);
            looks_at_bodies && matches!(step.act, Act::OccursOnce)
        });
        steps
    }
}

/// These relations compare the children of a scope with the value that closes it.
pub(super) fn carried(relations: &[Bound]) -> Vec<Vec<usize>> {
    let is_carried = |bound: &Bound| match bound.rule.decided_by {
        DecidedBy::Relation(
            Relation::Equal { equals, .. }
            | Relation::Concat { equals, .. }
            | Relation::Collect { equals, .. },
        ) => matches!(equals.of, Whose::Parent | Whose::Response),
        _ => false,
    };
    let of_scope = |scope: &Scope| {
        let all = relations.iter().enumerate();
        all.filter(|(_, bound)| bound.rule.scopes.contains(scope) && is_carried(bound))
            .map(|(at, _)| at)
            .collect()
    };
    Scope::ALL.iter().map(of_scope).collect()
}

pub(super) fn collected(api: &Api, relations: &[Bound], carried: &[Vec<usize>]) -> Vec<Vec<(Scope, usize)>> {
    let is_list = |relation: &usize| {
        matches!(relations[*relation].rule.decided_by, DecidedBy::Relation(Relation::Collect { .. }))
    };
    let of_scope = |scope: &Scope| {
        let inner = Scope::ALL.iter().filter(|inner| api.scope(**inner).parent == Some(*scope));
        let lists = |inner: &'static Scope| {
            carried[*inner as usize].iter().copied().filter(is_list).map(|relation| (*inner, relation))
        };
        inner.flat_map(lists).collect()
    };
    Scope::ALL.iter().map(of_scope).collect()
}

/// The places of a scope's values in the value that closes the parent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Places {
    pub(super) in_parent: Option<Template>,
    pub(super) in_response: Option<Template>,
}

/// The place of a scope's value: a member, or an entry of a list.
#[derive(Debug, Clone, Copy)]
pub(super) struct Template {
    /// JSON pointer, with a placeholder for its index.
    text: &'static str,
    /// JSON pointer to the list, or to the member.
    pub(super) holder: &'static str,
    /// First segment of the pointer, and the rest.
    segments: (&'static str, &'static str),
    pub(super) is_list: bool,
}

impl Places {
    pub(super) fn of(info: &ScopeInfo) -> Self {
        let template = |text: Option<&'static str>| text.and_then(Template::new);
        Self { in_parent: template(info.in_parent), in_response: template(info.in_response) }
    }
}

impl Template {
    fn new(text: &'static str) -> Option<Self> {
        let list = text.split_once("/{").map(|(list, _)| list);
        let holder = list.unwrap_or(text);
        Some(Self { text, holder, segments: first_segment(holder)?, is_list: list.is_some() })
    }

    pub(super) fn holder<'v>(&self, value: &'v Object<'_>) -> Option<&'v str> {
        let (name, rest) = self.segments;
        inside(value.get(name)?, rest)
    }

    pub(super) fn fill(&self, node: &Node) -> Cow<'static, str> {
        match (self.text.split_once('{'), node.key.entry()) {
            (Some((start, rest)), Some(index)) => {
                let end = rest.split_once('}').map_or("", |(_, end)| end);
                Cow::Owned(format!("{start}{index}{end}"))
            }
            _ => Cow::Borrowed(self.text),
        }
    }
}
