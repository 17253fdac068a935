//! The model of a JSON Schema in the normal form that the files of a dialect are written in.

mod fold;
mod parse;
mod union;

pub use fold::Registry;
pub(crate) use parse::escape;
pub use parse::{ParseError, parse};
pub use union::{Kind, KindSet, Tag, UnionPlan};

use serde_json::Value;

/// What a JSON value must look like.
#[derive(Debug, Clone, PartialEq)]
pub enum Schema {
    /// Any value at all.
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
    /// One of these strings, or one that a newer server has added.
    OpenEnum(Vec<String>),
    /// A list.
    Array(Box<Array>),
    /// An object.
    Object(Box<Object>),
    /// The type of this name in the same dialect.
    Ref(String),
    /// `null`, or what the inner schema says.
    Nullable(Box<Schema>),
    /// Any of these; never holds `Null`, another union, or fewer than two.
    Union(Vec<Schema>),
}

/// Limits of a string.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StringRules {
    /// Least number of characters.
    pub min_length: Option<u64>,
    /// Greatest number of characters.
    pub max_length: Option<u64>,
    /// What every character must be, when the string is limited by a pattern.
    pub pattern: Option<Pattern>,
}

/// The patterns that dialects use: a literal prefix, then characters of one class.
#[derive(Debug, Clone, PartialEq)]
pub struct Pattern {
    /// The regular expression as it is written.
    pub source: String,
    /// What the string starts with.
    pub prefix: String,
    /// Inclusive ranges of the class of the rest.
    pub class: Vec<(char, char)>,
    /// How many characters of the class follow: exactly so many, or at least one.
    pub count: Option<u64>,
}

/// Inclusive limits of a number.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Range {
    /// Least value.
    pub minimum: Option<f64>,
    /// Greatest value.
    pub maximum: Option<f64>,
}

/// A list and what may stand in it.
#[derive(Debug, Clone, PartialEq)]
pub struct Array {
    /// Schema of every entry.
    pub items: Schema,
    /// Least number of entries.
    pub min_items: Option<u64>,
    /// Greatest number of entries.
    pub max_items: Option<u64>,
}

/// An object and what may stand in it.
#[derive(Debug, Clone, PartialEq)]
pub struct Object {
    /// The declared properties, in order.
    pub properties: Vec<Property>,
    /// What else may stand there.
    pub additional: Additional,
    /// Limits of the names of all properties.
    pub property_names: Option<StringRules>,
    /// Greatest number of properties.
    pub max_properties: Option<u64>,
}

/// Properties that are not declared.
#[derive(Debug, Clone, PartialEq)]
pub enum Additional {
    /// Anything may stand there.
    Open,
    /// Nothing else may.
    Closed,
    /// Values of this kind.
    Typed(Schema),
}

/// One declared property of an object.
#[derive(Debug, Clone, PartialEq)]
pub struct Property {
    /// Its name on the wire.
    pub name: String,
    /// Whether it must be there.
    pub required: bool,
    /// What its value must be.
    pub schema: Schema,
    /// What it means, when the file says so.
    pub description: Option<String>,
    /// Whether it is on its way out.
    pub deprecated: bool,
    /// The value that stands for its absence, when the file says so.
    pub default: Option<Value>,
}

impl Object {
    /// Returns the property of that name.
    pub fn property(&self, name: &str) -> Option<&Property> {
        self.properties.iter().find(|property| property.name == name)
    }

    /// Returns whether it is a plain map: no property is declared, all values are of one kind.
    pub fn as_map(&self) -> Option<&Schema> {
        match &self.additional {
            Additional::Typed(values) if self.properties.is_empty() => Some(values),
            _ => None,
        }
    }
}
