//! The items of a plan, as templates of the API name them.

use serde_json::{Value, json};
use translation::{Delta, PartKind};

use crate::content::items::ToolItem;
use crate::content::pieces::Fragments;
use crate::content::plan::{Item as Planned, Part, ResponsePlan, Thought};
use crate::rendering::ids::Ids;
use crate::rendering::spoken::{Piece, spelled};

/// A request must not overload the server.
const MOST_PREVIEWS: u64 = 64;

/// An item, and the events between its begin and its end.
pub(super) struct Item {
    pub(super) kind: &'static str,
    values: Value,
    pieces: Vec<Piece>,
}

pub(super) fn all(plan: &ResponsePlan) -> Vec<Item> {
    let mut ids = Ids::default();
    let made = |item| made(item, &mut ids, plan.has_logprobs);
    let mut all: Vec<Item> = plan.items.iter().flat_map(made).collect();
    if let Some(last) = all.last_mut().filter(|_| plan.ending.is_incomplete()) {
        last.values["status"] = json!("incomplete");
    }
    all
}

/// Item by item, or neighbouring calls side by side.
pub(super) fn deltas(all: &[Item], is_interleaved: bool) -> Vec<Delta> {
    let is_call = |item: &Item| is_interleaved && item.kind == "function_call";
    let mut deltas = Vec::new();
    let mut rest = all.iter().enumerate().peekable();
    while let Some((at, first)) = rest.next() {
        let mut group = vec![turns(at, first).into_iter()];
        while is_call(first)
            && let Some((at, next)) = rest.next_if(|(_, next)| is_call(next))
        {
            group.push(turns(at, next).into_iter());
        }
        while group.iter().any(|turns| turns.len() > 0) {
            deltas.extend(group.iter_mut().filter_map(Iterator::next).flatten());
        }
    }
    deltas
}

/// An item opens with its first piece.
fn turns(part: usize, item: &Item) -> Vec<Vec<Delta>> {
    let kind = PartKind::Item { kind: item.kind, values: item.values.clone() };
    let mut pieces =
        item.pieces.iter().map(|(step, value)| Delta::Piece { part, step, value: value.clone() });
    let mut turns = vec![[Delta::Opened { part, kind }].into_iter().chain(pieces.next()).collect()];
    turns.extend(pieces.map(|piece| vec![piece]));
    turns.push(vec![Delta::Closed { part }]);
    turns
}

fn made(item: &Planned, ids: &mut Ids, has_logprobs: bool) -> Vec<Item> {
    let (kind, prefix, is_called, mut values, pieces) = match item {
        Planned::Message(parts) => {
            let (content, pieces) = message(parts, has_logprobs);
            ("message", "msg", false, json!({"content": content}), pieces)
        }
        Planned::Reasoning(thought) => {
            let (values, pieces) = reasoning(thought);
            ("reasoning", "rs", false, values, pieces)
        }
        Planned::Function { name, arguments: words } => {
            let values = json!({"name": name, "text": words.concat()});
            ("function_call", "fc", true, values, spelled(words))
        }
        Planned::Tool(ToolItem { page, values, texts }) => {
            let (mut values, pieces) = (values.clone(), pieces(values, texts));
            if let [text] = texts.as_slice() {
                values["text"] = text.concat().into();
            }
            if values["failed"] == true {
                values["status"] = "failed".into();
            }
            (&*page.kind, &*page.prefix, page.is_called, values, pieces)
        }
    };
    values["id"] = ids.next(prefix).into();
    if is_called {
        values["call_id"] = ids.next("call").into();
    }
    let results = match item {
        Planned::Tool(item) => item.value("printed").map(|text| printed(text, item, &mut values, ids)),
        _ => None,
    };
    [Item { kind, values, pieces }].into_iter().chain(results).collect()
}

fn pieces(values: &Value, texts: &[Fragments]) -> Vec<Piece> {
    if let ([text], None) = (texts, values.get("printed")) {
        return spelled(text);
    }
    let previews = values.get("previews").and_then(Value::as_u64).unwrap_or(0).min(MOST_PREVIEWS);
    let mut pieces: Vec<Piece> = (0..previews).map(|index| ("preview", json!({"index": index}))).collect();
    for (index, words) in texts.iter().enumerate() {
        pieces.push(("command", json!({"index": index})));
        pieces.extend(words.iter().map(|word| ("text", json!({"index": index, "text": word}))));
        pieces.push(("text_done", json!({"index": index, "text": words.concat()})));
    }
    pieces
}

fn message(parts: &[Part], has_logprobs: bool) -> (Vec<Value>, Vec<Piece>) {
    let (mut content, mut pieces) = (Vec::new(), Vec::new());
    let logprobs = |words: &[String]| if has_logprobs { logprobs(words) } else { json!([]) };
    for (index, part) in parts.iter().enumerate() {
        let (opened, closed, end) = match part {
            Part::Refusal(words) => {
                let with = |text: &str| json!({"type": "refusal", "refusal": text});
                (with(""), with(&words.concat()), "refusal_done")
            }
            Part::Text(words, annotations) => {
                let with = |annotations: Value, logprobs: Value, text: &str| json!({"type": "output_text", "annotations": annotations, "logprobs": logprobs, "text": text});
                let closed = with(json!(annotations), logprobs(words), &words.concat());
                (with(json!([]), json!([]), ""), closed, "text_done")
            }
        };
        pieces.push(("part", json!({"index": index, "part": opened})));
        let (words, annotations) = match part {
            Part::Refusal(words) => (words, &[][..]),
            Part::Text(words, annotations) => (words, &annotations[..]),
        };
        let step = if end == "text_done" { "text" } else { "refusal" };
        let piece =
            |words: &[String]| json!({"index": index, "text": words.concat(), "logprobs": logprobs(words)});
        let mut texts: Vec<Piece> =
            words.iter().map(|word| (step, piece(std::slice::from_ref(word)))).collect();
        // Annotations precede the last delta.
        let last = texts.len().saturating_sub(1);
        let annotation = |(number, it): (usize, &Value)| {
            ("annotation", json!({"index": index, "number": number, "annotation": it}))
        };
        texts.splice(last..last, annotations.iter().enumerate().map(annotation));
        pieces.append(&mut texts);
        pieces.push((end, piece(words)));
        pieces.push(("part_done", json!({"index": index, "part": closed})));
        content.push(closed);
    }
    (content, pieces)
}

fn logprobs(words: &[String]) -> Value {
    let one = |token: &String| {
        let bytes = token.as_bytes();
        json!({"token": token, "logprob": -0.1, "bytes": bytes,
            "top_logprobs": [{"token": token, "logprob": -0.1, "bytes": bytes}]})
    };
    words.iter().map(one).collect()
}

fn reasoning(thought: &Thought) -> (Value, Vec<Piece>) {
    let mut pieces = Vec::new();
    let mut part = |[begin, delta, done, end]: [&'static str; 4], kind, index: usize, words: &Fragments| {
        let with = |text: &str| json!({"type": kind, "text": text});
        let closed = with(&words.concat());
        pieces.push((begin, json!({"index": index, "part": with("")})));
        pieces.extend(words.iter().map(|word| (delta, json!({"index": index, "text": word}))));
        pieces.push((done, json!({"index": index, "text": words.concat()})));
        pieces.push((end, json!({"index": index, "part": closed})));
        closed
    };
    let steps = ["summary", "summarize", "summarized", "summary_done"];
    let summary = thought.summary.iter().enumerate();
    let summary: Vec<Value> = summary.map(|(at, words)| part(steps, "summary_text", at, words)).collect();
    let steps = ["part", "text", "text_done", "part_done"];
    let content: Vec<Value> =
        thought.text.iter().map(|words| part(steps, "reasoning_text", 0, words)).collect();
    let encrypted = thought.is_encrypted.then_some("gAAAAABoXw3kV9cJ0mWJb7yQ5l1uV8v2=");
    (json!({"summary": summary, "content": content, "encrypted": encrypted}), pieces)
}

/// The item with the outputs of commands.
fn printed(text: &str, of: &ToolItem, values: &mut Value, ids: &mut Ids) -> Item {
    let outcome = json!({"outcome": {"type": "exit", "exit_code": 0}, "stderr": "", "stdout": text});
    let pieces = (0..of.texts.len()).flat_map(|index| {
        [
            ("text", json!({"index": index, "text": text})),
            ("text_done", json!({"index": index, "output": [outcome]})),
        ]
    });
    let pieces = pieces.collect();
    values["commands"] = of.texts.iter().map(|words| words.concat()).collect();
    let output = vec![&outcome; of.texts.len()];
    let values = json!({"id": ids.next("sho"), "call_id": values["call_id"], "output": output});
    Item { kind: "shell_call_output", values, pieces }
}
