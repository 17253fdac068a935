//! The objects in the entries of a list of an event, found once for all rules.

use std::ops::Range;

use spec::Matches;
use spec::json::{Names, OutlineMember, entries};

use super::locate::place;
use super::view::Object;

/// Maximum number of entries of a list that rules look at.
const MOST: usize = 256;

/// A list of an event: the member, and the pointer of the list in each of its entries.
pub(crate) type Lists = (&'static str, &'static str);

/// The entries of a list and of the lists in them, and the groups of the names of their members.
#[derive(Debug, Default)]
pub(crate) struct AllListed {
    pub(crate) entries: Vec<Listed>,
    pub(crate) inner: Vec<Listed>,
    pub(super) names: u32,
}

/// An entry of a list: its place in the data, the number of the entry around it, and its own inner entries.
#[derive(Debug)]
pub(crate) struct Listed {
    place: Range<usize>,
    members: Members,
    pub(crate) around: usize,
    pub(crate) inner: Range<usize>,
}

#[derive(Debug)]
enum Members {
    /// The members were recorded while the event was validated.
    Recorded(usize),
    Read(Vec<OutlineMember>, Names),
}

impl AllListed {
    pub(super) fn of(data: &str, list: Option<&str>, inner: &str, recorded: Option<&Matches>) -> Self {
        let recorded = recorded.and_then(|matches| Self::recorded(matches, place(data, list?)?));
        recorded.unwrap_or_else(|| Self::read(data, list, inner))
    }

    /// Only the arrays of such a list are looked into while an event is validated.
    fn recorded(matches: &Matches, within: Range<usize>) -> Option<Self> {
        let mut all = Self::default();
        let entries = matches.entries(0)?.filter(|(_, place)| within.contains(&place.start));
        for (number, place) in entries.take(MOST) {
            let first = all.inner.len();
            for (_, place) in matches.entries(number)?.take(MOST) {
                let inner = all.entry(matches, place, first..first);
                all.inner.push(inner);
            }
            let entry = all.entry(matches, place, first..all.inner.len());
            all.entries.push(entry);
        }
        Some(all)
    }

    fn entry(&mut self, matches: &Matches, place: Range<usize>, inner: Range<usize>) -> Listed {
        let around = self.entries.len();
        let Some(number) = matches.position(place.start) else {
            return Listed { place, members: Members::Read(Vec::new(), Names::default()), around, inner };
        };
        let (members, _) = matches.object(number).unwrap_or_default();
        self.note(members);
        Listed { place, members: Members::Recorded(number), around, inner }
    }

    fn note(&mut self, members: &[OutlineMember]) {
        self.names |= members.iter().fold(0, |bits, member| bits | member.bit());
    }

    fn read(data: &str, list: Option<&str>, inner: &str) -> Self {
        let mut all = Self::default();
        for entry in list.and_then(entries).unwrap_or_default().into_iter().take(MOST) {
            let first = all.inner.len();
            let inside = spec::json::at(entry, inner).and_then(entries).unwrap_or_default();
            for part in inside.into_iter().take(MOST) {
                let part = all.read_entry(data, part, first..first);
                all.inner.push(part);
            }
            let entry = all.read_entry(data, entry, first..all.inner.len());
            all.entries.push(entry);
        }
        all
    }

    fn read_entry(&mut self, data: &str, entry: &str, inner: Range<usize>) -> Listed {
        let (members, names) = Object::new(entry).into_members();
        self.note(&members);
        let (place, around) = (place(data, entry).unwrap_or_default(), self.entries.len());
        Listed { place, members: Members::Read(members, names), around, inner }
    }
}

impl Listed {
    pub(super) fn object<'r>(&'r self, data: &'r str, matches: Option<&'r Matches>) -> Object<'r> {
        let text = data.get(self.place.clone()).unwrap_or_default();
        let recorded = |object| matches.and_then(|matches| matches.object(object));
        let (members, names): (&[OutlineMember], Names) = match &self.members {
            Members::Recorded(object) => recorded(*object).unwrap_or_default(),
            Members::Read(members, names) => (members, *names),
        };
        Object::known(text, members, names)
    }
}
