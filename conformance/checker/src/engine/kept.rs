//! Values that are kept for a while, in room that is used again.

/// A value that may be there. The room that it took stays when it goes, for the next one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Kept<T> {
    value: T,
    is_there: bool,
}

/// What can be made empty for another value.
pub(crate) trait Room {
    /// Is empty from now on, and keeps the room that it took, if that is not much.
    fn vacate(&mut self);

    /// How much memory it takes, beside its own place.
    fn weight(&self) -> usize;
}

/// So many bytes are not much. Memory is for what is open.
const LITTLE: usize = 4096;

impl<T> Kept<T> {
    /// The value, if it is there.
    pub(crate) const fn get(&self) -> Option<&T> {
        if self.is_there { Some(&self.value) } else { None }
    }

    pub(crate) const fn is_there(&self) -> bool {
        self.is_there
    }

    /// Is there from now on, once the old value is written over.
    pub(crate) const fn fill(&mut self) -> &mut T {
        self.is_there = true;
        &mut self.value
    }
}

impl<T: Room> Kept<T> {
    /// Is not there any more.
    pub(crate) fn empty(&mut self) {
        self.is_there = false;
        self.value.vacate();
    }

    /// How much memory the value takes.
    pub(crate) fn weight(&self) -> usize {
        self.value.weight()
    }
}

impl Room for String {
    fn vacate(&mut self) {
        self.clear();
        self.shrink_to(LITTLE);
    }

    fn weight(&self) -> usize {
        self.capacity()
    }
}

impl<T> Room for Vec<T> {
    fn vacate(&mut self) {
        self.clear();
        self.shrink_to(LITTLE / size_of::<T>().max(1));
    }

    fn weight(&self) -> usize {
        self.capacity() * size_of::<T>()
    }
}

impl Kept<String> {
    pub(crate) fn write(&mut self, text: &str) {
        text.clone_into(self.fill());
    }
}
