//! Validation of JSON text by [`Schema`] tables. It parses a value once, builds nothing, and records every fault.

mod object;
mod outline;
mod scalars;
#[allow(dead_code, reason = "a dialect need not have schemas of all kinds")]
mod schema;
mod union;

use std::mem;

pub use outline::Outline;
#[allow(unused_imports, reason = "a dialect need not have schemas of all kinds")]
pub(crate) use schema::{
    ListSchema, Member, MemberRules, NumberRules, ObjectSchema, Others, Schema, Tag, TextPattern, TextRules,
    UnionSchema,
};

use super::Varying;
use super::fault::{Actual, Fault, FaultKind, Faults, Wanted};
use super::scanner::{Scan, Scanner};
use super::text::decode;

/// A cursor that records schema faults.
#[derive(Debug)]
pub(crate) struct Checker<'a, 'm> {
    pub(crate) scanner: Scanner<'a>,
    faults: Faults,
    pub(crate) outline: &'m mut Outline,
    pub(crate) varying: Varying,
    /// Depth of the values entered inside the object whose members are recorded.
    deepest: u32,
    /// Number of bytes that were read to choose branches of unions.
    tried: usize,
    /// Whether an open enumeration had an unknown value.
    pub(crate) is_newer: bool,
    /// Whether such a value is a fault.
    pub(crate) known_only: bool,
}

impl<'a, 'm> Checker<'a, 'm> {
    /// Records the places of the members of an object.
    pub(crate) fn new(text: &'a str, outline: &'m mut Outline) -> Self {
        Self {
            scanner: Scanner::new(text),
            faults: Faults::default(),
            outline,
            varying: Varying::default(),
            deepest: 0,
            tried: 0,
            is_newer: false,
            known_only: false,
        }
    }

    /// The offset behind the value, if that is valid, and not newer than the dialect.
    pub(crate) fn end_of_valid(
        text: &'a str,
        offset: usize,
        schema: &Schema,
        outline: &'m mut Outline,
    ) -> Option<usize> {
        let mut checker = Self::new(text, outline);
        checker.scanner.rewind(offset);
        checker.check(schema).ok()?;
        (checker.is_clean() && !checker.is_newer).then_some(checker.scanner.offset())
    }

    /// If the value is an object and recording is enabled, its members are recorded. `recurs` is whether such values often
    /// repeat.
    #[inline]
    pub(crate) fn outlined(&mut self, schema: &Schema, recurs: bool) -> Scan<()> {
        self.outline.expect(recurs);
        self.check(schema)?;
        self.outline.expect_no_more();
        Ok(())
    }

    /// Records the value since an offset as one that may vary: if it is a text or a whole number, any other one is valid,
    /// too.
    #[inline]
    pub(crate) fn varies(&mut self, start: usize) {
        let first = self.scanner.byte_at(start);
        if first == b'"' || is_number(first) {
            self.varying.add(start..self.scanner.offset());
        }
    }

    /// Moves behind the value at the cursor. Fails only if the text is not JSON; other faults are recorded.
    #[inline]
    pub(crate) fn check(&mut self, schema: &Schema) -> Scan<()> {
        // Nearly all values of events.
        match *schema {
            Schema::String => self.string(),
            Schema::Integer => self.integer(),
            Schema::Constant(wanted) => self.constant(wanted),
            _ => self.check_other(schema),
        }
    }

    #[inline(never)]
    fn check_other(&mut self, schema: &Schema) -> Scan<()> {
        match *schema {
            Schema::String => self.string(),
            Schema::Integer => self.integer(),
            Schema::Constant(wanted) => self.constant(wanted),
            Schema::Object(object) => self.object(object),
            Schema::List(list) => self.list(list),
            Schema::Nullable(_) if self.scanner.peek() == b'n' => self.scanner.word("null"),
            Schema::Nullable(inner) | Schema::Named(inner) => self.check_other(inner),
            Schema::Union(union) => self.union(union),
            Schema::OneOf(wanted) => self.one_of(wanted),
            Schema::Known(known) => self.known(known),
            Schema::Boolean => self.boolean(),
            Schema::Null => self.null(),
            Schema::Any => self.scanner.skip(),
            Schema::Number => self.number(),
            Schema::NumberIn(rules) => self.number_in(rules),
            Schema::Text(rules) => self.text(rules),
            Schema::ConstantBoolean(wanted) => self.constant_boolean(wanted),
            Schema::FirstOf(schemas) => self.first_of(schemas),
            #[cfg(feature = "folders")]
            Schema::Later(table) => match table.get() {
                Some(schema) => self.check_other(schema),
                None => self.scanner.skip(),
            },
        }
    }

    /// The listed faults so far, and the number of others.
    pub(crate) fn finish(&mut self) -> (Vec<Fault>, usize) {
        mem::take(&mut self.faults).finish()
    }

    #[inline]
    pub(crate) const fn is_clean(&self) -> bool {
        self.faults.count == 0
    }

    /// The object is at the cursor, which does not move. `member` gets the name, and the range of the value.
    pub(crate) fn members(&self, mut member: impl FnMut(&str, (usize, usize))) -> Scan<()> {
        let mut ahead = self.scanner;
        if ahead.peek() != b'{' {
            return Ok(());
        }
        ahead.object(|ahead, _, name| {
            let start = ahead.offset();
            ahead.skip()?;
            member(&name.decoded(), (start, ahead.offset()));
            Ok(())
        })
    }

    #[cold]
    fn wrong(&mut self, kind: FaultKind) -> Scan<()> {
        let raw = self.scanner.raw()?;
        self.faults.add(kind, || Actual::of(raw));
        Ok(())
    }

    /// Records that the value at the cursor does not match the description.
    #[cold]
    fn not(&mut self, description: &'static str) -> Scan<()> {
        self.wrong(FaultKind::Value(Wanted::Described(description)))
    }

    #[cold]
    fn wrong_text(&mut self, wanted: Wanted, raw: &str) {
        self.faults.add(FaultKind::Value(wanted), || Actual::of(raw));
    }
}

#[inline]
const fn is_number(byte: u8) -> bool {
    byte == b'-' || byte.is_ascii_digit()
}

#[cold]
fn decoded(raw: &[u8]) -> Vec<u8> {
    decode(&String::from_utf8_lossy(raw)).0.into_owned().into_bytes()
}
