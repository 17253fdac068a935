//! JSON documents: a list of events, one body, or exchanges recorded by test tools.

use serde_json::Value;
use serde_json::value::RawValue;

use super::document::{Documents, Kind};
use super::recorded;
use crate::capture::on_disk::OnDisk;
use crate::capture::pack::body;
use crate::capture::source::{Lines, framed, malformed, offset_in, unquoted, utf8};
use crate::capture::{CaptureError, Format, sse};
use checker::{Entry, Frame, Transport};

/// Tools print events on many lines each, so there may be several documents.
pub(in crate::capture) fn read(bytes: &[u8], sink: &mut impl FnMut(Entry<'_>)) -> Result<(), CaptureError> {
    let text = utf8(bytes, Format::Json)?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut documents = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
    let first = match documents.next() {
        Some(first) => first.map_err(|error| malformed(Format::Json, &error))?,
        None => return Err(CaptureError::Empty),
    };
    let Some(second) = documents.next() else { return single(bytes, first, sink) };
    let (mut lines, mut kinds) = (Lines::of(bytes), Documents::default());
    for document in [Ok(first), second].into_iter().chain(documents) {
        let document = document.map_err(|error| malformed(Format::Json, &error))?;
        kinds.hand_out(Kind::of(document.get()), frame(&mut lines, document), sink)?;
    }
    Ok(())
}

fn single(bytes: &[u8], whole: &RawValue, sink: &mut impl FnMut(Entry<'_>)) -> Result<(), CaptureError> {
    if whole.get().starts_with('"') {
        let stream = pieces(&[whole]).ok_or(CaptureError::Unrecognised)?;
        stream_of(&stream, sink);
        return Ok(());
    }
    if !whole.get().starts_with('[') {
        if recorded::is_recorded(whole.get()) {
            return recorded_in(bytes, whole, sink);
        }
        let frame = frame(&mut Lines::of(bytes), whole);
        let kind = match Kind::of(whole.get()) {
            Kind::Other => Kind::Body,
            known => known,
        };
        return Documents::single().hand_out(kind, frame, sink);
    }
    let entries: Vec<&RawValue> =
        serde_json::from_str(whole.get()).map_err(|error| malformed(Format::Json, &error))?;
    if entries.first().is_some_and(|first| recorded::is_recorded(first.get())) {
        return recorded_in(bytes, whole, sink);
    }
    if let Some(stream) = pieces(&entries) {
        stream_of(&stream, sink);
        return Ok(());
    }
    let (mut lines, mut kinds) = (Lines::of(bytes), Documents::default());
    for entry in entries {
        kinds.hand_out(Kind::of(entry.get()), frame(&mut lines, entry), sink)?;
    }
    Ok(())
}

fn frame<'a>(lines: &mut Lines<'a>, piece: &'a RawValue) -> Frame<'a> {
    let text = piece.get();
    let start = offset_in(lines.bytes, text);
    Frame { transport: Transport::Unframed, ..framed(text, start as u64, lines.line(start)) }
}

/// A test recorder has several exchanges.
fn recorded_in(bytes: &[u8], whole: &RawValue, sink: &mut impl FnMut(Entry<'_>)) -> Result<(), CaptureError> {
    let document: Value =
        serde_json::from_str(whole.get()).map_err(|error| malformed(Format::Json, &error))?;
    let mut on_disk = OnDisk::new(bytes);
    recorded::read([&document], &mut |entry| sink(on_disk.placed(entry)))
}

/// Places refer to the recorded strings.
fn stream_of(stream: &str, sink: &mut impl FnMut(Entry<'_>)) {
    let mut parser = sse::Parser::default();
    parser.push(stream.as_bytes(), &mut |frame| sink(Entry::Event(frame)));
    parser.finish(&mut |frame| sink(Entry::Event(frame)));
}

/// `None` unless the strings are pieces of a stream of events.
fn pieces(entries: &[&RawValue]) -> Option<String> {
    let first = entries.first().filter(|first| first.get().starts_with('"'))?;
    let is_stream = body::starts_with_field(unquoted(first.get()).as_bytes());
    let is_text = |entry: &&RawValue| entry.get().starts_with('"');
    let all = || entries.iter().map(|entry| unquoted(entry.get())).collect();
    (is_stream && entries.iter().all(is_text)).then(all)
}
