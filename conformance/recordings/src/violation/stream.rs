//! An editable recording.

use std::borrow::Cow;
use std::time::Duration;

use spec::Slot;

use super::event::Event;
use crate::capture::{End, Exchange, Format, Recorder, Request};

/// The events, and the head of the response and the body of its request if an edit needs them.
#[derive(Debug, Clone)]
pub(super) struct Stream {
    pub(super) events: Vec<Event>,
    format: Format,
    head: Option<Head>,
    request: Option<&'static str>,
}

#[derive(Debug, Clone)]
struct Head {
    status: String,
    headers: Vec<(String, Vec<u8>)>,
}

impl Stream {
    pub(super) fn of(format: Format, bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        match format {
            Format::WebSocket => {
                Self { events: text.lines().map(Event::message).collect(), format, head: None, request: None }
            }
            Format::Http => {
                let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
                Self { events: vec![Event::body(body)], format, head: Some(Head::of(head)), request: None }
            }
            _ => {
                let events = text.split_terminator("\n\n").map(Event::block).collect();
                Self { events, format, head: None, request: None }
            }
        }
    }

    pub(super) fn into_bytes(mut self) -> Vec<u8> {
        let body = self.events.iter().map(Event::to_bytes).collect::<Vec<_>>().concat();
        if let Some(request) = self.request
            && let Ok(head) = self.head()
        {
            return head.exchange(request, &body);
        }
        [self.head.map(|head| head.to_bytes()).unwrap_or_default(), body].concat()
    }

    /// Starts at 0 again after every message of the client.
    pub(super) fn renumber(&mut self) -> Result<(), String> {
        let mut next = 0_u64;
        let mut is_numbered = false;
        let place = format!("/{}", Slot::SequenceNumber.name());
        for event in &mut self.events {
            if event.name.as_deref().is_some_and(|name| name.starts_with('>')) {
                next = 0;
                continue;
            }
            let Some(mut data) = event.data() else { continue };
            let Some(number) = spec::json::at(&data, &place) else { continue };
            let start = number.as_ptr() as usize - data.as_ptr() as usize;
            data.replace_range(start..start + number.len(), &next.to_string());
            event.set_data(data.as_bytes())?;
            next += 1;
            is_numbered = true;
        }
        if is_numbered { Ok(()) } else { Err("no event has a sequence number".to_owned()) }
    }

    pub(super) fn set_header(&mut self, name: &str, value: &[u8]) -> Result<(), String> {
        let headers = &mut self.head()?.headers;
        match headers.iter_mut().find(|(header, _)| header.eq_ignore_ascii_case(name)) {
            Some((_, old)) => *old = value.to_vec(),
            None => headers.push((name.to_owned(), value.to_vec())),
        }
        Ok(())
    }

    pub(super) fn set_status(&mut self, status: u16) -> Result<(), String> {
        self.head()?.status = format!("HTTP/1.1 {status} ");
        Ok(())
    }

    pub(super) fn set_request(&mut self, body: &'static str) -> Result<(), String> {
        self.head()?;
        self.request = Some(body);
        Ok(())
    }

    fn head(&mut self) -> Result<&mut Head, String> {
        if self.format == Format::WebSocket {
            return Err("the log of a WebSocket has neither status nor headers".to_owned());
        }
        Ok(self.head.get_or_insert_with(|| Head::of("HTTP/1.1 200 \r\ncontent-type: text/event-stream")))
    }
}

impl Head {
    fn of(text: &str) -> Self {
        let mut lines = text.lines();
        let status = lines.next().unwrap_or_default().to_owned();
        let headers = lines.map(|line| {
            let (name, value) = line.split_once(": ").unwrap_or((line, ""));
            (name.to_owned(), value.as_bytes().to_vec())
        });
        Self { status, headers: headers.collect() }
    }

    fn exchange(&self, request: &str, body: &[u8]) -> Vec<u8> {
        let headers = self.headers.iter();
        let headers = headers.map(|(name, value)| (name.as_str().into(), String::from_utf8_lossy(value)));
        let recorder = Recorder::new();
        let mut recording = recorder.begin(&Exchange {
            status: self.status.split_whitespace().nth(1).and_then(|status| status.parse().ok()),
            headers: headers.collect(),
            request: Some(Request {
                method: Cow::Borrowed("POST"),
                body: Some(Cow::Borrowed(request)),
                ..Request::default()
            }),
            ..Exchange::default()
        });
        recording += &recorder.chunk(Duration::ZERO, body);
        recording += &recorder.end(Duration::ZERO, End::Closed);
        recording.into_bytes()
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = [self.status.as_bytes(), b"\r\n"].concat();
        for (name, value) in &self.headers {
            bytes.extend_from_slice(&[name.as_bytes(), b": ", value, b"\r\n"].concat());
        }
        bytes.extend_from_slice(b"\r\n");
        bytes
    }
}
