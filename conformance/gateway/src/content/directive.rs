//! Directives by which a request controls the response: `[[verb words]]` in its input, or in `metadata.reference`.
//! `|` separates the deltas of a text, `\n` is a newline.
//!
//! | directive | effect |
//! |---|---|
//! | `say A\|B` | a message with this text |
//! | `and A\|B` | another text part of the same message |
//! | `parts N` | a message with N parts |
//! | `refuse [A\|B]` | a refusal |
//! | `cite [url \| file]` | an annotation of the last text, before its last delta |
//! | `summarize A\|B` | a part of the reasoning summary |
//! | `think A\|B` | the reasoning text |
//! | `encrypt` | encrypted reasoning content |
//! | `call NAME [{JSON}] [parallel N] [interleaved]` | function calls |
//! | `custom NAME A\|B` | a call of a custom tool |
//! | `web_search Q`, `file_search Q`, `code A\|B`, `image [N]` | hosted tools |
//! | `mcp_tools [failed]`, `mcp [failed] [{JSON}]` | an MCP server |
//! | `shell COMMAND;COMMAND`, `patch A\|B` | tools on files |
//! | `incomplete [content_filter]`, `fail [after N]` | an incomplete response, or a failure after N events of items |
//! | `pause` | the turn is paused, where the API has that |
//! | `block` | the prompt is blocked, where the API has that |
//! | `keepalive` | a keepalive event before the first item |
//! | `wait` | after the first delta, a WebSocket waits for a message of the client |
//! | `rewrite` | text is rewritten after it was streamed, if the dialect defines that |
//! | `phase WORD` | the phase of its messages, in an API that has phases |
//! | `pad` | padded deltas |
//! | `usage IN OUT [READ]` | these token counts, of which READ of the input were read from a cache |
//! | `error STATUS` | the request is refused with this status |
//! | `fault ID` | the response breaks this rule, or has this transport fault |

use memchr::memchr2_iter;
use serde_json::json;

use super::items::ToolItem;
use super::pieces::{fragments, small};
use super::plan::{Ending, Item, Part, ResponsePlan, Thought};
use super::sample;

/// Maximum number of pieces of directives: each becomes events.
const PIECES: usize = 10_000;

/// The directives of a request.
#[derive(Debug, Default)]
pub(crate) struct Directives {
    /// The planned response; without items, the request decides.
    pub(super) plan: ResponsePlan,
    /// The status that the request is refused with.
    pub(super) status: Option<u16>,
    input_tokens: Option<u64>,
}

impl Directives {
    pub(super) fn read(text: &str) -> Self {
        let mut directives = Self::default();
        let mut rest = text;
        let mut left = PIECES;
        while let Some((_, after)) = rest.split_once("[[") {
            let Some((directive, after)) = after.split_once("]]") else { break };
            let Some(now) = left.checked_sub(1 + memchr2_iter(b'|', b';', directive.as_bytes()).count())
            else {
                break;
            };
            left = now;
            directives.follow(directive.trim_start());
            rest = after;
        }
        directives
    }

    pub(super) const fn input_tokens(&self) -> Option<u64> {
        self.input_tokens
    }

    fn follow(&mut self, directive: &str) {
        let (verb, words) = directive.split_once(' ').unwrap_or((directive, ""));
        let number = |position: usize| words.split_whitespace().nth(position)?.parse::<u64>().ok();
        let has = |word: &str| words.split_whitespace().any(|other| other == word);
        let items = &mut self.plan.items;
        match verb {
            "say" => items.push(Item::Message(vec![Part::Text(fragments(words), Vec::new())])),
            "and" => match items.last_mut() {
                Some(Item::Message(parts)) => parts.push(Part::Text(fragments(words), Vec::new())),
                _ => items.push(Item::Message(vec![Part::Text(fragments(words), Vec::new())])),
            },
            "parts" => items.push(Item::Message(parts(small(number(0), 2)))),
            "refuse" => {
                let text = if words.is_empty() { "I can't| help with that." } else { words };
                items.push(Item::Message(vec![Part::Refusal(fragments(text))]));
            }
            "cite" => cite(items, has("file")),
            "summarize" => thought(items).summary.push(fragments(words)),
            "think" => thought(items).text = Some(fragments(words)),
            "encrypt" => {
                if matches!(items.last(), Some(Item::Reasoning(last)) if last.is_encrypted) {
                    items.push(Item::Reasoning(Thought::default()));
                }
                thought(items).is_encrypted = true;
            }
            "call" => self.call(words),
            "incomplete" if has("content_filter") => self.plan.ending = Ending::Filtered,
            "incomplete" => self.plan.ending = Ending::Cut,
            "fail" => self.plan.ending = Ending::Failed(small(number(1), 0)),
            "pause" => self.plan.ending = Ending::Paused,
            "block" => self.plan.ending = Ending::Blocked,
            "keepalive" => self.plan.has_keepalive = true,
            "wait" => self.plan.waits = true,
            "rewrite" => self.plan.is_rewritten = true,
            "phase" => self.plan.phase = Some(words.to_owned()),
            "pad" => self.plan.is_obfuscated = true,
            "usage" => {
                (self.input_tokens, self.plan.output_tokens) = (number(0), number(1));
                self.plan.read_tokens = number(2).unwrap_or(0);
            }
            "error" => {
                let status = number(0).and_then(|status| u16::try_from(status).ok());
                self.status = Some(status.filter(|status| (400..600).contains(status)).unwrap_or(500));
            }
            // Only a trigger compacts the conversation.
            "compaction" => {}
            tool => items.extend(ToolItem::new(tool, words).map(Item::Tool)),
        }
    }

    fn call(&mut self, words: &str) {
        let (name, words) = words.split_once(' ').unwrap_or((words, ""));
        let arguments = match (words.find('{'), words.rfind('}')) {
            (Some(from), Some(to)) => words.get(from..=to),
            _ => None,
        };
        let after: Vec<&str> = words.rsplit('}').next().unwrap_or_default().split_whitespace().collect();
        let parallel = after.iter().position(|word| *word == "parallel");
        let count = parallel.and_then(|at| after.get(at + 1)?.parse().ok()).unwrap_or(1);
        self.plan.is_interleaved |= after.contains(&"interleaved");
        for number in 0..small(Some(count), 1) {
            let arguments = arguments
                .map_or_else(|| fragments(&format!("{{\"city\":\"|{}\"}}", sample::city(number))), fragments);
            self.plan.items.push(Item::Function { name: name.to_owned(), arguments });
        }
    }
}

fn parts(count: usize) -> Vec<Part> {
    let part = |number| Part::Text(vec![format!("Part {number}"), " ends.".to_owned()], Vec::new());
    (1..=count.max(1)).map(part).collect()
}

fn thought(items: &mut Vec<Item>) -> &mut Thought {
    if !matches!(items.last(), Some(Item::Reasoning(_))) {
        items.push(Item::Reasoning(Thought::default()));
    }
    match items.last_mut() {
        Some(Item::Reasoning(thought)) => thought,
        _ => unreachable!("it was just put there"),
    }
}

/// Annotates the second to last fragment of the last text, or the position where it begins.
fn cite(items: &mut [Item], is_file: bool) {
    let Some(Item::Message(parts)) = items.last_mut() else { return };
    let Some(Part::Text(text, annotations)) = parts.last_mut() else { return };
    let before = text.get(..text.len().saturating_sub(1)).unwrap_or_default();
    let end: usize = before.iter().map(|fragment| fragment.chars().count()).sum();
    let start = end - before.last().map_or(0, |fragment| fragment.chars().count());
    let name = if is_file { "cited_file" } else { "cited_page" };
    annotations.push(json!({"name": name, "start": start, "end": end}));
}
