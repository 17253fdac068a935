//! The canonical form of a request: what a provider's cache compares.

use serde_json::{Map, Value, json};
use spec::Api;

/// The member that marks the end of a cached prefix.
const MARK: &str = "cache_control";
/// How the text begins that a client writes for its provider alone, which takes it out of the prompt.
pub(super) const ATTRIBUTION: &str = "x-anthropic-billing-header";

/// A part of a request, in the order of caches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) segment: Segment,
    /// Its place, such as `messages/3/0`.
    pub(super) place: String,
    /// Compact JSON without marks.
    pub(super) text: String,
    pub(super) is_attribution: bool,
    /// It is of an answer, which may go on.
    is_answer: bool,
    /// Marks on it, as JSON.
    pub(super) marks: Vec<String>,
}

impl Part {
    fn message(&self) -> &str {
        self.place.match_indices('/').nth(1).map_or(&*self.place, |(end, _)| &self.place[..end])
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Segment {
    Tools,
    System,
    Messages,
}

/// A content that is a text counts as one block of text. The order of members is kept.
pub(super) fn parts(api: &Api, request: &Value) -> Vec<Part> {
    let mut parts = Vec::new();
    for (number, tool) in list(request, "tools").enumerate() {
        parts.push(part(Segment::Tools, format!("tools/{number}"), tool));
    }
    if let Some(name) = api.request.instructions {
        let held = request.get(name);
        match held.and_then(|held| held.get("parts")).or(held) {
            None | Some(Value::Null) => {}
            Some(Value::Array(blocks)) => parts.extend(
                blocks
                    .iter()
                    .enumerate()
                    .map(|(at, block)| part(Segment::System, format!("{name}/{at}"), block)),
            ),
            Some(text) => parts.push(part(Segment::System, name.to_owned(), text)),
        }
    }
    let name = api.request.input;
    if let Some(text @ Value::String(_)) = request.get(name) {
        parts.push(part(Segment::Messages, name.to_owned(), text));
    }
    let mut segment = Segment::System;
    for (number, message) in list(request, name).enumerate() {
        let role = [message.get("role"), message.get("type")].into_iter().flatten().find_map(Value::as_str);
        let role = role.unwrap_or_default();
        if !matches!(role, "system" | "developer") {
            segment = Segment::Messages;
        }
        of_message(segment, &format!("{name}/{number}"), role, message, &mut parts);
    }
    parts
}

fn list<'v>(request: &'v Value, name: &str) -> impl Iterator<Item = &'v Value> {
    request.get(name).and_then(Value::as_array).into_iter().flatten()
}

fn of_message(segment: Segment, place: &str, role: &str, message: &Value, parts: &mut Vec<Part>) {
    let from = parts.len();
    let with_role = |block: &Value| {
        let mut members = Map::new();
        members.insert("role".to_owned(), json!(role));
        match block {
            Value::Object(block) => members.extend(block.clone()),
            other => drop(members.insert("x".to_owned(), other.clone())),
        }
        Value::Object(members)
    };
    match message.get("content").or_else(|| message.get("parts")) {
        Some(Value::Array(blocks)) => {
            for (number, block) in blocks.iter().enumerate() {
                parts.push(part(segment, format!("{place}/{number}"), &with_role(block)));
            }
        }
        Some(Value::String(text)) => {
            let block = json!({"type": "text", "text": text});
            parts.push(part(segment, format!("{place}/0"), &with_role(&block)));
        }
        _ => {}
    }
    let Some(message) = message.as_object() else { return };
    let rest =
        message.iter().filter(|(name, _)| !["content", "parts", "role", MARK].contains(&name.as_str()));
    let rest: Map<String, Value> = rest.map(|(name, value)| (name.clone(), value.clone())).collect();
    if !rest.is_empty() {
        parts.push(part(segment, place.to_owned(), &Value::Object(rest)));
    }
    let own = parts.get_mut(from..).unwrap_or_default();
    for part in own.iter_mut() {
        part.is_answer = matches!(role, "assistant" | "model");
    }
    // A mark of the message is one of its last part.
    if let Some(last) = own.last_mut() {
        last.marks.extend(message.get(MARK).map(Value::to_string));
    }
}

fn part(segment: Segment, place: String, value: &Value) -> Part {
    let mut marks = Vec::new();
    let text = match value {
        Value::String(text) => Value::String(text.clone()).to_string(),
        value => stripped(value, &mut marks).to_string(),
    };
    let is_attribution =
        value.get("text").or(Some(value)).and_then(Value::as_str).is_some_and(is_attribution);
    Part { segment, place, text, is_attribution, is_answer: false, marks }
}

fn is_attribution(text: &str) -> bool {
    text.starts_with(ATTRIBUTION) && !text.trim_end().contains('\n')
}

fn stripped(value: &Value, marks: &mut Vec<String>) -> Value {
    match value {
        Value::Object(members) => {
            let mut kept = Map::new();
            for (name, value) in members {
                if name == MARK {
                    marks.push(value.to_string());
                } else {
                    kept.insert(name.clone(), stripped(value, marks));
                }
            }
            Value::Object(kept)
        }
        Value::Array(entries) => entries.iter().map(|entry| stripped(entry, marks)).collect(),
        other => other.clone(),
    }
}

/// How much of a request the next one keeps.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Kept {
    /// Numbers of characters: kept, and of the earlier request.
    pub(super) same: usize,
    pub(super) all: usize,
    pub(super) change: Option<Change>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) segment: Segment,
    pub(super) place: String,
    /// The texts from the change on.
    pub(super) before: String,
    pub(super) after: String,
}

pub(super) fn kept(before: &[Part], after: &[Part]) -> Kept {
    let count = |part: &Part| part.text.chars().count();
    let all = before.iter().map(count).sum();
    let mut kept = 0;
    for (index, own) in before.iter().enumerate() {
        let next = after.get(index);
        if next.is_some_and(|next| next.text == own.text || next.is_attribution && own.is_attribution) {
            kept += count(own);
            continue;
        }
        if goes_on(&before[index..], after) {
            return Kept { same: all, all, change: None };
        }
        let other = next.map_or("", |next| &next.text);
        let same = own.text.chars().zip(other.chars()).take_while(|(one, other)| one == other).count();
        let rest = |text: &str| text.chars().skip(same).collect();
        let change = Change {
            segment: own.segment,
            place: own.place.clone(),
            before: rest(&own.text),
            after: rest(other),
        };
        return Kept { same: kept + same, all, change: Some(change) };
    }
    Kept { same: kept, all, change: None }
}

/// A response that was cut leaves an answer at the end of the next request, and what the model says then is another item of the client.
/// In an API without items, it is more of the same message.
fn goes_on(rest: &[Part], after: &[Part]) -> bool {
    let last = rest.last().map(Part::message);
    let begins = |own: &Part, next: &Part| next.text.starts_with(own.text.trim_end_matches(['"', ']', '}']));
    let of_last = |part: &&Part| Some(part.message()) == last;
    rest.iter().all(|own| {
        own.is_answer && of_last(&own) && after.iter().filter(of_last).any(|next| begins(own, next))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_and_a_marked_block_of_text_are_the_same() {
        let marked = json!({"messages": [{"role": "user", "content": [{"type": "text", "text": "Hi", "cache_control": {"type": "ephemeral"}}]}]});
        let plain =
            json!({"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yes"}]});
        let messages = spec::dialect("anthropic").unwrap().api;
        let [marked, plain] = [marked, plain].map(|request| parts(messages, &request));
        assert_eq!(marked[0].marks, [r#"{"type":"ephemeral"}"#]);
        assert_eq!(kept(&marked, &plain), Kept { same: 41, all: 41, change: None });
        assert_eq!(kept(&plain, &marked).change.unwrap().place, "messages/1/0");
    }

    #[test]
    fn an_answer_that_was_last_may_go_on() {
        let chat = spec::dialect("chat").unwrap().api;
        let of = |messages: &[Value]| parts(chat, &json!({"messages": messages}));
        let user = |text: &str| json!({"role": "user", "content": text});
        let cut = json!({"role": "assistant", "reasoning_content": "Two"});
        let whole = json!({"role": "assistant", "content": "Yes", "reasoning_content": "Two at once"});
        let before = of(&[user("Hi"), cut.clone()]);
        assert_eq!(kept(&before, &of(&[user("Hi"), whole.clone(), user("Go")])).change, None);
        // Only the last one, and only what the assistant says.
        assert!(kept(&of(&[cut, user("Hi")]), &of(&[whole, user("Hi")])).change.is_some());
        let nudged = json!({"role": "user", "content": [{"type": "text", "text": "Now"}, {"type": "text", "text": "Hi"}]});
        assert!(kept(&of(&[user("Hi")]), &of(&[nudged])).change.is_some());
    }

    #[test]
    fn the_order_of_members_counts_and_the_attribution_does_not() {
        let [responses, messages] = ["openai", "anthropic"].map(|name| spec::dialect(name).unwrap().api);
        let call = |input: &str| json!({"input": [{"type": "function_call", "arguments": input}]});
        let [one, other] =
            [r#"{"a":1,"b":2}"#, r#"{"b":2,"a":1}"#].map(|input| parts(responses, &call(input)));
        assert!(kept(&one, &other).change.is_some());
        let system = |tag: &str| {
            let texts = [format!("{ATTRIBUTION}: cch={tag};"), "Be brief.".to_owned()];
            parts(messages, &json!({"system": texts.map(|text| json!({"type": "text", "text": text}))}))
        };
        assert_eq!(kept(&system("1"), &system("2")).change, None);
    }
}
