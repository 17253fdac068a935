//! Tokens that rules look for in texts.

use std::sync::LazyLock;

use memchr::memmem::Finder;
use spec::json;
use spec::table::RequestShape;

use super::view::Object;

static TOKENS: LazyLock<Vec<(&str, Finder<'_>)>> = LazyLock::new(|| {
    let all = catalogue::RULES.iter().flat_map(|rule| rule.tokens);
    all.map(|token| (*token, Finder::new(*token))).collect()
});

/// Characters that follow the bracket of other tokens.
static BRACKETED: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let inside = TOKENS.iter().filter_map(|(token, _)| token.strip_prefix('['));
    inside.filter_map(|rest| rest.bytes().next()).collect()
});

/// The beginning of an escaped `<`.
static ESCAPED: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new("\\u003"));

/// The tokens in a text, as a bit for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Tokens(u64);

impl Tokens {
    /// Most texts have no character that begins a token.
    pub(crate) fn in_text(text: &str) -> Self {
        if memchr::memchr2(b'<', b'[', text.as_bytes()).is_none() {
            return Self::default();
        }
        let is_in = |(_, finder): &(&str, Finder<'_>)| finder.find(text.as_bytes()).is_some();
        let found = TOKENS.iter().enumerate().filter(|(_, token)| is_in(token));
        Self(found.fold(0, |bits, (at, _)| bits | 1 << at))
    }

    /// Most values may not.
    pub(crate) fn may_be_in_json(raw: &str) -> bool {
        let raw = raw.as_bytes();
        let is_in_token = |at: usize| raw.get(at + 1).is_some_and(|byte| BRACKETED.contains(byte));
        memchr::memchr(b'<', raw).is_some()
            || ESCAPED.find(raw).is_some()
            || memchr::memchr_iter(b'[', raw).any(is_in_token)
    }

    /// Texts can be escaped in any way.
    pub(crate) fn in_json(raw: &str) -> Self {
        if !Self::may_be_in_json(raw) {
            return Self::default();
        }
        Self::in_text(&json::decode(raw).0)
    }

    pub(crate) const fn and(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    pub(crate) fn first_beside(self, others: Self) -> Option<&'static str> {
        let left = self.0 & !others.0;
        TOKENS.get(usize::try_from(left.trailing_zeros()).ok()?).map(|(token, _)| *token)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct RequestTokens {
    pub(crate) tokens: Tokens,
    /// Whether it continues a conversation that is not part of it.
    pub(crate) is_continued: bool,
}

impl RequestTokens {
    pub(super) fn of(asked: &Object<'_>, request: &RequestShape) -> Self {
        let is_continued = request.continues.iter().any(|name| asked.value(name).is_some());
        Self { tokens: Tokens::in_json(asked.text()), is_continued }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_found_however_they_are_written() {
        let in_json = Tokens::in_json(r#"{"input":"What is \u003cthink> for?"}"#);
        assert_eq!(in_json.first_beside(Tokens::default()), Some("<think>"));
        assert_eq!(Tokens::in_text("<think>").first_beside(in_json), None);
        assert_eq!(Tokens::in_text("<think></think>").first_beside(in_json), Some("</think>"));
        assert_eq!(Tokens::in_text("a < b, [x] and <p>").first_beside(Tokens::default()), None);
        assert!(TOKENS.len() <= 64, "{}", TOKENS.len());
    }
}
