//! Validation of objects and lists.

use std::borrow::Cow;

use super::outline::{Seen, UNDECLARED};
use super::{Checker, ListSchema, Member, MemberRules, ObjectSchema, Others, Schema, decoded};
use crate::json::fault::{Actual, FaultKind, Segment, Wanted};
use crate::json::names::OutlineMember;
use crate::json::scanner::{DEEPEST, Scan};

#[derive(Clone, Copy)]
struct FoundMember {
    /// Offset of its name, or of whitespace before it.
    start: usize,
    /// Its place if it is declared.
    place: u32,
    declared: Option<&'static Member>,
}

impl<'a> Checker<'a, '_> {
    pub(super) fn list(&mut self, list: &'static ListSchema) -> Scan<()> {
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
                let before = self.faults.count;
                self.scanner.peek();
                self.check(&list.entries)?;
                if self.faults.count != before {
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
        let (least, most) = list.length;
        if length < least || length > most {
            self.faults.add(FaultKind::Value(Wanted::Described(list.expected)), || Actual::Entries(index));
        }
        Ok(())
    }

    pub(super) fn object(&mut self, schema: &'static ObjectSchema) -> Scan<()> {
        if schema.is_noted { self.noted(schema) } else { self.object_with(schema, Self::check_member) }
    }

    fn check_member(&mut self, _: u32, schema: &'static Schema) -> Scan<()> {
        self.check(schema)
    }

    /// An object that is not recorded. `member` checks the value of a member, and gets its place.
    #[inline]
    pub(crate) fn object_with(
        &mut self,
        schema: &'static ObjectSchema,
        mut member: impl FnMut(&mut Self, u32, &'static Schema) -> Scan<()>,
    ) -> Scan<()> {
        if !self.enter()? {
            return Ok(());
        }
        self.check_members(
            schema,
            |_, _| false,
            |checker, found, schema| member(checker, found.place, schema),
        )
    }

    /// The object is recorded if it is the expected one.
    fn noted(&mut self, schema: &'static ObjectSchema) -> Scan<()> {
        if !self.enter()? {
            return Ok(());
        }
        let (object, depth, faults) = (self.scanner.offset(), self.scanner.depth, self.faults.count);
        if let Some((length, levels)) = self.outline.again(schema, self.scanner.rest(), DEEPEST - depth) {
            self.deepest = self.deepest.max(depth + levels);
            self.scanner.rewind(object + length);
            self.scanner.ascend();
            return Ok(());
        }
        let is_known = self.outline.knows(schema);
        if !self.outline.enter() {
            return self.check_members(schema, |_, _| false, |checker, _, schema| checker.check(schema));
        }
        self.deepest = depth;
        let pass = |checker: &mut Self, seen: &mut Seen| is_known && checker.pass_known(object, seen);
        self.record_members(schema, object, pass, Self::check_member)?;
        // Values newer than the dialect are recorded each time.
        if self.faults.count == faults && !self.is_newer {
            self.outline.keep(schema, self.scanner.since(object), self.deepest - depth);
        }
        Ok(())
    }

    /// `member` checks the value of a member, and gets its place.
    pub(crate) fn recorded_object(
        &mut self,
        schema: &'static ObjectSchema,
        member: impl FnMut(&mut Self, u32, &'static Schema) -> Scan<()>,
    ) -> Scan<()> {
        self.outline.expect(false);
        if !self.enter()? {
            return Ok(());
        }
        if self.outline.enter() {
            self.record_members(schema, self.scanner.offset(), |_, _| false, member)
        } else {
            let mut member = member;
            self.check_members(
                schema,
                |_, _| false,
                |checker, found, schema| member(checker, found.place, schema),
            )
        }
    }

    /// `pass` and `member` are as in [`Self::check_members`], but `member` gets the place of a member.
    #[inline]
    fn record_members(
        &mut self,
        schema: &'static ObjectSchema,
        object: usize,
        pass: impl FnMut(&mut Self, &mut Seen) -> bool,
        mut member: impl FnMut(&mut Self, u32, &'static Schema) -> Scan<()>,
    ) -> Scan<()> {
        self.check_members(schema, pass, |checker, found, of_value| {
            let value = checker.scanner.offset();
            member(checker, found.place, of_value)?;
            let value = value - object..checker.scanner.offset() - object;
            let (start, name) =
                checker.scanner.name_at(found.start, found.declared.map(|member| member.name));
            checker.outline.add(OutlineMember::new(name, start - object, value), found.place);
            Ok(())
        })?;
        self.outline.leave();
        Ok(())
    }

    /// False if there is no brace, or if the object is nested too deeply.
    #[inline]
    fn enter(&mut self) -> Scan<bool> {
        if self.scanner.peek() != b'{' {
            return self.not("an object").map(|()| false);
        }
        if !self.descend() {
            return self.too_deep().map(|()| false);
        }
        Ok(true)
    }

    /// The object is at the cursor, and left afterwards. `pass` passes members that need no check, and returns whether there
    /// were any. `member` checks the value of a member with this name.
    #[inline]
    fn check_members(
        &mut self,
        schema: &'static ObjectSchema,
        mut pass: impl FnMut(&mut Self, &mut Seen) -> bool,
        mut member: impl FnMut(&mut Self, FoundMember, &'static Schema) -> Scan<()>,
    ) -> Scan<()> {
        let mut seen = Seen::default();
        self.scanner.advance();
        if self.scanner.peek() == b'}' {
            self.scanner.advance();
        } else {
            let (mut count, mut faults) = (0, self.faults.count);
            loop {
                if !pass(self, &mut seen) {
                    let start = self.scanner.offset();
                    let place = self.next_name(schema, seen.next)?;
                    let declared = schema.members.get(place as usize);
                    let found = FoundMember { start, place, declared };
                    count += 1;
                    let is_checked = (declared.is_none() || schema.limits.is_some())
                        && self.restricted(schema, found, count)?;
                    if !is_checked {
                        member(self, found, declared.map_or(&Schema::Any, |member| &member.schema))?;
                    }
                    let is_repeated = !seen.add(place);
                    if is_repeated || self.faults.count != faults {
                        self.member_fault(faults, is_repeated, declared);
                        faults = self.faults.count;
                    }
                }
                if self.scanner.separator(b'}')? {
                    break;
                }
            }
        }
        self.scanner.ascend();
        if seen.bits & schema.required != schema.required {
            self.missing(schema.required & !seen.bits, schema);
        }
        Ok(())
    }

    /// Passes the name of the next member and its colon. Returns the place of the member.
    #[expect(clippy::inline_always, reason = "called for each member, in the four loops over members")]
    #[inline(always)]
    fn next_name(&mut self, schema: &ObjectSchema, expected: u32) -> Scan<u32> {
        self.scanner.peek();
        match schema.members.get(expected as usize) {
            Some(member) if self.scanner.pass_expected_name(member.name.as_bytes()) => Ok(expected),
            _ => self.other_name(schema),
        }
    }

    #[inline(never)]
    fn other_name(&mut self, schema: &ObjectSchema) -> Scan<u32> {
        let name = self.scanner.name_bytes()?;
        let name = if self.scanner.escaped { &*decoded(name) } else { name };
        Ok(schema.place(name).unwrap_or(UNDECLARED))
    }

    /// False if the value is nested too deeply.
    #[inline]
    fn descend(&mut self) -> bool {
        let is_allowed = self.scanner.descend();
        self.deepest = self.deepest.max(self.scanner.depth);
        is_allowed
    }

    /// Skips members that the known object has alike.
    fn pass_known(&mut self, object: usize, seen: &mut Seen) -> bool {
        self.scanner.peek();
        let at = self.scanner.offset();
        let length = self.outline.pass_known(self.scanner.rest(), at - object, seen);
        self.scanner.rewind(at + length.unwrap_or(0));
        length.is_some()
    }

    /// Completes the pointers of the faults of a member.
    #[cold]
    fn member_fault(&mut self, before: usize, is_repeated: bool, declared: Option<&Member>) {
        if is_repeated {
            self.faults.add(FaultKind::Repeated, || Actual::SameName);
        }
        if let Some(member) = declared {
            self.faults.inside(before, &Segment::Name(member.name));
        }
    }

    #[cold]
    fn missing(&mut self, missing: u64, schema: &ObjectSchema) {
        for (place, member) in schema.members.iter().enumerate() {
            if missing & 1 << place != 0 {
                let (property, simplest) = (member.name, member.schema.simplest());
                let kind = FaultKind::Missing { property, wanted: Wanted::Anything, simplest };
                self.faults.add(kind, || Actual::Nothing);
            }
        }
    }

    #[cold]
    fn too_deep(&mut self) -> Scan<()> {
        self.scanner.ascend();
        self.wrong(FaultKind::TooDeep)
    }

    /// For a member that is not declared, or whose object limits its members. Returns whether its value was checked.
    #[inline(never)]
    fn restricted(&mut self, schema: &'static ObjectSchema, found: FoundMember, count: u64) -> Scan<bool> {
        if let Some(limits) = schema.limits {
            self.within(limits, count, found);
        }
        let before = self.faults.count;
        match &schema.others {
            Others::Open => return Ok(false),
            _ if found.declared.is_some() => return Ok(false),
            Others::Closed => self.wrong(FaultKind::Undeclared)?,
            Others::Typed(schema) => self.check(schema)?,
        }
        if self.faults.count != before {
            let name = self.decoded_name(found).into_owned();
            self.faults.inside(before, &Segment::Other(name.into()));
        }
        Ok(true)
    }

    fn decoded_name(&self, found: FoundMember) -> Cow<'a, str> {
        self.scanner.name_at(found.start, None).1.decoded()
    }

    /// Covers the name of the next member, and the number of members so far.
    #[cold]
    fn within(&mut self, rules: &MemberRules, count: u64, found: FoundMember) {
        if count == rules.most.saturating_add(1) {
            self.faults.add(FaultKind::TooMany(rules.most), || Actual::More);
        }
        let Some(rules) = rules.names else { return };
        let name = self.decoded_name(found);
        if !rules.allow(&name) {
            self.faults.add(FaultKind::Name(rules.expected), || Actual::name(&name));
        }
    }
}
