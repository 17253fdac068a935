//! Checks of recordings.

use std::borrow::Cow;
use std::io::Read;
use std::mem::take;

use super::curl::curl;
use super::timeline::TimelineBuilder;
use crate::capture::other_api::{at_url, own_api};
use crate::capture::{Entry, Exchange, Format, Frame, Loss, Piece, Reader, Sink, Transport, sse};
use crate::logs::{Judge, is_own, kind_of};
use catalogue::LogRow;
use checker::sse::{FrameStart, Repeated};
use checker::{Checker, Observer, Other, Row, RuleSets, Rules, fallback, is_sign_of_life, other_than};
use results::{CaptureReport, Lost, UNKNOWN};
use spec::{APIS, Api};

/// The rule that reports events and bodies of other APIs.
const FOREIGN: &str = "schema/foreign-protocol";

/// Maximum number of timelines of a recording.
const TIMELINES: usize = 100;

fn event_type<'f>(frame: &'f Frame<'_>) -> Option<Cow<'f, str>> {
    let stated = frame.data.as_deref().and_then(|data| spec::json::string_member(data, "type"));
    stated.or_else(|| frame.event.as_deref().map(Cow::Borrowed))
}

/// The frame says nothing about the API of its stream.
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

#[derive(Debug, Default)]
struct Asked {
    /// The API of its URL, if it is another one.
    other: Option<&'static str>,
    /// Whether its URL belongs to the API of the dialect, or to any that is checked.
    is_ours: bool,
    /// Whether a response without events and without a body is none.
    wants_events: bool,
}

impl Asked {
    fn of(exchange: &Exchange<'_>, own: Option<&Api>) -> Self {
        let request = exchange.request.as_ref();
        let url = request.map(|request| &*request.url).unwrap_or_default();
        let (other, is_ours) = at_url(url, own);
        let is_answered = exchange.status.is_some_and(|status| (200..300).contains(&status) && status != 204);
        let creates = is_ours && request.is_some_and(|request| request.method.eq_ignore_ascii_case("POST"));
        Self { other, is_ours, wants_events: is_answered && (exchange.is_stream() || creates) }
    }
}

/// A check of one recording after another, which reuses its allocations.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
#[derive(Debug)]
pub struct Checking {
    checker: Checker,
    piece: Piece,
    is_begun: bool,
    exchange: Option<String>,
    /// The number of the exchange, if this suite recorded it.
    exchange_number: Option<u64>,
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
    asked: Asked,
    /// Number of frames of the current stream.
    frames: u64,
    /// Whether they came without the framing of a stream.
    is_unframed: bool,
    is_lost: bool,
    /// The first response without an event, by the name of its exchange, and the number of all.
    hollow: Option<(Option<String>, u64)>,
    /// The API of the current stream or response, if it is another one.
    foreign: Option<&'static str>,
    /// Whether the current stream has an event that is no keep-alive.
    has_spoken: bool,
    /// Whether the exchange has a response without a stream.
    has_body: bool,
    logs: Judge,
    /// The kind of the row that is the current exchange.
    row: Option<&'static LogRow>,
    report: CaptureReport,
}

impl Checking {
    /// Returns a check by the rules of one dialect, with timelines if `draws` is set.
    pub fn new(rules: &Rules, draws: bool) -> Self {
        Self::with(Checker::with_rules(rules), Judge::new(rules.of_logs().clone()), false, draws)
    }

    /// Returns a check by the rules of the dialect of each stream, with timelines if `draws` is set.
    pub fn recognising(sets: &RuleSets, draws: bool) -> Self {
        Self::with(Checker::recognising(sets), Judge::new(sets.of_logs()), true, draws)
    }

    fn with(checker: Checker, logs: Judge, recognises: bool, draws: bool) -> Self {
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
            asked: Asked::default(),
            frames: 0,
            is_unframed: false,
            is_lost: false,
            hollow: None,
            foreign: None,
            has_spoken: false,
            has_body: false,
            logs,
            row: None,
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

    /// Like [`check_seen_by`](Self::check_seen_by), for a recording in memory, which is not copied.
    pub fn check_bytes(&mut self, name: String, bytes: &[u8], observer: &mut dyn Observer) -> CaptureReport {
        let mut reader = Reader::new(None);
        let mut sink = Seen { checking: self, observer };
        // A first chunk has a limit.
        let read =
            bytes.chunks(Reader::MOST_WHOLE / 4).try_for_each(|chunk| reader.push_to(chunk, &mut sink));
        let outcome = read.and_then(|()| reader.finish_to(&mut sink)).map_err(|error| error.to_string());
        self.finish(name, outcome)
    }

    /// Returns the report of the recording, with the error if it could not be read. Another recording may
    /// follow.
    pub fn finish(&mut self, name: String, outcome: Result<Format, String>) -> CaptureReport {
        self.end_stream();
        self.report.findings.append(&mut self.logs.finish());
        (self.exchange, self.exchange_number, self.status, self.exchanges) = (None, None, None, 0);
        self.asked = Asked::default();
        let (lost, unjudged) = (self.lost.take(), take(&mut self.unjudged));
        let mut report = take(&mut self.report);
        // A folder may have a hundred thousand recordings, most with few findings: room for more is memory.
        report.findings.shrink_to_fit();
        report.dialects.shrink_to_fit();
        report.name = name;
        match outcome {
            Ok(format) => {
                let is_empty = report.streams == 0 && report.bodies == 0 && report.findings.is_empty();
                report.format = Some(format);
                report.curl = report.curl.filter(|_| format == Format::Exchange);
                let lost =
                    lost.filter(|_| is_empty).map(|reason| format!("no response was recorded: {reason}"));
                let hollow =
                    self.hollow.as_ref().map(|(first, count)| without_events(first.as_deref(), *count));
                report.error = lost.or((unjudged > 0).then(|| beyond(unjudged))).or(hollow);
            }
            Err(problem) => report.error = Some(problem),
        }
        self.hollow = None;
        report
    }

    /// Checks the next entry of the recording, and shows events to an observer.
    pub fn entry(&mut self, entry: &Entry<'_>, observer: &mut dyn Observer) {
        match entry {
            Entry::Exchange(exchange) => self.exchange(exchange),
            Entry::Event(frame) => self.event(frame, observer),
            Entry::Body(frame) => self.body(frame),
            Entry::Row(row) => self.row(row),
            Entry::Sent(frame) => {
                self.checker().sent(frame);
            }
            Entry::Lost(loss) => self.lost(loss),
        }
    }

    fn exchange(&mut self, exchange: &Exchange<'_>) {
        self.end_stream();
        self.asked = Asked::of(exchange, self.own_api());
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

    /// `None` if the API is recognised.
    fn own_api(&self) -> Option<&'static Api> {
        (!self.recognises).then(|| self.checker.dialect().api)
    }

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
        if self.is_next(frame) {
            self.end_stream();
        }
        if self.frames == 0 {
            self.is_unframed = frame.transport == Transport::Unframed;
            self.expect_events(frame);
        }
        self.frames += 1;
        self.is_begun = true;
        if self.checker.is_waiting(frame) {
            self.checker.frame(frame);
            return;
        }
        self.recognise(Some(frame), false);
        self.draw(|_| ());
        if !self.has_spoken {
            let other = other_than(Some(self.checker.dialect().api), frame);
            self.foreign = other.map(Other::name);
            self.has_spoken = !is_keep_alive(frame);
        }
        self.checker.frame_seen_by(frame, &mut (&mut self.drawing, observer));
    }

    /// A stream without an event of the API is checked only in a named dialect, and if the file is named, too, or the
    /// URL belongs to the API. Objects without the framing of a stream may be anything.
    fn expect_events(&mut self, frame: &Frame<'_>) {
        let may_be_other = match frame.transport {
            Transport::Http => self.passes_over,
            Transport::WebSocket => false,
            Transport::Unframed => true,
        };
        if may_be_other && !self.asked.is_ours {
            self.checker.expect_own_events();
        }
    }

    fn row(&mut self, Row { log, frame }: &Row<'_>) {
        let rows = self.report.logs.entry(Cow::Borrowed(log.name)).or_default();
        rows.rows += 1;
        let Some(kind) = kind_of(log, frame.data.as_deref().unwrap_or_default()) else { return };
        let has_answer = self.logs.row(log, kind, frame, self.exchange.as_deref());
        rows.answers += u64::from(has_answer);
        self.row = Some(kind);
    }

    fn body(&mut self, frame: &Frame<'_>) {
        let may_be_other = self.passes_over || self.recognises || self.asked.other.is_some();
        if may_be_other && !self.asked.is_ours {
            let other = other_than(self.own_api(), frame).map(Other::name);
            let is_own = || own_api("", frame.data.as_deref().unwrap_or_default()).is_some();
            if let Some(other) = other.or_else(|| self.asked.other.filter(|_| !is_own())) {
                self.pass_over(other);
                return;
            }
        }
        self.is_begun = true;
        self.has_body = true;
        self.report.bodies += 1;
        self.recognise(Some(frame), true);
        if self.recognises && self.checker.recognised().is_none() {
            self.report.unjudged += 1;
            return;
        }
        let body = frame.data.as_deref().unwrap_or_default();
        self.foreign = other_than(Some(self.checker.dialect().api), frame).map(Other::name);
        self.report.unjudged += u64::from(self.foreign.is_none() && !self.is_judged(body));
        self.checker().body(frame);
        self.draw(|drawing| drawing.body(frame));
    }

    /// The other API or format of the stream, if it has shown no event of an API that is checked.
    fn other(&self) -> Option<&'static str> {
        if !self.checker.is_unsettled() || self.frames == 0 {
            return None;
        }
        match self.checker.other() {
            // A file that is named is checked in the dialect that is named.
            Some(Other::Api(_)) if !self.recognises && !self.passes_over => None,
            Some(other) => Some(other.name()),
            None => self.asked.other.or_else(|| {
                let is_unknown = self.checker.unknown_objects() > 0 && (self.recognises || self.is_unframed);
                is_unknown.then_some(UNKNOWN)
            }),
        }
    }

    fn pass_over(&mut self, other: &'static str) {
        *self.report.other_apis.entry(Cow::Borrowed(other)).or_default() += 1;
        self.drawing = None;
        self.next_stream();
    }

    /// Another stream may follow.
    fn next_stream(&mut self) {
        self.checker.reset();
        (self.frames, self.is_begun, self.has_body) = (0, false, false);
        (self.has_spoken, self.is_left, self.is_lost) = (false, false, false);
        (self.foreign, self.row) = (None, None);
    }

    fn lost(&mut self, loss: &Loss<'_>) {
        if self.other().is_some() {
            return;
        }
        self.is_lost = true;
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

    /// A list of events can have several responses without marks between them.
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

    /// The event begins a response, and the last response had another API.
    fn is_next_of_other(&self, frame: &Frame<'_>) -> bool {
        let Some(found) = self.checker.recognised().filter(|_| self.recognises) else { return false };
        let (Some(data), kind) = (frame.data.as_deref(), event_type(frame).unwrap_or_default()) else {
            return false;
        };
        let begins = |api: &Api| fallback(Some(api)).is_some_and(|it| it.opening == Some(&*kind));
        let may_begin = self.checker.ended().is_some() || APIS.iter().any(|api| begins(api));
        let other = || own_api(&kind, data).filter(|api| api.name != found.dialect.api.name);
        may_begin && other().is_some_and(|api| self.checker.ended().is_some() || begins(api))
    }

    fn count_lost(&mut self, loss: &Loss<'_>) {
        let events = self.checker.events();
        let exchange = self.exchange.clone();
        self.report.lost += 1;
        self.report.first_lost.get_or_insert_with(|| Lost { exchange, events, reason: loss.to_string() });
    }

    /// Some rules apply to non-streaming responses.
    fn is_judged(&self, body: &str) -> bool {
        let dialect = self.checker.dialect();
        let is_known = || dialect.root(dialect.api.body(body)?.root);
        let is_error = || dialect.api.error_in(body).is_some();
        let has_failed = self.status.is_some_and(|status| status >= 400);
        has_failed || is_error() || is_known().is_some() || dialect.api.is_stream_of_bodies()
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
        if self.is_begun {
            self.recognise(None, false);
            if self.checker.recognised().is_some() {
                self.draw(|_| ());
            }
            self.checker.release(Some(&mut self.drawing));
            if let Some(other) = self.other() {
                self.pass_over(other);
                return;
            }
            if self.checker.is_unsettled() && !self.recognises {
                self.draw(|_| ());
                self.checker.expect_any_events(Some(&mut self.drawing));
            }
        }
        if let Some(drawing) = self.drawing.take() {
            if self.report.timelines.len() < TIMELINES {
                self.report.timelines.push(drawing.finish());
            } else {
                self.report.undrawn += 1;
            }
        }
        if !self.is_begun {
            return;
        }
        if !self.is_left {
            self.checker.finish();
        }
        self.count_hollow();
        let report = &mut self.report;
        report.streams += u64::from(self.checker.events() > 0);
        let unjudged = self.checker.unjudged();
        report.events += self.checker.events() - unjudged;
        self.unjudged += unjudged;
        let (mut findings, omitted) = self.checker.take_findings();
        if let Some(kind) = self.row {
            findings.retain(|finding| !is_own(kind, finding));
        }
        let dialect = self.checker.recognised().map_or("", |found| found.dialect.name);
        let has_response = self.has_body || self.checker.events() > 0 || !findings.is_empty();
        if let Some(found) = self.checker.recognised().filter(|_| has_response) {
            report.add_dialect(found);
        }
        if let Some(api) = self.foreign.take() {
            *report.foreign.entry(Cow::Borrowed(api)).or_default() += 1;
            // Other findings follow from it.
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
        self.next_stream();
    }

    /// A hollow response should have events, and has none.
    fn count_hollow(&mut self) {
        let is_empty = self.checker.events() == 0 && !self.has_body && !self.is_left && !self.is_lost;
        let has_failed = self.status.is_some_and(|status| status >= 400);
        let is_expected = self.asked.wants_events && self.asked.other.is_none();
        if is_empty && !has_failed && (is_expected || self.frames > 0) {
            let (_, count) = self.hollow.get_or_insert_with(|| (self.exchange.clone(), 0));
            *count += 1;
        }
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

/// Streams exceed the limit.
fn beyond(events: u64) -> String {
    let most = Checker::MOST_KEPT >> 20;
    format!("a stream has more than {most} MiB open at once: its last {events} events were not checked")
}

fn without_events(first: Option<&str>, count: u64) -> String {
    match (first, count) {
        (None, _) => "there is no event in it".to_owned(),
        (Some(first), 1) => format!("{first}: the response has no event"),
        (Some(first), _) => format!("{first}: the response has no event, and {} more have none", count - 1),
    }
}
