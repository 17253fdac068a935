//! The check of a response that is not a stream.

use spec::{Dialect, Verdict};

use super::case::{At, Case, Ending, Snapshot};
use super::context::Context;
use super::finding::{FaultPlace, Findings};
use super::head::Head;
use super::hooks::{EndingRule, Ends, SnapshotRule, ValueRule};
use super::index::Index;
use super::node::{Key, NodeState};
use super::plan::Plan;
use super::record::{Payload, Record};
use super::stream::{RESPONSE, Stream};
use super::view::{Object, inside, short};

pub(super) fn judge(plan: &Plan, head: &Head, mut record: Record<'_>, findings: &mut Findings) {
    let is_success = !head.is_refusal();
    let body = Object::new(record.data());
    if record.payload == Payload::Object && is_success {
        (record.root, record.verdict) = valid(plan.dialect(), &body);
    }
    let context = Context { protocol: &plan.protocol, head, session: None };
    let body = Body { plan, context, record: &record };
    body.check(findings);
}

fn valid(dialect: &Dialect, body: &Object<'_>) -> (Option<&'static str>, Verdict) {
    let shape = dialect.api.body(body.text()).filter(|shape| shape.is_typed(body.text()));
    let root = shape.map(|shape| shape.root);
    let name = root.and_then(|root| dialect.root(root));
    (root, name.map_or(Verdict::Unknown, |name| dialect.check_type(name, body.text())))
}

struct Body<'b> {
    plan: &'b Plan,
    context: Context<'b>,
    record: &'b Record<'b>,
}

impl Body<'_> {
    fn check(&self, findings: &mut Findings) {
        let Self { plan, context, record } = *self;
        let hooks = &plan.hooks;
        let mut stream = Stream::new(plan.api());
        let frame = record.frame;
        context.ask(At::Record(record), &hooks.body, &stream, findings, |rule, case| rule(case, frame));
        let is_success = !context.head.is_refusal();
        if record.payload != Payload::Object || !is_success {
            return;
        }
        let plain = |rule: fn(&mut Case<'_>), case: &mut Case<'_>| rule(case);
        context.ask(At::Body(record, None), &hooks.of_body.whole, &stream, findings, plain);
        if record.root.is_some() && record.root == plan.api().root_body() {
            self.response(&Object::new(record.data()), &mut stream, findings);
        }
        // Last, so that a note on a value does not hide a fault of it.
        context.ask(At::Body(record, None), &hooks.of_body.newer, &stream, findings, plain);
    }

    fn response(&self, response: &Object<'_>, stream: &mut Stream, findings: &mut Findings) {
        let Self { plan, context, record } = *self;
        let hooks = &plan.hooks.of_body;
        let snapshot = Snapshot::of_body(response, plan.dialect());
        let look = |rule: SnapshotRule, case: &mut Case<'_>| rule(case, &snapshot);
        context.ask(At::Body(record, None), &hooks.response, stream, findings, look);
        response.keep_in(&mut stream.first_snapshot);
        if !snapshot.is_terminal() {
            return;
        }
        let output: Vec<Object<'_>> =
            response.entries(plan.api().list).unwrap_or_default().into_iter().map(Object::new).collect();
        for (index, item) in output.iter().enumerate() {
            self.item(index, item, stream, findings);
        }
        let has_choice = response.chooses(plan.api());
        let ending = Ending { snapshot: &snapshot, output };
        let look = |(ends, rule): (Ends, EndingRule), case: &mut Case<'_>| {
            if ends != Ends::WithChoice || has_choice {
                rule(case, &ending);
            }
        };
        context.ask(At::Body(record, None), &hooks.ending, stream, findings, look);
    }

    /// An item of a body is opened and closed with the same value.
    fn item(&self, index: usize, item: &Object<'_>, stream: &mut Stream, findings: &mut Findings) {
        let Self { plan, context, record } = *self;
        let api = plan.api();
        let mut key = Key::default();
        key.push(Index::new(index as u64));
        let at = stream.nodes.add(api.scope(api.container), key, NodeState::Open, Some(RESPONSE));
        stream.items.push(at);
        if let Some(node) = stream.nodes.get_mut(at) {
            node.learn(item);
            item.keep_in(&mut node.opening);
            node.close_with(item, api);
        }
        stream.nodes.name_item(at);
        stream.nodes.name_call(at, &api.call);
        self.relate(index, item, stream, findings);
        let rules = plan.hooks.of_body.items.of(item.plain("type"));
        if let Some(node) = stream.nodes.get(at) {
            let look = |rule: ValueRule, case: &mut Case<'_>| rule(case, node, item);
            context.ask(At::Body(record, Some(index)), rules, stream, findings, look);
        }
        if item.is_cut_off(&api.status) {
            stream.incomplete.get_or_insert(at);
        }
        stream.nodes.set_state(at, NodeState::Closed);
    }

    fn relate(&self, index: usize, item: &Object<'_>, stream: &mut Stream, findings: &mut Findings) {
        let Self { plan, record, .. } = *self;
        for step in &plan.steps_of_body {
            let Some(pointer) = step.at.and_then(|target| target.in_value) else { continue };
            let Some(raw) = inside(item.text(), pointer) else { continue };
            let is_new = stream
                .nodes
                .get_mut(RESPONSE)
                .is_none_or(|response| response.cells.add_unique(step.relation, raw));
            if is_new {
                continue;
            }
            let pointer = format!("/{}/{index}{pointer}", plan.api().list);
            let place = FaultPlace {
                pointer: Some(&pointer),
                expected: Some("a value that no earlier item has"),
                actual: Some(raw),
                ..FaultPlace::WHOLE
            };
            findings.add(plan.relations[step.relation], record, &place, None, &|| {
                format!("{} occurs a second time", short(raw))
            });
        }
    }
}
