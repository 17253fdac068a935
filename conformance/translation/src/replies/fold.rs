//! The reply that deltas come to.

use checker::{Answer, Tokens, ToolCall};

use super::delta::{Delta, PartKind, Stopped};
use crate::{Call, Part, Reasoning, Reply};

impl FromIterator<Delta> for Reply {
    fn from_iter<I: IntoIterator<Item = Delta>>(deltas: I) -> Self {
        let mut reply = Self::default();
        for delta in deltas {
            reply.add(delta);
        }
        reply
    }
}

/// In the terms of the checker, which knows no order.
impl From<Reply> for Answer {
    fn from(reply: Reply) -> Self {
        let mut answer = Self { id: reply.id, status: reply.word, ..Self::default() };
        for part in reply.parts {
            match part {
                Part::Text(text) => answer.texts.push(text),
                Part::Refusal(text) => answer.refusal += &text,
                Part::Reasoning(it) => answer.reasoning += &it.text,
                Part::Call(Call { id, name, arguments }) => {
                    answer.calls.push(ToolCall { id, name, arguments });
                }
                Part::Image(_) | Part::Result(_) => {}
            }
        }
        answer.tokens = reply.usage.map(|usage| Tokens { input: usage.input, output: usage.output });
        answer
    }
}

fn empty(kind: PartKind) -> Part {
    match kind {
        // A reply has no part that only one API has; its number is taken.
        PartKind::Text | PartKind::Item { .. } => Part::Text(String::new()),
        PartKind::Refusal => Part::Refusal(String::new()),
        PartKind::Reasoning { id, is_redacted } => {
            Part::Reasoning(Reasoning { id, is_redacted, ..Reasoning::default() })
        }
        PartKind::Call { id, name } => Part::Call(Call { id, name, arguments: String::new() }),
    }
}

impl Reply {
    fn add(&mut self, delta: Delta) {
        match delta {
            Delta::Started { id, model } => (self.id, self.model) = (id, model),
            Delta::Opened { kind, .. } => self.parts.push(empty(kind)),
            Delta::Text { part, text } => match self.parts.get_mut(part) {
                Some(Part::Text(own) | Part::Refusal(own)) => own.push_str(&text),
                Some(Part::Reasoning(reasoning)) => reasoning.text.push_str(&text),
                Some(Part::Call(call)) => call.arguments.push_str(&text),
                Some(Part::Image(_) | Part::Result(_)) | None => {}
            },
            Delta::Seal { part, seal } => {
                if let Some(Part::Reasoning(reasoning)) = self.parts.get_mut(part) {
                    reasoning.seal = Some(seal);
                }
            }
            Delta::Usage(usage) => self.usage = Some(usage),
            Delta::Stopped(Stopped { stop, word, before }) => {
                self.stop = stop;
                self.word = Some(word);
                self.stopped_before = before;
            }
            // The first error is the cause.
            Delta::Failed(error) => {
                self.error.get_or_insert(error);
            }
            Delta::Ended => self.is_ended = true,
            Delta::Closed { .. } | Delta::Piece { .. } | Delta::Garbled(_) => {}
        }
    }

    /// Returns the deltas that come to this reply, each part in one piece.
    pub fn deltas(&self) -> Vec<Delta> {
        let mut deltas = vec![Delta::Started { id: self.id.clone(), model: self.model.clone() }];
        let mut part = 0;
        for own in &self.parts {
            let (kind, text, seal) = match own {
                Part::Text(text) => (PartKind::Text, text, None),
                Part::Refusal(text) => (PartKind::Refusal, text, None),
                Part::Reasoning(it) => {
                    let kind = PartKind::Reasoning { id: it.id.clone(), is_redacted: it.is_redacted };
                    (kind, &it.text, it.seal.clone())
                }
                Part::Call(call) => {
                    (PartKind::Call { id: call.id.clone(), name: call.name.clone() }, &call.arguments, None)
                }
                Part::Image(_) | Part::Result(_) => continue,
            };
            deltas.push(Delta::Opened { part, kind });
            if !text.is_empty() {
                deltas.push(Delta::Text { part, text: text.clone() });
            }
            deltas.extend(seal.map(|seal| Delta::Seal { part, seal }));
            deltas.push(Delta::Closed { part });
            part += 1;
        }
        deltas.extend(self.usage.map(Delta::Usage));
        deltas.extend(self.error.clone().map(Delta::Failed));
        if let Some(word) = self.word.clone() {
            let before = self.stopped_before.clone();
            deltas.push(Delta::Stopped(Stopped { stop: self.stop, word, before }));
        }
        deltas.extend(self.is_ended.then_some(Delta::Ended));
        deltas
    }
}
