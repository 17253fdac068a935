//! What judges the frames of a connection, stream by stream.

use spec::Memory;
use spec::table::{EventInfo, EventLine};

use super::case::{Connection, Turn};
use super::finding::Findings;
use super::hooks::Plain;
use super::location::Mark;
use super::observer::{Observer, Occurrence, Seen};
use super::plan::Plan;
use super::record::{Payload, Record};
use super::stream::Stream;
use super::tracker::Tracker;
use super::view::Object;
use crate::{Exchange, Frame, Transport};

/// What judges the frames of a connection.
#[derive(Debug)]
pub(crate) struct Judge {
    frames: u64,
    events: u64,
    /// The type of the last event: the next one mostly has the same.
    known: Option<(usize, &'static EventInfo)>,
    last: Mark,
    stream: Stream,
    connection: Connection,
    findings: Findings,
}

/// So many events are the beginning of a stream.
const BEGINNING: u64 = 3;

impl Judge {
    pub(crate) fn new() -> Self {
        Self {
            frames: 0,
            events: 0,
            known: None,
            last: Mark::default(),
            stream: Stream::new(),
            connection: Connection::default(),
            findings: Findings::default(),
        }
    }

    /// Forgets all, for another stream, but not the room that it took.
    pub(crate) fn reset(&mut self) {
        self.frames = 0;
        self.events = 0;
        self.stream.reset();
        self.connection = Connection::default();
        self.findings = Findings::default();
    }

    pub(crate) const fn findings(&self) -> &Findings {
        &self.findings
    }

    pub(crate) fn take_findings(&mut self) -> Findings {
        std::mem::take(&mut self.findings)
    }

    pub(crate) fn ended(&self) -> Option<&str> {
        let id = || self.stream.first_snapshot.get().and_then(|response| response.get("id"));
        self.stream.has_ended().then(|| id().unwrap_or_default())
    }

    pub(crate) const fn events(&self) -> u64 {
        self.events
    }

    pub(crate) fn exchange(&mut self, exchange: &Exchange<'_>) {
        self.connection.status = exchange.status;
        self.connection.has_headers = !exchange.headers.is_empty();
        self.connection.content_type = exchange.header("content-type").map(str::to_owned);
        // What comes with the status of an error is no stream of a response, whatever it looks like.
        self.stream.torn = exchange.status.is_some_and(|status| status >= 400);
    }

    pub(crate) fn sent(&mut self, frame: &Frame<'_>) {
        let message = Object::new(frame.data.as_deref().unwrap_or_default());
        self.last.renew(&Record::of_body(frame, self.frames));
        self.connection.begin(frame);
        if message.plain("type") == Some("response.create") {
            // What is created stands in the message itself, or in a member of it.
            let inner = message.value("response").map(Object::new);
            let request = inner.as_ref().unwrap_or(&message);
            self.connection.unanswered.push_back(Turn {
                previous_response_id: request.string("previous_response_id").map(Into::into),
                is_unstored: request.get("store") == Some("false"),
                sent: frame.time,
            });
        }
    }

    pub(crate) fn frame(
        &mut self,
        plan: &Plan,
        memory: &mut Memory,
        frame: &Frame<'_>,
        observer: Option<&mut dyn Observer>,
    ) {
        self.frames += 1;
        let numbers = (self.frames, self.events + 1);
        let found = self.findings.all().len();
        if let Some(record) = Record::read(plan.dialect, frame, numbers, &mut self.known, memory) {
            let about = self.record(plan, &record);
            if let Some(observer) = observer {
                let about = about.and_then(|at| Occurrence::new(&self.stream.nodes, at));
                let is_faulty = self.findings.all().len() > found;
                observer.record(&Seen { record: &record, about, is_faulty });
            }
        }
    }

    /// Judges a record. Returns the node that its event is about.
    fn record(&mut self, plan: &Plan, record: &Record<'_>) -> Option<usize> {
        let frame = record.frame;
        self.begin_turn(record);
        self.stream.transport = frame.transport;
        let hooks = &plan.hooks;
        if plan.dialect.framing.event_line != EventLine::EqualsType || is_remarkable(record) {
            self.ask(&hooks.frame, plan, record);
        } else if !record.is_plain {
            self.ask(&hooks.marred, plan, record);
        }
        if record.payload == Payload::Done || self.stream.done.is_some() {
            self.ask(&hooks.marker, plan, record);
        }
        if !record.verdict.is_valid() {
            self.ask(&hooks.faulty, plan, record);
        }
        match record.payload {
            Payload::Done => {
                self.stream.done.get_or_insert(record.number);
                return None;
            }
            Payload::Object => {}
            Payload::OtherValue | Payload::NotJson(..) => {
                self.stream.tear();
                self.count(record);
                return None;
            }
        }
        let is_next =
            record.sequence_number.is_some_and(|number| number.checked_sub(1) == self.stream.sequence_number);
        if !is_next {
            self.ask(&hooks.sequence, plan, record);
        }
        self.ask(&hooks.event, plan, record);
        if self.stream.events < BEGINNING {
            self.ask(&hooks.beginning, plan, record);
        }
        if self.stream.error.is_there() {
            self.ask(&hooks.after_error, plan, record);
        }
        if frame.transport == Transport::WebSocket {
            self.ask(&hooks.socket, plan, record);
        }
        let mut about = None;
        if !self.stream.is_answered_apart(record) {
            let mut tracker = Tracker {
                plan,
                stream: &mut self.stream,
                findings: &mut self.findings,
                connection: &self.connection,
                record,
                response: None,
                value: None,
                current: None,
            };
            tracker.take();
            about = tracker.current;
            if let Some(number) = record.sequence_number {
                self.stream.sequence_number = Some(number);
            }
            self.end_turn();
        } else if let Some(evicted) = self.connection.turn.take().and_then(|turn| turn.previous_response_id) {
            // A turn that fails takes the response that it continues with it.
            self.connection.responses.remove(&evicted);
        }
        self.count(record);
        about
    }

    /// Asks rules that need nothing but the case; mostly there are none to be asked.
    #[inline]
    fn ask(&mut self, hooks: &Plain, plan: &Plan, record: &Record<'_>) {
        if !hooks.is_empty() {
            self.ask_all(hooks, plan, record);
        }
    }

    #[inline(never)]
    fn ask_all(&mut self, hooks: &Plain, plan: &Plan, record: &Record<'_>) {
        let Self { connection, stream, findings, .. } = self;
        connection.ask(hooks, plan, record, stream, findings, |rule, case| rule(case));
    }

    fn count(&mut self, record: &Record<'_>) {
        self.events += 1;
        self.stream.count(record);
        self.last.renew(record);
    }

    /// On a WebSocket another response follows when one has ended.
    fn begin_turn(&mut self, record: &Record<'_>) {
        if record.frame.transport != Transport::WebSocket {
            return;
        }
        self.connection.begin(record.frame);
        let begins = record.event_type.as_deref() == Some("response.created");
        let overlaps = begins && self.stream.has_begun() && !self.stream.has_ended();
        if overlaps || self.stream.has_ended() {
            self.remember_response();
            self.stream.reset();
            self.stream.overlaps = overlaps;
            self.connection.turn = None;
        }
        if self.connection.turn.is_none() && (begins || self.stream.is_answered_apart(record)) {
            self.connection.turn = self.connection.unanswered.pop_front();
        }
    }

    fn end_turn(&mut self) {
        // What ended on anything else was the only one.
        if self.stream.has_ended() && self.stream.transport == Transport::WebSocket {
            self.connection.turn = None;
            self.remember_response();
        }
    }

    fn remember_response(&mut self) {
        if let Some(id) = self.stream.first_snapshot.get().and_then(|response| response.string("id")) {
            self.connection.latest = Some(id.clone().into_owned());
            self.connection.responses.insert(id.into());
        }
    }

    pub(crate) fn body(&mut self, plan: &Plan, frame: &Frame<'_>) {
        self.frames += 1;
        let record = Record::of_body(frame, self.frames);
        let Self { connection, stream, findings, .. } = self;
        connection.ask(&plan.hooks.body, plan, &record, stream, findings, |rule, case| rule(case, frame));
    }

    pub(crate) fn finish(&mut self, plan: &Plan) {
        if self.events == 0 && self.connection.unanswered.is_empty() {
            return;
        }
        if !self.stream.has_ended() && self.stream.has_begun() {
            super::tracker::unended(plan, &self.stream, &self.last, &mut self.findings);
        }
        for (bound, hook) in &plan.hooks.over {
            hook(&mut self.connection.case_at(*bound, plan, &self.last, &self.stream, &mut self.findings));
        }
    }
}

/// Whether there is anything about a frame that its rules could tell of: most frames are complete, and have
/// an event line that is the type of the event.
fn is_remarkable(record: &Record<'_>) -> bool {
    let frame = record.frame;
    !frame.terminated
        || frame.id.is_some()
        || frame.invalid_utf8.is_some()
        || frame.event.as_deref() != record.event_type.as_deref()
}
