//! The reply that deltas come to.

use super::delta::{Delta, PartKind, Stopped};
use crate::{Call, Part, Reasoning, Reply};

/// Joins deltas to a reply.
#[derive(Debug, Clone, Default)]
pub struct ReplyFold {
    reply: Reply,
}

impl ReplyFold {
    /// Adds a delta.
    pub fn add(&mut self, delta: Delta) {
        let reply = &mut self.reply;
        match delta {
            Delta::Started { id, model } => (reply.id, reply.model) = (id, model),
            Delta::Opened { kind, .. } => reply.parts.push(empty(kind)),
            Delta::Text { part, text } => match reply.parts.get_mut(part) {
                Some(Part::Text(own) | Part::Refusal(own)) => own.push_str(&text),
                Some(Part::Reasoning(reasoning)) => reasoning.text.push_str(&text),
                Some(Part::Call(call)) => call.arguments.push_str(&text),
                Some(Part::Image(_) | Part::Result(_)) | None => {}
            },
            Delta::Seal { part, seal } => {
                if let Some(Part::Reasoning(reasoning)) = reply.parts.get_mut(part) {
                    reasoning.seal = Some(seal);
                }
            }
            Delta::Usage(usage) => reply.usage = Some(usage),
            Delta::Stopped(Stopped { stop, word, before }) => {
                reply.stop = stop;
                reply.word = Some(word);
                reply.stopped_before = before;
            }
            // The first error is the cause.
            Delta::Failed(error) => {
                reply.error.get_or_insert(error);
            }
            Delta::Ended => reply.is_ended = true,
            Delta::Closed { .. } | Delta::Garbled(_) => {}
        }
    }

    /// Returns the reply.
    pub fn finish(self) -> Reply {
        self.reply
    }
}

impl FromIterator<Delta> for Reply {
    fn from_iter<I: IntoIterator<Item = Delta>>(deltas: I) -> Self {
        let mut fold = ReplyFold::default();
        deltas.into_iter().for_each(|delta| fold.add(delta));
        fold.finish()
    }
}

fn empty(kind: PartKind) -> Part {
    match kind {
        PartKind::Text => Part::Text(String::new()),
        PartKind::Refusal => Part::Refusal(String::new()),
        PartKind::Reasoning { id, is_redacted } => {
            Part::Reasoning(Reasoning { id, is_redacted, ..Reasoning::default() })
        }
        PartKind::Call { id, name } => Part::Call(Call { id, name, arguments: String::new() }),
    }
}

impl Reply {
    /// Returns the deltas that come to this reply, each part in one piece.
    pub fn deltas(&self) -> Vec<Delta> {
        deltas(self)
    }
}

/// Returns the deltas that come to a reply.
fn deltas(reply: &Reply) -> Vec<Delta> {
    let mut deltas = vec![Delta::Started { id: reply.id.clone(), model: reply.model.clone() }];
    let mut part = 0;
    for own in &reply.parts {
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
    deltas.extend(reply.usage.map(Delta::Usage));
    deltas.extend(reply.error.clone().map(Delta::Failed));
    if let Some(word) = reply.word.clone() {
        let before = reply.stopped_before.clone();
        deltas.push(Delta::Stopped(Stopped { stop: reply.stop, word, before }));
    }
    deltas.extend(reply.is_ended.then_some(Delta::Ended));
    deltas
}
