//! The objects in a list of an event, parsed once for all rules.

use std::ops::Range;

use spec::json::{Names, OutlineMember, entries};

use super::locate::place;
use super::view::Object;

/// Maximum number of entries of a list that rules look at.
const MOST: usize = 256;

/// An entry of a list: its place in the data, the places of its members, and the entries of a list in it.
#[derive(Debug)]
pub(crate) struct Listed {
    place: Range<usize>,
    members: Vec<OutlineMember>,
    names: Names,
    pub(crate) inner: Vec<Listed>,
}

impl Listed {
    /// `inner` points to the list in each entry.
    pub(super) fn all(data: &str, list: Option<&str>, inner: Option<&str>) -> Vec<Self> {
        let entries = list.and_then(entries).unwrap_or_default();
        let listed = entries.into_iter().take(MOST).map(|entry| {
            let inside = inner.map(|inner| Self::all(data, spec::json::at(entry, inner), None));
            let (members, names) = Object::new(entry).into_members();
            let place = place(data, entry).unwrap_or_default();
            Self { place, members, names, inner: inside.unwrap_or_default() }
        });
        listed.collect()
    }

    pub(crate) fn object<'s>(&'s self, data: &'s str) -> Object<'s> {
        Object::known(data.get(self.place.clone()).unwrap_or_default(), &self.members, self.names)
    }
}
