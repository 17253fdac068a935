//! Tracks the nodes of a stream, by the scopes of its API.

mod fault;
mod place;
mod relate;
mod settle;
mod siblings;

use catalogue::Family;
use spec::Count;
use spec::table::{EventInfo, Marker, Role, ScopeInfo, Slot};

use crate::Transport;
use crate::engine::bound::Bound;
use crate::engine::case::At;
use crate::engine::context::Context;
use crate::engine::finding::{FaultPlace, Findings};
use crate::engine::location::SavedLocation;
use crate::engine::node::{Node, NodeState};
use crate::engine::plan::Plan;
use crate::engine::record::Record;
use crate::engine::reusable::Recycle;
use crate::engine::stream::{RESPONSE, Stream};
use crate::engine::view::{Object, entries_that_are};
use crate::engine::{Case, Ending, EndingRule, Ends, Hooks, Snapshot, SnapshotRule, ValueRules};

pub(in crate::engine) struct Tracker<'t, 'r> {
    pub(in crate::engine) plan: &'t Plan,
    pub(in crate::engine) stream: &'t mut Stream,
    pub(in crate::engine) findings: &'t mut Findings,
    pub(in crate::engine) context: Context<'t>,
    pub(in crate::engine) record: &'t Record<'r>,
    pub(in crate::engine) response: Option<Object<'r>>,
    /// The value with which it opens or closes a node.
    pub(in crate::engine) value: Option<Object<'r>>,
    pub(in crate::engine) current: Option<usize>,
}

impl<'r> Tracker<'_, 'r> {
    pub(in crate::engine) fn take(&mut self) {
        let Some((event, info)) = self.record.known else {
            self.admit();
            return;
        };
        if self.extend(event, info) {
            return;
        }
        self.stream.recent.forget();
        if self.admit() {
            self.apply(event, info);
        }
    }

    /// The event must have been admitted.
    pub(in crate::engine) fn take_effect(&mut self) {
        let Some((effect, info)) = self.record.known else { return };
        if !self.extend(effect, info) {
            self.stream.recent.forget();
            self.apply(effect, info);
        }
    }

    /// Called before the effects of the event. If relations said nothing of the last event, a delta like it is not compared
    /// again.
    pub(in crate::engine) fn relate_whole(&mut self, event: usize) {
        let is_settled = self.stream.is_related && self.record.view.repeats() && self.plan.is_fragment[event];
        if is_settled || self.plan.steps[event].is_empty() {
            return;
        }
        let reported = self.findings.reported;
        self.relate(event, RESPONSE);
        self.stream.is_related = self.findings.reported == reported;
    }

    /// Begins the response if it has not begun. Returns whether an event may come now.
    pub(in crate::engine) fn admit(&mut self) -> bool {
        let is_allowed = self.response_allows();
        if is_allowed && !self.stream.has_begun() && !self.record.begins() && !self.record.is_early() {
            self.begin();
        }
        is_allowed
    }

    /// False if the event is no delta of the last text.
    #[inline]
    fn extend(&mut self, event: usize, info: &EventInfo) -> bool {
        if info.role != Role::Delta {
            return false;
        }
        let Some(node) = self.stream.recent.node(event, &self.record.view) else { return false };
        self.current = Some(node);
        self.feed(event, node);
        true
    }

    fn apply(&mut self, event: usize, info: &'static EventInfo) {
        if matches!(info.role, Role::Open | Role::Close | Role::Final | Role::Phase) {
            self.value = self.record.view.raw(Slot::Value).map(|raw| self.outlined(raw));
        }
        let Some(node) = (if info.level.is_root { Some(RESPONSE) } else { self.locate(info) }) else {
            return;
        };
        self.current = Some(node);
        if info.level.is_root {
            self.response = self.record.view.snapshot(self.plan.api()).map(|raw| self.outlined(raw));
        }
        match info.role {
            Role::Open => self.open(event, node),
            Role::Delta => {
                self.feed(event, node);
                self.stream.recent.keep(event, node, &self.record.view);
            }
            Role::Final | Role::Close => self.close(event, node),
            Role::Phase => self.phase(event, node),
            Role::Terminal => self.end(event),
            Role::Point => self.point(event, node),
        }
    }

    /// The word for the root in messages.
    fn noun(&self) -> String {
        let api = self.plan.api();
        api.scope(api.root).noun()
    }

    fn outlined(&self, raw: &'r str) -> Object<'r> {
        match self.record.outline {
            Some(outline) => Object::outlined(raw, Some(outline)),
            None => self.record.object(raw),
        }
    }

    fn response_allows(&mut self) -> bool {
        if !self.stream.has_ended() {
            return true;
        }
        let ends = self.record.ends();
        let family = if ends { Family::ClosedAgain } else { Family::AfterClose };
        let (name, noun) = (self.event_name(), self.noun());
        self.report_after_the_end(family, || {
            if ends {
                format!("{name} ends the {noun} a second time")
            } else {
                format!("{name} was sent after the {noun} ended")
            }
        });
        false
    }

    /// The opening event begins it, unless this is the rest of a stream.
    fn begin(&mut self) {
        let number = self.record.sequence_number.as_ref();
        let is_fresh = self.context.is_fresh();
        let is_later = self.stream.events == 0 && number.is_some_and(|number| *number > Count::Whole(0));
        self.stream.resumed = is_later && is_fresh != Some(true);
        // A client that has received only one event is unlikely to resume the stream.
        let is_doubtful = self.stream.resumed && is_fresh.is_none() && number == Some(&Count::Whole(1));
        if (!self.stream.resumed || is_doubtful)
            && !self.stream.has_gap
            && !self.record.is_error
            && self.plan.protocol.scope_events(self.plan.api().root).opens
        {
            self.not_created(is_doubtful);
        }
        self.stream.nodes.set_state(RESPONSE, NodeState::Open);
        if self.plan.api().first_event_opens
            && let Some(root) = self.stream.nodes.get_mut(RESPONSE)
        {
            root.opened.note(self.record);
        }
    }

    fn open(&mut self, event: usize, node: usize) {
        if node == RESPONSE {
            if self.stream.has_begun() {
                let noun = self.noun();
                let related =
                    self.related(RESPONSE, |node| node.opened.get(), &format!("the {noun} began here"));
                let expected = format!("one {}", self.plan.dialect().opening.unwrap_or_default());
                self.report(
                    (Family::Reopened, self.plan.api().root, RESPONSE),
                    "",
                    Some(&expected),
                    related,
                    || format!("the {noun} is created a second time"),
                );
            }
            self.stream.nodes.set_state(RESPONSE, NodeState::Open);
            if let Some(response) = self.stream.nodes.get_mut(RESPONSE)
                && !response.opened.is_set()
            {
                response.opened.note(self.record);
            }
            self.relate(event, node);
            self.snapshot();
            return;
        }
        let is_item = self.stream.nodes.get(node).is_some_and(|found| found.level.is_container);
        self.stream.nodes.set_state(node, NodeState::Open);
        self.check_siblings(node);
        if let Some(found) = self.stream.nodes.get_mut(node) {
            found.opened.note(self.record);
            if let Some(value) = &self.value {
                found.learn(value);
                value.keep_in(&mut found.opening);
            }
        }
        if is_item {
            self.stream.nodes.name_item(node);
            self.stream.nodes.name_call(node, &self.stream.api.call);
        }
        self.wrong_parent(node);
        self.relate(event, node);
        self.run(node, |hooks| &hooks.opened, |found| found.opening.get());
    }

    fn feed(&mut self, event: usize, node: usize) {
        let text = self.record.string(Slot::Value);
        let logprobs = self.record.view.logprobs();
        if let Some(found) = self.stream.nodes.get_mut(node) {
            found.logprobs.extend(logprobs.map(Into::into));
            if let Some(text) = text {
                found.append(text);
            } else {
                found.fragments += 1;
                found.partial = true;
            }
        }
        self.relate(event, node);
        let Self { plan, stream, findings, context, record, .. } = self;
        let Some(found) = stream.nodes.get(node) else { return };
        let rules = plan.hooks.fragment.of(found.scope);
        context.ask(At::Record(record), rules, stream, findings, |rule, case| rule(case, found));
        let rules = plan.hooks.run.of(found.scope);
        context.ask(At::Record(record), rules, stream, findings, |rule, case| rule(case, found));
        if logprobs.is_some() {
            let rules = plan.hooks.logprobs.of(found.scope);
            context.ask(At::Record(record), rules, stream, findings, |rule, case| rule(case, found));
        }
    }

    fn close(&mut self, event: usize, node: usize) {
        if let (Some(found), Some(value)) = (self.stream.nodes.get_mut(node), &self.value) {
            found.learn(value);
            found.close_with(value, self.stream.api);
            if found.level.is_container {
                if value.is_cut_off(&self.stream.api.status) {
                    self.stream.incomplete.get_or_insert(node);
                }
                self.stream.nodes.name_call(node, &self.stream.api.call);
            }
        }
        self.relate(event, node);
        if let Some(value) = self.value.take() {
            self.carry(node, &value, "");
        }
        self.run(node, |hooks| &hooks.closed, |found| found.closing.get());
        self.settle(node);
        self.stream.nodes.set_state(node, NodeState::Closed);
        let may_close_again = self.record.known.is_some_and(|(_, info)| self.may_close_again(info));
        if let Some(found) = self.stream.nodes.get_mut(node) {
            found.may_close_again = may_close_again;
            found.closed.note(self.record);
            // Without a final text, its annotations are compared with the deltas.
            if !found.disputed && found.closing.is_set() {
                found.joined.recycle();
            }
            if !found.level.is_container {
                found.opening.empty();
            }
        }
        self.stream.nodes.forget_closed_below(node);
    }

    fn phase(&mut self, event: usize, node: usize) {
        let Some(((_, info), found)) = self.record.known.zip(self.stream.nodes.get(node)) else { return };
        let scope = found.level;
        let ends = info.ends_scope();
        let rank = if ends { scope.phases.len() } else { rank(scope.phases, info.phase) };
        let may_repeat = info.phase.is_some_and(|phase| scope.repeatable.contains(&phase));
        let repeated = node == RESPONSE && found.phase == Some(rank) && !may_repeat;
        if found.phase.is_some_and(|before| before > rank) || repeated {
            let name = self.stream.name(found);
            let phase = info.phase.unwrap_or_default();
            let order = scope.phases.iter().chain(scope.ends).copied().collect::<Vec<_>>().join(", ");
            self.report((Family::PhaseOrder, info.scope, node), "", Some(&order), None, || {
                if repeated {
                    format!("the {name} is {phase} a second time")
                } else {
                    format!("the {name} is {phase} after a later phase")
                }
            });
        }
        if let Some(found) = self.stream.nodes.get_mut(node) {
            found.phase = found.phase.max(Some(rank));
            found.phases |= 1u8.checked_shl(u32::try_from(rank).unwrap_or(u32::MAX)).unwrap_or(0);
            if ends {
                found.end = info.phase;
                found.closed.note(self.record);
                self.stream.nodes.set_state(node, NodeState::Closed);
            }
        }
        self.still_open_in_phase(node, info);
        self.relate(event, node);
        self.phase_value(node);
        if node == RESPONSE {
            self.snapshot();
        } else if info.level.withdraws {
            self.stream.nodes.mark_gap();
        }
    }

    fn phase_value(&mut self, node: usize) {
        let Some(value) = self.value.take() else { return };
        if let Some(found) = self.stream.nodes.get_mut(node) {
            found.close_with(&value, self.plan.api());
        }
        let Self { plan, stream, findings, context, record, .. } = self;
        let Some(found) = stream.nodes.get(node) else { return };
        let rules = plan.hooks.phase.of(found.scope);
        context.ask(At::Record(record), rules, stream, findings, |rule, case| rule(case, found, &value));
    }

    fn point(&mut self, event: usize, node: usize) {
        if self.record.known.is_none() {
            return;
        }
        self.note_error();
        self.relate(event, node);
        let Self { plan, stream, findings, context, record, .. } = self;
        let Some(found) = stream.nodes.get(node) else { return };
        context.ask(At::Record(record), &plan.hooks.point, stream, findings, |rule, case| rule(case, found));
    }

    /// Later checks depend on it.
    fn note_error(&mut self) {
        if self.record.is_error {
            Object::new(self.record.data()).keep_in(&mut self.stream.error);
        }
    }

    fn end(&mut self, event: usize) {
        self.note_error();
        self.relate(event, RESPONSE);
        if let Some(response) = self.response.take() {
            self.carry(RESPONSE, &response, "");
            self.response = Some(response);
        }
        self.snapshot();
        self.settle(RESPONSE);
        let has_failed = self.record.is_error || self.phase_at_hand() == Some(self.plan.api().status.failed);
        if !self.stream.has_gap && !has_failed {
            self.never_closed();
        }
        self.close_root();
    }

    /// Ends the response at the marker, if it has begun and that ends it.
    pub(in crate::engine) fn end_at_marker(&mut self) {
        if !self.plan.api().marker_ends || !self.stream.has_begun() || self.stream.has_ended() {
            return;
        }
        self.settle(RESPONSE);
        if !self.stream.has_gap && !self.stream.error.is_set() {
            self.never_closed();
        }
        self.close_root();
    }

    fn close_root(&mut self) {
        self.stream.nodes.set_state(RESPONSE, NodeState::Closed);
        let phase = self.phase_at_hand();
        if let Some(found) = self.stream.nodes.get_mut(RESPONSE) {
            found.closed.note(self.record);
            found.end = phase;
        }
    }

    fn phase_at_hand(&self) -> Option<&'static str> {
        self.record.known.and_then(|(_, info)| info.phase)
    }

    fn never_closed(&mut self) {
        for open in still_open(self.plan, self.stream) {
            let related = self.related(open.node, |node| node.opened.get(), "was opened here");
            let (noun, name) = (self.noun(), &open.name);
            self.findings.add(open.bound, self.record, &open.place(), related, &|| {
                format!("the {noun} ends, but {name} was never closed")
            });
        }
    }

    fn snapshot(&mut self) {
        let Some((response, (_, event))) = self.response.take().zip(self.record.known) else { return };
        let Self { plan, stream, findings, context, record, .. } = self;
        // Faults of a response are reported at its first occurrence.
        let first = stream.first_snapshot.get();
        let is_first_again = first.is_some_and(|first| first.text() == response.text());
        let first = first.filter(|_| !is_first_again);
        let snapshot = Snapshot::new(&response, first, event, plan.dialect());
        let look = |rule: SnapshotRule, case: &mut Case<'_>| rule(case, &snapshot);
        context.ask(At::Record(record), &plan.hooks.any_snapshot, stream, findings, look);
        if !is_first_again {
            context.ask(At::Record(record), &plan.hooks.snapshot, stream, findings, look);
        }
        if snapshot.is_terminal() && !plan.hooks.ending.is_empty() {
            let (output, is_as_finished) = Self::output(stream, &response);
            let is_as_finished = is_as_finished && stream.is_whole();
            let ending = Ending { snapshot: &snapshot, output };
            let has_choice = response.chooses(plan.api());
            let look = |(ends, rule): (Ends, EndingRule), case: &mut Case<'_>| match ends {
                Ends::Otherwise if is_as_finished => {}
                Ends::WithChoice if !has_choice => {}
                _ => rule(case, &ending),
            };
            context.ask(At::Record(record), &plan.hooks.ending, stream, findings, look);
        }
        if !stream.first_snapshot.is_set() {
            stream.first_usage = snapshot.usage;
            response.keep_in(&mut stream.first_snapshot);
        }
    }

    /// The flag is set if the entries equal the finished items byte for byte and in order, as most do: they need not be
    /// parsed again.
    fn output<'o>(stream: &'o Stream, response: &'o Object<'_>) -> (Vec<Object<'o>>, bool) {
        let finished = || stream.items().map(|item| item.closing.get());
        let texts = finished().map(|item| item.map(Object::text));
        let list = response.get(stream.api.list).unwrap_or_default();
        if let Some(entries) = entries_that_are(list, texts) {
            let entries = finished().flatten().zip(entries).map(|(item, entry)| item.of_same_text(entry));
            return (entries.collect(), stream.items().is_sorted_by_key(|item| item.key.last()));
        }
        let entries = response.entries(stream.api.list).unwrap_or_default();
        let mut finished = finished();
        let object = |entry| match finished.next().flatten() {
            Some(item) if item.text() == entry => item.of_same_text(entry),
            _ => Object::new(entry),
        };
        (entries.into_iter().map(object).collect(), false)
    }

    fn run(
        &mut self,
        node: usize,
        rules: impl FnOnce(&Hooks) -> &ValueRules,
        value: impl FnOnce(&Node) -> Option<&Object<'_>>,
    ) {
        let Self { plan, stream, findings, context, record, .. } = self;
        let Some(found) = stream.nodes.get(node) else { return };
        let Some(value) = value(found) else { return };
        let rules = rules(&plan.hooks).of(found.scope, value);
        context.ask(At::Record(record), rules, stream, findings, |rule, case| rule(case, found, value));
    }
}

fn rank(phases: &[&str], phase: Option<&str>) -> usize {
    phases.iter().position(|known| Some(*known) == phase).unwrap_or(0)
}

struct OpenNode {
    node: usize,
    bound: Bound,
    /// The events that would have closed it.
    closing: String,
    /// Its scope, or that it is a container which clients do not use.
    form: &'static str,
    name: String,
    /// The finding that it shares its index with another one.
    follows: Option<usize>,
}

impl OpenNode {
    fn place(&self) -> FaultPlace<'_> {
        FaultPlace {
            expected: Some(&self.closing),
            form: self.form,
            follows: self.follows,
            ..FaultPlace::WHOLE
        }
    }
}

/// Only those that an event could close.
fn still_open(plan: &Plan, stream: &Stream) -> Vec<OpenNode> {
    let is_implied = |at: usize| stream.nodes.get(at).is_some_and(|node| node.state() == NodeState::Implied);
    let root_phase = stream.response().and_then(|root| root.phase);
    let root = plan.api().scope(plan.api().root);
    let is_reported = |level: &ScopeInfo| {
        let until = level.until.filter(|_| level.parent == Some(root.scope));
        until.is_some_and(|phase| root_phase >= Some(rank(root.phases, Some(phase))))
    };
    let is_due = |node: &Node| match node.level.complete {
        Some(phase) => node.phase < Some(rank(node.level.phases, Some(phase))),
        None => plan.protocol.scope_events(node.scope).closes,
    };
    let is_meant = |(at, node): &(usize, &Node)| {
        *at != RESPONSE
            && node.state() == NodeState::Open
            && is_due(node)
            // Descendants of an unopened node are reported once.
            && !node.parent.is_some_and(|parent| parent != RESPONSE && is_implied(parent))
            && !is_reported(node.level)
    };
    stream
        .nodes
        .numbered()
        .filter(is_meant)
        .filter_map(|(at, node)| open_node(plan, stream, at, node))
        .collect()
}

fn open_node(plan: &Plan, stream: &Stream, at: usize, node: &Node) -> Option<OpenNode> {
    let level = node.level;
    let mut bound = plan.structural(Family::NeverClosed, level.scope)?;
    let used = plan.api().used_when_closed;
    let is_used = node.kind().is_some_and(|kind| used.contains(&kind));
    // Some dialects allow hosted calls to stay open.
    if level.is_container && !bound.is_chosen && is_used {
        bound.level = bound.level.max(bound.rule.level_in(plan.dialect()));
        bound.is_recorded = false;
    }
    let is_hosted = level.is_container && !used.is_empty() && !is_used;
    let form = if is_hosted { "hosted" } else { level.name };
    let closing = fault::closing_events(plan.dialect(), level.scope);
    Some(OpenNode { node: at, bound, closing, form, name: stream.name(node), follows: stream.doubt(at) })
}

/// The stream is over before the response has ended.
pub(in crate::engine) fn unended(
    plan: &Plan,
    context: Context<'_>,
    stream: &mut Stream,
    last: &SavedLocation,
    findings: &mut Findings,
) {
    // Another rule reports an error without the events that must follow it.
    if stream.has_gap || stream.error.is_set() {
        return;
    }
    let marker_ends = plan.api().marker_ends;
    // The marker is no JSON: events without their framing have lost it.
    let has_marker =
        plan.dialect().framing.done == Marker::Required && stream.transport != Transport::Unframed;
    if marker_ends && !has_marker {
        // The end of the stream is the end of the root.
        settle::settle_at_end(plan, context, stream, last, findings);
        for open in still_open(plan, stream) {
            let message = || format!("the stream ends, but {} was never closed", open.name);
            findings.add_at(
                open.bound,
                last,
                &FaultPlace { stage: stream.stage(), ..open.place() },
                &message,
            );
        }
        return;
    }
    let Some(bound) = plan.structural(Family::NeverClosed, plan.api().root) else { return };
    let expected = if marker_ends { "[DONE]".to_owned() } else { plan.dialect().terminal.join(" or ") };
    let place = FaultPlace { expected: Some(&expected), stage: stream.stage(), ..FaultPlace::WHOLE };
    findings.add_at(bound, last, &place, &|| {
        let missing = if marker_ends { "[DONE]" } else { "a terminal event" };
        format!("the stream ends without {missing}")
    });
}
