//! The checker of one stream.

use std::sync::Arc;

use spec::{Dialect, Memory};

use crate::engine::{Finding, Judge, MOST_KEPT, Observer, Plan};
use crate::recognition::{Other, fallback};
use crate::sse::{FrameStart, Repeated};
use crate::waiting::{Held, Waiting};
use crate::{Answer, AnswerReader, Exchange, Frame, Recognised, RuleSets, Rules, Transport, sse};

/// Checks one stream as it arrives. It does no I/O and reads no clock, and its findings do not depend on
/// how the bytes were cut.
///
/// ```
/// use checker::Checker;
///
/// let dialect = spec::dialect("openai").unwrap();
/// let mut checker = Checker::new(dialect);
///
/// // Bytes, as they are read from a connection:
/// assert!(checker.push(b"event: response.output_text.delta\nda").is_empty());
/// let found = checker.push(b"ta: {\"type\":\"response.output_text.delta\"}\n\n");
/// assert_eq!(found[0].rule, "schema/event-valid");
/// assert!(found.iter().any(|finding| finding.expected.as_deref() == Some("property \"delta\"")));
///
/// // Or single events, when something else has framed them:
/// let found = checker.event("{\"type\":");
/// assert_eq!(found[0].rule, "wire/json-object");
///
/// checker.finish();
/// assert!(checker.findings().iter().all(|finding| finding.count == 1));
/// ```
#[derive(Debug)]
pub struct Checker {
    parser: sse::Parser,
    memory: Memory,
    judge: Judge,
    plan: Arc<Plan>,
    waiting: Option<Box<Waiting>>,
    sets: Option<RuleSets>,
    recognised: Option<Recognised>,
}

impl Checker {
    /// Maximum number of bytes stored for open nodes and finished items. A stream that exceeds it is checked up to that
    /// point.
    pub const MOST_KEPT: usize = MOST_KEPT;

    /// Creates a checker with all rules of a dialect.
    pub fn new(dialect: &'static Dialect) -> Self {
        Self::with_rules(&RuleSets::all().of(dialect))
    }

    /// Creates a checker with selected rules, which many checkers can share.
    pub fn with_rules(rules: &Rules) -> Self {
        let plan = rules.plan();
        Self {
            parser: sse::Parser::default(),
            memory: Memory::default(),
            judge: Judge::new(plan.api()),
            plan,
            waiting: None,
            sets: None,
            recognised: None,
        }
    }

    /// Creates a checker that recognises the dialect of each stream by its head and the first event that shows an API. Until
    /// then it keeps what it processes. A stream that shows none is not checked.
    pub fn recognising(sets: &RuleSets) -> Self {
        let dialect = fallback(None).unwrap_or(spec::DIALECTS[0]);
        let mut checker = Self::with_rules(&sets.of(dialect));
        checker.sets = Some(sets.clone());
        checker.waiting = Some(Box::default());
        checker
    }

    /// Starts a new stream with the same rules. This is faster than creating a new
    /// checker, with the same findings.
    pub fn reset(&mut self) {
        self.parser.reset();
        self.judge.reset();
        self.recognised = None;
        self.waiting = self.sets.as_ref().map(|_| Box::default());
    }

    /// Checks the stream that begins only from the first event of the dialect's API on, with what came before it. If none
    /// comes, [`Self::finish`] does not check it.
    pub fn expect_own_events(&mut self) {
        if self.sets.is_none() && self.waiting.is_none() {
            self.waiting = Some(Box::new(Waiting::until(self.dialect())));
        }
    }

    /// Checks the stream whatever its events are, by the rules of the dialect if one is named.
    pub fn expect_any_events(&mut self, observer: Option<&mut dyn Observer>) {
        if self.sets.is_none() {
            self.settle(observer);
        }
    }

    /// Returns whether no event so far shows the API of the stream.
    pub const fn is_unsettled(&self) -> bool {
        self.waiting.is_some()
    }

    /// Returns what the stream is of, as far as it has been seen, if it has no event of an API that is checked.
    pub fn other(&self) -> Option<Other> {
        self.waiting.as_ref()?.other
    }

    /// Returns the number of objects that were not checked, as they do not show the API of the stream.
    pub fn unknown_objects(&self) -> u64 {
        self.waiting.as_ref().map_or(0, |waiting| waiting.objects)
    }

    /// Returns the dialect of the rules. Until the dialect of a stream is recognised, it is the previous stream's.
    pub fn dialect(&self) -> &'static Dialect {
        self.plan.dialect()
    }

    /// Returns the dialect, unless it is still to be recognised.
    pub fn settled_dialect(&self) -> Option<&'static Dialect> {
        (self.sets.is_none() || self.recognised.is_some()).then(|| self.dialect())
    }

    /// Returns the recognised dialect and the reason. It is `None` if the rules have only one dialect, or until an
    /// event shows an API.
    pub const fn recognised(&self) -> Option<&Recognised> {
        self.recognised.as_ref()
    }

    /// Returns whether the API of the stream is not recognised yet, also not by this frame.
    pub fn is_waiting(&self, frame: &Frame<'_>) -> bool {
        self.waiting.as_ref().is_some_and(|waiting| waiting.waits(frame))
    }

    /// Recognises the dialect by what came before and the first event, or by a body. Returns the head of the exchange. Does
    /// nothing if the dialect is known, or nothing shows it.
    pub fn recognise(&mut self, first: Option<&Frame<'_>>, is_body: bool) -> Option<Exchange<'static>> {
        let (waiting, sets) = (self.waiting.as_mut()?, self.sets.as_ref()?);
        if self.recognised.is_none() {
            let found = waiting.recognise(first, is_body)?;
            self.plan = sets.of(found.dialect).plan();
            self.judge.change_plan(self.plan.api());
            self.recognised = Some(found);
        }
        let exchange = waiting.exchange.take();
        if let Some(exchange) = &exchange {
            self.judge.exchange(exchange);
        }
        exchange
    }

    /// Checks what was kept until the dialect was recognised, and shows it to an observer. Does nothing if nothing shows it.
    #[cold]
    pub fn release(&mut self, observer: Option<&mut dyn Observer>) {
        self.recognise(None, false);
        if self.recognised.is_some() || self.waiting.as_ref().is_some_and(|waiting| waiting.shows_own()) {
            self.settle(observer);
        }
    }

    /// The frames that waited are checked now.
    #[cold]
    fn settle(&mut self, mut observer: Option<&mut dyn Observer>) {
        let Some(waiting) = self.waiting.take() else { return };
        if let Some(exchange) = &waiting.exchange {
            self.judge.exchange(exchange);
        }
        for Held { frame, source, is_sent } in &waiting.held {
            let frame = Frame { source, ..frame.clone() };
            if *is_sent {
                self.judge.sent(&self.plan, &frame);
            } else {
                let observer = observer.as_mut().map(|observer| &mut **observer as &mut dyn Observer);
                self.judge.frame(&self.plan, &mut self.memory, &frame, observer);
            }
        }
    }

    /// Frames wait until the API is recognised.
    #[cold]
    fn keeps(&mut self, frame: &Frame<'_>, is_sent: bool, observer: Option<&mut dyn Observer>) -> bool {
        let Some(waiting) = &mut self.waiting else { return false };
        if self.recognised.is_none() && (is_sent || waiting.waits(frame)) {
            waiting.keep(frame, is_sent);
            return true;
        }
        if self.sets.is_some() {
            self.recognise(Some(frame), false);
        }
        self.settle(observer);
        false
    }

    /// Processes the head of the exchange: the request, and the status and headers of the response.
    pub fn exchange(&mut self, exchange: &Exchange<'_>) {
        match &mut self.waiting {
            Some(waiting) => waiting.exchange = Some(exchange.to_static()),
            None => self.judge.exchange(exchange),
        }
    }

    /// Processes a client's message on a WebSocket. Returns new findings.
    pub fn sent(&mut self, frame: &Frame<'_>) -> &[Finding] {
        let before = self.findings().len();
        if self.waiting.is_none() || !self.keeps(frame, true, None) {
            self.judge.sent(&self.plan, frame);
        }
        self.since(before)
    }

    /// Processes the body of a non-streaming response. Returns new findings.
    pub fn body(&mut self, frame: &Frame<'_>) -> &[Finding] {
        let before = self.findings().len();
        if self.sets.is_some() {
            self.recognise(Some(frame), true);
            if self.recognised.is_none() {
                return &[];
            }
        }
        self.settle(None);
        self.judge.body(&self.plan, &mut self.memory, frame);
        self.since(before)
    }

    /// Processes the next bytes of a stream of server-sent events. Returns new findings.
    pub fn push(&mut self, chunk: &[u8]) -> &[Finding] {
        let before = self.findings().len();
        if self.waiting.is_some() {
            self.parse_waiting(|parser, checker| parser.push_to(chunk, checker));
        } else {
            let Self { parser, memory, judge, plan, .. } = self;
            parser.push_to(chunk, &mut Frames { judge, plan, memory });
        }
        self.since(before)
    }

    #[cold]
    fn parse_waiting(&mut self, parse: impl FnOnce(&mut sse::Parser, &mut Self)) {
        let mut parser = std::mem::take(&mut self.parser);
        parse(&mut parser, self);
        self.parser = parser;
    }

    /// Processes the data of one event. Returns new findings.
    pub fn event(&mut self, data: &str) -> &[Finding] {
        let frame = Frame {
            data: Some(data.into()),
            source: data.as_bytes(),
            bytes: 0..data.len() as u64,
            line: 1,
            places: crate::Places::At(0),
            terminated: true,
            transport: Transport::Unframed,
            ..Frame::default()
        };
        self.frame(&frame)
    }

    /// Processes one frame. Returns new findings.
    pub fn frame(&mut self, frame: &Frame<'_>) -> &[Finding] {
        let before = self.findings().len();
        if self.waiting.is_none() || !self.keeps(frame, false, None) {
            self.judge.frame(&self.plan, &mut self.memory, frame, None);
        }
        self.since(before)
    }

    /// Processes one frame and shows it to an observer. Returns new findings.
    pub fn frame_seen_by(&mut self, frame: &Frame<'_>, observer: &mut dyn Observer) -> &[Finding] {
        let before = self.findings().len();
        let mut observer = observer.is_watching().then_some(observer);
        let shown = observer.as_mut().map(|observer| &mut **observer as &mut dyn Observer);
        if self.waiting.is_none() || !self.keeps(frame, false, shown) {
            self.judge.frame(&self.plan, &mut self.memory, frame, observer);
        }
        self.since(before)
    }

    /// Processes the frames that [`sse::Sink::repeated_frames`] describes, like [`Self::frame`] but without parsing
    /// them.
    pub fn repeated_frames(&mut self, text: &str, start: &FrameStart) -> Option<Repeated> {
        if self.waiting.is_some() {
            return None;
        }
        self.judge.repeated_frames(&self.plan, &mut self.memory, text, start)
    }

    /// Ends the stream. Returns new findings. A second call changes nothing, unless a frame or a message of the client
    /// has arrived since the first.
    pub fn finish(&mut self) -> &[Finding] {
        let before = self.findings().len();
        if self.waiting.is_some() {
            self.parse_waiting(sse::Parser::finish_to);
            self.release(None);
        }
        let Self { parser, memory, judge, plan, .. } = self;
        parser.finish_to(&mut Frames { judge, plan, memory });
        judge.finish(plan);
        self.since(before)
    }

    /// Returns all findings so far, in the order of their first occurrence; repetitions are counted.
    pub fn findings(&self) -> &[Finding] {
        self.judge.findings.all()
    }

    /// Returns the number of faults beyond the listed findings.
    pub const fn omitted(&self) -> u64 {
        self.judge.findings.omitted()
    }

    /// Returns the number of events that were not checked because the stream exceeded [`Self::MOST_KEPT`].
    pub const fn unjudged(&self) -> u64 {
        self.judge.unjudged
    }

    /// Returns the number of events so far.
    pub const fn events(&self) -> u64 {
        self.judge.events
    }

    /// Returns the id of the response that has ended, as JSON text; empty if it has none.
    pub fn ended(&self) -> Option<&str> {
        self.judge.ended()
    }

    /// Returns all findings, and the number of faults beyond them.
    pub fn into_findings(mut self) -> (Vec<Finding>, u64) {
        self.take_findings()
    }

    /// Removes and returns all findings, and the number of faults beyond them.
    pub fn take_findings(&mut self) -> (Vec<Finding>, u64) {
        self.judge.take_findings().finish()
    }

    fn since(&self, before: usize) -> &[Finding] {
        self.findings().get(before..).unwrap_or_default()
    }
}

struct Frames<'c> {
    judge: &'c mut Judge,
    plan: &'c Plan,
    memory: &'c mut Memory,
}

impl sse::Sink for Frames<'_> {
    fn frame(&mut self, frame: &mut Frame<'_>) {
        self.judge.frame(self.plan, self.memory, frame, None);
    }

    fn repeated_frames(&mut self, text: &str, start: &FrameStart) -> Option<Repeated> {
        self.judge.repeated_frames(self.plan, self.memory, text, start)
    }
}

/// Takes frames until the dialect is recognised, and the others of the same bytes.
impl sse::Sink for Checker {
    fn frame(&mut self, frame: &mut Frame<'_>) {
        Self::frame(self, frame);
    }

    fn repeated_frames(&mut self, text: &str, start: &FrameStart) -> Option<Repeated> {
        Self::repeated_frames(self, text, start)
    }
}

impl Answer {
    /// The content of a stream of server-sent events.
    pub fn of_stream(dialect: &'static Dialect, bytes: &[u8]) -> Self {
        let (mut checker, mut reader) = (Checker::new(dialect), AnswerReader::new(dialect.api));
        let mut parser = sse::Parser::default();
        let mut take = |frame: Frame<'_>| {
            checker.frame_seen_by(&frame, &mut reader);
        };
        parser.push(bytes, &mut take);
        parser.finish(&mut take);
        reader.finish()
    }
}
