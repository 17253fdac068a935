//! A stream that can be edited.

use serde_json::Value;

use super::data;

/// A stream, and the head of the answer once that matters.
#[derive(Debug, Clone)]
pub(super) struct Stream {
    pub(super) events: Vec<Event>,
    head: Option<Head>,
}

#[derive(Debug, Clone)]
struct Head {
    status: u16,
    headers: Vec<(String, Vec<u8>)>,
}

/// One frame.
#[derive(Debug, Clone)]
pub(super) struct Event {
    /// The type that it had when it came into the stream, or `[DONE]`; comments have none.
    pub(super) name: Option<String>,
    frame: Frame,
}

#[derive(Debug, Clone)]
enum Frame {
    /// Names and values of its lines.
    Lines(Vec<(String, Vec<u8>)>),
    /// Bytes, the blank line included, of which nothing is known any more.
    Bytes(Vec<u8>),
}

impl Stream {
    /// Takes a good stream apart.
    pub(super) fn of(golden: &[u8]) -> Self {
        let text = String::from_utf8_lossy(golden);
        let events = text.split_terminator("\n\n").map(|block| {
            let lines = block.lines().map(|line| {
                let (name, value) = line.split_once(':').unwrap_or((line, ""));
                (name.to_owned(), value.strip_prefix(' ').unwrap_or(value).as_bytes().to_vec())
            });
            Event::of(lines.collect())
        });
        Self { events: events.collect(), head: None }
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        let mut bytes = Vec::new();
        if let Some(head) = &self.head {
            bytes.extend_from_slice(format!("HTTP/1.1 {} \r\n", head.status).as_bytes());
            for (name, value) in &head.headers {
                bytes.extend_from_slice(&[name.as_bytes(), b": ", value, b"\r\n"].concat());
            }
            bytes.extend_from_slice(b"\r\n");
        }
        for event in &self.events {
            bytes.extend_from_slice(&event.frame.to_bytes());
        }
        bytes
    }

    /// Counts the sequence numbers up from the first one.
    pub(super) fn renumber(&mut self) -> Result<(), String> {
        let mut next = None;
        for event in &mut self.events {
            let Some(Ok(mut data)) = event.data().map(|data| data::parse(&data)) else { continue };
            if let Some(number) = data.get_mut("sequence_number") {
                let this = next.unwrap_or(0);
                *number = Value::from(this);
                next = Some(this + 1);
                event.set_field("data", data.to_string().as_bytes())?;
            }
        }
        next.map(drop).ok_or_else(|| "no event has a sequence number".to_owned())
    }

    pub(super) fn set_header(&mut self, name: &str, value: &[u8]) {
        let headers = &mut self.head().headers;
        match headers.iter_mut().find(|(header, _)| header.eq_ignore_ascii_case(name)) {
            Some((_, old)) => *old = value.to_vec(),
            None => headers.push((name.to_owned(), value.to_vec())),
        }
    }

    pub(super) fn set_status(&mut self, status: u16) {
        self.head().status = status;
    }

    fn head(&mut self) -> &mut Head {
        self.head.get_or_insert_with(|| Head {
            status: 200,
            headers: vec![("content-type".to_owned(), b"text/event-stream".to_vec())],
        })
    }
}

impl Event {
    fn of(lines: Vec<(String, Vec<u8>)>) -> Self {
        let mut event = Self { name: None, frame: Frame::Lines(lines) };
        event.name = match event.data() {
            Some(data) if data == "[DONE]" => Some(data),
            Some(data) => {
                let inside = data::parse(&data).ok();
                let inside = inside.as_ref().and_then(|data| data.get("type")).and_then(Value::as_str);
                inside.map(str::to_owned).or_else(|| event.field("event"))
            }
            None => None,
        };
        event
    }

    /// Another event, framed as this one is.
    pub(super) fn like(other: &Self, data: &str) -> Result<Self, String> {
        let value = data::parse(data)?;
        let kind = value.get("type").and_then(Value::as_str);
        let line = match other.field("event") {
            Some(line) if Some(&line) == other.name.as_ref() => kind.map(str::to_owned),
            line => line,
        };
        let mut lines: Vec<_> =
            line.into_iter().map(|line| ("event".to_owned(), line.into_bytes())).collect();
        lines.push(("data".to_owned(), data.as_bytes().to_vec()));
        Ok(Self::of(lines))
    }

    pub(super) fn comment(text: &[u8]) -> Self {
        Self { name: None, frame: Frame::Lines(vec![(String::new(), text.to_vec())]) }
    }

    fn field(&self, name: &str) -> Option<String> {
        let Frame::Lines(lines) = &self.frame else { return None };
        let (_, value) = lines.iter().find(|(line, _)| line == name)?;
        Some(String::from_utf8_lossy(value).into_owned())
    }

    fn data(&self) -> Option<String> {
        self.field("data")
    }

    pub(super) fn edit_data(
        &mut self,
        edit: impl FnOnce(&mut Value) -> Result<(), String>,
    ) -> Result<(), String> {
        let mut data = data::parse(&self.data().ok_or("it has no data")?)?;
        edit(&mut data)?;
        self.set_field("data", data.to_string().as_bytes())
    }

    /// Replaces the line of that name, or adds it before the others.
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
        let bytes = self.frame.to_bytes();
        let at = (bytes.windows(old.len().max(1)).position(|window| window == old))
            .ok_or("the bytes that are to be replaced are not in it")?;
        self.frame = Frame::Bytes([&bytes[..at], new, &bytes[at + old.len()..]].concat());
        Ok(())
    }
}

impl Frame {
    fn lines(&mut self) -> Result<&mut Vec<(String, Vec<u8>)>, String> {
        match self {
            Self::Lines(lines) => Ok(lines),
            Self::Bytes(_) => Err("its bytes were replaced before; do that last".to_owned()),
        }
    }

    fn to_bytes(&self) -> Vec<u8> {
        match self {
            Self::Bytes(bytes) => bytes.clone(),
            Self::Lines(lines) => {
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
