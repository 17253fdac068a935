//! When rules are asked.

use spec::table::Scope;

use super::{Bound, Node, Object};
use super::{Case, Ending, Snapshot};
use crate::Frame;

/// When a rule is asked, and what is called then.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Native {
    /// A frame with data came that is incomplete, has an id or bytes that are not UTF-8, or whose event line is not
    /// the type of its event. In dialects whose event lines need not be the type, any frame with data.
    Frame(fn(&mut Case<'_>)),
    /// A frame came, with data or without, that has lines which are no field of server-sent events.
    Stray(fn(&mut Case<'_>)),
    /// A frame with data, but only of interest where something in the data is escaped, or a character may be lost.
    Escaped(fn(&mut Case<'_>)),
    /// A frame came that is not what the dialect knows: no JSON, of no known type, or not as its schema
    /// says.
    Invalid(fn(&mut Case<'_>)),
    /// At every event with a value that its dialect does not know yet, and at every body.
    Newer(fn(&mut Case<'_>)),
    /// The marker `[DONE]` came, or a frame after it.
    Marker(fn(&mut Case<'_>)),
    /// An event came that is a JSON object; the stream is as it was before.
    Event(fn(&mut Case<'_>)),
    /// An event came with an index or a sequence number that is more than a few digits.
    Counts(fn(&mut Case<'_>)),
    /// An event came whose sequence number is not the next one.
    Sequence(fn(&mut Case<'_>)),
    /// One of the first events came.
    Beginning(fn(&mut Case<'_>)),
    /// An event came on a WebSocket.
    Socket(fn(&mut Case<'_>)),
    /// An event came on a WebSocket that answers what the client has said of a response under way.
    Aside(fn(&mut Case<'_>)),
    /// An event came after an error.
    AfterError(fn(&mut Case<'_>)),
    /// An event came that has the response, as it was at first or otherwise.
    AnySnapshot(SnapshotRule),
    /// An event came that has the response, and not as it was at first.
    Snapshot(SnapshotRule),
    /// The same, or an answer that is no stream is a response.
    Response(SnapshotRule),
    /// Something of a scope was opened by a value.
    Opened(Scope, ValueRule),
    /// Something of a scope is closed by a value.
    Closed(Scope, ValueRule),
    /// An item was opened by a value of one of these types.
    OpenedAs(&'static [&'static str], ValueRule),
    /// An item is closed by a value of one of these types.
    ClosedAs(&'static [&'static str], ValueRule),
    /// A fragment of something of a scope came.
    Fragment(Scope, NodeRule),
    /// The same, with log probabilities of its tokens.
    LogprobsOf(Scope, NodeRule),
    /// Something happened in a node, at a single point.
    Point(NodeRule),
    /// The response ends, with a snapshot.
    Ending(EndingRule),
    /// The same, and its output is not the finished items to the letter.
    EndingOtherwise(EndingRule),
    /// The same, and it repeats a choice of tools that is not `auto`.
    EndingWithChoice(EndingRule),
    /// The stream is over. There is no record any more.
    StreamEnd(fn(&mut Case<'_>)),
    /// An answer that is no stream.
    Body(BodyRule),
}

/// Rules, and what is called when they are asked.
pub(crate) type BoundRules<F> = Vec<(Bound, F)>;

/// Which ends of responses a rule looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ends {
    All,
    Otherwise,
    WithChoice,
}

/// Rules that need nothing but the case.
pub(crate) type Plain = BoundRules<fn(&mut Case<'_>)>;

/// What looks at the response as an event has it.
pub(crate) type SnapshotRule = fn(&mut Case<'_>, &Snapshot<'_>);

/// What looks at an occurrence of a scope.
type NodeRule = fn(&mut Case<'_>, &Node);

/// What looks at an occurrence of a scope and the value that opens or closes it.
pub(crate) type ValueRule = fn(&mut Case<'_>, &Node, &Object<'_>);

/// What looks at the end of the response.
pub(crate) type EndingRule = fn(&mut Case<'_>, &Ending<'_>);

/// What looks at an answer that is no stream.
type BodyRule = fn(&mut Case<'_>, &Frame<'_>);

/// Rules that are about one scope each, by that.
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

    /// Those of a scope.
    pub(crate) fn of(&self, scope: Scope) -> &[(Bound, F)] {
        self.0.get(scope as usize).map_or(&[], Vec::as_slice)
    }
}

/// Rules that look at the values of items, by the type of the value: most look at one or two types.
#[derive(Debug, Default)]
pub(crate) struct ItemRules {
    /// Those for types that no rule names.
    others: BoundRules<ValueRule>,
    types: Vec<(&'static str, BoundRules<ValueRule>)>,
}

impl ItemRules {
    /// Adds a rule for some types, or for all of them. Those of each type keep their order.
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

    /// Those that look at values of a type.
    pub(crate) fn of(&self, name: Option<&str>) -> &[(Bound, ValueRule)] {
        let named = self.types.iter().find(|(known, _)| Some(*known) == name);
        named.map_or(&self.others, |(_, rules)| rules)
    }
}

/// Rules that look at values which open or close something.
#[derive(Debug, Default)]
pub(crate) struct ValueRules {
    items: ItemRules,
    scopes: ScopeRules<ValueRule>,
}

impl ValueRules {
    fn push(&mut self, scope: Scope, rule: (Bound, ValueRule)) {
        if scope == Scope::CONTAINER {
            self.items.push(None, rule);
        } else {
            self.scopes.push(scope, rule);
        }
    }

    /// Those that look at a value that opens or closes something of a scope.
    pub(crate) fn of(&self, scope: Scope, value: &Object<'_>) -> &[(Bound, ValueRule)] {
        if scope == Scope::CONTAINER { self.items.of(value.plain("type")) } else { self.scopes.of(scope) }
    }
}

/// The rules with code, by when they are asked.
#[derive(Debug, Default)]
pub(crate) struct Hooks {
    pub(crate) frame: Plain,
    pub(crate) stray: Plain,
    /// Those rules about frames that are only of interest where data are not plain.
    pub(crate) escaped: Plain,
    pub(crate) invalid: Plain,
    pub(crate) newer: Plain,
    pub(crate) marker: Plain,
    pub(crate) event: Plain,
    pub(crate) counts: Plain,
    pub(crate) sequence: Plain,
    pub(crate) beginning: Plain,
    pub(crate) socket: Plain,
    pub(crate) aside: Plain,
    pub(crate) after_error: Plain,
    pub(crate) any_snapshot: BoundRules<SnapshotRule>,
    pub(crate) snapshot: BoundRules<SnapshotRule>,
    pub(crate) opened: ValueRules,
    pub(crate) closed: ValueRules,
    pub(crate) fragment: ScopeRules<NodeRule>,
    pub(crate) logprobs: ScopeRules<NodeRule>,
    pub(crate) point: BoundRules<NodeRule>,
    pub(crate) ending: BoundRules<(Ends, EndingRule)>,
    pub(crate) stream_end: Plain,
    pub(crate) body: BoundRules<BodyRule>,
    pub(crate) body_response: BoundRules<SnapshotRule>,
}

impl Hooks {
    pub(crate) fn add(&mut self, bound: Bound, natives: &[Native]) {
        for native in natives {
            match *native {
                Native::Frame(code) => self.frame.push((bound, code)),
                Native::Stray(code) => self.stray.push((bound, code)),
                Native::Escaped(code) => {
                    self.frame.push((bound, code));
                    self.escaped.push((bound, code));
                }
                Native::Invalid(code) => self.invalid.push((bound, code)),
                Native::Newer(code) => self.newer.push((bound, code)),
                Native::Marker(code) => self.marker.push((bound, code)),
                Native::Event(code) => self.event.push((bound, code)),
                Native::Counts(code) => self.counts.push((bound, code)),
                Native::Sequence(code) => self.sequence.push((bound, code)),
                Native::Beginning(code) => self.beginning.push((bound, code)),
                Native::Socket(code) => self.socket.push((bound, code)),
                Native::Aside(code) => self.aside.push((bound, code)),
                Native::AfterError(code) => self.after_error.push((bound, code)),
                Native::AnySnapshot(code) => self.any_snapshot.push((bound, code)),
                Native::Snapshot(code) => self.snapshot.push((bound, code)),
                Native::Response(code) => {
                    self.snapshot.push((bound, code));
                    self.body_response.push((bound, code));
                }
                Native::Opened(scope, code) => self.opened.push(scope, (bound, code)),
                Native::Closed(scope, code) => self.closed.push(scope, (bound, code)),
                Native::OpenedAs(types, code) => self.opened.items.push(Some(types), (bound, code)),
                Native::ClosedAs(types, code) => self.closed.items.push(Some(types), (bound, code)),
                Native::Fragment(scope, code) => self.fragment.push(scope, (bound, code)),
                Native::LogprobsOf(scope, code) => self.logprobs.push(scope, (bound, code)),
                Native::Point(code) => self.point.push((bound, code)),
                Native::Ending(code) => self.ending.push((bound, (Ends::All, code))),
                Native::EndingOtherwise(code) => self.ending.push((bound, (Ends::Otherwise, code))),
                Native::EndingWithChoice(code) => self.ending.push((bound, (Ends::WithChoice, code))),
                Native::StreamEnd(code) => self.stream_end.push((bound, code)),
                Native::Body(code) => self.body.push((bound, code)),
            }
        }
    }
}
