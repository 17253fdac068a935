//! The schema of an event, and the values that are extracted from it.

use crate::json::{Checker, ObjectSchema, Scan, Schema};
use crate::table::Slot;
use crate::view::View;

/// The schema of an event's payload.
#[allow(dead_code, reason = "a dialect need not have schemas of all kinds")]
#[derive(Debug, Clone, Copy)]
pub(crate) enum EventSchema {
    /// An object.
    Object {
        /// Its schema.
        schema: &'static ObjectSchema,
        /// Its members, in the order of the schema.
        members: &'static [EventMember],
        /// Whether undeclared members vary.
        others_vary: bool,
    },
    /// A union of objects, with the slots of their members.
    Union(Schema, &'static [(&'static str, Slot)]),
}

/// A declared member of an event.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EventMember {
    /// The slot that receives its value.
    pub(crate) slot: Option<Slot>,
    /// Whether the next event may differ in it from this one, and still be valid.
    pub(crate) varies: bool,
}

impl EventSchema {
    /// Validates an event, and extracts its values.
    pub(crate) fn read<'a>(&self, checker: &mut Checker<'a, '_>, view: &mut View<'a>) -> Scan<()> {
        match *self {
            Self::Object { schema, members, others_vary } => {
                let other = EventMember { slot: None, varies: others_vary };
                checker.object_with(schema, |checker, place, schema| {
                    let EventMember { slot, varies } = members.get(place as usize).copied().unwrap_or(other);
                    let start = checker.offset();
                    if let Some(Slot::Response | Slot::Value) = slot
                        && !varies
                    {
                        checker.outlined(schema, slot == Some(Slot::Response))?;
                    } else {
                        checker.check(schema)?;
                    }
                    if varies {
                        checker.varies(start);
                    }
                    if let Some(slot) = slot {
                        view.put(slot, (start, checker.offset()));
                    }
                    Ok(())
                })
            }
            Self::Union(schema, slots) => {
                view.take_members(checker, slots)?;
                checker.check(&schema)
            }
        }
    }
}
