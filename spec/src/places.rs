//! The places of events by their names: a hash table, made when the suite is compiled or a dialect is loaded.

use crate::EventInfo;

/// Some slots are always empty, which ends a search.
pub(crate) const fn slots(events: &[EventInfo]) -> usize {
    (2 * events.len() + 1).next_power_of_two()
}

/// As many slots as [`slots`] says: each event in the slot of its hash, or the next free one.
pub(crate) const fn places<const SLOTS: usize>(events: &[EventInfo]) -> [u16; SLOTS] {
    let mut filled = [0; SLOTS];
    fill(&mut filled, events);
    filled
}

/// Fills empty slots. An event has its place, from 1.
pub(crate) const fn fill(filled: &mut [u16], events: &[EventInfo]) {
    let mut place = 0;
    while place < events.len() {
        let mut at = hash(events[place].name) % filled.len();
        while filled[at] != 0 {
            at = (at + 1) % filled.len();
        }
        place += 1;
        #[expect(clippy::cast_possible_truncation, reason = "folders have fewer files")]
        let number = place as u16;
        filled[at] = number;
    }
}

#[inline]
pub(crate) fn find(places: &[u16], events: &'static [EventInfo], name: &str) -> Option<&'static EventInfo> {
    let last = places.len().checked_sub(1)?;
    let mut at = hash(name) & last;
    loop {
        let place = usize::from(*places.get(at)?).checked_sub(1)?;
        let event = events.get(place)?;
        if event.name == name {
            return Some(event);
        }
        at = (at + 1) & last;
    }
}

/// The length and the end of a name tell nearly all events of an API apart.
const fn hash(name: &str) -> usize {
    let bytes = name.as_bytes();
    let end = match bytes.last_chunk() {
        Some(end) => u64::from_le_bytes(*end),
        None => 0,
    };
    let mixed = (end ^ bytes.len() as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed >> 40) as usize
}
