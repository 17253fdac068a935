//! Rules about texts, called once when nothing can be added to them.

use super::Tracker;
use crate::engine::case::At;
use crate::engine::context::Context;
use crate::engine::finding::Findings;
use crate::engine::location::SavedLocation;
use crate::engine::node::Node;
use crate::engine::plan::Plan;
use crate::engine::stream::{RESPONSE, Stream};

impl Tracker<'_, '_> {
    /// Rules see the text of a node when the node ends, with all texts inside.
    pub(super) fn settle(&mut self, node: usize) {
        if self.plan.hooks.has_settled {
            let Self { plan, stream, findings, context, record, .. } = self;
            each_settled(plan, stream, node, &mut |stream, found| {
                let rules = plan.hooks.settled.of(found.scope);
                context.ask(At::Record(record), rules, stream, findings, |rule, case| rule(case, found));
            });
        }
    }
}

pub(super) fn settle_at_end(
    plan: &Plan,
    context: Context<'_>,
    stream: &mut Stream,
    last: &SavedLocation,
    findings: &mut Findings,
) {
    each_settled(plan, stream, RESPONSE, &mut |stream, found| {
        let rules = plan.hooks.settled.of(found.scope);
        context.ask(At::SavedLocation(last), rules, stream, findings, |rule, case| rule(case, found));
    });
}

/// Marks the nodes as seen by rules.
fn each_settled(plan: &Plan, stream: &mut Stream, at: usize, settle: &mut dyn FnMut(&Stream, &Node)) {
    let Some(node) = stream.nodes.get_mut(at) else { return };
    let children = node.children.len();
    if !node.is_settled && !plan.hooks.settled.of(node.scope).is_empty() {
        node.is_settled = true;
        if let Some(found) = stream.nodes.get(at) {
            settle(stream, found);
        }
    }
    for nth in 0..children {
        let child = stream.nodes.get(at).and_then(|node| node.children.get(nth).copied());
        if let Some(child) = child {
            each_settled(plan, stream, child, settle);
        }
    }
}

impl Node {
    /// The final value, or else the joined deltas.
    pub(crate) fn whole_text(&self, has_gap: bool) -> Option<std::borrow::Cow<'_, str>> {
        let stated = self.closing.get().and_then(|value| spec::json::string(value.text()));
        let joined =
            || Some(self.joined.as_str()).filter(|_| self.fragments > 0 && !self.partial && !has_gap);
        stated.or_else(|| joined().map(Into::into))
    }
}
