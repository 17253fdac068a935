//! What a response will be, before a word of it is sent.

use serde_json::Value;

/// A text, in the fragments it is streamed in.
pub type Fragments = Vec<String>;

/// What a response will be.
#[expect(clippy::struct_excessive_bools, reason = "they have nothing to do with each other")]
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Plan {
    /// What it puts out, in order.
    pub items: Vec<Item>,
    /// How it ends.
    pub ending: Ending,
    /// Whether neighbouring calls are streamed at the same time.
    pub is_interleaved: bool,
    /// Whether a sign of life comes before the first item.
    pub has_keepalive: bool,
    /// Whether the model was chosen here.
    pub is_routed: bool,
    /// Whether it waits in a queue first.
    pub is_background: bool,
    /// Whether text comes with the probabilities of its tokens.
    pub has_logprobs: bool,
    /// Whether fragments are padded, so that their length tells nothing.
    pub is_obfuscated: bool,
    /// Whether a WebSocket is listened to after the first fragment, before the rest is sent.
    pub waits: bool,
    /// Whether text is rewritten once it was streamed.
    pub is_rewritten: bool,
    /// Tokens of the input.
    pub input_tokens: u64,
    /// Tokens of the output, when they are not to be counted.
    pub output_tokens: Option<u64>,
}

/// How a response ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ending {
    /// All was said.
    #[default]
    Completed,
    /// It was cut short, for this reason.
    Incomplete(&'static str),
    /// It failed, after this number of events of its items.
    Failed(usize),
}

/// One item of the output.
#[derive(Debug, Clone, PartialEq)]
pub enum Item {
    /// Words for the user.
    Message(Vec<Part>),
    /// What the model thought.
    Reasoning(Thought),
    /// A call of a function.
    Function {
        /// Its name.
        name: String,
        /// Its arguments, as JSON.
        arguments: Fragments,
    },
    /// A call of a custom tool.
    Custom {
        /// The name of the tool.
        name: String,
        /// What it is given.
        input: Fragments,
    },
    /// A search of the web for this.
    WebSearch(String),
    /// A search of files for this.
    FileSearch(String),
    /// This code is run, and prints that.
    Code(Fragments, String),
    /// An image, with this number of previews.
    Image(usize),
    /// An MCP server is asked for its tools; whether that works.
    McpTools {
        /// The label of the server.
        server: String,
        /// Its tools.
        tools: Vec<Value>,
        /// Whether it does not answer.
        fails: bool,
    },
    /// A tool of an MCP server is called.
    McpCall {
        /// The label of the server.
        server: String,
        /// The name of the tool.
        name: String,
        /// What it gives back.
        output: Option<String>,
        /// The arguments, as JSON.
        arguments: Fragments,
        /// Whether it does not answer.
        fails: bool,
    },
    /// Commands for a shell, and what each prints.
    Shell(Vec<(Fragments, String)>),
    /// A change of a file.
    Patch(Fragments),
    /// What stands for the conversation, in encrypted form.
    Compaction(String),
}

/// Reasoning.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Thought {
    /// The parts of its summary.
    pub summary: Vec<Fragments>,
    /// Its text, when that is shown.
    pub text: Option<Fragments>,
    /// Whether it comes encrypted too.
    pub is_encrypted: bool,
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// Text, with annotations that come before its last fragment.
    Text(Fragments, Vec<Value>),
    /// Why the model will not.
    Refusal(Fragments),
}

/// Approximate number of tokens of a text.
pub fn tokens(text: &str) -> u64 {
    (text.chars().count() as u64).div_ceil(4)
}

impl Plan {
    /// Tokens that were spent on thinking.
    pub fn reasoning_tokens(&self) -> u64 {
        let thoughts = self.items.iter().filter_map(|item| match item {
            Item::Reasoning(thought) => Some(thought),
            _ => None,
        });
        thoughts.flat_map(Thought::fragments).map(|text| tokens(text)).sum()
    }

    /// Tokens of all that is put out.
    pub fn output_tokens(&self) -> u64 {
        let counted = || self.items.iter().flat_map(Item::fragments).map(|text| tokens(text)).sum();
        self.output_tokens.unwrap_or_else(counted).max(self.reasoning_tokens())
    }

    /// Says the texts of its messages again and again, until each has so many fragments. What is cut short
    /// or fails stays as it is.
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

    /// Returns what of it has come after so many fragments, ended for a reason. The last item is cut within,
    /// where that is a message.
    #[must_use]
    pub fn stopped(&self, fragments: usize, reason: &'static str) -> Self {
        let mut plan = Self { items: Vec::new(), ending: Ending::Incomplete(reason), ..self.clone() };
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

    /// Cuts it after so many tokens. The last text is cut within, and what comes after it is left out.
    pub fn limit(&mut self, limit: u64) {
        if self.output_tokens() <= limit {
            return;
        }
        let mut left = limit;
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
        self.ending = Ending::Incomplete("max_output_tokens");
    }
}

impl Thought {
    fn fragments(&self) -> impl Iterator<Item = &String> {
        self.summary.iter().flatten().chain(self.text.iter().flatten())
    }
}

impl Item {
    fn fragments(&self) -> Vec<&String> {
        match self {
            Self::Message(parts) => parts
                .iter()
                .flat_map(|part| match part {
                    Part::Text(text, _) | Part::Refusal(text) => text,
                })
                .collect(),
            Self::Reasoning(thought) => thought.fragments().collect(),
            Self::Function { arguments: text, .. }
            | Self::Custom { input: text, .. }
            | Self::Code(text, _)
            | Self::Patch(text)
            | Self::McpCall { arguments: text, .. } => text.iter().collect(),
            Self::Shell(commands) => commands.iter().flat_map(|(text, _)| text).collect(),
            Self::WebSearch(_)
            | Self::FileSearch(_)
            | Self::Image(_)
            | Self::McpTools { .. }
            | Self::Compaction(_) => Vec::new(),
        }
    }

    /// Cuts it after so many tokens, and says whether it is still whole.
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
            // What a tool does is not cut in the middle, nor is a thought.
            _ => {
                let needed: u64 = self.fragments().into_iter().map(|text| tokens(text)).sum();
                *left = left.saturating_sub(needed);
                true
            }
        }
    }
}

/// Number of fragments of parts.
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
