//! The checker of one stream.

use std::sync::Arc;

use spec::{Dialect, Memory};

use crate::engine::{Finding, Judge, MOST_KEPT, Observer, Plan};
use crate::{Exchange, Frame, Rules, Transport, sse};

/// Judges one stream as it comes. It does no I/O, knows no clock, and what it finds does not depend on
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
}

impl Checker {
    /// So many bytes are kept of what is open in a stream, and of its finished items. A stream with more is judged
    /// up to there.
    pub const MOST_KEPT: usize = MOST_KEPT;

    /// A checker with all rules of the dialect.
    pub fn new(dialect: &'static Dialect) -> Self {
        Self::with_rules(&Rules::of(dialect))
    }

    /// A checker with some of the rules, which can be shared by many.
    pub fn with_rules(rules: &Rules) -> Self {
        Self {
            parser: sse::Parser::default(),
            memory: Memory::default(),
            judge: Judge::new(),
            plan: rules.plan(),
        }
    }

    /// Forgets the stream, to judge another one by the same rules. That takes less time than to make a new
    /// checker for it, and what is found is the same.
    pub fn reset(&mut self) {
        self.parser.reset();
        self.judge.reset();
    }

    /// Takes what the stream comes on: the status and the headers of the answer.
    pub fn exchange(&mut self, exchange: &Exchange<'_>) {
        self.judge.exchange(exchange);
    }

    /// Takes what the client sends on a WebSocket. Returns what was found for the first time.
    pub fn sent(&mut self, frame: &Frame<'_>) -> &[Finding] {
        let before = self.findings().len();
        self.judge.sent(&self.plan, frame);
        self.since(before)
    }

    /// Takes an answer that is no stream. Returns what was found for the first time.
    pub fn body(&mut self, frame: &Frame<'_>) -> &[Finding] {
        let before = self.findings().len();
        self.judge.body(&self.plan, frame);
        self.since(before)
    }

    /// Takes the next bytes of a stream of server-sent events. Returns what was found for the first time.
    pub fn push(&mut self, chunk: &[u8]) -> &[Finding] {
        let before = self.findings().len();
        let Self { parser, memory, judge, plan } = self;
        parser.for_each_frame(chunk, &mut |frame| judge.frame(plan, memory, frame, None));
        self.since(before)
    }

    /// Takes the data of one event. Returns what was found for the first time.
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

    /// Takes one frame. Returns what was found for the first time.
    pub fn frame(&mut self, frame: &Frame<'_>) -> &[Finding] {
        let before = self.findings().len();
        self.judge.frame(&self.plan, &mut self.memory, frame, None);
        self.since(before)
    }

    /// Takes one frame, and shows it to an observer. Returns what was found for the first time.
    pub fn frame_seen_by(&mut self, frame: &Frame<'_>, observer: &mut dyn Observer) -> &[Finding] {
        let before = self.findings().len();
        let observer = observer.is_watching().then_some(observer);
        self.judge.frame(&self.plan, &mut self.memory, frame, observer);
        self.since(before)
    }

    /// The stream has ended. Returns what was found for the first time.
    pub fn finish(&mut self) -> &[Finding] {
        let before = self.findings().len();
        let Self { parser, memory, judge, plan } = self;
        parser.finish_each(&mut |frame| judge.frame(plan, memory, frame, None));
        judge.finish(plan);
        self.since(before)
    }

    /// What was found so far, in the order of first appearance; what repeats is counted.
    pub fn findings(&self) -> &[Finding] {
        self.judge.findings().all()
    }

    /// How many faults there were beyond those that are listed.
    pub const fn omitted(&self) -> u64 {
        self.judge.findings().omitted()
    }

    /// How many events were not judged, as more was open in their stream than [is kept](Self::MOST_KEPT).
    pub const fn unjudged(&self) -> u64 {
        self.judge.unjudged()
    }

    /// How many events there were so far.
    pub const fn events(&self) -> u64 {
        self.judge.events()
    }

    /// The id of the response that has ended, as it is written in JSON; empty where it has none.
    pub fn ended(&self) -> Option<&str> {
        self.judge.ended()
    }

    /// What was found, and how many faults there were beyond that.
    pub fn into_findings(mut self) -> (Vec<Finding>, u64) {
        self.take_findings()
    }

    /// The same; the checker has none of it any more.
    pub fn take_findings(&mut self) -> (Vec<Finding>, u64) {
        self.judge.take_findings().finish()
    }

    fn since(&self, before: usize) -> &[Finding] {
        self.findings().get(before..).unwrap_or_default()
    }
}
