//! Findings about the lifecycle of scopes.

use catalogue::{Family, Level};
use spec::table::{EventInfo, Role, Scope};
use spec::{Dialect, Slot};

use super::Tracker;
use crate::engine::finding::{FaultPlace, Related};
use crate::engine::location::SavedLocation;
use crate::engine::node::{Key, Node, NodeState};
use crate::engine::stream::RESPONSE;

pub(super) fn closing_events(dialect: &Dialect, scope: Scope) -> String {
    let closes = |event: &&EventInfo| event.scope == scope && (event.ends_scope() || event.completes());
    let names: Vec<_> = dialect.effects().filter(closes).map(|event| event.name).collect();
    format!("{} before it", names.join(" or "))
}

impl Tracker<'_, '_> {
    /// An earlier part of the stream may have created the response.
    #[cold]
    pub(super) fn not_created(&mut self, is_doubtful: bool) {
        let Some(mut bound) = self.plan.structural(Family::BeforeOpen, self.plan.api().root) else { return };
        if is_doubtful {
            bound.level = bound.level.min(Level::May);
        }
        let name = self.event_name();
        let opening = self.plan.dialect().opening.unwrap_or_default();
        let expected = format!("{opening} as the first event");
        // No client was measured with a stream that it resumes.
        let form = if is_doubtful { "resumed" } else { "" };
        let place = FaultPlace { expected: Some(&expected), form, ..FaultPlace::WHOLE };
        self.findings.add(bound, self.record, &place, None, &|| {
            if is_doubtful {
                let number = self.plan.dialect().member(Slot::SequenceNumber);
                format!("the first event is {name} with {number} 1: {opening} is missing, or the stream was resumed")
            } else {
                format!("{name} was sent before {opening}")
            }
        });
    }

    /// The result is the number of the finding.
    #[cold]
    pub(super) fn before_open(&mut self, scope: Scope, parent: usize, key: Key) -> Option<usize> {
        // Descendants of an unopened node are reported once.
        if self.stream.resumed || self.stream.has_gap || parent != RESPONSE && self.is_implied(parent) {
            return None;
        }
        let node = Node::new(self.plan.api().scope(scope), key, NodeState::Implied, Some(parent));
        let what = self.stream.name(&node);
        let name = self.event_name();
        let opening = self.opening_event(scope);
        let related = self.related(parent, |node| node.opened.get(), "was opened here");
        self.report((Family::BeforeOpen, scope, parent), "", Some(&opening), related, || {
            format!("{name} was sent for {what}, which was never opened")
        })
    }

    #[cold]
    pub(super) fn reopened(&mut self, node: usize) {
        let Some(found) = self.stream.nodes.get(node) else { return };
        if !found.opened.is_set() && self.plan.protocol.scope_events(found.scope).opens {
            return;
        }
        let (scope, what) = (found.scope, self.stream.name(found));
        let related = self.related(node, |node| node.opened.get(), "was opened here");
        self.report((Family::Reopened, scope, node), "", Some("one opening event"), related, || {
            format!("{what} is opened a second time")
        });
    }

    #[cold]
    pub(super) fn after_close(&mut self, node: usize, closes: bool) {
        let Some(found) = self.stream.nodes.get(node) else { return };
        let (scope, what, name) = (found.scope, self.stream.name(found), self.event_name());
        let family = if closes { Family::ClosedAgain } else { Family::AfterClose };
        let related = self.related(node, |node| node.closed.get(), "was closed here");
        self.report((family, scope, node), "", Some("no further event"), related, || {
            if closes {
                format!("{what} is closed a second time")
            } else {
                format!("{name} was sent for {what}, which was closed before")
            }
        });
    }

    #[cold]
    pub(super) fn parent_closed_first(&mut self, node: usize, closed: usize) {
        let (Some(found), Some(outer)) = (self.stream.nodes.get(node), self.stream.nodes.get(closed)) else {
            return;
        };
        let (scope, what, around) = (found.scope, self.stream.name(found), self.stream.name(outer));
        let related = self.related(closed, |node| node.closed.get(), "was closed here");
        self.report(
            (Family::ParentClosedFirst, scope, node),
            "",
            Some("its closing event before that of its parent"),
            related,
            || format!("{what} is closed after {around}"),
        );
    }

    pub(super) fn wrong_parent(&mut self, node: usize) {
        let Some(found) = self.stream.nodes.get(node) else { return };
        self.wrong_kind(found.scope, found.parent.unwrap_or(RESPONSE));
    }

    pub(super) fn wrong_kind(&mut self, scope: Scope, parent: usize) {
        let level = self.plan.api().scope(scope);
        let Some(kind) = self.stream.nodes.get(parent).and_then(Node::kind) else { return };
        if level.can_be_in(Some(kind)) || kind.contains(':') {
            return;
        }
        let kind = kind.to_owned();
        let around = self.stream.nodes.get(parent).map(|parent| self.stream.name(parent)).unwrap_or_default();
        let event = self.event_name();
        let related = self.related(parent, |node| node.opened.get(), "was opened here");
        let expected = level.of.join(" or ");
        self.report((Family::WrongParent, scope, parent), "", Some(&expected), related, || {
            format!("{event} was sent for {around}, which was opened as {kind}")
        });
    }

    pub(super) fn event_name(&self) -> String {
        self.record.event_type.as_deref().unwrap_or("an event without a type").to_owned()
    }

    pub(super) fn opening_event(&self, scope: Scope) -> String {
        let opens = |event: &&EventInfo| event.scope == scope && event.role == Role::Open;
        let opening = self.plan.dialect().effects().find(opens);
        format!("{} before it", opening.map_or("the opening event", |event| event.name))
    }

    /// Another place in the stream that explains a finding.
    #[cold]
    pub(in crate::engine) fn related(
        &self,
        node: usize,
        mark: impl FnOnce(&Node) -> Option<&SavedLocation>,
        happened: &str,
    ) -> Option<Related> {
        let node = self.stream.nodes.get(node)?;
        let mark = mark(node)?;
        let label = format!("{} {happened}", self.stream.name(node)).into();
        Some(Related { label, place: mark.location() })
    }

    /// The result is the number of the finding.
    #[cold]
    pub(super) fn report(
        &mut self,
        (family, scope, node): (Family, Scope, usize),
        pointer: &str,
        expected: Option<&str>,
        related: Option<Related>,
        message: impl Fn() -> String,
    ) -> Option<usize> {
        let bound = self.plan.structural(family, scope)?;
        let pointer = (!pointer.is_empty()).then_some(pointer);
        let place = FaultPlace { pointer, expected, follows: self.doubt(family, node), ..FaultPlace::WHOLE };
        self.findings.add(bound, self.record, &place, related, &message)
    }

    /// A violation about the identity of a node follows from two items that share an index.
    pub(super) fn doubt(&self, family: Family, node: usize) -> Option<usize> {
        let is_about_identity = matches!(
            family,
            Family::KeyMismatch
                | Family::Reopened
                | Family::IndexGap
                | Family::AfterClose
                | Family::ClosedAgain
                | Family::Interleaved
        );
        is_about_identity.then(|| self.stream.doubt(node)).flatten()
    }

    /// The finding says that two items share an index.
    #[cold]
    pub(super) fn note_doubt(&mut self, node: usize, finding: Option<usize>) {
        if let Some(node) = self.stream.nodes.get_mut(node) {
            node.doubt = node.doubt.or(finding);
        }
    }

    /// Some dialects allow events after the one that ends the response.
    #[cold]
    pub(super) fn report_after_the_end(&mut self, family: Family, message: impl Fn() -> String) {
        let Some(mut bound) = self.plan.structural(family, self.plan.api().root) else { return };
        if !self.record.is_part() {
            bound.level = bound.level.min(Level::Should);
        }
        let ended = format!("the {} ended here", self.noun());
        let related = self.related(RESPONSE, |node| node.closed.get(), &ended);
        let expected = Some("no event after the terminal event");
        let last = related.as_ref().and_then(|related| related.place.event_type.clone()).unwrap_or_default();
        let mut goes_on_in = |other: &Dialect| {
            other.event(&last).is_some_and(|event| !event.level.is_root || !event.ends_scope())
        };
        let place = FaultPlace { expected, ..FaultPlace::WHOLE };
        self.findings.add_here(bound, self.record, &place, related, &mut goes_on_in, &message);
    }
}
