//! Recordings of one JSON document a line: events, responses, exchanges, and any mixture of them.

use super::document::{Documents, Kind};
use super::{exchange, ndjson};
use crate::capture::source::parsed;
use crate::capture::{CaptureError, Format};
use checker::{Entry, Frame, Loss};

#[derive(Debug)]
pub(in crate::capture) struct Parser {
    lines: ndjson::Parser,
    state: LinesState,
    failed: Option<CaptureError>,
}

#[derive(Debug)]
struct LinesState {
    format: Format,
    exchanges: exchange::ExchangeState,
    documents: Documents,
}

impl Parser {
    pub(in crate::capture) fn new(format: Format) -> Self {
        let (exchanges, documents) = (exchange::ExchangeState::default(), Documents::default());
        Self {
            lines: ndjson::Parser::default(),
            state: LinesState { format, exchanges, documents },
            failed: None,
        }
    }

    pub(in crate::capture) const fn format(&self) -> Format {
        self.state.format
    }

    pub(in crate::capture) fn push(
        &mut self,
        chunk: &[u8],
        sink: &mut impl FnMut(Entry<'_>),
    ) -> Result<(), CaptureError> {
        let Self { lines, state, failed } = self;
        lines.push(chunk, &mut |frame| state.take(frame, failed, sink));
        self.outcome()
    }

    pub(in crate::capture) fn finish(mut self, sink: &mut impl FnMut(Entry<'_>)) -> Result<(), CaptureError> {
        let Self { lines, state, failed } = &mut self;
        lines.finish(&mut |frame| state.take(frame, failed, sink));
        let ended = state.exchanges.end(Some(Loss::Cut("the recording is truncated here".into())), sink);
        self.outcome().and(ended)
    }

    /// The rest of the recording cannot be read.
    pub(in crate::capture) fn cut(self, problem: &str, sink: &mut impl FnMut(Entry<'_>)) {
        if self.state.format == Format::Ndjson && !self.state.exchanges.is_open() {
            sink(Entry::Lost(Loss::Cut(problem.into())));
        } else {
            // A truncated end is expected after this error.
            drop(self.finish(sink));
        }
    }

    fn outcome(&self) -> Result<(), CaptureError> {
        self.failed.clone().map_or(Ok(()), Err)
    }
}

impl LinesState {
    #[inline]
    fn take(&mut self, line: Frame<'_>, failed: &mut Option<CaptureError>, sink: &mut impl FnMut(Entry<'_>)) {
        if failed.is_some() {
            return;
        }
        if !self.exchanges.is_open() && self.documents.is_event(&line) {
            sink(Entry::Event(line));
            return;
        }
        *failed = self.line(line, sink).err();
        if let Some(error) = failed {
            // It fails with this error, whatever comes of the body.
            let _ = self.exchanges.end(Some(Loss::Cut(error.to_string().into())), sink);
        }
    }

    fn line(&mut self, line: Frame<'_>, sink: &mut impl FnMut(Entry<'_>)) -> Result<(), CaptureError> {
        if self.exchanges.is_open() {
            return self.exchanges.take(&line, sink);
        }
        let kind = Kind::of(line.data.as_deref().unwrap_or_default());
        let begins = kind == Kind::Exchange;
        if begins || kind == Kind::Other && self.format == Format::Exchange {
            self.documents.is_apart = true;
            return self.exchanges.take(&line, sink);
        }
        if kind == Kind::Other && self.documents.is_apart {
            parsed::<&serde_json::value::RawValue>(&line)?;
        }
        self.documents.hand_out(kind, line, sink)
    }
}
