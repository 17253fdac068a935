//! A text within JSON that may be JSON itself, and may come in pieces.

use std::fmt::Write as _;
use std::hash::{BuildHasher as _, RandomState};

/// The first of the characters that stand for bytes that are not UTF-8.
pub(in crate::capture) const KEPT: char = '\u{10ff00}';

/// The character that takes the place of another one. It takes as many bytes. Spaces, quotes and
/// escapes stay.
pub(in crate::capture) const fn filler(c: char) -> char {
    match c {
        ' ' | '"' | '\\' | '/' | '\u{fffd}' | KEPT.. => c,
        _ if c.is_ascii_control() => c,
        _ => match c.len_utf8() {
            1 => 'x',
            2 => '\u{e5}',
            3 => '\u{5965}',
            _ => '\u{25965}',
        },
    }
}

/// How filler is chosen: the same for all texts, or by a key, so that texts that begin alike have filler that begins alike, and others do
/// not.
#[derive(Debug, Clone, Default)]
pub(in crate::capture) struct Ink {
    key: Option<RandomState>,
    /// Depends on all characters of the text so far.
    state: u64,
}

impl Ink {
    pub(in crate::capture) fn keyed(key: &RandomState) -> Self {
        Self { key: Some(key.clone()), state: 0 }
    }

    pub(in crate::capture) fn filler(&mut self, c: char) -> char {
        let plain = filler(c);
        let Some(key) = &self.key else { return plain };
        self.state = key.hash_one((self.state, c));
        let one_of = |first: char, count: u32| {
            let offset = u32::try_from(self.state % u64::from(count)).unwrap_or_default();
            char::from_u32(u32::from(first) + offset).unwrap_or(first)
        };
        match (plain == c && c != 'x', c, plain.len_utf8()) {
            (true, ..) => c,
            (_, '0'..='9', _) => one_of('0', 10),
            (_, 'A'..='Z', _) => one_of('A', 26),
            (.., 1) => one_of('a', 26),
            (.., 2) => one_of('\u{e0}', 23),
            (.., 3) => one_of('\u{4e00}', 0x5000),
            _ => one_of('\u{20000}', 0xa000),
        }
    }
}

/// The words of JSON.
const LITERALS: [&str; 3] = ["true", "false", "null"];
/// The digits of an escaped filler.
const DIGITS: [char; 4] = ['0', '0', '7', '8'];

#[derive(Debug, Default)]
pub(in crate::capture) struct Nested {
    ink: Ink,
    state: NestedState,
    /// For each value around the cursor, whether it is an object.
    objects: Vec<bool>,
    /// The last character outside of strings that is no space.
    last: Option<char>,
    /// The letters of a word of JSON so far.
    word: String,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum NestedState {
    #[default]
    Begins,
    /// It is not JSON.
    Plain,
    Outside,
    Within {
        is_name: bool,
        escape: Escape,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Escape {
    None,
    Begins,
    /// The number of its digits that have come.
    Digits(usize),
}

impl Nested {
    pub(in crate::capture) fn with(ink: Ink) -> Self {
        Self { ink, ..Self::default() }
    }

    /// Appends a piece without its text. It is the text between the quotes of a string.
    pub(in crate::capture) fn replace(&mut self, raw: &str, out: &mut String) {
        let mut rest = raw;
        while let Some(next) = rest.chars().next() {
            let (unit, is_code) = match rest.as_bytes() {
                [b'\\', b'u', ..]
                    if rest.get(2..6).is_some_and(|hex| u16::from_str_radix(hex, 16).is_ok()) =>
                {
                    (6, true)
                }
                [b'\\', ..] => (1 + rest[1..].chars().next().map_or(0, char::len_utf8), false),
                _ => (next.len_utf8(), false),
            };
            let (unit, behind) = rest.split_at(unit);
            rest = behind;
            if is_code {
                self.code(unit, out);
                continue;
            }
            let c = spec::json::decode(unit).0.chars().next().unwrap_or(next);
            let replaced = self.next(c);
            if replaced == c || unit.starts_with('\\') { out.push_str(unit) } else { out.push(replaced) }
        }
    }

    /// Halves of a pair stay halves.
    fn code(&mut self, unit: &str, out: &mut String) {
        let code = unit.get(2..).and_then(|hex| u32::from_str_radix(hex, 16).ok()).unwrap_or_default();
        let half = if code < 0xdc00 { 0xd856 } else { 0xdd65 };
        let replaced = char::from_u32(code).map_or(half, |c| u32::from(self.next(c)));
        if replaced == code {
            out.push_str(unit);
        } else {
            let _ = write!(out, "\\u{replaced:04x}");
        }
    }

    fn next(&mut self, c: char) -> char {
        match self.state {
            NestedState::Begins if c.is_ascii_whitespace() => c,
            NestedState::Begins if matches!(c, '{' | '[') => {
                self.state = NestedState::Outside;
                self.outside(c)
            }
            NestedState::Begins => {
                self.state = NestedState::Plain;
                self.ink.filler(c)
            }
            NestedState::Plain => self.ink.filler(c),
            NestedState::Outside => self.outside(c),
            NestedState::Within { is_name, escape } => self.within(c, is_name, escape),
        }
    }

    fn outside(&mut self, c: char) -> char {
        let word = std::mem::take(&mut self.word);
        match c {
            '"' => {
                let is_name = self.objects.last() == Some(&true) && matches!(self.last, Some('{' | ','));
                self.state = NestedState::Within { is_name, escape: Escape::None };
                // As a value of its own, it has the same filler.
                self.ink.state = 0;
            }
            '{' | '[' => self.objects.push(c == '{'),
            '}' | ']' => drop(self.objects.pop()),
            ',' | ':' | '-' | '+' | '.' | '0'..='9' => {}
            ' ' | '\t' | '\n' | '\r' => return c,
            'e' | 'E' if word.is_empty() && self.last.is_some_and(|last| last.is_ascii_digit()) => {}
            _ => {
                self.word = word;
                self.word.push(c);
                if !LITERALS.iter().any(|literal| literal.starts_with(&*self.word)) {
                    self.state = NestedState::Plain;
                    return self.ink.filler(c);
                }
            }
        }
        self.last = Some(c);
        c
    }

    fn within(&mut self, c: char, is_name: bool, escape: Escape) -> char {
        let mut goes_on = |escape| self.state = NestedState::Within { is_name, escape };
        match escape {
            Escape::None if c == '"' => {
                self.state = NestedState::Outside;
                self.last = Some(c);
                c
            }
            Escape::None if c == '\\' => {
                goes_on(Escape::Begins);
                c
            }
            Escape::Begins => {
                goes_on(if c == 'u' { Escape::Digits(0) } else { Escape::None });
                c
            }
            Escape::Digits(count) if count < DIGITS.len() => {
                goes_on(Escape::Digits(count + 1));
                if is_name { c } else { DIGITS[count] }
            }
            _ => {
                goes_on(Escape::None);
                // The character behind an escape may begin one.
                match escape {
                    Escape::Digits(_) => self.within(c, is_name, Escape::None),
                    _ if is_name => c,
                    _ => self.ink.filler(c),
                }
            }
        }
    }
}
