//! Faults of replies.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::{Delta, PartKind, Stop, Usage};

pub(crate) fn is_at(fault: Option<&ReplyFault>, rule: &str) -> bool {
    fault.is_some_and(|fault| fault.rule == rule)
}

/// A mark that text was changed.
const MARK: &str = "~";

/// State that the translators of one gateway share, so that its answers get mixed up.
#[derive(Debug, Default)]
pub struct Crowd {
    count: AtomicU64,
    /// The translators at work.
    active: AtomicU64,
    /// The latest text, and whose it is.
    latest: Mutex<Option<(u64, String)>>,
}

/// A fault of a reply, and what it has to know of the reply.
#[derive(Debug)]
pub(crate) struct ReplyFault {
    pub(crate) rule: String,
    kinds: BTreeMap<usize, PartKind>,
    /// Whether a text has been changed.
    is_done: bool,
    /// The call that is left out.
    without: Option<usize>,
    /// Calls that have only their opening brace so far.
    braces: Vec<usize>,
    /// Calls whose arguments have begun.
    begun: Vec<usize>,
    /// The text that comes after a call instead of before it, and what has arrived of it.
    moved: Option<usize>,
    held: Vec<Delta>,
    crowd: Arc<Crowd>,
    number: u64,
}

impl Drop for ReplyFault {
    fn drop(&mut self) {
        self.crowd.active.fetch_sub(1, Ordering::SeqCst);
    }
}

impl ReplyFault {
    pub(crate) fn new(rule: &str, crowd: Arc<Crowd>) -> Self {
        crowd.active.fetch_add(1, Ordering::SeqCst);
        let number = crowd.count.fetch_add(1, Ordering::SeqCst);
        Self {
            rule: rule.to_owned(),
            kinds: BTreeMap::new(),
            is_done: false,
            without: None,
            braces: Vec::new(),
            begun: Vec::new(),
            moved: None,
            held: Vec::new(),
            crowd,
            number,
        }
    }

    pub(crate) fn change(&mut self, mut delta: Delta) -> Vec<Delta> {
        if let Delta::Opened { part, kind } = &delta {
            self.kinds.insert(*part, kind.clone());
        }
        let rule = std::mem::take(&mut self.rule);
        let before = self.apply(&rule, &mut delta);
        self.rule = rule;
        let Some(mut deltas) = before else { return Vec::new() };
        deltas.push(delta);
        deltas
    }

    /// Returns deltas to put before it, or nothing if it is left out.
    fn apply(&mut self, rule: &str, delta: &mut Delta) -> Option<Vec<Delta>> {
        match (rule, &mut *delta) {
            ("answer/text", Delta::Text { part, text }) if self.is_a(*part, &PartKind::Text) => {
                self.mark(text);
            }
            ("answer/refusal", Delta::Text { part, text }) if self.is_a(*part, &PartKind::Refusal) => {
                self.mark(text);
            }
            ("answer/reasoning", Delta::Text { part, text }) if self.is_reasoning(*part) => self.mark(text),
            ("answer/calls", _) => return self.without_second_call(delta),
            ("answer/order", _) => return self.text_last(delta),
            ("answer/arguments", Delta::Text { part, text }) if self.is_call(*part) => {
                *text = self.arguments(*part, text);
            }
            ("answer/arguments", Delta::Closed { part }) if self.braces.contains(part) => {
                return Some(vec![Delta::Text { part: *part, text: "{".to_owned() }]);
            }
            ("answer/ids", Delta::Opened { kind: PartKind::Call { id, .. }, .. }) => {
                let first = self.kinds.values().find_map(|kind| match kind {
                    PartKind::Call { id, .. } => Some(id.clone()),
                    _ => None,
                });
                *id = first.unwrap_or_default();
            }
            ("answer/stop", Delta::Stopped(stopped)) => {
                stopped.stop = match stopped.stop {
                    Some(Stop::Ended) => Some(Stop::Cut),
                    Some(Stop::Cut) => Some(Stop::Ended),
                    other => other,
                };
            }
            ("answer/model", Delta::Started { model, .. }) => *model = Some("another-model".to_owned()),
            ("answer/usage", Delta::Usage(Usage { output: Some(output), .. })) => {
                *output = output.saturating_add(1);
            }
            ("cache/usage-kept", Delta::Usage(usage)) => usage.cached = usage.cached.map(|_| 0),
            // The parts move up by one.
            ("answer/nothing-invented", Delta::Started { .. }) => {
                let started = std::mem::replace(delta, Delta::Closed { part: 0 });
                let kind = PartKind::Reasoning { id: None, is_redacted: false };
                let text = Delta::Text { part: 0, text: "Let me think.".to_owned() };
                return Some(vec![started, Delta::Opened { part: 0, kind }, text]);
            }
            (
                "answer/nothing-invented",
                Delta::Opened { part, .. }
                | Delta::Text { part, .. }
                | Delta::Seal { part, .. }
                | Delta::Closed { part },
            ) => *part += 1,
            ("crowd/separate", Delta::Text { part, text }) if self.is_a(*part, &PartKind::Text) => {
                self.swap(text);
            }
            _ => {}
        }
        Some(Vec::new())
    }

    fn is_a(&self, part: usize, kind: &PartKind) -> bool {
        self.kinds.get(&part) == Some(kind)
    }

    fn is_reasoning(&self, part: usize) -> bool {
        matches!(self.kinds.get(&part), Some(PartKind::Reasoning { .. }))
    }

    fn is_call(&self, part: usize) -> bool {
        matches!(self.kinds.get(&part), Some(PartKind::Call { .. }))
    }

    /// Only the first text changes.
    fn mark(&mut self, text: &mut String) {
        if !std::mem::replace(&mut self.is_done, true) {
            text.push_str(MARK);
        }
    }

    /// The parts behind the second call move up.
    fn without_second_call(&mut self, delta: &mut Delta) -> Option<Vec<Delta>> {
        if let Delta::Opened { part, kind: PartKind::Call { .. } } = delta {
            let calls = self.kinds.values().filter(|kind| matches!(kind, PartKind::Call { .. })).count();
            if calls == 2 && self.without.is_none() {
                self.without = Some(*part);
            }
        }
        if let Delta::Opened { part, .. }
        | Delta::Text { part, .. }
        | Delta::Seal { part, .. }
        | Delta::Closed { part } = delta
            && let Some(without) = self.without
        {
            if *part == without {
                return None;
            }
            *part -= usize::from(*part > without);
        }
        Some(Vec::new())
    }

    /// The first text moves behind the first call. The parts between move up.
    fn text_last(&mut self, delta: &mut Delta) -> Option<Vec<Delta>> {
        if let (None, Delta::Opened { part, kind: PartKind::Text }) = (self.moved, &*delta) {
            self.moved = Some(*part);
        }
        let is_call_over = matches!(delta, Delta::Closed { part } if self.is_call(*part));
        let place = match delta {
            Delta::Opened { part, .. }
            | Delta::Text { part, .. }
            | Delta::Seal { part, .. }
            | Delta::Closed { part } => part,
            Delta::Stopped(_) => {
                let last = self.kinds.len().saturating_sub(1);
                return Some(self.release(last));
            }
            _ => return Some(Vec::new()),
        };
        match self.moved {
            Some(moved) if *place == moved => {
                self.held.push(delta.clone());
                return None;
            }
            Some(moved) if *place > moved && !self.held.is_empty() => *place -= 1,
            _ => return Some(Vec::new()),
        }
        if !is_call_over {
            return Some(Vec::new());
        }
        let behind = *place + 1;
        let mut all = vec![delta.clone()];
        all.extend(self.release(behind));
        *delta = all.pop()?;
        Some(all)
    }

    /// The held deltas become this part.
    fn release(&mut self, number: usize) -> Vec<Delta> {
        let mut held = std::mem::take(&mut self.held);
        for delta in &mut held {
            if let Delta::Opened { part, .. }
            | Delta::Text { part, .. }
            | Delta::Seal { part, .. }
            | Delta::Closed { part } = delta
            {
                *part = number;
            }
        }
        held
    }

    /// The member stands behind the opening brace.
    fn arguments(&mut self, part: usize, text: &str) -> String {
        const MEMBER: &str = "\"changed\":true";
        let is_waiting = self.braces.contains(&part);
        if !is_waiting && self.begun.contains(&part) {
            return text.to_owned();
        }
        let rest = if is_waiting { Some(text) } else { text.trim_start().strip_prefix('{') };
        let Some(rest) = rest else {
            self.begun.push(part);
            return text.to_owned();
        };
        if rest.trim_start().is_empty() {
            if !is_waiting {
                self.braces.push(part);
            }
            return String::new();
        }
        self.braces.retain(|own| *own != part);
        self.begun.push(part);
        let comma = if rest.trim_start().starts_with('}') { "" } else { "," };
        format!("{{{MEMBER}{comma}{rest}")
    }

    fn swap(&self, text: &mut String) {
        let mut latest = self.crowd.latest.lock().unwrap_or_else(PoisonError::into_inner);
        if self.crowd.active.load(Ordering::SeqCst) < 2 {
            *latest = None;
            return;
        }
        let own = text.clone();
        if let Some((_, other)) = latest.take().filter(|(number, _)| *number != self.number) {
            *text = other;
        }
        *latest = Some((self.number, own));
    }
}
