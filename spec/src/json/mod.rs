//! Reading, checking and writing JSON text without a tree.

mod check;
mod fault;
mod scanner;
mod text;

pub use check::{Check, Checker, TextRules};
pub use fault::Fault;
pub use scanner::{DEEPEST, RawNumber, RawString, Scan, Scanner, Syntax};
pub use text::{decode, encode};
