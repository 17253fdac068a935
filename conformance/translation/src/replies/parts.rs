//! The parts of a reply while it is read.

use std::collections::BTreeMap;
use std::mem;

use checker::Counts;
use serde_json::Value;
use spec::Api;

use super::delta::{Delta, PartKind, Stopped};
use super::stops::{Shown, class};
use crate::Usage;

/// The key of a part: its container, what it is, and its index in the container.
pub(super) type Key = (u64, Lane, u64);

/// The kind of the part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
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
pub(super) struct Parts {
    pub(super) api: &'static Api,
    open: BTreeMap<Key, Known>,
    count: usize,
    has_started: bool,
    shown: Shown<'static>,
    counts: Counts,
    pub(super) out: Vec<Delta>,
}

#[derive(Debug, Default)]
struct Known {
    /// Its number, once it has opened.
    part: Option<usize>,
    /// The id of reasoning that has no content yet.
    id: Option<String>,
    is_redacted: bool,
    is_closed: bool,
    has_text: bool,
}

impl Parts {
    pub(super) fn new(api: &'static Api) -> Self {
        let (open, shown, out) = (BTreeMap::new(), Shown::default(), Vec::new());
        Self { api, open, count: 0, has_started: false, shown, counts: Counts::default(), out }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub(super) fn is_known(&self, key: Key) -> bool {
        self.open.contains_key(&key)
    }

    pub(super) fn is_open(&self, key: Key) -> bool {
        self.open.get(&key).is_some_and(|known| known.part.is_some() && !known.is_closed)
    }

    pub(super) fn start(&mut self, response: &Value) {
        self.begin(text_of(response, "id"), text_of(response, "model"));
    }

    /// The response begins once.
    pub(super) fn begin(&mut self, id: Option<&str>, model: Option<&str>) {
        if !mem::replace(&mut self.has_started, true) {
            let text = |text: Option<&str>| text.filter(|text| !text.is_empty()).map(str::to_owned);
            self.out.push(Delta::Started { id: text(id), model: text(model) });
        }
    }

    /// Reasoning opens with its first content.
    pub(super) fn reasoning(&mut self, key: Key, id: Option<&str>, is_redacted: bool) {
        let known = self.open.entry(key).or_default();
        (known.id, known.is_redacted) = (id.map(str::to_owned), is_redacted);
    }

    pub(super) fn call(&mut self, key: Key, id: &str, name: &str) {
        if !self.open.contains_key(&key) {
            self.shown.has_calls = true;
            self.opened(key, PartKind::Call { id: id.to_owned(), name: name.to_owned() });
        }
    }

    /// A closed part is followed by another one; arguments belong only to a known call.
    pub(super) fn text(&mut self, key: Key, text: &str) {
        if !text.is_empty()
            && let Some(part) = self.part(key)
        {
            if let Some(open) = self.open.get_mut(&key) {
                open.has_text = true;
            }
            self.out.push(Delta::Text { part, text: text.to_owned() });
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
        if !seal.is_empty()
            && let Some(part) = self.part(key)
        {
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
        if let Some(open) = self.open.get_mut(&key).filter(|open| !open.is_closed)
            && let Some(part) = open.part
        {
            open.is_closed = true;
            self.out.push(Delta::Closed { part });
        }
    }

    pub(super) fn close_all(&mut self, container: u64) {
        let of = (container, Lane::Text, 0)..=(container, Lane::Call, u64::MAX);
        let keys: Vec<Key> = self.open.range(of).map(|(key, _)| *key).collect();
        for key in keys {
            self.close(key);
        }
    }

    pub(super) fn has_text(&self, container: u64, lane: Lane) -> bool {
        let mut of = self.open.range((container, lane, 0)..=(container, lane, u64::MAX));
        of.any(|(_, open)| open.has_text)
    }

    /// The reason may have more words.
    pub(super) fn stop(&mut self, word: &str, reason: Option<&str>, before: Option<&str>) {
        let stop = class(self.api.name, word, Shown { reason, ..self.shown });
        let before = before.map(str::to_owned);
        self.out.push(Delta::Stopped(Stopped { stop, word: word.to_owned(), before }));
    }

    /// Opens the part if it is not open. `None` if it cannot be written.
    fn part(&mut self, key: Key) -> Option<usize> {
        let known = self.open.get(&key);
        let is_usable = |known: &&Known| !known.is_closed || key.1 == Lane::Call;
        if let Some(part) = known.filter(is_usable).and_then(|known| known.part) {
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
        self.open.insert(key, Known { part: Some(part), ..Known::default() });
        self.out.push(Delta::Opened { part, kind });
        part
    }
}

pub(super) fn text_of<'v>(value: &'v Value, member: &str) -> Option<&'v str> {
    value.get(member)?.as_str()
}
