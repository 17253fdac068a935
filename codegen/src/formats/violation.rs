//! The `violation` block of a rule page: edits of a golden stream that break the rule.

use std::ops::Deref;

use codegen_derive::Constant;
use proc_macro2::TokenStream;
use quote::quote;
use serde::Deserialize;
use serde_json::Value;

use super::constant::{self, words};
use super::page::PageError;

/// A stream that breaks a rule, as edits of a golden.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Constant)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Violation {
    /// The golden: `<dialect>/<name>`.
    pub golden: String,
    /// Other rules that the edits break.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<String>,
    /// The edits, in order.
    pub edits: Edits,
}

/// Edits, in order, each with its line.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema), schemars(inline, with = "String"))]
#[serde(try_from = "String")]
pub struct Edits(pub Vec<(usize, Edit)>);

impl Deref for Edits {
    type Target = [(usize, Edit)];

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl TryFrom<String> for Edits {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let edits = lines.map(|(index, line)| {
            let number = index + 1;
            let parsed = edit(line.trim()).map_err(|message| format!("edits, line {number}: {message}"))?;
            Ok((number, parsed))
        });
        edits.collect::<Result<_, _>>().map(Self)
    }
}

/// Programs have no use for the lines.
impl constant::Constant for Edits {
    fn of() -> TokenStream {
        Vec::<Edit>::of()
    }

    fn expression(&self) -> TokenStream {
        let edits = self.iter().map(|(_, edit)| edit.expression());
        quote!(&[#(#edits),*])
    }
}

/// The events of an edit, in the stream as earlier edits left it.
#[derive(Debug, Clone, PartialEq, Eq, Constant)]
pub struct Target {
    /// The event type, with the prefix `>` for messages of the client, or `[DONE]`, or `body`; any event of the
    /// server if absent.
    pub event: Option<String>,
    /// The number among these, counted from 1; all of them if absent.
    pub number: Option<usize>,
}

words! {
    /// The side of an event.
    pub enum Side {
        /// Before it.
        Before,
        /// After it.
        After,
    }
}

/// One edit of a stream.
///
/// Each edit is a line. `<target>` is an event type (the first of that type), `<type>#2` (the second), `<type>#*` (all
/// of them), `#5` (the fifth event of the stream) or `[DONE]`. In a WebSocket log, events are the messages of the
/// server, and `><type>` is a message of the client; in a response that is not a stream, `body` is its body:
///
/// ```text
/// drop <target>                          removes the event
/// duplicate <target>                     repeats the event
/// swap <target> <target>                 swaps two events
/// set <target> <pointer> <JSON>          replaces or adds a value of the data; `-` is the end of a list
/// prepend <target> <pointer> <string>    prepends this to a string of the data
/// unset <target> <pointer>               removes a value of the data
/// insert before|after <target> <JSON>    inserts an event with this data
/// truncate <target>                      ends the stream after the event
/// renumber                               renumbers the events
/// data <target> <bytes>                  replaces the data by these bytes, JSON or not
/// field <target> <name> <bytes>          sets a field of the frame, such as `event`
/// unfield <target> <name>                removes a field of the frame
/// replace <target> <bytes> <bytes>       replaces bytes of the frame, including its blank line
/// comment before|after <target> <bytes>  inserts a comment line
/// header <name> <bytes>                  sets a header of the response
/// status <number>                        sets the status of the response
/// request <JSON>                         makes it the response to a request with this body
/// ```
///
/// `<bytes>` is a JSON string, or hexadecimal numbers in angle brackets: `<ff fe>`.
#[derive(Debug, Clone, PartialEq, Constant)]
pub enum Edit {
    /// Removes the event.
    Drop(Target),
    /// Repeats the event.
    Duplicate(Target),
    /// Swaps two events.
    Swap(Target, Target),
    /// Replaces or adds the value at this JSON pointer of the data.
    Set(Target, String, Value),
    /// Prepends this to the string at this JSON pointer of the data.
    Prepend(Target, String, String),
    /// Removes the value at this JSON pointer of the data.
    Unset(Target, String),
    /// Inserts an event with this data.
    Insert(Side, Target, Value),
    /// Ends the stream after the event.
    Truncate(Target),
    /// Renumbers the events.
    Renumber,
    /// Replaces the data by these bytes.
    Data(Target, Vec<u8>),
    /// Sets a field of the frame.
    Field(Target, String, Vec<u8>),
    /// Removes a field of the frame.
    Unfield(Target, String),
    /// Replaces bytes of the whole frame.
    Replace(Target, Vec<u8>, Vec<u8>),
    /// Inserts a comment line.
    Comment(Side, Target, Vec<u8>),
    /// Sets a header of the response.
    Header(String, Vec<u8>),
    /// Sets the status of the response.
    Status(u16),
    /// Makes the stream the response to a request with this body.
    Request(Value),
}

impl Edit {
    /// Returns the events that it changes.
    pub fn targets(&self) -> Vec<&Target> {
        match self {
            Self::Swap(one, other) => vec![one, other],
            Self::Drop(target)
            | Self::Duplicate(target)
            | Self::Set(target, ..)
            | Self::Prepend(target, ..)
            | Self::Unset(target, _)
            | Self::Insert(_, target, _)
            | Self::Truncate(target)
            | Self::Data(target, _)
            | Self::Field(target, ..)
            | Self::Unfield(target, _)
            | Self::Replace(target, ..)
            | Self::Comment(_, target, _) => vec![target],
            Self::Renumber | Self::Header(..) | Self::Status(_) | Self::Request(_) => Vec::new(),
        }
    }
}

/// Parses the block whose text begins on line `first`.
pub(super) fn parse(text: &str, first: usize) -> Result<Violation, PageError> {
    let mut golden = None;
    let mut also = Vec::new();
    let mut edits = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let number = first + index;
        let line = line.trim();
        if line.is_empty() {
            continue;
        }
        let fail = |message: String| PageError::new(number, message);
        if golden.is_none() {
            let name =
                line.strip_prefix("golden:").map(str::trim).filter(|name| name.split('/').count() == 2);
            let expected = "expected the edited golden first: `golden: <dialect>/<name>`";
            golden = Some(name.ok_or_else(|| fail(expected.to_owned()))?.to_owned());
        } else if let Some(list) = line.strip_prefix("also:") {
            also.extend(list.split(',').map(|id| id.trim().to_owned()));
        } else {
            edits.push((number, edit(line).map_err(fail)?));
        }
    }
    let golden =
        golden.ok_or_else(|| PageError::new(first, "the violation is empty; write a golden, then edits"))?;
    if edits.is_empty() {
        return Err(PageError::new(first, "the violation has no edits"));
    }
    Ok(Violation { golden, also, edits: Edits(edits) })
}

fn edit(line: &str) -> Result<Edit, String> {
    let mut words = Words(line);
    let verb = words.word("an edit")?;
    let edit = match verb {
        "drop" => Edit::Drop(words.target()?),
        "duplicate" => Edit::Duplicate(words.target()?),
        "swap" => Edit::Swap(words.target()?, words.target()?),
        "set" => Edit::Set(words.target()?, words.pointer()?, words.json()?),
        "prepend" => Edit::Prepend(words.target()?, words.pointer()?, words.text()?),
        "unset" => Edit::Unset(words.target()?, words.pointer()?),
        "insert" => Edit::Insert(words.side()?, words.target()?, words.json()?),
        "truncate" => Edit::Truncate(words.target()?),
        "renumber" => Edit::Renumber,
        "data" => Edit::Data(words.target()?, words.bytes()?),
        "field" => Edit::Field(words.target()?, words.word("the name of a line")?.to_owned(), words.bytes()?),
        "unfield" => Edit::Unfield(words.target()?, words.word("the name of a line")?.to_owned()),
        "replace" => Edit::Replace(words.target()?, words.bytes()?, words.bytes()?),
        "comment" => Edit::Comment(words.side()?, words.target()?, words.bytes()?),
        "header" => Edit::Header(words.word("the name of a header")?.to_owned(), words.bytes()?),
        "status" => {
            let word = words.word("a status")?;
            Edit::Status(word.parse().map_err(|_| format!("expected a status such as 500, found `{word}`"))?)
        }
        "request" => Edit::Request(words.json()?),
        other => {
            return Err(format!(
                "unknown edit `{other}`; expected drop, duplicate, swap, set, prepend, unset, insert, truncate, \
                 renumber, data, field, unfield, replace, comment, header, status and request"
            ));
        }
    };
    if words.0.is_empty() { Ok(edit) } else { Err(format!("unexpected `{}` after `{verb}`", words.0)) }
}

/// The rest of a line.
struct Words<'t>(&'t str);

impl<'t> Words<'t> {
    fn word(&mut self, what: &str) -> Result<&'t str, String> {
        let (word, rest) = self.0.split_once(char::is_whitespace).unwrap_or((self.0, ""));
        self.0 = rest.trim_start();
        if word.is_empty() { Err(format!("{what} is missing at the end of the line")) } else { Ok(word) }
    }

    fn target(&mut self) -> Result<Target, String> {
        let word = self.word("an event type")?;
        let (event, number) = word.split_once('#').unwrap_or((word, "1"));
        let number = match number.parse() {
            _ if number == "*" => None,
            Ok(number) if number > 0 => Some(number),
            _ => return Err(format!("`{word}`: expected a number from 1, or *, after #")),
        };
        let event = (!event.is_empty()).then(|| event.to_owned());
        Ok(Target { event, number })
    }

    fn pointer(&mut self) -> Result<String, String> {
        let word = self.word("a JSON pointer")?;
        if word.starts_with('/') {
            Ok(word.to_owned())
        } else {
            Err(format!("expected a JSON pointer, found `{word}`"))
        }
    }

    fn side(&mut self) -> Result<Side, String> {
        match self.word("`before` or `after`")? {
            "before" => Ok(Side::Before),
            "after" => Ok(Side::After),
            other => Err(format!("expected `before` or `after`, found `{other}`")),
        }
    }

    fn json(&mut self) -> Result<Value, String> {
        let mut values = serde_json::Deserializer::from_str(self.0).into_iter::<Value>();
        let value = values.next().ok_or("a JSON value is missing at the end of the line")?;
        let value = value.map_err(|error| format!("`{}` is not JSON: {error}", self.0))?;
        self.0 = self.0[values.byte_offset()..].trim_start();
        Ok(value)
    }

    fn text(&mut self) -> Result<String, String> {
        match self.json()? {
            Value::String(text) => Ok(text),
            other => Err(format!("`{other}` is not a JSON string")),
        }
    }

    fn bytes(&mut self) -> Result<Vec<u8>, String> {
        if let Some(rest) = self.0.strip_prefix('<') {
            let (inside, rest) = rest.split_once('>').ok_or("`>` is missing after the bytes")?;
            self.0 = rest.trim_start();
            let byte = |text| {
                u8::from_str_radix(text, 16).map_err(|_| format!("`{text}` is not a hexadecimal byte"))
            };
            return inside.split_whitespace().map(byte).collect();
        }
        self.text().map(String::into_bytes).map_err(|problem| format!("{problem}, or <hexadecimal bytes>"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_an_edit() {
        let target = |event: &str, number| Target { event: Some(event.to_owned()), number };
        let cases = [
            ("drop a.b#2", Edit::Drop(target("a.b", Some(2)))),
            ("drop #3", Edit::Drop(Target { event: None, number: Some(3) })),
            ("renumber", Edit::Renumber),
            (
                "set a#* /x {\"y\": [1, 2]}",
                Edit::Set(target("a", None), "/x".into(), serde_json::json!({"y": [1, 2]})),
            ),
            ("prepend a /x \"{\"", Edit::Prepend(target("a", Some(1)), "/x".into(), "{".into())),
            (
                "replace [DONE] \"\\n\\n\" <ff 0a>",
                Edit::Replace(target("[DONE]", Some(1)), b"\n\n".into(), vec![255, 10]),
            ),
            ("comment before a \"ping\"", Edit::Comment(Side::Before, target("a", Some(1)), b"ping".into())),
            ("header content-type \"text/plain\"", Edit::Header("content-type".into(), b"text/plain".into())),
            ("request {\"n\": 2}", Edit::Request(serde_json::json!({"n": 2}))),
        ];
        for (line, expected) in cases {
            assert_eq!(edit(line), Ok(expected), "{line}");
        }
    }
}
