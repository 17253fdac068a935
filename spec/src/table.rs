//! The tables of a dialect.

use std::collections::BTreeMap;
use std::mem::ManuallyDrop;

use crate::json::{self, Checker, Fault, FaultKind, Outline, Schema, Wanted};
use crate::verdict::{fill, verdict};
use crate::view::View;
use crate::watch::Matches;

pub use crate::api::apis;
pub use crate::api::{Api, CallPlaces, CountPlace, Scope, ScopeInfo, Slot, UsagePlaces};
pub use crate::event::EventInfo;
pub use crate::memory::Memory;
pub use crate::verdict::Verdict;
pub use crate::words::*;

impl Framing {
    /// Returns the `event:` field of an event of a type; none if it has no such field.
    pub const fn event_field<'n>(&self, event: &'n str) -> Option<&'n str> {
        match self.event_line {
            EventLine::AlwaysMessage => Some("message"),
            EventLine::EqualsType | EventLine::Discriminator | EventLine::DiscriminatorIfUntyped => {
                Some(event)
            }
            EventLine::None | EventLine::Forbidden => None,
        }
    }

    /// Returns the client's messages about a response in flight, with their operations.
    pub fn asides(&self) -> impl Iterator<Item = (Operation, Aside)> + use<> {
        let all = [(Operation::Steer, self.steer), (Operation::Inject, self.inject)];
        all.into_iter().filter_map(|(operation, aside)| Some((operation, aside?)))
    }
}

/// The reply to a client's message about a response in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reply {
    /// The server has accepted it.
    Accepted,
    /// The server waits for more input.
    Pending,
    /// The server rejects it, or it fails later.
    Failed,
}

impl Aside {
    /// Returns the reply of an event to the message, if it is one.
    pub fn reply(&self, event: &str) -> Option<Reply> {
        if event == self.accepted {
            Some(Reply::Accepted)
        } else if event == self.failed {
            Some(Reply::Failed)
        } else {
            self.pending.filter(|pending| *pending == event).map(|_| Reply::Pending)
        }
    }
}

/// A dialect, including inherited entries.
#[derive(Debug, Clone)]
pub struct Dialect {
    /// Its name.
    pub name: &'static str,
    /// The API that it belongs to.
    pub api: &'static Api,
    /// The product that uses it.
    pub product: &'static str,
    /// The source of its files.
    pub source: &'static str,
    /// Its summary, in one sentence.
    pub summary: &'static str,
    /// The dialects that it extends, nearest first.
    pub lineage: &'static [&'static str],
    /// How its recordings are recognised.
    pub signature: DialectSignature,
    /// The recordings for which it stands if nothing proves another dialect.
    pub fallback: Fallback,
    /// The framing of its events.
    pub framing: Framing,
    /// The event that opens the root scope, and thus a stream.
    pub opening: Option<&'static str>,
    /// The places of slots in its events, unless they are the usual ones.
    pub envelope: &'static [(Slot, &'static str)],
    /// The events that end a stream.
    pub terminal: &'static [&'static str],
    /// The event that reports an error, inside or outside of a response.
    pub error: &'static str,
    /// Types of whole bodies: `request`, `response`, ...
    pub roots: &'static [(&'static str, &'static str)],
    /// The operations of the API other than the creation of a response.
    pub operations: &'static [Operation],
    /// Rules with another level in this dialect.
    pub rules: &'static [RuleLevel],
    /// The members that the reference gateway leaves out of its responses, or adds to them.
    pub render: Render,
    /// Its events, sorted by type.
    pub events: &'static [EventInfo],
    pub(crate) places: &'static [u16],
    /// Names of its types, sorted.
    pub types: &'static [&'static str],
    /// The schemas of its types, in their order.
    pub(crate) schemas: &'static [Schema],
    /// The folder that it was loaded from; none if it is one of the build.
    pub folder: Option<&'static LoadedFolder>,
}

/// The folder of a dialect that is not one of the build.
#[derive(Debug)]
pub struct LoadedFolder {
    /// Its path as it was given.
    pub path: String,
    /// The SHA-256 of the files in it and in the folders that it extends, in hexadecimal digits.
    pub sha256: String,
    /// The files of the folder and of those that it extends, each with its place relative to the folder around the first.
    pub folders: Vec<(String, BTreeMap<String, String>)>,
}

impl Dialect {
    /// Returns the properties of an event type.
    pub fn event(&self, name: &str) -> Option<&'static EventInfo> {
        self.position(name).map(|(_, event)| event)
    }

    /// Returns the properties of an event type, or of the effect `<type>/<effect>` of an event.
    pub fn named(&self, name: &str) -> Option<&'static EventInfo> {
        let effect = || {
            let (kind, _) = name.rsplit_once('/')?;
            self.event(kind)?.effects.iter().find(|effect| effect.is_named(name))
        };
        self.event(name).or_else(effect)
    }

    /// Returns the properties of an event type, with its position among the effects of all events.
    pub fn position(&self, name: &str) -> Option<(usize, &'static EventInfo)> {
        let event = crate::places::find(self.places, self.events, name)?;
        Some((event.number, event))
    }

    /// Returns the effects of all events in order. An event with a list comes before its effects, as what it is if none
    /// of them takes place.
    pub fn effects(&self) -> impl Iterator<Item = &'static EventInfo> + use<> {
        self.events.iter().flat_map(|event| std::iter::once(event).chain(event.effects))
    }

    /// Returns the type of an event by the members of its data, in a dialect whose data do not state it.
    pub fn type_by_members(&self, data: &str) -> Option<&'static str> {
        let fits = |rule: &&TypeRule| {
            let Some(pointer) = rule.has else { return true };
            // Most data does not, and a search is faster than parsing.
            let sought = rule.is.or_else(|| pointer.rsplit('/').next()).unwrap_or_default();
            let value = || json::at(data, pointer).filter(|value| *value != "null");
            let is_it = |value| rule.is.is_none_or(|text| json::string(value).is_some_and(|it| it == text));
            data.contains(sought) && value().is_some_and(is_it)
        };
        self.framing.types.iter().find(fits).map(|rule| rule.name)
    }

    /// Returns the member of its events that holds the value of the root.
    pub fn snapshot_member(&self) -> Option<&'static str> {
        self.api.snapshot.map(|slot| self.member(slot))
    }

    /// Returns the place of a slot in its events: a JSON pointer, in which `*` is each entry of an array.
    pub fn pointer(&self, slot: Slot) -> &'static str {
        let found = self.envelope.iter().chain(self.api.slots).find(|(of, _)| *of == slot);
        found.map_or("", |(_, pointer)| *pointer)
    }

    /// Returns the member that holds a slot.
    pub fn member(&self, slot: Slot) -> &'static str {
        self.pointer(slot)
            .rsplit('/')
            .next()
            .filter(|member| !member.is_empty())
            .unwrap_or_else(|| slot.name())
    }

    /// Returns the event that ends the root scope in a phase.
    pub fn ending(&self, phase: &str) -> Option<&'static EventInfo> {
        let ends = |event: &&EventInfo| event.role == Role::Terminal && event.phase == Some(phase);
        self.effects().find(ends)
    }

    /// `sha256:` and the hash of its folder, if it is not one of the build.
    pub fn folder_hash(&self) -> Option<String> {
        self.folder.map(|folder| format!("sha256:{}", folder.sha256))
    }

    /// The value of `--dialect`: its name, or the path of its folder.
    pub fn flag(&self) -> &'static str {
        self.folder.map_or(self.name, |folder| &folder.path)
    }

    /// Returns whether it is the dialect with this name, or extends it.
    pub fn is_or_extends(&self, name: &str) -> bool {
        self.name == name || self.lineage.contains(&name)
    }

    /// Returns the level of a rule in this dialect, if it differs from the rule's own level.
    pub fn rule_level(&self, id: &str) -> Option<Level> {
        self.rules.iter().find(|rule| rule.id == id).map(|rule| rule.level)
    }

    /// Returns the type of a role such as `request` or `response`.
    pub fn root(&self, role: &str) -> Option<&'static str> {
        self.roots.iter().find(|(name, _)| *name == role).map(|(_, of_type)| *of_type)
    }

    /// Validates an event's payload against the schema of its type.
    pub fn check_event(&self, event: &str, data: &str) -> Verdict {
        // It is off and holds no memory, so that there is nothing to drop.
        let mut outline = ManuallyDrop::new(Outline::default());
        let (mut view, mut checker) = (View::new(data), Checker::new(data, &mut outline));
        fill(&mut view, self.event(event), &mut checker, None)
    }

    /// Validates an event's payload, and extracts the values that the lifecycle and rules use. Those of an event that
    /// the dialect does not list are read from their default places.
    pub fn view_event<'a>(&self, event: &str, data: &'a str) -> (Verdict, View<'a>) {
        let (verdict, view, _) = self.read_event(event, data);
        (verdict, view)
    }

    /// Does the same, and returns the effects that take place, too.
    pub fn read_event<'a>(&self, event: &str, data: &'a str) -> (Verdict, View<'a>, Matches) {
        let (mut view, mut matches, mut outline) = (View::new(data), Matches::default(), Outline::default());
        let mut checker = Checker::new(data, &mut outline);
        let verdict = fill(&mut view, self.event(event), &mut checker, Some(&mut matches));
        (verdict, view, matches)
    }

    /// Returns the unknown values of open enumerations in an event.
    pub fn newer_values(&self, event: &str, data: &str) -> Vec<Fault> {
        let mut outline = Outline::default();
        let mut checker = Checker::new(data, &mut outline);
        checker.known_only = true;
        newer(fill(&mut View::new(data), self.event(event), &mut checker, None))
    }

    /// Returns the unknown values of open enumerations in a value of a named type.
    pub fn newer_values_of_type(&self, name: &str, json: &str) -> Vec<Fault> {
        newer(self.verdict(name, json, true))
    }

    /// Validates a value against a named type.
    pub fn check_type(&self, name: &str, json: &str) -> Verdict {
        self.verdict(name, json, false)
    }

    pub(crate) fn schema_named(&self, name: &str) -> Option<Schema> {
        let at = self.types.binary_search(&name).ok()?;
        self.schemas.get(at).copied()
    }

    fn verdict(&self, name: &str, json: &str, known_only: bool) -> Verdict {
        let Some(schema) = self.schema_named(name) else { return Verdict::Unknown };
        let mut outline = Outline::default();
        let mut checker = Checker::new(json, &mut outline);
        checker.known_only = known_only;
        let scan = checker.check(&schema);
        verdict(scan, &mut checker)
    }
}

/// For unknown values of open enumerations.
fn newer(verdict: Verdict) -> Vec<Fault> {
    let Verdict::Invalid(mut faults, _) = verdict else { return Vec::new() };
    faults.retain(|fault| matches!(fault.kind, FaultKind::Value(Wanted::Known(_))));
    faults
}
