//! What a response says, in the terms that all APIs share: read from the events of a stream, or from a body, by the
//! scopes of the API.

use std::collections::BTreeMap;

use serde_json::Value;
use spec::table::{Api, Content, CountPlace, EventInfo, Role, Scope, ScopeInfo};
use spec::{Dialect, Slot, View};

use crate::{Observer, Seen};

/// The content of a response.
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
    /// The status of the response; a stream of deltas has none.
    pub status: Option<String>,
    /// Its id.
    pub id: Option<String>,
    /// Its token counts; a stream of deltas has none.
    pub tokens: Option<Tokens>,
}

/// A call that the client answers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolCall {
    /// Its id.
    pub id: String,
    /// The name of what is called.
    pub name: String,
    /// Its arguments.
    pub arguments: String,
}

/// The token counts of a response.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tokens {
    /// All tokens of the input.
    pub input: Option<u64>,
    /// All tokens of the output.
    pub output: Option<u64>,
}

impl Answer {
    /// Returns the content of a response that is the body of an exchange, or the value of the root in a stream.
    pub fn of_response(api: &'static Api, response: &Value) -> Self {
        let mut reader = AnswerReader::new(api);
        reader.value(api.scope(api.root), response, Key::default());
        let tokens = response.get(api.usage.member).filter(|tokens| tokens.is_object());
        Self {
            id: text_at(response, ID),
            status: response.get(api.status.member).and_then(Value::as_str).map(str::to_owned),
            tokens: tokens.map(|tokens| Tokens {
                input: count(tokens, api.usage.input),
                output: count(tokens, api.usage.output),
            }),
            ..reader.finish()
        }
    }

    /// Returns the whole text.
    pub fn text(&self) -> String {
        self.texts.concat()
    }
}

/// Place of the id in the value of the root, in all APIs.
const ID: &str = "/id";

/// The indices of a scope, the outermost first.
type Key = [u64; Scope::MOST_KEYS];

/// Reads the content of a stream from its deltas, without values that only its last event has.
#[derive(Debug, Clone)]
pub struct AnswerReader {
    api: &'static Api,
    id: Option<String>,
    /// Texts by the index of their container, their scope and their indices.
    pieces: BTreeMap<(u64, Scope, Key), String>,
    calls: BTreeMap<Key, ToolCall>,
    /// Number of bytes that it still stores.
    room: usize,
}

/// Number of bytes that a text takes in addition to its own.
const OVERHEAD: usize = 64;

impl AnswerReader {
    /// Creates a reader without a limit.
    pub const fn new(api: &'static Api) -> Self {
        Self { api, id: None, pieces: BTreeMap::new(), calls: BTreeMap::new(), room: usize::MAX }
    }

    /// Limits the memory: the rest of a stream is ignored after about this number of bytes.
    #[must_use]
    pub const fn within(mut self, bytes: usize) -> Self {
        self.room = bytes;
        self
    }

    /// Reads the data of an event that has its type.
    pub fn data(&mut self, dialect: &Dialect, data: &str) {
        let kind = spec::json::string_member(data, "type").unwrap_or_default();
        if let Some(info) = dialect.event(&kind) {
            let (_, view) = dialect.view_event(&kind, data);
            self.event(info, &view, data);
        }
    }

    /// Reads an event.
    pub fn event(&mut self, info: &EventInfo, view: &View<'_>, data: &str) {
        let (level, value) = (info.level, view.raw(Slot::Value));
        match info.role {
            Role::Open if level.is_root => {
                // The event may be the response itself.
                let root = view.snapshot(self.api).unwrap_or(data);
                let id = spec::json::at(root, ID).and_then(spec::json::string);
                self.id = id.map(std::borrow::Cow::into_owned);
            }
            Role::Open => {
                let value = value.and_then(|value| serde_json::from_str(value).ok()).unwrap_or_default();
                self.open(level, &value, key(level, view));
            }
            Role::Delta => {
                let text = value.and_then(spec::json::string).unwrap_or_default();
                self.add(level, &text, key(level, view));
            }
            Role::Point | Role::Phase | Role::Final | Role::Close | Role::Terminal => {}
        }
    }

    /// Returns what was read.
    pub fn finish(self) -> Answer {
        let mut answer =
            Answer { id: self.id, calls: self.calls.into_values().collect(), ..Answer::default() };
        for ((_, scope, _), text) in self.pieces {
            match self.api.scope(scope).content {
                Some(Content::Text) => answer.texts.push(text),
                Some(Content::Refusal) => answer.refusal += &text,
                Some(Content::Reasoning) => answer.reasoning += &text,
                Some(Content::Arguments | Content::Item | Content::Part) | None => {}
            }
        }
        answer
    }

    /// Reads a whole value of a scope.
    fn value(&mut self, level: &'static ScopeInfo, value: &Value, key: Key) {
        if is_text(level) {
            return self.add(level, value.as_str().unwrap_or_default(), key);
        }
        self.open(level, value, key);
        for inner in self.inner(level, value) {
            let place = if level.is_root { inner.in_response } else { inner.in_parent };
            for (index, value) in place.map(|place| values(value, place)).unwrap_or_default() {
                let mut key = key;
                if let (Some(index), Some(own)) = (index, key.get_mut(level.key.len())) {
                    *own = index;
                }
                self.value(inner, value, key);
            }
        }
    }

    /// Returns the scopes that a value can contain.
    fn inner(&self, level: &ScopeInfo, value: &Value) -> impl Iterator<Item = &'static ScopeInfo> + use<> {
        let (outer, kind) = (level.scope, value.get("type").and_then(Value::as_str).map(str::to_owned));
        self.api.scopes().filter(move |inner| {
            let is_possible = || kind.as_deref().is_some_and(|kind| inner.of.contains(&kind));
            inner.parent == Some(outer) && (inner.of.is_empty() || is_possible())
        })
    }

    /// Opens a scope: it may be a call, or begin texts.
    fn open(&mut self, level: &ScopeInfo, value: &Value, key: Key) {
        if self.room == 0 {
            return;
        }
        let is_call = self.api.client_call.filter(|call| {
            let kind = || value.get("type").and_then(Value::as_str);
            call.scope == level.scope
                && (call.types.is_empty() || kind().is_some_and(|kind| call.types.contains(&kind)))
        });
        if let Some(places) = is_call {
            let [id, name] = [places.id, places.name].map(|place| text_at(value, place).unwrap_or_default());
            self.take(id.len() + name.len() + OVERHEAD);
            self.calls.insert(key, ToolCall { id, name, arguments: String::new() });
        }
        let same_key = |inner: &&ScopeInfo| inner.key.len() == level.key.len();
        for inner in self.inner(level, value).filter(same_key) {
            if inner.content == Some(Content::Text) {
                self.add(inner, "", key);
            }
        }
    }

    /// Extends a text.
    fn add(&mut self, level: &ScopeInfo, text: &str, key: Key) {
        if self.room == 0 {
            return;
        }
        self.take(text.len());
        match level.content {
            None | Some(Content::Item | Content::Part) => {}
            Some(Content::Arguments) => {
                let outer = level.parent.map_or(0, |outer| self.api.scope(outer).key.len());
                let mut of_call = Key::default();
                of_call.iter_mut().zip(key).take(outer).for_each(|(own, index)| *own = index);
                if let Some(call) = self.calls.get_mut(&of_call) {
                    call.arguments += text;
                }
            }
            // A transcript beside the output is no part of it.
            Some(_) if level.parent == Some(self.api.root) => {}
            Some(Content::Text | Content::Refusal | Content::Reasoning) => {
                let [container, ..] = key;
                let place = (container, level.scope, key);
                if !self.pieces.contains_key(&place) {
                    self.take(OVERHEAD);
                }
                *self.pieces.entry(place).or_default() += text;
            }
        }
    }

    const fn take(&mut self, bytes: usize) {
        self.room = self.room.saturating_sub(bytes);
    }
}

impl Observer for AnswerReader {
    fn record(&mut self, seen: &Seen<'_>) {
        if let Some((_, info)) = seen.record.known {
            self.event(info, &seen.record.view, seen.record.data());
        }
    }
}

/// Returns whether the value of a scope is a text, and no object around texts.
const fn is_text(level: &ScopeInfo) -> bool {
    !matches!(level.content, None | Some(Content::Item | Content::Part))
}

/// Returns the indices of an event; one that is missing is 0.
fn key(level: &ScopeInfo, view: &View<'_>) -> Key {
    let mut key = Key::default();
    for (own, slot) in key.iter_mut().zip(level.key) {
        *own = view.count(*slot).and_then(|count| count.whole()).unwrap_or(0);
    }
    key
}

/// Returns the values at a place such as `/content/{content_index}`, with their indices.
fn values<'v>(value: &'v Value, place: &str) -> Vec<(Option<u64>, &'v Value)> {
    let Some((list, rest)) = place.split_once("/{") else {
        return value.pointer(place).map(|value| (None, value)).into_iter().collect();
    };
    let rest = rest.split_once('}').map_or("", |(_, rest)| rest);
    let entries = value.pointer(list).and_then(Value::as_array).into_iter().flatten();
    let indexed = (0..).zip(entries).filter_map(|(index, entry)| Some((Some(index), entry.pointer(rest)?)));
    indexed.collect()
}

fn text_at(value: &Value, pointer: &str) -> Option<String> {
    value.pointer(pointer)?.as_str().map(str::to_owned)
}

fn count(tokens: &Value, (member, inner): CountPlace) -> Option<u64> {
    let count = tokens.get(member)?;
    inner.map_or(Some(count), |inner| count.get(inner))?.as_u64()
}
