//! Validation of objects and lists.

use std::borrow::Cow;

use super::{Checker, ListSchema, MemberRules, ObjectSchema, Others, Schema, decoded};
use crate::json::fault::{Actual, FaultKind, Segment, Wanted};
use crate::json::outline::{OutlineMember, Seen, UNDECLARED};
use crate::json::scanner::{DEEPEST, Scan};
use crate::json::text::decode;

impl Checker<'_, '_> {
    /// Checks for a list.
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
                let before = self.faults.count();
                self.scanner.peek();
                self.check(&list.entries)?;
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
        let (least, most) = list.length;
        if length < least || length > most {
            self.faults.add(FaultKind::Value(Wanted::Described(list.expected)), || Actual::Entries(index));
        }
        Ok(())
    }

    /// Checks for an object.
    pub(super) fn object(&mut self, schema: &'static ObjectSchema) -> Scan<()> {
        self.object_with(schema, |checker, _, schema| checker.check(schema))
    }

    /// Checks for an object. `member` checks the value of a member, and gets the place of a declared one.
    #[inline]
    pub(crate) fn object_with(
        &mut self,
        schema: &'static ObjectSchema,
        mut member: impl FnMut(&mut Self, u32, &'static Schema) -> Scan<()>,
    ) -> Scan<()> {
        if self.scanner.peek() != b'{' {
            return self.not("an object");
        }
        if !self.descend() {
            return self.too_deep();
        }
        let (object, depth, faults) = (self.scanner.offset(), self.scanner.depth(), self.faults.count());
        let (mut is_known, mut is_noted) = (false, false);
        if schema.is_noted {
            if let Some((length, levels)) = self.outline.again(schema, self.scanner.rest(), DEEPEST - depth) {
                self.deepest = self.deepest.max(depth + levels);
                self.scanner.rewind(object + length);
                self.scanner.ascend();
                return Ok(());
            }
            is_known = self.outline.knows(schema);
            is_noted = self.outline.enter();
        }
        if is_noted {
            self.deepest = depth;
        }
        let mut seen = Seen::default();
        let mut count = 0;
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
                let start = if is_noted { self.name_start() } else { 0 };
                let mut place = seen.next();
                let next = schema.members.get(place as usize);
                let next = next.filter(|next| self.scanner.pass_expected_name(next.name.as_bytes()));
                let (mut name, mut is_escaped) = (next.map_or("", |next| next.name).as_bytes(), false);
                let mut of_value = next.map(|next| &next.schema);
                if next.is_none() {
                    name = self.scanner.name_bytes()?;
                    is_escaped = self.scanner.is_escaped();
                    let found = if is_escaped { schema.place(&decoded(name)) } else { schema.place(name) };
                    place = found.unwrap_or(UNDECLARED);
                    of_value = schema.members.get(place as usize).map(|member| &member.schema);
                }
                if let Some(limits) = schema.limits {
                    count += 1;
                    self.within(limits, count, name, is_escaped);
                }
                let value = self.scanner.offset();
                let is_restricted = of_value.is_none() && !matches!(schema.others, Others::Open);
                if is_restricted {
                    self.other(&schema.others, name, is_escaped)?;
                } else {
                    member(self, place, of_value.unwrap_or(&Schema::Any))?;
                }
                if is_noted {
                    let value = value - object..self.scanner.offset() - object;
                    self.outline.add(OutlineMember::new((name, is_escaped), start - object, value), place);
                }
                let is_new = seen.add(place);
                if place != UNDECLARED && (!is_new || self.faults.count() != before) {
                    self.declared_fault(before, !is_new, schema, place);
                }
                if self.scanner.separator(b'}')? {
                    break;
                }
            }
        }
        self.scanner.ascend();
        if seen.bits() & schema.required != schema.required {
            self.missing(schema.required & !seen.bits(), schema);
        }
        if is_noted {
            self.outline.leave();
            // Values newer than the dialect are recorded each time.
            if self.faults.count() == faults && !self.is_newer {
                self.outline.keep(schema, self.scanner.since(object), self.deepest - depth);
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

    #[cold]
    fn declared_fault(&mut self, before: usize, is_repeated: bool, schema: &ObjectSchema, place: u32) {
        if is_repeated {
            self.faults.add(FaultKind::Repeated, || Actual::SameName);
        }
        let name = schema.members.get(place as usize).map_or("", |member| member.name);
        self.faults.inside(before, &Segment::Name(name));
    }

    #[cold]
    fn missing(&mut self, missing: u64, schema: &ObjectSchema) {
        for (place, member) in schema.members.iter().enumerate() {
            if missing & 1 << place != 0 {
                let kind = FaultKind::Missing { property: member.name, wanted: Wanted::Anything };
                self.faults.add(kind, || Actual::Nothing);
            }
        }
    }

    #[cold]
    fn too_deep(&mut self) -> Scan<()> {
        self.scanner.ascend();
        self.wrong(FaultKind::TooDeep)
    }

    /// Checks an undeclared member of an object that restricts them.
    #[inline(never)]
    fn other(&mut self, others: &'static Others, name: &[u8], is_escaped: bool) -> Scan<()> {
        let before = self.faults.count();
        match others {
            Others::Open => self.check(&Schema::Any)?,
            Others::Closed => self.wrong(FaultKind::Undeclared)?,
            Others::Typed(schema) => self.check(schema)?,
        }
        if self.faults.count() != before {
            let name = String::from_utf8_lossy(name);
            let name = if is_escaped { decode(&name).0 } else { Cow::Borrowed(&*name) };
            self.faults.inside(before, &Segment::Other(name.into()));
        }
        Ok(())
    }

    /// Checks the name of the next member, and the number of members so far.
    #[cold]
    fn within(&mut self, rules: &MemberRules, count: u64, name: &[u8], is_escaped: bool) {
        if count == rules.most.saturating_add(1) {
            self.faults.add(FaultKind::TooMany(rules.most), || Actual::More);
        }
        let Some(rules) = rules.names else { return };
        let name = String::from_utf8_lossy(name);
        let name = if is_escaped { decode(&name).0 } else { Cow::Borrowed(&*name) };
        if !rules.allow(&name) {
            self.faults.add(FaultKind::Name(rules.expected), || Actual::name(&name));
        }
    }
}
