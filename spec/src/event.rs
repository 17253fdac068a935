//! The properties of an event type, and its schema.

use crate::api::{Scope, ScopeInfo, Slot};
use crate::json::{Checker, ObjectSchema, Scan, Schema};
use crate::view::View;
use crate::words::Role;

/// The properties of an event type, or of one of the effects of an event.
#[derive(Debug, Clone, Copy)]
pub struct EventInfo {
    /// Its `type`.
    pub name: &'static str,
    /// Its description.
    pub description: &'static str,
    /// Its position among the effects of all events; see [`crate::Dialect::effects`].
    pub number: usize,
    /// For an effect of a list, its name.
    pub effect: Option<&'static str>,
    /// Its scope.
    pub scope: Scope,
    /// The properties of its scope.
    pub level: &'static ScopeInfo,
    /// Its role in the scope.
    pub role: Role,
    /// Place of its value.
    pub value: Option<&'static str>,
    /// For an effect of a list, a member of the value that must not be null.
    pub when: Option<&'static str>,
    /// For an effect of a list, a member beside the value that must not be null.
    pub beside: Option<&'static str>,
    /// For an effect of a list, a member beside the value that must be null or missing.
    pub unless: Option<&'static str>,
    /// The phase that it begins, or in which it ends its scope.
    pub phase: Option<&'static str>,
    /// Whether it may precede the event that opens the response.
    pub early: bool,
    /// Its effects, each of which takes place once for each value; none if it always has the one above. If none takes
    /// place, the event is a point in the scope above.
    pub effects: &'static [EventInfo],
    pub(crate) schema: EventSchema,
}

impl EventInfo {
    /// Returns whether it opens the root scope, and thus a stream.
    pub fn is_opening(&self) -> bool {
        self.level.is_root && self.role == Role::Open
    }

    /// Returns whether pages mean it by a name: the type of the event, or `<type>/<name>` for an effect of a list.
    pub fn is_named(&self, name: &str) -> bool {
        match (self.effect, name.strip_prefix(self.name)) {
            (None, Some(rest)) => rest.is_empty(),
            (Some(effect), Some(rest)) => rest.strip_prefix('/') == Some(effect),
            (_, None) => false,
        }
    }

    /// Returns whether its values can be inside of others. The members of the event itself are recorded then, instead of
    /// the members of its object.
    pub const fn is_nested(&self) -> bool {
        self.schema.watch().is_some()
    }

    /// Returns whether it ends its scope: it closes it, or begins a phase that ends it.
    pub fn ends_scope(&self) -> bool {
        match self.role {
            Role::Close | Role::Final | Role::Terminal => true,
            Role::Phase => self.phase.is_some_and(|phase| self.level.ends.contains(&phase)),
            Role::Open | Role::Delta | Role::Point => false,
        }
    }

    /// Whether its scope is complete with it, although others may follow.
    pub fn completes(&self) -> bool {
        self.phase.is_some() && self.phase == self.level.complete
    }
}

#[allow(dead_code, reason = "a dialect need not have schemas of all kinds")]
#[derive(Debug, Clone, Copy)]
pub(crate) enum EventSchema {
    Object {
        schema: &'static ObjectSchema,
        /// Its members, in the order of the schema.
        members: &'static [EventMember],
        /// Whether undeclared members vary.
        others_vary: bool,
        /// The places of its values, if some are inside of others.
        watch: Option<&'static Watch>,
    },
    /// Another value, such as a union of objects, with the slots of its members, or the places of its values.
    Other(Schema, &'static [(&'static str, Slot)], Option<&'static Watch>),
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct EventMember {
    pub(crate) slot: Option<Slot>,
    /// Whether it is the value of the root.
    pub(crate) is_snapshot: bool,
    /// Whether the next event may differ in it from this one, and still be valid.
    pub(crate) varies: bool,
}

impl EventSchema {
    /// Validates an event, and extracts its values.
    pub(crate) fn read<'a>(&self, checker: &mut Checker<'a, '_>, view: &mut View<'a>) -> Scan<()> {
        match *self {
            Self::Object { schema, members, watch: Some(_), .. } => {
                checker.recorded_object(schema, |checker, place, schema| {
                    let start = checker.scanner.offset();
                    checker.check(schema)?;
                    if members.get(place as usize).is_some_and(|member| member.varies) {
                        checker.varies(start);
                    }
                    Ok(())
                })
            }
            Self::Object { schema, members, others_vary, watch: None } => {
                let other = EventMember { slot: None, is_snapshot: false, varies: others_vary };
                checker.object_with(schema, |checker, place, schema| {
                    let EventMember { slot, is_snapshot, varies } =
                        members.get(place as usize).copied().unwrap_or(other);
                    let start = checker.scanner.offset();
                    if (is_snapshot || slot == Some(Slot::Value)) && !varies {
                        checker.outlined(schema, is_snapshot)?;
                    } else {
                        checker.check(schema)?;
                    }
                    if varies {
                        checker.varies(start);
                    }
                    if let Some(slot) = slot {
                        view.put(slot, (start, checker.scanner.offset()));
                    }
                    Ok(())
                })
            }
            Self::Other(schema, slots, _) => {
                if !slots.is_empty() {
                    view.take_members(checker, slots)?;
                }
                checker.check(&schema)
            }
        }
    }

    pub(crate) const fn schema(&self) -> Schema {
        match *self {
            Self::Object { schema, .. } => Schema::Object(schema),
            Self::Other(schema, ..) => schema,
        }
    }

    /// For values inside of others.
    pub(crate) const fn watch(&self) -> Option<&'static Watch> {
        match self {
            Self::Object { watch, .. } | Self::Other(_, _, watch) => *watch,
        }
    }
}

/// A place in an event, with the places inside of it.
#[derive(Debug)]
pub(crate) struct Watch {
    /// The member of the object around it; none if it is each entry of an array.
    pub(crate) member: Option<&'static str>,
    pub(crate) slot: Option<Slot>,
    /// The effects that take place for the value, by position in the list of the event.
    pub(crate) effects: &'static [usize],
    /// The effects of the value around it, and of values beside it, that take place only if this value is not null.
    pub(crate) allows: &'static [usize],
    /// The effects of values beside it that take place only if this value is null or missing.
    pub(crate) forbids: &'static [usize],
    /// Whether any other text would be valid in place of the value.
    pub(crate) takes_any_text: bool,
    /// The schema of the value, if any other value of it means the same for the lifecycle.
    pub(crate) schema: Option<&'static Schema>,
    pub(crate) inner: &'static [Self],
}
