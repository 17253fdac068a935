//! Plans of responses: their content, before any event is generated.

use serde_json::Value;

use super::items::ToolItem;
use super::pieces::{Fragments, tokens};

/// Maximum number of texts before which a response stops.
const MOST_STOPS: usize = 64;

/// The content of a response.
#[expect(clippy::struct_excessive_bools, reason = "they have nothing to do with each other")]
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ResponsePlan {
    /// The output items, in order.
    pub items: Vec<Item>,
    /// How the response ends.
    pub ending: Ending,
    /// Whether neighbouring calls are streamed concurrently.
    pub is_interleaved: bool,
    /// Whether a keepalive event precedes the first item.
    pub has_keepalive: bool,
    /// Whether the gateway selected the model.
    pub is_routed: bool,
    /// Whether the response is queued first.
    pub is_background: bool,
    /// Whether text has log probabilities.
    pub has_logprobs: bool,
    /// Whether deltas are padded to hide their length.
    pub is_obfuscated: bool,
    /// Whether a WebSocket waits for a message of the client after the first delta.
    pub waits: bool,
    /// Whether text is rewritten after it was streamed.
    pub is_rewritten: bool,
    /// The phase of its messages.
    pub phase: Option<String>,
    /// Number of choices. If an API has only one, it is the first.
    pub choices: usize,
    /// The text of the request before which the response stopped.
    pub stopped_before: Option<String>,
    /// Number of input tokens.
    pub input_tokens: u64,
    /// Number of those that are read from a cache.
    pub read_tokens: u64,
    /// Number of input tokens that are written to a cache, besides these.
    pub cached_tokens: u64,
    /// Number of output tokens, if it is not to be counted.
    pub output_tokens: Option<u64>,
}

/// The end of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ending {
    /// The response is completed.
    #[default]
    Completed,
    /// The response is cut off at the limit of its tokens.
    Cut,
    /// A filter cuts the response off.
    Filtered,
    /// New input of the client cuts the response off.
    Steered,
    /// The response fails after this number of events of items.
    Failed(usize),
    /// The turn is paused, to be continued by the client.
    Paused,
    /// The prompt is blocked, so that nothing is said.
    Blocked,
}

impl Ending {
    pub(crate) const fn is_incomplete(self) -> bool {
        matches!(self, Self::Cut | Self::Filtered | Self::Steered)
    }
}

/// An output item.
#[derive(Debug, Clone, PartialEq)]
pub enum Item {
    /// A message.
    Message(Vec<Part>),
    /// Reasoning of the model.
    Reasoning(Thought),
    /// A function call.
    Function {
        /// The name of the function.
        name: String,
        /// The arguments, as JSON.
        arguments: Fragments,
    },
    /// An item of another tool.
    Tool(ToolItem),
}

/// Reasoning.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Thought {
    /// The parts of its summary.
    pub summary: Vec<Fragments>,
    /// Its text, if visible.
    pub text: Option<Fragments>,
    /// Whether it also has encrypted content.
    pub is_encrypted: bool,
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// Text, with annotations that precede its last delta: each has the name of a template, and where it begins and ends.
    Text(Fragments, Vec<Value>),
    /// A refusal.
    Refusal(Fragments),
}

impl ResponsePlan {
    /// Returns the number of reasoning tokens.
    pub fn reasoning_tokens(&self) -> u64 {
        let thoughts = self.items.iter().filter_map(|item| match item {
            Item::Reasoning(thought) => Some(thought),
            _ => None,
        });
        thoughts.flat_map(Thought::fragments).map(|text| tokens(text)).sum()
    }

    /// Returns the number of tokens of the output.
    pub fn output_tokens(&self) -> u64 {
        if self.ending == Ending::Blocked {
            return 0;
        }
        let counted = || self.items.iter().flat_map(Item::fragments).map(|text| tokens(text)).sum();
        self.output_tokens.unwrap_or_else(counted).max(self.reasoning_tokens())
    }

    /// Returns the pieces of all texts and arguments, in order.
    pub fn fragments(&self) -> Vec<&String> {
        self.items.iter().flat_map(Item::fragments).collect()
    }

    pub(crate) fn text(&self) -> String {
        let parts =
            self.items.iter().flat_map(|item| if let Item::Message(parts) = item { parts } else { &[][..] });
        let texts =
            parts.filter_map(|part| if let Part::Text(text, _) = part { Some(text.concat()) } else { None });
        texts.collect()
    }

    /// Repeats the texts of messages until each has this number of deltas. Truncated and failed responses are
    /// unchanged.
    pub fn lengthen(&mut self, fragments: usize) {
        if self.ending != Ending::Completed {
            return;
        }
        let parts = self.items.iter_mut().filter_map(|item| match item {
            Item::Message(parts) => Some(parts),
            _ => None,
        });
        for part in parts.flatten() {
            if let Part::Text(text, annotations) = part
                && annotations.is_empty()
            {
                let longer = fragments.max(text.len());
                *text = text.iter().cycle().take(longer).cloned().collect();
            }
        }
    }

    /// The part of the plan up to this number of deltas. If the last item is a message, it is truncated.
    #[must_use]
    pub fn steered(&self, fragments: usize) -> Self {
        let mut plan = Self { items: Vec::new(), ending: Ending::Steered, ..self.clone() };
        let mut left = fragments;
        for item in &self.items {
            let count = item.fragments().len();
            if let (Item::Message(parts), true) = (item, count > left) {
                plan.items.extend((left > 0).then(|| Item::Message(kept(parts, left))));
                break;
            }
            plan.items.push(item.clone());
            left = left.saturating_sub(count);
            if left == 0 {
                break;
            }
        }
        plan
    }

    /// Ends the response before the first of these texts. A request may have any number.
    pub fn stop_before(&mut self, stops: &[impl AsRef<str>]) {
        for at in 0..self.items.len() {
            let Some(Item::Message(parts)) = self.items.get_mut(at) else { continue };
            for part in 0..parts.len() {
                let Some(Part::Text(text, _)) = parts.get_mut(part) else { continue };
                let whole = text.concat();
                let stops = stops.iter().take(MOST_STOPS).map(AsRef::as_ref);
                let first = stops.filter_map(|stop| Some((whole.find(stop)?, stop))).min();
                let Some((length, stop)) = first else { continue };
                keep(text, length);
                parts.truncate(part + 1);
                self.items.truncate(at + 1);
                self.stopped_before = Some(stop.to_owned());
                return;
            }
        }
    }

    /// Truncates the output after this number of tokens, if there is one. The last text is truncated, and items after it
    /// are removed.
    pub fn limit(&mut self, limit: Option<u64>) {
        let Some(mut left) = limit.filter(|limit| self.output_tokens() > *limit) else { return };
        let mut kept = 0;
        for item in &mut self.items {
            let is_whole = item.cut(&mut left);
            kept += 1;
            if !is_whole {
                break;
            }
        }
        self.items.truncate(kept);
        self.output_tokens = None;
        self.ending = Ending::Cut;
    }
}

impl Thought {
    fn fragments(&self) -> impl Iterator<Item = &String> {
        self.summary.iter().flatten().chain(self.text.iter().flatten())
    }
}

impl Item {
    pub(crate) const fn tool(&self) -> Option<&ToolItem> {
        match self {
            Self::Tool(item) => Some(item),
            _ => None,
        }
    }

    fn fragments(&self) -> Vec<&String> {
        match self {
            Self::Message(parts) => parts
                .iter()
                .flat_map(|part| match part {
                    Part::Text(text, _) | Part::Refusal(text) => text,
                })
                .collect(),
            Self::Reasoning(thought) => thought.fragments().collect(),
            Self::Function { arguments, .. } => arguments.iter().collect(),
            Self::Tool(item) => item.fragments().collect(),
        }
    }

    fn cut(&mut self, left: &mut u64) -> bool {
        match self {
            Self::Message(parts) => {
                let mut kept = 0;
                let mut is_whole = true;
                for part in parts.iter_mut() {
                    kept += 1;
                    is_whole = match part {
                        Part::Text(text, annotations) => {
                            let is_whole = cut(text, left);
                            if !is_whole {
                                annotations.clear();
                            }
                            is_whole
                        }
                        Part::Refusal(text) => cut(text, left),
                    };
                    if !is_whole {
                        break;
                    }
                }
                parts.truncate(kept);
                is_whole
            }
            Self::Function { arguments: text, .. } => cut(text, left),
            // Tool calls and reasoning are not truncated.
            _ => {
                let needed: u64 = self.fragments().into_iter().map(|text| tokens(text)).sum();
                *left = left.saturating_sub(needed);
                true
            }
        }
    }
}

fn kept(parts: &[Part], mut fragments: usize) -> Vec<Part> {
    let mut kept = Vec::new();
    for part in parts {
        let (Part::Text(text, _) | Part::Refusal(text)) = part;
        if fragments == 0 {
            break;
        }
        let own: Fragments = text.iter().take(fragments).cloned().collect();
        fragments -= own.len();
        kept.push(match part {
            Part::Text(all, annotations) if all.len() == own.len() => Part::Text(own, annotations.clone()),
            Part::Text(..) => Part::Text(own, Vec::new()),
            Part::Refusal(_) => Part::Refusal(own),
        });
    }
    kept
}

fn keep(text: &mut Fragments, mut bytes: usize) {
    text.retain_mut(|fragment| {
        fragment.truncate(bytes);
        bytes -= fragment.len();
        !fragment.is_empty()
    });
}

fn cut(text: &mut Fragments, left: &mut u64) -> bool {
    for (kept, fragment) in text.iter_mut().enumerate() {
        let needed = tokens(fragment);
        if needed > *left {
            *fragment = fragment.chars().take(usize::try_from(*left).unwrap_or(0) * 4).collect();
            *left = 0;
            let whole = kept + usize::from(!fragment.is_empty());
            text.truncate(whole);
            return false;
        }
        *left -= needed;
    }
    true
}
