//! Writes typed values.

use crate::encode;

/// A type that can be written as JSON.
pub trait Write {
    /// Appends the value.
    fn write(&self, out: &mut String);

    /// The value as JSON text.
    fn to_json(&self) -> String {
        let mut out = String::with_capacity(256);
        self.write(&mut out);
        out
    }
}

pub(crate) fn display(value: &impl Write, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
    f.write_str(&value.to_json())
}

/// Writes the members of an object.
#[derive(Debug)]
pub struct ObjectWriter<'o> {
    out: &'o mut String,
    separator: &'static str,
}

impl<'o> ObjectWriter<'o> {
    pub(crate) fn open(out: &'o mut String) -> Self {
        Self { out, separator: "{" }
    }

    /// The name includes its punctuation: `,"name":`.
    fn name(&mut self, name: &'static str) {
        let skip = usize::from(self.separator == "{");
        if skip > 0 {
            self.out.push('{');
        }
        self.out.push_str(&name[skip..]);
        self.separator = ",";
    }

    pub(crate) fn constant(&mut self, name: &'static str, value: &'static str) {
        self.name(name);
        encode(value, self.out);
    }

    pub(crate) fn required(&mut self, name: &'static str, value: &impl Write) {
        self.name(name);
        value.write(self.out);
    }

    #[expect(clippy::ref_option, reason = "called in place of `required`")]
    pub(crate) fn optional(&mut self, name: &'static str, value: &Option<impl Write>) {
        if let Some(value) = value {
            self.required(name, value);
        }
    }

    pub(crate) fn members(&mut self, members: &[(impl Write, impl Write)]) {
        for (name, value) in members {
            self.out.push_str(self.separator);
            self.separator = ",";
            name.write(self.out);
            self.out.push(':');
            value.write(self.out);
        }
    }

    pub(crate) fn close(self) {
        self.out.push_str(if self.separator == "{" { "{}" } else { "}" });
    }

    pub(crate) fn finish(mut self, extra: &[(impl Write, impl Write)]) {
        self.members(extra);
        self.close();
    }
}
