//! Values whose memory is used again.

/// An optional value. Its memory stays for the next one when it is removed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reusable<T> {
    value: T,
    is_set: bool,
}

pub(crate) trait Recycle {
    /// Keeps the memory if that is little.
    fn recycle(&mut self);

    fn weight(&self) -> usize;
}

/// Maximum number of unused bytes to keep, so that memory is available for open nodes.
const LITTLE: usize = 4096;

impl<T> Reusable<T> {
    pub(crate) const fn get(&self) -> Option<&T> {
        if self.is_set { Some(&self.value) } else { None }
    }

    pub(crate) const fn is_set(&self) -> bool {
        self.is_set
    }

    /// The old value, to write over.
    pub(crate) const fn fill(&mut self) -> &mut T {
        self.is_set = true;
        &mut self.value
    }
}

impl<T: Recycle> Reusable<T> {
    pub(crate) fn empty(&mut self) {
        self.is_set = false;
        self.value.recycle();
    }

    pub(crate) fn weight(&self) -> usize {
        self.value.weight()
    }
}

impl Recycle for String {
    fn recycle(&mut self) {
        self.clear();
        self.shrink_to(LITTLE);
    }

    fn weight(&self) -> usize {
        self.capacity()
    }
}

impl<T> Recycle for Vec<T> {
    fn recycle(&mut self) {
        self.clear();
        self.shrink_to(LITTLE / size_of::<T>().max(1));
    }

    fn weight(&self) -> usize {
        self.capacity() * size_of::<T>()
    }
}

impl Reusable<String> {
    pub(crate) fn write(&mut self, text: &str) {
        text.clone_into(self.fill());
    }
}
