//! The kinds of difference, and whom each breaks.

use std::fmt::{self, Write as _};

use serde::Serialize;
use serde_json::Value;

/// One difference, and where in its schema it is.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// The place: `.name` is a property, `[]` the entries of a list, `{}` the values of a map,
    /// `<name>` a variant of a union. Empty for the schema itself.
    pub path: String,
    /// What differs there.
    #[serde(flatten)]
    pub change: Change,
    /// Whom it breaks.
    pub breaks: Breaks,
}

/// Whom a difference breaks. In a request the client is the writer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Breaks {
    /// A reader made for the first side, of what is written for the second.
    pub reader: bool,
    /// A writer made for the first side, when the second side judges what it writes.
    pub writer: bool,
}

impl Breaks {
    /// It breaks nobody.
    pub const NOBODY: Self = Self { reader: false, writer: false };
    /// More is allowed than before.
    pub const READER: Self = Self { reader: true, writer: false };
    /// Less is allowed than before.
    pub const WRITER: Self = Self { reader: false, writer: true };
    /// Something else is allowed than before.
    pub const BOTH: Self = Self { reader: true, writer: true };
}

/// What differs. Its text is a phrase about the place where it was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "change", rename_all = "kebab-case")]
pub enum Change {
    /// A property is new.
    PropertyAdded {
        /// Whether it must be there.
        required: bool,
        /// What it holds.
        holds: String,
    },
    /// A property is gone.
    PropertyRemoved {
        /// Whether it had to be there.
        required: bool,
        /// What it held.
        holds: String,
    },
    /// A property must be there now.
    MadeRequired,
    /// A property need not be there any more.
    MadeOptional,
    /// `null` is allowed now.
    NullAllowed,
    /// `null` is not allowed any more.
    NullForbidden,
    /// Another kind of value.
    Retyped {
        /// The kind before.
        from: String,
        /// The kind now.
        to: String,
    },
    /// Another constant.
    ConstantChanged {
        /// The value before.
        from: Value,
        /// The value now.
        to: Value,
    },
    /// More values are allowed.
    ValuesAdded {
        /// The new ones.
        values: Vec<Value>,
    },
    /// Fewer values are allowed.
    ValuesRemoved {
        /// Those that are gone.
        values: Vec<Value>,
    },
    /// Any value was allowed, now only some are.
    ValuesClosed {
        /// Those that are.
        values: Vec<Value>,
    },
    /// Only some values were allowed, now any is.
    ValuesOpened {
        /// Those that were.
        values: Vec<Value>,
    },
    /// Any value is allowed, others than before are named.
    SuggestionsChanged {
        /// Named now.
        added: Vec<Value>,
        /// Named before.
        removed: Vec<Value>,
    },
    /// A union has one more variant.
    VariantAdded {
        /// Its tag, its name or its kind.
        variant: String,
    },
    /// A union has one variant less.
    VariantRemoved {
        /// Its tag, its name or its kind.
        variant: String,
    },
    /// A limit of length, size, number or form.
    LimitChanged {
        /// The keyword that sets it.
        limit: &'static str,
        /// The limit before.
        from: Option<Value>,
        /// The limit now.
        to: Option<Value>,
    },
    /// The format that is named; it does not decide what is valid.
    FormatChanged {
        /// The format before.
        from: Option<String>,
        /// The format now.
        to: Option<String>,
    },
    /// What may stand in an object besides the properties that it declares.
    AdditionalChanged {
        /// What was allowed.
        from: String,
        /// What is allowed now.
        to: String,
    },
    /// A property is on its way out.
    Deprecated,
    /// A property is not on its way out any more.
    Undeprecated,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PropertyAdded { required, holds } => {
                write!(f, "new property, {}, {holds}", presence(*required))
            }
            Self::PropertyRemoved { required, holds } => {
                write!(f, "property gone, was {}, {holds}", presence(*required))
            }
            Self::MadeRequired => f.write_str("optional -> required"),
            Self::MadeOptional => f.write_str("required -> optional"),
            Self::NullAllowed => f.write_str("null allowed now"),
            Self::NullForbidden => f.write_str("null no longer allowed"),
            Self::Retyped { from, to } => write!(f, "{from} -> {to}"),
            Self::ConstantChanged { from, to } => write!(f, "constant {from} -> {to}"),
            Self::ValuesAdded { values } => write!(f, "more values: {}", list(values)),
            Self::ValuesRemoved { values } => write!(f, "values gone: {}", list(values)),
            Self::ValuesClosed { values } => write!(f, "any value -> only {}", list(values)),
            Self::ValuesOpened { values } => write!(f, "only {} -> any value", list(values)),
            Self::SuggestionsChanged { added, removed } => {
                f.write_str("open as before, ")?;
                match (added.as_slice(), removed.as_slice()) {
                    (added, []) => write!(f, "also names {}", list(added)),
                    ([], removed) => write!(f, "no longer names {}", list(removed)),
                    (added, removed) => write!(f, "also names {}; no longer {}", list(added), list(removed)),
                }
            }
            Self::VariantAdded { variant } => write!(f, "new variant {}", spaced(variant)),
            Self::VariantRemoved { variant } => write!(f, "variant gone: {}", spaced(variant)),
            Self::LimitChanged { limit, from, to } => {
                write!(f, "{limit}: {} -> {}", or_none(from.as_ref()), or_none(to.as_ref()))
            }
            Self::FormatChanged { from, to } => {
                write!(f, "format: {} -> {}", or_none(from.as_ref()), or_none(to.as_ref()))
            }
            Self::AdditionalChanged { from, to } => write!(f, "other properties: {from} -> {to}"),
            Self::Deprecated => f.write_str("deprecated now"),
            Self::Undeprecated => f.write_str("no longer deprecated"),
        }
    }
}

const fn presence(required: bool) -> &'static str {
    if required { "required" } else { "optional" }
}

/// A list longer than this is cut short in words.
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

/// Several tags of one variant, so that a line can break between them.
fn spaced(variant: &str) -> String {
    variant.replace('|', " | ")
}

fn or_none<T: ToString>(value: Option<&T>) -> String {
    value.map_or_else(|| "none".to_owned(), ToString::to_string)
}
