//! What the reader of a stream wants of every event, without reading it twice.

use crate::json::{Checker, RawString, Scan, Scanner};
use crate::table::Slot;

/// The values of an event that lifecycle and rules are about, as JSON text borrowed from it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct View<'a> {
    slots: [&'a str; Slot::COUNT],
}

impl<'a> View<'a> {
    /// The JSON text of a value, if the event has it.
    pub fn raw(&self, slot: Slot) -> Option<&'a str> {
        Some(self.slots[slot as usize]).filter(|raw| !raw.is_empty())
    }

    /// A value that is a whole number, such as an index.
    pub fn number(&self, slot: Slot) -> Option<u64> {
        self.slots[slot as usize].parse().ok()
    }

    /// A value that is a string, not yet decoded.
    pub fn string(&self, slot: Slot) -> Option<RawString<'a>> {
        let raw = self.slots[slot as usize];
        if raw.starts_with('"') { Scanner::new(raw).string().ok() } else { None }
    }

    /// Checks a value and keeps its text.
    #[inline]
    pub(crate) fn take(
        &mut self,
        checker: &mut Checker<'a>,
        slot: Slot,
        check: impl FnOnce(&mut Checker<'a>) -> Scan<()>,
    ) -> Scan<()> {
        let start = checker.offset();
        check(checker)?;
        self.slots[slot as usize] = checker.since(start);
        Ok(())
    }

    /// Keeps the text of these members of the object at the cursor, which stays there.
    pub(crate) fn take_members(&mut self, checker: &Checker<'a>, members: &[(&str, Slot)]) -> Scan<()> {
        checker.members(|name, raw| {
            if let Some((_, slot)) = members.iter().find(|(member, _)| *member == name) {
                self.slots[*slot as usize] = raw;
            }
        })
    }
}
