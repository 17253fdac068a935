//! The streaming events of the Responses API, Messages, Chat Completions and Gemini as types that lose nothing, in every
//! dialect.
//!
//! Each dialect is a module and a cargo feature, as in [`spec`], which validates. Its `Event` borrows from the parsed
//! text, keeps all data and accepts unknown values.

// The dialect `openai` uses all of it; a build without it need not.
#![cfg_attr(any(test, not(feature = "openai")), allow(dead_code, unused_imports, unused_macros))]

mod blank;
mod choice;
#[cfg(not(test))]
mod dialects;
mod event;
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

use spec::json::{DEEPEST, decode, encode};

use blank::{Blank, literal};
use choice::{Branch, kind};
#[cfg(not(test))]
pub use dialects::*;
pub use event::{Reason, UnknownEvent};
use macros::{conversions, events, object, presence, serde_by_text, strings, union, variants};
pub use map::{Extra, Map};
pub use miss::{Miss, ParseError};
pub use number::{Integer, NotFinite, Number};
pub use raw::Raw;
pub use read::{Lenient, Read};
pub use reader::Reader;
#[cfg(feature = "samples")]
use sample::Sample;
#[cfg(feature = "serde")]
use serde::{deserialize, serialize};
pub use spec;
pub use string::Str;
pub use value::{IntoOwned, NotNull, Nullable};
use write::display;
pub use write::{ObjectWriter, Write};
