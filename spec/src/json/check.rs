//! The building blocks of generated validators, which parse a value once, build nothing, and record every fault.

use std::borrow::Cow;
use std::mem;

use super::Varying;
use super::fault::{Actual, Fault, FaultKind, Faults, Segment, Wanted};
use super::outline::{Outline, OutlineMember, Seen};
use super::problem::Problem;
use super::scanner::{DEEPEST, RawNumber, RawString, Scan, Scanner};
use super::text::decode;

/// A validator of one schema, which reads the value at the cursor to its end.
/// It fails only if the text is not JSON; other faults are recorded.
pub type Check = fn(&mut Checker<'_>) -> Scan<()>;

/// A cursor that records schema faults.
#[derive(Debug)]
pub struct Checker<'a> {
    scanner: Scanner<'a>,
    faults: Faults,
    outline: Outline,
    varying: Varying,
    /// Depth of the values entered inside the object whose members are recorded.
    deepest: u32,
    /// Whether an open enumeration had an unknown value.
    is_newer: bool,
    /// Whether such a value is a fault.
    known_only: bool,
}

/// The place of an undeclared member.
pub const UNDECLARED: u32 = u32::MAX;

/// The declared members of an object.
#[derive(Debug, Clone, Copy)]
pub struct Members {
    /// Their names, in their usual order; the position of a member is its number.
    pub names: &'static [&'static str],
    /// The required ones, one bit each.
    pub required: u64,
}

/// A literal prefix, followed by characters of one class.
#[derive(Debug)]
pub struct TextPattern {
    /// The prefix.
    pub prefix: &'static str,
    /// Inclusive ranges of the class.
    pub class: &'static [(char, char)],
    /// Exact number of characters of the class; at least one if absent.
    pub count: Option<usize>,
}

/// Limits of a string.
#[derive(Debug)]
pub struct TextRules {
    /// Minimum and maximum number of characters.
    pub length: (u64, u64),
    /// The pattern, if it has one.
    pub pattern: Option<TextPattern>,
    /// The limits as text.
    pub expected: &'static str,
}

impl<'a> Checker<'a> {
    /// Returns a checker at the start of the text.
    pub fn new(text: &'a str) -> Self {
        Self::with_outline(text, Outline::default())
    }

    /// Returns a checker that reuses memory for the members of an object.
    pub(crate) fn with_outline(text: &'a str, outline: Outline) -> Self {
        let (faults, varying) = (Faults::default(), Varying::default());
        Self {
            scanner: Scanner::new(text),
            faults,
            outline,
            varying,
            deepest: 0,
            is_newer: false,
            known_only: false,
        }
    }

    /// Returns the recorded members of an object with their memory, and the values that may vary.
    pub(crate) fn into_notes(self) -> (Outline, Varying) {
        (self.outline, self.varying)
    }

    /// Records the members of the next value if it is an object and recording is enabled. `recurs` is whether such
    /// values often repeat.
    #[inline]
    pub(crate) fn outlined(&mut self, recurs: bool, check: impl FnOnce(&mut Self) -> Scan<()>) -> Scan<()> {
        self.outline.expect(recurs);
        check(self)?;
        self.outline.expect_no_more();
        Ok(())
    }

    /// Checks a value that may vary: if it is a text or a whole number, any other one is valid, too.
    #[inline]
    pub fn varying(&mut self, check: impl FnOnce(&mut Self) -> Scan<()>) -> Scan<()> {
        let start = self.scanner.offset();
        let first = self.scanner.peek();
        check(self)?;
        if first == b'"' || is_number(first) {
            self.varying.add(start..self.scanner.offset());
        }
        Ok(())
    }

    /// Reports values that are newer than the dialect as faults.
    pub(crate) const fn known_only(mut self) -> Self {
        self.known_only = true;
        self
    }

    /// Returns whether a value was newer than the dialect.
    #[inline]
    pub(crate) const fn is_newer(&self) -> bool {
        self.is_newer
    }

    /// Returns the byte offset of the cursor.
    pub const fn offset(&self) -> usize {
        self.scanner.offset()
    }

    /// Returns why the text is not JSON, after a check failed.
    pub const fn problem(&self) -> Problem {
        self.scanner.problem()
    }

    /// Fails if anything but white space follows.
    pub fn end(&mut self) -> Scan<()> {
        self.scanner.end()
    }

    /// Returns the listed faults so far, and the number of others.
    pub fn finish(&mut self) -> (Vec<Fault>, usize) {
        mem::take(&mut self.faults).finish()
    }

    /// Returns whether there was no fault so far.
    #[inline]
    pub const fn is_clean(&self) -> bool {
        self.faults.count() == 0
    }

    /// Returns the value of a string member of the object at the cursor.
    pub fn tag(&self, name: &str) -> Scan<Option<Cow<'a, str>>> {
        Ok(self.scanner.member(name)?.map(|found| decode_if(found)))
    }

    /// Calls a function with the members of the object at the cursor, which does not move: the name, and the range of
    /// the value.
    pub(crate) fn members(&self, mut member: impl FnMut(&str, (usize, usize))) -> Scan<()> {
        let mut ahead = self.scanner;
        if ahead.peek() != b'{' {
            return Ok(());
        }
        ahead.object(|ahead, _, name| {
            let start = ahead.offset();
            ahead.skip()?;
            member(&decode_if(name), (start, ahead.offset()));
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

    /// Checks any value.
    #[inline]
    pub fn any(&mut self) -> Scan<()> {
        self.scanner.skip()
    }

    /// Checks for `null`.
    #[inline]
    pub fn null(&mut self) -> Scan<()> {
        if self.scanner.peek() == b'n' { self.scanner.word("null") } else { self.not("null") }
    }

    /// Checks for a boolean.
    #[inline]
    pub fn boolean(&mut self) -> Scan<()> {
        match self.scanner.peek() {
            b't' => self.scanner.word("true"),
            b'f' => self.scanner.word("false"),
            _ => self.not("a boolean"),
        }
    }

    /// Checks for a boolean constant.
    pub fn constant_boolean(&mut self, wanted: bool) -> Scan<()> {
        match (self.scanner.peek(), wanted) {
            (b't', true) => self.scanner.word("true"),
            (b'f', false) => self.scanner.word("false"),
            _ => self.not(if wanted { "true" } else { "false" }),
        }
    }

    /// Checks for a string.
    #[inline]
    pub fn string(&mut self) -> Scan<()> {
        if self.scanner.peek() == b'"' { self.scanner.pass_string() } else { self.not("a string") }
    }

    /// Checks for a string within limits.
    pub fn text(&mut self, rules: &'static TextRules) -> Scan<()> {
        if self.scanner.peek() != b'"' {
            return self.not(rules.expected);
        }
        let start = self.scanner.offset();
        let string = self.scanner.string()?;
        if !rules.allow(&decode_if(string)) {
            let raw = self.scanner.since(start);
            self.wrong_text(Wanted::Described(rules.expected), raw);
        }
        Ok(())
    }

    /// Checks for a string constant.
    #[inline]
    pub fn constant(&mut self, wanted: &'static str) -> Scan<()> {
        if self.scanner.pass_expected_string(wanted.as_bytes()) {
            return Ok(());
        }
        self.string_that(|text| text == wanted.as_bytes(), Wanted::Constant(wanted))
    }

    /// Checks for one of these strings.
    #[inline]
    pub fn one_of(&mut self, wanted: &'static [&'static str]) -> Scan<()> {
        self.string_that(|text| wanted.iter().any(|value| value.as_bytes() == text), Wanted::OneOf(wanted))
    }

    /// Checks for one of these strings, or another one that a newer server has added.
    #[inline]
    pub fn known(&mut self, known: &'static [&'static str]) -> Scan<()> {
        if self.scanner.peek() != b'"' {
            return self.not("a string");
        }
        let start = self.scanner.offset();
        let (string, escaped) = self.scanner.string_bytes()?;
        let is_among = |text: &[u8]| known.iter().any(|value| value.as_bytes() == text);
        if !(if escaped { is_among(&decoded(string)) } else { is_among(string) }) {
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
        let (string, escaped) = self.scanner.string_bytes()?;
        if !(if escaped { allowed(&decoded(string)) } else { allowed(string) }) {
            let raw = self.scanner.since(start);
            self.wrong_text(wanted, raw);
        }
        Ok(())
    }

    /// Checks for a number.
    #[inline]
    pub fn number(&mut self) -> Scan<()> {
        if is_number(self.scanner.peek()) {
            self.scanner.pass_number().map(drop)
        } else {
            self.not("a number")
        }
    }

    /// Checks for a number without a fractional part.
    #[inline]
    pub fn integer(&mut self) -> Scan<()> {
        if !is_number(self.scanner.peek()) {
            return self.not("an integer");
        }
        let start = self.scanner.offset();
        if !self.scanner.pass_number()? {
            let number = RawNumber { raw: self.scanner.since(start), plain: false };
            if !number.is_integral() {
                self.wrong_text(Wanted::Described("an integer"), number.raw);
            }
        }
        Ok(())
    }

    /// Checks for a number or integer within inclusive limits.
    pub fn number_in(
        &mut self,
        integral: bool,
        minimum: f64,
        maximum: f64,
        expected: &'static str,
    ) -> Scan<()> {
        if !is_number(self.scanner.peek()) {
            return self.not(expected);
        }
        let number = self.scanner.number()?;
        let value: f64 = number.raw.parse().unwrap_or(f64::INFINITY);
        let whole = !integral || number.is_integral();
        if !whole || value < minimum || value > maximum {
            self.wrong_text(Wanted::Described(expected), number.raw);
        }
        Ok(())
    }

    /// Checks for `null`, or else with another check.
    #[inline]
    pub fn nullable(&mut self, check: impl FnOnce(&mut Self) -> Scan<()>) -> Scan<()> {
        if self.scanner.peek() == b'n' { self.scanner.word("null") } else { check(self) }
    }

    /// Checks for a list of valid entries.
    #[inline]
    pub fn array(&mut self, entry: impl FnMut(&mut Self) -> Scan<()>) -> Scan<()> {
        self.array_of(0, u64::MAX, "", entry)
    }

    /// Checks for a list with a limited number of valid entries.
    #[inline]
    pub fn array_of(
        &mut self,
        least: u64,
        most: u64,
        expected: &'static str,
        mut entry: impl FnMut(&mut Self) -> Scan<()>,
    ) -> Scan<()> {
        if self.scanner.peek() != b'[' {
            return self.not("an array");
        }
        if !self.descend() {
            return self.too_deep();
        }
        let mut index = 0;
        self.scanner.advance();
        if self.scanner.peek() == b']' {
            self.scanner.advance();
        } else {
            loop {
                let before = self.faults.count();
                self.scanner.peek();
                entry(self)?;
                if self.faults.count() != before {
                    self.faults.inside(before, &Segment::Index(index));
                }
                index += 1;
                if self.scanner.separator(b']')? {
                    break;
                }
            }
        }
        self.scanner.ascend();
        let length = index as u64;
        if length < least || length > most {
            self.faults.add(FaultKind::Value(Wanted::Described(expected)), || Actual::Entries(index));
        }
        Ok(())
    }

    /// Checks for an object. `place_of` returns the place of a declared member by its name; `member` checks the value
    /// of the member at that place, or of an undeclared one, whose decoded name it receives.
    #[inline]
    pub fn object(
        &mut self,
        members: Members,
        place_of: impl Fn(&[u8]) -> u32,
        member: impl FnMut(&mut Self, u32, &[u8]) -> Scan<()>,
    ) -> Scan<()> {
        self.object_of(None, members, place_of, member)
    }

    /// Checks for an object whose members are recorded if recording is enabled. `check` identifies the validator.
    #[inline]
    pub fn noted_object(
        &mut self,
        check: Check,
        members: Members,
        place_of: impl Fn(&[u8]) -> u32,
        member: impl FnMut(&mut Self, u32, &[u8]) -> Scan<()>,
    ) -> Scan<()> {
        self.object_of(Some(check), members, place_of, member)
    }

    #[inline]
    fn object_of(
        &mut self,
        noted: Option<Check>,
        members: Members,
        place_of: impl Fn(&[u8]) -> u32,
        mut member: impl FnMut(&mut Self, u32, &[u8]) -> Scan<()>,
    ) -> Scan<()> {
        if self.scanner.peek() != b'{' {
            return self.not("an object");
        }
        if !self.descend() {
            return self.too_deep();
        }
        let (object, depth, faults) = (self.scanner.offset(), self.scanner.depth(), self.faults.count());
        let mut is_known = false;
        if let Some(check) = noted {
            if let Some((length, levels)) = self.outline.again(check, self.scanner.rest(), DEEPEST - depth) {
                self.deepest = self.deepest.max(depth + levels);
                self.scanner.rewind(object + length);
                self.scanner.ascend();
                return Ok(());
            }
            is_known = self.outline.knows(check);
        }
        let noted = noted.filter(|_| self.outline.enter());
        if noted.is_some() {
            self.deepest = depth;
        }
        let mut seen = Seen::default();
        self.scanner.advance();
        if self.scanner.peek() == b'}' {
            self.scanner.advance();
        } else {
            loop {
                if is_known && self.pass_known(object, &mut seen) {
                    if self.scanner.separator(b'}')? {
                        break;
                    }
                    continue;
                }
                let before = self.faults.count();
                let start = if noted.is_some() { self.name_start() } else { 0 };
                let next = members.names.get(seen.next() as usize).copied().unwrap_or_default();
                let mut name = (next.as_bytes(), false);
                let is_expected = !next.is_empty() && self.scanner.pass_expected_name(name.0);
                if !is_expected {
                    name = self.scanner.name_bytes()?;
                }
                let value = self.scanner.offset();
                let place = if is_expected {
                    member(self, seen.next(), name.0)?;
                    seen.next()
                } else if name.1 {
                    self.any_member(&decoded(name.0), &place_of, &mut member)?
                } else {
                    self.any_member(name.0, &place_of, &mut member)?
                };
                if noted.is_some() {
                    let value = value - object..self.scanner.offset() - object;
                    self.outline.add(OutlineMember::new(name, start - object, value), place);
                }
                let is_new = seen.add(place);
                if place != UNDECLARED && (!is_new || self.faults.count() != before) {
                    self.declared_fault(before, !is_new, members.names, place);
                }
                if self.scanner.separator(b'}')? {
                    break;
                }
            }
        }
        self.scanner.ascend();
        if seen.bits() & members.required != members.required {
            self.missing(members.required & !seen.bits(), members.names);
        }
        if let Some(check) = noted {
            self.outline.leave();
            // Values newer than the dialect are recorded each time.
            if self.faults.count() == faults && !self.is_newer {
                self.outline.keep(check, self.scanner.since(object), self.deepest - depth);
            }
        }
        Ok(())
    }

    /// Enters a nested value. Returns false if that is too deep.
    #[inline]
    fn descend(&mut self) -> bool {
        let is_allowed = self.scanner.descend();
        self.deepest = self.deepest.max(self.scanner.depth());
        is_allowed
    }

    /// Skips members that equal those of the known object.
    fn pass_known(&mut self, object: usize, seen: &mut Seen) -> bool {
        self.scanner.peek();
        let at = self.scanner.offset();
        let length = self.outline.pass_known(self.scanner.rest(), at - object, seen);
        self.scanner.rewind(at + length.unwrap_or(0));
        length.is_some()
    }

    /// Returns the start of the next member's name, after its quote.
    fn name_start(&mut self) -> usize {
        self.scanner.peek();
        self.scanner.offset() + 1
    }

    #[inline]
    fn any_member(
        &mut self,
        name: &[u8],
        place_of: &impl Fn(&[u8]) -> u32,
        member: &mut impl FnMut(&mut Self, u32, &[u8]) -> Scan<()>,
    ) -> Scan<u32> {
        let place = place_of(name);
        member(self, place, name).map(|()| place)
    }

    #[cold]
    fn declared_fault(&mut self, before: usize, repeated: bool, names: &'static [&'static str], place: u32) {
        if repeated {
            self.faults.add(FaultKind::Repeated, || Actual::SameName);
        }
        let name = names.get(place as usize).copied().unwrap_or_default();
        self.faults.inside(before, &Segment::Name(name));
    }

    #[cold]
    fn missing(&mut self, missing: u64, names: &'static [&'static str]) {
        for (place, name) in names.iter().enumerate() {
            if missing & 1 << place != 0 {
                let kind = FaultKind::Missing { property: name, wanted: Wanted::Anything };
                self.faults.add(kind, || Actual::Nothing);
            }
        }
    }

    #[cold]
    fn too_deep(&mut self) -> Scan<()> {
        self.scanner.ascend();
        self.wrong(FaultKind::TooDeep)
    }

    /// Checks an undeclared member with the check for all such members.
    pub fn extra(&mut self, name: &[u8], check: impl FnOnce(&mut Self) -> Scan<()>) -> Scan<()> {
        let before = self.faults.count();
        check(self)?;
        if self.faults.count() != before {
            self.faults.inside(before, &Segment::Other(String::from_utf8_lossy(name).into()));
        }
        Ok(())
    }

    /// Records a forbidden member.
    pub fn undeclared(&mut self, name: &[u8]) -> Scan<()> {
        self.extra(name, |checker| checker.wrong(FaultKind::Undeclared))
    }

    /// Checks the name of a member.
    pub fn name_within(&mut self, name: &[u8], rules: &'static TextRules) {
        let name = String::from_utf8_lossy(name);
        if !rules.allow(&name) {
            self.faults.add(FaultKind::Name(rules.expected), || Actual::name(&name));
        }
    }

    /// Checks the number of members; called for each with its number.
    pub fn at_most(&mut self, members: u64, most: u64) {
        if members == most + 1 {
            self.faults.add(FaultKind::TooMany(most), || Actual::More);
        }
    }

    /// Returns the kind of the value at the cursor, by its first byte.
    #[inline]
    pub fn kind(&mut self) -> u8 {
        match self.scanner.peek() {
            b'-' | b'0'..=b'9' => b'0',
            b'f' => b't',
            byte => byte,
        }
    }

    /// Records a value of a kind that the union does not have.
    pub fn no_kind(&mut self, expected: &'static str) -> Scan<()> {
        self.not(expected)
    }

    /// Records an object whose tag is missing, or selects no branch of a union.
    #[cold]
    pub fn no_branch(
        &mut self,
        property: &'static str,
        found: Option<Cow<'_, str>>,
        wanted: &'static [&'static str],
    ) -> Scan<()> {
        let before = self.faults.count();
        if let Some(tag) = found {
            self.wrong_text(Wanted::OneOf(wanted), &format!("\"{tag}\""));
            self.faults.inside(before, &Segment::Name(property));
        } else {
            let kind = FaultKind::Missing { property, wanted: Wanted::OneOf(wanted) };
            self.faults.add(kind, || Actual::NoString);
        }
        self.any()
    }

    /// Tries the branches of a union without a tag, in order. If none matches, records the faults of the best match.
    pub fn first_of(&mut self, branches: &[Check]) -> Scan<()> {
        let start = self.scanner;
        let before = self.faults.count();
        let was_quiet = self.faults.set_quiet(true);
        let mut best: Option<(usize, Check)> = None;
        let outlining = self.outline.state();
        for branch in branches {
            self.scanner = start;
            self.outline.set_state(outlining);
            branch(self)?;
            let faults = self.faults.count() - before;
            if faults == 0 {
                self.faults.set_quiet(was_quiet);
                return Ok(());
            }
            self.faults.forget_since(before);
            if best.is_none_or(|(least, _)| faults < least) {
                best = Some((faults, *branch));
            }
        }
        self.scanner = start;
        self.outline.set_state(outlining);
        self.faults.set_quiet(was_quiet);
        match best {
            Some((_, branch)) => branch(self),
            None => self.any(),
        }
    }
}

impl TextRules {
    fn allow(&self, text: &str) -> bool {
        let (least, most) = self.length;
        let bytes = text.len() as u64;
        // Characters are between a quarter of the bytes and all of them.
        let within = (least == 0 && bytes <= most) || {
            let characters = text.chars().count() as u64;
            (least..=most).contains(&characters)
        };
        within && self.pattern.as_ref().is_none_or(|pattern| pattern.matches(text))
    }
}

impl TextPattern {
    fn matches(&self, text: &str) -> bool {
        text.strip_prefix(self.prefix).is_some_and(|rest| {
            let of_class = |c| self.class.iter().any(|(low, high)| (*low..=*high).contains(&c));
            rest.chars().all(of_class)
                && self.count.map_or(!rest.is_empty(), |count| rest.chars().count() == count)
        })
    }
}

#[inline]
const fn is_number(byte: u8) -> bool {
    byte == b'-' || byte.is_ascii_digit()
}

/// Returns the decoded bytes of a name or value with escapes.
#[cold]
fn decoded(raw: &[u8]) -> Vec<u8> {
    decode(&String::from_utf8_lossy(raw)).0.into_owned().into_bytes()
}

fn decode_if(string: RawString<'_>) -> Cow<'_, str> {
    if string.escaped { decode(string.raw).0 } else { Cow::Borrowed(string.raw) }
}
