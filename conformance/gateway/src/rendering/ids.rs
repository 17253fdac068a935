//! Ids that are unique per response.

use std::collections::BTreeMap;

/// Prefixes of ids, before their number.
const PREFIXES: [&str; 21] = [
    "resp", "msg", "rs", "fc", "call", "ctc", "ws", "fs", "ci", "ig", "mcpl", "mcp", "apc", "sh", "sho",
    "cmp", "toolu", "srvtoolu", "mcptoolu", "req", "chatcmpl",
];

/// The end of the name of a member that holds an id, and the start of its value.
const END: &[u8] = b"d\":\"";
const BEFORE: [&[u8]; 6] =
    [b"\"i", b"\"item_i", b"\"call_i", b"\"tool_use_i", b"\"request_i", b"\"responseI"];

/// The id of a response in dialects that require a UUID.
const UUID: &str = "550e8400-e29b-41d4-a716-446655440000";
/// The id of a response without a prefix, as goldens have it.
pub(crate) const BARE: &str = "vYpbaJDvFZ2M1MkP";

/// Makes the ids of a response unique by adding a tag to generated ids. Works on bytes, since a broken response need
/// not be JSON.
pub fn tagged(answer: &[u8], tag: &str) -> Vec<u8> {
    let mut tagged = Vec::with_capacity(answer.len() + answer.len() / 16);
    let (mut rest, mut passed) = (answer, 0);
    for at in memchr::memmem::find_iter(answer, END) {
        let (before, id) = (at.checked_sub(passed), answer.get(at + END.len()..).unwrap_or_default());
        let Some(before) = before.and_then(|length| rest.get(..length)) else { continue };
        if !BEFORE.iter().any(|member| before.ends_with(member)) {
            continue;
        }
        let whole = [UUID, BARE].into_iter().find(|whole| id.starts_with(whole.as_bytes()));
        let (kept, left_out) = if let Some(whole) = whole {
            (whole.len().saturating_sub(tag.len()), whole.len())
        } else if let Some(length) = prefix(id) {
            (length, length)
        } else {
            continue;
        };
        tagged.extend_from_slice(before);
        tagged.extend_from_slice(END);
        tagged.extend_from_slice(id.get(..kept).unwrap_or_default());
        tagged.extend_from_slice(tag.as_bytes());
        rest = id.get(left_out..).unwrap_or_default();
        passed = answer.len() - rest.len();
    }
    tagged.extend_from_slice(rest);
    tagged
}

/// The length of the prefix with its separator, if only a number follows.
fn prefix(text: &[u8]) -> Option<usize> {
    let end = text.iter().take(32).position(|byte| *byte == b'"')?;
    let id = std::str::from_utf8(text.get(..end)?).ok()?;
    let (prefix, number) = id.split_once(['_', '-'])?;
    let is_ours = PREFIXES.contains(&prefix);
    (is_ours && number.parse::<u32>().is_ok()).then_some(prefix.len() + 1)
}

/// Counters of ids, one for each kind.
#[derive(Debug, Default)]
pub(super) struct Ids(BTreeMap<&'static str, usize>);

impl Ids {
    pub(super) fn next(&mut self, prefix: &'static str) -> String {
        let count = self.0.entry(prefix).or_default();
        *count += 1;
        format!("{prefix}_{count}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ids_of_ours_are_tagged() {
        let tag = |text: &str| String::from_utf8(tagged(text.as_bytes(), "0a")).unwrap();
        assert_eq!(
            tag(r#"{"id":"msg_1","item_id":"fc_12","call_id":"call_1","x":"msg_1"}"#),
            r#"{"id":"msg_0a1","item_id":"fc_0a12","call_id":"call_0a1","x":"msg_1"}"#
        );
        for kept in
            [r#"{"id":"msg_a"}"#, r#"{"id":"x_1"}"#, r#"{"text":"\"id\":\"msg_1\""}"#, r#"{"id":""#, ""]
        {
            assert_eq!(tag(kept), kept);
        }
        let uuid = tag(r#"{"id":"550e8400-e29b-41d4-a716-446655440000"}"#);
        assert_eq!(uuid, r#"{"id":"550e8400-e29b-41d4-a716-44665544000a"}"#);
        assert_eq!(tag(r#"{"responseId":"vYpbaJDvFZ2M1MkP"}"#), r#"{"responseId":"vYpbaJDvFZ2M1M0a"}"#);
        assert_eq!(tagged(b"\xff\"id\":\"rs_1\"", "7"), b"\xff\"id\":\"rs_71\"");
    }
}
