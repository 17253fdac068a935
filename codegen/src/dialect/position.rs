//! Lines and columns of the values in a file.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::value::RawValue;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A place in a text, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The character in the line, if it is known.
    pub column: Option<usize>,
}

/// It follows the name of a file, as editors and terminals read it.
impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, ":{}", self.line)?;
        self.column.map_or(Ok(()), |column| write!(f, ":{column}"))
    }
}

impl Position {
    /// The position of a byte of a text.
    pub fn of_byte(text: &str, at: usize) -> Option<Self> {
        let before = text.get(..at)?;
        let line = before.rsplit('\n').next().unwrap_or_default();
        Some(Self { line: before.matches('\n').count() + 1, column: Some(line.chars().count() + 1) })
    }

    /// The position of the value at a JSON pointer, or else of the innermost value around it: a patch lacks what is inherited.
    pub fn of_pointer(json: &str, pointer: &str) -> Option<Self> {
        let mut value: &RawValue = serde_json::from_str(json).ok()?;
        for segment in pointer.split('/').skip(1) {
            let name = segment.replace("~1", "/").replace("~0", "~");
            let object = || serde_json::from_str::<BTreeMap<String, &RawValue>>(value.get()).ok();
            let list = || serde_json::from_str::<Vec<&RawValue>>(value.get()).ok();
            let entry = || list()?.get(segment.parse::<usize>().ok()?).copied();
            let Some(inner) = object().map_or_else(entry, |members| members.get(&name).copied()) else {
                break;
            };
            value = inner;
        }
        Self::of_byte(json, value.get().as_ptr() as usize - json.as_ptr() as usize)
    }

    /// The position of an entry of a TOML file that is named as in messages: `key`, `[table] key`, `[[list]] id`, or
    /// `[[list]] number N`.
    pub fn of_entry(toml: &str, entry: &str) -> Option<Self> {
        let file = DeTable::parse(toml).ok()?;
        let (head, name) = entry.split_once(' ').unwrap_or(("", entry));
        let at = if let Some(list) = head.strip_prefix("[[").and_then(|head| head.strip_suffix("]]")) {
            let list = file.get_ref().get(list)?.get_ref().as_array()?;
            let is_it = |entry: &&Spanned<DeValue<'_>>| {
                entry.get_ref().get("id").and_then(|id| id.get_ref().as_str()) == Some(name)
            };
            match name.strip_prefix("number ").and_then(|number| number.parse::<usize>().ok()) {
                Some(number) => list.get(number.checked_sub(1)?)?.span(),
                None => list.iter().find(is_it)?.span(),
            }
        } else {
            let mut table = file.get_ref();
            for name in head.trim_matches(['[', ']']).split('.').filter(|name| !name.is_empty()) {
                table = table.get(name)?.get_ref().as_table()?;
            }
            table.get_key_value(name)?.0.span()
        };
        Self::of_byte(toml, at.start)
    }

    /// The position of a text, if the file has it.
    pub fn of_text(text: &str, sought: &str) -> Option<Self> {
        Self::of_byte(text, text.find(sought)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_in_texts() {
        let json = "{\n  \"a\": { \"b/c\": [1,\n    {\"é\": 2}] }\n}";
        let found = |pointer: &str| Position::of_pointer(json, pointer).map(|at| at.to_string());
        let expected = [("", ":1:1"), ("/a", ":2:8"), ("/a/b~1c/0", ":2:18"), ("/a/b~1c/1/é", ":3:11")];
        for (pointer, at) in expected {
            assert_eq!(found(pointer).as_deref(), Some(at), "{pointer}");
        }
        // The innermost value that is there.
        assert_eq!(found("/a/b~1c/1/other/more").as_deref(), Some(":3:5"));
        assert_eq!(Position::of_pointer("{", ""), None);
    }

    #[test]
    fn entries_are_found_in_texts() {
        let toml = "extends = \"x\"\n[framing]\ndone = \"required\"\n[framing.steer]\nmessage = \"m\"\n\n\
                    [[rule]]\nid = \"a/b\"\n[[rule]]\nid = \"c/d\"\n";
        let found = |entry: &str| Position::of_entry(toml, entry).map(|at| at.to_string());
        let expected = [
            ("extends", ":1:1"),
            ("[framing] done", ":3:1"),
            ("[framing.steer] message", ":5:1"),
            ("[[rule]] c/d", ":9:1"),
            ("[[rule]] number 1", ":7:1"),
        ];
        for (entry, at) in expected {
            assert_eq!(found(entry).as_deref(), Some(at), "{entry}");
        }
        for missing in ["[framing] comments", "[[rule]] e/f", "[[rule]] number 3", "product"] {
            assert_eq!(found(missing), None, "{missing}");
        }
    }
}
