//! The traits of serde for all types, by their JSON text.

use std::fmt;

use serde_core::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_core::ser::{self, Serialize, SerializeMap, SerializeSeq, Serializer};

use super::{Integer, IntoOwned, Map, Nullable, Number, ParseError, Raw, Read, Str, Write, encode};
use crate::json::{Scanner, entries, members, string};

/// Serializes a value by its JSON text.
pub(crate) fn serialize<S: Serializer>(value: &impl Write, serializer: S) -> Result<S::Ok, S::Error> {
    Text(&value.to_json()).serialize(serializer)
}

/// Deserializes a value by its JSON text.
pub(crate) fn deserialize<'de, D: Deserializer<'de>, T>(
    deserializer: D,
    read: impl FnOnce(&str) -> Result<T, ParseError>,
) -> Result<T, D::Error> {
    let mut text = String::new();
    Collect(&mut text).deserialize(deserializer)?;
    read(&text).map_err(de::Error::custom)
}

/// The text of a JSON value.
struct Text<'a>(&'a str);

impl Serialize for Text<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = self.0.trim_ascii();
        let broken = || ser::Error::custom("a value contains text that is not JSON");
        match text.as_bytes().first() {
            Some(b'{') => {
                let members = members(text).ok_or_else(broken)?;
                let mut map = serializer.serialize_map(Some(members.len()))?;
                for (name, value) in members {
                    map.serialize_entry(&name, &Text(value))?;
                }
                map.end()
            }
            Some(b'[') => {
                let entries = entries(text).ok_or_else(broken)?;
                let mut list = serializer.serialize_seq(Some(entries.len()))?;
                for entry in entries {
                    list.serialize_element(&Text(entry))?;
                }
                list.end()
            }
            Some(b'"') => serializer.serialize_str(&string(text).ok_or_else(broken)?),
            Some(b't') => serializer.serialize_bool(true),
            Some(b'f') => serializer.serialize_bool(false),
            Some(b'n') => serializer.serialize_unit(),
            _ => number(text, serializer),
        }
    }
}

fn number<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
    if let Ok(value) = text.parse() {
        return serializer.serialize_u64(value);
    }
    // An integer has no negative zero.
    if let Ok(value) = text.parse::<i64>()
        && value != 0
    {
        return serializer.serialize_i64(value);
    }
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => serializer.serialize_f64(value),
        _ => Err(ser::Error::custom(format_args!("{text} is too large for a floating-point number"))),
    }
}

/// A visitor that writes the value as JSON text.
struct Collect<'o>(&'o mut String);

/// The name that `serde_json` uses for the only member of a number with arbitrary precision.
const NUMBER: &str = "$serde_json::private::Number";

/// Returns the number that a string contains, if it contains nothing else.
fn number_in(string: &str) -> Option<&str> {
    let text = string.strip_prefix('"')?.strip_suffix('"')?;
    let mut scanner = Scanner::new(text);
    let number = scanner.number().ok()?;
    (number.raw == text).then_some(text)
}

impl<'de> DeserializeSeed<'de> for Collect<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Collect<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: de::Error>(self) -> Result<(), E> {
        self.0.push_str("null");
        Ok(())
    }

    fn visit_none<E: de::Error>(self) -> Result<(), E> {
        self.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        self.deserialize(deserializer)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        self.deserialize(deserializer)
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<(), E> {
        value.write(self.0);
        Ok(())
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<(), E> {
        self.0.push_str(&value.to_string());
        Ok(())
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<(), E> {
        self.0.push_str(&value.to_string());
        Ok(())
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<(), E> {
        let number = Number::try_from(value).map_err(E::custom)?;
        number.write(self.0);
        Ok(())
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<(), E> {
        encode(value, self.0);
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        let start = self.0.len();
        self.0.push('[');
        loop {
            let before = self.0.len();
            if before > start + 1 {
                self.0.push(',');
            }
            if entries.next_element_seed(Collect(self.0))?.is_none() {
                self.0.truncate(before);
                self.0.push(']');
                return Ok(());
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let start = self.0.len();
        self.0.push('{');
        let mut only_number = None;
        while let Some(name) = members.next_key::<String>()? {
            let is_first = self.0.len() == start + 1;
            if !is_first {
                self.0.push(',');
            }
            encode(&name, self.0);
            self.0.push(':');
            let value = self.0.len();
            members.next_value_seed(Collect(self.0))?;
            only_number = (is_first && name == NUMBER).then_some(value);
        }
        let found = only_number.and_then(|at| self.0.get(at..)).and_then(number_in).map(str::to_owned);
        if let Some(number) = found {
            self.0.truncate(start);
            self.0.push_str(&number);
        } else {
            self.0.push('}');
        }
        Ok(())
    }
}

macro_rules! by_text {
    ($($type:ty),*) => {$(
        impl ser::Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serialize(self, serializer)
            }
        }

        impl<'de> de::Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserialize(deserializer, |text| <$type>::parse(text).map(|read| read.detach()))
            }
        }
    )*};
}

by_text!(Integer, Number<'_>, Raw<'_>, Str<'_>);

impl<T: Serialize> Serialize for Nullable<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.as_option().serialize(serializer)
    }
}

impl<'de, T: de::Deserialize<'de>> de::Deserialize<'de> for Nullable<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Option::deserialize(deserializer).map(Self::from)
    }
}

impl<T: Serialize> Serialize for Map<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_a_number_only_if_it_contains_nothing_else() {
        let read = |json: &str| serde_json::from_str::<Raw<'_>>(json).unwrap().to_string();
        for number in ["1", "-1.50", "1e400", "123456789012345678901234567890"] {
            assert_eq!(read(&format!(r#"{{"{NUMBER}":"{number}"}}"#)), number);
        }
        for value in [
            r#""1,\"type\":\"error\",\"y\":2""#,
            "\"\"",
            "\" 1\"",
            "\"1 \"",
            "\"01\"",
            "\"-\"",
            "\"a\"",
            "1",
            "null",
            "[\"1\"]",
        ] {
            let object = format!(r#"{{"{NUMBER}":{value}}}"#);
            assert_eq!(read(&object), object);
        }
        for object in [format!(r#"{{"{NUMBER}":"1","a":2}}"#), format!(r#"{{"a":2,"{NUMBER}":"1"}}"#)] {
            assert_eq!(read(&object), object);
        }
    }
}
