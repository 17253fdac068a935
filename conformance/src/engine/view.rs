//! JSON objects of a stream that are kept or looked into more than once.

use std::borrow::Cow;
use std::ops::Range;

use serde_json::Value;
use spec::json::{Outline, OutlineMember};

use super::kept::{Kept, Room};

/// Objects of more bytes have many members.
const LARGE: usize = 400;

/// A JSON value as its text, with the places of its members when it is an object.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Object<'a> {
    text: Cow<'a, str>,
    members: Cow<'a, [OutlineMember]>,
    /// Where members stand in the list, by a hash of their names; of large objects only.
    index: Option<Box<[u8; PLACES]>>,
    /// Which member is its `type`, the member that is asked for most; of small objects only.
    kind: Option<usize>,
}

const KIND: &str = "type";

/// So many places the index of a large object has.
const PLACES: usize = 128;

/// Objects of fewer members are searched from end to end; more than these are not put into the index.
const INDEXED: std::ops::Range<usize> = 12..PLACES / 2;

/// Where a name belongs in the index: by its length, its first byte and the last two.
fn slot(name: &[u8]) -> usize {
    let glance = match *name {
        [] => 0,
        [only] => 1 << 24 | u32::from(only),
        [first, .., before, last] => {
            let length = u8::try_from(name.len()).unwrap_or(u8::MAX);
            u32::from_le_bytes([first, before, last, length])
        }
        [first, last] => u32::from_le_bytes([first, last, 0, 2]),
    };
    (glance.wrapping_mul(0x9e37_79b1) >> 25) as usize
}

impl<'a> Object<'a> {
    /// Looks into a JSON text.
    pub(crate) fn new(text: &'a str) -> Self {
        let place = |piece: &str| {
            let start = piece.as_ptr() as usize - text.as_ptr() as usize;
            start..start + piece.len()
        };
        let mut members = Vec::new();
        if text.starts_with('{') {
            members.reserve_exact(if text.len() > LARGE { 40 } else { 8 });
        }
        let is_object = spec::json::each_member(text, |name, value| {
            let (name, escaped, value) = (place(name.raw), name.escaped, place(value));
            members.push(OutlineMember { name, escaped, value });
        });
        if !is_object {
            members.clear();
        }
        Self::of_members(text, Cow::Owned(members))
    }

    fn of_members(text: &'a str, members: Cow<'a, [OutlineMember]>) -> Self {
        let mut object = Self { text: Cow::Borrowed(text), members, index: None, kind: None };
        if INDEXED.contains(&object.members.len()) {
            object.index = Some(Box::new(object.index()));
        } else {
            object.kind = object.members.iter().rposition(|member| object.is_named(member, KIND));
        }
        object
    }

    /// The last of several members of one name is found first.
    fn index(&self) -> [u8; PLACES] {
        let mut index = [0; PLACES];
        for (at, member) in self.members.iter().enumerate().rev() {
            let mut place = if member.escaped {
                slot(spec::json::decode(self.piece(&member.name)).0.as_bytes())
            } else {
                slot(self.text.as_bytes().get(member.name.clone()).unwrap_or_default())
            };
            while index[place] != 0 {
                place = (place + 1) % PLACES;
            }
            index[place] = u8::try_from(at + 1).unwrap_or_default();
        }
        index
    }

    /// An object whose members were noted while it was checked.
    pub(crate) fn outlined(text: &'a str, outline: Option<&'a Outline>) -> Self {
        match outline.and_then(Outline::members) {
            Some(members) => Self::of_members(text, Cow::Borrowed(members)),
            None => Self::new(text),
        }
    }

    /// The same for a text that is also that of another object.
    pub(crate) fn outlined_like(text: &'a str, outline: Option<&'a Outline>, other: &Object<'_>) -> Self {
        match outline.and_then(Outline::members) {
            Some(members) => Self {
                text: Cow::Borrowed(text),
                members: Cow::Borrowed(members),
                index: other.index.clone(),
                kind: other.kind,
            },
            None => Self::new(text),
        }
    }

    /// Takes the place of an object that was kept, for longer than what this one came from.
    pub(crate) fn keep_in(&self, kept: &mut Kept<Object<'static>>) {
        let Object { text, members, index, kind } = kept.fill();
        self.text.as_ref().clone_into(text.to_mut());
        self.members.as_ref().clone_into(members.to_mut());
        index.clone_from(&self.index);
        *kind = self.kind;
    }

    /// The same for another copy of its text.
    pub(crate) fn of_same_text<'t>(&'t self, text: &'t str) -> Object<'t> {
        let members = Cow::Borrowed(&*self.members);
        Object { text: Cow::Borrowed(text), members, index: self.index.clone(), kind: self.kind }
    }

    /// All of it.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    fn piece(&self, place: &Range<usize>) -> &str {
        self.text.get(place.clone()).unwrap_or_default()
    }

    #[inline]
    fn is_named(&self, member: &OutlineMember, name: &str) -> bool {
        if member.escaped {
            return spec::json::decode(self.piece(&member.name)).0 == name;
        }
        if member.name.len() != name.len() {
            return false;
        }
        self.text.as_bytes().get(member.name.clone()) == Some(name.as_bytes())
    }

    fn member(&self, name: &str) -> Option<&OutlineMember> {
        let Some(index) = &self.index else {
            if name == KIND {
                return self.members.get(self.kind?);
            }
            return self.members.iter().rev().find(|member| self.is_named(member, name));
        };
        let mut place = slot(name.as_bytes());
        loop {
            // A place that is free has 0, and the others one more than where the member stands.
            let member = self.members.get(usize::from(index[place]).checked_sub(1)?)?;
            if self.is_named(member, name) {
                return Some(member);
            }
            place = (place + 1) % PLACES;
        }
    }

    /// Its members, in their order, with their names as they are written.
    pub(crate) fn members(&self) -> impl Iterator<Item = (&str, &str)> {
        self.members.iter().map(|member| (self.piece(&member.name), self.piece(&member.value)))
    }

    /// Where a member stands in the text.
    pub(crate) fn place(&self, name: &str) -> Option<Range<usize>> {
        self.member(name).map(|member| member.value.clone())
    }

    /// The text of a member.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        Some(self.piece(&self.member(name)?.value))
    }

    /// The text of the value at a JSON pointer.
    pub(crate) fn at(&self, pointer: &str) -> Option<&str> {
        let Some((name, rest)) = first_segment(pointer) else { return Some(&self.text) };
        spec::json::at(self.get(name)?, rest)
    }

    /// The members that another object has otherwise, or has not. Those that stand at the same place in both
    /// are found at once.
    pub(crate) fn changes<'o>(
        &'o self,
        other: &'o Object<'_>,
    ) -> impl Iterator<Item = (&'o str, &'o str, Option<&'o str>)> {
        let is_same = |at: usize, member: &OutlineMember| {
            let Some(near) = other.members.get(at) else { return false };
            let (whole, whole_near) = (whole(member), whole(near));
            // Names of one length, and values of one length, that are the same as one text.
            near.name.len() == member.name.len()
                && whole_near.len() == whole.len()
                && other.text.as_bytes().get(whole_near) == self.text.as_bytes().get(whole)
        };
        let beside = |at: usize, member: &OutlineMember| {
            let name = self.piece(&member.name);
            let near = other.members.get(at).filter(|near| other.is_named(near, name));
            let there = near.or_else(|| other.member(name));
            (name, self.piece(&member.value), there.map(|there| other.piece(&there.value)))
        };
        let rest = self.members.iter().enumerate().filter(move |(at, member)| !is_same(*at, member));
        let pairs = rest.map(move |(at, member)| beside(at, member));
        pairs.filter(|(_, before, now)| *now != Some(*before))
    }

    /// The text of a member, unless it is null.
    pub(crate) fn value(&self, name: &str) -> Option<&str> {
        self.get(name).filter(|raw| *raw != "null")
    }

    /// A member that is a string.
    pub(crate) fn string(&self, name: &str) -> Option<Cow<'_, str>> {
        spec::json::string(self.get(name)?)
    }

    /// A member that is a string without escapes, as names and ids are.
    pub(crate) fn plain(&self, name: &str) -> Option<&str> {
        let inside = self.get(name)?.strip_prefix('"')?.strip_suffix('"')?;
        (!inside.contains('\\')).then_some(inside)
    }

    /// The id by which the result of a call is told, where this is a call.
    pub(crate) fn call_id(&self) -> Option<&str> {
        self.plain("type").filter(|kind| kind.ends_with("_call"))?;
        self.plain("call_id")
    }

    /// A member that is a number.
    pub(crate) fn number(&self, name: &str) -> Option<f64> {
        self.get(name)?.parse().ok()
    }

    /// The entries of a member that is a list.
    pub(crate) fn entries(&self, name: &str) -> Option<Vec<&str>> {
        spec::json::entries(self.get(name)?)
    }
}

impl Room for Object<'static> {
    fn vacate(&mut self) {
        self.text.to_mut().vacate();
        self.members.to_mut().vacate();
    }
}

/// Where a member stands, name and value.
fn whole(member: &OutlineMember) -> Range<usize> {
    member.name.start..member.value.end
}

/// The entries of a list, if they are these texts, as lists of what was told one by one mostly are. That is
/// seen sooner than where entries end.
pub(crate) fn entries_that_are<'l, 't>(
    list: &'l str,
    texts: impl Iterator<Item = Option<&'t str>>,
) -> Option<Vec<&'l str>> {
    let mut rest = list.strip_prefix('[')?;
    let mut entries = Vec::new();
    for text in texts {
        if !entries.is_empty() {
            rest = rest.strip_prefix(',')?;
        }
        let (entry, behind) = rest.split_at_checked(text?.len())?;
        entries.push((text == Some(entry)).then_some(entry)?);
        rest = behind;
    }
    (rest == "]").then_some(entries)
}

/// The first segment of a JSON pointer, and the rest.
pub(crate) fn first_segment(pointer: &str) -> Option<(&str, &str)> {
    let pointer = pointer.strip_prefix('/')?;
    Some(pointer.split_at(pointer.find('/').unwrap_or(pointer.len())))
}

/// Whether two JSON texts mean the same.
pub(crate) fn same(one: &str, other: &str) -> bool {
    if one == other {
        return true;
    }
    let value = |text: &str| serde_json::from_str::<Value>(text).ok();
    matches!((value(one), value(other)), (Some(one), Some(other)) if equal(&one, &other))
}

fn equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one == other || one.as_f64() == other.as_f64(),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| equal(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(name, value)| other.get(name).is_some_and(|found| equal(value, found)))
        }
        _ => one == other,
    }
}

/// A JSON text, short enough for a message.
pub(crate) fn short(raw: &str) -> Cow<'_, str> {
    const MOST: usize = 60;
    if raw.len() <= MOST {
        return Cow::Borrowed(raw);
    }
    let end = (0..=MOST).rev().find(|at| raw.is_char_boundary(*at)).unwrap_or(0);
    Cow::Owned(format!("{}…", &raw[..end]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_found() {
        let object = Object::new(r#"{"a":"x","n":null,"l":[1,{}],"f":1.5}"#);
        assert_eq!((object.plain("a"), object.get("n"), object.value("n")), (Some("x"), Some("null"), None));
        assert_eq!(object.entries("l"), Some(vec!["1", "{}"]));
        assert_eq!(object.number("f"), Some(1.5));
        assert_eq!(Object::new("[]").members().count(), 0);
    }

    #[test]
    fn members_noted_on_the_way_are_those_that_are_found() {
        let odd = r#"{"type":"response.output_item.added","sequence_number":1,"output_index":0,
            "item": { "type" : "function_call", "\u0069d":"fc_1","new":[{}], "name":"f","call_id":"c",
            "arguments":"{}","name":"g", "status":"completed" } }"#;
        let goldens = crate::goldens::GOLDENS.iter().filter(|golden| golden.bytes.starts_with(b"event:"));
        let lines = goldens.flat_map(|golden| std::str::from_utf8(golden.bytes).unwrap().lines());
        let (mut memory, mut noted) = (spec::Memory::default(), 0);
        for data in lines.filter_map(|line| line.strip_prefix("data: ")).chain([odd]) {
            let name = spec::json::Checker::new(data).tag("type").ok().flatten().unwrap_or_default();
            let (_, view) = spec::openai::DIALECT.next_event(&name, data, &mut memory);
            let about = view.raw(spec::Slot::Response).or(view.raw(spec::Slot::Value));
            let Some(raw) = about.filter(|raw| raw.starts_with('{')) else { continue };
            noted += usize::from(memory.outline().members().is_some());
            assert_eq!(Object::outlined(raw, Some(memory.outline())), Object::new(raw), "{data}");
        }
        let last = memory.outline().members().map(<[_]>::len);
        assert!(noted > 50 && last == Some(8), "{noted}");
    }

    #[test]
    fn entries_are_told_by_their_texts() {
        let told = |list, texts: &[&'static str]| entries_that_are(list, texts.iter().copied().map(Some));
        assert_eq!(told("[1,{}]", &["1", "{}"]), Some(vec!["1", "{}"]));
        assert_eq!(told("[]", &[]), Some(Vec::new()));
        for list in ["[1]", "[1,{},2]", "[12,{}]", "[1,{}", "[1, {}]", "[1{}]", "[{},1]", "null"] {
            assert_eq!(told(list, &["1", "{}"]), None, "{list}");
        }
        assert_eq!(entries_that_are("[1]", [None].into_iter()), None);
    }

    #[test]
    fn equality_is_that_of_values() {
        assert!(same(r#"{"a":1,"b":"\u00e9"}"#, r#"{ "b":"é", "a":1.0 }"#));
        assert!(!same(r#"{"a":1}"#, r#"{"a":1,"b":null}"#));
        assert!(!same("[1,2]", "[2,1]"));
    }
}
