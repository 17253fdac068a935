//! The targets of edits: a frame of a stream, a WebSocket message, the body of a response.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::data;

#[derive(Debug, Clone)]
pub(super) struct Event {
    /// Name in edits: the original type, or else the `event` field, or else the `object`, with `>` before it if the client sent it; `[DONE]`; `body`. Comments
    /// have no name.
    pub(super) name: Option<String>,
    frame: Frame,
}

/// The name in edits of an event whose data says no name.
const UNNAMED: &str = "data";

#[derive(Debug, Clone)]
enum Frame {
    /// Names and values of the lines of a server-sent event.
    Lines(Vec<(String, Vec<u8>)>),
    /// A WebSocket message: speaker, text, time.
    Message(Speaker, Vec<u8>, Option<f64>),
    /// The body of a non-streaming response.
    Body(Vec<u8>),
    /// Replaced bytes, no longer parsed.
    Bytes(Vec<u8>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Speaker {
    Client,
    Server,
}

#[derive(Deserialize)]
struct LogLine<'a> {
    #[serde(borrow)]
    sent: Option<&'a RawValue>,
    #[serde(borrow)]
    recv: Option<&'a RawValue>,
    time: Option<f64>,
}

impl Event {
    pub(super) fn block(text: &str) -> Self {
        let lines = text.lines().map(|line| {
            let (name, value) = line.split_once(':').unwrap_or((line, ""));
            (name.to_owned(), value.strip_prefix(' ').unwrap_or(value).as_bytes().to_vec())
        });
        Self::of(Frame::Lines(lines.collect()))
    }

    pub(super) fn message(line: &str) -> Self {
        Self::of(match serde_json::from_str(line) {
            Ok(LogLine { sent: Some(raw), time, .. }) => {
                Frame::Message(Speaker::Client, raw.get().into(), time)
            }
            Ok(LogLine { recv: Some(raw), time, .. }) => {
                Frame::Message(Speaker::Server, raw.get().into(), time)
            }
            _ => Frame::Bytes([line.as_bytes(), b"\n"].concat()),
        })
    }

    pub(super) fn body(text: &str) -> Self {
        Self::of(Frame::Body(text.into()))
    }

    fn of(frame: Frame) -> Self {
        let mut event = Self { name: None, frame };
        event.name = event.data().and_then(|data| event.called(data));
        event
    }

    fn called(&self, data: String) -> Option<String> {
        let member = |name| spec::json::string_member(&data, name).map(Cow::into_owned);
        let inside = || member("type");
        let unnamed = || member("object").unwrap_or_else(|| UNNAMED.to_owned());
        match &self.frame {
            Frame::Lines(_) if data == "[DONE]" => Some(data),
            Frame::Lines(_) => inside().or_else(|| self.field("event")).or_else(|| Some(unnamed())),
            Frame::Message(Speaker::Client, ..) => Some(format!(">{}", inside().unwrap_or_default())),
            Frame::Message(Speaker::Server, ..) => inside(),
            Frame::Body(_) => Some("body".to_owned()),
            Frame::Bytes(_) => None,
        }
    }

    /// The framing stays.
    pub(super) fn another(&self, data: &str) -> Result<Self, String> {
        let value = data::parse(data)?;
        Ok(Self::of(match &self.frame {
            Frame::Message(speaker, _, time) => Frame::Message(*speaker, data.into(), *time),
            Frame::Body(_) => return Err("a response has one body".to_owned()),
            Frame::Lines(_) | Frame::Bytes(_) => {
                let kind = value.get("type").and_then(Value::as_str);
                let line = match self.field("event") {
                    Some(line) if Some(&line) == self.name.as_ref() => kind.map(str::to_owned),
                    line => line,
                };
                let mut lines: Vec<_> =
                    line.into_iter().map(|line| ("event".to_owned(), line.into_bytes())).collect();
                lines.push(("data".to_owned(), data.as_bytes().to_vec()));
                Frame::Lines(lines)
            }
        }))
    }

    /// The comment is inserted beside the event.
    pub(super) fn comment(&self, text: &[u8]) -> Result<Self, String> {
        match self.frame {
            Frame::Lines(_) | Frame::Bytes(_) => {
                Ok(Self { name: None, frame: Frame::Lines(vec![(String::new(), text.to_vec())]) })
            }
            Frame::Message(..) => Err("the log of a WebSocket has no comments".to_owned()),
            Frame::Body(_) => Err("a non-streaming response has no comments".to_owned()),
        }
    }

    fn field(&self, name: &str) -> Option<String> {
        let Frame::Lines(lines) = &self.frame else { return None };
        let (_, value) = lines.iter().find(|(line, _)| line == name)?;
        Some(String::from_utf8_lossy(value).into_owned())
    }

    pub(super) fn data(&self) -> Option<String> {
        match &self.frame {
            Frame::Lines(_) => self.field("data"),
            Frame::Message(_, data, _) | Frame::Body(data) => {
                Some(String::from_utf8_lossy(data).into_owned())
            }
            Frame::Bytes(_) => None,
        }
    }

    pub(super) fn edit_data(
        &mut self,
        edit: impl FnOnce(&mut Value) -> Result<(), String>,
    ) -> Result<(), String> {
        let mut data = data::parse(&self.data().ok_or("it has no data")?)?;
        edit(&mut data)?;
        self.set_data(data.to_string().as_bytes())
    }

    pub(super) fn set_data(&mut self, value: &[u8]) -> Result<(), String> {
        match &mut self.frame {
            Frame::Message(_, data, _) | Frame::Body(data) => {
                *data = value.to_vec();
                Ok(())
            }
            Frame::Lines(_) | Frame::Bytes(_) => self.set_field("data", value),
        }
    }

    /// A new field comes before the others.
    pub(super) fn set_field(&mut self, name: &str, value: &[u8]) -> Result<(), String> {
        let lines = self.frame.lines()?;
        match lines.iter_mut().find(|(line, _)| line == name) {
            Some((_, old)) => *old = value.to_vec(),
            None => lines.insert(0, (name.to_owned(), value.to_vec())),
        }
        Ok(())
    }

    pub(super) fn remove_field(&mut self, name: &str) -> Result<(), String> {
        let lines = self.frame.lines()?;
        let before = lines.len();
        lines.retain(|(line, _)| line != name);
        if lines.len() < before { Ok(()) } else { Err(format!("it has no line `{name}`")) }
    }

    pub(super) fn replace(&mut self, old: &[u8], new: &[u8]) -> Result<(), String> {
        let bytes = self.to_bytes();
        let at = (bytes.windows(old.len().max(1)).position(|window| window == old))
            .ok_or("it does not contain the bytes to replace")?;
        self.frame = Frame::Bytes([&bytes[..at], new, &bytes[at + old.len()..]].concat());
        Ok(())
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        match &self.frame {
            Frame::Bytes(bytes) | Frame::Body(bytes) => bytes.clone(),
            Frame::Message(speaker, data, time) => {
                let name = match speaker {
                    Speaker::Client => "sent",
                    Speaker::Server => "recv",
                };
                let text = String::from_utf8_lossy(data);
                // A log has objects as they are, and other data as strings.
                let is_object = text.starts_with('{') && !text.contains('\n') && data::parse(&text).is_ok();
                let value = if is_object { text.into_owned() } else { Value::from(text).to_string() };
                let time = time.map(|time| format!(",\"time\":{time}")).unwrap_or_default();
                format!("{{\"{name}\":{value}{time}}}\n").into_bytes()
            }
            Frame::Lines(lines) => {
                let mut bytes = Vec::new();
                for (name, value) in lines {
                    bytes.extend_from_slice(&[name.as_bytes(), b": ", value, b"\n"].concat());
                }
                bytes.push(b'\n');
                bytes
            }
        }
    }
}

impl Frame {
    fn lines(&mut self) -> Result<&mut Vec<(String, Vec<u8>)>, String> {
        match self {
            Self::Lines(lines) => Ok(lines),
            Self::Bytes(_) => Err("its bytes were already replaced; do that last".to_owned()),
            Self::Message(..) => Err("the messages of a log have no lines".to_owned()),
            Self::Body(_) => Err("a body has no lines".to_owned()),
        }
    }
}
