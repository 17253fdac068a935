//! The names of an object's members, and an index of them.

use std::ops::Range;

use super::bytes::is_same;
use super::scanner::RawString;
use super::text::{decode, is_escaped};

/// The place of a member in the text of its object. Members beyond 4 GiB of text are not found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutlineMember {
    name: (u32, u32),
    value: (u32, u32),
    fingerprint: u32,
    /// The previous member of the same group of names: its number, from 1.
    before: u8,
}

impl OutlineMember {
    /// Creates a member with the name at `start`, and the place of its value.
    #[inline]
    pub fn new(RawString { raw, escaped }: RawString<'_>, start: usize, value: Range<usize>) -> Self {
        let raw = raw.as_bytes();
        let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Self {
            name: (offset(start), offset(start + raw.len())),
            value: (offset(value.start), offset(value.end)),
            fingerprint: if escaped { fingerprint_inside(raw) } else { fingerprint(raw) },
            before: 0,
        }
    }

    pub(super) fn moved(&self, shift: u32) -> Self {
        let Self { name, value, fingerprint, before } = *self;
        let moved = |place: (u32, u32)| (place.0.wrapping_add(shift), place.1.wrapping_add(shift));
        Self { name: moved(name), value: moved(value), fingerprint, before }
    }

    /// Returns its name as written, without quotes.
    pub const fn name(&self) -> Range<usize> {
        self.name.0 as usize..self.name.1 as usize
    }

    /// The bit of the group of its name.
    pub const fn bit(&self) -> u32 {
        1 << group(self.fingerprint)
    }

    /// Returns its value.
    pub const fn value(&self) -> Range<usize> {
        self.value.0 as usize..self.value.1 as usize
    }

    #[expect(clippy::inline_always, reason = "a part of the function below")]
    #[inline(always)]
    fn is_named(&self, text: &str, name: &str) -> bool {
        let raw = text.as_bytes().get(self.name()).unwrap_or_default();
        is_same(raw, name.as_bytes()) || self.is_escaped_as(text, name)
    }

    #[cold]
    fn is_escaped_as(&self, text: &str, name: &str) -> bool {
        let raw = text.get(self.name()).unwrap_or_default();
        is_escaped(raw) && decode(raw).0 == name
    }
}

/// An index of the members of an object by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Names {
    /// The number of the last member of each group of names, from 1.
    last: [u8; Names::GROUPS],
}

impl Names {
    pub(super) const GROUPS: usize = 32;

    /// Marks an index of too many members for the groups.
    const MANY: u8 = u8::MAX;

    /// Builds the index.
    pub fn of(members: &mut [OutlineMember]) -> Self {
        let mut last = [0; Self::GROUPS];
        if members.len() >= usize::from(Self::MANY) {
            return Self { last: [Self::MANY; Self::GROUPS] };
        }
        for (member, number) in members.iter_mut().zip(1..) {
            let group = &mut last[group(member.fingerprint)];
            member.before = std::mem::replace(group, number);
        }
        Self { last }
    }

    /// The bits of the groups of these names; other names are in the same groups.
    pub fn bits(names: &[&str]) -> u32 {
        names.iter().fold(0, |bits, name| bits | 1 << group(fingerprint(name.as_bytes())))
    }

    /// Returns the member of this name in the text of its object; the last one if there are several.
    #[expect(clippy::inline_always, reason = "called for each member that a rule asks for")]
    #[inline(always)]
    pub fn find<'m>(
        &self,
        members: &'m [OutlineMember],
        text: &str,
        name: &str,
    ) -> Option<&'m OutlineMember> {
        let fingerprint = fingerprint(name.as_bytes());
        let is_it =
            |member: &&OutlineMember| member.fingerprint == fingerprint && member.is_named(text, name);
        let mut number = self.last[group(fingerprint)];
        if number == Self::MANY {
            return members.iter().rev().find(is_it);
        }
        while let Some(member) = members.get(usize::from(number.checked_sub(1)?)) {
            if is_it(&member) {
                return Some(member);
            }
            number = member.before;
        }
        None
    }
}

#[inline]
pub(super) const fn group(fingerprint: u32) -> usize {
    // A multiplier whose highest bits depend on all bits of the fingerprint.
    (fingerprint.wrapping_mul(0x9e37_79b1) >> 27) as usize
}

/// Its length, its first byte and its last.
#[inline]
pub(super) const fn fingerprint(name: &[u8]) -> u32 {
    let (Some(first), Some(last)) = (name.first(), name.last()) else { return 0 };
    let [low, high, ..] = name.len().to_le_bytes();
    u32::from_le_bytes([*first, *last, low, high])
}

#[cold]
fn fingerprint_inside(raw: &[u8]) -> u32 {
    fingerprint(decode(&String::from_utf8_lossy(raw)).0.as_bytes())
}
