//! What a rule is given to judge by.

use std::borrow::Cow;
use std::collections::{HashSet, VecDeque};
use std::time::Duration;

use catalogue::Level;
use spec::Dialect;
use spec::json::Fault;
use spec::table::{EventInfo, Role, Scope};

use super::asides::Asides;
use super::lanes::LaneOf;
use super::{Bound, Findings, Node, Object, Place, Plan, Record, SavedLocation, Stream};
use crate::{Frame, Transport};

/// What a rule is given to judge by, and where it tells what it finds.
pub(crate) struct Case<'c> {
    pub(crate) bound: Bound,
    pub(crate) plan: &'c Plan,
    /// The event at hand; at the end of the stream, the last one.
    at: At<'c>,
    /// What came before it.
    pub(crate) stream: &'c Stream,
    /// What the stream came on.
    pub(crate) connection: &'c Connection,
    findings: &'c mut Findings,
}

#[derive(Clone, Copy)]
enum At<'c> {
    Record(&'c Record<'c>),
    SavedLocation(&'c SavedLocation),
}

/// What a stream came on.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(crate) struct Connection {
    /// The status of the answer.
    pub(crate) status: Option<u16>,
    /// Whether its headers are known. No answer is without any, but some recorders keep none.
    pub(crate) has_headers: bool,
    /// Its content type.
    pub(crate) content_type: Option<String>,
    /// Whether the request made a new response, where it is known.
    pub(crate) creates: Option<bool>,
    /// The input of the request triggers a compaction.
    pub(crate) triggers_compaction: bool,
    /// When the first message on a WebSocket came or went.
    pub(crate) began: Option<Duration>,
    /// Requests on a WebSocket that were not answered yet, in the lane at hand.
    pub(crate) unanswered: VecDeque<Turn>,
    /// The request that is being answered.
    pub(crate) turn: Option<Turn>,
    /// Ids of responses that a WebSocket has brought and not lost again.
    pub(crate) responses: HashSet<String>,
    /// The id of the last of them, in the lane at hand.
    pub(crate) latest: Option<String>,
    /// The lane of the event at hand.
    pub(crate) lane: LaneOf,
    /// What the client has asked for is known.
    pub(crate) has_requests: bool,
    /// The response begins that nobody has asked for.
    pub(crate) is_unasked: bool,
    /// Responses have overlapped: which of them a request was for is not known from there on.
    pub(crate) has_overlapped: bool,
    /// What the client has said of responses under way.
    pub(crate) asides: Asides,
}

/// Whether the input of a request triggers a compaction.
pub(super) fn triggers_compaction(request: &Object<'_>) -> bool {
    let is_trigger = |item: &&str| Object::new(item).plain("type") == Some("compaction_trigger");
    request.get("input").is_some_and(|input| input.contains("compaction_trigger"))
        && request.entries("input").unwrap_or_default().iter().any(is_trigger)
}

/// A request on a WebSocket.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Turn {
    /// The response that it continues.
    pub(crate) previous_response_id: Option<String>,
    /// Its input triggers a compaction.
    pub(crate) triggers_compaction: bool,
    /// It asked not to store the response.
    pub(crate) is_unstored: bool,
    /// When it was sent.
    pub(crate) sent: Option<Duration>,
}

/// The response, as an event has it.
#[derive(Debug)]
pub(crate) struct Snapshot<'s> {
    pub(crate) response: &'s Object<'s>,
    /// Its status.
    pub(crate) status: Option<Cow<'s, str>>,
    /// Its usage, unless that is null.
    pub(crate) usage: Option<Object<'s>>,
    /// The members of the first one that it has otherwise, or has no more.
    pub(crate) changes: Vec<Change<'s>>,
    /// What brings it.
    holder: Holder,
}

/// What brings a response.
#[derive(Debug, Clone, Copy)]
enum Holder {
    Event(&'static EventInfo),
    /// An answer that is no stream.
    Body,
}

/// A member of a response that is not as it was at first.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Change<'s> {
    pub(crate) name: &'s str,
    pub(crate) before: &'s str,
    pub(crate) now: Option<&'s str>,
}

/// Most responses differ in no more members from what they were at first.
const USUAL_CHANGES: usize = 8;

/// The response, as it ends.
#[derive(Debug)]
pub(crate) struct Ending<'s> {
    pub(crate) snapshot: &'s Snapshot<'s>,
    /// The entries of its output.
    pub(crate) output: Vec<Object<'s>>,
}

impl<'s> Snapshot<'s> {
    /// Looks at a response beside the first one.
    pub(crate) fn new(
        response: &'s Object<'s>,
        first: Option<&'s Object<'s>>,
        event: &'static EventInfo,
    ) -> Self {
        let usage = response.value("usage").map(Object::new);
        let mut changes = Vec::new();
        if let Some(first) = first {
            changes.reserve(USUAL_CHANGES);
            changes.extend(first.changes(response).map(|(name, before, now)| Change { name, before, now }));
        }
        Self { response, status: response.string("status"), usage, changes, holder: Holder::Event(event) }
    }

    /// Looks at an answer that is a response, and no stream.
    pub(crate) fn of_body(response: &'s Object<'s>) -> Self {
        let usage = response.value("usage").map(Object::new);
        let status = response.string("status");
        Self { response, status, usage, changes: Vec::new(), holder: Holder::Body }
    }

    /// The phase of the response, by the event that brings it; in a body, by its status.
    pub(crate) fn phase(&self) -> Option<&str> {
        match self.holder {
            Holder::Event(event) => event.phase,
            Holder::Body => self.status.as_deref(),
        }
    }

    pub(crate) fn is_completed(&self) -> bool {
        self.phase() == Some("completed")
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.phase() == Some("failed")
    }

    /// Returns whether nothing comes after it.
    pub(crate) fn is_terminal(&self) -> bool {
        match self.holder {
            Holder::Event(event) => event.role == Role::Terminal,
            Holder::Body => self.phase().is_some_and(|phase| Scope::ROOT.info().ends.contains(&phase)),
        }
    }

    /// The event that brings it, or what else does.
    pub(crate) fn source(&self) -> &'static str {
        match self.holder {
            Holder::Event(event) => event.name,
            Holder::Body => "the body",
        }
    }

    /// The JSON pointer to a member of the response, from what brings it.
    pub(crate) fn pointer(&self, member: &str) -> String {
        match (self.holder, member) {
            (Holder::Event(_), "") => "/response".to_owned(),
            (Holder::Event(_), _) => format!("/response/{member}"),
            (Holder::Body, "") => String::new(),
            (Holder::Body, _) => format!("/{member}"),
        }
    }
}

impl Connection {
    /// Notes when the first message came or went, if times were kept.
    pub(crate) fn begin(&mut self, frame: &Frame<'_>) {
        self.began = self.began.or(frame.time);
    }

    /// Whether the events that come now are those of a new response, and not the rest of an earlier one.
    pub(crate) fn is_fresh(&self, transport: Transport) -> Option<bool> {
        match transport {
            Transport::WebSocket => (self.turn.is_some() || !self.unanswered.is_empty()).then_some(true),
            _ => self.creates,
        }
    }

    /// How long the connection had been in use when the request was sent that is being answered.
    pub(crate) fn age_at_request(&self) -> Option<Duration> {
        self.turn.as_ref()?.sent?.checked_sub(self.began?)
    }

    /// Asks rules, one after the other.
    #[inline]
    pub(crate) fn ask<'c, F: Copy>(
        &'c self,
        rules: &[(Bound, F)],
        plan: &'c Plan,
        record: &'c Record<'c>,
        stream: &'c Stream,
        findings: &'c mut Findings,
        mut ask: impl FnMut(F, &mut Case<'c>),
    ) {
        let Some((first, _)) = rules.first() else { return };
        let at = At::Record(record);
        let mut case = Case { bound: *first, plan, at, stream, connection: self, findings };
        for (bound, code) in rules {
            case.bound = *bound;
            ask(*code, &mut case);
        }
    }

    pub(crate) fn case_at<'c>(
        &'c self,
        bound: Bound,
        plan: &'c Plan,
        mark: &'c SavedLocation,
        stream: &'c Stream,
        findings: &'c mut Findings,
    ) -> Case<'c> {
        Case { bound, plan, at: At::SavedLocation(mark), stream, connection: self, findings }
    }
}

impl<'c> Case<'c> {
    /// From now on the rule binds no more than this.
    pub(crate) fn limit(&mut self, level: Level) {
        self.bound.level = self.bound.level.min(level);
    }

    /// The event at hand. There is none at the end of the stream.
    pub(crate) fn record(&self) -> Option<&'c Record<'c>> {
        match self.at {
            At::Record(record) => Some(record),
            At::SavedLocation(_) => None,
        }
    }

    pub(crate) fn dialect(&self) -> &'static Dialect {
        self.plan.dialect
    }

    /// What the dialect knows of the event at hand.
    pub(crate) fn info(&self) -> Option<&'static EventInfo> {
        self.record()?.known.map(|(_, info)| info)
    }

    /// What an occurrence of a scope is called.
    pub(crate) fn name(&self, node: &Node) -> String {
        self.stream.name(node)
    }

    /// Reports a fault.
    #[cold]
    pub(crate) fn report(&mut self, place: &Place<'_>, message: impl FnOnce() -> String) {
        match self.at {
            At::Record(record) => self.findings.add(self.bound, record, place, message),
            At::SavedLocation(mark) => self.findings.add_at(self.bound, mark, place, message),
        }
    }

    /// Reports a fault that may be none in other dialects.
    #[cold]
    pub(crate) fn report_here(
        &mut self,
        place: &Place<'_>,
        is_fine_in: impl FnMut(&'static Dialect) -> bool,
        message: impl FnOnce() -> String,
    ) {
        match self.at {
            At::Record(record) => {
                self.findings.add_here(self.bound, record, place, None, is_fine_in, message);
            }
            At::SavedLocation(mark) => self.findings.add_at(self.bound, mark, place, message),
        }
    }

    /// Reports a fault at a JSON pointer of the event.
    #[cold]
    pub(crate) fn fault(
        &mut self,
        pointer: &str,
        expected: &str,
        actual: &str,
        message: impl FnOnce() -> String,
    ) {
        let (pointer, expected, actual) = (Some(pointer), Some(expected), Some(actual));
        self.report(&Place { pointer, expected, actual, ..Place::WHOLE }, message);
    }

    /// Reports a property that the object at a JSON pointer lacks.
    #[cold]
    pub(crate) fn lacks(&mut self, pointer: &str, property: &str, message: impl FnOnce() -> String) {
        let expected = format!("property \"{property}\"");
        self.report(&lacking(pointer, property, &expected, "none"), message);
    }

    /// Reports a property that the object at a JSON pointer lacks, or has with a value that is not of this kind.
    #[cold]
    pub(crate) fn lacks_a(
        &mut self,
        kind: &str,
        pointer: &str,
        property: &str,
        message: impl FnOnce() -> String,
    ) {
        let expected = format!("property \"{property}\": a {kind}");
        let actual = format!("none, or not a {kind}");
        self.report(&lacking(pointer, property, &expected, &actual), message);
    }

    /// Reports a schema fault that may be none in other dialects.
    #[cold]
    pub(crate) fn fault_here(
        &mut self,
        fault: &Fault,
        is_fine_in: impl FnMut(&'static Dialect) -> bool,
        message: impl FnOnce() -> String,
    ) {
        let (expected, actual) = (fault.kind.to_string(), fault.actual.to_string());
        let place = Place {
            pointer: Some(&fault.pointer),
            at: None,
            missing: fault.kind.missing(),
            expected: Some(&expected),
            actual: Some(&actual),
        };
        self.report_here(&place, is_fine_in, message);
    }

    /// There were so many faults more, of which nothing is known.
    pub(crate) const fn omit(&mut self, faults: usize) {
        self.findings.add_omitted(faults);
    }
}

fn lacking<'p>(pointer: &'p str, property: &'p str, expected: &'p str, actual: &'p str) -> Place<'p> {
    Place {
        pointer: Some(pointer),
        at: None,
        missing: Some(property),
        expected: Some(expected),
        actual: Some(actual),
    }
}
