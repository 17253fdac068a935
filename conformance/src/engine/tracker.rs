//! Follows what opens, is fed and closes in a stream, as `spec/scopes.toml` has it.

use std::borrow::Cow;

use spec::catalogue::Family;
use spec::table::{EventInfo, Role, Scope, Slot};

use super::finding::{Findings, Place, Related};
use super::node::{Key, Node, State, own_slot};
use super::plan::Plan;
use super::record::Record;
use super::spot::{Mark, Spot};
use super::stream::{RESPONSE, Stream};
use super::view::Object;
use crate::rules::{Case, Connection, Ending, Snapshot};

/// What takes one event into the stream.
pub(super) struct Tracker<'t, 'r> {
    pub(super) plan: &'t Plan,
    pub(super) stream: &'t mut Stream,
    pub(super) findings: &'t mut Findings,
    pub(super) connection: &'t Connection,
    pub(super) record: &'t Record<'r>,
    /// The response that the event has.
    pub(super) response: Option<Object<'r>>,
    /// The value with which it opens or closes something.
    pub(super) value: Option<Object<'r>>,
    /// What the event is about.
    pub(super) current: Option<usize>,
}

impl<'r> Tracker<'_, 'r> {
    /// Takes the event.
    pub(super) fn take(&mut self) {
        let Some((event, info)) = self.record.known else {
            if self.response_allows(false) {
                self.begin(None);
            }
            return;
        };
        if info.role == Role::Delta
            && let Some(node) = self.stream.recent.node(event, &self.record.view)
        {
            self.current = Some(node);
            self.feed(event, node);
            return;
        }
        self.stream.recent.forget();
        if !self.response_allows(info.scope == Scope::Response && info.role == Role::Terminal) {
            return;
        }
        self.begin(Some(info));
        if matches!(info.role, Role::Open | Role::Close | Role::Final) {
            self.value = self.record.view.raw(Slot::Value).map(|raw| self.outlined(raw));
        }
        let Some(node) = (if info.scope == Scope::Response { Some(RESPONSE) } else { self.locate(info) })
        else {
            return;
        };
        self.current = Some(node);
        if info.scope == Scope::Response {
            self.response =
                self.record.view.raw(Slot::Response).map(|raw| match &self.stream.first_snapshot {
                    Some(first) if first.text() == raw => first.of_same_text(raw),
                    _ => self.outlined(raw),
                });
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

    /// The object that the event is about.
    fn outlined(&self, raw: &'r str) -> Object<'r> {
        Object::outlined(self.record.data(), raw, &self.record.outline)
    }

    /// Whether the response has not ended yet.
    fn response_allows(&mut self, ends: bool) -> bool {
        if !self.stream.has_ended() {
            return true;
        }
        let family = if ends { Family::ClosedAgain } else { Family::AfterClose };
        let related = self.related(RESPONSE, |node| node.closed.as_ref(), "the response ended here");
        let name = self.event_name();
        self.report(
            family,
            Scope::Response,
            "",
            Some("nothing after the event that ends the response"),
            related,
            || {
                if ends {
                    format!("{name} ends the response, which had ended")
                } else {
                    format!("{name} comes after the response has ended")
                }
            },
        );
        false
    }

    /// The response begins with its opening event, unless this is the rest of a stream.
    fn begin(&mut self, info: Option<&EventInfo>) {
        let is_opening = info.is_some_and(|info| info.scope == Scope::Response && info.role == Role::Open);
        if is_opening || self.stream.has_begun() {
            return;
        }
        let is_error = info.is_some_and(|info| info.name == "error");
        let number = self.record.sequence_number;
        self.stream.resumed = self.stream.events == 0 && number.is_some_and(|number| number > 0);
        if !self.stream.resumed && !self.stream.torn && !is_error && self.plan.ways(Scope::Response).opens {
            let name = self.event_name();
            self.report(
                Family::BeforeOpen,
                Scope::Response,
                "",
                Some("response.created as the first event"),
                None,
                || format!("{name} comes before response.created"),
            );
        }
        if let Some(response) = self.stream.nodes.get_mut(RESPONSE) {
            response.state = State::Open;
        }
    }

    fn open(&mut self, event: usize, node: usize) {
        if node == RESPONSE {
            if self.stream.has_begun() {
                let related = self.related(RESPONSE, |node| node.opened.as_ref(), "the response began here");
                self.report(
                    Family::Reopened,
                    Scope::Response,
                    "",
                    Some("one response.created"),
                    related,
                    || "the response is created a second time".to_owned(),
                );
            }
            let mark = Mark::of(self.record);
            if let Some(response) = self.stream.nodes.get_mut(RESPONSE) {
                response.state = State::Open;
                response.opened.get_or_insert(mark);
            }
            self.relate(event, node);
            self.snapshot(false);
            return;
        }
        let mark = Mark::of(self.record);
        let is_item = self.stream.nodes.get(node).is_some_and(|found| found.scope == Scope::Item);
        if let Some(found) = self.stream.nodes.get_mut(node) {
            found.state = State::Open;
            found.opened = Some(mark);
            if let Some(value) = &self.value {
                found.learn(value);
                found.opening = Some(Box::new(value.kept()));
            }
        }
        if is_item {
            self.name_item(node);
        }
        self.wrong_parent(node);
        self.relate(event, node);
        self.run(node, |hooks| &hooks.opened, |found| found.opening.as_deref());
    }

    fn feed(&mut self, event: usize, node: usize) {
        let text = self.record.string(Slot::Value);
        let logprobs = self.record.view.raw(Slot::Logprobs).filter(|list| !matches!(*list, "[]" | "null"));
        if let Some(found) = self.stream.nodes.get_mut(node) {
            found.fragments += 1;
            found.logprobs.extend(logprobs.map(Into::into));
            match text {
                Some(text) if text.escaped => {
                    let (fragment, is_lossy) = spec::json::decode(text.raw);
                    found.joined.push_str(&fragment);
                    // Half of a surrogate pair: what it makes with the other half is not known.
                    found.partial |= is_lossy;
                }
                Some(text) => found.joined.push_str(text.raw),
                None => found.partial = true,
            }
        }
        self.relate(event, node);
        let Some(found) = self.stream.nodes.get(node) else { return };
        for (bound, hook) in &self.plan.hooks.fragment {
            hook(
                &mut self.connection.case(*bound, self.plan, self.record, self.stream, self.findings),
                found,
            );
        }
    }

    fn close(&mut self, event: usize, node: usize) {
        let mark = Mark::of(self.record);
        if let (Some(found), Some(value)) = (self.stream.nodes.get_mut(node), &self.value) {
            found.learn(value);
            found.closing = Some(Box::new(value.kept()));
        }
        self.relate(event, node);
        if let Some(value) = self.value.take() {
            self.carry(node, &value, "");
        }
        self.run(node, |hooks| &hooks.closed, |found| found.closing.as_deref());
        if let Some(found) = self.stream.nodes.get_mut(node) {
            found.state = State::Closed;
            found.closed = Some(mark);
            if !found.disputed {
                found.joined = String::new();
            }
            if found.scope != Scope::Item {
                found.opening = None;
            }
        }
        self.stream.nodes.forget_closed_below(node);
    }

    fn phase(&mut self, event: usize, node: usize) {
        let Some(((_, info), found)) = self.record.known.zip(self.stream.nodes.get(node)) else { return };
        let scope = found.scope.info();
        let ends = info.phase.is_some_and(|phase| scope.ends.contains(&phase));
        let rank = if ends { scope.phases.len() } else { rank(scope.phases, info.phase) };
        let repeated = node == RESPONSE && found.phase == Some(rank);
        if found.phase.is_some_and(|before| before > rank) || repeated {
            let name = self.stream.name(found);
            let phase = info.phase.unwrap_or_default();
            let order = scope.phases.iter().chain(scope.ends).copied().collect::<Vec<_>>().join(", ");
            self.report(Family::PhaseOrder, info.scope, "", Some(&order), None, || {
                if repeated {
                    format!("the {name} is {phase} a second time")
                } else {
                    format!("the {name} is {phase} after a later phase")
                }
            });
        }
        let mark = ends.then(|| Mark::of(self.record));
        if let Some(found) = self.stream.nodes.get_mut(node) {
            found.phase = found.phase.max(Some(rank));
            if ends {
                found.state = State::Closed;
                found.closed = mark;
            }
        }
        self.relate(event, node);
        if node == RESPONSE {
            self.snapshot(false);
        } else if info.scope == Scope::Rewrite {
            self.stream.nodes.tear();
        }
    }

    fn point(&mut self, event: usize, node: usize) {
        let Some((_, info)) = self.record.known else { return };
        if info.name == "error" {
            self.stream.error = Some((Object::new(self.record.data()).kept(), Spot::of(self.record, None)));
        }
        self.relate(event, node);
        let Some(found) = self.stream.nodes.get(node) else { return };
        for (bound, hook) in &self.plan.hooks.point {
            hook(
                &mut self.connection.case(*bound, self.plan, self.record, self.stream, self.findings),
                found,
            );
        }
    }

    /// The response ends.
    fn end(&mut self, event: usize) {
        let name = self.event_name();
        if name == "error" {
            self.stream.error = Some((Object::new(self.record.data()).kept(), Spot::of(self.record, None)));
        }
        self.stream.terminal = Some(name.clone());
        self.relate(event, RESPONSE);
        if let Some(response) = self.response.take() {
            self.carry(RESPONSE, &response, "");
            self.response = Some(response);
        }
        self.snapshot(true);
        if !self.stream.torn && !name.ends_with("failed") && name != "error" {
            self.never_closed();
        }
        let mark = Mark::of(self.record);
        if let Some(found) = self.stream.nodes.get_mut(RESPONSE) {
            found.state = State::Closed;
            found.closed = Some(mark);
        }
    }

    /// What is still open when the response ends.
    fn never_closed(&mut self) {
        let still_open: Vec<(usize, Scope)> = (self.stream.nodes.numbered())
            .filter(|(at, node)| {
                *at != RESPONSE
                    && node.state == State::Open
                    && self.plan.ways(node.scope).closes
                    // What lies in something that was never opened is told of once.
                    && !node.parent.is_some_and(|parent| parent != RESPONSE && self.is_implied(parent))
            })
            .map(|(at, node)| (at, node.scope))
            .collect();
        for (node, scope) in still_open {
            let related = self.related(node, |node| node.opened.as_ref(), "it was opened here");
            let name = self.stream.nodes.get(node).map(|node| self.stream.name(node)).unwrap_or_default();
            let closing = self.closing_events(scope);
            self.report(Family::NeverClosed, scope, "", Some(&closing), related, || {
                format!("the response ends, and {name} was never closed")
            });
        }
    }

    /// Hands a snapshot of the response to the rules, and keeps the first.
    fn snapshot(&mut self, is_terminal: bool) {
        let Some(response) = self.response.take() else { return };
        let event = self.record.known.map_or("", |(_, info)| info.name);
        let snapshot = Snapshot { response: &response, is_terminal, event };
        for (bound, hook) in &self.plan.hooks.any_snapshot {
            hook(
                &mut self.connection.case(*bound, self.plan, self.record, self.stream, self.findings),
                &snapshot,
            );
        }
        // What is wrong with a response was told when it came first.
        let is_first_again =
            self.stream.first_snapshot.as_ref().is_some_and(|first| first.text() == response.text());
        let hooks = if is_first_again { &[][..] } else { &self.plan.hooks.snapshot };
        for (bound, hook) in hooks {
            hook(
                &mut self.connection.case(*bound, self.plan, self.record, self.stream, self.findings),
                &snapshot,
            );
        }
        if is_terminal && !self.plan.hooks.ending.is_empty() {
            let entries = response.entries("output").unwrap_or_default().into_iter();
            // Most entries are the finished items to the letter, which were looked into before.
            let finished = |at: usize, entry: &str| {
                let item = self.stream.nodes.get(*self.stream.items.get(at)?)?.closing.as_deref()?;
                (item.text() == entry).then_some(item)
            };
            let look_into = |(at, entry)| match finished(at, entry) {
                Some(item) => item.of_same_text(entry),
                None => Object::new(entry),
            };
            let ending = Ending { snapshot, output: entries.enumerate().map(look_into).collect() };
            for (bound, hook) in &self.plan.hooks.ending {
                hook(
                    &mut self.connection.case(*bound, self.plan, self.record, self.stream, self.findings),
                    &ending,
                );
            }
        }
        if self.stream.first_snapshot.is_none() {
            self.stream.first_snapshot = Some(response.kept());
        }
    }

    /// What an event is about, made up where nothing opened it. Nothing when that is closed.
    fn locate(&mut self, info: &'static EventInfo) -> Option<usize> {
        let scope = info.scope;
        let Some(parent) = scope.info().parent.filter(|parent| *parent != Scope::Response) else {
            return if scope == Scope::Item { self.item(info) } else { Some(self.plain_child(scope)) };
        };
        let item = self.item_of_event(parent == Scope::Item)?;
        let mut key = Key::default();
        key.push(item as u64);
        for slot in scope.info().key.iter().skip(1) {
            key.push(self.record.view.number(*slot).unwrap_or(0));
        }
        let parent = if parent == Scope::Item { item } else { self.parent_of(scope, parent, key, item)? };
        if info.role == Role::Point {
            if !self.check_open(parent, None, info) {
                return None;
            }
            self.count(scope, key, parent, true);
            self.wrong_kind(scope, key, parent);
            return Some(parent);
        }
        if let Some(node) = self.stream.nodes.find(scope, key) {
            return self.check_open(parent, Some(node), info).then_some(node);
        }
        if !self.check_open(parent, None, info) {
            return None;
        }
        let opens = info.role == Role::Open || !self.plan.ways(scope).opens;
        if !opens {
            self.before_open(scope, parent, key);
        }
        let state = if opens { State::Open } else { State::Implied };
        self.count(scope, key, parent, opens);
        let mut node = Node::new(scope, key, state, Some(parent));
        node.partial = self.stream.resumed && self.is_implied(parent);
        let node = self.stream.nodes.add(node);
        if info.role != Role::Open {
            self.wrong_parent(node);
        }
        Some(node)
    }

    /// What a scope without indices is about: there is one in a response.
    fn plain_child(&mut self, scope: Scope) -> usize {
        self.stream.nodes.find(scope, Key::default()).unwrap_or_else(|| {
            self.stream.nodes.add(Node::new(scope, Key::default(), State::Open, Some(RESPONSE)))
        })
    }

    /// The part that a text lies in.
    fn parent_of(&mut self, scope: Scope, parent: Scope, key: Key, item: usize) -> Option<usize> {
        let key = key.first(parent.info().key.len());
        if let Some(found) = self.stream.nodes.find(parent, key) {
            return Some(found);
        }
        if self.stream.nodes.get(item)?.state == State::Closed {
            self.after_close(item, false);
            return None;
        }
        let opens = self.plan.ways(parent).opens;
        if opens {
            self.before_open(parent, item, key);
        }
        self.count(parent, key, item, false);
        let state = if opens { State::Implied } else { State::Open };
        let mut node = Node::new(parent, key, state, Some(item));
        node.partial = self.stream.resumed;
        let _ = scope;
        Some(self.stream.nodes.add(node))
    }

    /// The item that an event opens or closes.
    fn item(&mut self, info: &'static EventInfo) -> Option<usize> {
        let id = self.value.as_ref().and_then(|value| value.string("id")).map(Cow::into_owned);
        let index = self.record.view.number(Slot::OutputIndex);
        if info.role != Role::Open {
            let item = self.item_at(index, id.as_deref())?;
            return self.check_open(RESPONSE, Some(item), info).then_some(item);
        }
        let mut key = Key::default();
        let next = self.stream.nodes.get(RESPONSE).map_or(0, |response| response.next_index(Scope::Item));
        key.push(index.unwrap_or(next));
        if let Some(there) = self.stream.nodes.find(Scope::Item, key) {
            let found = self.stream.nodes.get(there)?;
            if found.state == State::Implied {
                return Some(there);
            }
            // That it was closed before it was opened has been told.
            found.opened.as_ref()?;
            let related = self.related(there, |node| node.opened.as_ref(), "the first was added here");
            let index = key.last().unwrap_or_default();
            self.report(
                Family::Reopened,
                Scope::Item,
                "/output_index",
                Some("an index of its own"),
                related,
                || format!("a second item is added at output_index {index}"),
            );
            let has_same_id = self.stream.nodes.get(there)?.id() == id.as_deref();
            if has_same_id {
                return None;
            }
        } else {
            self.count(Scope::Item, key, RESPONSE, true);
        }
        let item = self.stream.nodes.add(Node::new(Scope::Item, key, State::Open, Some(RESPONSE)));
        self.stream.items.push(item);
        Some(item)
    }

    /// The item that an event lies in; it need not be open for the event to be found closed.
    fn item_of_event(&mut self, _direct: bool) -> Option<usize> {
        let view = &self.record.view;
        let index = view.number(Slot::OutputIndex);
        let id = view.string(Slot::ItemId);
        let id = id.map(|id| if id.escaped { spec::json::decode(id.raw).0 } else { id.raw.into() });
        self.item_at(index, id.as_deref())
    }

    /// The item at an index, or with an id: the id of an item that is known counts for more.
    fn item_at(&mut self, index: Option<u64>, id: Option<&str>) -> Option<usize> {
        let mut key = Key::default();
        if let Some(index) = index {
            key.push(index);
        }
        let there = index.and_then(|_| self.stream.nodes.find(Scope::Item, key));
        let Some(id) = id.filter(|id| !id.is_empty()) else {
            // An event that names no item can only be about the last one.
            let last = || self.stream.items.last().copied().filter(|_| index.is_none());
            return there.or_else(last).or_else(|| Some(self.implied_item(index)));
        };
        if let Some(at) = there
            && self.stream.nodes.get(at)?.id() == Some(id)
        {
            return there;
        }
        if let Some(named) = self.stream.nodes.item_named(id) {
            let known = self.stream.nodes.get(named)?.key.last();
            if index.is_some_and(|index| Some(index) != known) {
                let (index, known) = (index.unwrap_or_default(), known.unwrap_or_default());
                let related = self.related(named, |node| node.opened.as_ref(), "the item was added here");
                self.report(
                    Family::KeyMismatch,
                    Scope::Item,
                    "/output_index",
                    Some(&known.to_string()),
                    related,
                    || format!("item {id} was added at output_index {known}, and this event says {index}"),
                );
            }
            return Some(named);
        }
        let Some(at) = there else { return Some(self.implied_item(index)) };
        let node = self.stream.nodes.get(at)?;
        let closes_item = self.record.known.is_some_and(|(_, info)| info.scope == Scope::Item);
        if let Some(known) = node.id().map(str::to_owned)
            && !closes_item
        {
            let index = index.unwrap_or_default();
            let related = self.related(at, |node| node.opened.as_ref(), "the item was added here");
            self.report(
                Family::KeyMismatch,
                Scope::Item,
                "/item_id",
                Some(&format!("\"{known}\"")),
                related,
                || format!("the item at output_index {index} is {known}, and this event says {id}"),
            );
        }
        Some(at)
    }

    /// An item that nothing opened.
    fn implied_item(&mut self, index: Option<u64>) -> usize {
        let mut key = Key::default();
        let next = self.stream.nodes.get(RESPONSE).map_or(0, |response| response.next_index(Scope::Item));
        key.push(index.unwrap_or(next));
        if let Some(found) = self.stream.nodes.find(Scope::Item, key) {
            return found;
        }
        if self.plan.ways(Scope::Item).opens {
            self.before_open(Scope::Item, RESPONSE, key);
        }
        self.count(Scope::Item, key, RESPONSE, false);
        let item = self.stream.nodes.add(Node::new(Scope::Item, key, State::Implied, Some(RESPONSE)));
        self.stream.items.push(item);
        item
    }

    fn name_item(&mut self, item: usize) {
        let Some(id) = self.stream.nodes.get(item).and_then(Node::id).map(str::to_owned) else { return };
        self.stream.nodes.name_item(&id, item);
    }

    fn is_implied(&self, node: usize) -> bool {
        self.stream.nodes.get(node).is_some_and(|node| node.state == State::Implied)
    }

    /// Whether what an event is about may still change; if not, that is told.
    fn check_open(&mut self, parent: usize, node: Option<usize>, info: &EventInfo) -> bool {
        let ends_phase = || info.phase.is_some_and(|phase| info.scope.info().ends.contains(&phase));
        let closes = matches!(info.role, Role::Final | Role::Close) || ends_phase();
        let state = |at: usize| self.stream.nodes.get(at).map(|node| node.state);
        if let Some(node) = node {
            match state(node) {
                Some(State::Closed) if info.role == Role::Open => {
                    self.reopened(node);
                    return false;
                }
                Some(State::Closed) => {
                    self.after_close(node, closes);
                    return false;
                }
                Some(State::Open) if info.role == Role::Open && info.scope != Scope::Item => {
                    self.reopened(node);
                    return false;
                }
                _ => {}
            }
        }
        let Some(around) = self.closed_above(parent) else { return true };
        if let Some(node) = node.filter(|node| closes && state(*node) == Some(State::Open)) {
            self.parent_closed_first(node, around);
            return true;
        }
        self.after_close(around, false);
        false
    }

    /// The innermost thing around a place that is closed.
    fn closed_above(&self, from: usize) -> Option<usize> {
        let mut at = Some(from);
        while let Some(here) = at.filter(|at| *at != RESPONSE) {
            let node = self.stream.nodes.get(here)?;
            if node.state == State::Closed {
                return Some(here);
            }
            at = node.parent;
        }
        None
    }

    fn before_open(&mut self, scope: Scope, parent: usize, key: Key) {
        // What lies in something that was never opened is told of once.
        if self.stream.resumed || self.stream.torn || parent != RESPONSE && self.is_implied(parent) {
            return;
        }
        let node = Node::new(scope, key, State::Implied, Some(parent));
        let what = self.stream.name(&node);
        let name = self.event_name();
        let opening = self.opening_event(scope);
        let related = self.related(parent, |node| node.opened.as_ref(), "what it lies in was opened here");
        self.report(Family::BeforeOpen, scope, "", Some(&opening), related, || {
            format!("{name} comes for {what}, which was never opened")
        });
    }

    fn reopened(&mut self, node: usize) {
        let Some(found) = self.stream.nodes.get(node) else { return };
        if found.opened.is_none() && self.plan.ways(found.scope).opens {
            return;
        }
        let (scope, what) = (found.scope, self.stream.name(found));
        let related = self.related(node, |node| node.opened.as_ref(), "it was opened here");
        self.report(Family::Reopened, scope, "", Some("to be opened once"), related, || {
            format!("{what} is opened a second time")
        });
    }

    fn after_close(&mut self, node: usize, closes: bool) {
        let Some(found) = self.stream.nodes.get(node) else { return };
        let (scope, what, name) = (found.scope, self.stream.name(found), self.event_name());
        let family = if closes { Family::ClosedAgain } else { Family::AfterClose };
        let related = self.related(node, |node| node.closed.as_ref(), "it was closed here");
        self.report(family, scope, "", Some("nothing more of it"), related, || {
            if closes {
                format!("{what} is closed a second time")
            } else {
                format!("{name} comes for {what}, which was closed")
            }
        });
    }

    fn parent_closed_first(&mut self, node: usize, closed: usize) {
        let (Some(found), Some(outer)) = (self.stream.nodes.get(node), self.stream.nodes.get(closed)) else {
            return;
        };
        let (scope, what, around) = (found.scope, self.stream.name(found), self.stream.name(outer));
        let related = self.related(closed, |node| node.closed.as_ref(), "what it lies in was closed here");
        self.report(
            Family::ParentClosedFirst,
            scope,
            "",
            Some("to be closed before what it lies in"),
            related,
            || format!("{what} is closed after {around}"),
        );
    }

    /// Whether what a node lies in can hold it.
    fn wrong_parent(&mut self, node: usize) {
        let Some(found) = self.stream.nodes.get(node) else { return };
        self.wrong_kind(found.scope, found.key, found.parent.unwrap_or(RESPONSE));
    }

    fn wrong_kind(&mut self, scope: Scope, key: Key, parent: usize) {
        let of = scope.info().of;
        let Some(kind) = self.stream.nodes.get(parent).and_then(Node::kind) else { return };
        if of.is_empty() || of.contains(&kind) || kind.contains(':') {
            return;
        }
        let kind = kind.to_owned();
        let what = self.stream.name(&Node::new(scope, key, State::Open, Some(parent)));
        let related = self.related(parent, |node| node.opened.as_ref(), "what it lies in was opened here");
        let expected = of.join(" or ");
        self.report(Family::WrongParent, scope, "", Some(&expected), related, || {
            format!("{what} lies in a {kind}, which has none")
        });
    }

    /// Counts what lies in a node, and sees whether it has the next index.
    fn count(&mut self, scope: Scope, key: Key, parent: usize, opens: bool) {
        let (Some(slot), Some(index)) = (own_slot(scope), key.last()) else { return };
        // An index that is not told is the schema's business.
        if slot != Slot::OutputIndex && self.record.view.number(slot).is_none() {
            return;
        }
        let Some(found) = self.stream.nodes.get_mut(parent) else { return };
        let next = found.next_index(scope);
        found.count(scope, index);
        let unknown =
            self.stream.resumed || self.stream.torn || parent != RESPONSE && self.is_implied(parent);
        if index == next || !opens || unknown {
            return;
        }
        if let Some(found) = self.stream.nodes.get_mut(parent) {
            found.has_gaps = true;
        }
        let what = scope.info().name.replace('_', " ");
        let pointer = format!("/{}", slot.name());
        self.report(Family::IndexGap, scope, &pointer, Some(&next.to_string()), None, || {
            format!("the {what} has index {index}, and the next one is {next}")
        });
    }

    fn event_name(&self) -> String {
        self.record.event_type.as_deref().unwrap_or("an event without a type").to_owned()
    }

    fn opening_event(&self, scope: Scope) -> String {
        let opening =
            self.plan.dialect.events.iter().find(|event| event.scope == scope && event.role == Role::Open);
        format!("{} before it", opening.map_or("what opens it", |event| event.name))
    }

    fn closing_events(&self, scope: Scope) -> String {
        let closes = |event: &&EventInfo| {
            event.scope == scope
                && (matches!(event.role, Role::Close | Role::Final)
                    || event.phase.is_some_and(|phase| scope.info().ends.contains(&phase)))
        };
        let names: Vec<_> = self.plan.dialect.events.iter().filter(closes).map(|event| event.name).collect();
        format!("{} before it", names.join(" or "))
    }

    /// A place elsewhere in the stream that explains a finding.
    fn related(
        &self,
        node: usize,
        mark: impl FnOnce(&Node) -> Option<&Mark>,
        label: &'static str,
    ) -> Option<Related> {
        let mark = mark(self.stream.nodes.get(node)?)?;
        Some(Related { label, spot: mark.spot() })
    }

    fn report(
        &mut self,
        family: Family,
        scope: Scope,
        pointer: &str,
        expected: Option<&str>,
        related: Option<Related>,
        message: impl FnOnce() -> String,
    ) {
        let Some(bound) = self.plan.structural(family, scope) else { return };
        let place =
            Place { pointer: (!pointer.is_empty()).then_some(pointer), at: None, expected, actual: None };
        self.findings.add_related(bound, self.record, &place, related, message);
    }

    /// Runs the rules that are about a scope's opening or closing.
    fn run(
        &mut self,
        node: usize,
        hooks: impl FnOnce(&crate::rules::Hooks) -> &crate::rules::OfScope,
        value: impl FnOnce(&Node) -> Option<&Object<'_>>,
    ) {
        let Some(found) = self.stream.nodes.get(node) else { return };
        let Some(value) = value(found) else { return };
        for (bound, scope, hook) in hooks(&self.plan.hooks) {
            if *scope == found.scope {
                let mut case: Case<'_> =
                    self.connection.case(*bound, self.plan, self.record, self.stream, self.findings);
                hook(&mut case, found, value);
            }
        }
    }
}

fn rank(phases: &[&str], phase: Option<&str>) -> usize {
    phases.iter().position(|known| Some(*known) == phase).unwrap_or(0)
}

/// The stream is over, and the response has not ended.
pub(super) fn unended(plan: &Plan, stream: &Stream, last: &Mark, findings: &mut Findings) {
    let Some(bound) = plan.structural(Family::NeverClosed, Scope::Response) else { return };
    // An error without what should follow it is told by the rule that says what should.
    if stream.torn || stream.error.is_some() {
        return;
    }
    let expected = plan.dialect.terminal.join(" or ");
    findings.add_at(bound, last, &Place { expected: Some(&expected), ..Place::WHOLE }, || {
        "the stream is over, and nothing has ended the response".to_owned()
    });
}
