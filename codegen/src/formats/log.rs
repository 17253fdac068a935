//! `logs/<name>.toml`: logs and exports of gateways, tracers and clients. They hold whole answers, or what a program made
//! of them, and not the events.

use codegen_derive::Constant;
use serde::{Deserialize, Serialize};

use super::signature::Mark;

/// A log. Paths are JSON pointers. `*` stands for each entry of a list; a text that is JSON is entered, and a list of objects
/// with `key` and `value` is read as an object.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Constant)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Log {
    /// Its name in messages, in the singular.
    pub name: String,
    /// How a document of it is recognised: a line, or a whole file.
    pub marks: Vec<Mark>,
    /// The places of the rows in a document with several; absent if the document is a row.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<String>,
    /// The kinds of rows that hold answers. Of several that fit, the first one counts.
    #[serde(default, rename = "row")]
    pub kinds: Vec<LogRow>,
}

/// A kind of rows. Of several paths to a value, the first one with a value counts, and a rule applies if its values have
/// paths.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Constant)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct LogRow {
    /// How a row of it is recognised; every row, if empty.
    pub marks: Vec<Mark>,
    /// Paths, one with a value in each row of it; none is needed, if empty.
    pub with: Vec<String>,
    /// Its name in reports.
    pub id: Vec<String>,
    /// The answer, as its API has it. The other values describe it; without such a path, they are the answer.
    pub answer: Vec<String>,
    /// Members of the answer that the log rewrites: the schema of the API does not bind them.
    pub rewritten: Vec<String>,
    /// Whether the log writes null for members that the answer lacks.
    pub adds_null: bool,
    /// The texts of the answer.
    pub text: Vec<String>,
    /// Whether the call failed, or how.
    pub error: Vec<String>,
    /// The outcome of the call.
    pub status: Vec<String>,
    /// The outcomes that are a success.
    pub success: Vec<String>,
    /// Why the answer stopped.
    pub finish: Vec<String>,
    /// Number of tokens of the input.
    pub input: Vec<String>,
    /// Number of tokens of the output.
    pub output: Vec<String>,
    /// Number of tokens of both.
    pub total: Vec<String>,
    /// The cost.
    pub cost: Vec<String>,
    /// Whether the answer was taken from a cache, which costs nothing.
    pub cached: Vec<String>,
    /// Whether the answer was streamed.
    pub streamed: Vec<String>,
    /// When the call began.
    pub start: Vec<String>,
    /// When the first token came.
    pub first: Vec<String>,
    /// When the call ended.
    pub end: Vec<String>,
    /// Rows with the same value here are parts of one answer.
    pub joined: Vec<String>,
}
