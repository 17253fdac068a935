//! Parses, validates and writes JSON text without building a tree.

mod bytes;
mod check;
mod fault;
mod look;
mod names;
mod plain;
mod problem;
mod scanner;
mod text;
mod varying;

pub use bytes::{is_same, shared_length};
pub use check::Outline;
#[allow(unused_imports, reason = "a dialect need not have schemas of all kinds")]
pub(crate) use check::{
    Checker, ListSchema, Member, MemberRules, NumberRules, ObjectSchema, Others, Schema, Tag, TextPattern,
    TextRules, UnionSchema,
};
pub use fault::{Actual, Fault, FaultKind, Simplest, Wanted};
pub use look::{Indexed, at, each_entry, each_member, entries, members, string, string_member, values};
pub use names::{Names, OutlineMember};
pub use problem::Problem;
pub(crate) use scanner::LOST;
pub use scanner::{DEEPEST, RawNumber, RawString, Scan, Scanner, Syntax};
pub use text::{decode, decode_onto, encode, is_escaped};
pub(crate) use varying::Varying;
