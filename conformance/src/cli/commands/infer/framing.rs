//! The framing that recordings show.

use std::collections::{BTreeMap, BTreeSet};

use checker::{Seen, Transport};
use results::text::counted;
use spec::Dialect;
use spec::table::{EventLine, Marker, Role};

/// How the `event:` field of an event relates to `type` in its data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum FieldBesideType {
    Equal,
    Message,
    Missing,
    /// The data has no type, and the field is there.
    Alone,
    /// The data has no type, and there is no field.
    Neither,
    Other,
}

/// Counts of how the events of recordings are framed.
#[derive(Debug, Default)]
pub(super) struct Framings {
    lines: BTreeMap<FieldBesideType, u64>,
    /// The recordings with events that have a framing.
    framed: BTreeSet<usize>,
    /// The recordings with a whole response.
    ended: BTreeSet<usize>,
    /// The recordings with the marker.
    marked: BTreeSet<usize>,
}

/// An entry of `[framing]`, and the reason for it.
pub(super) struct Proposal {
    pub(super) entry: &'static str,
    pub(super) value: &'static str,
    pub(super) counts: String,
}

impl Framings {
    pub(super) fn record(&mut self, seen: &Seen<'_>, recording: usize) {
        let frame = seen.record.frame;
        if frame.transport != Transport::Http || seen.record.event == 0 {
            return;
        }
        self.framed.insert(recording);
        let ends = |role: Role, is_root: bool| is_root && role == Role::Terminal;
        if seen.effects().any(|effect| ends(effect.info.role, effect.info.level.is_root)) {
            self.ended.insert(recording);
        }
        let data = frame.data.as_deref().unwrap_or_default();
        if data.trim_end() == "[DONE]" {
            self.marked.insert(recording);
            return;
        }
        let line = match (frame.event.as_deref(), spec::json::string_member(data, "type")) {
            (Some(line), Some(own)) if line == own => FieldBesideType::Equal,
            (Some("message"), _) => FieldBesideType::Message,
            (Some(_), None) => FieldBesideType::Alone,
            (Some(_), Some(_)) => FieldBesideType::Other,
            (None, Some(_)) => FieldBesideType::Missing,
            (None, None) => FieldBesideType::Neither,
        };
        *self.lines.entry(line).or_default() += 1;
    }

    /// The entries without which recordings break the framing of a dialect, and the marker if all of them have it.
    pub(super) fn proposals(&self, base: &Dialect) -> Vec<Proposal> {
        self.event_line(base).into_iter().chain(self.done(base)).collect()
    }

    fn event_line(&self, base: &Dialect) -> Option<Proposal> {
        let is_typed = base.framing.types.is_empty();
        let fits = |event_line: EventLine| {
            self.lines.keys().all(|line| match event_line {
                EventLine::EqualsType => *line == FieldBesideType::Equal,
                EventLine::AlwaysMessage => *line == FieldBesideType::Message,
                EventLine::Forbidden => {
                    *line == FieldBesideType::Missing || *line == FieldBesideType::Neither && !is_typed
                }
                EventLine::Discriminator => matches!(line, FieldBesideType::Alone | FieldBesideType::Equal),
                EventLine::None => {
                    matches!(line, FieldBesideType::Missing | FieldBesideType::Message)
                        || *line == FieldBesideType::Neither && !is_typed
                }
                EventLine::DiscriminatorIfUntyped => {
                    matches!(line, FieldBesideType::Missing | FieldBesideType::Equal | FieldBesideType::Alone)
                }
            })
        };
        if self.lines.is_empty() || fits(base.framing.event_line) {
            return None;
        }
        // The strictest first.
        let candidates = [
            (EventLine::EqualsType, "equals-type"),
            (EventLine::AlwaysMessage, "always-message"),
            (EventLine::Forbidden, "forbidden"),
            (EventLine::Discriminator, "discriminator"),
            (EventLine::None, "none"),
            (EventLine::DiscriminatorIfUntyped, "discriminator-if-untyped"),
        ];
        let (_, value) = candidates.into_iter().find(|(event_line, _)| fits(*event_line))?;
        let counts = self.lines.iter().map(|(line, events)| {
            let what = match line {
                FieldBesideType::Equal => "equal to type",
                FieldBesideType::Message => "\"message\"",
                FieldBesideType::Missing | FieldBesideType::Neither => "missing",
                FieldBesideType::Alone => "instead of type",
                FieldBesideType::Other => "another text",
            };
            format!("{what} in {}", counted(*events, "event"))
        });
        let counts = format!("event: is {}", counts.collect::<Vec<_>>().join(", "));
        Some(Proposal { entry: "event_line", value, counts })
    }

    fn done(&self, base: &Dialect) -> Option<Proposal> {
        let whole = self.ended.union(&self.marked).count();
        let (now, value) = match (self.marked.len(), base.framing.done) {
            (0, Marker::Required) if whole > 0 => (Marker::Forbidden, "forbidden"),
            (0, _) => return None,
            (marked, _) if marked == whole => (Marker::Required, "required"),
            (_, Marker::Required | Marker::Forbidden) => (Marker::Allowed, "allowed"),
            (_, Marker::Allowed) => return None,
        };
        let counts =
            format!("[DONE] in {} of {}", self.marked.len(), counted(whole as u64, "whole recording"));
        (now != base.framing.done).then_some(Proposal { entry: "done", value, counts })
    }
}
