//! The tokens of log probabilities.

use crate::engine::Object;

/// Returns the joined tokens: by their bytes if all have them, as a token may be part of a character. Returns
/// `None` if unknown.
pub(super) fn spelled(tokens: &[Object<'_>]) -> Option<String> {
    if tokens.is_empty() {
        return None;
    }
    let bytes = |token: &Object<'_>| -> Option<Vec<u8>> {
        token.entries("bytes")?.into_iter().map(|byte| byte.parse().ok()).collect()
    };
    let bytes: Option<Vec<Vec<u8>>> = tokens.iter().map(bytes).collect();
    if let Some(bytes) = bytes.map(|all| all.concat()).filter(|bytes| !bytes.is_empty()) {
        return String::from_utf8(bytes).ok();
    }
    let text: String = tokens.iter().map(|token| token.string("token")).collect::<Option<_>>()?;
    (!text.contains(char::REPLACEMENT_CHARACTER)).then_some(text)
}

#[cfg(test)]
mod tests {
    use spec::json;

    use super::*;

    fn spelling(list: &str) -> Option<String> {
        let tokens: Vec<Object<'_>> = json::entries(list).unwrap().into_iter().map(Object::new).collect();
        spelled(&tokens)
    }

    #[test]
    fn tokens_spell_what_they_say() {
        assert_eq!(spelling(r#"[{"token":"Hel"},{"token":"lo"}]"#).as_deref(), Some("Hello"));
        assert_eq!(spelling(r#"[{"token":"a\u0308","bytes":null}]"#).as_deref(), Some("a\u{308}"));
    }

    #[test]
    fn pieces_of_characters_are_spelled_by_their_bytes() {
        let halves = r#"[{"token":"\\xc3","bytes":[195]},{"token":"\\xa4","bytes":[164]}]"#;
        assert_eq!(spelling(halves).as_deref(), Some("ä"));
    }

    #[test]
    fn what_is_not_known_is_not_guessed() {
        for list in
            ["[]", r#"[{"logprob":-1}]"#, r#"[{"token":"�"}]"#, r#"[{"token":"\\xc3","bytes":[195]}]"#]
        {
            assert_eq!(spelling(list), None, "{list}");
        }
    }
}
