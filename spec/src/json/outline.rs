//! Where the members of an object stand, noted while it is checked, so that nobody need look for them again.

use std::ops::Range;

/// Where the members of one object stand. It can be used again, and then allocates nothing.
#[derive(Debug, Default)]
pub struct Outline {
    members: Vec<OutlineMember>,
    state: Outlining,
}

/// Where a member stands in the text that is checked.
#[derive(Debug, Clone)]
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
    pub(super) const fn begin(&mut self) {
        self.state = Outlining::Idle;
    }

    /// The next object is the one.
    #[inline]
    pub(super) fn expect(&mut self) {
        if self.state != Outlining::Off {
            self.state = Outlining::Next;
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
        }
        is_wanted
    }

    pub(super) fn add(&mut self, member: OutlineMember) {
        self.members.push(member);
    }

    pub(super) const fn leave(&mut self) {
        self.state = Outlining::Done;
    }

    pub(super) const fn state(&self) -> Outlining {
        self.state
    }

    /// Goes back to an earlier state, for another attempt at the same value.
    pub(super) const fn set_state(&mut self, state: Outlining) {
        self.state = state;
    }
}
