//! JSON objects of a stream that are kept or looked into more than once.

use std::borrow::Cow;
use std::ops::Range;

use serde_json::Value;

/// A JSON value as its text, with the places of its members when it is an object.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Object {
    text: Box<str>,
    members: Vec<(Box<str>, Range<usize>)>,
}

impl Object {
    /// Keeps a JSON text.
    pub(crate) fn new(text: &str) -> Self {
        let offset = |value: &str| value.as_ptr() as usize - text.as_ptr() as usize;
        let members = spec::json::members(text).unwrap_or_default();
        let places = members.into_iter().map(|(name, value)| {
            let start = offset(value);
            (name.into(), start..start + value.len())
        });
        Self { members: places.collect(), text: text.into() }
    }

    /// All of it.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Its members, in their order.
    pub(crate) fn members(&self) -> impl Iterator<Item = (&str, &str)> {
        self.members.iter().map(|(name, place)| (&**name, &self.text[place.clone()]))
    }

    /// The text of a member.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let (_, place) = self.members.iter().rev().find(|(member, _)| **member == *name)?;
        Some(&self.text[place.clone()])
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

    /// A member that is a number.
    pub(crate) fn number(&self, name: &str) -> Option<f64> {
        self.get(name)?.parse().ok()
    }

    /// The entries of a member that is a list.
    pub(crate) fn entries(&self, name: &str) -> Option<Vec<&str>> {
        spec::json::entries(self.get(name)?)
    }
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
    fn equality_is_that_of_values() {
        assert!(same(r#"{"a":1,"b":"\u00e9"}"#, r#"{ "b":"é", "a":1.0 }"#));
        assert!(!same(r#"{"a":1}"#, r#"{"a":1,"b":null}"#));
        assert!(!same("[1,2]", "[2,1]"));
    }
}
