//! The places of an object's members, recorded while it is validated, so that they need not be searched again.

use super::ObjectSchema;
use crate::json::bytes::shared_length;
use crate::json::names::{Names, OutlineMember};

/// The places of the members of one object. Its memory can be reused.
#[derive(Debug, Default)]
pub struct Outline {
    members: Vec<OutlineMember>,
    names: Names,
    /// The declared members among them.
    places: Vec<u32>,
    pub(super) state: Outlining,
    /// Whether the expected object often repeats.
    recurs: bool,
    /// Whether it opens a stream: such objects resemble those that opened other streams.
    is_first: bool,
    /// The last object that opened a stream, and the last other one. Boxed, as an outline is moved for each event.
    known: [Option<Box<LastObject>>; 2],
    /// The later of the two.
    latest: usize,
    /// The last valid values of items and parts, which later objects often contain.
    recent: Vec<Valid>,
    /// The oldest of these.
    oldest: usize,
}

/// The last valid object of those that often repeat.
#[derive(Debug, Default)]
struct LastObject {
    text: String,
    members: Vec<OutlineMember>,
    names: Names,
    places: Vec<u32>,
    schema: Option<&'static ObjectSchema>,
}

#[derive(Debug)]
struct Valid {
    text: String,
    schema: &'static ObjectSchema,
    /// Depth of its nested values.
    levels: u32,
}

/// Maximum number and size of the kept objects that are not responses.
const RECENT: (usize, usize) = (8, 1 << 13);

/// Approximate number of members of a response.
const USUAL: usize = 40;

/// Maximum size of a kept object, in bytes.
const LONGEST: usize = 1 << 16;

/// The place of an undeclared member.
pub(super) const UNDECLARED: u32 = u32::MAX;

/// The declared members of an object that were seen, and the expected next one.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Seen {
    pub(super) bits: u64,
    pub(super) next: u32,
}

impl Seen {
    /// False if the member was seen before; undeclared ones may repeat.
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
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Outlining {
    #[default]
    Off,
    /// No object is being recorded.
    Idle,
    /// The next object will be recorded.
    Next,
    Done,
}

impl Outline {
    /// Returns the members of the recorded object in order, if there is one, and their index by name.
    pub fn members(&self) -> Option<(&[OutlineMember], Names)> {
        (self.state == Outlining::Done).then_some((&self.members, self.names))
    }

    /// `is_first` is whether the event opens a stream.
    pub(crate) const fn begin(&mut self, is_first: bool) {
        self.state = Outlining::Idle;
        self.is_first = is_first;
    }

    fn known(&self) -> Option<&LastObject> {
        let place = if self.is_first { 0 } else { self.latest };
        self.known.get(place)?.as_deref()
    }

    /// `recurs` is whether such objects often repeat.
    #[inline]
    pub(super) fn expect(&mut self, recurs: bool) {
        if self.state != Outlining::Off {
            self.state = Outlining::Next;
            self.recurs = recurs;
        }
    }

    /// The value was something else.
    #[inline]
    pub(super) fn expect_no_more(&mut self) {
        if self.state == Outlining::Next {
            self.state = Outlining::Idle;
        }
    }

    /// False if the object that is entered now is not to be recorded.
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

    /// The object that is entered now can only be compared with one that has the same schema.
    pub(super) fn knows(&self, schema: &ObjectSchema) -> bool {
        let is_wanted = self.recurs && self.state == Outlining::Next;
        let known = self.known().filter(|_| is_wanted).and_then(|known| known.schema);
        known.is_some_and(|known| std::ptr::eq(known, schema))
    }

    /// The length and depth of the object at the start of the text, if it has had this schema before, and its depth is within
    /// the limit.
    pub(super) fn again(&mut self, schema: &ObjectSchema, text: &str, most: u32) -> Option<(usize, u32)> {
        if self.knows(schema) {
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
        let is_it = |valid: &&Valid| std::ptr::eq(valid.schema, schema) && text.starts_with(&valid.text);
        recent.find(is_it).map(|valid| (valid.text.len(), valid.levels))
    }

    /// Records the next members while the known object has the same bytes, and they were not seen yet. The text is at
    /// an offset of the object. Returns their length.
    pub(super) fn pass_known(&mut self, text: &str, offset: usize, seen: &mut Seen) -> Option<usize> {
        let Self { members, places, known, latest, is_first, .. } = self;
        let known = known.get(if *is_first { 0 } else { *latest })?.as_deref()?;
        let next = known.members.get(members.len()..)?;
        // From the quote before its name.
        let start = next.first()?.name().start.checked_sub(1)?;
        let end = start + shared_length(known.text.as_bytes().get(start..)?, text.as_bytes());
        let shift = u32::try_from(offset).ok()?.wrapping_sub(u32::try_from(start).ok()?);
        // The byte after a value must be equal, too, or the value might be longer.
        let is_passed =
            |(member, place): &(&OutlineMember, &u32)| member.value().end < end && seen.add(**place);
        let next_places = known.places.get(members.len()..)?;
        let passed = next.iter().zip(next_places).take_while(is_passed).count();
        let length = next.get(passed.checked_sub(1)?)?.value().end - start;
        members.extend(next.iter().take(passed).map(|member| member.moved(shift)));
        places.extend(next_places.iter().take(passed));
        Some(length)
    }

    /// The recorded object is valid.
    pub(super) fn keep(&mut self, schema: &'static ObjectSchema, text: &str, levels: u32) {
        if !self.recurs {
            self.keep_recent(schema, text, levels);
        } else if text.len() <= LONGEST {
            self.latest = usize::from(!self.is_first);
            let known = self.known[self.latest].get_or_insert_default();
            text.clone_into(&mut known.text);
            known.members.clone_from(&self.members);
            known.names = self.names;
            known.places.clone_from(&self.places);
            known.schema = Some(schema);
        }
    }

    fn keep_recent(&mut self, schema: &'static ObjectSchema, text: &str, levels: u32) {
        let (most, longest) = RECENT;
        if text.len() > longest {
            return;
        }
        if self.recent.len() < most {
            self.recent.push(Valid { text: text.to_owned(), schema, levels });
        } else if let Some(valid) = self.recent.get_mut(self.oldest) {
            text.clone_into(&mut valid.text);
            (valid.schema, valid.levels) = (schema, levels);
            self.oldest = (self.oldest + 1) % most;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outline_that_is_off_holds_no_memory() {
        let mut outline = Outline::default();
        for recurs in [true, false] {
            outline.expect(recurs);
            assert!(!outline.enter());
        }
        let Outline { members, places, known, recent, .. } = outline;
        assert_eq!((members.capacity(), places.capacity(), recent.capacity()), (0, 0, 0));
        assert!(known.iter().all(Option::is_none));
    }
}
