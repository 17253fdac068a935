//! Checks of recordings.

use std::borrow::Cow;
use std::io::Read;
use std::mem::take;

use super::curl::curl;
use super::timeline::TimelineBuilder;
use crate::capture::other_api::{at_url, of_answer, own_api};
use crate::capture::{Entry, Exchange, Format, Frame, Loss, Piece, Reader, Sink, Transport, sse};
use checker::sse::{FrameStart, Repeated};
use checker::{Checker, Observer, RuleSets, Rules, fallback, is_sign_of_life};
use results::{CaptureReport, Lost};
use spec::Api;

/// The rule that reports events and bodies of other APIs.
const FOREIGN: &str = "schema/foreign-protocol";

/// Maximum number of timelines of a recording.
const TIMELINES: usize = 100;

/// Returns the type of the event in a frame.
fn event_type<'f>(frame: &'f Frame<'_>) -> Option<Cow<'f, str>> {
    let stated = frame.data.as_deref().and_then(|data| spec::json::string_member(data, "type"));
    stated.or_else(|| frame.event.as_deref().map(Cow::Borrowed))
}

/// Returns whether a frame says nothing about the API of its stream.
fn is_keep_alive(frame: &Frame<'_>) -> bool {
    event_type(frame).is_some_and(|kind| is_sign_of_life(&kind))
}

/// Checks a recording of any format, stream by stream. Read errors are part of the report.
pub fn check(
    name: impl Into<String>,
    input: &mut dyn Read,
    format: Option<Format>,
    rules: &Rules,
) -> CaptureReport {
    Checking::new(rules, false).check(name.into(), input, format)
}

/// Checks a recording like [`check`], with timelines of its exchanges.
pub fn check_with_timelines(
    name: impl Into<String>,
    input: &mut dyn Read,
    format: Option<Format>,
    rules: &Rules,
) -> CaptureReport {
    Checking::new(rules, true).check(name.into(), input, format)
}

/// The API of an exchange.
#[derive(Debug, Default)]
struct ExchangeApi {
    /// The API of its URL, if it is another one.
    other: Option<&'static str>,
    /// Whether its URL belongs to the API of the dialect, or to any that is checked.
    is_ours: bool,
    /// Whether its response belongs to another API.
    is_other: bool,
    /// Whether its response has begun.
    is_answered: bool,
}

/// A check of one recording after another, which reuses its allocations.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
#[derive(Debug)]
pub struct Checking {
    checker: Checker,
    piece: Piece,
    /// Whether the current stream has begun.
    is_begun: bool,
    exchange: Option<String>,
    /// Its number, if this suite recorded it.
    exchange_number: Option<u64>,
    /// Number of exchanges.
    exchanges: u64,
    status: Option<u16>,
    /// Why there was no response.
    lost: Option<String>,
    /// Number of unchecked events, as the stream exceeded the memory limit.
    unjudged: u64,
    /// The timeline of the exchange, if requested.
    drawing: Option<TimelineBuilder>,
    draws: bool,
    /// Whether the dialect of each stream is recognised.
    recognises: bool,
    /// Whether the client or the recording ended before the stream.
    is_left: bool,
    /// Whether streams of other APIs are skipped.
    passes_over: bool,
    /// The API of the exchange.
    asked: ExchangeApi,
    /// The API of the current stream or response, if it is another one.
    foreign: Option<&'static str>,
    /// Whether the current stream has an event that is no keep-alive.
    has_spoken: bool,
    /// Whether the exchange has a response without a stream.
    has_body: bool,
    report: CaptureReport,
}

impl Checking {
    /// Returns a check by the rules of one dialect, with timelines if `draws` is set.
    pub fn new(rules: &Rules, draws: bool) -> Self {
        Self::with(Checker::with_rules(rules), false, draws)
    }

    /// Returns a check by the rules of the dialect of each stream, with timelines if `draws` is set.
    pub fn recognising(sets: &RuleSets, draws: bool) -> Self {
        Self::with(Checker::recognising(sets), true, draws)
    }

    fn with(checker: Checker, recognises: bool, draws: bool) -> Self {
        let report = CaptureReport::default();
        Self {
            checker,
            piece: Piece::default(),
            is_begun: false,
            exchange: None,
            exchange_number: None,
            exchanges: 0,
            status: None,
            lost: None,
            unjudged: 0,
            drawing: None,
            draws,
            recognises,
            is_left: false,
            passes_over: false,
            asked: ExchangeApi::default(),
            foreign: None,
            has_spoken: false,
            has_body: false,
            report,
        }
    }

    /// Sets whether streams of other APIs are only counted, unless their URL belongs to the API of the dialect.
    pub const fn pass_over_other_apis(&mut self, passes_over: bool) {
        self.passes_over = passes_over;
    }

    /// Checks a recording. Read errors are part of the report.
    pub fn check(&mut self, name: String, input: &mut dyn Read, format: Option<Format>) -> CaptureReport {
        let mut piece = take(&mut self.piece);
        let outcome = Reader::new(format).read(input, &mut piece, self);
        self.piece = piece;
        self.finish(name, outcome)
    }

    /// Checks a recording like [`check`](Self::check), and shows its events to an observer.
    pub fn check_seen_by(
        &mut self,
        name: String,
        input: &mut dyn Read,
        format: Option<Format>,
        observer: &mut dyn Observer,
    ) -> CaptureReport {
        let mut piece = take(&mut self.piece);
        let outcome = Reader::new(format).read(input, &mut piece, &mut Seen { checking: self, observer });
        self.piece = piece;
        self.finish(name, outcome)
    }

    /// Returns the report of the recording, with the error if it could not be read. Another recording may
    /// follow.
    pub fn finish(&mut self, name: String, outcome: Result<Format, String>) -> CaptureReport {
        self.end_stream();
        (self.exchange, self.exchange_number, self.status, self.exchanges) = (None, None, None, 0);
        self.asked = ExchangeApi::default();
        let (lost, unjudged) = (self.lost.take(), take(&mut self.unjudged));
        let mut report = take(&mut self.report);
        report.name = name;
        match outcome {
            Ok(format) => {
                let is_empty = report.streams == 0 && report.bodies == 0 && report.findings.is_empty();
                report.format = Some(format);
                report.curl = report.curl.filter(|_| format == Format::Exchange);
                let lost =
                    lost.filter(|_| is_empty).map(|reason| format!("no response was recorded: {reason}"));
                report.error = lost.or((unjudged > 0).then(|| beyond(unjudged)));
            }
            Err(problem) => report.error = Some(problem),
        }
        report
    }

    /// Checks the next entry of the recording, and shows events to an observer.
    pub fn entry(&mut self, entry: &Entry<'_>, observer: &mut dyn Observer) {
        match entry {
            Entry::Exchange(exchange) => self.exchange(exchange),
            Entry::Event(frame) => self.event(frame, observer),
            Entry::Body(frame) => self.body(frame),
            Entry::Sent(frame) if !self.asked.is_other => {
                self.checker().sent(frame);
            }
            Entry::Lost(loss) if !self.asked.is_other => self.lost(loss),
            Entry::Sent(_) | Entry::Lost(_) => {}
        }
    }

    fn exchange(&mut self, exchange: &Exchange<'_>) {
        self.end_stream();
        let url = exchange.request.as_ref().map(|request| &*request.url).unwrap_or_default();
        let (other, is_ours) = at_url(url, self.own_api());
        self.asked = ExchangeApi { other, is_ours, is_other: false, is_answered: false };
        self.exchange.clone_from(&exchange.label);
        self.exchange_number = exchange.number;
        self.exchanges += 1;
        self.report.curl = if self.exchanges == 1 { curl(exchange) } else { None };
        self.status = exchange.status;
        self.checker().exchange(exchange);
        if !self.recognises {
            self.draw(|drawing| drawing.exchange(exchange));
        }
    }

    /// Returns the API of the dialect; none if that is recognised.
    fn own_api(&self) -> Option<&'static Api> {
        (!self.recognises).then(|| self.checker.dialect().api)
    }

    /// Recognises the dialect of the stream or response, if it is not known yet.
    fn recognise(&mut self, first: Option<&Frame<'_>>, is_body: bool) {
        if !self.recognises || self.checker.recognised().is_some() {
            return;
        }
        let exchange = self.checker.recognise(first, is_body);
        if let Some(exchange) = exchange {
            self.draw(|drawing| drawing.exchange(&exchange));
        }
    }

    fn event(&mut self, frame: &Frame<'_>, observer: &mut dyn Observer) {
        let is_asked = self.recognises && self.asked.other.is_some();
        let may_be_other = (self.passes_over || is_asked) && frame.transport != Transport::WebSocket;
        if self.is_of_other_api(frame, may_be_other) {
            return;
        }
        if self.is_next(frame) {
            self.end_stream();
        }
        self.is_begun = true;
        if self.checker.is_waiting(frame) {
            self.checker.frame(frame);
            return;
        }
        self.recognise(Some(frame), false);
        self.draw(|_| ());
        if !self.has_spoken {
            self.foreign = of_answer(Some(self.checker.dialect().api), None, frame);
            self.has_spoken = !is_keep_alive(frame);
        }
        self.checker.frame_seen_by(frame, &mut (&mut self.drawing, observer));
    }

    fn body(&mut self, frame: &Frame<'_>) {
        let may_be_other = self.passes_over || self.asked.other.is_some();
        if self.is_of_other_api(frame, may_be_other) {
            return;
        }
        self.report.bodies += 1;
        self.has_body = true;
        self.recognise(Some(frame), true);
        let body = frame.data.as_deref().unwrap_or_default();
        self.foreign = of_answer(Some(self.checker.dialect().api), None, frame);
        self.report.unjudged += u64::from(self.foreign.is_none() && !self.is_judged(body));
        self.checker().body(frame);
        self.draw(|drawing| drawing.body(frame));
    }

    fn lost(&mut self, loss: &Loss<'_>) {
        if self.status.is_none() {
            self.lost = Some(loss.to_string());
        }
        if self.is_begun {
            self.recognise(None, false);
        }
        // The rest of the stream is not missing then.
        self.is_left |= loss.may_be_sent();
        if *loss != Loss::Left {
            self.count_lost(loss);
        }
        self.draw(|drawing| drawing.lost(loss));
    }

    /// Returns whether the exchange belongs to another API, by the start of its response if that may show it.
    fn is_of_other_api(&mut self, frame: &Frame<'_>, may_be_other: bool) -> bool {
        let asked = &mut self.asked;
        if asked.is_answered || asked.is_ours || !may_be_other {
            return asked.is_other;
        }
        asked.is_answered = frame.data.is_some() && !is_keep_alive(frame);
        let other = asked.other;
        let Some(other) = of_answer(self.own_api(), other, frame) else { return false };
        let asked = &mut self.asked;
        asked.is_other = true;
        *self.report.other_apis.entry(Cow::Borrowed(other)).or_default() += 1;
        // The exchange does not count.
        self.checker.reset();
        self.is_begun = false;
        self.drawing = None;
        true
    }

    /// Returns whether an event begins another response. A list of events can have several responses without
    /// marks between them.
    fn is_next(&self, frame: &Frame<'_>) -> bool {
        if frame.transport != Transport::Unframed {
            return false;
        }
        if self.is_next_of_other(frame) {
            return true;
        }
        let Some(ended) = self.checker.ended() else { return false };
        let dialect = self.checker.dialect();
        let begins = event_type(frame).is_some_and(|kind| dialect.opening == Some(&*kind));
        let id = dialect.api.snapshot.and_then(|root| {
            spec::json::at(frame.data.as_deref()?, &format!("/{}/id", dialect.member(root)))
        });
        begins && id.is_none_or(|id| id != ended)
    }

    /// Returns whether an event begins a response of another API than that of the last one.
    fn is_next_of_other(&self, frame: &Frame<'_>) -> bool {
        let Some(found) = self.checker.recognised().filter(|_| self.recognises) else { return false };
        let (Some(data), kind) = (frame.data.as_deref(), event_type(frame).unwrap_or_default()) else {
            return false;
        };
        let other = own_api(&kind, data).filter(|api| api.name != found.dialect.api.name);
        let begins = |api| fallback(Some(api)).is_some_and(|dialect| dialect.opening == Some(&*kind));
        other.is_some_and(|api| self.checker.ended().is_some() || begins(api))
    }

    fn count_lost(&mut self, loss: &Loss<'_>) {
        let events = self.checker.events();
        let exchange = self.exchange.clone();
        self.report.lost += 1;
        self.report.first_lost.get_or_insert_with(|| Lost { exchange, events, reason: loss.to_string() });
    }

    /// Returns whether any rule applies to a non-streaming response.
    fn is_judged(&self, body: &str) -> bool {
        let dialect = self.checker.dialect();
        let is_known = || dialect.root(dialect.api.body(body)?.root);
        let is_error = || dialect.api.error_in(body).is_some();
        let has_failed = self.status.is_some_and(|status| status >= 400);
        has_failed || is_error() || is_known().is_some()
    }

    fn checker(&mut self) -> &mut Checker {
        self.is_begun = true;
        &mut self.checker
    }

    fn draw(&mut self, step: impl FnOnce(&mut TimelineBuilder)) {
        if self.draws {
            let dialect = self.checker.dialect();
            step(self.drawing.get_or_insert_with(|| TimelineBuilder::new(dialect)));
        }
    }

    fn end_stream(&mut self) {
        if self.recognises && self.is_begun {
            self.recognise(None, false);
            self.draw(|_| ());
            self.checker.release(Some(&mut self.drawing));
        }
        if let Some(drawing) = self.drawing.take() {
            if self.report.timelines.len() < TIMELINES {
                self.report.timelines.push(drawing.finish());
            } else {
                self.report.undrawn += 1;
            }
        }
        if !take(&mut self.is_begun) {
            return;
        }
        if !take(&mut self.is_left) {
            self.checker.finish();
        }
        let report = &mut self.report;
        report.streams += u64::from(self.checker.events() > 0);
        let unjudged = self.checker.unjudged();
        report.events += self.checker.events() - unjudged;
        self.unjudged += unjudged;
        let (mut findings, omitted) = self.checker.take_findings();
        let dialect = self.checker.recognised().map_or("", |found| found.dialect.name);
        let has_response = take(&mut self.has_body) || self.checker.events() > 0 || !findings.is_empty();
        if let Some(found) = self.checker.recognised().filter(|_| has_response) {
            report.add_dialect(found);
        }
        self.checker.reset();
        self.has_spoken = false;
        if let Some(api) = self.foreign.take() {
            *report.foreign.entry(Cow::Borrowed(api)).or_default() += 1;
            // What else is wrong follows from it.
            if findings.iter().any(|finding| finding.rule == FOREIGN) {
                findings.retain(|finding| finding.rule == FOREIGN);
            }
        }
        report.omitted += omitted;
        for finding in &mut findings {
            finding.exchange.clone_from(&self.exchange);
            finding.exchange_number = self.exchange_number;
            finding.dialect = Cow::Borrowed(dialect);
        }
        report.findings.append(&mut findings);
    }
}

impl Sink for Checking {
    fn entry(&mut self, entry: Entry<'_>) {
        self.entry(&entry, &mut ());
    }
}

impl sse::Sink for Checking {
    fn frame(&mut self, frame: &mut Frame<'_>) {
        self.event(frame, &mut ());
    }

    fn repeated_frames(&mut self, text: &str, start: &FrameStart) -> Option<Repeated> {
        if self.draws { None } else { self.checker.repeated_frames(text, start) }
    }
}

/// A check whose events are observed.
struct Seen<'s> {
    checking: &'s mut Checking,
    observer: &'s mut dyn Observer,
}

impl Sink for Seen<'_> {
    fn entry(&mut self, entry: Entry<'_>) {
        self.checking.entry(&entry, self.observer);
    }
}

impl sse::Sink for Seen<'_> {
    fn frame(&mut self, frame: &mut Frame<'_>) {
        self.checking.event(frame, self.observer);
    }
}

/// Returns the error of a recording with streams that exceed the limit.
fn beyond(events: u64) -> String {
    let most = Checker::MOST_KEPT >> 20;
    format!("a stream has more than {most} MiB open at once: its last {events} events were not checked")
}
