//! The model of a JSON Schema in the normal form of dialect files.

mod fold;
mod kinds;
mod parse;
mod place;
mod union;

pub use fold::Registry;
pub use kinds::{Kind, KindSet};
pub use parse::{ParseError, parse};
pub use parse::{escape, unescape};
pub(crate) use place::first_segment;
pub use place::{leads_somewhere, schema_at, takes_any_text, visit};
pub use union::{Tag, UnionPlan};

use serde_json::Value;

/// A schema of a JSON value.
#[derive(Debug, Clone, PartialEq)]
pub enum Schema {
    /// Any value.
    Any,
    /// Only `null`.
    Null,
    /// `true` or `false`.
    Boolean,
    /// A string.
    String(StringRules),
    /// A number without a fractional part (`5.0` is one).
    Integer(Range),
    /// A number.
    Number(Range),
    /// Exactly this scalar.
    Const(Value),
    /// One of these strings.
    Enum(Vec<String>),
    /// One of these strings, or another that a newer server adds.
    OpenEnum(Vec<String>),
    /// A list.
    Array(Box<Array>),
    /// An object.
    Object(Box<Object>),
    /// The type of this name in the same dialect.
    Ref(String),
    /// `null`, or a value of the inner schema.
    Nullable(Box<Schema>),
    /// A union of at least two schemas. None of them is `Null` or a union.
    Union(Vec<Schema>),
}

/// Limits of a string.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StringRules {
    /// Minimum number of characters.
    pub min_length: Option<u64>,
    /// Maximum number of characters.
    pub max_length: Option<u64>,
    /// The pattern, if it has one.
    pub pattern: Option<Pattern>,
}

/// The patterns that dialects use: a literal prefix, then characters of one class.
#[derive(Debug, Clone, PartialEq)]
pub struct Pattern {
    /// The regular expression.
    pub source: String,
    /// The literal prefix.
    pub prefix: String,
    /// Inclusive ranges of the character class of the rest.
    pub class: Vec<(char, char)>,
    /// Exact number of characters of the class; at least one if absent.
    pub count: Option<u64>,
}

/// Inclusive limits of a number.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Range {
    /// Minimum.
    pub minimum: Option<f64>,
    /// Maximum.
    pub maximum: Option<f64>,
}

/// The schema of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct Array {
    /// Schema of every entry.
    pub items: Schema,
    /// Minimum number of entries.
    pub min_items: Option<u64>,
    /// Maximum number of entries.
    pub max_items: Option<u64>,
}

/// The schema of an object.
#[derive(Debug, Clone, PartialEq)]
pub struct Object {
    /// The declared properties, in order.
    pub properties: Vec<Property>,
    /// Undeclared properties.
    pub additional: Additional,
    /// Limits of the names of all properties.
    pub property_names: Option<StringRules>,
    /// Maximum number of properties.
    pub max_properties: Option<u64>,
}

/// The undeclared properties that an object allows.
#[derive(Debug, Clone, PartialEq)]
pub enum Additional {
    /// Any properties.
    Open,
    /// None.
    Closed,
    /// Properties with values of this schema.
    Typed(Schema),
}

/// One declared property of an object.
#[derive(Debug, Clone, PartialEq)]
pub struct Property {
    /// Its name.
    pub name: String,
    /// Whether it is required.
    pub required: bool,
    /// The schema of its value.
    pub schema: Schema,
    /// Its description, if the file has one.
    pub description: Option<String>,
    /// Whether it is deprecated.
    pub deprecated: bool,
    /// Its default, if the file has one.
    pub default: Option<Value>,
}

impl Object {
    /// Returns the property of that name.
    pub fn property(&self, name: &str) -> Option<&Property> {
        self.properties.iter().find(|property| property.name == name)
    }

    /// Returns whether it is a plain map: no declared properties, and values of one schema.
    pub fn as_map(&self) -> Option<&Schema> {
        match &self.additional {
            Additional::Typed(values) if self.properties.is_empty() => Some(values),
            _ => None,
        }
    }
}
