//! Writes a response as it arrives.

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};

use serde_json::{Value, json};
use spec::table::{Marker, RenderMoment};
use spec::{Dialect, Scope};

use super::edits::{Edited, Edits};
use super::head::Head;
use super::page::{Page, PartPage, Parts};
use super::{Front, resource, status_of};
use crate::template::{Context, Template, add, fill, holds, is_set};
use crate::{Delta, PartKind, Reply, ReplyError, Stop, Usage};

/// Writes a response of an API as it arrives.
#[derive(Debug)]
pub struct Writer {
    page: &'static Page,
    front: Front,
    head: Head,
    /// Number of events so far.
    events: u64,
    /// The parts that have opened, in order.
    parts: Vec<Part>,
    /// Parts that wait for the end of the one before them, each with its deltas.
    waiting: VecDeque<(usize, Vec<Delta>)>,
    /// A seal that the next part carries.
    carried: Option<String>,
    /// Other values for templates.
    said: BTreeMap<&'static str, Value>,
    /// If the dialect allows alternatives, it decides.
    seed: u64,
    /// The number of events of parts that are still written.
    left: usize,
}

/// A part of the response.
#[derive(Debug)]
struct Part {
    number: usize,
    page: &'static PartPage,
    id: String,
    kind: PartKind,
    /// Its place among the parts that have begun, and if it is a call, among the calls.
    places: Option<[usize; 2]>,
    text: String,
    seal: Option<String>,
    state: PartState,
    /// As it ends, if that is known when it begins.
    closed: Option<Value>,
}

/// How far a part is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PartState {
    Open,
    /// It is complete, unless it turns out to be cut off by the end of the response.
    Ending,
    Completed,
    Incomplete,
    /// The response failed before its end.
    Lost,
}

/// The values that a template can name.
struct Named<'w> {
    writer: &'w Writer,
    part: Option<&'w Part>,
    /// A piece of a text, or of something else.
    delta: &'w Value,
}

impl Writer {
    /// A writer for a client.
    pub fn new(front: Front) -> Self {
        let page = Page::of(front.dialect.api.name);
        let (parts, waiting, said) = (Vec::new(), VecDeque::new(), BTreeMap::new());
        let (events, seed, left) = (0, 1, usize::MAX);
        Self { page, front, head: Head::default(), events, parts, waiting, carried: None, said, seed, left }
    }

    /// Alternatives of the dialect follow from the seed.
    #[must_use]
    pub const fn with_seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Parts have at most this number of events. The others do not end.
    pub const fn limit(&mut self, events: usize) {
        self.left = events;
    }

    /// The response before it runs, and while it does.
    pub fn pending(&self) -> Vec<Value> {
        self.page.pending.iter().map(|Template(response)| fill(response, &self.of_all())).collect()
    }

    /// Sets a value that templates of its API name.
    pub fn say(&mut self, name: &'static str, value: impl Into<Value>) {
        self.said.insert(name, value.into());
    }

    /// Writes the events for a delta.
    pub fn write(&mut self, delta: &Delta, out: &mut Vec<u8>) {
        self.head.note(&self.front, delta);
        match delta {
            Delta::Started { .. } => {
                self.emit(&self.page.start, None, &Value::Null, out);
            }
            Delta::Opened { part, .. } if self.page.parts == Parts::OneByOne && self.open().is_some() => {
                self.waiting.push_back((*part, vec![delta.clone()]));
            }
            Delta::Opened { part, .. }
            | Delta::Text { part, .. }
            | Delta::Piece { part, .. }
            | Delta::Seal { part, .. }
            | Delta::Closed { part } => {
                if let Some((_, deltas)) = self.waiting.iter_mut().find(|(own, _)| own == part) {
                    deltas.push(delta.clone());
                } else {
                    self.apply(delta, out);
                    self.advance(out);
                }
            }
            Delta::Ended => {
                self.finish(out);
                self.done(out);
            }
            Delta::Usage(_) | Delta::Stopped(_) | Delta::Failed(_) | Delta::Garbled(_) => {}
        }
    }

    /// Writes the end of a response that fails. Token counts come with it only if there are any.
    pub fn fail(&mut self, error: &ReplyError, usage: Option<Usage>, out: &mut Vec<u8>) {
        if let Some(at) = self.open().filter(|_| self.page.parts == Parts::OneByOne && usage.is_some()) {
            self.end_part(at, PartState::Completed, out);
        }
        (self.head.error, self.head.usage) = (Some(error.clone()), usage);
        self.emit(&self.page.fail, None, &Value::Null, out);
        self.done(out);
    }

    /// Writes the end of the response, without a marker behind it.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        self.end_parts(out);
        self.emit(&self.page.end, None, &Value::Null, out);
    }

    /// A sign of life, if the API has one.
    pub fn ping(&mut self, out: &mut Vec<u8>) {
        self.emit(&self.page.ping, None, &Value::Null, out);
    }

    /// The response as a body, instead of its stream.
    pub fn body(mut self, reply: &Reply) -> Value {
        let ignored = &mut Vec::new();
        for delta in reply.deltas().iter().filter(|delta| **delta != Delta::Ended) {
            self.write(delta, ignored);
        }
        self.end_parts(ignored);
        self.whole()
    }

    /// A response whose parts have all been written.
    pub fn whole(&self) -> Value {
        fill(&self.page.body.0, &self.of_all())
    }

    fn done(&self, out: &mut Vec<u8>) {
        if self.front.dialect.framing.done == Marker::Required {
            out.extend_from_slice(b"data: [DONE]\n\n");
        }
    }

    /// The result is whether there was room for the last one.
    fn emit(&mut self, events: &[Template], part: Option<usize>, delta: &Value, out: &mut Vec<u8>) -> bool {
        let (dialect, edits, mut has_room) = (self.front.dialect, self.edits(), true);
        for Template(event) in events {
            has_room = part.is_none() || self.left > 0;
            let part = part.and_then(|at| self.parts.get(at));
            let named = Named { writer: self, part, delta };
            if !has_room || !holds(event, &named) {
                continue;
            }
            let mut data = fill(event, &named);
            let kind = data.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
            let info = dialect.event(&kind);
            if info.is_none() && !kind.is_empty() {
                continue;
            }
            let every = fill(&self.page.every.0, &named);
            let closed = part.and_then(|part| part.closed.as_ref());
            add(&mut data, every.clone());
            if let Some(info) = info {
                edits.apply_inside(info, closed, &mut data);
            }
            rename(dialect, &mut data);
            edits.apply(Edited::event(&kind, closed), &mut data);
            to_the_end(&mut data, &every);
            if let Some(name) = dialect.framing.event_field(&kind) {
                out.extend_from_slice(format!("event: {name}\n").as_bytes());
            }
            let data = on_one_line(data.to_string());
            out.extend_from_slice(format!("data: {data}\n\n").as_bytes());
            self.events += 1;
            if part.is_some() {
                self.left -= 1;
            }
        }
        has_room
    }

    const fn edits(&self) -> Edits {
        Edits::of(self.front.dialect, self.seed)
    }

    /// The first part that is open.
    fn open(&self) -> Option<usize> {
        self.parts.iter().position(|part| matches!(part.state, PartState::Open | PartState::Ending))
    }

    fn position(&self, number: usize) -> Option<usize> {
        self.parts.iter().rposition(|part| part.number == number)
    }

    fn apply(&mut self, delta: &Delta, out: &mut Vec<u8>) {
        if let Delta::Opened { .. } | Delta::Text { .. } = delta {
            self.end_late(out);
        }
        match delta {
            Delta::Opened { part, kind } => self.open_part(*part, kind, out),
            Delta::Text { part, text } => {
                if let Some(at) = self.position(*part) {
                    self.text(at, text, out);
                }
            }
            Delta::Piece { part, step, value } => {
                if let Some(at) = self.position(*part)
                    && let Some(Part { page, .. }) = self.parts.get(at)
                {
                    self.emit(page.step.get(*step).unwrap_or(&page.delta), Some(at), value, out);
                }
            }
            Delta::Seal { part, seal } => {
                if let Some(part) = self.position(*part).and_then(|at| self.parts.get_mut(at)) {
                    part.seal = Some(seal.clone());
                }
            }
            Delta::Closed { part } => {
                let Some(at) = self.position(*part) else { return };
                let is_item = self.parts.get(at).is_some_and(|part| part.closed.is_some());
                if is_item || self.page.parts != Parts::EndLate {
                    self.end_part(at, PartState::Completed, out);
                } else if let Some(part) = self.parts.get_mut(at) {
                    part.state = PartState::Ending;
                }
            }
            _ => {}
        }
    }

    fn advance(&mut self, out: &mut Vec<u8>) {
        while self.open().is_none()
            && let Some((_, deltas)) = self.waiting.pop_front()
        {
            for delta in &deltas {
                self.apply(delta, out);
            }
        }
    }

    fn open_part(&mut self, number: usize, kind: &PartKind, out: &mut Vec<u8>) {
        let Some(page) = self.page.of_part(kind) else { return };
        let (id, text, seal) = (String::new(), String::new(), None);
        let (kind, places, state, closed) = (kind.clone(), None, PartState::Open, None);
        self.parts.push(Part { number, page, id, kind, places, text, seal, state, closed });
        if !page.opens_with_content {
            self.begin(self.parts.len() - 1, out);
        }
    }

    /// The part begins once.
    fn begin(&mut self, at: usize, out: &mut Vec<u8>) {
        if self.parts.get(at).is_none_or(|part| part.places.is_some()) {
            return;
        }
        let begun = |of: fn(&Part) -> bool| {
            self.parts.iter().filter(|part| part.places.is_some() && of(part)).count()
        };
        let places = [begun(|_| true), begun(Part::is_call)];
        let Some(part) = self.parts.get_mut(at) else { return };
        part.places = Some(places);
        let page = part.page;
        let id = self.named(at).filled(&page.id);
        if let Some(part) = self.parts.get_mut(at) {
            part.id = id;
            if let PartKind::Item { .. } = part.kind {
                part.state = PartState::Completed;
                let closed = fill(&page.whole.0, &self.named(at));
                if let Some(part) = self.parts.get_mut(at) {
                    (part.state, part.closed) = (PartState::Open, Some(closed));
                }
            }
        }
        self.emit(&page.open, Some(at), &Value::Null, out);
    }

    fn text(&mut self, at: usize, text: &str, out: &mut Vec<u8>) {
        if self.parts.get(at).is_none_or(Part::has_ended) {
            return;
        }
        self.begin(at, out);
        let Some(part) = self.parts.get_mut(at) else { return };
        let (page, is_first) = (part.page, part.text.is_empty());
        if is_first {
            self.emit(&page.first, Some(at), &Value::Null, out);
        }
        if let Some(part) = self.parts.get_mut(at) {
            part.text.push_str(text);
        }
        self.emit(&page.delta, Some(at), &json!(text), out);
    }

    /// Ends the parts that have turned out to be complete.
    fn end_late(&mut self, out: &mut Vec<u8>) {
        for at in 0..self.parts.len() {
            if self.parts.get(at).is_some_and(|part| part.state == PartState::Ending) {
                self.end_part(at, PartState::Completed, out);
            }
        }
    }

    fn end_part(&mut self, at: usize, state: PartState, out: &mut Vec<u8>) {
        let Some(part) = self.parts.get(at).filter(|part| !part.has_ended()) else { return };
        let page = part.page;
        if part.text.is_empty()
            && state == PartState::Completed
            && self.head.stop() != Stop::Cut
            && let Some(empty) = &page.empty
        {
            self.text(at, empty, out);
        }
        let Some(part) = self.parts.get_mut(at) else { return };
        let has_text = !part.text.is_empty();
        part.state = state;
        if page.takes_seal {
            part.seal = self.carried.take();
        }
        if page.hands_on_seal
            && let Some(seal) = part.seal.take()
        {
            self.carried = Some(seal);
        }
        let is_sealed = self.parts.get(at).is_some_and(|part| part.seal.is_some());
        if is_sealed {
            self.begin(at, out);
        }
        if self.parts.get(at).is_none_or(|part| part.places.is_none()) {
            return;
        }
        if is_sealed {
            self.emit(&page.sealed, Some(at), &Value::Null, out);
        }
        if has_text || page.first.is_empty() {
            self.emit(&page.done, Some(at), &Value::Null, out);
        }
        if !self.emit(&page.close, Some(at), &Value::Null, out)
            && let Some(part) = self.parts.get_mut(at)
        {
            part.state = PartState::Lost;
        }
    }

    /// Where the API does not end its parts, the end of the response does.
    fn end_parts(&mut self, out: &mut Vec<u8>) {
        let last = self
            .parts
            .len()
            .checked_sub(1)
            .filter(|_| self.head.is_cut() && self.page.parts == Parts::EndLate);
        while let Some(at) = self.open() {
            let state = if last == Some(at) { PartState::Incomplete } else { PartState::Completed };
            self.end_part(at, state, out);
            self.advance(out);
        }
        let has_begun = self.parts.iter().any(|part| part.places.is_some());
        if self.page.needs_text && !has_begun && self.head.stop() == Stop::Ended {
            self.open_part(usize::MAX, &PartKind::Text, out);
            let at = self.parts.len() - 1;
            self.begin(at, out);
            self.end_part(at, PartState::Completed, out);
        }
    }

    const fn of_all(&self) -> Named<'_> {
        Named { writer: self, part: None, delta: &Value::Null }
    }

    fn named(&self, at: usize) -> Named<'_> {
        Named { part: self.parts.get(at), ..self.of_all() }
    }

    /// The parts that have ended, as the response has them.
    fn wholes(&self, of: impl Fn(&Part) -> bool) -> Value {
        let ended = (0..self.parts.len()).filter_map(|at| Some((at, self.parts.get(at)?)));
        let ended = ended.filter(|(_, part)| part.places.is_some() && part.has_ended() && of(part));
        let whole = |(at, part): (usize, &Part)| match &part.closed {
            None => fill(&part.page.whole.0, &self.named(at)),
            Some(closed) => self.edits().apply_to_item(RenderMoment::Ended, closed, closed),
        };
        ended.map(whole).collect()
    }

    fn joined(&self, of: impl Fn(&PartKind) -> bool) -> Option<Value> {
        let texts: Vec<&str> =
            self.parts.iter().filter(|part| of(&part.kind)).map(|part| &*part.text).collect();
        (!texts.is_empty()).then(|| texts.concat().into())
    }

    /// OpenAI has none; other vendors use this name.
    fn reasoning(&self) -> &'static str {
        let effect = self.front.dialect.effects().find(|effect| effect.scope == Scope::Reasoning);
        effect.and_then(|effect| effect.value?.rsplit('/').next()).unwrap_or("reasoning_content")
    }

    fn stop(&self, name: &str) -> Option<Value> {
        let (named, stop) = (self.of_all(), self.head.stop());
        let fits = |when: &Option<String>| when.as_ref().is_none_or(|flag| is_set(flag, &named));
        let words = self.page.stop.iter().find(|words| words.are_of(stop) && fits(&words.when))?;
        let Dialect { api, .. } = self.front.dialect;
        match words.says.get(name)? {
            // A dialect need not have the event that ends such a response.
            Value::String(word) if name == "status" && self.front.dialect.ending(word).is_none() => {
                Some(json!(api.status.completed))
            }
            word => Some(word.clone()),
        }
    }

    fn code(&self, class: &str) -> Option<Value> {
        self.page.codes.get(class).or_else(|| self.page.codes.get("")).map(|code| json!(code))
    }
}

/// Some clients end a line at these characters, which are in strings alone.
fn on_one_line(data: String) -> String {
    const ENDS: [(char, &str); 3] = [('\u{2028}', "\\u2028"), ('\u{2029}', "\\u2029"), ('\u{85}', "\\u0085")];
    if data.is_ascii() || !data.contains(ENDS.map(|(end, _)| end)) {
        return data;
    }
    ENDS.iter().fold(data, |data, (end, escape)| data.replace(*end, escape))
}

/// A dialect can have values of events elsewhere.
fn rename(dialect: &Dialect, data: &mut Value) {
    for (slot, _) in dialect.envelope {
        let usual = dialect.api.slots.iter().find(|(of, _)| of == slot);
        let usual = usual.and_then(|(_, place)| place.strip_prefix('/')).unwrap_or_default();
        if let Value::Object(members) = data
            && let Some(value) = members.shift_remove(usual)
        {
            members.insert(dialect.member(*slot).to_owned(), value);
        }
    }
}

/// Members of each event stay last, also if an edit has added others.
fn to_the_end(data: &mut Value, every: &Value) {
    let Value::Object(members) = data else { return };
    for name in every.as_object().into_iter().flat_map(|every| every.keys()) {
        let found = members.shift_remove_entry(name);
        members.extend(found);
    }
}

impl Part {
    const fn is_call(&self) -> bool {
        matches!(self.kind, PartKind::Call { .. })
    }

    fn is_of(&self, name: &str) -> bool {
        matches!(self.kind, PartKind::Item { kind, .. } if kind == name)
    }

    const fn has_ended(&self) -> bool {
        matches!(self.state, PartState::Completed | PartState::Incomplete)
    }

    fn get(&self, name: &str) -> Option<Cow<'_, Value>> {
        if let PartKind::Item { values, .. } = &self.kind
            && let Some(value) = values.get(name)
        {
            return Some(Cow::Borrowed(value));
        }
        let value = match name {
            "ended" => Some(json!(self.has_ended())),
            "id" => Some(json!(self.id)),
            "index" => self.places.map(|[index, _]| json!(index)),
            "call" => self.places.map(|[_, call]| json!(call)),
            "text" => Some(json!(self.text)),
            "arguments" => Some(serde_json::from_str(&self.text).unwrap_or_else(|_| json!({}))),
            "seal" => self.seal.as_ref().map(|seal| json!(seal)),
            "status" => {
                Some(json!(if self.state == PartState::Incomplete { "incomplete" } else { "completed" }))
            }
            name => match (name, &self.kind) {
                ("call_id", PartKind::Call { id: value, .. })
                | ("name", PartKind::Call { name: value, .. }) => Some(json!(value)),
                _ => None,
            },
        };
        value.map(Cow::Owned)
    }
}

impl Named<'_> {
    fn filled(&self, text: &str) -> String {
        match fill(&json!(text), self) {
            Value::String(text) => text,
            other => other.to_string(),
        }
    }
}

impl Context for Named<'_> {
    fn get(&self, name: &str) -> Option<Cow<'_, Value>> {
        let Writer { front, head, .. } = self.writer;
        if name.starts_with('/') {
            return front.request.pointer(name).map(Cow::Borrowed);
        }
        if let Some(value) = self.part.and_then(|part| part.get(name)) {
            return Some(value);
        }
        if let Some(value) = self.writer.said.get(name) {
            return Some(Cow::Borrowed(value));
        }
        if let Some(place) = name.strip_prefix("delta/") {
            return self.delta.get(place).map(Cow::Borrowed);
        }
        if let Some(kind) = name.strip_prefix("parts.") {
            return Some(Cow::Owned(self.writer.wholes(|part| part.is_of(kind))));
        }
        if let Some(word) = name.strip_prefix("stop.") {
            return self.writer.stop(word).map(Cow::Owned);
        }
        let usage = head.usage.unwrap_or_default();
        let count = |count: Option<u64>| Some(json!(count.unwrap_or(0)));
        let error = |of: fn(&ReplyError) -> &String| head.error.as_ref().map(|error| json!(of(error)));
        let value = match name {
            "delta" => return Some(Cow::Borrowed(self.delta)),
            "tag" => Some(json!(head.tag)),
            "model" => Some(json!(head.model)),
            "now" | "later" => Some(json!(front.now)),
            "sequence" => Some(json!(self.writer.events)),
            "choice" | "written" => Some(json!(0)),
            "carried" => self.writer.carried.as_ref().map(|seal| json!(seal)),
            "before" => head.stopped.before.as_ref().map(|text| json!(text)),
            "has_refusal" => Some(json!(head.has_refusal)),
            "has_usage" => Some(json!(head.usage.is_some())),
            "has_input" => Some(json!(usage.input.is_some())),
            "input" => count(usage.input),
            "cached" => count(usage.cached),
            "uncached" => count(usage.input.map(|input| input.saturating_sub(usage.cached.unwrap_or(0)))),
            "output" => count(usage.output),
            "reasoning" => count(usage.reasoning),
            // Where thoughts stand beside the answer.
            "answered" => {
                count(usage.output.map(|output| output.saturating_sub(usage.reasoning.unwrap_or(0))))
            }
            "total" => count(usage.input.unwrap_or(0).checked_add(usage.output.unwrap_or(0))),
            "reasoning_member" => Some(json!(self.writer.reasoning())),
            "texts" => self.writer.joined(|kind| *kind == PartKind::Text),
            "refusals" => self.writer.joined(|kind| *kind == PartKind::Refusal),
            "thoughts" => self.writer.joined(|kind| matches!(kind, PartKind::Reasoning { .. })),
            "parts" => Some(self.writer.wholes(|_| true)),
            "calls" => Some(self.writer.wholes(Part::is_call)),
            "http_status" => {
                let status = |error: &ReplyError| status_of(front.dialect.api, &error.class);
                head.error.as_ref().map(|error| json!(status(error)))
            }
            "class" => error(|error| &error.class),
            "message" => error(|error| &error.message),
            "code" => head.error.as_ref().and_then(|error| self.writer.code(&error.class)),
            _ => None,
        };
        value.map(Cow::Owned)
    }

    fn response(&self, moment: &str, inner: &Value) -> Value {
        let Writer { front, .. } = self.writer;
        let moment = if moment == "begun" { RenderMoment::Begun } else { RenderMoment::Ended };
        resource::response(front.dialect, self.writer.edits(), &front.request, moment, |name| {
            inner.get(name).cloned()
        })
    }
}
