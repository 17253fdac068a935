//! A cursor over JSON text that checks the grammar as it goes and builds nothing.

use std::borrow::Cow;

use super::bytes::{SHORT, TOPS, is_same, is_same_short, word};
use super::plain::{BLOCK, plain_run, plain_start};
use super::problem::Problem;
use super::text;
use crate::decimal::Decimal;

/// The text is not JSON. [`Scanner::problem`] returns the reason, [`Scanner::offset`] the place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Syntax;

/// The result of scanning functions.
pub type Scan<T> = Result<T, Syntax>;

/// Maximum depth of nested values for typed reading and validation. Skipping has no limit.
pub const DEEPEST: u32 = 128;

/// A cursor over JSON text.
#[derive(Debug, Clone, Copy)]
pub struct Scanner<'a> {
    text: &'a str,
    at: usize,
    /// Number of entered values around the cursor.
    pub(super) depth: u32,
    /// Whether the last name or string has escapes.
    pub(crate) escaped: bool,
    problem: Problem,
}

/// A string as written, without its quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RawString<'a> {
    /// The text between the quotes.
    pub raw: &'a str,
    /// Whether it has escapes.
    pub escaped: bool,
}

impl<'a> RawString<'a> {
    /// Returns its text.
    #[inline]
    pub fn decoded(self) -> Cow<'a, str> {
        if self.escaped { text::decode(self.raw).0 } else { Cow::Borrowed(self.raw) }
    }
}

/// A number as written.
#[derive(Debug, Clone, Copy)]
pub struct RawNumber<'a> {
    /// Its text.
    pub raw: &'a str,
    /// Whether it is written with only digits and a sign.
    pub plain: bool,
}

impl RawNumber<'_> {
    /// Returns whether the number has no fractional part, however it is written: `5.0` and `50e-1` have none.
    pub fn is_integral(&self) -> bool {
        self.plain || Decimal::read(self.raw).is_whole()
    }
}

impl<'a> Scanner<'a> {
    /// Returns a cursor at the start of the text.
    pub const fn new(text: &'a str) -> Self {
        Self { text, at: 0, depth: 0, escaped: false, problem: Problem::Value }
    }

    pub(crate) const fn length(&self) -> usize {
        self.text.len()
    }

    /// Returns the byte offset of the cursor.
    pub const fn offset(&self) -> usize {
        self.at
    }

    /// Returns why the text is not JSON, after a function returned [`Syntax`].
    pub const fn problem(&self) -> Problem {
        self.problem
    }

    /// Returns the text from an offset up to the cursor.
    pub fn since(&self, start: usize) -> &'a str {
        self.text.get(start..self.at).unwrap_or_default()
    }

    /// 0 at the end.
    #[inline]
    pub(super) fn byte_at(&self, offset: usize) -> u8 {
        self.text.as_bytes().get(offset).copied().unwrap_or(0)
    }

    pub(crate) fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    pub(crate) fn offset_of(&self, piece: &str) -> usize {
        piece.as_ptr() as usize - self.text.as_ptr() as usize
    }

    /// Moves the cursor to an offset that it had before.
    pub const fn rewind(&mut self, to: usize) {
        self.at = to;
    }

    #[cold]
    fn fail<T>(&mut self, problem: Problem) -> Scan<T> {
        self.problem = problem;
        Err(Syntax)
    }

    #[inline]
    fn byte(&self) -> u8 {
        self.byte_at(self.at)
    }

    /// Skips white space, and returns the first byte of the next token; 0 at the end.
    #[inline]
    pub fn peek(&mut self) -> u8 {
        let byte = self.byte();
        if byte > b' ' { byte } else { self.skip_space() }
    }

    fn skip_space(&mut self) -> u8 {
        while matches!(self.byte(), b' ' | b'\n' | b'\r' | b'\t') {
            self.at += 1;
        }
        self.byte()
    }

    /// Fails if anything but white space follows.
    pub fn end(&mut self) -> Scan<()> {
        self.peek();
        if self.at == self.text.len() { Ok(()) } else { self.fail(Problem::TrailingText) }
    }

    /// Skips one byte that was peeked at.
    #[inline]
    pub const fn advance(&mut self) {
        self.at += 1;
    }

    /// Reads the separator after a member or an entry. Returns whether it ends the object or array.
    #[inline]
    pub fn separator(&mut self, end: u8) -> Scan<bool> {
        let byte = self.peek();
        if byte == b',' || byte == end {
            self.at += 1;
            Ok(byte == end)
        } else {
            self.fail(Problem::Separator)
        }
    }

    /// Enters a nested value. Returns false if that is too deep.
    #[inline]
    pub const fn descend(&mut self) -> bool {
        self.depth += 1;
        self.depth <= DEEPEST
    }

    /// Leaves a nested value.
    #[inline]
    pub const fn ascend(&mut self) {
        self.depth -= 1;
    }

    /// Reads any value. If it is an object, calls `member` with the decoded name of each member; it reads its value.
    pub fn members(&mut self, mut member: impl FnMut(&mut Self, &[u8]) -> Scan<()>) -> Scan<()> {
        if self.peek() == b'{' { self.object(|scanner, name, _| member(scanner, name)) } else { self.skip() }
    }

    /// `member` is called with each name, decoded and as written, and reads the value.
    #[inline]
    pub(crate) fn object<E: From<Syntax>>(
        &mut self,
        mut member: impl FnMut(&mut Self, &[u8], RawString<'a>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.at += 1;
        if self.peek() == b'}' {
            self.at += 1;
            return Ok(());
        }
        loop {
            let name = self.name()?;
            let decoded;
            let key = if name.escaped {
                decoded = text::decode(name.raw).0;
                decoded.as_bytes()
            } else {
                name.raw.as_bytes()
            };
            member(self, key, name)?;
            if self.separator(b'}')? {
                return Ok(());
            }
        }
    }

    /// Reads a member's name and the colon; the cursor is then at the value.
    #[inline]
    pub fn name(&mut self) -> Scan<RawString<'a>> {
        let start = self.peek_at() + 1;
        let end = start + self.name_bytes()?.len();
        Ok(RawString { raw: self.text.get(start..end).unwrap_or_default(), escaped: self.escaped })
    }

    /// The offset of the name, which is read from an offset on, and the name. `usual` is the text that it probably has.
    pub(super) fn name_at(&self, from: usize, usual: Option<&str>) -> (usize, RawString<'a>) {
        let found = usual.and_then(|usual| self.text.get(from + 1..from + 1 + usual.len()));
        match found.filter(|raw| Some(*raw) == usual) {
            Some(raw) => (from + 1, RawString { raw, escaped: false }),
            None => self.any_name_at(from),
        }
    }

    #[cold]
    fn any_name_at(&self, from: usize) -> (usize, RawString<'a>) {
        let mut before = Self { at: from, ..*self };
        let start = before.peek_at() + 1;
        (start, before.name().unwrap_or(RawString { raw: "", escaped: false }))
    }

    /// Reads a member's name and the colon, and returns the bytes of the name.
    #[inline]
    pub fn name_bytes(&mut self) -> Scan<&'a [u8]> {
        let Some(name) = self.short_name() else { return self.long_name() };
        self.at += name.len() + 3;
        self.escaped = false;
        Ok(name)
    }

    /// `None` if it has 32 bytes or more, escapes, or whitespace around its colon, as few have.
    #[inline]
    fn short_name(&self) -> Option<&'a [u8]> {
        let [b'"', rest @ ..] = self.text.as_bytes().get(self.at..)? else { return None };
        let mut length = 0;
        for part in rest.first_chunk::<32>()?.as_chunks::<BLOCK>().0 {
            let plain = plain_start(part);
            length += plain;
            if plain < BLOCK {
                let [b'"', b':', value] = rest.get(length..length + 3)? else { return None };
                return rest.get(..length).filter(|_| *value > b' ');
            }
        }
        None
    }

    #[inline(never)]
    fn long_name(&mut self) -> Scan<&'a [u8]> {
        let start = self.peek_at() + 1;
        let end = self.name_end()?;
        Ok(self.text.as_bytes().get(start..end).unwrap_or_default())
    }

    /// Consumes a member's name and its colon if they are the expected ones without whitespace.
    #[expect(clippy::inline_always, reason = "called for each member")]
    #[inline(always)]
    pub(super) fn pass_expected_name(&mut self, name: &[u8]) -> bool {
        let length = name.len() + 4;
        let Some([b'"', found @ .., b'"', b':', value]) = self.window(length) else { return false };
        let hit = *value > b' ' && name.len() <= SHORT && is_same_short(name, found);
        if hit {
            self.at += length - 1;
        }
        hit
    }

    #[inline]
    fn window(&self, length: usize) -> Option<&'a [u8]> {
        self.text.as_bytes().get(self.at..)?.get(..length)
    }

    /// Consumes these bytes if they are at the cursor.
    #[inline]
    pub(crate) fn pass_same(&mut self, bytes: &[u8]) -> bool {
        let end = self.at + bytes.len();
        let hit = self.text.as_bytes().get(self.at..end) == Some(bytes);
        if hit {
            self.at = end;
        }
        hit
    }

    /// Passes a value of the same kind as one that begins with this byte: a string, a whole number, or any number of
    /// spaces. Returns whether it is plain: nothing in it is escaped as a number, and no character can be U+FFFD.
    #[inline]
    pub(crate) fn pass_alike(&mut self, first: u8) -> Option<bool> {
        match (first, self.byte()) {
            (b'"', b'"') => {
                let start = self.at;
                let is_ascii = self.pass_string_within(|window| window & TOPS == 0).ok()?;
                Some(is_ascii || self.is_plain_since(start))
            }
            (b'0'..=b'9' | b'-', b'0'..=b'9' | b'-') => self.pass_number().ok().filter(|is_plain| *is_plain),
            (b' ', _) => Some(self.pass_spaces()),
            _ => None,
        }
    }

    /// Passes any number of spaces, and returns true.
    pub(crate) fn pass_spaces(&mut self) -> bool {
        while self.byte() == b' ' {
            self.at += 1;
        }
        true
    }

    /// In the string that was passed from there on, no character is escaped as a number, or can be U+FFFD.
    fn is_plain_since(&self, start: usize) -> bool {
        let bytes = self.since(start).as_bytes();
        let has_number = || bytes.windows(2).any(|pair| pair == b"\\u");
        !(bytes.contains(&LOST) || self.escaped && has_number())
    }

    /// Passes a string if it is the expected one, written without escapes.
    #[expect(clippy::inline_always, reason = "called for each member")]
    #[inline(always)]
    pub(super) fn pass_expected_string(&mut self, text: &[u8]) -> bool {
        let length = text.len() + 2;
        let Some([b'"', found @ .., b'"']) = self.window(length) else { return false };
        let hit = is_same(found, text);
        if hit {
            self.at += length;
        }
        hit
    }

    #[inline]
    fn peek_at(&mut self) -> usize {
        self.peek();
        self.at
    }

    /// Skips a member's name and the colon, and returns the end of the name.
    #[inline]
    fn name_end(&mut self) -> Scan<usize> {
        if self.byte() != b'"' {
            return self.fail(Problem::Name);
        }
        self.pass_string()?;
        let end = self.at - 1;
        if self.peek() != b':' {
            return self.fail(Problem::Colon);
        }
        self.at += 1;
        self.peek();
        Ok(end)
    }

    /// Reads a string; the cursor is at its opening quote.
    #[inline]
    pub fn string(&mut self) -> Scan<RawString<'a>> {
        let start = self.at + 1;
        self.pass_string()?;
        Ok(RawString { raw: self.text.get(start..self.at - 1).unwrap_or_default(), escaped: self.escaped })
    }

    #[inline]
    pub(super) fn string_bytes(&mut self) -> Scan<&'a [u8]> {
        let start = self.at + 1;
        self.pass_string()?;
        Ok(self.text.as_bytes().get(start..self.at - 1).unwrap_or_default())
    }

    /// Skips a string; the cursor is at its opening quote.
    #[inline]
    pub(super) fn pass_string(&mut self) -> Scan<()> {
        self.pass_string_within(|_| false).map(drop)
    }

    /// Skips a string. Returns whether it ends within two words that satisfy a predicate.
    #[inline]
    fn pass_string_within(&mut self, is_good: impl Fn(u64) -> bool) -> Scan<bool> {
        let start = self.at + 1;
        self.escaped = false;
        // Most strings end within two words. This path has no loop, and one branch that is nearly always taken.
        let bytes = self.text.as_bytes();
        let mut at = start;
        if let Some(window) = bytes.get(start..).and_then(|rest| rest.first_chunk::<16>()) {
            at += plain_start(window);
            if bytes.get(at) == Some(&b'"') {
                self.at = at + 1;
                return Ok(is_good(word(window, 0) | word(window, 8)));
            }
        }
        self.pass_long_string(at).map(|()| false)
    }

    fn pass_long_string(&mut self, mut at: usize) -> Scan<()> {
        let bytes = self.text.as_bytes();
        loop {
            at += plain_run(bytes.get(at..).unwrap_or_default());
            match bytes.get(at) {
                Some(b'"') => {
                    self.at = at + 1;
                    return Ok(());
                }
                Some(b'\\') => {
                    self.escaped = true;
                    at = self.escape(at)?;
                }
                Some(_) => {
                    self.at = at;
                    return self.fail(Problem::ControlCharacter);
                }
                None => {
                    self.at = at;
                    return self.fail(Problem::UnclosedString);
                }
            }
        }
    }

    fn escape(&mut self, at: usize) -> Scan<usize> {
        let bytes = self.text.as_bytes();
        match bytes.get(at + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(at + 2),
            Some(b'u')
                if bytes.get(at + 2..at + 6).is_some_and(|hex| hex.iter().all(u8::is_ascii_hexdigit)) =>
            {
                Ok(at + 6)
            }
            _ => {
                self.at = at;
                self.fail(Problem::Escape)
            }
        }
    }

    /// Reads a number; the cursor is at its first character.
    #[inline]
    pub fn number(&mut self) -> Scan<RawNumber<'a>> {
        let start = self.at;
        let plain = self.pass_number()?;
        Ok(RawNumber { raw: self.since(start), plain })
    }

    /// Skips a number. Returns whether it is written with only digits and a sign.
    #[inline]
    pub(super) fn pass_number(&mut self) -> Scan<bool> {
        let bytes = self.text.as_bytes();
        let mut at = self.at;
        if bytes.get(at) == Some(&b'-') {
            at += 1;
        }
        match bytes.get(at) {
            Some(b'0') => at += 1,
            Some(b'1'..=b'9') => at = digits(bytes, at),
            _ => return self.fail(Problem::Value),
        }
        self.at = at;
        match bytes.get(at) {
            Some(b'.' | b'e' | b'E') => self.pass_fraction().map(|()| false),
            _ => Ok(true),
        }
    }

    fn pass_fraction(&mut self) -> Scan<()> {
        let bytes = self.text.as_bytes();
        if self.byte() == b'.' {
            let end = digits(bytes, self.at + 1);
            if end == self.at + 1 {
                return self.fail(Problem::Fraction);
            }
            self.at = end;
        }
        if matches!(self.byte(), b'e' | b'E') {
            self.at += 1;
            if matches!(self.byte(), b'+' | b'-') {
                self.at += 1;
            }
            let end = digits(bytes, self.at);
            if end == self.at {
                return self.fail(Problem::Exponent);
            }
            self.at = end;
        }
        Ok(())
    }

    /// Reads `true`, `false` or `null`; the cursor is at its first character.
    #[inline]
    pub fn word(&mut self, word: &'static str) -> Scan<()> {
        let rest = self.text.as_bytes().get(self.at..self.at + word.len());
        if rest == Some(word.as_bytes()) {
            self.at += word.len();
            Ok(())
        } else {
            self.fail(Problem::Value)
        }
    }

    /// Reads any value and returns its text.
    pub fn raw(&mut self) -> Scan<&'a str> {
        self.peek();
        let start = self.at;
        self.skip()?;
        Ok(self.since(start))
    }

    /// Skips any value and checks its grammar. Nesting uses no stack.
    #[inline]
    pub fn skip(&mut self) -> Scan<()> {
        match self.peek() {
            b'"' => self.pass_string(),
            b'{' | b'[' => self.skip_nested(),
            b't' => self.word("true"),
            b'f' => self.word("false"),
            b'n' => self.word("null"),
            _ => self.pass_number().map(drop),
        }
    }

    /// Skips any value of a text that is JSON: within lists and objects, only brackets are counted.
    pub fn skip_valid(&mut self) -> Scan<()> {
        let open = self.peek();
        let close = match open {
            b'{' => b'}',
            b'[' => b']',
            _ => return self.skip(),
        };
        let bytes = self.text.as_bytes();
        let mut depth = 0_usize;
        while let Some(&byte) = bytes.get(self.at) {
            if byte == b'"' {
                self.pass_string()?;
                continue;
            }
            self.at += 1;
            if byte == open {
                depth += 1;
            } else if byte == close {
                depth -= 1;
                if depth == 0 {
                    return Ok(());
                }
            }
        }
        self.fail(Problem::Separator)
    }

    fn skip_nested(&mut self) -> Scan<()> {
        let mut open = Nesting::default();
        loop {
            match self.peek() {
                kind @ (b'{' | b'[') => {
                    self.at += 1;
                    let object = kind == b'{';
                    if self.peek() == if object { b'}' } else { b']' } {
                        self.at += 1;
                    } else {
                        open.push(object);
                        if object {
                            self.peek();
                            self.name_end()?;
                        }
                        continue;
                    }
                }
                b'"' => self.pass_string()?,
                b't' => self.word("true")?,
                b'f' => self.word("false")?,
                b'n' => self.word("null")?,
                _ => drop(self.pass_number()?),
            }
            loop {
                let Some(object) = open.top() else { return Ok(()) };
                match (self.peek(), object) {
                    (b',', true) => {
                        self.at += 1;
                        self.peek();
                        self.name_end()?;
                        break;
                    }
                    (b',', false) => {
                        self.at += 1;
                        break;
                    }
                    (b'}', true) | (b']', false) => {
                        self.at += 1;
                        open.pop();
                    }
                    _ => return self.fail(Problem::Separator),
                }
            }
        }
    }

    /// Returns the string value of a member of the object at the cursor, without moving the cursor. Returns `None` if
    /// the member is missing or not a string.
    pub fn member(&self, wanted: &str) -> Scan<Option<RawString<'a>>> {
        let mut ahead = *self;
        if ahead.peek() != b'{' {
            return Ok(None);
        }
        ahead.at += 1;
        if ahead.peek() == b'}' {
            return Ok(None);
        }
        loop {
            let name = ahead.name()?;
            let hit = if name.escaped {
                text::decode(name.raw).0 == wanted
            } else {
                is_same(name.raw.as_bytes(), wanted.as_bytes())
            };
            if hit && ahead.byte() == b'"' {
                return ahead.string().map(Some);
            }
            ahead.skip()?;
            if ahead.separator(b'}')? {
                return Ok(None);
            }
        }
    }
}

#[inline]
fn digits(bytes: &[u8], mut at: usize) -> usize {
    while bytes.get(at).is_some_and(u8::is_ascii_digit) {
        at += 1;
    }
    at
}

/// The first byte of U+FFFD, which replaces lost characters.
pub(crate) const LOST: u8 = 0xef;

/// Kinds of the open values: one bit each, set for objects.
#[derive(Default)]
struct Nesting {
    word: u64,
    depth: u32,
    deeper: Vec<u64>,
}

impl Nesting {
    fn push(&mut self, object: bool) {
        if self.depth > 0 && self.depth.is_multiple_of(64) {
            self.deeper.push(self.word);
            self.word = 0;
        }
        self.word = self.word << 1 | u64::from(object);
        self.depth += 1;
    }

    fn pop(&mut self) {
        self.word >>= 1;
        self.depth -= 1;
        if self.depth > 0 && self.depth.is_multiple_of(64) {
            self.word = self.deeper.pop().unwrap_or_default();
        }
    }

    const fn top(&self) -> Option<bool> {
        if self.depth == 0 { None } else { Some(self.word & 1 == 1) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> RawNumber<'_> {
        Scanner::new(text).number().unwrap()
    }

    #[test]
    fn integers_however_written() {
        for text in
            ["0", "-0", "5", "5.0", "-5.00", "0.0", "50e-1", "1.50e1", "1e400", "0e-9", "1.5E+3", "100e-2"]
        {
            assert!(number(text).is_integral(), "{text}");
        }
        for text in ["0.5", "5.01", "5e-1", "1.55e1", "10e-2", "-0.1", "1e-99999999999999999999"] {
            assert!(!number(text).is_integral(), "{text}");
        }
    }

    #[test]
    fn the_grammar_is_that_of_serde_json() {
        let texts = [
            "",
            " ",
            "nul",
            "null",
            "[1,]",
            "[1 2]",
            "{\"a\"}",
            "{\"a\":1,}",
            "{a:1}",
            "01",
            "-",
            "1.",
            "1.e1",
            "1e",
            "1e+",
            "\"\u{1}\"",
            "\"\\x\"",
            "\"\\u12g4\"",
            "\"a",
            "[[]",
            "{}",
            "[]",
            "{\"a\":[{},[],{\"b\":null}]}",
            "1 2",
            "\u{a0}1",
            "tru",
            "truee",
            "-1.5e-7",
            "\t[ 1 , 2 ]\r\n",
            "\"é😀\"",
            "\"12345678901234567\\n\"",
        ];
        for text in texts {
            let mut scanner = Scanner::new(text);
            let ours = scanner.skip().and_then(|()| scanner.end()).is_ok();
            assert_eq!(ours, serde_json::from_str::<serde_json::Value>(text).is_ok(), "{text:?}");
        }
    }

    #[test]
    fn values_of_valid_texts_end_where_they_end() {
        for value in [
            "1",
            "null",
            "\"a]\"",
            "[]",
            "{}",
            "[[],{\"]\":[1]},\"\\\"]\"]",
            "{\"}\":{\"a\":[{}]},\"b\":\"}\"}",
        ] {
            let text = format!(" {value},2");
            let (mut quick, mut checked) = (Scanner::new(&text), Scanner::new(&text));
            assert_eq!((quick.skip_valid(), checked.skip()), (Ok(()), Ok(())), "{text}");
            assert_eq!((quick.offset(), quick.since(1)), (checked.offset(), value), "{text}");
        }
        assert_eq!(Scanner::new("[1").skip_valid(), Err(Syntax));
    }

    #[test]
    fn deep_nesting_is_skipped_without_stack() {
        let deep = "[{\"a\":".repeat(50_000) + "1" + &"}]".repeat(50_000);
        let mut scanner = Scanner::new(&deep);
        assert!(scanner.skip().and_then(|()| scanner.end()).is_ok());
        let crossed = deep.replacen("1}]", "1]}", 1);
        assert_eq!(Scanner::new(&crossed).skip(), Err(Syntax));
    }

    #[test]
    fn a_member_is_found_wherever_it_stands() {
        let text = r#"{"a":{"type":"no"},"b":["type"],"t\u0079pe":"yes"}"#;
        assert_eq!(Scanner::new(text).member("type").unwrap().map(|found| found.raw), Some("yes"));
        assert!(Scanner::new("[1]").member("type").unwrap().is_none());
    }
}
