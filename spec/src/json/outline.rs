//! Where the members of an object stand, noted while it is checked, so that nobody need look for them again.

use std::ops::Range;

use super::Check;

/// Where the members of one object stand. It can be used again, and then allocates nothing.
#[derive(Debug, Default)]
pub struct Outline {
    members: Vec<OutlineMember>,
    state: Outlining,
    /// Whether the object that is expected often comes again as it was.
    recurs: bool,
    known: Known,
}

/// The last valid object of those that often come again.
#[derive(Debug, Default)]
struct Known {
    text: String,
    members: Vec<OutlineMember>,
    /// What it is valid by.
    check: Option<Check>,
}

/// Responses have about so many members.
const USUAL: usize = 40;

/// Objects of more bytes are not kept.
const LONGEST: usize = 1 << 16;

/// Where a member stands in the text of its object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutlineMember {
    /// Its name, as it is written between the quotes.
    pub name: Range<usize>,
    /// Whether the name holds escapes.
    pub escaped: bool,
    /// Its value.
    pub value: Range<usize>,
}

/// How far the noting is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Outlining {
    /// Nobody wants to know members.
    #[default]
    Off,
    /// Those of no object are noted now.
    Idle,
    /// Those of the next object that is entered will be.
    Next,
    /// All of them have been.
    Done,
}

impl Outline {
    /// The members in their order, if those of an object were noted.
    pub fn members(&self) -> Option<&[OutlineMember]> {
        (self.state == Outlining::Done).then_some(&self.members)
    }

    /// From now on members are wanted.
    pub(crate) const fn begin(&mut self) {
        self.state = Outlining::Idle;
    }

    /// The next object is the one; and whether such objects often come again as they were.
    #[inline]
    pub(super) fn expect(&mut self, recurs: bool) {
        if self.state != Outlining::Off {
            self.state = Outlining::Next;
            self.recurs = recurs;
        }
    }

    /// It did not come: the value was something else.
    #[inline]
    pub(super) fn expect_no_more(&mut self) {
        if self.state == Outlining::Next {
            self.state = Outlining::Idle;
        }
    }

    /// Whether the members are wanted of the object that is entered now.
    pub(super) fn enter(&mut self) -> bool {
        let is_wanted = self.state == Outlining::Next;
        if is_wanted {
            self.state = Outlining::Idle;
            self.members.clear();
            self.members.reserve(USUAL);
        }
        is_wanted
    }

    pub(super) fn add(&mut self, member: OutlineMember) {
        self.members.push(member);
    }

    pub(super) const fn leave(&mut self) {
        self.state = Outlining::Done;
    }

    /// Whether an object that is valid by this check can be compared with one that was.
    pub(super) fn knows(&self, check: Check) -> bool {
        self.recurs && self.known.check.is_some_and(|known| std::ptr::fn_addr_eq(known, check))
    }

    /// The length of the known object, if a text begins with it.
    pub(super) fn again(&mut self, text: &str) -> Option<usize> {
        text.starts_with(&self.known.text).then(|| {
            self.members.clone_from(&self.known.members);
            self.state = Outlining::Done;
            self.known.text.len()
        })
    }

    /// The length of the next member's value, if the known object has the same at its place.
    pub(super) fn same_value(&self, name: &[u8], text: &str) -> Option<usize> {
        let known = self.known.members.get(self.members.len())?;
        let piece = |range: &Range<usize>| self.known.text.as_bytes().get(range.clone());
        let value = piece(&known.value)?;
        let ends = matches!(text.as_bytes().get(value.len()), Some(b',' | b'}'));
        let is_same = ends && piece(&known.name) == Some(name) && text.as_bytes().starts_with(value);
        is_same.then_some(value.len())
    }

    /// The object that was noted is valid.
    pub(super) fn keep(&mut self, text: &str, check: Check) {
        if self.recurs && text.len() <= LONGEST {
            text.clone_into(&mut self.known.text);
            self.known.members.clone_from(&self.members);
            self.known.check = Some(check);
        }
    }

    pub(super) const fn state(&self) -> Outlining {
        self.state
    }

    /// Goes back to an earlier state, for another attempt at the same value.
    pub(super) const fn set_state(&mut self, state: Outlining) {
        self.state = state;
    }
}
