//! Selection of the schema of a value.

use std::borrow::Cow;
use std::mem;

use super::{Checker, Schema, Tag, UnionSchema};
use crate::json::bytes::is_same;
use crate::json::fault::{Actual, FaultKind, Segment, Simplest, Wanted};
use crate::json::scanner::{RawString, Scan};

/// How often as many bytes as a text has are read to choose branches of unions.
const TRIES: usize = 256;

impl Checker<'_, '_> {
    /// The kind or tag of the value selects its schema.
    pub(super) fn union(&mut self, union: &'static UnionSchema) -> Scan<()> {
        let kind = match self.scanner.peek() {
            b'-' | b'0'..=b'9' => b'0',
            b'f' => b't',
            byte => byte,
        };
        if let Some(tag) = union.tag.as_ref().filter(|_| kind == b'{') {
            return self.tagged(tag);
        }
        match union.kinds.iter().find(|(of, _)| *of == kind) {
            Some((_, schema)) => self.check(schema),
            None => self.not(union.expected),
        }
    }

    fn tagged(&mut self, tag: &'static Tag) -> Scan<()> {
        let found = self.scanner.member(tag.property)?.map(RawString::decoded);
        let value = found.as_deref().unwrap_or_default();
        let found_at = tag.values.iter().position(|known| is_same(known.as_bytes(), value.as_bytes()));
        match found_at.and_then(|place| tag.schemas.get(place)) {
            Some(schema) => self.check(schema),
            None => self.no_branch(tag, found),
        }
    }

    /// Records an object whose tag is missing, or selects no branch of a union.
    #[cold]
    fn no_branch(&mut self, tag: &'static Tag, found: Option<Cow<'_, str>>) -> Scan<()> {
        let Tag { property, values, .. } = *tag;
        let before = self.faults.count;
        if let Some(found) = found {
            self.wrong_text(Wanted::OneOf(values), &format!("\"{found}\""));
            self.faults.inside(before, &Segment::Name(property));
        } else {
            let (wanted, simplest) = (Wanted::OneOf(values), Simplest::OneOf(values));
            let kind = FaultKind::Missing { property, wanted, simplest };
            self.faults.add(kind, || Actual::NoString);
        }
        self.scanner.skip()
    }

    /// Tries the branches of a union without a tag, in order. If none matches, records the faults of the best match.
    ///
    /// Branches can have such unions again, and then each more doubles the work. Values that take too long are not checked.
    pub(super) fn first_of(&mut self, branches: &[Schema]) -> Scan<()> {
        let start = self.scanner;
        let before = self.faults.count;
        let was_quiet = mem::replace(&mut self.faults.quiet, true);
        let mut best: Option<(usize, &Schema)> = None;
        let outlining = self.outline.state;
        for branch in branches {
            self.scanner = start;
            self.outline.state = outlining;
            self.check(branch)?;
            self.tried += self.scanner.offset() - start.offset();
            let faults = self.faults.count - before;
            if faults == 0 {
                self.faults.quiet = was_quiet;
                return Ok(());
            }
            self.faults.count = before;
            if self.tried / TRIES > self.scanner.length() {
                best = None;
                break;
            }
            if best.is_none_or(|(least, _)| faults < least) {
                best = Some((faults, branch));
            }
        }
        self.scanner = start;
        self.outline.state = outlining;
        self.faults.quiet = was_quiet;
        match best {
            Some((_, branch)) => self.check(branch),
            None => self.scanner.skip(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ListSchema, Outline};
    use super::*;

    const fn list(entries: Schema) -> ListSchema {
        ListSchema { entries, length: (0, u64::MAX), expected: "" }
    }

    static NESTED: [Schema; 2] = [Schema::List(&ONE), Schema::List(&OTHER)];
    static ONE: ListSchema = list(Schema::FirstOf(&NESTED));
    static OTHER: ListSchema = list(Schema::FirstOf(&NESTED));

    fn faults(depth: usize, inner: &str) -> usize {
        let text = ["[".repeat(depth).as_str(), inner, &"]".repeat(depth)].concat();
        let mut outline = Outline::default();
        let mut checker = Checker::new(&text, &mut outline);
        checker.check(&Schema::FirstOf(&NESTED)).unwrap();
        assert_eq!(checker.scanner.offset(), text.len());
        assert!(checker.tried <= 1000 * text.len(), "{} of {}", checker.tried, text.len());
        checker.faults.count
    }

    #[test]
    fn unions_in_unions_take_no_longer_than_the_text_allows() {
        assert_eq!((faults(4, ""), faults(4, "7")), (0, 1));
        // Without the limit, this would take years.
        assert_eq!((faults(100, ""), faults(100, "7")), (0, 0));
    }
}
