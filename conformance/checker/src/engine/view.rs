//! JSON objects of a stream that are stored or read more than once.

use std::borrow::Cow;
use std::ops::Range;

use serde_json::Value;
use spec::Api;
use spec::json::{Names, Outline, OutlineMember, is_escaped, is_same, shared_length};
use spec::table::{CallShape, StatusWords};

use super::reusable::{Recycle, Reusable};

/// A JSON value as text, with the places of its members if it is an object.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Object<'a> {
    text: Cow<'a, str>,
    members: Cow<'a, [OutlineMember]>,
    names: Names,
}

impl<'a> Object<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let offset = |piece: &str| piece.as_ptr() as usize - text.as_ptr() as usize;
        let mut members = Vec::new();
        if text.starts_with('{') {
            // Few texts have more, so that most need no second allocation.
            members.reserve_exact((text.len() / 16).clamp(8, 40));
        }
        let is_object = spec::json::each_member(text, |name, value| {
            let start = offset(value);
            members.push(OutlineMember::new(name, offset(name.raw), start..start + value.len()));
        });
        if !is_object {
            members.clear();
        }
        let names = Names::of(&mut members);
        Self { text: Cow::Borrowed(text), members: Cow::Owned(members), names }
    }

    /// Validation recorded the members.
    pub(crate) fn outlined(text: &'a str, outline: Option<&'a Outline>) -> Self {
        match outline.and_then(Outline::members) {
            Some((members, names)) => Self::known(text, members, names),
            None => Self::new(text),
        }
    }

    /// The members were recorded before.
    pub(super) const fn known(text: &'a str, members: &'a [OutlineMember], names: Names) -> Self {
        Self { text: Cow::Borrowed(text), members: Cow::Borrowed(members), names }
    }

    pub(crate) fn keep_in(&self, kept: &mut Reusable<Object<'static>>) {
        let Object { text, members, names } = kept.fill();
        self.text.as_ref().clone_into(text.to_mut());
        self.members.as_ref().clone_into(members.to_mut());
        *names = self.names;
    }

    pub(crate) fn into_owned(self) -> Object<'static> {
        let (text, members) = (self.text.into_owned(), self.members.into_owned());
        Object { text: Cow::Owned(text), members: Cow::Owned(members), names: self.names }
    }

    pub(crate) fn into_members(self) -> (Vec<OutlineMember>, Names) {
        (self.members.into_owned(), self.names)
    }

    pub(crate) fn of_same_text<'t>(&'t self, text: &'t str) -> Object<'t> {
        let members = Cow::Borrowed(&*self.members);
        Object { text: Cow::Borrowed(text), members, names: self.names }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    fn piece(&self, place: Range<usize>) -> &str {
        self.text.get(place).unwrap_or_default()
    }

    #[inline]
    fn member(&self, name: &str) -> Option<&OutlineMember> {
        self.names.find(&self.members, &self.text, name)
    }

    fn member_near(&self, at: usize, name: &str) -> Option<&OutlineMember> {
        let has_it = |near: &&OutlineMember| is_same(self.piece(near.name()).as_bytes(), name.as_bytes());
        self.members.get(at).filter(has_it).or_else(|| self.member(name))
    }

    /// Names are as written.
    pub(crate) fn members(&self) -> impl Iterator<Item = (&str, &str)> {
        self.members.iter().map(|member| (self.piece(member.name()), self.piece(member.value())))
    }

    pub(crate) fn place(&self, name: &str) -> Option<Range<usize>> {
        self.member(name).map(OutlineMember::value)
    }

    pub(crate) fn at(&self, pointer: &str) -> Option<&str> {
        let (name, rest) = first_segment(pointer)?;
        inside(self.get(name)?, rest)
    }

    // Rules run once an event, so that loading their code takes longer than running it. This keeps the code small.
    #[inline(never)]
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        Some(self.piece(self.member(name)?.value()))
    }

    /// Members at the same place in both are compared at once.
    pub(crate) fn changes<'o>(
        &'o self,
        other: &'o Object<'_>,
    ) -> impl Iterator<Item = (&'o str, &'o str, Option<&'o str>)> {
        // Between changes, the texts are equal: the end of the equal stretch, and its shift between the texts.
        let mut stretch = (0, 0);
        let mut is_same = move |at: usize, member: &OutlineMember| {
            let Some(near) = other.members.get(at) else { return false };
            let (whole, whole_near) = (whole(member), whole(near));
            let apart = whole_near.start.wrapping_sub(whole.start);
            if whole.end > stretch.0 || apart != stretch.1 {
                let rest = |text: &'o str, start: usize| text.as_bytes().get(start..).unwrap_or_default();
                let length =
                    shared_length(rest(&self.text, whole.start), rest(&other.text, whole_near.start));
                stretch = (whole.start + length, apart);
            }
            // Names of equal length and values of equal length, compared as one text.
            whole.end <= stretch.0
                && near.name().len() == member.name().len()
                && whole_near.len() == whole.len()
        };
        let beside = |at: usize, member: &OutlineMember| {
            let name = self.piece(member.name());
            let there = other.member_near(at, name);
            (name, self.piece(member.value()), there.map(|there| other.piece(there.value())))
        };
        let rest = self.members.iter().enumerate().filter(move |(at, member)| !is_same(*at, member));
        let pairs = rest.map(move |(at, member)| beside(at, member));
        pairs.filter(|(_, before, now)| *now != Some(*before))
    }

    /// Members at the same place in both are compared at once.
    pub(crate) fn missing_in<'o>(
        &'o self,
        other: &'o Object<'_>,
    ) -> impl Iterator<Item = (&'o str, &'o str)> {
        let all = self.members().enumerate();
        all.filter(|(at, (name, _))| other.member_near(*at, name).is_none()).map(|(_, member)| member)
    }

    /// `None` for null.
    #[inline(never)]
    pub(crate) fn value(&self, name: &str) -> Option<&str> {
        self.get(name).filter(|raw| *raw != "null")
    }

    #[inline(never)]
    pub(crate) fn string(&self, name: &str) -> Option<Cow<'_, str>> {
        spec::json::string(self.get(name)?)
    }

    pub(crate) fn is_cut_off(&self, status: &StatusWords) -> bool {
        self.plain(status.member) == Some(status.incomplete)
            && !self.plain("type").is_some_and(|kind| status.unfinished.contains(&kind))
    }

    /// A response repeats its request, which may not leave the choice of tools to the model.
    pub(crate) fn chooses(&self, api: &Api) -> bool {
        let Some(choice) = api.request.choice else { return false };
        self.get(choice.member).is_some() && self.plain(choice.member) != Some(choice.free)
    }

    #[inline(never)]
    pub(crate) fn plain(&self, name: &str) -> Option<&str> {
        let inside = self.get(name)?.strip_prefix('"')?.strip_suffix('"')?;
        (!is_escaped(inside)).then_some(inside)
    }

    pub(crate) fn call_id(&self, call: &CallShape) -> Option<&str> {
        let id = self.plain(call.id)?;
        self.plain("type").is_some_and(|kind| call.has_type(kind)).then_some(id)
    }

    pub(crate) fn number(&self, name: &str) -> Option<f64> {
        number(self.get(name)?)
    }

    pub(crate) fn entries(&self, name: &str) -> Option<Vec<&str>> {
        spec::json::entries(self.get(name)?)
    }
}

impl Recycle for Object<'static> {
    fn recycle(&mut self) {
        self.text.to_mut().recycle();
        self.members.to_mut().recycle();
        self.names = Names::default();
    }

    fn weight(&self) -> usize {
        self.text.len() + self.members.len() * size_of::<OutlineMember>()
    }
}

fn whole(member: &OutlineMember) -> Range<usize> {
    member.name().start..member.value().end
}

/// Lists of streamed values usually equal these texts. Comparing them is faster than finding the ends of entries.
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

/// Most numbers are whole and small, so there is a faster path for them.
pub(crate) fn number(raw: &str) -> Option<f64> {
    raw.starts_with(|first: char| first == '-' || first.is_ascii_digit()).then_some(())?;
    raw.parse::<u32>().map(f64::from).or_else(|_| raw.parse()).ok()
}

pub(crate) fn first_segment(pointer: &str) -> Option<(&str, &str)> {
    let pointer = pointer.strip_prefix('/')?;
    Some(pointer.split_at(pointer.find('/').unwrap_or(pointer.len())))
}

/// The text may have white space around it.
pub(super) fn inside<'t>(text: &'t str, pointer: &str) -> Option<&'t str> {
    if pointer.is_empty() { Some(text) } else { spec::json::at(text, pointer) }
}

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

pub(crate) fn short(raw: &str) -> Cow<'_, str> {
    const MAX_SHOWN: usize = 60;
    if raw.len() <= MAX_SHOWN {
        return Cow::Borrowed(raw);
    }
    let end = (0..=MAX_SHOWN).rev().find(|at| raw.is_char_boundary(*at)).unwrap_or(0);
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
        let goldens =
            recordings::goldens::GOLDENS.iter().filter(|golden| golden.bytes.starts_with(b"event:"));
        let lines = goldens.flat_map(|golden| std::str::from_utf8(golden.bytes).unwrap().lines());
        let (mut memory, mut noted) = (spec::Memory::default(), 0);
        for data in lines.filter_map(|line| line.strip_prefix("data: ")).chain([odd]) {
            let name = spec::json::string_member(data, "type").unwrap_or_default();
            let mut view = spec::View::nothing();
            memory.next_event(spec::openai::DIALECT.event(&name), data, &mut view);
            let about = view.raw(spec::Slot::Response).or(view.raw(spec::Slot::Value));
            let Some(raw) = about.filter(|raw| raw.starts_with('{')) else { continue };
            noted += usize::from(memory.outline().members().is_some());
            assert_eq!(Object::outlined(raw, Some(memory.outline())), Object::new(raw), "{data}");
        }
        let last = memory.outline().members().map(|(members, _)| members.len());
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
        assert!(same("-12.783279292603929", "-12.78327929260392892274"));
        assert!(!same("-12.783279292603929", "-12.783279292603927"));
    }
}
