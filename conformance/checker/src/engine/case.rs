//! The input of a rule.

use std::borrow::Cow;

use catalogue::Level;
use spec::json::Fault;
use spec::table::{EventInfo, Role, Slot};
use spec::{Api, Dialect};

use super::bound::Bound;
use super::context::Context;
use super::finding::{FaultPlace, Findings, FineIn, Message, Supply};
use super::head::Head;
use super::location::SavedLocation;
use super::node::{Node, NodeState};
use super::protocol::Protocol;
use super::record::{Payload, Record};
use super::session::{SessionView, Turn};
use super::stream::Stream;
use super::usage::Usage;
use super::view::Object;

/// The event at hand with its stream and what surrounds it; a rule reports findings to it.
pub(crate) struct Case<'c> {
    pub(crate) bound: Bound,
    pub(crate) protocol: &'c Protocol,
    /// At the end of the stream, the last event.
    at: At<'c>,
    /// The stream before the event.
    pub(crate) stream: &'c Stream,
    pub(crate) head: &'c Head,
    /// Only on a WebSocket.
    pub(crate) session: Option<SessionView<'c>>,
    findings: &'c mut Findings,
}

/// The place that a rule looks at.
#[derive(Clone, Copy)]
pub(super) enum At<'c> {
    Record(&'c Record<'c>),
    /// A body, and the item of its output at hand: pointers into events become pointers into the body.
    Body(&'c Record<'c>, Option<usize>),
    SavedLocation(&'c SavedLocation),
}

/// The response in an event or a body.
#[derive(Debug)]
pub(crate) struct Snapshot<'s> {
    pub(crate) response: &'s Object<'s>,
    pub(crate) status: Option<Cow<'s, str>>,
    pub(crate) usage: Usage,
    /// Members that differ from the first snapshot, or are missing.
    pub(crate) changes: Vec<Change<'s>>,
    holder: Holder,
    dialect: &'static Dialect,
}

#[derive(Debug, Clone, Copy)]
enum Holder {
    Event(&'static EventInfo),
    Body,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Change<'s> {
    pub(crate) name: &'s str,
    pub(crate) before: &'s str,
    pub(crate) now: Option<&'s str>,
}

const USUAL_CHANGES: usize = 8;

#[derive(Debug)]
pub(crate) struct Ending<'s> {
    pub(crate) snapshot: &'s Snapshot<'s>,
    pub(crate) output: Vec<Object<'s>>,
}

impl<'s> Snapshot<'s> {
    pub(crate) fn new(
        response: &'s Object<'s>,
        first: Option<&'s Object<'s>>,
        event: &'static EventInfo,
        dialect: &'static Dialect,
    ) -> Self {
        let mut changes = Vec::new();
        if let Some(first) = first {
            changes.reserve(USUAL_CHANGES);
            changes.extend(first.changes(response).map(|(name, before, now)| Change { name, before, now }));
        }
        Self { changes, ..Self::held(response, dialect, Holder::Event(event)) }
    }

    pub(crate) fn of_body(response: &'s Object<'s>, dialect: &'static Dialect) -> Self {
        Self::held(response, dialect, Holder::Body)
    }

    fn held(response: &'s Object<'s>, dialect: &'static Dialect, holder: Holder) -> Self {
        let Api { usage, status, .. } = dialect.api;
        Self {
            response,
            status: response.string(status.member),
            usage: response.value(usage.member).map(|counts| Usage::of(usage, counts)).unwrap_or_default(),
            changes: Vec::new(),
            holder,
            dialect,
        }
    }

    /// The event's phase, or the status in a body.
    pub(crate) fn phase(&self) -> Option<&str> {
        match self.holder {
            Holder::Event(event) => event.phase,
            Holder::Body => self.status.as_deref(),
        }
    }

    pub(crate) fn is_completed(&self) -> bool {
        self.phase() == Some(self.dialect.api.status.completed)
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.phase() == Some(self.dialect.api.status.failed)
    }

    pub(crate) fn is_terminal(&self) -> bool {
        match self.holder {
            Holder::Event(event) => event.role == Role::Terminal,
            Holder::Body => {
                let api = self.dialect.api;
                self.phase().is_some_and(|phase| api.scope(api.root).ends.contains(&phase))
            }
        }
    }

    /// The name of its event, or `the body`.
    pub(crate) fn source(&self) -> &'static str {
        match self.holder {
            Holder::Event(event) => event.name,
            Holder::Body => "the body",
        }
    }

    pub(crate) fn pointer(&self, member: &str) -> String {
        let holder = || self.dialect.snapshot_member().unwrap_or_default();
        match (self.holder, member) {
            (Holder::Event(_), "") => format!("/{}", holder()),
            (Holder::Event(_), _) => format!("/{}/{member}", holder()),
            (Holder::Body, "") => String::new(),
            (Holder::Body, _) => format!("/{member}"),
        }
    }
}

impl<'c> Case<'c> {
    #[inline]
    pub(super) const fn new(
        bound: Bound,
        Context { protocol, head, session }: Context<'c>,
        at: At<'c>,
        stream: &'c Stream,
        findings: &'c mut Findings,
    ) -> Self {
        Self { bound, protocol, at, stream, head, session, findings }
    }

    pub(crate) fn limit(&mut self, level: Level) {
        self.bound.level = self.bound.level.min(level);
    }

    pub(crate) fn look_at_opening(&mut self, node: &'c Node) {
        if let Some(opened) = node.opened.get() {
            self.at = At::SavedLocation(opened);
        }
    }

    /// `None` at the end of the stream.
    pub(crate) fn record(&self) -> Option<&'c Record<'c>> {
        match self.at {
            At::Record(record) | At::Body(record, _) => Some(record),
            At::SavedLocation(_) => None,
        }
    }

    pub(crate) const fn is_of_body(&self) -> bool {
        matches!(self.at, At::Body(..))
    }

    pub(crate) fn turn(&self) -> Option<&'c Turn> {
        self.session?.turns.current.as_ref()
    }

    pub(crate) fn dialect(&self) -> &'static Dialect {
        self.protocol.dialect
    }

    pub(crate) fn info(&self) -> Option<&'static EventInfo> {
        self.record()?.known.map(|(_, info)| info)
    }

    /// The response can be anywhere in an event of the dialect.
    pub(crate) fn in_response(&self, rest: &str) -> String {
        format!("/{}{rest}", self.dialect().snapshot_member().unwrap_or_default())
    }

    /// The response can be anywhere in an event of the dialect.
    pub(crate) fn response(&self) -> Option<&'c str> {
        self.record()?.view.snapshot(self.dialect().api)
    }

    /// The token counts of the event itself, which has them in this slot.
    pub(crate) fn usage(&self, slot: Slot) -> Usage {
        self.record().map(|record| record.usage(&self.dialect().api.usage, slot)).unwrap_or_default()
    }

    pub(crate) fn has_seen(&self, node: &Node) -> bool {
        self.stream.is_whole() && !node.partial && node.state() != NodeState::Implied
    }

    pub(crate) fn name(&self, node: &Node) -> String {
        self.stream.name(node)
    }

    #[cold]
    pub(crate) fn report(&mut self, place: &FaultPlace<'_>, message: impl Fn() -> String) {
        // An event that is an object says it itself.
        let is_object = matches!(self.at, At::Record(record) if record.payload == Payload::Object);
        let place = &FaultPlace { stage: if is_object { "" } else { self.stream.stage() }, ..*place };
        match self.at {
            At::Record(record) => {
                let pointer = place.pointer.map(|pointer| on_wire(self.protocol.dialect, pointer));
                let place = FaultPlace { pointer: pointer.as_deref(), ..*place };
                self.findings.add(self.bound, record, &place, None, &message);
            }
            At::Body(..) => {
                self.report_here(place, &mut |_| false, &message);
            }
            At::SavedLocation(mark) => self.findings.add_at(self.bound, mark, place, &message),
        }
    }

    /// Other dialects may allow the fault. Returns the number of the finding.
    #[cold]
    pub(crate) fn report_here(
        &mut self,
        place: &FaultPlace<'_>,
        is_fine_in: FineIn<'_>,
        message: Message<'_>,
    ) -> Option<usize> {
        match self.at {
            At::Record(record) => {
                self.findings.add_here(self.bound, record, place, None, is_fine_in, message)
            }
            At::SavedLocation(mark) => {
                self.findings.add_at(self.bound, mark, place, message);
                None
            }
            At::Body(record, item) => {
                let pointer = place.pointer.map(|pointer| in_body(self.protocol.dialect, pointer, item));
                let place = FaultPlace { pointer: pointer.as_deref(), ..*place };
                self.findings.add_here(self.bound, record, &place, None, is_fine_in, message)
            }
        }
    }

    #[cold]
    pub(crate) fn fault_of_event(&mut self, expected: &str, actual: &str, message: impl Fn() -> String) {
        self.report(
            &FaultPlace { expected: Some(expected), actual: Some(actual), ..FaultPlace::WHOLE },
            &message as Message<'_>,
        );
    }

    #[cold]
    pub(crate) fn expected(&mut self, expected: &str, message: impl Fn() -> String) {
        self.report(&FaultPlace { expected: Some(expected), ..FaultPlace::WHOLE }, &message as Message<'_>);
    }

    #[cold]
    pub(crate) fn fault(
        &mut self,
        pointer: &str,
        expected: &str,
        actual: &str,
        message: impl Fn() -> String,
    ) {
        let (pointer, expected, actual) = (Some(pointer), Some(expected), Some(actual));
        self.report(&FaultPlace { pointer, expected, actual, ..FaultPlace::WHOLE }, &message as Message<'_>);
    }

    #[cold]
    pub(crate) fn lacks(&mut self, pointer: &str, property: &str, message: impl Fn() -> String) {
        let expected = format!("property \"{property}\"");
        self.report(&lacking(pointer, property, &expected, "none"), &message as Message<'_>);
    }

    /// The property is missing, or has another type.
    #[cold]
    pub(crate) fn lacks_a(
        &mut self,
        kind: &str,
        pointer: &str,
        property: &str,
        message: impl Fn() -> String,
    ) {
        let expected = format!("property \"{property}\": a {kind}");
        let actual = format!("none, or not a {kind}");
        self.report(&lacking(pointer, property, &expected, &actual), &message as Message<'_>);
    }

    /// Other dialects may allow the fault. Returns the number of the finding.
    #[cold]
    pub(crate) fn fault_here(
        &mut self,
        fault: &Fault,
        is_fine_in: FineIn<'_>,
        message: Message<'_>,
    ) -> Option<usize> {
        let (expected, actual) = (fault.kind.to_string(), fault.actual.to_string());
        let place = FaultPlace {
            pointer: Some(&fault.pointer),
            missing: fault.kind.missing(),
            expected: Some(&expected),
            actual: Some(&actual),
            form: fault.actual.kind(),
            ..FaultPlace::WHOLE
        };
        self.report_here(&place, is_fine_in, message)
    }

    /// An older finding keeps what it has.
    #[cold]
    pub(crate) fn supply(&mut self, number: Option<usize>, supply: impl FnOnce() -> Supply) {
        self.findings.supply(number, supply);
    }

    pub(crate) const fn omit(&mut self, faults: usize) {
        self.findings.omitted += faults as u64;
    }
}

/// The dialect's events can have the response under another member.
fn on_wire<'p>(dialect: &Dialect, pointer: &'p str) -> Cow<'p, str> {
    let Some(slot) = dialect.api.snapshot else { return Cow::Borrowed(pointer) };
    let (usual, member) = (slot.name(), dialect.member(slot));
    let rest = pointer.strip_prefix('/').and_then(|rest| rest.strip_prefix(usual));
    let rest = rest.filter(|rest| usual != member && (rest.is_empty() || rest.starts_with('/')));
    rest.map_or(Cow::Borrowed(pointer), |rest| Cow::Owned(format!("/{member}{rest}")))
}

fn in_body<'p>(dialect: &Dialect, pointer: &'p str, item: Option<usize>) -> Cow<'p, str> {
    let inside = |name: &str| {
        let rest = pointer.strip_prefix('/')?.strip_prefix(name)?;
        (rest.is_empty() || rest.starts_with('/')).then_some(rest)
    };
    if let Some((item, rest)) = item.zip(inside(dialect.api.item)) {
        return Cow::Owned(format!("/{}/{item}{rest}", dialect.api.list));
    }
    let usual = dialect.api.snapshot.map(Slot::name);
    usual.and_then(inside).map_or(Cow::Borrowed(pointer), Cow::Borrowed)
}

fn lacking<'p>(pointer: &'p str, property: &'p str, expected: &'p str, actual: &'p str) -> FaultPlace<'p> {
    FaultPlace {
        pointer: Some(pointer),
        missing: Some(property),
        expected: Some(expected),
        actual: Some(actual),
        ..FaultPlace::WHOLE
    }
}
