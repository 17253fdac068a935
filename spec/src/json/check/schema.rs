//! Schemas as tables, with which [`Checker`](super::Checker) compares values.

#[cfg(feature = "folders")]
use std::sync::OnceLock;

use crate::json::Simplest;
use crate::json::bytes::{SHORT, is_same_short};
use crate::json::names::{Names, fingerprint, group};

#[derive(Debug, Clone, Copy)]
pub(crate) enum Schema {
    Any,
    Null,
    Boolean,
    ConstantBoolean(bool),
    String,
    Text(&'static TextRules),
    Constant(&'static str),
    OneOf(&'static [&'static str]),
    /// One of these strings, or another one that a newer server has added.
    Known(&'static [&'static str]),
    Number,
    /// A number without a fractional part.
    Integer,
    NumberIn(&'static NumberRules),
    List(&'static ListSchema),
    Nullable(&'static Schema),
    Object(&'static ObjectSchema),
    /// A value whose kind or tag selects its schema.
    Union(&'static UnionSchema),
    FirstOf(&'static [Schema]),
    Named(&'static Schema),
    /// A table that a program made after the schema that refers to it.
    #[cfg(feature = "folders")]
    Later(&'static OnceLock<Schema>),
}

#[derive(Debug)]
pub(crate) struct ObjectSchema {
    /// Its declared members, in their usual order, at most 64. The position of a member is its place.
    pub(super) members: &'static [Member],
    /// Their places by name.
    places: Places,
    /// The required ones, one bit each.
    pub(super) required: u64,
    pub(super) others: Others,
    pub(super) limits: Option<&'static MemberRules>,
    /// Whether it is the type of a response, or of the value that an event opens or closes something with.
    pub(super) is_noted: bool,
}

#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) name: &'static str,
    pub(crate) schema: Schema,
}

/// The undeclared members that an object can have.
#[derive(Debug)]
pub(crate) enum Others {
    Open,
    Closed,
    /// Members with values of this schema.
    Typed(Schema),
}

#[derive(Debug)]
pub(crate) struct MemberRules {
    /// Maximum number of members.
    pub(crate) most: u64,
    pub(crate) names: Option<&'static TextRules>,
}

#[derive(Debug)]
pub(crate) struct ListSchema {
    pub(crate) entries: Schema,
    /// Minimum and maximum number of entries.
    pub(crate) length: (u64, u64),
    /// The limits as text.
    pub(crate) expected: &'static str,
}

#[derive(Debug)]
pub(crate) struct UnionSchema {
    /// The schemas for kinds of values, by the first byte of one: `0` for numbers, `t` for booleans.
    pub(crate) kinds: &'static [(u8, Schema)],
    /// The schemas for objects, if they have a tag.
    pub(crate) tag: Option<Tag>,
    /// The kinds as text.
    pub(crate) expected: &'static str,
}

/// The member that selects the schema of an object.
#[derive(Debug)]
pub(crate) struct Tag {
    pub(crate) property: &'static str,
    pub(crate) values: &'static [&'static str],
    pub(crate) schemas: &'static [Schema],
}

#[derive(Debug)]
pub(crate) struct NumberRules {
    pub(crate) is_integral: bool,
    pub(crate) minimum: f64,
    pub(crate) maximum: f64,
    /// The limits as text.
    pub(crate) expected: &'static str,
}

#[derive(Debug)]
pub(crate) struct TextRules {
    /// Minimum and maximum number of characters.
    pub(crate) length: (u64, u64),
    pub(crate) pattern: Option<TextPattern>,
    /// The limits as text.
    pub(crate) expected: &'static str,
}

/// A literal prefix, followed by characters of one class.
#[derive(Debug)]
pub(crate) struct TextPattern {
    pub(crate) prefix: &'static str,
    /// Inclusive ranges of the class.
    pub(crate) class: &'static [(char, char)],
    /// Exact number of characters of the class; at least one if absent.
    pub(crate) count: Option<usize>,
}

/// The places of members by name: the members of a group of names are linked, the last one first.
#[derive(Debug)]
struct Places {
    /// The last member of each group of names, counted from 1.
    last: [u8; Names::GROUPS],
    /// The previous member in the group of each member.
    before: [u8; MOST],
}

/// Maximum number of declared members of an object.
const MOST: usize = 64;

impl Places {
    const fn of(members: &[Member]) -> Self {
        let (mut last, mut before) = ([0; Names::GROUPS], [0; MOST]);
        let (mut place, mut number) = (0, 1);
        while place < members.len() {
            let group = group(fingerprint(members[place].name.as_bytes()));
            before[place] = last[group];
            last[group] = number;
            (place, number) = (place + 1, number + 1);
        }
        Self { last, before }
    }
}

impl Schema {
    /// For advice: `null` and empty values come before others.
    #[cold]
    pub(super) fn simplest(&self) -> Simplest {
        match self {
            Self::Any | Self::Null | Self::Nullable(_) => Simplest::Null,
            Self::Boolean => Simplest::Kind("boolean"),
            Self::ConstantBoolean(value) => Simplest::Boolean(*value),
            Self::String | Self::Text(_) => Simplest::Kind("string"),
            Self::Constant(value) => Simplest::Constant(value),
            Self::OneOf(values) | Self::Known(values) => Simplest::OneOf(values),
            Self::Number => Simplest::Kind("number"),
            Self::Integer => Simplest::Kind("integer"),
            Self::NumberIn(rules) => Simplest::Kind(if rules.is_integral { "integer" } else { "number" }),
            Self::List(list) if list.length.0 == 0 => Simplest::EmptyList,
            Self::List(_) => Simplest::Kind("array"),
            Self::Object(object) if object.required == 0 => Simplest::EmptyObject,
            Self::Object(_) => Simplest::Kind("object"),
            Self::Union(union) => Self::simplest_of(union.kinds.iter().map(|(_, schema)| schema)),
            Self::FirstOf(schemas) => Self::simplest_of(schemas.iter()),
            Self::Named(schema) => schema.simplest(),
            #[cfg(feature = "folders")]
            Self::Later(table) => table.get().map_or(Simplest::Null, Self::simplest),
        }
    }

    fn simplest_of<'s>(schemas: impl Iterator<Item = &'s Self>) -> Simplest {
        let mut first = None;
        for simplest in schemas.map(Self::simplest) {
            if simplest == Simplest::Null {
                return simplest;
            }
            first = first.or(Some(simplest));
        }
        first.unwrap_or(Simplest::Kind("object"))
    }
}

impl ObjectSchema {
    pub(crate) const fn new(
        members: &'static [Member],
        required: u64,
        others: Others,
        limits: Option<&'static MemberRules>,
        is_noted: bool,
    ) -> Self {
        Self { members, places: Places::of(members), required, others, limits, is_noted }
    }

    pub(crate) fn members(&self) -> impl Iterator<Item = &'static Member> + use<> {
        self.members.iter()
    }

    /// Of the first of these members that has a constant text.
    pub(crate) fn constant(&self, names: &[&str]) -> Option<&'static str> {
        names.iter().find_map(|name| {
            let member = self.members.iter().find(|member| member.name == *name)?;
            if let Schema::Constant(value) = member.schema { Some(value) } else { None }
        })
    }

    #[inline]
    pub(super) fn place(&self, name: &[u8]) -> Option<u32> {
        if name.len() <= SHORT { self.place_of_short(name) } else { self.place_of_long(name) }
    }

    #[cold]
    fn place_of_long(&self, name: &[u8]) -> Option<u32> {
        let place = self.members.iter().position(|member| member.name.as_bytes() == name)?;
        u32::try_from(place).ok()
    }

    #[inline]
    fn place_of_short(&self, name: &[u8]) -> Option<u32> {
        let mut number = self.places.last[group(fingerprint(name))];
        loop {
            let place = number.checked_sub(1)?;
            if is_same_short(name, self.members.get(usize::from(place))?.name.as_bytes()) {
                return Some(place.into());
            }
            number = *self.places.before.get(usize::from(place))?;
        }
    }
}

impl TextRules {
    pub(super) fn allow(&self, text: &str) -> bool {
        let (least, most) = self.length;
        let bytes = text.len() as u64;
        // Characters are between a quarter of the bytes and all of them.
        let within = (least == 0 && bytes <= most) || {
            let characters = text.chars().count() as u64;
            (least..=most).contains(&characters)
        };
        within && self.pattern.as_ref().is_none_or(|pattern| pattern.matches(text))
    }
}

impl TextPattern {
    fn matches(&self, text: &str) -> bool {
        text.strip_prefix(self.prefix).is_some_and(|rest| {
            let of_class = |c| self.class.iter().any(|(low, high)| (*low..=*high).contains(&c));
            rest.chars().all(of_class)
                && self.count.map_or(!rest.is_empty(), |count| rest.chars().count() == count)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_found_by_names_of_any_length() {
        const fn of(name: &'static str) -> Member {
            Member { name, schema: Schema::Any }
        }
        const LONG: &str = "a_name_that_is_so_long_that_it_is_not_compared_with_others_in_a_few_words";
        static SCHEMA: ObjectSchema =
            ObjectSchema::new(&[of("a"), of(""), of(LONG), of("type")], 0, Others::Open, None, false);
        assert!(LONG.len() > SHORT);
        for (place, member) in (0..).zip(SCHEMA.members) {
            assert_eq!(SCHEMA.place(member.name.as_bytes()), Some(place));
        }
        for name in ["b", "types", LONG.trim_end_matches('s')] {
            assert_eq!(SCHEMA.place(name.as_bytes()), None);
        }
    }
}
