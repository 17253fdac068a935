//! The traits of serde for all types, by their JSON text.

use std::fmt;

use serde_core::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_core::ser::{self, Serialize, SerializeMap, SerializeSeq, Serializer};

use crate::{
    DEEPEST, Integer, IntoOwned, Map, Miss, Nullable, Number, ParseError, Raw, Read, Reader, Str, Write,
    encode,
};
use spec::json::{Scan, Scanner, Syntax, string};

pub(crate) fn serialize<S: Serializer>(value: &impl Write, serializer: S) -> Result<S::Ok, S::Error> {
    let text = value.to_json();
    let document = Document::parse(&text).map_err(ser::Error::custom)?;
    let mut scanner = Scanner::new(&text);
    document.value(&mut scanner, &mut 0).map_err(broken)?.serialize(serializer)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>, T>(
    deserializer: D,
    read: impl FnOnce(&str) -> Result<T, ParseError>,
) -> Result<T, D::Error> {
    let mut text = String::new();
    Collect { out: &mut text, depth: 0 }.deserialize(deserializer)?;
    read(&text).map_err(de::Error::custom)
}

/// A JSON text, and the sizes of its lists and objects, so that nested values are not scanned again at each level.
struct Document<'a> {
    text: &'a str,
    /// In the order in which they begin.
    containers: Vec<Container>,
}

#[derive(Default)]
struct Container {
    length: usize,
    end: usize,
    /// The position of the first container after it.
    next: usize,
}

enum Value<'d> {
    Scalar(&'d str),
    Container { document: &'d Document<'d>, start: usize, position: usize },
}

impl<'a> Document<'a> {
    /// Serializers call themselves for nested values, so their depth is limited as in a [`Reader`].
    fn parse(text: &'a str) -> Result<Self, ParseError> {
        let mut reader = Reader::new(text);
        let mut containers = Vec::new();
        let read = measure(&mut reader.scanner, &mut containers).and_then(|()| Ok(reader.scanner.end()?));
        read.map_err(|miss| reader.error(miss))?;
        Ok(Self { text, containers })
    }

    /// At the cursor, which moves behind the value, as the position does among the containers.
    fn value(&'a self, scanner: &mut Scanner<'a>, position: &mut usize) -> Scan<Value<'a>> {
        if !matches!(scanner.peek(), b'{' | b'[') {
            return scanner.raw().map(Value::Scalar);
        }
        let Container { end, next, .. } = self.containers.get(*position).ok_or(Syntax)?;
        let value = Value::Container { document: self, start: scanner.offset(), position: *position };
        scanner.rewind(*end);
        *position = *next;
        Ok(value)
    }
}

fn measure(scanner: &mut Scanner<'_>, containers: &mut Vec<Container>) -> Result<(), Miss> {
    let close = match scanner.peek() {
        b'{' => b'}',
        b'[' => b']',
        _ => return Ok(scanner.skip()?),
    };
    if !scanner.descend() {
        return Err(Miss::Depth);
    }
    scanner.advance();
    let position = containers.len();
    containers.push(Container::default());
    let mut length = 0;
    let mut is_end = scanner.peek() == close;
    if is_end {
        scanner.advance();
    }
    while !is_end {
        if close == b'}' {
            scanner.name_bytes()?;
        }
        measure(scanner, containers)?;
        length += 1;
        is_end = scanner.separator(close)?;
    }
    scanner.ascend();
    containers[position] = Container { length, end: scanner.offset(), next: containers.len() };
    Ok(())
}

fn broken<E: ser::Error>(_: Syntax) -> E {
    E::custom(Miss::Syntax)
}

impl Serialize for Value<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match *self {
            Self::Scalar(text) => scalar(text, serializer),
            Self::Container { document, start, position } => {
                let length = document.containers.get(position).map_or(0, |container| container.length);
                let mut scanner = Scanner::new(document.text);
                scanner.rewind(start);
                let is_object = scanner.peek() == b'{';
                scanner.advance();
                let mut position = position + 1;
                if is_object {
                    let mut map = serializer.serialize_map(Some(length))?;
                    for _ in 0..length {
                        let name = scanner.name().map_err(broken)?.decoded();
                        let value = document.value(&mut scanner, &mut position).map_err(broken)?;
                        map.serialize_entry(&*name, &value)?;
                        scanner.separator(b'}').map_err(broken)?;
                    }
                    map.end()
                } else {
                    let mut list = serializer.serialize_seq(Some(length))?;
                    for _ in 0..length {
                        let value = document.value(&mut scanner, &mut position).map_err(broken)?;
                        list.serialize_element(&value)?;
                        scanner.separator(b']').map_err(broken)?;
                    }
                    list.end()
                }
            }
        }
    }
}

fn scalar<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
    match text.as_bytes().first() {
        Some(b'"') => serializer.serialize_str(&string(text).unwrap_or_default()),
        Some(b't') => serializer.serialize_bool(true),
        Some(b'f') => serializer.serialize_bool(false),
        Some(b'n') => serializer.serialize_unit(),
        _ => number(text, serializer),
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
struct Collect<'o> {
    out: &'o mut String,
    /// Number of lists and objects around the value.
    depth: u32,
}

impl Collect<'_> {
    /// Their visits nest, so their depth is limited.
    fn nested<E: de::Error>(&mut self) -> Result<Collect<'_>, E> {
        let depth = self.depth + 1;
        if depth > DEEPEST { Err(E::custom(Miss::Depth)) } else { Ok(Collect { out: self.out, depth }) }
    }

    const fn again(&mut self) -> Collect<'_> {
        Collect { out: self.out, depth: self.depth }
    }
}

/// The name that `serde_json` uses for the only member of a number with arbitrary precision.
const NUMBER: &str = "$serde_json::private::Number";

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
        self.out.push_str("null");
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
        value.write(self.out);
        Ok(())
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<(), E> {
        self.out.push_str(&value.to_string());
        Ok(())
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<(), E> {
        self.out.push_str(&value.to_string());
        Ok(())
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<(), E> {
        let number = Number::try_from(value).map_err(E::custom)?;
        number.write(self.out);
        Ok(())
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<(), E> {
        encode(value, self.out);
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut entries: A) -> Result<(), A::Error> {
        let mut inside = self.nested()?;
        let start = inside.out.len();
        inside.out.push('[');
        loop {
            let before = inside.out.len();
            if before > start + 1 {
                inside.out.push(',');
            }
            if entries.next_element_seed(inside.again())?.is_none() {
                inside.out.truncate(before);
                inside.out.push(']');
                return Ok(());
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut members: A) -> Result<(), A::Error> {
        let mut inside = self.nested()?;
        let start = inside.out.len();
        inside.out.push('{');
        let mut only_number = None;
        while let Some(name) = members.next_key::<String>()? {
            let is_first = inside.out.len() == start + 1;
            if !is_first {
                inside.out.push(',');
            }
            encode(&name, inside.out);
            inside.out.push(':');
            let value = inside.out.len();
            members.next_value_seed(inside.again())?;
            only_number = (is_first && name == NUMBER).then_some(value);
        }
        let found = only_number.and_then(|at| inside.out.get(at..)).and_then(number_in).map(str::to_owned);
        if let Some(number) = found {
            inside.out.truncate(start);
            inside.out.push_str(&number);
        } else {
            inside.out.push('}');
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

    fn nested(depth: usize) -> String {
        format!("{}1{}", "[{\"a\":".repeat(depth / 2), "}]".repeat(depth / 2))
    }

    #[test]
    fn deep_values_are_refused_instead_of_overflowing_the_stack() {
        let limit = DEEPEST as usize;
        for depth in [2, 50, limit] {
            let json = nested(depth);
            assert_eq!(serde_json::to_string(&Raw::parse(&json).unwrap()).unwrap(), json);
        }
        for depth in [limit + 2, 1_000_000] {
            let json = nested(depth);
            let error = serde_json::to_string(&Raw::parse(&json).unwrap()).unwrap_err();
            assert!(error.to_string().ends_with("nested deeper than 128 levels"), "{error}");
        }
        let deep = |depth| (0..depth).fold(serde_json::Value::Null, |value, _| vec![value].into());
        assert!(serde_json::from_value::<Raw<'_>>(deep(DEEPEST)).is_ok());
        let error = serde_json::from_value::<Raw<'_>>(deep(DEEPEST + 1)).unwrap_err();
        assert!(error.to_string().ends_with("nested deeper than 128 levels"), "{error}");
    }

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

    #[test]
    fn values_are_serialized_as_their_text() {
        for json in [r#"{"a":[],"b":{},"a":[1,-2,0.5,"x\n",true,false,null]}"#, "\"\"", "[[[]],{}]"] {
            assert_eq!(serde_json::to_string(&Raw::parse(json).unwrap()).unwrap(), json);
        }
    }
}
