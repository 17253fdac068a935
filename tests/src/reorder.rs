//! Edits of the order of events.

/// An edit of the events of a stream that changes none of them.
#[derive(Debug, Clone, Copy)]
pub enum Reorder {
    /// Leaves an event out.
    Drop(usize),
    /// Repeats an event.
    Repeat(usize),
    /// Takes an event out, and puts it somewhere else. To swap two is to move one by one.
    Move(usize, usize),
}

impl Reorder {
    /// Makes the edit.
    pub fn make<E: Clone>(self, events: &mut Vec<E>) {
        match self {
            Self::Drop(at) => drop(events.remove(at)),
            Self::Repeat(at) => events.insert(at, events[at].clone()),
            Self::Move(from, to) => {
                let event = events.remove(from);
                events.insert(to, event);
            }
        }
    }
}
