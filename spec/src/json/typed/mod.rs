//! Typed values, which keep unknown members, with readers and writers.

mod blank;
mod choice;
pub(crate) mod event;
mod fields;
mod macros;
mod map;
mod miss;
mod number;
mod raw;
mod read;
mod reader;
#[cfg(feature = "samples")]
mod sample;
#[cfg(feature = "serde")]
mod serde;
mod string;
mod value;
mod write;

use super::{DEEPEST, decode, encode, scanner};

pub(crate) use blank::{Blank, literal};
pub(crate) use choice::Branch;
pub use choice::kind;
pub use event::{Reason, UnknownEvent};
pub use fields::Fields;
pub(crate) use macros::{conversions, events, object, presence, serde_by_text, strings, union, variants};
pub use map::{Extra, Map};
pub use miss::{Miss, ParseError};
pub use number::{Integer, NotFinite, Number};
pub use raw::Raw;
pub use read::{Lenient, Read};
pub use reader::Reader;
#[cfg(feature = "samples")]
pub(crate) use sample::Sample;
#[cfg(feature = "serde")]
pub(crate) use serde::{deserialize, serialize};
pub use string::Str;
pub use value::{IntoOwned, Nullable};
pub(crate) use write::display;
pub use write::{ObjectWriter, Write};
