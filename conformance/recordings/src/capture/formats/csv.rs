//! Tables of comma-separated values with the rows of a log.

use serde_json::{Map, Value};

use super::log;
use crate::capture::source::{Lines, framed, utf8};
use crate::capture::{CaptureError, Format};
use crate::logs::log_of;
use checker::{Entry, Frame, Places, Transport};

/// The line names the columns of a log.
pub(in crate::capture) fn is_header(line: &[u8]) -> bool {
    let mut reader = reader(line);
    let header = reader.headers().ok().filter(|header| header.len() > 1);
    header.is_some_and(|header| log_of(&object(header, header)).is_some())
}

/// Values are texts, and null if they are empty.
pub(in crate::capture) fn read(bytes: &[u8], sink: &mut impl FnMut(Entry<'_>)) -> Result<(), CaptureError> {
    let mut reader = reader(utf8(bytes, Format::Csv)?.trim_start_matches('\u{feff}').as_bytes());
    let fail = |error: &csv::Error| CaptureError::Malformed {
        format: Format::Csv,
        line: error.position().map_or(1, csv::Position::line),
        problem: error.to_string(),
    };
    let header = reader.headers().map_err(|error| fail(&error))?.clone();
    let log = log_of(&object(&header, &header)).ok_or(CaptureError::Unrecognised)?;
    let mut lines = Lines::of(bytes);
    for record in reader.records() {
        let record = record.map_err(|error| fail(&error))?;
        let start = record.position().map_or(0, csv::Position::byte);
        let line = lines.line(usize::try_from(start).unwrap_or(usize::MAX).saturating_add(1));
        let row = object(&header, &record);
        let end = start + record.as_slice().len() as u64;
        let frame = Frame {
            bytes: start..end,
            places: Places::Nowhere,
            transport: Transport::Unframed,
            is_on_one_line: true,
            ..framed(&row, start, line)
        };
        log::rows(log, &frame, sink);
    }
    Ok(())
}

fn reader(bytes: &[u8]) -> csv::Reader<&[u8]> {
    csv::ReaderBuilder::new().from_reader(bytes)
}

fn object(header: &csv::StringRecord, values: &csv::StringRecord) -> String {
    let value = |text: &str| if text.is_empty() { Value::Null } else { text.into() };
    let members: Map<String, Value> =
        header.iter().zip(values).map(|(name, text)| (name.to_owned(), value(text))).collect();
    Value::Object(members).to_string()
}
