//! The check of a connection's frames, stream by stream.

use spec::json::{RawString, is_same};
use spec::table::{EventInfo, EventLine, Marker};
use spec::{Api, Count, FragmentFrame, Memory};

use super::case::{At, Case};
use super::context::Context;
use super::finding::Findings;
use super::head::Head;
use super::hooks::{EventRule, Moment, Plain};
use super::locate::place;
use super::location::{FrameExtent, SavedLocation};
use super::observer::{Observer, Occurrence, Seen, Subject};
use super::plan::Plan;
use super::record::{Payload, Record};
use super::session::{Placement, Session};
use super::stream::Stream;
use super::tracker::Tracker;
use crate::sse::{FrameStart, MAX_REPEATED, Repeated};
use crate::{Exchange, Frame, Places, Transport};

#[derive(Debug)]
pub(crate) struct Judge {
    frames: u64,
    pub(crate) events: u64,
    /// Number of events after their stream exceeded the memory limit.
    pub(crate) unjudged: u64,
    /// Number of frames at the end of the stream; none since the client sent a message.
    finished_at: Option<u64>,
    /// Type of the last event: the next one usually has the same.
    known: Option<(usize, &'static EventInfo)>,
    last: SavedLocation,
    head: Head,
    /// The stream, unless a session has it.
    stream: Stream,
    /// The session of a WebSocket, which has a stream for each lane.
    session: Option<Box<Session>>,
    pub(crate) findings: Findings,
    /// The subjects of the effects of the event at hand, if its type has a list, for an observer.
    subjects: Vec<Subject>,
}

/// The stream at hand, with what its rules see and where they report.
struct AtHand<'j> {
    plan: &'j Plan,
    stream: &'j mut Stream,
    context: Context<'j>,
    findings: &'j mut Findings,
    subjects: &'j mut Vec<Subject>,
}

/// Number of events that count as the beginning of a stream.
const BEGINNING: usize = 3;

impl Judge {
    pub(crate) fn new(api: &'static Api) -> Self {
        Self {
            frames: 0,
            events: 0,
            unjudged: 0,
            finished_at: None,
            known: None,
            last: SavedLocation::default(),
            head: Head::default(),
            stream: Stream::new(api),
            session: None,
            findings: Findings::of(api.name),
            subjects: Vec::new(),
        }
    }

    pub(crate) fn reset(&mut self) {
        self.frames = 0;
        self.events = 0;
        self.unjudged = 0;
        self.finished_at = None;
        self.head = Head::default();
        self.stream.reset();
        self.session = None;
        self.findings = Findings::of(self.stream.api.name);
    }

    /// The types of another dialect have other positions. Nothing was checked before.
    pub(crate) fn change_plan(&mut self, api: &'static Api) {
        self.known = None;
        if self.stream.api.name != api.name {
            *self = Self::new(api);
        }
    }

    pub(crate) fn take_findings(&mut self) -> Findings {
        std::mem::take(&mut self.findings)
    }

    pub(crate) fn ended(&self) -> Option<&str> {
        let stream = self.stream();
        let id = || stream.first_snapshot.get().and_then(|response| response.get("id"));
        stream.has_ended().then(|| id().unwrap_or_default())
    }

    #[inline]
    fn stream(&self) -> &Stream {
        self.session.as_ref().map_or(&self.stream, |session| session.stream())
    }

    #[inline]
    fn stream_mut(&mut self) -> &mut Stream {
        match &mut self.session {
            Some(session) => session.stream_mut(),
            None => &mut self.stream,
        }
    }

    #[inline]
    fn at_hand<'j>(&'j mut self, plan: &'j Plan) -> AtHand<'j> {
        let (stream, session) = match &mut self.session {
            Some(session) => {
                let (stream, view) = session.split();
                (stream, Some(view))
            }
            None => (&mut self.stream, None),
        };
        let context = Context { protocol: &plan.protocol, head: &self.head, session };
        AtHand { plan, stream, context, findings: &mut self.findings, subjects: &mut self.subjects }
    }

    /// A session begins with the first message of a WebSocket.
    fn session(&mut self) -> &mut Session {
        let api = self.stream.api;
        let stream = &mut self.stream;
        self.session
            .get_or_insert_with(|| Box::new(Session::new(std::mem::replace(stream, Stream::new(api)))))
    }

    pub(crate) fn exchange(&mut self, exchange: &Exchange<'_>) {
        self.head = Head::of(exchange, &self.stream.api.request);
        self.stream_mut().has_gap = self.head.is_refusal();
    }

    pub(crate) fn sent(&mut self, plan: &Plan, frame: &Frame<'_>) {
        self.finished_at = None;
        self.last.renew(&Record::of_body(frame, self.frames));
        self.session().sent(plan.dialect(), frame);
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
        if self.stream().is_beyond {
            self.pass(frame);
            return;
        }
        let (found, reported) = (self.findings.all().len(), self.findings.reported);
        let has_others = !frame.comments.is_empty() || frame.id.is_some();
        let forbids_comments = || plan.dialect().framing.comments == Marker::Forbidden;
        if !frame.strays.is_empty() || has_others && forbids_comments() {
            if forbids_comments()
                && let Some(error) = bare_error(plan, frame)
            {
                // No blank line follows it.
                let frame =
                    Frame { data: Some(error.into()), strays: Vec::new(), terminated: true, ..frame.clone() };
                return self.frame(plan, memory, &frame, observer);
            }
            let record = Record::of_body(frame, self.frames);
            self.at_hand(plan).ask(Moment::Stray, &record);
        }
        if frame.data.is_none() {
            return;
        }
        self.subjects.clear();
        let mut record = Record::new(frame, self.frames, self.events + 1);
        record.read(plan.dialect(), &mut self.known, memory);
        let about = self.record(plan, &mut record);
        if let Some(observer) = observer {
            let nodes = &self.stream().nodes;
            let about = about.and_then(|at| Occurrence::new(nodes, at));
            let is_faulty = self.findings.all().len() > found;
            let lane = self.session.as_ref().and_then(|session| session.lane());
            let dialect = plan.dialect();
            let subjects = &*self.subjects;
            observer.record(&Seen { record: &record, dialect, about, nodes, subjects, lane, is_faulty });
        } else if let Some((event, info)) = record.known
            && plan.is_fragment[event]
            && self.findings.reported == reported
            && !record.lists_logprobs()
        {
            self.expect_fragments(plan, memory, info);
        }
    }

    /// Later deltas like the last event need no rule: no rule had anything to say about it.
    fn expect_fragments(&self, plan: &Plan, memory: &mut Memory, info: &'static EventInfo) {
        let effect = if info.effects.is_empty() { Some(info) } else { memory.matches().only(info) };
        let is_expected = |effect: &EventInfo| {
            let is_settled = plan.hooks.run.of(effect.scope).is_empty() || self.stream().has_recent_text();
            plan.is_fragment[effect.number] && is_settled
        };
        if effect.is_some_and(is_expected) {
            let number = self.stream().sequence_number.as_ref().and_then(Count::whole);
            memory.expect_fragments(info, plan.event_line(info), number);
        }
    }

    /// Processes a delta of the same text as the previous event, as most events are. Does nothing if a rule has to be
    /// called. The result equals [`Self::record`].
    #[inline]
    fn fragment(&mut self, plan: &Plan, memory: &mut Memory, frame: &Frame<'_>) -> Option<()> {
        let info = self.known_fragment(plan)?;
        let data = frame.data.as_deref()?;
        let is_usual = frame.terminated
            && frame.transport != Transport::WebSocket
            && frame.strays.is_empty()
            && (frame.comments.is_empty() || plan.dialect().framing.comments != Marker::Forbidden)
            && frame.id.is_none()
            && frame.invalid_utf8.is_none()
            && frame.event.as_deref() == plan.event_line(info);
        if !is_usual {
            return None;
        }
        let mut fragment = Some(memory.fragment(info, data)?);
        let next =
            |number| fragment.take_if(|next| next.number == number).map(|next| (next.text, data.len()));
        if self.take_fragments(plan, frame.transport, next) == 0 {
            return None;
        }
        memory.take_fragment();
        self.renew_last(info, &FrameExtent::of(frame));
        Some(())
    }

    /// Such deltas need no parsing.
    #[inline]
    pub(crate) fn repeated_frames(
        &mut self,
        plan: &Plan,
        memory: &mut Memory,
        text: &str,
        start: &FrameStart,
    ) -> Option<Repeated> {
        let info = self.known_fragment(plan)?;
        let (mut last, mut length, mut lines) = (None, 0, 0);
        let next = |number| {
            let next = memory.fragment_of_frame(info, text.get(length..)?)?;
            let FragmentFrame { fragment, data, .. } = next;
            if fragment.number != number || next.length > MAX_REPEATED {
                return None;
            }
            memory.take_fragment();
            let size = data.len();
            last = Some((length, lines, data));
            length += next.length;
            lines += next.lines;
            Some((fragment.text, size))
        };
        let frames = self.take_fragments(plan, Transport::Http, next);
        let (offset, lines_before, data) = last?;
        // The blank line is not part of it.
        let source = text.as_bytes().get(offset..length - 1)?;
        let byte = start.byte + offset as u64;
        let extent = FrameExtent {
            source,
            bytes: byte..byte + source.len() as u64,
            line: start.line + lines_before,
            is_on_one_line: false,
            data: data.start,
            time: start.time,
        };
        self.renew_last(info, &extent);
        Some(Repeated { frames, lines, length })
    }

    #[inline]
    fn known_fragment(&self, plan: &Plan) -> Option<&'static EventInfo> {
        let is_fragment = |event: usize| plan.is_fragment[event] && !self.stream().is_beyond;
        self.known.filter(|(event, _)| is_fragment(*event)).map(|(_, info)| info)
    }

    /// Stops before a delta that needs a rule. `next` returns the text and size of the delta with the next sequence
    /// number, or without a number. Returns the number of deltas.
    #[inline]
    fn take_fragments<'f>(
        &mut self,
        plan: &Plan,
        transport: Transport,
        next: impl FnMut(Option<u64>) -> Option<(RawString<'f>, usize)>,
    ) -> u64 {
        let stream = self.stream_mut();
        if stream.sequence_number.is_none() && !plan.hooks.at(Moment::Sequence).is_empty() {
            return 0;
        }
        let count = stream.feed(next);
        if count > 0 {
            stream.transport = transport;
            self.frames += count;
            self.events += count;
        }
        count
    }

    fn renew_last(&mut self, info: &'static EventInfo, extent: &FrameExtent<'_>) {
        let number = self.stream().sequence_number.as_ref().and_then(Count::whole);
        self.last.renew_as(info.name.into(), extent, (self.frames, self.events, number));
    }

    #[cold]
    fn pass(&mut self, frame: &Frame<'_>) {
        if frame.data.as_deref().is_some_and(|data| data != "[DONE]") {
            self.events += 1;
            self.unjudged += 1;
        }
    }

    /// The result is the node of the event.
    fn record(&mut self, plan: &Plan, record: &mut Record<'_>) -> Option<usize> {
        let is_on_socket = record.frame.transport == Transport::WebSocket;
        let placement =
            if is_on_socket { self.session().place(plan.dialect(), record) } else { Placement::InStream };
        let mut at_hand = self.at_hand(plan);
        at_hand.frame(record);
        let mut about = None;
        match (record.payload, placement) {
            (Payload::Done, _) => {
                at_hand.stream.done.get_or_insert(record.number);
                at_hand.tracker(record).end_at_marker();
                return None;
            }
            (Payload::OtherValue | Payload::NotJson(..), _) => {
                at_hand.stream.mark_gap();
                at_hand.stream.count(record);
            }
            (Payload::Object, Placement::InStream) => {
                let is_apart = at_hand.stream.is_answered_apart(record);
                about = at_hand.event(record, is_apart);
                if let Some(session) = self.session.as_mut().filter(|_| is_on_socket) {
                    session.settle(record, is_apart);
                }
                self.at_hand(plan).count(record);
            }
            (Payload::Object, Placement::Aside(message, reply)) => {
                at_hand.aside(record);
                self.session().connection.asides.came((message, reply), record.data(), plan.dialect());
            }
            (Payload::Object, Placement::Unknown) => at_hand.ask(Moment::Socket, record),
        }
        self.events += 1;
        self.last.renew(record);
        about
    }

    /// Where a body has no type of its own, it is an event, or a list of events.
    pub(crate) fn body(&mut self, plan: &Plan, memory: &mut Memory, frame: &Frame<'_>) {
        if !plan.api().is_stream_of_bodies() {
            return self.whole_body(plan, frame);
        }
        let data = frame.data.as_deref().unwrap_or_default();
        let events = spec::json::entries(data.trim()).filter(|events| !events.is_empty());
        let events = events.unwrap_or_else(|| vec![data.trim()]);
        let (transport, terminated) = (Transport::Unframed, true);
        let empty = Frame { data: None, places: Places::Nowhere, transport, terminated, ..frame.to_static() };
        for event in events {
            let places = frame.places.after(place(data, event).map_or(0, |at| at.start));
            let frame = Frame { data: Some(event.into()), places, source: frame.source, ..empty.clone() };
            if self.head.is_refusal() {
                return self.whole_body(plan, &frame);
            }
            self.frame(plan, memory, &frame, None);
        }
        self.finish(plan);
    }

    fn whole_body(&mut self, plan: &Plan, frame: &Frame<'_>) {
        self.frames += 1;
        let record = Record::of_body(frame, self.frames);
        super::body::judge(plan, &self.head, record, &mut self.findings);
    }

    pub(crate) fn finish(&mut self, plan: &Plan) {
        let is_again = self.finished_at.replace(self.frames) == Some(self.frames);
        let is_empty = self.events == 0 && !self.session.as_ref().is_some_and(|session| session.is_due());
        if is_again || is_empty || self.stream().is_beyond {
            return;
        }
        self.end_stream(plan);
        while self.session.as_mut().is_some_and(|session| session.lanes.leave()) {
            self.end_stream(plan);
        }
    }

    fn end_stream(&mut self, plan: &Plan) {
        let (last, is_session) = (std::mem::take(&mut self.last), self.session.is_some());
        let AtHand { stream, context, findings, .. } = self.at_hand(plan);
        // A stream of keep-alives has no response, and should have one.
        let should_begin = !is_session && !plan.api().marker_ends;
        if !stream.has_ended() && (stream.has_begun() || should_begin) {
            super::tracker::unended(plan, context, stream, &last, findings);
        }
        let hooks = plan.hooks.at(Moment::StreamEnd);
        context.ask(At::SavedLocation(&last), hooks, stream, findings, |rule, case| rule(case));
        self.last = last;
    }
}

impl AtHand<'_> {
    #[inline]
    fn ask(&mut self, moment: Moment, record: &Record<'_>) {
        let hooks = self.plan.hooks.at(moment);
        if !hooks.is_empty() {
            self.ask_all(hooks, record);
        }
    }

    #[inline(never)]
    fn ask_all(&mut self, hooks: &Plain, record: &Record<'_>) {
        self.context.ask(At::Record(record), hooks, self.stream, self.findings, |rule, case| rule(case));
    }

    #[inline(never)]
    fn ask_of_event(&mut self, record: &Record<'_>) {
        let look = |rule: EventRule, case: &mut Case<'_>| {
            if rule.looks_at(record) {
                (rule.code)(case);
            }
        };
        self.context.ask(At::Record(record), &self.plan.hooks.event, self.stream, self.findings, look);
    }

    #[inline]
    fn frame(&mut self, record: &Record<'_>) {
        self.stream.transport = record.frame.transport;
        if is_remarkable(self.plan.dialect().framing.event_line, record) {
            self.ask(Moment::Frame, record);
        } else if record.may_have_lost_characters() {
            self.ask(Moment::Escaped, record);
        }
        if record.payload == Payload::Done || self.stream.done.is_some() {
            self.ask(Moment::Marker, record);
        }
        if !record.verdict.is_valid() {
            self.ask(Moment::Invalid, record);
        }
    }

    /// Replies to requests apart from any response are checked, but not applied. Returns the node of the event.
    fn event(&mut self, record: &mut Record<'_>, is_apart: bool) -> Option<usize> {
        if !record.has_usual_counts {
            self.ask(Moment::Counts, record);
        }
        if !self.stream.is_next(record.sequence_number.as_ref()) {
            self.ask(Moment::Sequence, record);
        }
        if !self.plan.hooks.event.is_empty() {
            self.ask_of_event(record);
        }
        if self.stream.first_types.len() < BEGINNING {
            self.ask(Moment::Beginning, record);
        }
        if self.stream.error.is_set() {
            self.ask(Moment::AfterError, record);
        }
        if record.frame.transport == Transport::WebSocket {
            self.ask(Moment::Socket, record);
        }
        if is_apart {
            return None;
        }
        let about = if record.matches.is_some() {
            self.effects(record)
        } else {
            let mut tracker = self.tracker(record);
            tracker.take();
            tracker.current
        };
        match &record.sequence_number {
            Some(Count::Whole(number)) => self.stream.sequence_number = Some(Count::Whole(*number)),
            Some(other) => self.stream.sequence_number = Some(other.clone()),
            None => {}
        }
        about
    }

    #[inline]
    fn tracker<'t, 'r>(&'t mut self, record: &'t Record<'r>) -> Tracker<'t, 'r> {
        Tracker {
            plan: self.plan,
            stream: self.stream,
            findings: self.findings,
            context: self.context,
            record,
            response: None,
            value: None,
            current: None,
        }
    }

    /// Effects take place in order. Without one, the event is a point of its scope. Returns the node of the last
    /// effect.
    fn effects(&mut self, record: &mut Record<'_>) -> Option<usize> {
        let ((number, event), matches) = record.known.zip(record.matches)?;
        let mut tracker = self.tracker(record);
        if !tracker.admit() {
            return None;
        }
        if matches.is_cut() {
            tracker.stream.mark_gap();
        }
        if matches.is_empty() {
            tracker.take_effect();
            let about = tracker.current;
            if !record.verdict.is_valid()
                && let Some(node) = about.and_then(|at| self.stream.nodes.get_mut(at))
            {
                node.partial |= node.level.is_container;
            }
            return about;
        }
        tracker.relate_whole(number);
        let (whole, is_error, mut about) = (record.view, record.is_error, None);
        for nth in 0..matches.len() {
            let Some((effect, view)) = matches.get(nth, event, &whole) else { continue };
            (record.known, record.view, record.effect) = (Some((effect.number, effect)), view, Some(nth));
            record.is_error = effect.is_named(self.plan.dialect().error);
            if !view.has_usual_counts() {
                self.ask(Moment::Counts, record);
            }
            let mut tracker = self.tracker(record);
            tracker.take_effect();
            let current = tracker.current;
            self.subjects.push(Subject::of(&self.stream.nodes, current));
            about = current.or(about);
        }
        (record.known, record.view, record.effect) = (Some((number, event)), whole, None);
        record.is_error = is_error;
        about
    }

    fn count(&mut self, record: &Record<'_>) {
        // Last, so that a note on a value does not hide a fault of it.
        if record.view.is_newer() {
            self.ask(Moment::Newer, record);
        }
        self.stream.count(record);
        self.stream.weigh(record.data().len());
    }

    fn aside(&mut self, record: &Record<'_>) {
        self.ask(Moment::Aside, record);
        // It is unknown whether it counts.
        if record.sequence_number > self.stream.sequence_number {
            self.stream.sequence_number.clone_from(&record.sequence_number);
        }
    }
}

/// Lines outside of fields are an error if they join to JSON with one.
fn bare_error(plan: &Plan, frame: &Frame<'_>) -> Option<String> {
    let text = frame.strays.join("\n");
    let value = serde_json::from_str::<serde::de::IgnoredAny>(&text).ok().map(|_| text)?;
    plan.api().error_in(&value).is_some().then_some(value)
}

/// Most frames are complete, and their `event` field is the expected one.
fn is_remarkable(expected: EventLine, record: &Record<'_>) -> bool {
    let frame = record.frame;
    !frame.terminated
        || frame.id.is_some()
        || frame.invalid_utf8.is_some()
        || match (expected, frame.event.as_deref(), record.event_type.as_deref()) {
            (EventLine::None | EventLine::Forbidden, line, _) => line.is_some(),
            (EventLine::EqualsType, Some(line), Some(name)) => !is_same(line.as_bytes(), name.as_bytes()),
            (EventLine::EqualsType, line, name) => line != name,
            _ => true,
        }
}
