//! The values of an event whose places are inside of others, or in the entries of arrays.

use std::borrow::Cow;
use std::ops::Range;

use crate::api::Slot;
use crate::event::{EventInfo, Watch};
use crate::json::{Names, OutlineMember, Scan, Scanner, Schema};
use crate::view::View;

/// The values of an event for which its effects take place, in the order of the effects.
#[derive(Debug, Default)]
pub struct Matches {
    /// The entries of arrays with their slots; the first is the event itself.
    rows: Vec<Row>,
    values: Vec<Value>,
    /// The values that another one of their schema could replace.
    replaceable: Vec<Replaceable>,
    is_cut: bool,
    /// The objects that were looked into.
    objects: Vec<Inner>,
    /// The members of these, one object after the other.
    members: Vec<OutlineMember>,
    /// The members of the objects that are being read.
    unfinished: Vec<OutlineMember>,
    /// An object has two members of one name that rules look for.
    has_twins: bool,
}

/// An object inside of the event: its start, and its members.
#[derive(Debug)]
struct Inner {
    start: usize,
    members: Range<usize>,
    names: Names,
}

/// The range of a value, as views keep it.
pub(crate) type ByteRange = (u32, u32);

/// What [`Matches`] keep the place of.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Matched {
    /// The value of an effect.
    Value(usize),
    /// An entry of an array.
    Entry(usize),
    /// The value of a slot in an entry, or in the event.
    Slot(usize, Slot),
}

/// An entry of an array, or the event.
#[derive(Debug, Clone, Copy)]
struct Row {
    around: usize,
    index: usize,
    /// Its place; empty for the event.
    place: ByteRange,
    slots: [ByteRange; Slot::COUNT],
}

/// A value for which an effect takes place.
#[derive(Debug, Clone, Copy)]
struct Value {
    effect: usize,
    row: usize,
    place: ByteRange,
    is_allowed: bool,
    takes_any_text: bool,
}

/// A value that another one of its schema could replace.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Replaceable {
    pub(crate) place: ByteRange,
    pub(crate) schema: &'static Schema,
}

/// Maximum number of entries of arrays in an event. Those beyond have no effect.
const MOST_ROWS: usize = 1024;

impl Matches {
    /// Returns the number of effects that take place.
    pub const fn len(&self) -> usize {
        self.values.len()
    }

    /// Returns whether none takes place.
    pub const fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Returns whether the event has so many entries of arrays that some were not looked at.
    pub const fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Returns the effects of the event that take place.
    pub fn effects<'m>(&'m self, event: &EventInfo) -> impl Iterator<Item = &'static EventInfo> + use<'m> {
        let effects = event.effects;
        self.values.iter().filter_map(move |value| effects.get(value.effect))
    }

    /// Returns the effect of the event that takes place, if that is the only one.
    pub fn only(&self, event: &EventInfo) -> Option<&'static EventInfo> {
        let [value] = self.values.as_slice() else { return None };
        event.effects.get(value.effect).filter(|_| !self.is_cut)
    }

    /// `None` unless an effect takes place for one value alone, and any other text would be valid there.
    pub(crate) fn only_text(&self) -> Option<Range<usize>> {
        let [Value { place, takes_any_text: true, .. }] = *self.values.as_slice() else { return None };
        Some(place.0 as usize..place.1 as usize)
    }

    /// The value that another one of its schema could replace, if there is one. Fails if there are more.
    pub(crate) const fn replaceable(&self) -> Result<Option<Replaceable>, ()> {
        match self.replaceable.as_slice() {
            [] => Ok(None),
            [only] => Ok(Some(*only)),
            _ => Err(()),
        }
    }

    /// Returns whether it is the first place in its array in which its effect takes place.
    pub fn is_first(&self, nth: usize) -> bool {
        let array = |nth: usize| {
            let value = self.values.get(nth)?;
            Some((value.effect, self.rows.get(value.row)?.around))
        };
        nth.checked_sub(1).is_none_or(|before| array(before) != array(nth))
    }

    /// Returns the place of the entry of an array in which the value of an effect is, if it is in one.
    pub fn entry(&self, nth: usize) -> Option<Range<usize>> {
        let (start, end) = self.rows.get(self.values.get(nth)?.row)?.place;
        (start < end).then_some(start as usize..end as usize)
    }

    /// The number of the object at an offset of the event, if it was looked into.
    pub fn position(&self, start: usize) -> Option<usize> {
        self.objects.iter().position(|object| object.start == start)
    }

    /// The members of an object that was looked into, and their index by name.
    pub fn object(&self, number: usize) -> Option<(&[OutlineMember], Names)> {
        let object = self.objects.get(number)?;
        Some((self.members.get(object.members.clone())?, object.names))
    }

    /// The entries of the arrays in an entry, or in the event: their numbers and places. None if the event has others, too.
    pub fn entries(&self, around: usize) -> Option<impl Iterator<Item = (usize, Range<usize>)>> {
        let is_whole = !self.objects.is_empty() && !self.has_twins && !self.is_cut;
        let rows = self.rows.iter().enumerate().skip(1).filter(move |(_, row)| row.around == around);
        is_whole.then(|| rows.map(|(at, row)| (at, row.place.0 as usize..row.place.1 as usize)))
    }

    /// Usual counts consist of a few digits. `whole` is the view of the event.
    pub(crate) fn have_usual_counts(&self, whole: &View<'_>) -> bool {
        self.rows.iter().all(|row| {
            let mut view = *whole;
            view.put_all(&row.slots);
            view.has_usual_counts()
        })
    }

    pub(crate) fn places(&self) -> impl Iterator<Item = (Matched, ByteRange)> {
        let values = self.values.iter().enumerate().map(|(nth, value)| (Matched::Value(nth), value.place));
        let rows = self.rows.iter().enumerate().flat_map(|(nth, row)| {
            let slots =
                Slot::ALL.iter().zip(row.slots).map(move |(slot, it)| (Matched::Slot(nth, *slot), it));
            slots.chain([(Matched::Entry(nth), row.place)])
        });
        values.chain(rows).filter(|(_, (start, end))| start < end)
    }

    pub(crate) fn set_place(&mut self, of: Matched, to: ByteRange) {
        let place = match of {
            Matched::Value(nth) => self.values.get_mut(nth).map(|value| &mut value.place),
            Matched::Entry(nth) => self.rows.get_mut(nth).map(|row| &mut row.place),
            Matched::Slot(nth, slot) => self.rows.get_mut(nth).map(|row| &mut row.slots[slot as usize]),
        };
        if let Some(place) = place {
            *place = to;
        }
    }

    /// Returns an effect that takes place, with the view for which it does. `whole` is the view of the event.
    pub fn get<'a>(
        &self,
        nth: usize,
        event: &EventInfo,
        whole: &View<'a>,
    ) -> Option<(&'static EventInfo, View<'a>)> {
        let value = self.values.get(nth)?;
        let mut view = *whole;
        view.put_all(&self.rows.get(value.row)?.slots);
        let effect = event.effects.get(value.effect)?;
        if effect.value.is_some() {
            view.put_place(Slot::Value, value.place);
        }
        Some((effect, view))
    }

    /// Returns a JSON pointer with the indices of the entries in which a value is, in place of `*`.
    pub fn filled<'p>(&self, nth: usize, pointer: &'p str) -> Cow<'p, str> {
        if !pointer.contains("/*") {
            return Cow::Borrowed(pointer);
        }
        let row = self.values.get(nth).and_then(|value| self.rows.get(value.row));
        let outer = |row: &&Row| self.rows.get(row.around).filter(|_| row.around != 0);
        let mut indices: Vec<usize> = std::iter::successors(row, outer).map(|row: &Row| row.index).collect();
        let segments = pointer.split('/').map(|segment| match segment {
            "*" => indices.pop().map_or(Cow::Borrowed("*"), |index| Cow::Owned(index.to_string())),
            segment => Cow::Borrowed(segment),
        });
        Cow::Owned(segments.collect::<Vec<_>>().join("/"))
    }

    #[inline]
    pub(crate) fn clear(&mut self) {
        if self.rows.is_empty() {
            return;
        }
        self.rows.clear();
        self.values.clear();
        self.replaceable.clear();
        (self.is_cut, self.has_twins) = (false, false);
        self.forget_objects();
    }

    /// Their members have moved. An event with very many leaves no memory behind.
    pub(crate) fn forget_objects(&mut self) {
        self.objects.clear();
        for members in [&mut self.members, &mut self.unfinished] {
            members.clear();
            members.shrink_to(MOST_ROWS);
        }
    }

    /// Records the object whose members are the unfinished ones from `first` on.
    fn record(&mut self, start: usize, first: usize) {
        let from = self.members.len();
        self.members.extend(self.unfinished.drain(first..));
        let names = self.members.get_mut(from..).map(Names::of).unwrap_or_default();
        self.objects.push(Inner { start, members: from..self.members.len(), names });
    }

    /// Collects the values of an event, which is JSON, and sets the slots of its view. `known` are its members, if they were
    /// recorded.
    pub(crate) fn collect(
        &mut self,
        event: &EventInfo,
        watch: &Watch,
        view: &mut View<'_>,
        known: KnownMembers<'_>,
    ) {
        self.clear();
        self.rows.push(Row { around: 0, index: 0, place: (0, 0), slots: [(0, 0); Slot::COUNT] });
        let mut walk = Walk { matches: self, event, scanner: Scanner::new(view.text), known };
        // Other text was reported: it is no JSON.
        if walk.value(watch, 0).is_err() {
            return self.clear();
        }
        self.values.retain(|value| value.is_allowed);
        self.values.sort_by_key(|value| value.effect);
        // Slots of an outer row can come after the slots of an inner one.
        for at in 1..self.rows.len() {
            let outer = self.rows[self.rows[at].around].slots;
            for (own, outer) in self.rows[at].slots.iter_mut().zip(outer) {
                if *own == (0, 0) {
                    *own = outer;
                }
            }
        }
        view.put_all(&self.rows[0].slots);
        // An effect that always takes place has one value.
        if event.effects.is_empty() {
            if let Some(value) = self.values.last() {
                view.put_place(Slot::Value, value.place);
            }
            self.values.clear();
        }
    }
}

type KnownMembers<'m> = Option<(&'m [OutlineMember], Names)>;

struct Walk<'w, 'a> {
    matches: &'w mut Matches,
    event: &'w EventInfo,
    scanner: Scanner<'a>,
    /// The members of the next object.
    known: KnownMembers<'w>,
}

impl<'a> Walk<'_, 'a> {
    /// Passes the value at the cursor, and collects it and those inside of it.
    fn value(&mut self, watch: &Watch, row: usize) -> Scan<()> {
        let kind = self.scanner.peek();
        if kind == b'n' {
            return self.scanner.skip();
        }
        let (start, first) = (self.scanner.offset(), self.matches.values.len());
        for effect in watch.effects {
            let needs_nothing = |effect: &EventInfo| effect.when.is_none() && effect.beside.is_none();
            let is_allowed = self.event.effects.get(*effect).is_none_or(needs_nothing);
            let (place, takes_any_text) = ((0, 0), watch.takes_any_text);
            self.matches.values.push(Value { effect: *effect, row, place, is_allowed, takes_any_text });
        }
        let own = first..first + watch.effects.len();
        match kind {
            b'{' if !watch.inner.is_empty() || !watch.effects.is_empty() => self.members(watch, row, first),
            b'[' if !watch.inner.is_empty() => self.entries(watch, row),
            _ => self.scanner.skip(),
        }?;
        let place = View::place_of((start, self.scanner.offset()));
        for value in self.matches.values.get_mut(own).unwrap_or_default() {
            value.place = place;
        }
        if let Some(schema) = watch.schema {
            self.matches.replaceable.push(Replaceable { place, schema });
        }
        if let Some(slot) = watch.slot
            && let Some(row) = self.matches.rows.get_mut(row)
        {
            row.slots[slot as usize] = place;
        }
        Ok(())
    }

    /// The values from `first` on are the object's, and those inside of it.
    fn members(&mut self, watch: &Watch, row: usize, first: usize) -> Scan<()> {
        let known = self.known.take();
        let (object, own) = (self.scanner.offset(), self.matches.unfinished.len());
        let Self { matches, event, scanner, .. } = self;
        let (mut allowed, mut forbidden) = (0_u64, 0_u64);
        let mut member = |matches: &mut Matches, scanner: &mut Scanner<'a>, inner: &Watch| {
            let (kind, start) = (scanner.peek(), scanner.offset());
            let mut walk = Walk { matches, event, scanner: *scanner, known: None };
            walk.value(inner, row)?;
            *scanner = walk.scanner;
            let is_empty = kind == b'"' && scanner.offset() - start == "\"\"".len();
            if !matches!(kind, b'n' | b'f') && !is_empty {
                allowed |= bits(inner.allows);
                forbidden |= bits(inner.forbids);
            }
            Ok(())
        };
        if let Some((members, names)) = known {
            let text = scanner.rest();
            for inner in watch.inner {
                let found = inner.member.and_then(|name| names.find(members, text, name));
                if let Some(found) = found {
                    scanner.rewind(found.value().start);
                    member(matches, scanner, inner)?;
                }
            }
            scanner.rewind(members.last().map_or(1, |last| last.value().end));
            scanner.separator(b'}')?;
        } else {
            // Rules look at the entries of lists, and at values with an effect.
            let is_recorded = watch.member.is_none() && row != 0 || !watch.effects.is_empty();
            let mut seen = 0_u64;
            scanner.object(|scanner, name, raw| {
                let is_it = |inner: &Watch| inner.member.is_some_and(|member| member.as_bytes() == name);
                scanner.peek();
                let start = scanner.offset();
                if let Some(at) = watch.inner.iter().position(is_it) {
                    let bit = bits(&[at]);
                    matches.has_twins |= seen & bit != 0;
                    seen |= bit;
                    member(matches, scanner, &watch.inner[at])?;
                } else {
                    scanner.skip()?;
                }
                if is_recorded {
                    let value = start - object..scanner.offset() - object;
                    let before = scanner.offset_of(raw.raw) - object;
                    matches.unfinished.push(OutlineMember::new(raw, before, value));
                }
                Ok(())
            })?;
            if is_recorded {
                matches.record(object, own);
            }
        }
        if allowed | forbidden != 0 {
            // Members beside a value can come before it.
            for value in self.matches.values.get_mut(first..).unwrap_or_default() {
                let own = bits(&[value.effect]);
                value.is_allowed = (value.is_allowed || allowed & own != 0) && forbidden & own == 0;
            }
        }
        Ok(())
    }

    fn entries(&mut self, watch: &Watch, row: usize) -> Scan<()> {
        let Some(entry) = watch.inner.iter().find(|inner| inner.member.is_none()) else {
            return self.scanner.skip();
        };
        self.scanner.advance();
        if self.scanner.peek() == b']' {
            self.scanner.advance();
            return Ok(());
        }
        for index in 0.. {
            self.scanner.peek();
            let start = self.scanner.offset();
            if self.matches.rows.len() < MOST_ROWS {
                let inner = self.matches.rows.len();
                self.matches.rows.push(Row {
                    around: row,
                    index,
                    place: (0, 0),
                    slots: [(0, 0); Slot::COUNT],
                });
                self.value(entry, inner)?;
                let place = View::place_of((start, self.scanner.offset()));
                self.matches.set_place(Matched::Entry(inner), place);
            } else {
                self.matches.is_cut = true;
                self.scanner.skip()?;
            }
            if self.scanner.separator(b']')? {
                break;
            }
        }
        Ok(())
    }
}

/// Positions of effects, one bit each.
fn bits(effects: &[usize]) -> u64 {
    effects.iter().fold(0, |bits, effect| {
        bits | u32::try_from(*effect).ok().and_then(|at| 1_u64.checked_shl(at)).unwrap_or(0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::{Scope, ScopeInfo};
    use crate::event::EventSchema;
    use crate::json::Schema;
    use crate::words::Role;

    static LEVEL: ScopeInfo = ScopeInfo::none(Scope::ALL[0]);

    const fn effect(value: &'static str, when: Option<&'static str>) -> EventInfo {
        EventInfo {
            name: "chunk",
            description: "",
            number: 0,
            effect: None,
            scope: Scope::ALL[0],
            level: &LEVEL,
            role: Role::Point,
            value: Some(value),
            when,
            beside: None,
            unless: None,
            phase: None,
            early: false,
            effects: &[],
            schema: EventSchema::Other(Schema::Any, &[], Some(&CHUNK)),
        }
    }

    const fn watch(member: Option<&'static str>, inner: &'static [Watch]) -> Watch {
        Watch {
            member,
            slot: None,
            effects: &[],
            allows: &[],
            forbids: &[],
            takes_any_text: false,
            schema: None,
            inner,
        }
    }

    /// Entries `a` have an index, and lists `b` of entries with an index, an id and a text.
    static CHUNK: Watch = watch(
        None,
        &[
            Watch { slot: Some(Slot::SequenceNumber), ..watch(Some("n"), &[]) },
            watch(
                Some("a"),
                &[watch(
                    None,
                    &[
                        watch(
                            Some("b"),
                            &[Watch {
                                effects: &[0],
                                ..watch(
                                    None,
                                    &[
                                        Watch { slot: Some(Slot::ContentIndex), ..watch(Some("j"), &[]) },
                                        Watch { allows: &[0], ..watch(Some("id"), &[]) },
                                        Watch { effects: &[1, 2], ..watch(Some("text"), &[]) },
                                        Watch { allows: &[2], forbids: &[1], ..watch(Some("aside"), &[]) },
                                    ],
                                )
                            }],
                        ),
                        Watch { slot: Some(Slot::OutputIndex), ..watch(Some("i"), &[]) },
                    ],
                )],
            ),
        ],
    );

    static EVENT: EventInfo = EventInfo {
        value: None,
        effects: &[
            effect("/a/*/b/*", Some("id")),
            EventInfo { unless: Some("aside"), ..effect("/a/*/b/*/text", None) },
            EventInfo { beside: Some("aside"), effect: Some("aside"), ..effect("/a/*/b/*/text", None) },
        ],
        ..effect("", None)
    };

    /// Returns the effects that take place: their position, the two indices, the value and its place.
    fn found(text: &str) -> Vec<String> {
        let (mut matches, mut view) = (Matches::default(), View::new(text));
        matches.collect(&EVENT, &CHUNK, &mut view, None);
        let all = (0..matches.len()).map(|nth| {
            let (effect, view) = matches.get(nth, &EVENT, &view).unwrap();
            let slots = [Slot::SequenceNumber, Slot::OutputIndex, Slot::ContentIndex, Slot::Value];
            let slots = slots.map(|slot| view.raw(slot).unwrap_or("-")).join(" ");
            let name = effect.effect.unwrap_or_default();
            format!("{name}{} {slots}", matches.filled(nth, effect.value.unwrap()))
        });
        all.collect()
    }

    #[test]
    fn a_member_beside_a_value_chooses_among_effects() {
        let text = r#"{"a":[{"b":[{"aside":true,"text":"A"},{"text":"B","aside":"x"},{"text":"C","aside":false},{"text":"D"},
            {"aside":true}]}]}"#;
        assert_eq!(
            found(text),
            [
                r#"/a/0/b/2/text - - - "C""#,
                r#"/a/0/b/3/text - - - "D""#,
                r#"aside/a/0/b/0/text - - - "A""#,
                r#"aside/a/0/b/1/text - - - "B""#,
            ]
        );
    }

    #[test]
    fn effects_take_place_for_each_value_that_is_not_null() {
        let text = r#"{"a":[{"b":[{"j":0,"id":"x","text":"A"},{"text":"B","j":1,"id":null},{"j":2,"id":"","text":null}],"i":7},
            null,{"i":8},{"b":[{"id":"y"}],"i":9}],"n":5}"#;
        assert_eq!(
            found(text),
            [
                r#"/a/0/b/0 5 7 0 {"j":0,"id":"x","text":"A"}"#,
                r#"/a/3/b/0 5 9 - {"id":"y"}"#,
                r#"/a/0/b/0/text 5 7 0 "A""#,
                r#"/a/0/b/1/text 5 7 1 "B""#,
            ]
        );
        for nothing in ["null", "[]", "{}", r#"{"a":{"b":[{"text":"A"}]}}"#, r#"{"a":[[{"text":"A"}],3]}"#] {
            assert_eq!(found(nothing), Vec::<String>::new(), "{nothing}");
        }
    }

    #[test]
    fn members_of_entries_and_values_are_recorded() {
        let text = r#"{"n":1,"a":[{"b":[{"text":"A","x":{"y":1}},7,{"\u0069d":"x"}],"i":2},{}]}"#;
        let mut matches = Matches::default();
        matches.collect(&EVENT, &CHUNK, &mut View::new(text), None);
        let names = |place: Range<usize>| {
            let (members, names) = matches.object(matches.position(place.start)?)?;
            let object = &text[place];
            let all = members.iter().map(|member| (&object[member.name()], &object[member.value()]));
            let id = names.find(members, object, "id").map(|id| &object[id.value()]);
            Some((all.collect::<Vec<_>>(), id))
        };
        let outer: Vec<_> = matches.entries(0).unwrap().collect();
        let inner = matches.entries(outer[0].0).unwrap().map(|(_, place)| names(place));
        let expected = [
            Some((vec![("text", "\"A\""), ("x", r#"{"y":1}"#)], None)),
            None,
            Some((vec![("\\u0069d", "\"x\"")], Some("\"x\""))),
        ];
        assert_eq!(inner.collect::<Vec<_>>(), expected);
        assert_eq!(names(outer[1].1.clone()), Some((Vec::new(), None)));

        let twins = r#"{"a":[{"b":[{}],"b":[{}]}]}"#;
        matches.collect(&EVENT, &CHUNK, &mut View::new(twins), None);
        assert!(matches.entries(0).is_none());
    }

    #[test]
    fn entries_beyond_a_limit_have_no_effect() {
        let entries =
            |count: usize| format!(r#"{{"a":[{{"b":[{}]}}]}}"#, vec![r#"{"text":"A"}"#; count].join(","));
        let most = MOST_ROWS - 2;
        assert_eq!((found(&entries(most)).len(), found(&entries(most + 1)).len()), (most, most));
        let (mut matches, text) = (Matches::default(), entries(most + 1));
        matches.collect(&EVENT, &CHUNK, &mut View::new(&text), None);
        assert!(matches.is_cut());
    }
}
