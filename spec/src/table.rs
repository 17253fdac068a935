//! What is known of dialects, events and scopes, as data.

use std::mem;

use crate::json::{Check, Checker, Fault, FaultKind, Outline, Scan, Wanted};
use crate::shape::Shape;
use crate::view::View;

include!(concat!(env!("OUT_DIR"), "/words.rs"));
include!(concat!(env!("OUT_DIR"), "/scopes.rs"));

/// What is known of a scope.
#[derive(Debug, Clone, Copy)]
pub struct ScopeInfo {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub description: &'static str,
    /// The scope it lies in.
    pub parent: Option<Scope>,
    /// The values that tell one from its siblings, the outermost first.
    pub key: &'static [Slot],
    /// The `type`s of the parent that may hold it; any, when empty.
    pub of: &'static [&'static str],
    /// Where its final value stands in the value that closes its parent.
    pub in_parent: Option<&'static str>,
    /// Where its final value stands in the terminal response.
    pub in_response: Option<&'static str>,
    /// The phases it goes through, in order.
    pub phases: &'static [&'static str],
    /// The phases of which exactly one ends it.
    pub ends: &'static [&'static str],
}

impl Slot {
    /// Returns the member of an event that it usually is.
    pub fn name(self) -> &'static str {
        Self::USUAL.iter().find(|(_, slot)| *slot == self).map_or("value", |(name, _)| name)
    }
}

/// What is known of an event type.
#[derive(Debug, Clone, Copy)]
pub struct EventInfo {
    /// Its type on the wire.
    pub name: &'static str,
    /// What it says.
    pub description: &'static str,
    /// The scope it happens in.
    pub scope: Scope,
    /// What it does there.
    pub role: Role,
    /// Where the value that it brings stands.
    pub value: Option<&'static str>,
    /// The phase that it begins, or in which it ends its scope.
    pub phase: Option<&'static str>,
    /// Whether it may precede the event that opens the response.
    pub early: bool,
    pub(crate) check: EventCheck,
}

impl EventInfo {
    /// Returns whether it opens the root scope, and so a stream.
    pub fn is_opening(&self) -> bool {
        self.scope == Scope::ROOT && self.role == Role::Open
    }

    /// Whether nothing of its scope may come after it: it closes it, or begins a phase that ends it.
    pub fn ends_scope(&self) -> bool {
        match self.role {
            Role::Close | Role::Final | Role::Terminal => true,
            Role::Phase => self.phase.is_some_and(|phase| self.scope.info().ends.contains(&phase)),
            Role::Open | Role::Delta | Role::Point => false,
        }
    }
}

/// How events are framed on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Framing {
    /// What the `event:` line says.
    pub event_line: EventLine,
    /// The `[DONE]` marker at the end.
    pub done: Marker,
    /// Events that the dialect does not list.
    pub unknown_events: UnknownEvents,
    /// Whether the same events come as messages of a WebSocket, too.
    pub websocket: bool,
    /// Whether a WebSocket has lanes: events say in `stream_id` which one they are of.
    pub lanes: bool,
    /// The client's message that requests a response on a WebSocket.
    pub create: Option<&'static str>,
    /// The client's message that gives a response in flight another direction.
    pub steer: Option<Aside>,
    /// The client's message that adds input to a response in flight.
    pub inject: Option<Aside>,
}

/// A client's message about a response in flight on a WebSocket, and the events that reply to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Aside {
    /// The type of the message.
    pub message: &'static str,
    /// The event that accepts it.
    pub accepted: &'static str,
    /// The event that says that the server waits for more input.
    pub pending: Option<&'static str>,
    /// The event that rejects it, or reports that it failed later.
    pub failed: &'static str,
}

/// What an event replies to a client's message about a response in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reply {
    /// The server has accepted it.
    Accepted,
    /// The server waits for more input.
    Pending,
    /// The server rejects it, or it failed later.
    Failed,
}

impl Aside {
    /// Returns what an event replies to the message, unless it is no reply to it.
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
    /// Returns how texts for people say it, in the words of RFC 2119.
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
    /// Its level here.
    pub level: Level,
    /// Why.
    pub reason: &'static str,
}

/// A dialect, resolved: nothing of what it inherits is left to look up.
#[derive(Debug)]
pub struct Dialect {
    /// Its name.
    pub name: &'static str,
    /// The product that speaks it.
    pub product: &'static str,
    /// Where its facts come from.
    pub source: &'static str,
    /// What it is, in a sentence.
    pub summary: &'static str,
    /// The dialects that it extends, nearest first.
    pub lineage: &'static [&'static str],
    /// How its events are framed.
    pub framing: Framing,
    /// The event that opens the root scope, and so a stream.
    pub opening: Option<&'static str>,
    /// One of these events ends a stream.
    pub terminal: &'static [&'static str],
    /// The event that reports an error, inside or outside of a response.
    pub error: &'static str,
    /// Types that are bodies of their own: `request`, `response`, ...
    pub roots: &'static [(&'static str, &'static str)],
    /// What can be asked for beside the creation of a response.
    pub operations: &'static [Operation],
    /// Rules that have another level here.
    pub rules: &'static [RuleLevel],
    /// Its events, sorted by type.
    pub events: &'static [EventInfo],
    /// Names of its types, sorted.
    pub types: &'static [&'static str],
    pub(crate) place_of_event: fn(&str) -> Option<usize>,
    pub(crate) check_named: fn(&str) -> Option<Check>,
}

/// What is remembered from one event to the next, so that what comes again is not checked again; and where the
/// members stand of the object that the last event was about: its response, or the value of its lifecycle.
#[derive(Debug, Default)]
pub struct Memory {
    outline: Outline,
    shape: Shape,
}

impl Memory {
    /// Returns the members of the object that the last event was about, unless it was like the one before.
    pub const fn outline(&self) -> &Outline {
        &self.outline
    }

    /// Returns the text, as it is written, and the sequence number of a fragment that is like the one before it to the
    /// letter, but for these, and for what no slot is for. Nothing where anything else could be of interest: where a
    /// character is escaped as a number, for one. Such an event is valid, and begins with its type.
    #[inline]
    pub fn fragment<'a>(&self, event: &EventInfo, data: &'a str) -> Option<(&'a str, u64)> {
        self.shape.fragment(event, data)
    }

    /// Checks the payload of an event of a stream, and hands out its values: what [`Dialect::view_event`] does,
    /// but faster, by what is remembered of the events before it. The view must be [`View::nothing`] before.
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
        let mut checker = Checker::with_outline(data, mem::take(&mut self.outline));
        *view = View::new(data);
        let verdict = fill(view, event, &mut checker);
        let (outline, varying) = checker.into_notes();
        self.outline = outline;
        match event.filter(|_| verdict.is_valid() && !view.is_newer()) {
            Some(event) => self.shape.learn(event, view, &varying),
            None => self.shape.forget(),
        }
        verdict
    }
}

/// A validator of an event's payload, which hands out its values.
pub(crate) type EventCheck = for<'a> fn(&mut Checker<'a>, &mut View<'a>) -> Scan<()>;

/// What came of checking a value against its schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It is as the schema says.
    Valid,
    /// It is not, at these places. At most 256 are listed; the number says how many more there were.
    Invalid(Vec<Fault>, usize),
    /// The dialect has no event or type of that name.
    Unknown,
    /// The text is not JSON: what was wrong, and at which byte.
    NotJson(&'static str, usize),
}

impl Verdict {
    /// Returns whether the value is as its schema says.
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
    /// Returns what is known of an event type.
    pub fn event(&self, name: &str) -> Option<&'static EventInfo> {
        self.position(name).map(|(_, event)| event)
    }

    /// Returns the same, with its place in the list of events.
    pub fn position(&self, name: &str) -> Option<(usize, &'static EventInfo)> {
        let at = (self.place_of_event)(name)?;
        Some((at, self.events.get(at)?))
    }

    /// The event that ends the root scope in a phase.
    pub fn ending(&self, phase: &str) -> Option<&'static EventInfo> {
        let ends = |event: &&EventInfo| event.role == Role::Terminal && event.phase == Some(phase);
        self.events.iter().find(ends)
    }

    /// Whether it is the dialect of that name, or extends it.
    pub fn is_or_extends(&self, name: &str) -> bool {
        self.name == name || self.lineage.contains(&name)
    }

    /// Returns how binding a rule is in this dialect, when that differs from what the rule says.
    pub fn rule_level(&self, id: &str) -> Option<Level> {
        self.rules.iter().find(|rule| rule.id == id).map(|rule| rule.level)
    }

    /// Returns the type that plays a role such as `request` or `response`.
    pub fn root(&self, role: &str) -> Option<&'static str> {
        self.roots.iter().find(|(name, _)| *name == role).map(|(_, of_type)| *of_type)
    }

    /// Checks an event's payload against the schema of its type.
    pub fn check_event(&self, event: &str, data: &str) -> Verdict {
        self.view_event(event, data).0
    }

    /// Checks an event's payload, and hands out the values that lifecycle and rules are about. Those of an
    /// event that the dialect does not list are taken from where they usually stand.
    pub fn view_event<'a>(&self, event: &str, data: &'a str) -> (Verdict, View<'a>) {
        let mut view = View::new(data);
        let verdict = fill(&mut view, self.event(event), &mut Checker::new(data));
        (verdict, view)
    }

    /// Returns the values of an event that its dialect does not know yet, in enumerations to which servers
    /// may add.
    pub fn newer_values(&self, event: &str, data: &str) -> Vec<Fault> {
        let mut checker = Checker::new(data).known_only();
        newer(fill(&mut View::new(data), self.event(event), &mut checker))
    }

    /// The values of a value of a named type that its dialect does not know yet.
    pub fn newer_values_of_type(&self, name: &str, json: &str) -> Vec<Fault> {
        let Some(check) = (self.check_named)(name) else { return Vec::new() };
        let mut checker = Checker::new(json).known_only();
        let scan = check(&mut checker);
        newer(verdict(scan, &mut checker))
    }

    /// Checks a value against a named type.
    pub fn check_type(&self, name: &str, json: &str) -> Verdict {
        match (self.check_named)(name) {
            None => Verdict::Unknown,
            Some(check) => {
                let mut checker = Checker::new(json);
                let scan = check(&mut checker);
                verdict(scan, &mut checker)
            }
        }
    }
}

/// The faults that are values which a dialect does not know yet.
fn newer(verdict: Verdict) -> Vec<Fault> {
    let Verdict::Invalid(mut faults, _) = verdict else { return Vec::new() };
    faults.retain(|fault| matches!(fault.kind, FaultKind::Value(Wanted::Known(_))));
    faults
}

/// Checks a whole event. The values of one that is not known are taken from where they usually stand.
fn fill<'a>(view: &mut View<'a>, event: Option<&EventInfo>, checker: &mut Checker<'a>) -> Verdict {
    let Some(event) = event else {
        let taken = view.take_members(checker, Slot::USUAL);
        if taken.and_then(|()| checker.any()).and_then(|()| checker.end()).is_err() {
            *view = View::new(view.text());
        }
        return Verdict::Unknown;
    };
    let scan = (event.check)(checker, view);
    view.set_newer(checker.is_newer());
    verdict(scan, checker)
}

fn verdict(scan: Scan<()>, checker: &mut Checker<'_>) -> Verdict {
    if scan.and_then(|()| checker.end()).is_err() {
        return Verdict::NotJson(checker.problem(), checker.offset());
    }
    if checker.is_clean() {
        return Verdict::Valid;
    }
    let (faults, more) = checker.finish();
    Verdict::Invalid(faults, more)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_that_are_not_listed_hand_out_the_usual_members() {
        let Some(dialect) = crate::DIALECTS.first() else { return };
        let view = |data: &'static str| {
            let (verdict, view) = dialect.view_event("acme:trace", data);
            assert_eq!(verdict, Verdict::Unknown);
            view
        };
        let seen = view(r#"{"type":"acme:trace","sequence_number":7,"item_id":"i","response":{}}"#);
        assert_eq!(seen.count(Slot::SequenceNumber), Some(crate::Count::Whole(7)));
        assert_eq!((seen.raw(Slot::ItemId), seen.raw(Slot::Response)), (Some("\"i\""), Some("{}")));
        assert_eq!(seen.raw(Slot::OutputIndex), None);
        for data in ["[DONE]", "{\"sequence_number\":7,", "{\"sequence_number\":7} {}", "[7]"] {
            assert_eq!(view(data).raw(Slot::SequenceNumber), None, "{data}");
        }
    }
}
