//! The parts of a reply while it is read.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;

use checker::{Counts, pieces};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use spec::Api;

use super::delta::{Delta, PartKind, Stopped};
use super::stops::{Shown, class};
use crate::{Stop, Usage};

/// The key of a part: its container, what it is, and its index in the container.
pub(super) type Key = (u64, Lane, u64);

/// The arguments of a call without any.
const EMPTY: &str = "{}";

/// The kind of the part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Lane {
    /// Text.
    Text,
    /// A refusal.
    Refusal,
    /// Reasoning.
    Reasoning,
    /// A call.
    Call,
}

/// The parts of a reply, and the deltas that were not returned yet.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(super) struct Parts {
    pub(super) api: &'static Api,
    open: BTreeMap<Key, KnownPart>,
    /// The parts that have opened and are not closed.
    unclosed: BTreeSet<Key>,
    count: usize,
    has_started: bool,
    has_stopped: bool,
    has_ended: bool,
    /// A part ends where another one begins.
    is_serial: bool,
    id: String,
    calls: u64,
    /// The call that opened last, with its arguments so far.
    last: Option<(Key, String)>,
    /// A call whose arguments come in pieces with their places, and the number of bytes that these may still take.
    placed: Option<(Key, Value)>,
    room: usize,
    shown: Shown,
    counts: Counts,
    pub(super) out: Vec<Delta>,
}

#[derive(Debug, Default)]
struct KnownPart {
    /// Its number, once it has opened.
    part: Option<usize>,
    /// The id of reasoning that has no content yet.
    id: Option<String>,
    is_redacted: bool,
    has_text: bool,
    /// Arguments that count if no piece follows.
    opening: Option<String>,
}

impl Parts {
    pub(super) fn new(api: &'static Api, is_serial: bool) -> Self {
        Self {
            api,
            open: BTreeMap::new(),
            unclosed: BTreeSet::new(),
            count: 0,
            has_started: false,
            has_stopped: false,
            has_ended: false,
            is_serial,
            id: String::new(),
            calls: 0,
            last: None,
            placed: None,
            room: pieces::MOST,
            shown: Shown::default(),
            counts: Counts::default(),
            out: Vec::new(),
        }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// A response that has stopped can end without an event.
    pub(super) const fn has_stopped(&self) -> bool {
        self.has_stopped
    }

    pub(super) fn is_open(&self, key: Key) -> bool {
        self.unclosed.contains(&key)
    }

    /// The response begins once.
    pub(super) fn begin(&mut self, id: Option<&str>, model: Option<&str>) {
        if self.id.is_empty() {
            id.unwrap_or_default().clone_into(&mut self.id);
        }
        if !mem::replace(&mut self.has_started, true) {
            let text = |text: Option<&str>| text.filter(|text| !text.is_empty()).map(str::to_owned);
            self.out.push(Delta::Started { id: text(id), model: text(model) });
        }
    }

    /// Reasoning opens with its first content.
    pub(super) fn reasoning(&mut self, key: Key, id: Option<&str>, is_redacted: bool) -> Key {
        let known = self.open.entry(key).or_default();
        (known.id, known.is_redacted) = (id.map(str::to_owned), is_redacted);
        key
    }

    pub(super) fn call(&mut self, key: Key, id: &str, name: &str) -> Key {
        if !self.open.contains_key(&key) {
            self.close_others(key);
            self.shown.has_calls = true;
            self.opened(key, PartKind::Call { id: id.to_owned(), name: name.to_owned() });
            self.last = self.is_serial.then(|| (key, String::new()));
        }
        key
    }

    /// Calls without an index are counted.
    pub(super) fn next_call(&mut self, id: Option<&str>, name: &str) -> Key {
        if let Some((key, _)) = self.placed {
            self.close(key);
        }
        let own = id.filter(|id| !id.is_empty()).map(str::to_owned);
        let id = own.unwrap_or_else(|| format!("call_{}_{}", self.id, self.calls));
        self.calls += 1;
        self.call((0, Lane::Call, self.calls - 1), &id, name)
    }

    /// Without any, the arguments are empty.
    pub(super) fn opening(&mut self, key: Key, arguments: String) {
        if let Some(known) = self.open.get_mut(&key) {
            known.opening = Some(if arguments.is_empty() { EMPTY.to_owned() } else { arguments });
        }
    }

    pub(super) fn await_pieces(&mut self, key: Key) {
        self.placed = Some((key, Value::Object(serde_json::Map::new())));
    }

    pub(super) fn pieces(&mut self, pieces: Option<&Value>, goes_on: bool) {
        let Some((key, arguments)) = &mut self.placed else { return };
        let key = *key;
        pieces::put(arguments, pieces.unwrap_or(&Value::Null), &mut self.room);
        if !goes_on {
            self.close(key);
        }
    }

    /// A closed part is followed by another one; arguments belong only to a known call.
    pub(super) fn text(&mut self, key: Key, text: &str) {
        if text.is_empty() {
            return;
        }
        if key.1 != Lane::Call {
            self.close_others(key);
        }
        if let Some((_, so_far)) = self.last.as_mut().filter(|(last, _)| *last == key) {
            so_far.push_str(text);
        }
        if let Some(part) = self.part(key) {
            if let Some(open) = self.open.get_mut(&key) {
                open.has_text = true;
            }
            self.out.push(Delta::Text { part, text: text.to_owned() });
        }
    }

    /// A call with unfinished arguments stays open, as calls can be interleaved.
    fn close_others(&mut self, key: Key) {
        if !self.is_serial {
            return;
        }
        for other in [Lane::Reasoning, Lane::Text, Lane::Refusal].map(|lane| (0, lane, 0)) {
            if other != key {
                self.close(other);
            }
        }
        if let Some((last, arguments)) = self.last.take_if(|(last, _)| *last != key)
            && arguments.ends_with('}')
            && serde_json::from_str::<&RawValue>(&arguments).is_ok()
        {
            self.close(last);
        }
    }

    /// Pieces of the text come instead.
    pub(super) fn whole(&mut self, key: Key, text: &str) {
        if !self.open.get(&key).is_some_and(|open| open.has_text) {
            self.text(key, text);
        }
    }

    /// Only the upstream can read the seal.
    pub(super) fn seal(&mut self, key: Key, seal: &str) {
        if seal.is_empty() {
            return;
        }
        self.close_others(key);
        if let Some(part) = self.part(key) {
            self.out.push(Delta::Seal { part, seal: seal.to_owned() });
        }
    }

    /// A value can have token counts. Later ones replace earlier ones.
    pub(super) fn count(&mut self, value: &Value) {
        let counts = value.get(self.api.usage.member);
        let Some(later) = counts.and_then(|counts| Counts::of(self.api, counts)) else { return };
        self.counts.update(later);
        if later != Counts::default() {
            let (counts, output) = (&self.counts, self.counts.tokens(self.api).output);
            let (input, cached, reasoning) =
                (counts.whole_input(self.api), counts.cached(), counts.reasoning);
            self.out.push(Delta::Usage(Usage { input, cached, output, reasoning }));
        }
    }

    pub(super) fn close(&mut self, key: Key) {
        let placed =
            self.placed.take_if(|(placed, _)| *placed == key).map(|(_, arguments)| arguments.to_string());
        let opening = self.open.get_mut(&key).and_then(|known| known.opening.take());
        if let Some(arguments) = placed.or(opening) {
            self.whole(key, &arguments);
        }
        if self.unclosed.remove(&key)
            && let Some(part) = self.open.get(&key).and_then(|known| known.part)
        {
            self.out.push(Delta::Closed { part });
        }
    }

    /// A call without an end has the arguments that it opened with, if there are any.
    pub(super) fn end(&mut self) {
        let has_any = |known: &KnownPart| known.opening.as_ref().is_some_and(|opening| opening != EMPTY);
        let is_due = |(key, known): (&Key, &KnownPart)| (!known.has_text && has_any(known)).then_some(*key);
        if !mem::replace(&mut self.has_ended, true) {
            let unclosed = self.unclosed.iter().filter_map(|key| Some((key, self.open.get(key)?)));
            let keys: Vec<Key> = unclosed.filter_map(is_due).collect();
            for key in keys {
                self.close(key);
            }
        }
        self.out.push(Delta::Ended);
    }

    pub(super) fn close_all(&mut self, container: u64) {
        let of = (container, Lane::Text, 0)..=(container, Lane::Call, u64::MAX);
        let keys: Vec<Key> = self.unclosed.range(of).copied().collect();
        for key in keys {
            self.close(key);
        }
    }

    pub(super) fn has_text(&self, container: u64, lane: Lane) -> bool {
        let mut of = self.open.range((container, lane, 0)..=(container, lane, u64::MAX));
        of.any(|(_, open)| open.has_text)
    }

    /// A reason can be more exact than the word.
    pub(super) fn stop(&mut self, word: &str, reason: Option<Stop>, before: Option<&str>) {
        self.has_stopped = true;
        let stop = class(self.api.name, word, Shown { reason, ..self.shown });
        let before = before.map(str::to_owned);
        self.out.push(Delta::Stopped(Stopped { stop, word: word.to_owned(), before }));
    }

    /// Opens the part if it is not open. `None` if it cannot be written.
    fn part(&mut self, key: Key) -> Option<usize> {
        let known = self.open.get(&key);
        let is_usable = self.is_open(key) || key.1 == Lane::Call;
        if let Some(part) = known.filter(|_| is_usable).and_then(|known| known.part) {
            return Some(part);
        }
        let kind = match key.1 {
            Lane::Text => PartKind::Text,
            Lane::Refusal => PartKind::Refusal,
            Lane::Reasoning => PartKind::Reasoning {
                id: known.and_then(|open| open.id.clone()),
                is_redacted: known.is_some_and(|open| open.is_redacted),
            },
            Lane::Call => return None,
        };
        self.shown.has_refusal |= kind == PartKind::Refusal;
        Some(self.opened(key, kind))
    }

    fn opened(&mut self, key: Key, kind: PartKind) -> usize {
        let part = self.count;
        self.count += 1;
        self.open.insert(key, KnownPart { part: Some(part), ..KnownPart::default() });
        self.unclosed.insert(key);
        self.out.push(Delta::Opened { part, kind });
        part
    }
}

pub(super) fn text_of<'v>(value: &'v Value, member: &str) -> Option<&'v str> {
    value.get(member)?.as_str()
}
