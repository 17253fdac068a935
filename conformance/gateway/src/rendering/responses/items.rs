//! The items of a plan, as templates of the API name them.

use serde_json::{Value, json};
use translation::{Delta, PartKind};

use crate::content::plan::{Ending, Fragments, Item as Planned, Part, ResponsePlan, Thought};
use crate::content::sample;
use crate::rendering::ids::Ids;
use crate::rendering::spoken::{Piece, spelled};

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
    if let (Ending::Incomplete(_), Some(last)) = (plan.ending, all.last_mut()) {
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
    let (prefix, mut values, pieces) = match item {
        Planned::Message(parts) => {
            let (content, pieces) = message(parts, has_logprobs);
            ("msg", json!({"content": content}), pieces)
        }
        Planned::Reasoning(thought) => reasoning(thought),
        Planned::Function { name, arguments: words } => {
            ("fc", json!({"name": name, "text": words.concat()}), spelled(words))
        }
        Planned::Custom { name, input: words } => {
            ("ctc", json!({"name": name, "text": words.concat()}), spelled(words))
        }
        Planned::WebSearch(query) => ("ws", json!({"query": query}), Vec::new()),
        Planned::FileSearch(query) => ("fs", json!({"query": query}), Vec::new()),
        Planned::Code(code, logs) => ("ci", json!({"text": code.concat(), "logs": logs}), spelled(code)),
        Planned::Image(previews) => {
            let pieces = (0..*previews).map(|index| ("preview", json!({"index": index})));
            ("ig", json!({"image": sample::IMAGE}), pieces.collect())
        }
        Planned::McpTools { server, tools, fails } => {
            let tools = if *fails { &[][..] } else { tools };
            ("mcpl", json!({"server": server, "tools": tools, "failed": fails}), Vec::new())
        }
        Planned::McpCall { server, name, output, arguments, fails } => {
            let error = json!({"type": "http_error", "code": 504, "message": "Gateway timeout"});
            let values = json!({"server": server, "name": name, "text": arguments.concat(),
                "status": if *fails { "failed" } else { "completed" }, "error": fails.then_some(error),
                "output": output.as_ref().filter(|_| !fails)});
            ("mcp", values, spelled(arguments))
        }
        Planned::Patch(diff) => ("apc", json!({"text": diff.concat()}), spelled(diff)),
        Planned::Compaction(content) => ("cmp", json!({"text": content}), Vec::new()),
        Planned::Shell(commands) => {
            return shell(commands, [ids.next("sh"), ids.next("call"), ids.next("sho")]).into();
        }
    };
    values["id"] = ids.next(prefix).into();
    if CALLED.contains(&prefix) {
        values["call_id"] = ids.next("call").into();
    }
    vec![Item { kind: item.kind(), values, pieces }]
}

/// Items with an id that a result refers to.
const CALLED: [&str; 3] = ["fc", "ctc", "apc"];

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

fn reasoning(thought: &Thought) -> (&'static str, Value, Vec<Piece>) {
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
    ("rs", json!({"summary": summary, "content": content, "encrypted": encrypted}), pieces)
}

fn shell(commands: &[(Fragments, String)], [id, call, output]: [String; 3]) -> [Item; 2] {
    let outcome =
        |printed: &str| json!({"outcome": {"type": "exit", "exit_code": 0}, "stderr": "", "stdout": printed});
    let (mut asked, mut printed) = (Vec::new(), Vec::new());
    for (index, (words, text)) in commands.iter().enumerate() {
        asked.push(("command", json!({"index": index})));
        asked.extend(words.iter().map(|word| ("text", json!({"index": index, "text": word}))));
        asked.push(("text_done", json!({"index": index, "text": words.concat()})));
        printed.push(("text", json!({"index": index, "text": text})));
        printed.push(("text_done", json!({"index": index, "output": [outcome(text)]})));
    }
    let texts: Vec<String> = commands.iter().map(|(words, _)| words.concat()).collect();
    let outcomes: Vec<Value> = commands.iter().map(|(_, text)| outcome(text)).collect();
    let values = json!({"id": id, "call_id": call, "commands": texts});
    let results = json!({"id": output, "call_id": call, "output": outcomes});
    [
        Item { kind: "shell_call", values, pieces: asked },
        Item { kind: "shell_call_output", values: results, pieces: printed },
    ]
}
