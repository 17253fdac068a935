//! Rules about texts, called once when nothing can be added to them.

use super::Tracker;
use crate::engine::context::Context;
use crate::engine::finding::Findings;
use crate::engine::location::SavedLocation;
use crate::engine::node::Node;
use crate::engine::plan::Plan;
use crate::engine::stream::{RESPONSE, Stream};

impl Tracker<'_, '_> {
    /// Runs the rules about the text of a node that ends, and about those inside of it.
    pub(super) fn settle(&mut self, node: usize) {
        let Self { plan, stream, findings, context, record, .. } = self;
        if plan.hooks.settled.is_empty() {
            return;
        }
        for at in unsettled(plan, stream, node) {
            let Some(found) = stream.nodes.get(at) else { continue };
            if let Some(text) = found.whole_text(stream.has_gap) {
                let rules = plan.hooks.settled.of(found.scope);
                context.ask(rules, record, stream, findings, |rule, case| rule(case, found, &text));
            }
        }
    }
}

/// Runs the rules about the texts that the end of the stream ends.
pub(super) fn settle_at_end(
    plan: &Plan,
    context: Context<'_>,
    stream: &mut Stream,
    last: &SavedLocation,
    findings: &mut Findings,
) {
    for at in unsettled(plan, stream, RESPONSE) {
        let Some(found) = stream.nodes.get(at) else { continue };
        let Some(text) = found.whole_text(stream.has_gap) else { continue };
        for (bound, rule) in plan.hooks.settled.of(found.scope) {
            rule(&mut context.case_at(*bound, last, stream, findings), found, &text);
        }
    }
}

/// Returns the nodes at and below a place whose texts rules have not seen, and marks them as seen.
fn unsettled(plan: &Plan, stream: &mut Stream, from: usize) -> Vec<usize> {
    let (mut rest, mut found) = (vec![from], Vec::new());
    while let Some(at) = rest.pop() {
        let Some(node) = stream.nodes.get_mut(at) else { continue };
        rest.extend(node.children.iter().rev());
        let has_rules = !plan.hooks.settled.of(node.scope).is_empty();
        if has_rules && !std::mem::replace(&mut node.is_settled, true) {
            found.push(at);
        }
    }
    found
}

impl Node {
    /// Returns its whole text, if it is known: the final value, or else the joined deltas.
    fn whole_text(&self, has_gap: bool) -> Option<std::borrow::Cow<'_, str>> {
        let stated = self.closing.get().and_then(|value| spec::json::string(value.text()));
        let joined =
            || Some(self.joined.as_str()).filter(|_| self.fragments > 0 && !self.partial && !has_gap);
        stated.or_else(|| joined().map(Into::into))
    }
}
