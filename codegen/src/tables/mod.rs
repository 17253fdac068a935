//! The tables of a dialect as values. The emitter prints them as constants, and a program that loads a dialect from a
//! folder builds the same tables in memory.

mod event;
mod order;
mod schema;
mod watch;

use std::collections::BTreeMap;

use codegen_derive::Constant;
use proc_macro2::{Literal, TokenStream};
use quote::{ToTokens as _, format_ident, quote};

use crate::dialect::Dialect;
use crate::formats::{ApiFile, Constant, Role};
use crate::names;
use crate::schema::Kind;

pub(crate) use schema::noted;

/// The tables of a dialect.
#[derive(Debug, Clone)]
pub struct Tables {
    /// The tables of each named type, its own last.
    pub types: BTreeMap<String, Vec<NamedTable>>,
    /// The schemas of events, sorted by type, with their tables.
    pub schemas: Vec<(EventSchema, Vec<NamedTable>)>,
    /// The properties of events, sorted by type.
    pub events: Vec<EventInfo>,
}

impl Tables {
    /// Makes the tables of a dialect.
    ///
    /// # Errors
    ///
    /// Fails on a schema that validators do not support.
    pub fn of(dialect: &Dialect, api: &ApiFile) -> Result<Self, String> {
        let (types, schemas) = schema::tables(dialect, api)?;
        Ok(Self { types, schemas, events: event::events(dialect, api) })
    }

    /// The schemas of its types, sorted by name.
    pub fn schemas_of_types(&self) -> impl Iterator<Item = Schema> {
        self.types.values().filter_map(|tables| tables.last()).map(NamedTable::reference)
    }
}

/// A table that schemas refer to by name.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedTable {
    /// Its name.
    pub name: String,
    /// Its content.
    pub table: Table,
}

impl NamedTable {
    /// The schema that refers to it.
    pub fn reference(&self) -> Schema {
        let variant = match &self.table {
            Table::Object(_) => "Object",
            Table::Union(_) => "Union",
            Table::Other(_) => "Named",
        };
        Schema::Table(TableName { name: self.name.clone(), variant })
    }
}

/// A table that schemas refer to.
#[derive(Debug, Clone, PartialEq)]
pub enum Table {
    /// An object.
    Object(ObjectSchema),
    /// A union.
    Union(UnionSchema),
    /// Another schema with a name.
    Other(Schema),
}

/// The schema of a value.
#[derive(Debug, Clone, PartialEq, Constant)]
pub enum Schema {
    /// Any value.
    Any,
    /// `null`
    Null,
    /// `true` or `false`.
    Boolean,
    /// One of them.
    ConstantBoolean(bool),
    /// A string.
    String,
    /// A string within limits.
    Text(Box<TextRules>),
    /// A text.
    Constant(String),
    /// One of these strings.
    OneOf(Vec<String>),
    /// One of these strings, or another one.
    Known(Vec<String>),
    /// A number.
    Number,
    /// A number without a fractional part.
    Integer,
    /// A number within limits.
    NumberIn(Box<NumberRules>),
    /// A list.
    List(Box<ListSchema>),
    /// `null`, or another value.
    Nullable(Box<Self>),
    /// A value of one of these schemas.
    FirstOf(Vec<Self>),
    /// A table.
    #[constant(inner)]
    Table(TableName),
}

/// The schema of an object.
#[derive(Debug, Clone, PartialEq, Constant)]
#[constant(new)]
pub struct ObjectSchema {
    /// Its declared members in their usual order.
    pub members: Vec<Member>,
    /// The required ones, one bit each.
    pub required: u64,
    /// Its other members.
    pub others: Others,
    /// The limits of its members.
    pub limits: Option<Box<MemberRules>>,
    /// Whether it is the type of a response, or of a value of the lifecycle.
    pub is_noted: bool,
}

/// A declared member of an object.
#[derive(Debug, Clone, PartialEq, Constant)]
pub struct Member {
    /// Its name.
    pub name: String,
    /// The schema of its value.
    pub schema: Schema,
}

/// The undeclared members that an object can have.
#[derive(Debug, Clone, PartialEq, Constant)]
pub enum Others {
    /// Any.
    Open,
    /// None.
    Closed,
    /// Those with values of this schema.
    Typed(Schema),
}

/// Limits of the members of an object.
#[derive(Debug, Clone, PartialEq, Constant)]
pub struct MemberRules {
    /// Maximum number.
    pub most: u64,
    /// Limits of their names.
    pub names: Option<Box<TextRules>>,
}

/// The schema of a list.
#[derive(Debug, Clone, PartialEq, Constant)]
pub struct ListSchema {
    /// The schema of each entry.
    pub entries: Schema,
    /// Minimum and maximum number of entries.
    pub length: (u64, u64),
    /// The limits as text.
    pub expected: String,
}

/// A schema that is selected by a value.
#[derive(Debug, Clone, PartialEq, Constant)]
pub struct UnionSchema {
    /// The schemas by kind of value.
    pub kinds: Vec<(FirstByte, Schema)>,
    /// The schemas of objects with a tag.
    pub tag: Option<Tag>,
    /// The kinds as text.
    pub expected: String,
}

/// The member that selects the schema of an object.
#[derive(Debug, Clone, PartialEq, Constant)]
pub struct Tag {
    /// Its name.
    pub property: String,
    /// Its values.
    pub values: Vec<String>,
    /// The schema for each value.
    pub schemas: Vec<Schema>,
}

/// Limits of a number.
#[derive(Debug, Clone, PartialEq, Constant)]
pub struct NumberRules {
    /// Whether it has no fractional part.
    pub is_integral: bool,
    /// Minimum.
    pub minimum: f64,
    /// Maximum.
    pub maximum: f64,
    /// The limits as text.
    pub expected: String,
}

/// Limits of a string.
#[derive(Debug, Clone, PartialEq, Constant)]
pub struct TextRules {
    /// Minimum and maximum number of characters.
    pub length: (u64, u64),
    /// The pattern.
    pub pattern: Option<TextPattern>,
    /// The limits as text.
    pub expected: String,
}

/// A literal prefix, followed by characters of one class.
#[derive(Debug, Clone, PartialEq, Constant)]
pub struct TextPattern {
    /// The prefix.
    pub prefix: String,
    /// Inclusive ranges of the class.
    pub class: Vec<(char, char)>,
    /// Number of characters of the class; at least one if absent.
    pub count: Option<usize>,
}

/// The schema of the payload of an event.
#[derive(Debug, Clone, PartialEq, Constant)]
pub enum EventSchema {
    /// An object.
    Object {
        /// Its schema.
        schema: ObjectName,
        /// Its members in the order of the schema.
        members: Vec<EventMember>,
        /// Whether undeclared members vary.
        others_vary: bool,
        /// The places of its values, if some are inside of others.
        watch: Option<Box<Watch>>,
    },
    /// Another value, with the slots of its members, or the places of its values.
    Other(Schema, Vec<(String, SlotName)>, Option<Box<Watch>>),
}

/// A declared member of an event.
#[derive(Debug, Clone, PartialEq, Constant)]
pub struct EventMember {
    /// The slot of its value.
    pub slot: Option<SlotName>,
    /// Whether it is the value of the root.
    pub is_snapshot: bool,
    /// Whether the next event may differ in it.
    pub varies: bool,
}

/// A place in an event, with the places inside of it.
#[derive(Debug, Clone, PartialEq, Constant)]
pub struct Watch {
    /// The member of the object around it; none if it is each entry of an array.
    pub member: Option<String>,
    /// The slot of its value.
    pub slot: Option<SlotName>,
    /// The effects that take place for its value.
    pub effects: Vec<usize>,
    /// The effects of the value around it, and of values beside it, that need it.
    pub allows: Vec<usize>,
    /// The effects of values beside it that need it to be missing.
    pub forbids: Vec<usize>,
    /// Whether any text is valid here.
    pub takes_any_text: bool,
    /// The schema of its value, if any other value of it means the same for the lifecycle.
    pub schema: Option<Box<Schema>>,
    /// The places inside of it.
    pub inner: Vec<Self>,
}

/// The properties of an event type, or of one of the effects of an event.
#[derive(Debug, Clone, PartialEq, Constant)]
pub struct EventInfo {
    /// Its type.
    pub name: String,
    /// Its description.
    pub description: String,
    /// Its position among the effects of all events.
    pub number: usize,
    /// For an effect of a list, its name.
    pub effect: Option<String>,
    /// Its scope.
    pub scope: ScopeName,
    /// The properties of its scope.
    pub level: ScopeLevel,
    /// Its role in the scope.
    pub role: Role,
    /// Place of its value.
    pub value: Option<String>,
    /// For an effect of a list, a member of the value that must not be null.
    pub when: Option<String>,
    /// For an effect of a list, a member beside the value that must not be null.
    pub beside: Option<String>,
    /// For an effect of a list, a member beside the value that must be null or missing.
    pub unless: Option<String>,
    /// The phase that it begins or ends.
    pub phase: Option<String>,
    /// Whether it may precede the event that opens the response.
    pub early: bool,
    /// The effects of its list.
    pub effects: Vec<Self>,
    /// The schema of its payload.
    pub schema: EventPlace,
}

/// The name of a table, and how schemas refer to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableName {
    /// Its name.
    pub name: String,
    /// `Object`, `Union` or `Named`.
    pub variant: &'static str,
}

/// The name of the table of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectName(pub String);

/// The first byte of a kind of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FirstByte(pub u8);

/// The name of a slot in the files of an API.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SlotName(pub String);

/// A scope of an API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScopeName {
    /// Its name there.
    pub name: String,
    /// Its name among the scopes of all APIs.
    pub identity: String,
}

/// The properties of a scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScopeLevel {
    /// The API.
    pub api: String,
    /// The scope.
    pub scope: ScopeName,
}

/// The position of an event's schema in the dialect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventPlace(pub usize);

impl From<Kind> for FirstByte {
    fn from(kind: Kind) -> Self {
        Self(match kind {
            Kind::Null => b'n',
            Kind::Boolean => b't',
            Kind::Number => b'0',
            Kind::String => b'"',
            Kind::Array => b'[',
            Kind::Object => b'{',
        })
    }
}

/// Implements it for names of what programs have under other names.
macro_rules! expressions {
    ($($of:ident = $type:literal: |$value:ident| $written:expr;)+) => {$(
        impl Constant for $of {
            fn of() -> TokenStream {
                $type.parse().unwrap_or_default()
            }

            fn expression(&self) -> TokenStream {
                let $value = self;
                $written
            }
        }
    )+};
}

expressions! {
    TableName = "Schema": |it| {
        let (variant, table) = (format_ident!("{}", it.variant), names::table(&it.name));
        quote!(Schema::#variant(&#table))
    };
    ObjectName = "&'static ObjectSchema": |it| {
        let table = names::table(&it.0);
        quote!(&#table)
    };
    FirstByte = "u8": |it| Literal::byte_character(it.0).into_token_stream();
    SlotName = "Slot": |it| {
        let slot = names::pascal_ident(&it.0);
        quote!(Slot::#slot)
    };
    ScopeName = "Scope": |it| {
        let scope = names::pascal_ident(&it.identity);
        quote!(Scope::#scope)
    };
    ScopeLevel = "&'static ScopeInfo": |it| {
        let (api, scope) = (names::api(&it.api), it.scope.expression());
        quote!(apis::#api.scope(#scope))
    };
    EventPlace = "EventSchema": |it| {
        let place = Literal::usize_unsuffixed(it.0);
        quote!(check::EVENTS[#place])
    };
}
