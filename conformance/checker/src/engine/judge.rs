//! The check of a connection's frames, stream by stream.

use std::borrow::Cow;

use spec::json::{RawString, is_same};
use spec::table::{EventInfo, EventLine, Reply, Role, Scope};
use spec::{Count, FragmentFrame, Memory};

use super::asides::InFlightMessage;
use super::connection::{Connection, LaneOf, Turn, triggers_compaction};
use super::finding::Findings;
use super::hooks::Plain;
use super::lanes::Lanes;
use super::location::{FrameExtent, SavedLocation};
use super::markup::RequestTokens;
use super::observer::{Observer, Occurrence, Seen};
use super::plan::Plan;
use super::record::{Payload, Record};
use super::stream::Stream;
use super::tracker::Tracker;
use super::view::Object;
use crate::sse::{FrameStart, MAX_REPEATED};
use crate::{Exchange, Frame, Transport};

/// Checks the frames of a connection.
#[derive(Debug)]
pub(crate) struct Judge {
    frames: u64,
    events: u64,
    /// Number of events after their stream exceeded the memory limit.
    unjudged: u64,
    /// Number of frames at the end of the stream; none since the client sent a message.
    finished_at: Option<u64>,
    /// Type of the last event: the next one usually has the same.
    known: Option<(usize, &'static EventInfo)>,
    last: SavedLocation,
    stream: Stream,
    lanes: Lanes,
    connection: Connection,
    findings: Findings,
}

/// Number of events that count as the beginning of a stream.
const BEGINNING: u64 = 3;

impl Judge {
    pub(crate) fn new() -> Self {
        Self {
            frames: 0,
            events: 0,
            unjudged: 0,
            finished_at: None,
            known: None,
            last: SavedLocation::default(),
            stream: Stream::new(),
            lanes: Lanes::default(),
            connection: Connection::default(),
            findings: Findings::default(),
        }
    }

    /// Starts a new stream, and keeps allocated memory.
    pub(crate) fn reset(&mut self) {
        self.frames = 0;
        self.events = 0;
        self.unjudged = 0;
        self.finished_at = None;
        self.stream.reset();
        self.lanes.clear();
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

    pub(crate) const fn unjudged(&self) -> u64 {
        self.unjudged
    }

    pub(crate) fn exchange(&mut self, exchange: &Exchange<'_>) {
        self.connection.status = exchange.status;
        let asked = exchange.request.as_ref().and_then(|request| request.body.as_deref()).map(Object::new);
        self.connection.triggers_compaction = asked.as_ref().is_some_and(triggers_compaction);
        self.connection.tokens = asked.as_ref().map(RequestTokens::of);
        let method = exchange.request.as_ref().map(|request| &*request.method);
        let method = method.filter(|method| !method.is_empty());
        self.connection.creates = method.map(|method| method.eq_ignore_ascii_case("POST"));
        self.connection.has_headers = !exchange.headers.is_empty();
        self.connection.content_type = exchange.header("content-type").map(str::to_owned);
        // A response with an error status is not a stream, even if it looks like one.
        self.stream.has_gap = exchange.status.is_some_and(|status| status >= 400);
    }

    pub(crate) fn sent(&mut self, plan: &Plan, frame: &Frame<'_>) {
        let message = Object::new(frame.data.as_deref().unwrap_or_default());
        self.finished_at = None;
        self.last.renew(&Record::of_body(frame, self.frames));
        self.connection.begin(frame);
        match message.plain("type") {
            Some(kind) if Some(kind) == plan.dialect().framing.create => {
                self.asked(plan, &message, frame);
            }
            Some(kind) => self.connection.asides.sent(plan.dialect(), kind, &message),
            None => {}
        }
    }

    /// Processes a client's request for a response.
    fn asked(&mut self, plan: &Plan, message: &Object<'_>, frame: &Frame<'_>) {
        // The request is the message itself, or a member of it.
        let inner = message.value("response").map(Object::new);
        let request = inner.as_ref().unwrap_or(message);
        let name = message.string("stream_id").or_else(|| request.string("stream_id"));
        let name = name.filter(|_| plan.dialect().framing.lanes);
        if !self.lanes.enter(name.as_deref(), &mut self.stream, &mut self.connection) {
            return;
        }
        self.connection.has_requests = true;
        self.connection.unanswered.push_back(Turn {
            previous_response_id: request.string("previous_response_id").map(Into::into),
            triggers_compaction: triggers_compaction(request),
            tokens: RequestTokens::of(request),
            is_unstored: request.get("store") == Some("false"),
            sent: frame.time,
        });
    }

    /// Enters the lane of an event. Returns whether the lane is known.
    fn enter_lane(&mut self, record: &Record<'_>, is_aside: bool) -> bool {
        let Self { lanes, stream, connection, .. } = self;
        let name = lane_in(record.data());
        let kind = record.known.map(|(_, info)| info).filter(|_| !is_aside && !record.is_error);
        let is_of_response = kind.is_some_and(|info| info.scope != Scope::ROOT || info.role != Role::Point);
        let mut in_flight: Vec<_> = lanes.in_flight(stream).cloned().collect();
        // A recording can begin anywhere: without a request, the first response may be one without a lane.
        let may_begin = kind.is_some_and(EventInfo::is_opening)
            && (!connection.has_requests || lanes.nameless_was_used(stream));
        let is_nameless = name.is_none()
            && is_of_response
            && !may_begin
            && !in_flight.is_empty()
            && lanes.nameless_rests(stream, connection);
        let is_stranger = name.is_some() && connection.has_requests && !lanes.knows(name.as_deref());
        let lane = match in_flight.as_slice() {
            [only] if is_nameless => only.as_deref().map(str::to_owned),
            _ => name.as_deref().map(str::to_owned),
        };
        let is_told = (!is_nameless || in_flight.len() == 1) && !(is_aside && name.is_none());
        let entered = !is_told || lanes.enter(lane.as_deref(), stream, connection);
        in_flight.retain(|name| name.as_deref() != lane.as_deref());
        connection.lane = LaneOf {
            is_stranger,
            is_nameless,
            named: lanes.used(),
            others_in_flight: in_flight.len(),
            name: lane,
        };
        is_told && entered
    }

    /// Processes a reply to a client's message about a response in flight.
    fn aside(&mut self, plan: &Plan, record: &Record<'_>, aside: (InFlightMessage, Reply)) {
        self.ask(&plan.hooks.aside, plan, record);
        self.connection.asides.came(aside, record.data());
        // It is unknown whether it counts.
        if record.sequence_number > self.stream.sequence_number {
            self.stream.sequence_number.clone_from(&record.sequence_number);
        }
    }

    pub(crate) fn frame(
        &mut self,
        plan: &Plan,
        memory: &mut Memory,
        frame: &Frame<'_>,
        observer: Option<&mut dyn Observer>,
    ) {
        if observer.is_none() && self.fragment(plan, memory, frame).is_some() {
            return;
        }
        self.frames += 1;
        if self.stream.is_beyond {
            self.pass(frame);
            return;
        }
        let found = self.findings.all().len();
        if !frame.strays.is_empty() {
            self.ask(&plan.hooks.stray, plan, &Record::of_body(frame, self.frames));
        }
        let numbers = (self.frames, self.events + 1);
        if let Some(record) = Record::read(plan.dialect(), frame, numbers, &mut self.known, memory) {
            let about = self.record(plan, &record);
            if let Some(observer) = observer {
                let about = about.and_then(|at| Occurrence::new(&self.stream.nodes, at));
                let is_faulty = self.findings.all().len() > found;
                let lane = self.lanes.at_hand();
                observer.record(&Seen { record: &record, about, lane, is_faulty });
            }
        }
    }

    /// Processes a delta of the same text as the previous event, as most events are. Returns none without doing anything
    /// if a rule has to be called. The result equals that of [`Self::record`].
    #[inline]
    fn fragment(&mut self, plan: &Plan, memory: &mut Memory, frame: &Frame<'_>) -> Option<()> {
        let info = self.known_fragment(plan)?;
        let data = frame.data.as_deref()?;
        let is_usual = frame.terminated
            && frame.transport != Transport::WebSocket
            && frame.strays.is_empty()
            && frame.id.is_none()
            && frame.invalid_utf8.is_none()
            && frame.event.as_deref() == Some(info.name);
        if !is_usual {
            return None;
        }
        let mut fragment = Some(memory.fragment(info, data)?);
        let next =
            |number| fragment.take_if(|next| next.number == number).map(|next| (next.text, data.len()));
        if self.take_fragments(frame.transport, next) == 0 {
            return None;
        }
        memory.take_fragment();
        self.renew_last(info, &FrameExtent::of(frame));
        Some(())
    }

    /// Processes the frames at the start of a text that are such deltas, without parsing them. Returns their number and
    /// length.
    #[inline]
    pub(crate) fn repeated_frames(
        &mut self,
        plan: &Plan,
        memory: &mut Memory,
        text: &str,
        start: &FrameStart,
    ) -> Option<(u64, usize)> {
        let info = self.known_fragment(plan)?;
        let (mut last, mut length) = (None, 0);
        let next = |number| {
            let next = memory.fragment_of_frame(info, text.get(length..)?)?;
            let FragmentFrame { fragment, data, .. } = next;
            if fragment.number != number || next.length > MAX_REPEATED {
                return None;
            }
            memory.take_fragment();
            let size = data.len();
            last = Some((length, data));
            length += next.length;
            Some((fragment.text, size))
        };
        let count = self.take_fragments(Transport::Http, next);
        let (offset, data) = last?;
        // The blank line is not part of it.
        let source = text.as_bytes().get(offset..length - 1)?;
        let byte = start.byte + offset as u64;
        let extent = FrameExtent {
            source,
            bytes: byte..byte + source.len() as u64,
            line: start.line + FragmentFrame::LINES * (count - 1),
            is_on_one_line: false,
            data: data.start,
            time: start.time,
        };
        self.renew_last(info, &extent);
        Some((count, length))
    }

    /// Returns the type of the last event if its deltas can be processed without calling rules.
    #[inline]
    fn known_fragment(&self, plan: &Plan) -> Option<&'static EventInfo> {
        let is_fragment = |event: usize| plan.is_fragment[event] && !self.stream.is_beyond;
        self.known.filter(|(event, _)| is_fragment(*event)).map(|(_, info)| info)
    }

    /// Processes deltas of the last text, unless a rule has to be called. `next` returns the text and size of the delta
    /// with a sequence number, if that is the next one. Returns how many there were.
    #[inline]
    fn take_fragments<'f>(
        &mut self,
        transport: Transport,
        next: impl FnMut(u64) -> Option<(RawString<'f>, usize)>,
    ) -> u64 {
        let count = self.stream.feed(next);
        if count > 0 {
            self.stream.transport = transport;
            self.frames += count;
            self.events += count;
        }
        count
    }

    fn renew_last(&mut self, info: &'static EventInfo, extent: &FrameExtent<'_>) {
        let number = self.stream.sequence_number.as_ref().and_then(Count::whole);
        self.last.renew_as(info.name.into(), extent, (self.frames, self.events, number));
    }

    /// Counts an event that is not checked.
    #[cold]
    fn pass(&mut self, frame: &Frame<'_>) {
        if frame.data.as_deref().is_some_and(|data| data != "[DONE]") {
            self.events += 1;
            self.unjudged += 1;
        }
    }

    /// Checks a record. Returns the node that its event is about.
    fn record(&mut self, plan: &Plan, record: &Record<'_>) -> Option<usize> {
        let frame = record.frame;
        let has_lanes = frame.transport == Transport::WebSocket && plan.dialect().framing.lanes;
        let name = record.event_type.as_deref().filter(|_| has_lanes);
        let aside = name.and_then(|name| InFlightMessage::of_reply(plan.dialect(), name));
        let is_placed = !has_lanes || self.enter_lane(record, aside.is_some());
        if is_placed && aside.is_none() {
            self.begin_turn(plan, record);
        }
        self.stream.transport = frame.transport;
        let hooks = &plan.hooks;
        if plan.dialect().framing.event_line != EventLine::EqualsType || is_remarkable(record) {
            self.ask(&hooks.frame, plan, record);
        } else if !record.is_plain {
            self.ask(&hooks.escaped, plan, record);
        }
        if record.payload == Payload::Done || self.stream.done.is_some() {
            self.ask(&hooks.marker, plan, record);
        }
        if !record.verdict.is_valid() {
            self.ask(&hooks.invalid, plan, record);
        }
        match record.payload {
            Payload::Done => {
                self.stream.done.get_or_insert(record.number);
                return None;
            }
            Payload::Object => {}
            Payload::OtherValue | Payload::NotJson(..) => {
                self.stream.mark_gap();
                self.count(record);
                return None;
            }
        }
        if aside.is_some() || !is_placed {
            match aside {
                Some(aside) => self.aside(plan, record, aside),
                None => self.ask(&hooks.socket, plan, record),
            }
            self.events += 1;
            self.last.renew(record);
            return None;
        }
        if !record.has_usual_counts {
            self.ask(&hooks.counts, plan, record);
        }
        if !self.stream.is_next(record.sequence_number.as_ref()) {
            self.ask(&hooks.sequence, plan, record);
        }
        self.ask(&hooks.event, plan, record);
        if self.stream.events < BEGINNING {
            self.ask(&hooks.beginning, plan, record);
        }
        if self.stream.error.is_set() {
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
            self.remember_beginning(record);
            match &record.sequence_number {
                Some(Count::Whole(number)) => self.stream.sequence_number = Some(Count::Whole(*number)),
                Some(other) => self.stream.sequence_number = Some(other.clone()),
                None => {}
            }
            self.end_turn(plan);
        } else if let Some(evicted) = self.connection.turn.take().and_then(|turn| turn.previous_response_id) {
            // A failed turn also ends the response that it continues, unless that belongs to another lane.
            if self.lanes.named() == 0 || self.connection.latest.as_deref() == Some(&*evicted) {
                self.connection.responses.remove(&evicted);
            }
        }
        // Last, so that a note on a value does not hide a fault of it.
        if record.view.is_newer() {
            self.ask(&hooks.newer, plan, record);
        }
        self.count(record);
        self.stream.weigh(record.data().len());
        about
    }

    /// Calls rules that need only the case; usually there are none.
    #[inline]
    fn ask(&mut self, hooks: &Plain, plan: &Plan, record: &Record<'_>) {
        if !hooks.is_empty() {
            self.ask_all(hooks, plan, record);
        }
    }

    #[inline(never)]
    fn ask_all(&mut self, hooks: &Plain, plan: &Plan, record: &Record<'_>) {
        let Self { connection, stream, findings, .. } = self;
        connection.ask(hooks, &plan.protocol, record, stream, findings, |rule, case| rule(case));
    }

    fn count(&mut self, record: &Record<'_>) {
        self.events += 1;
        self.stream.count(record);
        self.last.renew(record);
    }

    /// Starts the next response on a WebSocket after one has ended.
    fn begin_turn(&mut self, plan: &Plan, record: &Record<'_>) {
        if record.frame.transport != Transport::WebSocket {
            return;
        }
        self.connection.begin(record.frame);
        let begins = record.begins();
        let overlaps = begins && self.stream.has_begun() && !self.stream.has_ended();
        if overlaps || self.stream.has_ended() {
            self.remember_response(plan);
            self.stream.reset();
            self.stream.overlaps = overlaps;
            self.connection.turn = None;
        }
        self.connection.has_overlapped |= overlaps;
        let Connection { turn, unanswered, latest, asides, is_unasked, has_requests, has_overlapped, .. } =
            &mut self.connection;
        *is_unasked = false;
        if turn.is_some() || !(begins || self.stream.is_answered_apart(record)) {
            return;
        }
        // Replies to the previous response come first.
        let turned = latest.as_deref().filter(|_| begins);
        if let Some(turned) = turned.filter(|id| asides.turning(id).is_some_and(|steer| !steer.is_pending)) {
            asides.follow(turned);
            return;
        }
        *turn = unanswered.pop_front();
        *is_unasked = begins && turn.is_none() && *has_requests && !*has_overlapped;
        if let Some(turned) = turned {
            asides.follow(turned);
        }
    }

    fn end_turn(&mut self, plan: &Plan) {
        // With other transports, there is only one response.
        if self.stream.has_ended() && self.stream.transport == Transport::WebSocket {
            self.connection.turn = None;
            self.remember_response(plan);
        }
    }

    fn remember_beginning(&mut self, record: &Record<'_>) {
        if self.stream.transport == Transport::WebSocket && record.begins() {
            let id = self.stream.first_snapshot.get().and_then(|response| response.string("id"));
            self.connection.begun.extend(id.map(Cow::into_owned));
        }
    }

    fn remember_response(&mut self, plan: &Plan) {
        if let Some(id) = self.stream.first_snapshot.get().and_then(|response| response.string("id")) {
            let end = self.stream.response().and_then(|response| response.closed.get());
            let end = end.and_then(|end| plan.dialect().event(end.event_type()));
            self.connection.asides.end(&id, end.is_some_and(|end| end.phase == Some("completed")));
            self.connection.latest = Some(id.clone().into_owned());
            self.connection.responses.insert(id.into());
        }
    }

    pub(crate) fn body(&mut self, plan: &Plan, frame: &Frame<'_>) {
        self.frames += 1;
        let record = Record::of_body(frame, self.frames);
        super::body::judge(plan, &self.connection, record, &mut self.findings);
    }

    pub(crate) fn finish(&mut self, plan: &Plan) {
        let is_again = self.finished_at.replace(self.frames) == Some(self.frames);
        let is_empty = self.events == 0 && self.connection.unanswered.is_empty();
        if is_again || is_empty || self.stream.is_beyond {
            return;
        }
        self.end_stream(plan);
        for (stream, unanswered) in self.lanes.drain() {
            (self.stream, self.connection.unanswered) = (stream, unanswered);
            self.end_stream(plan);
        }
    }

    /// Ends the stream of the current lane.
    fn end_stream(&mut self, plan: &Plan) {
        if !self.stream.has_ended() && self.stream.has_begun() {
            super::tracker::unended(plan, &self.stream, &self.last, &mut self.findings);
        }
        for (bound, hook) in &plan.hooks.stream_end {
            hook(&mut self.connection.case_at(
                *bound,
                &plan.protocol,
                &self.last,
                &self.stream,
                &mut self.findings,
            ));
        }
    }
}

/// Returns the lane that an event names.
fn lane_in(data: &str) -> Option<Cow<'_, str>> {
    memchr::memmem::find(data.as_bytes(), b"\"stream_id\"")?;
    spec::json::at(data, "/stream_id").and_then(spec::json::string)
}

/// Returns whether rules about frames have anything to check: most frames are complete, and their
/// `event` field equals the type of the event.
fn is_remarkable(record: &Record<'_>) -> bool {
    let frame = record.frame;
    !frame.terminated
        || frame.id.is_some()
        || frame.invalid_utf8.is_some()
        || match (frame.event.as_deref(), record.event_type.as_deref()) {
            (Some(line), Some(name)) => !is_same(line.as_bytes(), name.as_bytes()),
            (line, name) => line != name,
        }
}
