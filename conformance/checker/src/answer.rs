//! The content of a response, in terms that all APIs share. It is read from events or from a body, by the scopes of the
//! API.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::Value;
use spec::json::{at, string};
use spec::table::{Api, Content, EventInfo, Role, Scope, ScopeInfo};
use spec::{Dialect, Memory, Slot, View};

use crate::{Counts, Frame, Observer, Record, Seen, Tokens, pieces};

/// The content of a response. If there are several choices, it is the first one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answer {
    /// The texts of its parts, in order.
    pub texts: Vec<String>,
    /// The refusals.
    pub refusal: String,
    /// Texts and summaries of reasoning.
    pub reasoning: String,
    /// The calls that the client answers.
    pub calls: Vec<ToolCall>,
    /// How it ended, in the words of its API: its status, or the reason why it stopped.
    pub status: Option<String>,
    /// Its id.
    pub id: Option<String>,
    /// Its token counts.
    pub tokens: Option<Tokens>,
}

/// A call that the client answers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolCall {
    /// Its id.
    pub id: String,
    /// The name of what is called.
    pub name: String,
    /// Its arguments, as text. A body or an opening event can have them as JSON, whose text is then compact.
    pub arguments: String,
}

impl Answer {
    /// Returns the content of a response that is the body of an exchange, or the value of the root in a stream.
    pub fn of_response(api: &'static Api, response: &Value) -> Self {
        let mut reader = AnswerReader::new(api);
        reader.value(api.scope(api.root), response, Key::default());
        let tokens = Tokens::of_response(api, response);
        Self { id: text_at(response, api.response_id), tokens, ..reader.finish() }
    }

    /// Returns the content of a body, which is an event where no other shape is known.
    pub fn of_body(dialect: &'static Dialect, body: &Value) -> Self {
        if !dialect.api.is_stream_of_bodies() {
            return Self::of_response(dialect.api, body);
        }
        let mut reader = AnswerReader::new(dialect.api);
        reader.data(dialect, &body.to_string());
        reader.finish()
    }

    /// Returns the whole text.
    pub fn text(&self) -> String {
        self.texts.concat()
    }
}

/// Returns why an effect of an event ends the root or one of its choices, in the words of the API.
pub fn stop_word<'v>(api: &Api, info: &EventInfo, view: &View<'v>) -> Option<Cow<'v, str>> {
    let (_, member) = api.stop.filter(|(scope, _)| *scope == info.scope)?;
    let value = view.raw(Slot::Value).or_else(|| view.snapshot(api).filter(|_| info.level.is_root))?;
    string(at(value, &format!("/{member}"))?)
}

/// The indices of a scope, the outermost first.
type Key = [u64; Scope::MOST_KEYS];

/// Reads the content of a stream from its deltas; only how it ended and its token counts are read from the events that
/// have them.
#[derive(Debug, Clone)]
pub struct AnswerReader {
    api: &'static Api,
    id: Option<String>,
    status: Option<String>,
    counts: Option<Counts>,
    /// Texts by the index of their container, their scope and their indices.
    texts: BTreeMap<(u64, Scope, Key), Joined>,
    calls: BTreeMap<Key, (ToolCall, Joined)>,
    /// Number of bytes that it still stores.
    room: usize,
    /// The same for arguments whose pieces have a place.
    placed: usize,
}

#[derive(Debug, Clone, Default)]
struct Joined {
    /// The text in a value of a scope around it, which counts if no delta follows.
    opening: String,
    deltas: String,
    /// Arguments whose pieces have a place.
    placed: Value,
}

impl Joined {
    fn whole(self) -> String {
        match () {
            () if !self.placed.is_null() => self.placed.to_string(),
            () if self.deltas.is_empty() => self.opening,
            () => self.deltas,
        }
    }
}

/// Number of bytes that a text takes in addition to its own.
const OVERHEAD: usize = 64;

impl AnswerReader {
    /// Creates a reader without a limit.
    pub const fn new(api: &'static Api) -> Self {
        Self {
            api,
            id: None,
            status: None,
            counts: None,
            texts: BTreeMap::new(),
            calls: BTreeMap::new(),
            room: usize::MAX,
            placed: pieces::MOST,
        }
    }

    /// Limits the memory: the rest of a stream is ignored after about this number of bytes.
    #[must_use]
    pub const fn within(mut self, bytes: usize) -> Self {
        self.room = bytes;
        if bytes < self.placed {
            self.placed = bytes;
        }
        self
    }

    /// Reads the data of an event.
    pub fn data(&mut self, dialect: &Dialect, data: &str) {
        let frame = Frame { data: Some(Cow::Borrowed(data)), ..Frame::default() };
        let (mut memory, mut record) = (Memory::default(), Record::new(&frame, 1, 1));
        record.read(dialect, &mut None, &mut memory);
        self.event(&record);
    }

    /// Reads an event.
    pub fn event(&mut self, record: &Record<'_>) {
        let data = record.data();
        for (info, view) in record.views() {
            self.effect(info, &view, data);
        }
        self.pieces(record);
        if self.api.first_event_opens && self.id.is_none() {
            self.id = at(data, self.api.response_id)
                .and_then(string)
                .filter(|id| !id.is_empty())
                .map(Cow::into_owned);
        }
        if let Some(counts) = Counts::of_event(self.api, record) {
            self.counts.get_or_insert_default().update(counts);
        }
    }

    fn effect(&mut self, info: &EventInfo, view: &View<'_>, data: &str) {
        let (level, mut key) = (info.level, key(info.level, view));
        // A call without an index is counted.
        let is_counted = |slot: &Slot| self.api.slots.iter().any(|(of, at)| of == slot && at.is_empty());
        if info.role == Role::Open
            && level.own_index.as_ref().is_some_and(is_counted)
            && let Some(own) = key.get_mut(level.key.len() - 1)
        {
            *own = self.calls.len() as u64;
        }
        if self.is_of_other_choice(level, key) {
            return;
        }
        let whole = view.raw(Slot::Value).or_else(|| view.snapshot(self.api).filter(|_| level.is_root));
        match info.role {
            // The event may be the response itself.
            Role::Open if level.is_root => self.opening(level, whole.unwrap_or(data), key),
            Role::Open => self.opening(level, whole.unwrap_or_default(), key),
            Role::Delta => self.add(level, &whole.and_then(string).unwrap_or_default(), key),
            Role::Point | Role::Phase | Role::Final | Role::Close | Role::Terminal => {
                if let Some(word) = stop_word(self.api, info, view) {
                    self.status = Some(word.into_owned());
                } else if info.role == Role::Terminal
                    && self.api.stop == Some((info.scope, self.api.status.member))
                {
                    // Without the response in it, the event has the status in its type.
                    self.status = info.phase.map(str::to_owned).or(self.status.take());
                }
                // The value that opens a call need not name it.
                if info.role == Role::Close
                    && self.calls.get(&key).is_some_and(|(call, _)| call.name.is_empty())
                {
                    self.call(
                        level,
                        &serde_json::from_str(whole.unwrap_or_default()).unwrap_or_default(),
                        key,
                    );
                }
            }
        }
    }

    fn opening(&mut self, level: &'static ScopeInfo, value: &str, key: Key) {
        let value = serde_json::from_str(value).unwrap_or_default();
        if level.is_root && self.id.is_none() {
            self.id = text_at(&value, self.api.response_id).filter(|id| !id.is_empty());
        }
        self.value(level, &value, key);
    }

    /// Returns what was read.
    pub fn finish(self) -> Answer {
        let Self { api, id, status, counts, texts, calls, .. } = self;
        let tokens = counts.map(|counts| counts.tokens(api));
        let calls = calls.into_values();
        let calls =
            calls.map(|(call, arguments)| ToolCall { arguments: arguments.whole(), ..call }).collect();
        let mut answer = Answer { calls, status, id, tokens, ..Answer::default() };
        for ((_, scope, _), text) in texts {
            match api.scope(scope).content {
                Some(Content::Text) => answer.texts.push(text.whole()),
                Some(Content::Refusal) => answer.refusal += &text.whole(),
                Some(Content::Reasoning) => answer.reasoning += &text.whole(),
                Some(Content::Arguments | Content::Item | Content::Choice | Content::Part) | None => {}
            }
        }
        answer
    }

    fn value(&mut self, level: &'static ScopeInfo, value: &Value, key: Key) {
        if self.room == 0 || self.is_of_other_choice(level, key) {
            return;
        }
        if is_text(level) {
            let text = text_of(level, value);
            // A part of this type is one, even without text.
            if !text.is_empty() || level.content == Some(Content::Text) && !level.of.is_empty() {
                self.take(text.len());
                if let Some(joined) = self.joined(level, key) {
                    joined.opening = text.into_owned();
                }
            }
            return;
        }
        if let Some((_, member)) = self.api.stop.filter(|(scope, _)| *scope == level.scope) {
            self.status = value.get(member).and_then(Value::as_str).map(str::to_owned);
        }
        self.call(level, value, key);
        for inner in self.inner(level, value) {
            let found =
                inner.in_body.iter().map(|place| values(value, place)).find(|found| !found.is_empty());
            for (index, value) in found.unwrap_or_default() {
                let mut key = key;
                if let (Some(index), Some(own)) = (index, key.get_mut(level.key.len())) {
                    *own = index;
                }
                self.value(inner, value, key);
            }
        }
    }

    fn inner(&self, level: &ScopeInfo, value: &Value) -> impl Iterator<Item = &'static ScopeInfo> + use<> {
        let (outer, kind) = (level.scope, value.get("type").and_then(Value::as_str).map(str::to_owned));
        let is_inner =
            move |inner: &&ScopeInfo| inner.parent == Some(outer) && inner.can_be_in(kind.as_deref());
        self.api.scopes().filter(is_inner)
    }

    fn is_of_other_choice(&self, level: &ScopeInfo, key: Key) -> bool {
        let is_choice = |scope: &ScopeInfo| scope.content == Some(Content::Choice);
        let choice =
            self.api.with_parents(level.scope).map(|scope| self.api.scope(scope)).find(|it| is_choice(it));
        let index = choice.and_then(|choice| key.get(choice.key.len().checked_sub(1)?));
        index.is_some_and(|index| *index != 0)
    }

    fn call(&mut self, level: &ScopeInfo, value: &Value, key: Key) {
        let is_call = self.api.client_call.filter(|call| {
            let kind = || value.get("type").and_then(Value::as_str);
            call.scope == level.scope
                && (call.types.is_empty() || kind().is_some_and(|kind| call.types.contains(&kind)))
        });
        let Some(places) = is_call else { return };
        let [id, name] = [places.id, places.name].map(|place| text_at(value, place).unwrap_or_default());
        if !self.calls.contains_key(&key) {
            self.take(id.len() + name.len() + OVERHEAD);
        }
        let (call, _) = self.calls.entry(key).or_default();
        // Some vendors repeat the id with each delta, and some another one.
        for (own, new) in [(&mut call.id, id), (&mut call.name, name)] {
            if own.is_empty() {
                *own = new;
            }
        }
        self.placed(Some(key), value);
    }

    /// Later pieces do not name their call, which is the last one.
    fn pieces(&mut self, record: &Record<'_>) {
        let is_open =
            |(_, joined): &(ToolCall, Joined)| joined.opening.is_empty() && joined.deltas.is_empty();
        // Most events have no such call before them.
        if !self.calls.values().next_back().is_some_and(is_open) {
            return;
        }
        let Some((scope, (_, info))) = self.api.client_call.map(|call| call.scope).zip(record.known) else {
            return;
        };
        let opens = |of: &&EventInfo| of.scope == scope && of.role == Role::Open && of.when.is_some();
        let Some(opening) = info.effects.iter().find(opens) else { return };
        let (Some(place), Some(name)) = (opening.value, opening.when) else { return };
        let data = serde_json::from_str(record.data()).unwrap_or_default();
        let index =
            opening.level.key.first().and_then(|own| self.api.slots.iter().find(|(slot, _)| slot == own));
        for (entry, value) in listed(&data, place) {
            let own = index.and_then(|(_, at)| entry.pointer(at.rsplit_once('*')?.1)?.as_u64());
            let mut key = Key::default();
            key[0] = own.unwrap_or(0);
            if value.get(name).is_none() && !self.is_of_other_choice(opening.level, key) {
                self.placed(None, value);
            }
        }
    }

    /// Without a key, pieces belong to the last call.
    fn placed(&mut self, key: Option<Key>, value: &Value) {
        let Some(pieces) = pieces::of_call(value).filter(|_| self.room > 0) else { return };
        self.take(pieces.to_string().len());
        let call = match key {
            Some(key) => self.calls.get_mut(&key),
            None => self.calls.values_mut().next_back(),
        };
        if let Some((_, joined)) = call {
            pieces::put(&mut joined.placed, pieces, &mut self.placed);
        }
    }

    fn add(&mut self, level: &ScopeInfo, text: &str, key: Key) {
        if self.room == 0 || text.is_empty() {
            return;
        }
        self.take(text.len());
        if let Some(joined) = self.joined(level, key) {
            joined.deltas += text;
        }
    }

    /// Arguments belong only to a known call.
    fn joined(&mut self, level: &ScopeInfo, key: Key) -> Option<&mut Joined> {
        match level.content? {
            Content::Item | Content::Choice | Content::Part => None,
            Content::Arguments => {
                let outer = level.parent.map_or(0, |outer| self.api.scope(outer).key.len());
                let mut of_call = Key::default();
                of_call.iter_mut().zip(key).take(outer).for_each(|(own, index)| *own = index);
                self.calls.get_mut(&of_call).map(|(_, arguments)| arguments)
            }
            // A transcript beside the output is no part of it.
            _ if level.parent == Some(self.api.root) => None,
            Content::Text | Content::Refusal | Content::Reasoning => {
                let [container, ..] = key;
                let place = (container, level.scope, key);
                if !self.texts.contains_key(&place) {
                    self.take(OVERHEAD);
                }
                Some(self.texts.entry(place).or_default())
            }
        }
    }

    const fn take(&mut self, bytes: usize) {
        self.room = self.room.saturating_sub(bytes);
    }
}

impl Observer for AnswerReader {
    fn record(&mut self, seen: &Seen<'_>) {
        self.event(seen.record);
    }
}

const fn is_text(level: &ScopeInfo) -> bool {
    !matches!(level.content, None | Some(Content::Item | Content::Choice | Content::Part))
}

/// Only arguments can be JSON instead.
fn text_of<'v>(level: &ScopeInfo, value: &'v Value) -> Cow<'v, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        Value::Object(_) if level.content == Some(Content::Arguments) => Cow::Owned(value.to_string()),
        _ => Cow::Borrowed(""),
    }
}

/// A missing index is 0.
fn key(level: &ScopeInfo, view: &View<'_>) -> Key {
    let mut key = Key::default();
    for (own, slot) in key.iter_mut().zip(level.key) {
        *own = view.count(*slot).and_then(|count| count.whole()).unwrap_or(0);
    }
    key
}

/// The place can have indices, as in `/content/{content_index}`.
fn values<'v>(value: &'v Value, place: &str) -> Vec<(Option<u64>, &'v Value)> {
    let Some((list, rest)) = place.split_once("/{") else {
        let value = value.pointer(place).filter(|value| !value.is_null());
        return value.map(|value| (None, value)).into_iter().collect();
    };
    let rest = rest.split_once('}').map_or("", |(_, rest)| rest);
    let entries = value.pointer(list).and_then(Value::as_array).into_iter().flatten();
    let indexed = (0..).zip(entries).filter_map(|(index, entry)| Some((Some(index), entry.pointer(rest)?)));
    indexed.collect()
}

/// The values at a place with `*` for each entry of a list, with the entry of the outermost list.
fn listed<'v>(value: &'v Value, place: &str) -> Vec<(&'v Value, &'v Value)> {
    let Some((list, rest)) = place.split_once("/*") else {
        return value.pointer(place).map(|found| (value, found)).into_iter().collect();
    };
    let entries = value.pointer(list).and_then(Value::as_array).into_iter().flatten();
    entries.flat_map(|entry| listed(entry, rest).into_iter().map(move |(_, found)| (entry, found))).collect()
}

fn text_at(value: &Value, pointer: &str) -> Option<String> {
    value.pointer(pointer)?.as_str().map(str::to_owned)
}
