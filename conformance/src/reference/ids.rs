//! Ids that differ from answer to answer.

/// What an id begins with, before its number.
const PREFIXES: [&str; 15] =
    ["resp", "msg", "rs", "fc", "call", "ctc", "ws", "fs", "ci", "ig", "mcpl", "mcp", "apc", "sh", "sho"];

/// Members that hold an id.
const MEMBERS: [&[u8]; 3] = [b"\"id\":\"", b"\"item_id\":\"", b"\"call_id\":\""];

/// The id of an answer's response where the dialect wants a UUID.
const UUID: &str = "550e8400-e29b-41d4-a716-446655440000";

/// Gives an answer its own ids: those that are made for every answer alike get a tag. It works on bytes,
/// for an answer need not be JSON once it is broken.
pub(super) fn tagged(answer: &[u8], tag: &str) -> Vec<u8> {
    let mut tagged = Vec::with_capacity(answer.len() + answer.len() / 16);
    let mut rest = answer;
    while let Some(at) = rest.iter().position(|byte| *byte == b'"') {
        let (before, found) = rest.split_at(at);
        tagged.extend_from_slice(before);
        let Some(member) = MEMBERS.iter().find(|member| found.starts_with(member)) else {
            tagged.push(b'"');
            rest = found.get(1..).unwrap_or_default();
            continue;
        };
        tagged.extend_from_slice(member);
        rest = found.get(member.len()..).unwrap_or_default();
        if let Some(after) = rest.strip_prefix(UUID.as_bytes()) {
            let kept = UUID.len().saturating_sub(tag.len());
            tagged.extend_from_slice(UUID.get(..kept).unwrap_or_default().as_bytes());
            tagged.extend_from_slice(tag.as_bytes());
            rest = after;
        } else if let Some(length) = prefix(rest) {
            tagged.extend_from_slice(rest.get(..length).unwrap_or_default());
            tagged.extend_from_slice(tag.as_bytes());
            rest = rest.get(length..).unwrap_or_default();
        }
    }
    tagged.extend_from_slice(rest);
    tagged
}

/// How long the prefix of an id is, with its underscore, when a number and nothing else follows.
fn prefix(text: &[u8]) -> Option<usize> {
    let end = text.iter().take(32).position(|byte| *byte == b'"')?;
    let id = std::str::from_utf8(text.get(..end)?).ok()?;
    let (prefix, number) = id.split_once('_')?;
    let is_ours = PREFIXES.contains(&prefix);
    (is_ours && number.parse::<u32>().is_ok()).then_some(prefix.len() + 1)
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
        assert_eq!(tagged(b"\xff\"id\":\"rs_1\"", "7"), b"\xff\"id\":\"rs_71\"");
    }
}
