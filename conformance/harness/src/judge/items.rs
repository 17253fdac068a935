//! The items of a response: what a request that continues the conversation repeats.

use std::collections::BTreeMap;

use checker::Record;
use serde_json::Value;
use spec::table::{Role, ScopeInfo};
use spec::{Api, Dialect, Slot, View};

/// Maximum number of entries of a list in an item.
const MAX_ENTRIES: usize = 1000;

pub(super) fn of_body(api: &Api, response: &Value) -> Vec<Value> {
    let places = api.scope(api.container).in_body.iter();
    let lists = places.filter_map(|place| response.pointer(place.split_once("/{")?.0)?.as_array());
    let mut items: Vec<Value> = lists.flatten().cloned().collect();
    for item in &mut items {
        leave_out(api, item);
    }
    items
}

/// A conversation does not repeat some values, and no entry without content.
fn leave_out(api: &Api, item: &mut Value) {
    let joined = api.request.turn.and_then(|turn| item.pointer_mut(turn.joined?)?.as_array_mut());
    let is_empty = |entry: &Value| entry.as_object().is_some_and(|it| it.values().all(|value| value == ""));
    if let Some(entries) = joined {
        entries.retain(|entry| !is_empty(entry));
    }
    let without = api.request.turn.map_or(&[][..], |turn| turn.without);
    for place in api.scopes().filter(|scope| without.contains(&scope.name)).flat_map(|scope| scope.in_body) {
        let Some((around, member)) = place.rsplit_once('/') else { continue };
        if let Some(Value::Object(members)) = item.pointer_mut(around) {
            members.shift_remove(member);
        }
    }
}

/// For a stream whose events do not repeat the items: the opening value with the deltas of its scopes.
#[derive(Debug)]
pub(super) struct ItemsReader {
    dialect: &'static Dialect,
    items: BTreeMap<u64, Value>,
    /// Texts by the index of their item and their place in it.
    texts: BTreeMap<(u64, String), String>,
    room: usize,
}

impl ItemsReader {
    /// Ignores the rest of a stream after about this number of bytes.
    pub(super) const fn new(dialect: &'static Dialect, room: usize) -> Self {
        Self { dialect, items: BTreeMap::new(), texts: BTreeMap::new(), room }
    }

    pub(super) fn event(&mut self, record: &Record<'_>) {
        let Some(turn) = self.dialect.api.request.turn else { return };
        if let Some(joined) = turn.joined {
            self.join(record.data(), joined);
            return;
        }
        for (info, view) in record.views() {
            let whole = || view.snapshot(self.dialect.api).filter(|_| info.level.is_root);
            let value = view.raw(Slot::Value).or_else(whole);
            let Some(value) = value.filter(|value| value.len() <= self.room) else { continue };
            if info.level.is_root && info.role == Role::Open {
                // A response can begin with items.
                let response = serde_json::from_str(value).unwrap_or_default();
                self.items.extend((0..).zip(of_body(self.dialect.api, &response)).take(MAX_ENTRIES));
            }
            self.effect(info.level, info.role, &view, value);
        }
    }

    /// The entries of the list in each container follow the ones of earlier events.
    fn join(&mut self, event: &str, list: &str) {
        if event.len() > self.room {
            return;
        }
        self.room -= event.len();
        let event = serde_json::from_str(event).unwrap_or_default();
        let index = self.dialect.member(self.dialect.api.index);
        for (at, new) in (0..).zip(of_body(self.dialect.api, &event)) {
            let at = new.get(index).and_then(Value::as_u64).unwrap_or(at);
            let is_full = self.items.len() >= MAX_ENTRIES;
            let Some(item) = self.items.get_mut(&at) else {
                if !is_full {
                    self.items.insert(at, new);
                }
                continue;
            };
            let more = new.pointer(list).and_then(Value::as_array).cloned().unwrap_or_default();
            match item.pointer_mut(list) {
                Some(Value::Array(entries)) => entries.extend(more),
                _ => put(item, list, Value::Array(more)),
            }
        }
    }

    fn effect(&mut self, level: &'static ScopeInfo, role: Role, view: &View<'_>, value: &str) {
        let Some((index, place)) = self.place(level, view) else { return };
        if !self.items.contains_key(&index) && self.items.len() >= MAX_ENTRIES {
            return;
        }
        self.room = self.room.saturating_sub(value.len());
        let item = self.items.entry(index).or_default();
        let value: Value = serde_json::from_str(value).unwrap_or_default();
        match (role, value) {
            (Role::Open, mut value) => {
                let own = level.own_index.filter(|_| !level.is_container);
                if let (Some(own), Value::Object(members)) = (own, &mut value) {
                    members.shift_remove(self.dialect.member(own));
                }
                put(item, &place, value);
            }
            (Role::Final, value @ Value::String(_)) => put(item, &place, value),
            (Role::Delta, Value::String(text)) => {
                *self.texts.entry((index, place)).or_default() += &text;
            }
            _ => {}
        }
    }

    fn place(&self, level: &'static ScopeInfo, view: &View<'_>) -> Option<(u64, String)> {
        let api = self.dialect.api;
        let count = |slot| view.count(slot).and_then(|count| count.whole());
        let mut around: Vec<&ScopeInfo> =
            api.with_parents(level.scope).map(|scope| api.scope(scope)).collect();
        while around.pop()?.scope != api.container {}
        let mut place = String::new();
        for scope in around.into_iter().rev() {
            let inside = *scope.in_body.first()?;
            match inside.split_once("/{") {
                Some((list, _)) => place.extend([list, "/", &count(scope.own_index?)?.to_string()]),
                None => place += inside,
            }
        }
        Some((count(api.index).unwrap_or(0), place))
    }

    pub(super) fn finish(self) -> Vec<Value> {
        let Self { dialect, mut items, texts, .. } = self;
        for ((index, place), text) in texts {
            let Some(item) = items.get_mut(&index) else { continue };
            // A value that opens as an object has its deltas as JSON.
            let is_json = item.pointer(&place).is_some_and(Value::is_object);
            let value = if is_json { serde_json::from_str(&text).ok() } else { Some(text.into()) };
            if let Some(value) = value {
                put(item, &place, value);
            }
        }
        let mut items: Vec<Value> = items.into_values().collect();
        for item in &mut items {
            leave_out(dialect.api, item);
        }
        items
    }
}

fn put(item: &mut Value, place: &str, value: Value) {
    let mut at = item;
    for segment in place.split('/').skip(1) {
        let index: Option<usize> = segment.parse().ok();
        if at.is_null() {
            *at = if index.is_some() {
                Value::Array(Vec::new())
            } else {
                Value::Object(serde_json::Map::new())
            };
        }
        at = match (at, index) {
            (Value::Array(entries), Some(index)) if index < MAX_ENTRIES => {
                if entries.len() <= index {
                    entries.resize(index + 1, Value::Null);
                }
                let Some(entry) = entries.get_mut(index) else { return };
                entry
            }
            (Value::Object(members), _) => members.entry(segment).or_insert(Value::Null),
            _ => return,
        };
    }
    *at = value;
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use checker::{Answer, AnswerReader, Checker, Frame, Observer, Seen, ToolCall, sse};
    use recordings::capture::Format;
    use recordings::goldens::GOLDENS;
    use serde_json::json;
    use spec::table::Content;

    use super::*;

    impl Observer for ItemsReader {
        fn record(&mut self, seen: &Seen<'_>) {
            self.event(seen.record);
        }
    }

    fn read(dialect: &str, events: &[Value]) -> Vec<Value> {
        let dialect = spec::dialect(dialect).unwrap();
        let (mut reader, mut checker) = (ItemsReader::new(dialect, 10_000), Checker::new(dialect));
        for event in events {
            let data = event.to_string();
            let frame = Frame { data: Some(Cow::Borrowed(&*data)), ..Frame::default() };
            checker.frame_seen_by(&frame, &mut reader);
        }
        reader.finish()
    }

    /// The content. Items have arguments as JSON, and no reasoning that a conversation does not repeat.
    fn said(api: &Api, answer: Answer) -> (Vec<String>, String, Option<String>, Vec<ToolCall>) {
        let without = api.request.turn.map_or(&[][..], |turn| turn.without);
        let thoughts = api.scopes().find(|scope| without.contains(&scope.name));
        let has_thoughts = thoughts.is_none_or(|scope| scope.content != Some(Content::Reasoning));
        let in_one_form = |text: &str| serde_json::from_str(text).unwrap_or_else(|_| json!({})).to_string();
        let calls = answer.calls.into_iter();
        let calls = calls.map(|call| ToolCall { arguments: in_one_form(&call.arguments), ..call });
        (answer.texts, answer.refusal, has_thoughts.then_some(answer.reasoning), calls.collect())
    }

    #[test]
    fn items_say_what_the_answer_says() {
        let (mut wrong, mut seen) = (Vec::new(), 0);
        for golden in GOLDENS.iter().filter(|golden| golden.format == Format::Sse) {
            let dialect = spec::dialect(golden.dialect).unwrap();
            let api = dialect.api;
            let Some(list) = api.scope(api.container).in_body.first().filter(|_| api.request.turn.is_some())
            else {
                continue;
            };
            let (mut items, mut answer) = (ItemsReader::new(dialect, 1 << 20), AnswerReader::new(api));
            let mut checker = Checker::new(dialect);
            let mut parser = sse::Parser::default();
            let mut read = |frame: Frame<'_>| {
                checker.frame_seen_by(&frame, &mut Both(&mut items, &mut answer));
            };
            parser.push(golden.bytes, &mut read);
            parser.finish(&mut read);
            let mut body = Value::Null;
            put(&mut body, list.split_once("/{").unwrap().0, items.finish().into());
            let [one, other] =
                [answer.finish(), Answer::of_body(dialect, &body)].map(|answer| said(api, answer));
            seen += 1;
            if one != other {
                wrong.push(format!("{}/{}: {one:?}, items: {other:?}", golden.dialect, golden.name));
            }
        }
        assert!(wrong.is_empty() && seen > 20, "of {seen}: {wrong:#?}");
    }

    struct Both<'r>(&'r mut ItemsReader, &'r mut AnswerReader);

    impl Observer for Both<'_> {
        fn record(&mut self, seen: &Seen<'_>) {
            self.0.event(seen.record);
            self.1.record(seen);
        }
    }

    #[test]
    fn blocks_are_joined() {
        let delta =
            |index: u64, delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
        let start = |index: u64, block: Value| json!({"type": "content_block_start", "index": index, "content_block": block});
        let items = read(
            "anthropic",
            &[
                start(0, json!({"type": "thinking", "thinking": "", "signature": ""})),
                delta(0, json!({"type": "thinking_delta", "thinking": "Two "})),
                delta(0, json!({"type": "thinking_delta", "thinking": "cities."})),
                delta(0, json!({"type": "signature_delta", "signature": "c2ln"})),
                start(1, json!({"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}})),
                delta(1, json!({"type": "input_json_delta", "partial_json": "{\"a\":"})),
                delta(1, json!({"type": "input_json_delta", "partial_json": "1}"})),
                start(2, json!({"type": "tool_use", "id": "toolu_2", "name": "g", "input": {}})),
                start(3, json!({"type": "redacted_thinking", "data": "x"})),
            ],
        );
        assert_eq!(
            items,
            [
                json!({"type": "thinking", "thinking": "Two cities.", "signature": "c2ln"}),
                json!({"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"a": 1}}),
                json!({"type": "tool_use", "id": "toolu_2", "name": "g", "input": {}}),
                json!({"type": "redacted_thinking", "data": "x"}),
            ]
        );
    }

    #[test]
    fn lists_are_joined() {
        let chunk = |index: Option<u64>, parts: Value| {
            let mut candidate = json!({"content": {"parts": parts, "role": "model"}});
            if let Some(index) = index {
                candidate["index"] = index.into();
            }
            json!({"candidates": [candidate]})
        };
        let call = json!({"functionCall": {"name": "f", "args": {}}, "thoughtSignature": "c2ln"});
        let items = read(
            "gemini",
            &[
                chunk(None, json!([{"text": "Two "}])),
                chunk(Some(1), json!([{"text": "Other"}])),
                chunk(Some(0), json!([{"text": "cities."}, call])),
                json!({"candidates": [{"finishReason": "STOP"}]}),
                chunk(Some(0), json!([{"text": ""}, {"text": "", "thoughtSignature": "c2ln"}])),
            ],
        );
        let parts = |index: usize| items[index].pointer("/content/parts").unwrap().clone();
        assert_eq!(
            parts(0),
            json!([{"text": "Two "}, {"text": "cities."}, call, {"text": "", "thoughtSignature": "c2ln"}])
        );
        assert_eq!((items.len(), parts(1)), (2, json!([{"text": "Other"}])));
    }

    #[test]
    fn choices_are_joined() {
        let chunk = |delta: Value| {
            json!({"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m",
                "choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
        };
        let call = |index: u64, id: &str| json!({"index": index, "id": id, "type": "function", "function": {"name": "f", "arguments": ""}});
        let arguments = |text: &str| json!({"tool_calls": [{"index": 1, "function": {"arguments": text}}]});
        let items = read(
            "chat",
            &[
                chunk(json!({"role": "assistant", "content": "Let "})),
                chunk(json!({"content": "me see."})),
                chunk(json!({"tool_calls": [call(0, "call_1"), call(1, "call_2")]})),
                chunk(arguments("{\"a\":")),
                chunk(arguments("1}")),
            ],
        );
        let call = |id: &str, arguments: &str| json!({"id": id, "type": "function", "function": {"name": "f", "arguments": arguments}});
        let message = json!({"content": "Let me see.", "tool_calls": [call("call_1", ""), call("call_2", "{\"a\":1}")]});
        assert_eq!(items.len(), 1);
        assert_eq!(items[0]["message"], message);
    }
}
