//! Formatting of the same JSON value in many ways.

use std::fmt::Write;

use serde_json::Value;

use crate::random::Xorshift;

/// Formatting of a value that does not change its meaning.
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::struct_excessive_bools, reason = "any of them goes with any other")]
pub struct Style {
    /// Whether whitespace is inserted wherever it is allowed.
    pub spaced: bool,
    /// Some characters of names and strings are written as escapes.
    pub escaped: bool,
    /// Whether members are in random order.
    pub shuffled: bool,
    /// Whole numbers are written with a fraction or an exponent.
    pub notated: bool,
}

impl Style {
    /// Returns a random style; half of the time, the compact one.
    pub fn any(random: &mut Xorshift) -> Self {
        if random.once_in(2) {
            return Self::default();
        }
        let mut flag = || random.once_in(2);
        Self { spaced: flag(), escaped: flag(), shuffled: flag(), notated: flag() }
    }
}

/// Returns the JSON text of a value.
pub fn write(value: &Value, style: Style, random: &mut Xorshift) -> String {
    let mut writer = Writer { out: String::new(), style, random };
    writer.value(value);
    writer.out
}

struct Writer<'r> {
    out: String,
    style: Style,
    random: &'r mut Xorshift,
}

impl Writer<'_> {
    fn value(&mut self, value: &Value) {
        self.space();
        match value {
            Value::String(text) => self.string(text),
            Value::Number(number) => match number.as_i64() {
                Some(whole) if self.style.notated && whole.unsigned_abs() < 1_000_000 => self.notated(whole),
                _ => self.out.push_str(&number.to_string()),
            },
            Value::Array(entries) => {
                self.out.push('[');
                for (at, entry) in entries.iter().enumerate() {
                    self.separate(at);
                    self.value(entry);
                }
                self.space();
                self.out.push(']');
            }
            Value::Object(members) => {
                let mut members: Vec<_> = members.iter().collect();
                if self.style.shuffled {
                    for last in (1..members.len()).rev() {
                        members.swap(last, self.random.below(last + 1));
                    }
                }
                self.out.push('{');
                for (at, (name, member)) in members.into_iter().enumerate() {
                    self.separate(at);
                    self.space();
                    self.string(name);
                    self.space();
                    self.out.push(':');
                    self.value(member);
                }
                self.space();
                self.out.push('}');
            }
            other => self.out.push_str(&other.to_string()),
        }
        self.space();
    }

    fn separate(&mut self, at: usize) {
        if at > 0 {
            self.out.push(',');
        }
    }

    fn space(&mut self) {
        if self.style.spaced && self.random.once_in(4) {
            let space: &str = self.random.pick::<&str>(&[" ", "\n", "\t", "\r\n  "]);
            self.out.push_str(space);
        }
    }

    fn notated(&mut self, whole: i64) {
        match self.random.below(6) {
            0 => _ = write!(self.out, "{whole}.0"),
            1 => _ = write!(self.out, "{whole}e0"),
            2 if whole != 0 => _ = write!(self.out, "{whole}0E-1"),
            3 => _ = write!(self.out, "{whole}.000e+00"),
            4 if whole == 0 => self.out.push_str("-0"),
            _ => _ = write!(self.out, "{whole}"),
        }
    }

    fn string(&mut self, text: &str) {
        if !self.style.escaped {
            self.out.push_str(&Value::from(text).to_string());
            return;
        }
        self.out.push('"');
        for character in text.chars() {
            let must = matches!(character, '"' | '\\' | '\0'..='\u{1f}');
            if must || self.random.once_in(12) {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    _ = write!(self.out, "\\u{unit:04x}");
                }
            } else if character == '/' {
                self.out.push_str("\\/");
            } else {
                self.out.push(character);
            }
        }
        self.out.push('"');
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Compares JSON values; 5 and 5.0 are one number in JSON, but two in `Value`.
    fn same(a: &Value, b: &Value) -> bool {
        match (a, b) {
            (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
            (Value::Array(a), Value::Array(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
            }
            (Value::Object(a), Value::Object(b)) => {
                a.len() == b.len() && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| same(a, b)))
            }
            _ => a == b,
        }
    }

    #[test]
    fn every_style_writes_the_same_value() {
        let value =
            json!({"a/b": [0, -7, 120, 5.5, 1e300, u64::MAX], "é\"\\\n😀": {"": [{}, [], null, true]}});
        let mut random = Xorshift::new(1);
        for _ in 0..2_000 {
            let style = Style::any(&mut random);
            let text = write(&value, style, &mut random);
            let read: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
            assert!(same(&read, &value), "{text}");
        }
    }
}
