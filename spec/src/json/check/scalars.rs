//! Validation of strings, numbers and the like.

use super::{Checker, NumberRules, TextRules, decoded, is_number};
use crate::json::bytes::is_same;
use crate::json::fault::{FaultKind, Wanted};
use crate::json::scanner::{RawNumber, Scan};

impl Checker<'_, '_> {
    #[inline]
    pub(super) fn null(&mut self) -> Scan<()> {
        if self.scanner.peek() == b'n' { self.scanner.word("null") } else { self.not("null") }
    }

    #[inline]
    pub(super) fn boolean(&mut self) -> Scan<()> {
        match self.scanner.peek() {
            b't' => self.scanner.word("true"),
            b'f' => self.scanner.word("false"),
            _ => self.not("a boolean"),
        }
    }

    pub(super) fn constant_boolean(&mut self, wanted: bool) -> Scan<()> {
        match (self.scanner.peek(), wanted) {
            (b't', true) => self.scanner.word("true"),
            (b'f', false) => self.scanner.word("false"),
            _ => self.not(if wanted { "true" } else { "false" }),
        }
    }

    #[expect(clippy::inline_always, reason = "called for each member")]
    #[inline(always)]
    pub(super) fn string(&mut self) -> Scan<()> {
        if self.scanner.peek() == b'"' { self.scanner.pass_string() } else { self.not("a string") }
    }

    pub(super) fn text(&mut self, rules: &'static TextRules) -> Scan<()> {
        if self.scanner.peek() != b'"' {
            return self.not(rules.expected);
        }
        let start = self.scanner.offset();
        let string = self.scanner.string()?;
        if !rules.allow(&string.decoded()) {
            let raw = self.scanner.since(start);
            self.wrong_text(Wanted::Described(rules.expected), raw);
        }
        Ok(())
    }

    #[inline]
    pub(super) fn constant(&mut self, wanted: &'static str) -> Scan<()> {
        if self.scanner.pass_expected_string(wanted.as_bytes()) {
            return Ok(());
        }
        self.string_that(|text| text == wanted.as_bytes(), Wanted::Constant(wanted))
    }

    #[inline]
    pub(super) fn one_of(&mut self, wanted: &'static [&'static str]) -> Scan<()> {
        self.string_that(
            |text| wanted.iter().any(|value| is_same(value.as_bytes(), text)),
            Wanted::OneOf(wanted),
        )
    }

    /// One of these strings, or another one that a newer server has added.
    #[inline]
    pub(super) fn known(&mut self, known: &'static [&'static str]) -> Scan<()> {
        if self.scanner.peek() != b'"' {
            return self.not("a string");
        }
        let start = self.scanner.offset();
        let string = self.scanner.string_bytes()?;
        let is_among = |text: &[u8]| known.iter().any(|value| is_same(value.as_bytes(), text));
        if !(if self.scanner.escaped { is_among(&decoded(string)) } else { is_among(string) }) {
            self.newer(known, start);
        }
        Ok(())
    }

    #[cold]
    fn newer(&mut self, known: &'static [&'static str], start: usize) {
        self.is_newer = true;
        if self.known_only {
            let raw = self.scanner.since(start);
            self.wrong_text(Wanted::Known(known), raw);
        }
    }

    #[inline]
    fn string_that(&mut self, allowed: impl Fn(&[u8]) -> bool, wanted: Wanted) -> Scan<()> {
        if self.scanner.peek() != b'"' {
            return self.wrong(FaultKind::Value(wanted));
        }
        let start = self.scanner.offset();
        let string = self.scanner.string_bytes()?;
        if !(if self.scanner.escaped { allowed(&decoded(string)) } else { allowed(string) }) {
            let raw = self.scanner.since(start);
            self.wrong_text(wanted, raw);
        }
        Ok(())
    }

    #[inline]
    pub(super) fn number(&mut self) -> Scan<()> {
        if is_number(self.scanner.peek()) {
            self.scanner.pass_number().map(drop)
        } else {
            self.not("a number")
        }
    }

    #[inline]
    pub(super) fn integer(&mut self) -> Scan<()> {
        if !is_number(self.scanner.peek()) {
            return self.not("an integer");
        }
        let start = self.scanner.offset();
        if !self.scanner.pass_number()? {
            self.integral(start);
        }
        Ok(())
    }

    /// The number since the offset can be written like one that has a fractional part.
    #[cold]
    fn integral(&mut self, start: usize) {
        let number = RawNumber { raw: self.scanner.since(start), plain: false };
        if !number.is_integral() {
            self.wrong_text(Wanted::Described("an integer"), number.raw);
        }
    }

    pub(super) fn number_in(&mut self, rules: &'static NumberRules) -> Scan<()> {
        let NumberRules { is_integral, minimum, maximum, expected } = *rules;
        if !is_number(self.scanner.peek()) {
            return self.not(expected);
        }
        let number = self.scanner.number()?;
        let value: f64 = number.raw.parse().unwrap_or(f64::INFINITY);
        let whole = !is_integral || number.is_integral();
        if !whole || value < minimum || value > maximum {
            self.wrong_text(Wanted::Described(expected), number.raw);
        }
        Ok(())
    }
}
