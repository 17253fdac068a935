//! Bodies whose texts are replaced by filler of their length.
//!
//! Structure, names of members, numbers, ids and words of the protocol stay. A text that is JSON, such as the arguments of a
//! call, stays JSON, also when it comes in pieces.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::hash::RandomState;
use std::sync::LazyLock;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use spec::json::decode;

use crate::capture::formats::nested::{Ink, KEPT, Nested, filler};

/// Names of members, by how their strings are replaced.
#[derive(Debug, Deserialize)]
struct Members {
    /// Their strings are words of the protocol, if they have no space.
    words: Vec<String>,
    /// They are words only in this member.
    words_in: BTreeMap<String, String>,
    /// The lists in them are of words.
    word_lists: Vec<String>,
    /// Their objects belong to the user: all strings in them are texts.
    free: Vec<String>,
    /// Their entries have the name of a person.
    speakers: Vec<String>,
    /// They tell texts apart whose pieces come in turn.
    indices: Vec<String>,
}

/// `spec/shape.json`
static MEMBERS: LazyLock<Members> = LazyLock::new(|| {
    let text = include_str!("../../../../spec/shape.json");
    serde_json::from_str(text).unwrap_or_else(|error| unreachable!("a test reads the file: {error}"))
});

fn has(list: &[String], name: &str) -> bool {
    list.iter().any(|known| known == name)
}

/// Maximum number of characters of a word.
const WORD: usize = 128;
/// The start of members for sequences that stop a text.
const STOP: &str = "stop";
/// The list of the bytes of a token.
const BYTES: &str = "bytes";

/// Filler for the texts of the bodies of one exchange.
#[derive(Debug, Default)]
pub struct Shaper {
    ink: Ink,
    /// The texts that come in pieces, by their place and its indices.
    pieces: HashMap<String, Nested>,
}

/// A body of the same form.
#[derive(Debug)]
pub struct Shaped {
    /// The body.
    pub body: Vec<u8>,
    /// Where its chunks end.
    pub ends: Vec<usize>,
}

impl Shaper {
    /// Filler that depends on a key: texts that begin alike have filler that begins alike, and others do not.
    pub fn keyed(key: &RandomState) -> Self {
        Self { ink: Ink::keyed(key), pieces: HashMap::new() }
    }

    /// The filler of a text by itself.
    pub fn text(&self, text: &str) -> String {
        let mut ink = self.ink.clone();
        text.chars().map(|c| ink.filler(c)).collect()
    }

    /// The body without its texts. Its chunks end at these places.
    pub fn body(&mut self, body: &[u8], ends: &[usize]) -> Shaped {
        let mut shaped =
            Shaped { body: Vec::with_capacity(body.len()), ends: Vec::with_capacity(ends.len()) };
        let is_json = matches!(body.trim_ascii_start().first(), Some(b'{' | b'['));
        // A list of events is one value, and lines of JSON are several.
        let is_whole = is_json && serde_json::from_slice::<IgnoredAny>(body).is_ok();
        let mut at = 0;
        for line in body.split_inclusive(|byte| !is_whole && matches!(byte, b'\n' | b'\r')) {
            let text = readable(line);
            let replaced = if is_json { self.json(&text) } else { self.line(&text) };
            let replaced = match text {
                Cow::Borrowed(_) => replaced.into_bytes(),
                Cow::Owned(_) => unreadable(&replaced),
            };
            // Chunks that end within a line end at the same part of it.
            let due = ends.iter().skip(shaped.ends.len()).take_while(|end| **end < at + line.len());
            let within: Vec<usize> =
                due.map(|end| shaped.body.len() + (end - at) * replaced.len() / line.len().max(1)).collect();
            shaped.ends.extend(within);
            shaped.body.extend_from_slice(&replaced);
            at += line.len();
        }
        shaped.ends.resize(ends.len(), shaped.body.len());
        shaped
    }

    fn line(&mut self, line: &str) -> String {
        let text = line.trim_end_matches(['\n', '\r']);
        let end = &line[text.len()..];
        let (field, value) = text.split_once(':').unwrap_or((text, ""));
        let space = if value.starts_with(' ') { ": " } else { ":" };
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            // Wrong markers stay, too.
            "data" if value.trim().eq_ignore_ascii_case("[DONE]") => line.to_owned(),
            "data" => format!("data{space}{}{end}", self.json(value)),
            "event" | "id" | "retry" if is_word(value) => line.to_owned(),
            _ => {
                let is_field = matches!(field, "event" | "id" | "retry");
                let kept = if is_field { field.len() } else { 0 };
                let rest = text[kept..].chars().map(|c| if c == ':' { c } else { filler(c) });
                format!("{}{}{end}", &text[..kept], rest.collect::<String>())
            }
        }
    }

    /// The same for a JSON text, which may be cut.
    pub fn json(&mut self, text: &str) -> String {
        let value = serde_json::from_str(text).unwrap_or_default();
        let mut walk =
            Walk { text, at: 0, out: String::with_capacity(text.len()), frames: Vec::new(), value };
        walk.all(&self.ink, &mut self.pieces);
        walk.out
    }
}

/// Bytes that are not UTF-8 become characters that filler does not replace.
fn readable(line: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(line) {
        return text.into();
    }
    let mut text = String::with_capacity(line.len());
    for chunk in line.utf8_chunks() {
        text += chunk.valid();
        let kept =
            chunk.invalid().iter().filter_map(|byte| char::from_u32(u32::from(KEPT) + u32::from(*byte)));
        text.extend(kept);
    }
    text.into()
}

fn unreadable(text: &str) -> Vec<u8> {
    let bytes = |c: char| match u32::from(c).checked_sub(u32::from(KEPT)).map(u8::try_from) {
        Some(Ok(byte)) => vec![byte],
        _ => c.to_string().into_bytes(),
    };
    text.chars().flat_map(bytes).collect()
}

fn is_word(text: &str) -> bool {
    text.len() <= WORD && !text.contains(|c: char| c.is_whitespace() || "(){}[]<>=\"'`,;!?".contains(c))
}

#[derive(Debug, Default)]
struct Frame {
    is_object: bool,
    name: String,
    position: usize,
    /// The next string is a name.
    is_name_next: bool,
}

struct Walk<'t> {
    text: &'t str,
    at: usize,
    out: String,
    frames: Vec<Frame>,
    /// The value of the text; null if it is not valid.
    value: Value,
}

impl Walk<'_> {
    fn all(&mut self, ink: &Ink, pieces: &mut HashMap<String, Nested>) {
        while let Some(next) = self.text[self.at..].chars().next() {
            let from = self.at;
            self.at += next.len_utf8();
            match next {
                '"' => self.string(ink, pieces),
                '{' | '[' => {
                    let is_object = next == '{';
                    self.frames.push(Frame { is_object, is_name_next: is_object, ..Frame::default() });
                    self.out.push(next);
                }
                '}' | ']' => {
                    self.frames.pop();
                    self.out.push(next);
                }
                ',' => {
                    if let Some(frame) = self.frames.last_mut() {
                        frame.is_name_next = frame.is_object;
                        frame.position += 1;
                    }
                    self.out.push(next);
                }
                ':' | ' ' | '\t' | '\n' | '\r' => self.out.push(next),
                _ => {
                    let rest = &self.text[from..];
                    let length = rest.find(|c: char| !(c.is_ascii_alphanumeric() || "+-.".contains(c)));
                    let scalar = &rest[..length.unwrap_or(rest.len())];
                    if !matches!(scalar, "true" | "false" | "null") && scalar.parse::<f64>().is_err() {
                        // It is not JSON from here on.
                        self.out.extend(rest.chars().map(filler));
                        return;
                    }
                    self.scalar(scalar);
                    self.at = from + scalar.len();
                }
            }
        }
    }

    /// The bytes of a token become the bytes of filler.
    fn scalar(&mut self, scalar: &str) {
        let is_byte = matches!(&*self.frames, [.., around, list] if !list.is_object && around.name == BYTES);
        let byte = scalar.parse().ok().filter(|_| is_byte);
        let _ = match byte.map(|byte: u8| match byte {
            ..0x80 => filler(char::from(byte)) as u32,
            0x80..0xc0 => 0xa5,
            0xc0..0xe0 => 0xc3,
            0xe0..0xf0 => 0xe5,
            0xf0.. => 0xf0,
        }) {
            Some(byte) => write!(self.out, "{byte}"),
            None => write!(self.out, "{scalar}"),
        };
    }

    fn string(&mut self, ink: &Ink, pieces: &mut HashMap<String, Nested>) {
        self.out.push('"');
        let rest = &self.text[self.at..];
        let mut is_escaped = false;
        let end = rest.find(|c| {
            let ends = c == '"' && !is_escaped;
            is_escaped = c == '\\' && !is_escaped;
            ends
        });
        let raw = &rest[..end.unwrap_or(rest.len())];
        self.at += raw.len();
        let is_word = self.is_word() && is_word(raw);
        match self.frames.last_mut().filter(|frame| frame.is_name_next) {
            Some(frame) => {
                frame.name = decode(raw).0.into_owned();
                frame.is_name_next = false;
                self.out += raw;
            }
            None if is_word => self.out += raw,
            None => {
                let place = self.place();
                let from = self.out.len();
                let text = pieces.entry(place).or_insert_with(|| Nested::with(ink.clone()));
                text.replace(raw, &mut self.out);
                // Else each text would have the sequence that stops it.
                if self.frames.iter().any(|frame| frame.name.starts_with(STOP)) {
                    let of_stop = self.out.split_off(from).replace('x', "y");
                    self.out += &of_stop;
                }
            }
        }
        if end.is_some() {
            self.at += 1;
            self.out.push('"');
        }
    }

    fn is_word(&self) -> bool {
        let mut objects = self.frames.iter().filter(|frame| frame.is_object).rev();
        let Some(own) = objects.next() else { return false };
        let above: Vec<&str> = objects.map(|frame| &*frame.name).collect();
        let name = &*own.name;
        let is_known = has(&MEMBERS.words, name) || name.ends_with("_id") || name.ends_with("Id");
        let is_known = is_known
            || MEMBERS.words_in.get(name).is_some_and(|around| above.first() == Some(&around.as_str()));
        let is_known = is_known || above.first().is_some_and(|above| has(&MEMBERS.word_lists, above));
        let is_person = name == "name" && above.first().is_some_and(|above| has(&MEMBERS.speakers, above));
        is_known && !is_person && !self.is_free()
    }

    /// Entries of a list are not: the input of a request is a list of items. A moderation has categories there.
    fn is_free(&self) -> bool {
        let is_moderation = self.frames.iter().any(|frame| frame.name == "moderation");
        !is_moderation
            && self.frames.windows(2).any(|pair| pair[1].is_object && has(&MEMBERS.free, &pair[0].name))
    }

    fn place(&self) -> String {
        let (mut place, mut value) = (String::new(), &self.value);
        for frame in &self.frames {
            for index in MEMBERS.indices.iter().filter_map(|name| value.get(name)) {
                let _ = write!(place, "{index},");
            }
            let _ = if frame.is_object {
                write!(place, "/{}", frame.name)
            } else {
                write!(place, "/{}", frame.position)
            };
            let next = if frame.is_object { value.get(&frame.name) } else { value.get(frame.position) };
            value = next.unwrap_or(&Value::Null);
        }
        place
    }
}
