//! Reading, checking and writing JSON text without a tree.

mod check;
mod choice;
pub(crate) mod event;
mod fault;
mod fields;
mod look;
mod map;
mod number;
mod raw;
mod read;
mod reader;
mod scanner;
mod string;
mod text;
mod typed;
mod value;
mod write;

pub use check::{Check, Checker, Members, TextPattern, TextRules, UNDECLARED};
pub(crate) use choice::Branch;
pub use choice::kind;
pub use event::{Reason, UnknownEvent};
pub use fault::Fault;
pub use fields::Fields;
pub use look::{at, each_member, entries, members, string};
pub use map::{Extra, Map};
pub use number::{Integer, NotFinite, Number};
pub use raw::Raw;
pub use read::{Miss, ParseError, Read};
pub use reader::Reader;
pub use scanner::{DEEPEST, RawNumber, RawString, Scan, Scanner, Syntax};
pub use string::Str;
pub use text::{decode, encode};
pub(crate) use typed::{events, object, presence, strings, union};
pub use value::{IntoOwned, Nullable};
pub use write::{ObjectWriter, Write};
