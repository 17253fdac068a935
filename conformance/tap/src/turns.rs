//! The turns of a WebSocket, each with an end of its own.

use std::collections::BTreeMap;
use std::time::Duration;

use checker::{Observer, Payload, Seen};
use results::CaptureReport;
use spec::table::Role;
use spec::{Api, Dialect, json};

use crate::outcome::{Outcome, Turn, Watched, lost};
use crate::passed::Passed;

/// The status of a turn, which has none of its own.
const STATUS: Option<u16> = Some(101);

/// Maximum length of the name of a model, as each turn has a copy.
const MODEL: usize = 256;

/// An observer of the turns of a WebSocket.
#[derive(Debug)]
pub(crate) struct Turns<'p> {
    passed: &'p Passed,
    pub(crate) dialect: Option<&'static Dialect>,
    requests: Vec<Asked>,
    open: BTreeMap<Option<String>, Open>,
    ended: Vec<Turn>,
    last_end: Option<Duration>,
    keep_alives: [u64; 2],
}

#[derive(Debug)]
struct Asked {
    at: Duration,
    model: Option<String>,
}

#[derive(Debug)]
struct Open {
    watched: Watched,
    began: Duration,
    last: Duration,
    gap: Option<Duration>,
}

impl<'p> Turns<'p> {
    pub(crate) const fn new(passed: &'p Passed) -> Self {
        Self {
            passed,
            dialect: None,
            requests: Vec::new(),
            open: BTreeMap::new(),
            ended: Vec::new(),
            last_end: None,
            keep_alives: [0; 2],
        }
    }

    /// Without an event, each message of the client counts as a request.
    fn read_requests(&mut self) {
        let create = self.dialect.and_then(|dialect| dialect.framing.create);
        for message in self.passed.messages.iter().filter(|message| message.is_sent) {
            let member = |name| json::string_member(&message.text, name);
            if create.is_none_or(|create| member("type").is_some_and(|kind| kind == create)) {
                let model = member("model").filter(|model| model.len() <= MODEL).map(Into::into);
                // As precise as the times of events, which come from the recording.
                let at = Duration::from_micros(u64::try_from(message.at.as_micros()).unwrap_or(u64::MAX));
                self.requests.push(Asked { at, model });
            }
        }
    }

    fn before(&self, at: Duration) -> &[Asked] {
        &self.requests[..self.requests.partition_point(|request| request.at <= at)]
    }

    fn is_asked(&self, at: Duration) -> bool {
        self.last_end.is_none_or(|end| self.before(at).last().is_some_and(|request| request.at > end))
    }

    fn close(&mut self, mut open: Open, api: &'static Api, outcome: Option<Outcome>) {
        for (count, more) in self.keep_alives.iter_mut().zip(open.watched.keep_alives()) {
            *count += more;
        }
        self.last_end = Some(open.last);
        let report = CaptureReport { streams: 1, ..CaptureReport::default() };
        let told = open.watched.told(api, &report, b"");
        let asked = self.before(open.began);
        let began = asked.last().map_or(open.began, |request| request.at);
        let outcome =
            outcome.filter(|_| told.is_open()).unwrap_or_else(|| Outcome::of(STATUS, &told, &report));
        let first = open.began.saturating_sub(began);
        let model = asked.last().and_then(|request| request.model.clone());
        self.ended.push(Turn {
            model,
            first: Some(first),
            gap: open.gap,
            ..told.turn(outcome, open.last.saturating_sub(began))
        });
    }

    /// Turns that have not ended are lost with their connection, as are requests without an answer.
    pub(crate) fn finish(mut self, api: &'static Api) -> (Vec<Turn>, [u64; 2]) {
        if self.dialect.is_none() {
            self.read_requests();
        }
        let (end, ended) = &self.passed.end;
        let lost = lost(ended).unwrap_or(Outcome::Truncated);
        for (_, open) in std::mem::take(&mut self.open) {
            self.close(open, api, Some(lost));
        }
        for request in self.requests.iter().skip(self.ended.len()) {
            let (model, took) = (request.model.clone(), end.saturating_sub(request.at));
            self.ended.push(Turn { model, ..Turn::unanswered(lost, took) });
        }
        (self.ended, self.keep_alives)
    }
}

impl Observer for Turns<'_> {
    fn record(&mut self, seen: &Seen<'_>) {
        if self.dialect.replace(seen.dialect).is_none() {
            self.read_requests();
        }
        let (record, api) = (seen.record, seen.dialect.api);
        let (lane, at) = (seen.lane.map(str::to_owned), record.frame.time.unwrap_or_default());
        let begins = seen.effects().any(|effect| effect.info.is_opening());
        if begins && let Some(before) = self.open.remove(&lane) {
            self.close(before, api, None);
        }
        let is_open = self.open.contains_key(&lane);
        let is_refusal = record.is_error && !is_open;
        let is_part = record.payload != Payload::Object
            || record.known.is_some_and(|(_, info)| !info.level.is_root || info.role != Role::Point);
        if !(is_open || begins || is_refusal || is_part && self.is_asked(at)) {
            return;
        }
        let mut open = self.open.remove(&lane).unwrap_or_else(|| Open {
            watched: Watched::default(),
            began: at,
            last: at,
            gap: None,
        });
        if is_open {
            open.gap = open.gap.max(Some(at.saturating_sub(open.last)));
        }
        open.last = at;
        open.watched.record(seen);
        if is_refusal || open.watched.has_ended() {
            self.close(open, api, is_refusal.then_some(Outcome::ErrorTold));
        } else {
            self.open.insert(lane, open);
        }
    }
}
