//! Rows of logs: each is an exchange, with its answer as a body if its API has such a body.

use std::borrow::Cow;

use catalogue::Log;
use spec::json::{at, string};

use crate::capture::other_api;
use crate::capture::source::{Lines, framed, offset_in};
use crate::logs::{each_row, first, kind_of};
use checker::{Entry, Exchange, Frame, Places, Row};

pub(in crate::capture) fn rows(log: &'static Log, document: &Frame<'_>, sink: &mut impl FnMut(Entry<'_>)) {
    let Some(text) = document.data.as_deref() else { return };
    let mut lines = Lines::of(document.source);
    each_row(log, text, &mut |row| {
        let line = document.line + lines.line(offset_in(document.source, row)) - 1;
        let kind = kind_of(log, row);
        let id = kind.and_then(|kind| first(row, kind.id));
        let label = match id.as_ref().and_then(|(_, id)| string(id)) {
            Some(id) => format!("line {line} ({id})"),
            None => format!("line {line}"),
        };
        sink(Entry::Exchange(Exchange { label: Some(label), ..Exchange::default() }));
        sink(Entry::Row(Row { log, frame: part(document, row, row, line) }));
        for place in kind.map_or(&[][..], |kind| kind.answer) {
            let Some(raw) = at(row, place) else { continue };
            let answer = string(raw).unwrap_or(Cow::Borrowed(raw));
            if other_api::is_body(&answer) {
                sink(Entry::Body(part(document, &answer, raw, line)));
                break;
            }
        }
    });
}

/// The part of a document that is this text, which may be decoded.
fn part<'t>(document: &Frame<'_>, text: &'t str, raw: &str, line: u64) -> Frame<'t> {
    let start = document.bytes.start + offset_in(document.source, raw) as u64;
    let frame = Frame {
        transport: document.transport,
        is_on_one_line: document.is_on_one_line,
        ..framed(text, start, line)
    };
    if document.places == Places::Nowhere {
        Frame { bytes: document.bytes.clone(), places: Places::Nowhere, ..frame }
    } else if text.len() < raw.len() {
        Frame { bytes: start..start + raw.len() as u64, places: Places::Nowhere, ..frame }
    } else {
        frame
    }
}
