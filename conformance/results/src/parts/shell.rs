//! Words of a shell.

use std::borrow::Cow;

/// Quotes a word, so that a shell takes it for one.
pub fn shell_word(word: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@,+=%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return Cow::Borrowed(word);
    }
    Cow::Owned(format!("'{}'", word.replace('\'', r"'\''")))
}

#[cfg(test)]
mod tests {
    use crate::shell_word;

    #[test]
    fn words_are_safe_in_a_shell() {
        assert_eq!(shell_word("a/b-c.sse"), "a/b-c.sse");
        assert_eq!(shell_word("http://h.test:80/v1"), "http://h.test:80/v1");
        assert_eq!(shell_word("a b;$(x)'"), r"'a b;$(x)'\'''");
        assert_eq!(shell_word(""), "''");
    }
}
