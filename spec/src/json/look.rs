//! Finds values in a JSON text without building a tree.

use std::borrow::Cow;
use std::cell::OnceCell;

use super::text::decode;
use super::{Names, OutlineMember, RawString, Scan, Scanner, is_same};

/// Calls a function with the members of an object, in order, with the text of their values. Returns false if the text
/// is not an object or not JSON; members before the fault were passed on then.
pub fn each_member<'a>(text: &'a str, mut member: impl FnMut(RawString<'a>, &'a str)) -> bool {
    let mut scanner = Scanner::new(text);
    if scanner.peek() != b'{' {
        return false;
    }
    let read = scanner.object(|scanner, _, name| {
        let value = scanner.raw()?;
        member(name, value);
        Ok::<(), super::Syntax>(())
    });
    read.and_then(|()| scanner.end()).is_ok()
}

/// Returns the members of an object; `None` if the text is not an object or not JSON.
pub fn members(text: &str) -> Option<Vec<(Cow<'_, str>, &str)>> {
    let mut members = Vec::new();
    each_member(text, |name, value| {
        members.push((name.decoded(), value));
    })
    .then_some(members)
}

/// The texts of members of an object, each "" if there is none. Of several with the same name, the last one counts.
/// A text that is no JSON object has no members.
pub fn values<'t, const COUNT: usize>(object: &'t str, names: [&str; COUNT]) -> [&'t str; COUNT] {
    let mut values = [""; COUNT];
    let mut scanner = Scanner::new(object);
    let read = scanner.members(|scanner, name| {
        let found = scanner.raw()?;
        for (known, value) in names.iter().zip(&mut values) {
            if is_same(name, known.as_bytes()) {
                *value = found;
            }
        }
        Ok(())
    });
    if read.and_then(|()| scanner.end()).is_ok() { values } else { [""; COUNT] }
}

/// Returns the texts of the entries of a list; `None` if the text is not a list or not JSON.
pub fn entries(text: &str) -> Option<Vec<&str>> {
    let mut entries = Vec::new();
    let is_list = each_entry(text, |scanner| {
        entries.push(scanner.raw()?);
        Ok(())
    });
    is_list.then_some(entries)
}

/// Calls a function at each entry of a list, which it reads. Returns false if the text is not a list or not JSON; entries
/// before the fault were read then.
pub fn each_entry<'a>(text: &'a str, entry: impl FnMut(&mut Scanner<'a>) -> Scan<()>) -> bool {
    let mut scanner = Scanner::new(text);
    scanner.peek() == b'[' && scanner.entries(entry).and_then(|()| scanner.end()).is_ok()
}

impl Scanner<'_> {
    /// `entry` is called at each entry, and reads it.
    pub(crate) fn entries(&mut self, mut entry: impl FnMut(&mut Self) -> Scan<()>) -> Scan<()> {
        self.advance();
        if self.peek() == b']' {
            self.advance();
            return Ok(());
        }
        loop {
            self.peek();
            entry(self)?;
            if self.separator(b']')? {
                return Ok(());
            }
        }
    }
}

/// An object whose members are found once, to look up several places.
#[derive(Debug)]
pub struct Indexed<'t> {
    text: &'t str,
    /// `None` if it is no object.
    members: Option<(Vec<OutlineMember>, Names)>,
    /// The first value that a pointer led into.
    inner: OnceCell<(usize, Box<Self>)>,
}

impl<'t> Indexed<'t> {
    /// The members of an object.
    pub fn new(text: &'t str) -> Self {
        let offset = |piece: &str| piece.as_ptr() as usize - text.as_ptr() as usize;
        let mut members = Vec::new();
        let is_object = each_member(text, |name, value| {
            let start = offset(value);
            members.push(OutlineMember::new(name, offset(name.raw), start..start + value.len()));
        });
        let names = Names::of(&mut members);
        Self { text, members: is_object.then_some((members, names)), inner: OnceCell::new() }
    }

    /// Its text.
    pub const fn text(&self) -> &'t str {
        self.text
    }

    /// It is JSON, and an object.
    pub const fn is_object(&self) -> bool {
        self.members.is_some()
    }

    /// The text of the value at a JSON pointer, like [`at`].
    pub fn at(&self, pointer: &str) -> Option<&'t str> {
        let inside = pointer.strip_prefix('/').filter(|inside| !inside.contains('~'));
        let (Some((members, names)), Some(inside)) = (&self.members, inside) else {
            return at(self.text, pointer);
        };
        let (name, rest) = inside.split_at(inside.find('/').unwrap_or(inside.len()));
        let place = names.find(members, self.text, name)?.value();
        let value = self.text.get(place.clone())?;
        if rest.is_empty() {
            return Some(value);
        }
        let (known, inner) = self.inner.get_or_init(|| (place.start, Box::new(Indexed::new(value))));
        if *known == place.start { inner.at(rest) } else { at(value, rest) }
    }
}

/// Returns the text of the value at a JSON pointer (RFC 6901); `None` if there is none, or the pointer is malformed.
pub fn at<'a>(text: &'a str, pointer: &str) -> Option<&'a str> {
    let mut found = text.trim_ascii();
    let mut segments = pointer.split('/');
    if segments.next() != Some("") {
        return None;
    }
    for segment in segments {
        found = if found.starts_with('{') {
            let name = unescaped(segment)?;
            let mut last = None;
            let is_object = each_member(found, |member, value| {
                if member.raw == name || member.escaped && decode(member.raw).0 == name {
                    last = Some(value);
                }
            });
            last.filter(|_| is_object)?
        } else {
            entries(found)?.get(index(segment)?)?
        };
    }
    Some(found)
}

fn unescaped(segment: &str) -> Option<Cow<'_, str>> {
    if !segment.contains('~') {
        return Some(Cow::Borrowed(segment));
    }
    let is_valid = segment.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']));
    is_valid.then(|| Cow::Owned(segment.replace("~1", "/").replace("~0", "~")))
}

/// An index has no sign and no leading zeros.
fn index(segment: &str) -> Option<usize> {
    let is_canonical = segment == "0" || segment.starts_with(|first| matches!(first, '1'..='9'));
    segment.parse().ok().filter(|_| is_canonical)
}

/// Returns the first string with this name among the members of an object; `None` if there is none, or the text before it
/// is not JSON.
pub fn string_member<'a>(object: &'a str, name: &str) -> Option<Cow<'a, str>> {
    Scanner::new(object).member(name).ok().flatten().map(RawString::decoded)
}

/// Returns the text of a JSON string; `None` for other values.
pub fn string(raw: &str) -> Option<Cow<'_, str>> {
    let inside = raw.strip_prefix('"')?.strip_suffix('"')?;
    Some(decode(inside).0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_lead_to_values() {
        let text = r#" {"a/b":[1, {"c\n":"x"}],"d":null,"e":[],"d":2} "#;
        assert_eq!(at(text, ""), Some(text.trim()));
        assert_eq!(at(text, "/a~1b/0"), Some("1"));
        assert_eq!(at(text, "/a~1b/1/c\n"), Some("\"x\""));
        assert_eq!(at(text, "/d"), Some("2"));
        assert_eq!(at(text, "/e"), Some("[]"));
        assert_eq!(at(text, "/e/0"), None);
        assert_eq!(at(text, "/nowhere"), None);
        assert_eq!(string(r#""a\u00e9""#).as_deref(), Some("aé"));
        assert_eq!(string("1"), None);
    }

    #[test]
    fn an_index_leads_where_pointers_lead() {
        let object =
            r#" {"a/b":[1,{"c":"x"}],"o":{"p":{"q":1},"p":{"q":2}},"d":{"p":3},"\u0065":4,"d":{"r":5}} "#;
        let pointers =
            ["", "/a~1b/0", "/a~1b/1/c", "/o/p/q", "/o/p", "/d/p", "/d/r", "/e", "/f", "/~", "a", "/", "/0"];
        for text in [object, "[1,[2]]", "{\"e\":1", "1", ""] {
            let indexed = Indexed::new(text);
            assert_eq!(indexed.is_object(), text == object);
            for pointer in pointers {
                assert_eq!(indexed.at(pointer), at(text, pointer), "{text} {pointer}");
            }
        }
    }

    #[test]
    fn the_last_member_of_a_name_is_meant() {
        let text = r#" {"a":1,"b":[{"c":2}],"\u0061":{"c":3}} "#;
        assert_eq!(values(text, ["c", "b", "a"]), ["", r#"[{"c":2}]"#, r#"{"c":3}"#]);
        for text in ["", "1", r#"["a"]"#, r#"{"a":1"#, r#"{"a":1} 2"#] {
            assert_eq!(values(text, ["a"]), [""], "{text}");
        }
    }

    #[test]
    fn malformed_pointers_lead_nowhere() {
        let text = r#"{"a":[1,2],"~":3,"~2":4,"":5,"/":6}"#;
        for pointer in
            ["a", "a/0", "~0", "/a/+1", "/a/01", "/a/00", "/a/-", "/a/-1", "/a/", "/~", "/~2", "/a/0/0"]
        {
            assert_eq!(at(text, pointer), None, "{pointer}");
        }
        assert_eq!((at(text, "/a/0"), at(text, "/a/1"), at(text, "/a/10")), (Some("1"), Some("2"), None));
        assert_eq!((at(text, "/~0"), at(text, "/~02"), at(text, "/")), (Some("3"), Some("4"), Some("5")));
        assert_eq!(at(text, "/~1"), Some("6"));
    }

    #[test]
    fn what_is_broken_has_no_members() {
        assert_eq!(members("[1]"), None);
        assert_eq!(members("{\"a\":1,}"), None);
        assert_eq!(entries("[1,2"), None);
        assert_eq!(entries("[1] 2"), None);
        assert_eq!(members("{}"), Some(Vec::new()));
    }
}
