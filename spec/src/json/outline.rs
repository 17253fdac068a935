//! Where the members of an object stand, noted while it is checked, so that nobody need look for them again.

use std::ops::Range;

use super::text::{decode, is_escaped};
use super::{Check, UNDECLARED, shared_length};

/// Where the members of one object stand. It can be used again, and then allocates nothing.
#[derive(Debug, Default)]
pub struct Outline {
    members: Vec<OutlineMember>,
    names: Names,
    /// Which of the declared members they are.
    places: Vec<u32>,
    state: Outlining,
    /// Whether the object that is expected often comes again as it was.
    recurs: bool,
    /// It opens a stream: such objects are like those that opened other streams.
    is_first: bool,
    /// The last one that opened a stream, and the last one of all others. In boxes, as an outline is moved for each
    /// event.
    known: [Option<Box<Known>>; 2],
    /// Which of them came last.
    latest: usize,
    /// The last valid ones of the others: what an event is about comes again inside of what later ones are about.
    recent: Vec<Valid>,
    /// Which of them is the oldest.
    oldest: usize,
}

/// The last valid object of those that often come again.
#[derive(Debug, Default)]
struct Known {
    text: String,
    members: Vec<OutlineMember>,
    names: Names,
    places: Vec<u32>,
    /// What it is valid by.
    check: Option<Check>,
}

/// A valid object.
#[derive(Debug)]
struct Valid {
    text: String,
    /// What it is valid by.
    check: Check,
    /// How many levels of values are nested in it.
    levels: u32,
}

/// So many objects are kept that are no responses, and of so many bytes.
const RECENT: (usize, usize) = (8, 1 << 13);

/// Responses have about so many members.
const USUAL: usize = 40;

/// Objects of more bytes are not kept.
const LONGEST: usize = 1 << 16;

/// Where a member stands in the text of its object. What stands behind 4 GiB of text is not found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutlineMember {
    name: (u32, u32),
    value: (u32, u32),
    fingerprint: u32,
    /// The last member before it that is in the same group of names: its number, from 1.
    before: u8,
}

impl OutlineMember {
    /// Returns a member of that name, as it is written from `start` on, and with its value there.
    #[inline]
    pub fn new((raw, escaped): (&[u8], bool), start: usize, value: Range<usize>) -> Self {
        let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Self {
            name: (offset(start), offset(start + raw.len())),
            value: (offset(value.start), offset(value.end)),
            fingerprint: if escaped { fingerprint_inside(raw) } else { fingerprint(raw) },
            before: 0,
        }
    }

    fn moved(&self, shift: u32) -> Self {
        let Self { name, value, fingerprint, before } = *self;
        let moved = |place: (u32, u32)| (place.0.wrapping_add(shift), place.1.wrapping_add(shift));
        Self { name: moved(name), value: moved(value), fingerprint, before }
    }

    /// Returns its name, as it is written between the quotes.
    pub const fn name(&self) -> Range<usize> {
        self.name.0 as usize..self.name.1 as usize
    }

    /// Returns its value.
    pub const fn value(&self) -> Range<usize> {
        self.value.0 as usize..self.value.1 as usize
    }

    /// Returns whether it has that name in the text of its object.
    #[inline]
    fn is_named(&self, text: &str, name: &str) -> bool {
        let raw = text.get(self.name()).unwrap_or_default();
        raw == name || is_escaped(raw) && decode(raw).0 == name
    }
}

/// Where the members of an object are found by their names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Names {
    /// Of each group of names the number of the last member, from 1.
    last: [u8; Names::GROUPS],
}

impl Names {
    const GROUPS: usize = 16;

    /// Stands where there are too many members for the groups.
    const MANY: u8 = u8::MAX;

    /// Arranges members by their names.
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

    /// Returns the member of that name in the text of its object; the last one, where there are several.
    #[inline]
    pub fn find<'m>(
        &self,
        members: &'m [OutlineMember],
        text: &str,
        name: &str,
    ) -> Option<&'m OutlineMember> {
        let fingerprint = fingerprint(name.as_bytes());
        match self.last[group(fingerprint)] {
            0 => None,
            last => Self::find_from(last, fingerprint, members, text, name),
        }
    }

    fn find_from<'m>(
        last: u8,
        fingerprint: u32,
        members: &'m [OutlineMember],
        text: &str,
        name: &str,
    ) -> Option<&'m OutlineMember> {
        let is_it =
            |member: &&OutlineMember| member.fingerprint == fingerprint && member.is_named(text, name);
        if last == Self::MANY {
            return members.iter().rev().find(is_it);
        }
        let mut number = last;
        loop {
            let member = members.get(usize::from(number).checked_sub(1)?)?;
            if is_it(&member) {
                return Some(member);
            }
            number = member.before;
        }
    }
}

/// Returns the group of names that a name is in.
#[inline]
const fn group(fingerprint: u32) -> usize {
    // A multiplier whose highest bits depend on all bits of the fingerprint.
    (fingerprint.wrapping_mul(0x9e37_79b1) >> 28) as usize
}

/// Returns what tells a name from nearly all others: its length, its first byte and its last.
#[inline]
fn fingerprint(name: &[u8]) -> u32 {
    let (Some(first), Some(last)) = (name.first(), name.last()) else { return 0 };
    let [low, high, ..] = name.len().to_le_bytes();
    u32::from_le_bytes([*first, *last, low, high])
}

/// Returns the same for a name that is written with escapes.
#[cold]
fn fingerprint_inside(raw: &[u8]) -> u32 {
    fingerprint(decode(&String::from_utf8_lossy(raw)).0.as_bytes())
}

/// Which of the declared members of an object came, and which should come next.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Seen {
    bits: u64,
    next: u32,
}

impl Seen {
    /// Adds one; whether it was not seen yet. Those that are not declared may come again.
    #[inline]
    pub(super) fn add(&mut self, place: u32) -> bool {
        if place == UNDECLARED {
            return true;
        }
        let bit = 1_u64.wrapping_shl(place);
        let is_new = self.bits & bit == 0;
        self.bits |= bit;
        self.next = place + 1;
        is_new
    }

    pub(super) const fn bits(self) -> u64 {
        self.bits
    }

    pub(super) const fn next(self) -> u32 {
        self.next
    }
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
    /// Returns the members in their order, if those of an object were noted, and where they are found by
    /// their names.
    pub fn members(&self) -> Option<(&[OutlineMember], Names)> {
        (self.state == Outlining::Done).then_some((&self.members, self.names))
    }

    /// From now on members are wanted; and whether the event opens a stream.
    pub(crate) const fn begin(&mut self, is_first: bool) {
        self.state = Outlining::Idle;
        self.is_first = is_first;
    }

    /// Returns the object with which the one that is expected is compared.
    fn known(&self) -> Option<&Known> {
        let place = if self.is_first { 0 } else { self.latest };
        self.known.get(place)?.as_deref()
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

    /// Returns whether the members are wanted of the object that is entered now.
    pub(super) fn enter(&mut self) -> bool {
        let is_wanted = self.state == Outlining::Next;
        if is_wanted {
            self.state = Outlining::Idle;
            self.members.clear();
            self.members.reserve(USUAL);
            self.places.clear();
            self.places.reserve(USUAL);
        }
        is_wanted
    }

    pub(super) fn add(&mut self, member: OutlineMember, place: u32) {
        self.members.push(member);
        self.places.push(place);
    }

    pub(super) fn leave(&mut self) {
        self.state = Outlining::Done;
        self.names = Names::of(&mut self.members);
    }

    /// Returns whether the object that is entered now can be compared with one that was valid by the same
    /// check.
    pub(super) fn knows(&self, check: Check) -> bool {
        let is_wanted = self.recurs && self.state == Outlining::Next;
        let known = self.known().filter(|_| is_wanted).and_then(|known| known.check);
        known.is_some_and(|known| std::ptr::fn_addr_eq(known, check))
    }

    /// Returns the length of an object that was valid by this check, if a text begins with it, and how many
    /// levels of values are nested in it: no more than these may be.
    pub(super) fn again(&mut self, check: Check, text: &str, most: u32) -> Option<(usize, u32)> {
        if self.knows(check) {
            let Self { members, names, known, latest, is_first, .. } = self;
            let place = if *is_first { 0 } else { *latest };
            let known = known.get(place)?.as_deref().filter(|known| text.starts_with(&known.text))?;
            members.clone_from(&known.members);
            (*names, *latest) = (known.names, place);
            self.state = Outlining::Done;
            return Some((known.text.len(), 0));
        }
        let is_inside = self.state == Outlining::Idle;
        let mut recent = self.recent.iter().filter(|valid| is_inside && valid.levels <= most);
        let is_it =
            |valid: &&Valid| std::ptr::fn_addr_eq(valid.check, check) && text.starts_with(&valid.text);
        recent.find(is_it).map(|valid| (valid.text.len(), valid.levels))
    }

    /// Notes the next members as long as they are those of the known object to the letter, and were not seen yet.
    /// They begin the text, which stands at this offset in the object. Gives the length of them all.
    pub(super) fn pass_known(&mut self, text: &str, offset: usize, seen: &mut Seen) -> Option<usize> {
        let Self { members, places, known, latest, is_first, .. } = self;
        let known = known.get(if *is_first { 0 } else { *latest })?.as_deref()?;
        let next = known.members.get(members.len()..)?;
        // With the quote before its name.
        let start = next.first()?.name().start.checked_sub(1)?;
        let end = start + shared_length(known.text.as_bytes().get(start..)?, text.as_bytes());
        let shift = u32::try_from(offset).ok()?.wrapping_sub(u32::try_from(start).ok()?);
        // What follows a value must be the same, too, or it might not end there.
        let is_passed =
            |(member, place): &(&OutlineMember, &u32)| member.value().end < end && seen.add(**place);
        let next_places = known.places.get(members.len()..)?;
        let passed = next.iter().zip(next_places).take_while(is_passed).count();
        let length = next.get(passed.checked_sub(1)?)?.value().end - start;
        members.extend(next.iter().take(passed).map(|member| member.moved(shift)));
        places.extend(next_places.iter().take(passed));
        Some(length)
    }

    /// The object that was noted is valid.
    pub(super) fn keep(&mut self, check: Check, text: &str, levels: u32) {
        if !self.recurs {
            self.keep_recent(check, text, levels);
        } else if text.len() <= LONGEST {
            self.latest = usize::from(!self.is_first);
            let known = self.known[self.latest].get_or_insert_default();
            text.clone_into(&mut known.text);
            known.members.clone_from(&self.members);
            known.names = self.names;
            known.places.clone_from(&self.places);
            known.check = Some(check);
        }
    }

    fn keep_recent(&mut self, check: Check, text: &str, levels: u32) {
        let (most, longest) = RECENT;
        if text.len() > longest {
            return;
        }
        if self.recent.len() < most {
            self.recent.push(Valid { text: text.to_owned(), check, levels });
        } else if let Some(valid) = self.recent.get_mut(self.oldest) {
            text.clone_into(&mut valid.text);
            (valid.check, valid.levels) = (check, levels);
            self.oldest = (self.oldest + 1) % most;
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
