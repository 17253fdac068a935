//! What events of Messages do.

use std::collections::{BTreeMap, BTreeSet};

use super::event::Event;
use super::machine::{Model, Objects, Step};

/// The blocks and ids of a stream.
#[derive(Debug, Clone, Default)]
pub(crate) struct Messages {
    blocks: BTreeMap<u64, String>,
    /// The number of each use of a tool, by its id.
    uses: BTreeMap<String, u64>,
    of_server: BTreeSet<u64>,
    /// The blocks that are no results.
    own: u64,
}

/// The types of blocks that a delta is for.
const DELTAS: &[(&str, &[&str])] = &[
    ("text_delta", &["text"]),
    ("citations_delta", &["text"]),
    ("thinking_delta", &["thinking"]),
    ("signature_delta", &["thinking"]),
    ("input_json_delta", &["tool_use", "server_tool_use", "mcp_tool_use"]),
    ("compaction_delta", &["compaction"]),
];

const fn the(kind: &'static str, does: &'static str) -> Step {
    Step { kind, key: (0, 0), does }
}

impl Model for Messages {
    const API: &'static str = "messages";

    fn steps(&mut self, event: Option<&Event>, objects: &Objects) -> Vec<Step> {
        let Some(event) = event else {
            return if is_over(objects) { Vec::new() } else { vec![the("stream", "end")] };
        };
        let mut steps = self.lifecycle(event, objects);
        steps.push(the("error", if event.kind() == "error" { "error" } else { "event" }));
        steps
    }
}

impl Messages {
    fn lifecycle(&mut self, event: &Event, objects: &Objects) -> Vec<Step> {
        let block = |does| event.number("/index").map(|at| Step { kind: "block", key: (at, 0), does });
        match event.kind() {
            _ if event.is_marker() => vec![the("stream", "marker")],
            "ping" => vec![the("stream", "ping")],
            "message_start" => {
                let mut steps = vec![the("stream", "start")];
                if event.text("/message/stop_reason").is_some() {
                    steps.push(the("reason", "given"));
                }
                steps
            }
            "content_block_start" => self.started(event, objects),
            "content_block_delta" => {
                let Some(delta) = block("delta") else { return Vec::new() };
                let (name, key) = (event.text("/delta/type").unwrap_or_default(), delta.key);
                let mut steps = vec![the("stream", "block"), delta];
                let of = self.blocks.get(&key.0).map_or("", String::as_str);
                if of.ends_with("_result") || of == "redacted_thinking" {
                    steps.push(the("identity", "complete"));
                } else if DELTAS.iter().any(|(delta, blocks)| *delta == name && !blocks.contains(&of)) {
                    steps.push(the("identity", "delta"));
                }
                match name {
                    "thinking_delta" => steps.push(Step { kind: "block", key, does: "thinking" }),
                    "signature_delta" => steps.push(Step { kind: "block", key, does: "signature" }),
                    _ => {}
                }
                steps
            }
            "content_block_stop" => {
                let Some(stop) = block("stop") else { return Vec::new() };
                let key = stop.key;
                let unsigned = Step { kind: "block", key, does: "unsigned" };
                let is_thinking = self.blocks.get(&key.0).is_some_and(|of| of == "thinking");
                [the("stream", "block")]
                    .into_iter()
                    .chain(is_thinking.then_some(unsigned))
                    .chain([stop])
                    .collect()
            }
            "message_delta" => {
                let reason = event.text("/delta/stop_reason");
                let mut steps = vec![the("stream", "delta")];
                steps.push(the("reason", if reason.is_some() { "given" } else { "null" }));
                if reason == Some("end_turn") {
                    steps.extend(self.of_server.iter().map(|it| Step {
                        kind: "use",
                        key: (*it, 0),
                        does: "end",
                    }));
                }
                if reason.is_some() {
                    steps.extend(blocks(objects, "message"));
                }
                steps
            }
            "message_stop" => {
                // A message that an error broke off has no reason.
                let reason = (!is_over(objects)).then_some(the("reason", "stop"));
                blocks(objects, "message").chain(reason).chain([the("stream", "stop")]).collect()
            }
            _ => vec![the("stream", "other")],
        }
    }
}

/// Returns whether an error was sent.
fn is_over(objects: &Objects) -> bool {
    objects.get(&("error", (0, 0))).is_some_and(|state| *state == "erred")
}

/// Returns what something does to all blocks.
fn blocks(objects: &Objects, does: &'static str) -> impl Iterator<Item = Step> {
    let blocks = objects.keys().filter(|(kind, _)| *kind == "block");
    blocks.map(move |(_, key)| Step { kind: "block", key: *key, does })
}

impl Messages {
    fn started(&mut self, event: &Event, objects: &Objects) -> Vec<Step> {
        let mut steps = vec![the("stream", "block")];
        let Some(at) = event.number("/index") else { return steps };
        let this = (at, 0);
        steps.extend(blocks(objects, "another").filter(|step| step.key != this));
        if !objects.contains_key(&("block", this)) && at != self.blocks.len() as u64 {
            steps.push(the("order", "block"));
        }
        steps.push(Step { kind: "block", key: this, does: "start" });
        let of = event.text("/content_block/type").unwrap_or_default();
        self.blocks.insert(at, of.to_owned());
        if let Some(id) = event.text("/content_block/id") {
            let next = self.uses.len() as u64;
            if self.uses.insert(id.to_owned(), next).is_some() {
                steps.push(the("identity", "tool"));
            }
            if of != "tool_use" {
                self.of_server.insert(next);
                steps.push(Step { kind: "use", key: (next, 0), does: "start" });
            }
        }
        match event.text("/content_block/tool_use_id").map(|id| self.uses.get(id)) {
            Some(Some(it)) => steps.push(Step { kind: "use", key: (*it, 0), does: "result" }),
            // The results of the message before come first.
            Some(None) if self.own > 0 => steps.push(the("identity", "result")),
            Some(None) => {}
            None => self.own += 1,
        }
        steps
    }
}
