//! Reads the facts of an exchange from its recording.

use std::collections::{BTreeMap, BTreeSet};

use spec::Dialect;
use spec::table::{Operation, Role};

use super::facts::{Facts, MAX_CODE, MAX_MESSAGE, SWITCHED};
use super::items::{self, ItemsReader};
use crate::plan::marks;
use crate::wire::answered;
use checker::{Answer, AnswerReader, Observer, Payload, Record, Seen};
use recordings::capture::{Entry, Transport};
use results::text::cut;

pub(super) struct FactsReader {
    facts: Facts,
    answer: AnswerReader,
    items: ItemsReader,
    lanes: Lanes,
    dialect: &'static Dialect,
}

#[derive(Debug, Default)]
struct Lanes {
    last: Option<String>,
    open: BTreeSet<Option<String>>,
    unanswered: usize,
    /// The last steering or injection after the last request.
    aside: Option<Operation>,
    is_aside_answered: bool,
}

const MAX_ANSWER_BYTES: usize = 1 << 20;

/// Maximum number of marks and ids.
const MAX_NAMES: usize = 1000;

const MAX_TIMES: usize = 1 << 18;

impl FactsReader {
    pub(super) fn new(dialect: &'static Dialect) -> Self {
        let answer = AnswerReader::new(dialect.api).within(MAX_ANSWER_BYTES);
        Self {
            facts: Facts::default(),
            answer,
            items: ItemsReader::new(dialect, MAX_ANSWER_BYTES),
            lanes: Lanes::default(),
            dialect,
        }
    }

    pub(super) fn finish(self) -> Facts {
        let Self { mut facts, answer, items, .. } = self;
        // A body has its own.
        if facts.answer == Answer::default() {
            facts.answer = answer.finish();
        }
        if facts.items.is_empty() {
            facts.items = items.finish();
        }
        // A mark can be spread over deltas.
        let text = facts.answer.text();
        facts.marks.extend(marks(&text).take(MAX_NAMES.saturating_sub(facts.marks.len())));
        facts
    }

    pub(super) fn entry(&mut self, entry: &Entry<'_>) {
        let Self { facts, answer, lanes, dialect, .. } = self;
        match entry {
            Entry::Exchange(exchange) => {
                facts.status = exchange.status;
                facts.is_stream = exchange.is_stream();
                facts.content_type = exchange.header("content-type").map(|value| cut(value, MAX_CODE));
                let url = exchange.request.as_ref().map(|request| request.url.clone().into_owned());
                facts.url = url.unwrap_or_default();
                let body = exchange.request.as_ref().and_then(|request| request.body.as_deref());
                facts.request = body.and_then(|body| serde_json::from_str(body).ok());
                facts.asked_mark = body.and_then(|body| marks(body).next());
            }
            Entry::Event(_) | Entry::Row(_) => {}
            Entry::Body(frame) => {
                let body = frame.data.as_deref();
                facts.response = body.and_then(|body| serde_json::from_str(body).ok());
                facts.root = body.and_then(|body| dialect.api.body(body)).map(|shape| shape.root);
                let response = facts.response.as_ref();
                facts.response_id = response
                    .and_then(|body| Some(body.pointer(dialect.api.response_id)?.as_str()?.to_owned()));
                match response {
                    // It is an event.
                    Some(_) if dialect.api.is_stream_of_bodies() => {
                        answer.data(dialect, body.unwrap_or_default());
                    }
                    Some(response) => facts.answer = Answer::of_response(dialect.api, response),
                    None => {}
                }
                facts.items =
                    response.map(|response| items::of_body(dialect.api, response)).unwrap_or_default();
                if response.is_none() {
                    facts.beginning = beginning(frame.source);
                }
            }
            Entry::Lost(loss) => facts.lost = Some(loss.clone().into_owned()),
            Entry::Sent(frame) => {
                let data = frame.data.as_deref().unwrap_or_default();
                lanes.ask(data, dialect);
                facts.request = serde_json::from_str(data).ok();
                facts.asked_mark = facts.asked_mark.or_else(|| marks(frame.data.as_deref()?).next());
            }
        }
    }

    fn event(&mut self, record: &Record<'_>) {
        let Self { facts, answer, items, dialect, .. } = self;
        // Without a type in the data, the `event:` field has it.
        let line = record.frame.event.as_deref();
        let kind = record.event_type.as_deref().or(line).unwrap_or_default();
        let is_opening = dialect.opening == Some(kind);
        let snapshot = dialect.snapshot_member();
        let mut response = None;
        if record.payload == Payload::Object {
            let mut member = String::new();
            spec::json::each_member(record.data(), |name, value| {
                let name = name.decoded();
                if snapshot == Some(&*name) {
                    response = Some(value);
                }
                member.clear();
                member.extend([kind, " /", &name]);
                // Most types are known already.
                if !matches!(value, "null" | "[]" | "{}" | "\"\"") && !facts.members.contains(&member) {
                    facts.members.insert(member.clone());
                }
            });
        }
        if let Some(number) = record.sequence_number.as_ref().and_then(spec::Count::whole) {
            facts.numbers = Some((facts.numbers.map_or(number, |(first, _)| first), number));
        }
        answer.event(record);
        items.event(record);
        if kind == dialect.error {
            facts.error_event = serde_json::from_str(record.data()).ok();
        }
        if let Some(response) = response {
            facts.response = serde_json::from_str(response).ok();
            facts.root = dialect.api.body(response).map(|shape| shape.root);
            let id = facts.response.as_ref();
            let id = id.and_then(|response| response.pointer(dialect.api.response_id)?.as_str());
            facts.response_id = id.map(str::to_owned).or(facts.response_id.take());
        } else if is_opening {
            // The event may be the response itself.
            facts.response_id = text(record.data(), dialect.api.response_id).or(facts.response_id.take());
        }
        facts.marks.extend(marks(record.data()).take(MAX_NAMES.saturating_sub(facts.marks.len())));
        if let Some(item) = opened_item(record)
            && facts.ids.len() < MAX_NAMES
        {
            facts.ids.extend(text(record.data(), &format!("{item}/id")));
        } else if is_opening {
            facts.ids.extend(facts.response_id.clone());
        }
        if dialect.api.first_event_opens && facts.response_id.is_none() {
            facts.response_id = text(record.data(), dialect.api.response_id).filter(|id| !id.is_empty());
            facts.ids.extend(facts.response_id.clone());
        }
        count(&mut facts.events, kind);
        for effect in record.views().filter_map(|(info, _)| info.effect) {
            count(&mut facts.events, &format!("{kind}/{effect}"));
        }
    }

    /// It may begin the answer to another turn, with the status that HTTP would have. False if it is not about the last
    /// request.
    fn message(&mut self, data: &str, lane: Option<&str>) -> bool {
        let Self { facts, answer, lanes, dialect, .. } = self;
        let kind = text(data, "/type").unwrap_or_default();
        let lane = lane.map(str::to_owned);
        let begins = dialect.opening == Some(&*kind);
        let is_refused = kind == dialect.error && !lanes.open.contains(&lane);
        let is_of_last = lane == lanes.last;
        if let Some((operation, _)) = answered(&kind, dialect) {
            if lanes.aside == Some(operation) && !std::mem::replace(&mut lanes.is_aside_answered, true) {
                facts.turns += 1;
            }
            if lanes.open.is_empty() {
                facts.status = Some(200);
            }
            return true;
        }
        if begins || is_refused {
            let is_refused_aside = is_refused && !std::mem::replace(&mut lanes.is_aside_answered, is_refused);
            let is_of_request = lanes.unanswered > 0 || lanes.aside.is_none();
            facts.turns += usize::from(is_of_request || is_refused_aside);
            lanes.unanswered = lanes.unanswered.saturating_sub(1);
        }
        if (begins || is_refused) && is_of_last && lanes.aside.is_none() {
            facts.events.clear();
            facts.members.clear();
            *answer = AnswerReader::new(dialect.api).within(MAX_ANSWER_BYTES);
            (facts.response, facts.response_id, facts.root) = (None, None, None);
            (facts.numbers, facts.error_event) = (None, None);
        }
        if (begins || is_refused) && is_of_last {
            let place = dialect.api.session.map(|names| format!("/{}", names.status));
            let status = || spec::json::at(data, &place?)?.parse().ok();
            facts.status = if is_refused { status().or(Some(SWITCHED)) } else { Some(200) };
        }
        if begins && lanes.open.len() < MAX_NAMES {
            lanes.open.insert(lane);
        } else if dialect.terminal.contains(&&*kind) {
            lanes.open.remove(&lane);
        }
        is_of_last
    }
}

impl Lanes {
    fn ask(&mut self, message: &str, dialect: &Dialect) {
        let kind = text(message, "/type");
        let aside = dialect.framing.asides().find(|(_, aside)| kind.as_deref() == Some(aside.message));
        self.aside = aside.map(|(operation, _)| operation);
        if aside.is_none() {
            self.last = dialect.api.session.and_then(|names| text(message, &format!("/{}", names.lane)));
            self.unanswered += 1;
        }
        self.is_aside_answered = false;
    }
}

impl Observer for FactsReader {
    fn record(&mut self, seen: &Seen<'_>) {
        let frame = seen.record.frame;
        if frame.transport != Transport::WebSocket || self.message(seen.record.data(), seen.lane) {
            self.event(seen.record);
        }
        let times = &mut self.facts.times_us;
        let time = frame.time.filter(|_| times.len() < MAX_TIMES);
        times.extend(time.and_then(|time| u32::try_from(time.as_micros()).ok()));
    }
}

fn count(events: &mut BTreeMap<String, u64>, name: &str) {
    match events.get_mut(name) {
        Some(count) => *count += 1,
        None => drop(events.insert(name.to_owned(), 1)),
    }
}

fn beginning(body: &[u8]) -> String {
    let start = String::from_utf8_lossy(body.get(..MAX_MESSAGE * 8).unwrap_or(body));
    cut(&start.split_whitespace().collect::<Vec<_>>().join(" "), MAX_MESSAGE)
}

fn opened_item(record: &Record<'_>) -> Option<&'static str> {
    let (_, info) = record.known?;
    info.value.filter(|_| info.level.is_container && info.role == Role::Open)
}

fn text(json: &str, pointer: &str) -> Option<String> {
    serde_json::from_str(spec::json::at(json, pointer)?).ok()
}
