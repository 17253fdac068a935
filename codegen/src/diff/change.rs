//! The kinds of difference, and which side each breaks.

use std::fmt::{self, Write as _};

use serde::Serialize;
use serde_json::Value;

/// One difference, and its place in a schema.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// The place: `.name` is a property, `[]` the entries of a list, `{}` the values of a map,
    /// `<name>` a variant of a union. Empty for the schema itself.
    pub path: String,
    /// The difference.
    #[serde(flatten)]
    pub change: Change,
    /// The sides that it breaks.
    pub breaks: Breaks,
}

/// The sides that a difference breaks. In a request the client is the writer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Breaks {
    /// A reader made for the first side that reads values of the second.
    pub reader: bool,
    /// A writer made for the first side whose values the second side validates.
    pub writer: bool,
}

impl Breaks {
    /// It breaks neither side.
    pub const NOBODY: Self = Self { reader: false, writer: false };
    /// More is allowed than before.
    pub const READER: Self = Self { reader: true, writer: false };
    /// Less is allowed than before.
    pub const WRITER: Self = Self { reader: false, writer: true };
    /// Something else is allowed than before.
    pub const BOTH: Self = Self { reader: true, writer: true };
}

/// A kind of difference. Its text is a phrase about its place.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "change", rename_all = "kebab-case")]
pub enum Change {
    /// A property was added.
    PropertyAdded {
        /// Whether it is required.
        required: bool,
        /// Its type, in words.
        holds: String,
    },
    /// A property was removed.
    PropertyRemoved {
        /// Whether it was required.
        required: bool,
        /// Its type, in words.
        holds: String,
    },
    /// A property became required.
    MadeRequired,
    /// A property became optional.
    MadeOptional,
    /// `null` became allowed.
    NullAllowed,
    /// `null` is no longer allowed.
    NullForbidden,
    /// The type changed.
    Retyped {
        /// The old type.
        from: String,
        /// The new type.
        to: String,
    },
    /// The constant changed.
    ConstantChanged {
        /// The old value.
        from: Value,
        /// The new value.
        to: Value,
    },
    /// More values are allowed.
    ValuesAdded {
        /// The new values.
        values: Vec<Value>,
    },
    /// Fewer values are allowed.
    ValuesRemoved {
        /// The removed values.
        values: Vec<Value>,
    },
    /// An open enumeration was closed.
    ValuesClosed {
        /// The allowed values.
        values: Vec<Value>,
    },
    /// A closed enumeration was opened.
    ValuesOpened {
        /// The values that were allowed.
        values: Vec<Value>,
    },
    /// The known values of an open enumeration changed.
    SuggestionsChanged {
        /// Added values.
        added: Vec<Value>,
        /// Removed values.
        removed: Vec<Value>,
    },
    /// A union gained a variant.
    VariantAdded {
        /// Its tag, its name or its kind.
        variant: String,
    },
    /// A union lost a variant.
    VariantRemoved {
        /// Its tag, its name or its kind.
        variant: String,
    },
    /// A limit of length, size, number or pattern changed.
    LimitChanged {
        /// The keyword of the limit.
        limit: &'static str,
        /// The old limit.
        from: Option<Value>,
        /// The new limit.
        to: Option<Value>,
    },
    /// The `format` annotation changed. It does not affect validity.
    FormatChanged {
        /// The old format.
        from: Option<String>,
        /// The new format.
        to: Option<String>,
    },
    /// The undeclared properties that an object allows changed.
    AdditionalChanged {
        /// The properties that were allowed.
        from: String,
        /// The properties that are allowed now.
        to: String,
    },
    /// A property was deprecated.
    Deprecated,
    /// A property is no longer deprecated.
    Undeprecated,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PropertyAdded { required, holds } => {
                write!(f, "new property, {}, {holds}", presence(*required))
            }
            Self::PropertyRemoved { required, holds } => {
                write!(f, "property removed, was {}, {holds}", presence(*required))
            }
            Self::MadeRequired => f.write_str("optional -> required"),
            Self::MadeOptional => f.write_str("required -> optional"),
            Self::NullAllowed => f.write_str("null now allowed"),
            Self::NullForbidden => f.write_str("null no longer allowed"),
            Self::Retyped { from, to } => write!(f, "{from} -> {to}"),
            Self::ConstantChanged { from, to } => write!(f, "constant {from} -> {to}"),
            Self::ValuesAdded { values } => write!(f, "values added: {}", list(values)),
            Self::ValuesRemoved { values } => write!(f, "values removed: {}", list(values)),
            Self::ValuesClosed { values } => write!(f, "any value -> only {}", list(values)),
            Self::ValuesOpened { values } => write!(f, "only {} -> any value", list(values)),
            Self::SuggestionsChanged { added, removed } => {
                f.write_str("open enumeration ")?;
                match (added.as_slice(), removed.as_slice()) {
                    (added, []) => write!(f, "adds {}", list(added)),
                    ([], removed) => write!(f, "removes {}", list(removed)),
                    (added, removed) => write!(f, "adds {}; removes {}", list(added), list(removed)),
                }
            }
            Self::VariantAdded { variant } => write!(f, "variant added: {}", spaced(variant)),
            Self::VariantRemoved { variant } => write!(f, "variant removed: {}", spaced(variant)),
            Self::LimitChanged { limit, from, to } => {
                write!(f, "{limit}: {} -> {}", or_none(from.as_ref()), or_none(to.as_ref()))
            }
            Self::FormatChanged { from, to } => {
                write!(f, "format: {} -> {}", or_none(from.as_ref()), or_none(to.as_ref()))
            }
            Self::AdditionalChanged { from, to } => write!(f, "other properties: {from} -> {to}"),
            Self::Deprecated => f.write_str("now deprecated"),
            Self::Undeprecated => f.write_str("no longer deprecated"),
        }
    }
}

const fn presence(required: bool) -> &'static str {
    if required { "required" } else { "optional" }
}

/// Maximum length of a list in a text.
const LONG: usize = 24;

fn list(values: &[Value]) -> String {
    let plain = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let shown = if values.len() > LONG { LONG / 2 } else { values.len() };
    let mut text = values[..shown].iter().map(plain).collect::<Vec<_>>().join(", ");
    if shown < values.len() {
        let _ = write!(text, " and {} more", values.len() - shown);
    }
    text
}

/// Spaces let a line break between several tags.
fn spaced(variant: &str) -> String {
    variant.replace('|', " | ")
}

fn or_none<T: ToString>(value: Option<&T>) -> String {
    value.map_or_else(|| "none".to_owned(), ToString::to_string)
}
