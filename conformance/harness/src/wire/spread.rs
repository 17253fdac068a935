//! Secrets split over events, such as a key with a part in each delta.

use std::collections::BTreeMap;
use std::ops::Range;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use memchr::memmem;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use spec::Slot;

use super::mask::Secrets;
use recordings::capture::sse;

/// Detects secrets in texts that continue from event to event.
#[derive(Debug)]
pub(crate) struct Spread {
    secrets: Secrets,
    /// The ends of the texts. A secret may begin in them.
    texts: BTreeMap<String, String>,
    is_found: bool,
}

/// Maximum number of texts.
const TEXTS: usize = 10_000;
/// Maximum number of bytes of a character in any spelling.
const CHARACTER: usize = 16;

impl Spread {
    pub(crate) const fn new(secrets: Secrets) -> Self {
        Self { secrets, texts: BTreeMap::new(), is_found: false }
    }

    pub(crate) fn add(&mut self, data: &str) {
        if self.secrets.is_empty() || self.is_found {
            return;
        }
        if self.texts.len() > TEXTS {
            self.texts.clear();
        }
        let most = self.secrets.longest() * CHARACTER;
        for (name, text) in texts(data) {
            let joined = self.texts.entry(name).or_default();
            joined.push_str(text);
            self.is_found |= !self.secrets.places(joined.as_bytes()).is_empty();
            let mut from = joined.len().saturating_sub(most);
            while !joined.is_char_boundary(from) {
                from += 1;
            }
            joined.drain(..from);
        }
    }

    pub(crate) const fn is_found(&self) -> bool {
        self.is_found
    }
}

/// Other events may continue these texts. Each has its name, as JSON.
fn texts(data: &str) -> Vec<(String, &str)> {
    let Ok(members) = serde_json::from_str::<BTreeMap<&str, &RawValue>>(data) else { return Vec::new() };
    let mut of = String::new();
    for name in ["type"].into_iter().chain(Slot::PLACES.map(Slot::name)) {
        of.extend(["\n", members.get(name).map_or("", |value| value.get())]);
    }
    let mut texts = Vec::new();
    for (name, value) in members {
        match value.get() {
            text if text.starts_with('"') => texts.push((format!("{name}{of}"), text.trim_matches('"'))),
            object if object.starts_with('{') && name == "delta" => {
                let inner = serde_json::from_str::<BTreeMap<&str, &RawValue>>(object).unwrap_or_default();
                let strings = inner.into_iter().filter(|(_, value)| value.get().starts_with('"'));
                texts.extend(
                    strings
                        .map(|(inner, text)| (format!("{name}/{inner}{of}"), text.get().trim_matches('"'))),
                );
            }
            _ => {}
        }
    }
    texts
}

/// A line of a recording with bytes of the response.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct BytesLine<'l> {
    #[serde(borrow)]
    at: &'l RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    received: Option<String>,
}

impl BytesLine<'_> {
    fn content(&self) -> Vec<u8> {
        let text = self.text.as_ref().or(self.received.as_ref()).map(|text| text.clone().into_bytes());
        let bytes = || BASE64_STANDARD.decode(self.bytes.as_deref()?).ok();
        text.or_else(bytes).unwrap_or_default()
    }

    fn replace(&mut self, content: &[u8]) {
        let text = String::from_utf8_lossy(content).into_owned();
        if self.received.is_some() {
            self.received = Some(text);
        } else if self.bytes.is_some() {
            self.bytes = Some(BASE64_STANDARD.encode(content));
        } else {
            self.text = Some(text);
        }
    }
}

pub(super) fn hide(recording: &str, secrets: &Secrets) -> String {
    if secrets.is_empty() {
        return recording.to_owned();
    }
    let lines: Vec<(&str, Option<BytesLine<'_>>)> =
        recording.split_inclusive('\n').map(|line| (line, serde_json::from_str(line).ok())).collect();
    // Offsets of the bytes of each line.
    let (mut all, mut places) = (Vec::new(), Vec::new());
    let mut events: Vec<(Range<usize>, String)> = Vec::new();
    let mut body = Vec::new();
    for (_, line) in &lines {
        let content = line.as_ref().map(BytesLine::content).unwrap_or_default();
        let place = all.len()..all.len() + content.len();
        match line {
            Some(BytesLine { received: Some(text), .. }) => events.push((place.clone(), text.clone())),
            Some(_) => body.push(place.clone()),
            None => {}
        }
        all.extend(content);
        places.push(place);
    }
    if let (Some(first), Some(last)) = (body.first(), body.last()) {
        events.extend(framed(&all[first.start..last.end], first.start));
    }
    for range in secret_places(&events, &all, secrets) {
        all[range].fill(b'*');
    }
    let mut hidden = String::new();
    for ((line, parsed), place) in lines.into_iter().zip(places) {
        match parsed {
            Some(mut parsed) if parsed.content() != all[place.clone()] => {
                parsed.replace(&all[place]);
                hidden += &serde_json::to_string(&parsed).unwrap_or_default();
                hidden.push('\n');
            }
            _ => hidden += line,
        }
    }
    hidden
}

/// Events with their ranges.
fn framed(body: &[u8], start: usize) -> Vec<(Range<usize>, String)> {
    let mut events = Vec::new();
    let mut parser = sse::Parser::default();
    let mut add = |frame: recordings::capture::Frame<'_>| {
        let place = |at: u64| start + usize::try_from(at).unwrap_or(usize::MAX);
        let data = frame.data.map(std::borrow::Cow::into_owned).unwrap_or_default();
        events.push((place(frame.bytes.start)..place(frame.bytes.end), data));
    };
    parser.push(body, &mut add);
    parser.finish(&mut add);
    events
}

/// The place of a byte of a joined text: its event, and its offset if the data is in one piece.
type At = (usize, Option<usize>);

fn secret_places(events: &[(Range<usize>, String)], all: &[u8], secrets: &Secrets) -> Vec<Range<usize>> {
    let mut joined: BTreeMap<String, (String, Vec<At>)> = BTreeMap::new();
    for (event, (place, data)) in events.iter().enumerate() {
        let data_at = memmem::find(&all[place.clone()], data.as_bytes()).map(|at| place.start + at);
        for (name, text) in texts(data) {
            let (whole, ats) = joined.entry(name).or_default();
            // The text is part of the data.
            let within = text.as_ptr() as usize - data.as_ptr() as usize;
            ats.extend((0..text.len()).map(|at| (event, data_at.map(|start| start + within + at))));
            whole.push_str(text);
        }
    }
    let mut found = Vec::new();
    for (whole, ats) in joined.values() {
        for (event, at) in secrets.places(whole.as_bytes()).into_iter().flat_map(|range| &ats[range]) {
            match at {
                Some(at) => found.push(*at..*at + 1),
                None => found.extend(letters(events[*event].0.clone(), all)),
            }
        }
    }
    found
}

/// Letters and digits after field names, for data over several lines.
fn letters(place: Range<usize>, all: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut is_value = false;
    for (at, byte) in all[place.clone()].iter().enumerate() {
        match byte {
            b'\n' | b'\r' => is_value = false,
            b':' if !is_value => is_value = true,
            byte if is_value && byte.is_ascii_alphanumeric() => {
                found.push(place.start + at..place.start + at + 1);
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use recordings::capture::Recorder;
    use std::time::Duration;

    const SECRET: &str = "sk-12345678";

    fn delta(item: u8, text: &str) -> String {
        format!("data: {{\"type\":\"d\",\"output_index\":{item},\"delta\":\"{text}\"}}\n\n")
    }

    fn secrets() -> Secrets {
        Secrets::new(&[SECRET.to_owned()])
    }

    #[test]
    fn parts_of_secrets_are_hidden_in_deltas_and_nothing_else_is() {
        let parts = [delta(0, "the sk-"), delta(1, "key"), delta(0, "12\\u003345"), delta(0, "678 is")];
        let stream = parts.concat();
        let mut spread = Spread::new(secrets());
        for part in &parts {
            spread.add(part.trim_start_matches("data: "));
        }
        assert!(spread.is_found());
        let hidden = [delta(0, "the ***"), delta(1, "key"), delta(0, &"*".repeat(10)), delta(0, "*** is")];
        for cut in 0..stream.len() {
            let (recorder, at) = (Recorder::new(), Duration::from_micros(12_340));
            let recording = |stream: &str| {
                recorder.chunk(at, &stream.as_bytes()[..cut]) + &recorder.chunk(at, &stream.as_bytes()[cut..])
            };
            assert_eq!(hide(&recording(&stream), &secrets()), recording(&hidden.concat()), "cut at {cut}");
        }
    }

    #[test]
    fn messages_are_followed_and_data_over_lines_are_hidden_as_a_whole() {
        let message = |text: &str| format!("{{\"type\":\"d\",\"delta\":\"{text}\"}}");
        let (recorder, at) = (Recorder::new(), Duration::from_millis(1));
        let recording = |parts: [&str; 2]| parts.map(|part| recorder.received(at, &message(part))).concat();
        assert_eq!(hide(&recording(["sk-1234", "5678"]), &secrets()), recording(["*******", "****"]));
        let lines =
            recorder.chunk(at, b"data: {\"delta\":\ndata: \"sk-1234\"}\n\ndata: {\"delta\":\"5678\"}\n\n");
        let hidden = hide(&lines, &secrets());
        assert!(!hidden.contains("1234") && !hidden.contains("5678"), "{hidden}");
    }

    #[test]
    fn what_is_no_secret_is_left_as_it_is() {
        let mut spread = Spread::new(secrets());
        for number in 0..100 {
            spread.add(&delta(0, &format!("sk-{number}"))[6..]);
        }
        assert!(!spread.is_found());
    }
}
