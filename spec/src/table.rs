//! Tables of dialects, events and scopes.

use std::mem::ManuallyDrop;

use crate::delta::{Fragment, FragmentFrame};
use crate::event::EventSchema;
use crate::json::{Checker, Fault, FaultKind, Outline, Problem, Scan, Schema, Wanted};
use crate::shape::Shape;
use crate::view::View;

include!(concat!(env!("OUT_DIR"), "/words.rs"));
include!(concat!(env!("OUT_DIR"), "/scopes.rs"));

/// The properties of a scope.
#[derive(Debug, Clone, Copy)]
pub struct ScopeInfo {
    /// Its name.
    pub name: &'static str,
    /// Its description.
    pub description: &'static str,
    /// The parent scope.
    pub parent: Option<Scope>,
    /// The values that identify one among its siblings, the outermost first.
    pub key: &'static [Slot],
    /// The `type`s of the parent that can contain it; any if empty.
    pub of: &'static [&'static str],
    /// Place of its final value in the value that closes its parent.
    pub in_parent: Option<&'static str>,
    /// Place of its final value in the terminal response.
    pub in_response: Option<&'static str>,
    /// Its phases, in order.
    pub phases: &'static [&'static str],
    /// The phases that end it.
    pub ends: &'static [&'static str],
}

impl Slot {
    /// Returns the default member of an event for the slot.
    pub fn name(self) -> &'static str {
        Self::USUAL.iter().find(|(_, slot)| *slot == self).map_or("value", |(name, _)| name)
    }
}

/// The properties of an event type.
#[derive(Debug, Clone, Copy)]
pub struct EventInfo {
    /// Its `type`.
    pub name: &'static str,
    /// Its description.
    pub description: &'static str,
    /// Its scope.
    pub scope: Scope,
    /// Its role in the scope.
    pub role: Role,
    /// Place of its value.
    pub value: Option<&'static str>,
    /// The phase that it begins, or in which it ends its scope.
    pub phase: Option<&'static str>,
    /// Whether it may precede the event that opens the response.
    pub early: bool,
    pub(crate) schema: EventSchema,
}

impl EventInfo {
    /// Returns whether it opens the root scope, and thus a stream.
    pub fn is_opening(&self) -> bool {
        self.scope == Scope::ROOT && self.role == Role::Open
    }

    /// Returns whether it ends its scope: it closes it, or begins a phase that ends it.
    pub fn ends_scope(&self) -> bool {
        match self.role {
            Role::Close | Role::Final | Role::Terminal => true,
            Role::Phase => self.phase.is_some_and(|phase| self.scope.info().ends.contains(&phase)),
            Role::Open | Role::Delta | Role::Point => false,
        }
    }
}

/// The framing of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Framing {
    /// The value of the `event:` field.
    pub event_line: EventLine,
    /// The `[DONE]` marker at the end.
    pub done: Marker,
    /// The meaning of events that the dialect does not list.
    pub unknown_events: UnknownEvents,
    /// Whether the same events are also sent as WebSocket messages.
    pub websocket: bool,
    /// Whether a WebSocket has lanes: `stream_id` is the lane of an event.
    pub lanes: bool,
    /// The client's message that requests a response on a WebSocket.
    pub create: Option<&'static str>,
    /// The client's message that steers a response in flight.
    pub steer: Option<Aside>,
    /// The client's message that adds input to a response in flight.
    pub inject: Option<Aside>,
}

impl Framing {
    /// Returns the client's messages about a response in flight, with their operations.
    pub fn asides(&self) -> impl Iterator<Item = (Operation, Aside)> + use<> {
        let all = [(Operation::Steer, self.steer), (Operation::Inject, self.inject)];
        all.into_iter().filter_map(|(operation, aside)| Some((operation, aside?)))
    }
}

/// A client's message about a response in flight on a WebSocket, and the events that reply to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Aside {
    /// The type of the message.
    pub message: &'static str,
    /// The event that accepts it.
    pub accepted: &'static str,
    /// The event that reports that the server waits for more input.
    pub pending: Option<&'static str>,
    /// The event that rejects it, or reports a later failure.
    pub failed: &'static str,
}

/// The reply to a client's message about a response in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reply {
    /// The server has accepted it.
    Accepted,
    /// The server waits for more input.
    Pending,
    /// The server rejects it, or it fails later.
    Failed,
}

impl Aside {
    /// Returns the reply of an event to the message, if it is one.
    pub fn reply(&self, event: &str) -> Option<Reply> {
        if event == self.accepted {
            Some(Reply::Accepted)
        } else if event == self.failed {
            Some(Reply::Failed)
        } else {
            self.pending.filter(|pending| *pending == event).map(|_| Reply::Pending)
        }
    }
}

impl Level {
    /// Returns the keyword of RFC 2119.
    pub const fn keyword(self) -> &'static str {
        match self {
            Self::Off => "not checked",
            Self::May => "MAY",
            Self::Should => "SHOULD",
            Self::Must => "MUST",
        }
    }
}

/// A rule whose level differs in a dialect.
#[derive(Debug, Clone, Copy)]
pub struct RuleLevel {
    /// The rule, `group/name`.
    pub id: &'static str,
    /// Its level in this dialect.
    pub level: Level,
    /// The reason.
    pub reason: &'static str,
}

/// A dialect, including inherited entries.
#[derive(Debug)]
pub struct Dialect {
    /// Its name.
    pub name: &'static str,
    /// The product that uses it.
    pub product: &'static str,
    /// The source of its files.
    pub source: &'static str,
    /// Its summary, in one sentence.
    pub summary: &'static str,
    /// The dialects that it extends, nearest first.
    pub lineage: &'static [&'static str],
    /// The framing of its events.
    pub framing: Framing,
    /// The event that opens the root scope, and thus a stream.
    pub opening: Option<&'static str>,
    /// The members of its events that hold a slot, unless they are the usual ones.
    pub envelope: &'static [(Slot, &'static str)],
    /// The events that end a stream.
    pub terminal: &'static [&'static str],
    /// The event that reports an error, inside or outside of a response.
    pub error: &'static str,
    /// Types of whole bodies: `request`, `response`, ...
    pub roots: &'static [(&'static str, &'static str)],
    /// The operations of the API other than the creation of a response.
    pub operations: &'static [Operation],
    /// Rules with another level in this dialect.
    pub rules: &'static [RuleLevel],
    /// Its events, sorted by type.
    pub events: &'static [EventInfo],
    /// Names of its types, sorted.
    pub types: &'static [&'static str],
    pub(crate) place_of_event: fn(&str) -> Option<usize>,
    pub(crate) schema_named: fn(&str) -> Option<Schema>,
}

/// State kept from one event to the next, so that repeated parts are not validated again, and the places of the members
/// of the last event's object: its response, or its lifecycle value.
#[derive(Debug, Default)]
pub struct Memory {
    outline: Outline,
    shape: Shape,
}

impl Memory {
    /// Returns the members of the last event's object, unless the event had the shape of the previous one.
    pub const fn outline(&self) -> &Outline {
        &self.outline
    }

    /// Returns the delta that follows the last event, if the data is one that equals it except for its text, the next
    /// sequence number, and values without a slot. Returns none if anything else could matter, such as a character that
    /// is escaped as a number. Such an event is valid, and begins with its type.
    #[inline]
    pub fn fragment<'a>(&self, event: &EventInfo, data: &'a str) -> Option<Fragment<'a>> {
        self.shape.fragment(event, data)
    }

    /// Returns the same for the frame of server-sent events at the start of a text.
    #[inline]
    pub fn fragment_of_frame<'a>(&self, event: &EventInfo, text: &'a str) -> Option<FragmentFrame<'a>> {
        self.shape.fragment_of_frame(event, text)
    }

    /// Moves on by the delta that was returned, instead of [`Self::next_event`]. Does nothing if no delta can follow the
    /// last event.
    #[inline]
    pub fn take_fragment(&mut self) {
        self.shape.advance();
    }

    /// Validates the payload of an event of a stream, and extracts its values, like [`Dialect::view_event`], but
    /// faster, by the state of previous events. The view must be [`View::nothing`] before.
    #[inline]
    pub fn next_event<'a>(
        &mut self,
        event: Option<&'static EventInfo>,
        data: &'a str,
        view: &mut View<'a>,
    ) -> Verdict {
        let is_first = event.is_some_and(EventInfo::is_opening);
        self.outline.begin(is_first);
        if event.and_then(|event| self.shape.fit(event, data, view)).is_some() {
            return Verdict::Valid;
        }
        self.new_event(event, data, view)
    }

    fn new_event<'a>(
        &mut self,
        event: Option<&'static EventInfo>,
        data: &'a str,
        view: &mut View<'a>,
    ) -> Verdict {
        let mut checker = Checker::new(data, &mut self.outline);
        *view = View::new(data);
        let verdict = fill(view, event, &mut checker);
        match event.filter(|_| verdict.is_valid() && !view.is_newer()) {
            Some(event) => self.shape.learn(event, view, checker.varying_values()),
            None => self.shape.pass(),
        }
        verdict
    }
}

/// The result of validating a value against its schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It matches the schema.
    Valid,
    /// The value has these faults, of which at most 256 are listed, and this number of others.
    Invalid(Vec<Fault>, usize),
    /// The dialect has no event or type of that name.
    Unknown,
    /// The text is not JSON: the problem, and the byte offset.
    NotJson(Problem, usize),
}

impl Verdict {
    /// Returns whether the value matches its schema.
    pub const fn is_valid(&self) -> bool {
        matches!(self, Self::Valid)
    }

    /// Returns the faults, if there are any.
    pub fn faults(&self) -> &[Fault] {
        match self {
            Self::Invalid(faults, _) => faults,
            _ => &[],
        }
    }
}

impl Dialect {
    /// Returns the properties of an event type.
    pub fn event(&self, name: &str) -> Option<&'static EventInfo> {
        self.position(name).map(|(_, event)| event)
    }

    /// Returns the properties of an event type, with its position in the list of events.
    pub fn position(&self, name: &str) -> Option<(usize, &'static EventInfo)> {
        let at = (self.place_of_event)(name)?;
        Some((at, self.events.get(at)?))
    }

    /// Returns the member of its events that holds a slot.
    pub fn member(&self, slot: Slot) -> &'static str {
        let found = self.envelope.iter().find(|(of, _)| *of == slot);
        found.map_or_else(|| slot.name(), |(_, member)| *member)
    }

    /// Returns the event that ends the root scope in a phase.
    pub fn ending(&self, phase: &str) -> Option<&'static EventInfo> {
        let ends = |event: &&EventInfo| event.role == Role::Terminal && event.phase == Some(phase);
        self.events.iter().find(ends)
    }

    /// Returns whether it is the dialect with this name, or extends it.
    pub fn is_or_extends(&self, name: &str) -> bool {
        self.name == name || self.lineage.contains(&name)
    }

    /// Returns the level of a rule in this dialect, if it differs from the rule's own level.
    pub fn rule_level(&self, id: &str) -> Option<Level> {
        self.rules.iter().find(|rule| rule.id == id).map(|rule| rule.level)
    }

    /// Returns the type of a role such as `request` or `response`.
    pub fn root(&self, role: &str) -> Option<&'static str> {
        self.roots.iter().find(|(name, _)| *name == role).map(|(_, of_type)| *of_type)
    }

    /// Validates an event's payload against the schema of its type.
    pub fn check_event(&self, event: &str, data: &str) -> Verdict {
        // It is off and holds no memory, so that there is nothing to drop.
        let mut outline = ManuallyDrop::new(Outline::default());
        fill(&mut View::new(data), self.event(event), &mut Checker::new(data, &mut outline))
    }

    /// Validates an event's payload, and extracts the values that the lifecycle and rules use. Those of an event that
    /// the dialect does not list are read from their default places.
    pub fn view_event<'a>(&self, event: &str, data: &'a str) -> (Verdict, View<'a>) {
        let mut view = View::new(data);
        let verdict = fill(&mut view, self.event(event), &mut Checker::new(data, &mut Outline::default()));
        (verdict, view)
    }

    /// Returns the unknown values of open enumerations in an event.
    pub fn newer_values(&self, event: &str, data: &str) -> Vec<Fault> {
        let mut outline = Outline::default();
        let mut checker = Checker::new(data, &mut outline).known_only();
        newer(fill(&mut View::new(data), self.event(event), &mut checker))
    }

    /// Returns the unknown values of open enumerations in a value of a named type.
    pub fn newer_values_of_type(&self, name: &str, json: &str) -> Vec<Fault> {
        let Some(schema) = (self.schema_named)(name) else { return Vec::new() };
        let mut outline = Outline::default();
        let mut checker = Checker::new(json, &mut outline).known_only();
        let scan = checker.check(&schema);
        newer(verdict(scan, &mut checker))
    }

    /// Validates a value against a named type.
    pub fn check_type(&self, name: &str, json: &str) -> Verdict {
        match (self.schema_named)(name) {
            None => Verdict::Unknown,
            Some(schema) => {
                let mut outline = Outline::default();
                let mut checker = Checker::new(json, &mut outline);
                let scan = checker.check(&schema);
                verdict(scan, &mut checker)
            }
        }
    }
}

/// Returns the faults for unknown values of open enumerations.
fn newer(verdict: Verdict) -> Vec<Fault> {
    let Verdict::Invalid(mut faults, _) = verdict else { return Vec::new() };
    faults.retain(|fault| matches!(fault.kind, FaultKind::Value(Wanted::Known(_))));
    faults
}

/// Validates a whole event. The values of an unknown one are read from their default places.
fn fill<'a>(view: &mut View<'a>, event: Option<&EventInfo>, checker: &mut Checker<'a, '_>) -> Verdict {
    let Some(event) = event else {
        let taken = view.take_members(checker, Slot::USUAL);
        if taken.and_then(|()| checker.check(&Schema::Any)).and_then(|()| checker.end()).is_err() {
            *view = View::new(view.text());
        }
        return Verdict::Unknown;
    };
    let scan = event.schema.read(checker, view);
    view.set_newer(checker.is_newer());
    verdict(scan, checker)
}

fn verdict(scan: Scan<()>, checker: &mut Checker<'_, '_>) -> Verdict {
    if scan.and_then(|()| checker.end()).is_err() {
        return Verdict::NotJson(checker.problem(), checker.offset());
    }
    if checker.is_clean() {
        return Verdict::Valid;
    }
    let (faults, more) = checker.finish();
    Verdict::Invalid(faults, more)
}
