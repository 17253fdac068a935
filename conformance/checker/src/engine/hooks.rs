//! Moments when rules are called.

use catalogue::LooksAt;
use spec::Api;
use spec::json::Names;
use spec::table::{Scope, ScopeInfo};

use super::listed::Lists;
use super::record::Record;
use super::{Bound, Node, Object};
use super::{Case, Ending, Snapshot};
use crate::Frame;

/// A moment when rules are called that need only the case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    /// A frame with data that is incomplete, has an `id` field or invalid UTF-8, or whose `event` field differs from
    /// the type of its event, or is there although the dialect has none. In other dialects, any frame with data.
    Frame,
    /// A frame, with or without data, that has lines which are not fields of server-sent events.
    Stray,
    /// A frame with a character in its data that is escaped as a number, or may be a replacement character.
    Escaped,
    /// A frame that the dialect does not accept: not JSON, of an unknown type, or not valid against its
    /// schema.
    Invalid,
    /// An event with an unknown value of an open enumeration.
    Newer,
    /// The marker `[DONE]`, or a frame after it.
    Marker,
    /// An event that is a JSON object, before it changes the stream.
    Event,
    /// An event with an index or a sequence number that is not a few digits.
    Counts,
    /// An event whose sequence number is not the next one.
    Sequence,
    /// One of the first events.
    Beginning,
    Socket,
    /// A reply on a WebSocket to a message about a response in flight.
    Aside,
    AfterError,
    /// The end of the stream, without a record.
    StreamEnd,
}

/// A moment when a rule is called, and its function.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Native {
    At(Moment, fn(&mut Case<'_>)),
    /// An event, if an entry of its lists has a member of one of these names.
    Listed(Lists, &'static [&'static str], fn(&mut Case<'_>)),
    /// An event with a snapshot of the response.
    AnySnapshot(SnapshotRule),
    /// An event with a snapshot that differs from the first one.
    Snapshot(SnapshotRule),
    Opened(Scope, ValueRule),
    /// A value closes a node of a scope.
    Closed(Scope, ValueRule),
    /// A value of one of these types opened an item.
    OpenedAs(&'static [&'static str], ValueRule),
    /// A value of one of these types closes an item.
    ClosedAs(&'static [&'static str], ValueRule),
    /// A value of a type that has phases closes an item.
    ClosedWithPhases(ValueRule),
    /// Nothing can be added to a text of a scope: its final value was stated, or it or a node around it was closed.
    Settled(Scope, NodeRule),
    /// A value begins a phase of a node of a scope.
    Phase(Scope, ValueRule),
    /// A fragment of a node of a scope.
    Fragment(Scope, NodeRule),
    /// A fragment of a node of a scope, for rules about where it comes: while fragments of one text follow each other, and
    /// it is not empty, they say the same of each.
    Run(Scope, NodeRule),
    LogprobsOf(Scope, NodeRule),
    /// An event of the role `point` in a node.
    Point(NodeRule),
    /// The terminal event, with a snapshot.
    Ending(Ends, EndingRule),
    Body(BodyRule),
}

impl Moment {
    const COUNT: usize = Self::StreamEnd as usize + 1;
}

pub(crate) fn phased(api: &Api) -> impl Iterator<Item = &ScopeInfo> {
    api.scopes().filter(|scope| scope.parent == Some(api.container) && !scope.phases.is_empty())
}

pub(crate) type BoundRules<F> = Vec<(Bound, F)>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ends {
    All,
    /// Terminal events whose output differs from the finished items.
    Otherwise,
    /// Terminal events whose `tool_choice` is not `auto`.
    WithChoice,
}

/// Rules that need only the case.
pub(crate) type Plain = BoundRules<fn(&mut Case<'_>)>;

/// A rule about an event, and the names of members that it looks for in lists, unless it looks at every event.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EventRule {
    names: Option<(Lists, u32)>,
    pub(crate) code: fn(&mut Case<'_>),
}

impl EventRule {
    pub(crate) fn looks_at(&self, record: &Record<'_>) -> bool {
        self.names.is_none_or(|(lists, names)| record.lists_any(lists, names))
    }
}

pub(crate) type SnapshotRule = fn(&mut Case<'_>, &Snapshot<'_>);

type NodeRule = fn(&mut Case<'_>, &Node);

/// A rule about a node and the value that opens or closes it.
pub(crate) type ValueRule = fn(&mut Case<'_>, &Node, &Object<'_>);

pub(crate) type EndingRule = fn(&mut Case<'_>, &Ending<'_>);

type BodyRule = fn(&mut Case<'_>, &Frame<'_>);

#[derive(Debug)]
pub(crate) struct ScopeRules<F>(Vec<BoundRules<F>>);

impl<F> Default for ScopeRules<F> {
    fn default() -> Self {
        Self(Scope::ALL.iter().map(|_| Vec::new()).collect())
    }
}

impl<F> ScopeRules<F> {
    fn push(&mut self, scope: Scope, rule: (Bound, F)) {
        if let Some(rules) = self.0.get_mut(scope as usize) {
            rules.push(rule);
        }
    }

    pub(crate) fn of(&self, scope: Scope) -> &[(Bound, F)] {
        self.0.get(scope as usize).map_or(&[], Vec::as_slice)
    }
}

/// Rules about the values of items, by the type of the value: most are about one or two types.
#[derive(Debug, Default)]
pub(crate) struct ItemRules {
    others: BoundRules<ValueRule>,
    types: Vec<(&'static str, BoundRules<ValueRule>)>,
}

impl ItemRules {
    /// The rules of each type keep their order. Without types, the rule is for all.
    fn push(&mut self, types: Option<&[&'static str]>, rule: (Bound, ValueRule)) {
        for name in types.unwrap_or_default() {
            if !self.types.iter().any(|(known, _)| known == name) {
                self.types.push((name, self.others.clone()));
            }
        }
        let is_meant = |name: &str| types.is_none_or(|types| types.contains(&name));
        let meant = self.types.iter_mut().filter(|(name, _)| is_meant(name));
        meant.for_each(|(_, rules)| rules.push(rule));
        if types.is_none() {
            self.others.push(rule);
        }
    }

    pub(crate) fn of(&self, name: Option<&str>) -> &[(Bound, ValueRule)] {
        let named = self.types.iter().find(|(known, _)| Some(*known) == name);
        named.map_or(&self.others, |(_, rules)| rules)
    }
}

#[derive(Debug)]
pub(crate) struct ValueRules {
    container: Scope,
    items: ItemRules,
    scopes: ScopeRules<ValueRule>,
}

impl ValueRules {
    fn new(container: Scope) -> Self {
        Self { container, items: ItemRules::default(), scopes: ScopeRules::default() }
    }

    fn push(&mut self, scope: Scope, rule: (Bound, ValueRule)) {
        if scope == self.container {
            self.items.push(None, rule);
        } else {
            self.scopes.push(scope, rule);
        }
    }

    pub(crate) fn of(&self, scope: Scope, value: &Object<'_>) -> &[(Bound, ValueRule)] {
        if scope == self.container { self.items.of(value.plain("type")) } else { self.scopes.of(scope) }
    }
}

#[derive(Debug)]
pub(crate) struct Hooks {
    /// Rules that need only the case, by moment.
    plain: [Plain; Moment::COUNT],
    pub(crate) event: BoundRules<EventRule>,
    pub(crate) any_snapshot: BoundRules<SnapshotRule>,
    pub(crate) snapshot: BoundRules<SnapshotRule>,
    pub(crate) opened: ValueRules,
    pub(crate) closed: ValueRules,
    pub(crate) settled: ScopeRules<NodeRule>,
    /// Whether there are such rules.
    pub(crate) has_settled: bool,
    pub(crate) phase: ScopeRules<ValueRule>,
    pub(crate) fragment: ScopeRules<NodeRule>,
    pub(crate) run: ScopeRules<NodeRule>,
    pub(crate) logprobs: ScopeRules<NodeRule>,
    pub(crate) point: BoundRules<NodeRule>,
    pub(crate) ending: BoundRules<(Ends, EndingRule)>,
    pub(crate) body: BoundRules<BodyRule>,
    pub(crate) of_body: BodyHooks,
    /// The types of items that have phases.
    phased: Vec<&'static str>,
}

/// The rules about streams whose pages say that they look at bodies, too: a body is judged like the frame, the items and
/// the ending of a stream.
#[derive(Debug, Default)]
pub(crate) struct BodyHooks {
    /// Rules about the text and the schema of the whole body.
    pub(crate) whole: Plain,
    pub(crate) newer: Plain,
    pub(crate) response: BoundRules<SnapshotRule>,
    pub(crate) items: ItemRules,
    pub(crate) ending: BoundRules<(Ends, EndingRule)>,
}

impl BodyHooks {
    fn add(&mut self, bound: Bound, native: Native, container: Scope, phased: &[&'static str]) {
        match native {
            Native::At(Moment::Frame | Moment::Escaped | Moment::Invalid, code) => {
                self.whole.push((bound, code));
            }
            Native::At(Moment::Newer, code) => self.newer.push((bound, code)),
            Native::Snapshot(code) => self.response.push((bound, code)),
            Native::Opened(scope, code) | Native::Closed(scope, code) if scope == container => {
                self.items.push(None, (bound, code));
            }
            Native::OpenedAs(types, code) | Native::ClosedAs(types, code) => {
                self.items.push(Some(types), (bound, code));
            }
            Native::ClosedWithPhases(code) => self.items.push(Some(phased), (bound, code)),
            Native::Ending(ends @ (Ends::All | Ends::WithChoice), code) => {
                self.ending.push((bound, (ends, code)));
            }
            _ => {}
        }
    }
}

impl Hooks {
    pub(crate) fn new(api: &Api) -> Self {
        Self {
            plain: [const { Plain::new() }; Moment::COUNT],
            event: BoundRules::default(),
            any_snapshot: BoundRules::default(),
            snapshot: BoundRules::default(),
            opened: ValueRules::new(api.container),
            closed: ValueRules::new(api.container),
            settled: ScopeRules::default(),
            has_settled: false,
            phase: ScopeRules::default(),
            fragment: ScopeRules::default(),
            run: ScopeRules::default(),
            logprobs: ScopeRules::default(),
            point: BoundRules::default(),
            ending: BoundRules::default(),
            body: BoundRules::default(),
            of_body: BodyHooks::default(),
            phased: phased(api).flat_map(|scope| scope.of).copied().collect(),
        }
    }

    #[inline]
    pub(crate) const fn at(&self, moment: Moment) -> &Plain {
        &self.plain[moment as usize]
    }

    pub(crate) fn add(&mut self, bound: Bound, natives: &[Native]) {
        let looks_at_bodies = bound.rule.looks_at.contains(&LooksAt::Body);
        for native in natives {
            if looks_at_bodies {
                self.of_body.add(bound, *native, self.opened.container, &self.phased);
            }
            match *native {
                Native::At(Moment::Event, code) => {
                    self.event.push((bound, EventRule { names: None, code }));
                }
                Native::Listed(lists, names, code) => {
                    let names = Some((lists, Names::bits(names)));
                    self.event.push((bound, EventRule { names, code }));
                }
                Native::At(moment, code) => {
                    self.plain[moment as usize].push((bound, code));
                    if moment == Moment::Escaped {
                        self.plain[Moment::Frame as usize].push((bound, code));
                    }
                }
                Native::AnySnapshot(code) => self.any_snapshot.push((bound, code)),
                Native::Snapshot(code) => self.snapshot.push((bound, code)),
                Native::Opened(scope, code) => self.opened.push(scope, (bound, code)),
                Native::Closed(scope, code) => self.closed.push(scope, (bound, code)),
                Native::OpenedAs(types, code) => self.opened.items.push(Some(types), (bound, code)),
                Native::ClosedAs(types, code) => self.closed.items.push(Some(types), (bound, code)),
                Native::ClosedWithPhases(code) => self.closed.items.push(Some(&self.phased), (bound, code)),
                Native::Settled(scope, code) => {
                    self.settled.push(scope, (bound, code));
                    self.has_settled = true;
                }
                Native::Phase(scope, code) => self.phase.push(scope, (bound, code)),
                Native::Fragment(scope, code) => self.fragment.push(scope, (bound, code)),
                Native::Run(scope, code) => self.run.push(scope, (bound, code)),
                Native::LogprobsOf(scope, code) => self.logprobs.push(scope, (bound, code)),
                Native::Point(code) => self.point.push((bound, code)),
                Native::Ending(ends, code) => self.ending.push((bound, (ends, code))),
                Native::Body(code) => self.body.push((bound, code)),
            }
        }
    }
}
