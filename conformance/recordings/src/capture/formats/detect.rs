//! Detection of the format of a recording by its first bytes.

use std::ops::Range;

use memchr::memchr;
use serde_json::value::RawValue;

use super::document::Kind;
use super::{csv, txtar, websocket};
use crate::capture::{CaptureError, Format};

pub(in crate::capture) fn detect(bytes: &[u8], complete: bool) -> Result<Option<Format>, CaptureError> {
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return Err(CaptureError::Utf16);
    }
    if let Some(kind) = archive(bytes) {
        return Err(CaptureError::Archive(kind));
    }
    if !complete && bytes.len() < TAR_MARK.end && bytes.contains(&0) {
        return Ok(None);
    }
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let start = text.trim_ascii_start();
    match start {
        [] if complete && bytes.is_empty() => return Err(CaptureError::Empty),
        [b'[' | b'"', ..] => return Ok(Some(Format::Json)),
        [b'{', ..] => return Ok(object(start, complete)),
        _ if start.starts_with(b"HTTP/") => return Ok(Some(Format::Http)),
        _ if is_web_page(start) => return Err(CaptureError::WebPage),
        _ => {}
    }
    if text.len() - start.len() > MAX_BLANK {
        return Err(CaptureError::Unrecognised);
    }
    let ends = complete && start.len() <= MAX_START;
    let looked_at = start.get(..MAX_START).unwrap_or(start);
    for (number, line) in looked_at.split_inclusive(|byte| matches!(byte, b'\n' | b'\r')).enumerate() {
        let is_whole = ends || line.ends_with(b"\n") || line.ends_with(b"\r");
        let line = line.trim_ascii_end();
        if (is_whole || line.contains(&b':')) && is_field(line) {
            return Ok(Some(Format::Sse));
        }
        if is_whole && number == 0 && csv::is_header(line) {
            return Ok(Some(Format::Csv));
        }
        if is_whole && txtar::name_in(line).is_some() {
            return Ok(Some(Format::Txtar));
        }
        if is_whole && matches!(line, b"interactions:" | b"http_interactions:" | b"when:") {
            return Ok(Some(Format::Cassette));
        }
    }
    if complete || start.len() > MAX_START { Err(CaptureError::Unrecognised) } else { Ok(None) }
}

/// Number of bytes after which detection fails.
const MAX_START: usize = 64 << 10;

/// Number of leading bytes of white space allowed before that.
const MAX_BLANK: usize = 1 << 20;

/// The place of the mark in the head of a tar archive. Before it are the name of a file, and zeros.
const TAR_MARK: Range<usize> = 257..262;

fn archive(bytes: &[u8]) -> Option<&'static str> {
    const STARTS: [(&[u8], &str); 4] = [
        (b"PK\x03\x04", "ZIP"),
        (b"PK\x05\x06", "ZIP"),
        (b"7z\xbc\xaf\x27\x1c", "7z"),
        (b"Rar!\x1a\x07", "RAR"),
    ];
    if bytes.get(TAR_MARK) == Some(b"ustar") && bytes[..TAR_MARK.start].contains(&0) {
        return Some("tar");
    }
    STARTS.into_iter().find(|(start, _)| bytes.starts_with(start)).map(|(_, kind)| kind)
}

fn is_web_page(start: &[u8]) -> bool {
    [&b"<!doctype html"[..], b"<html", b"<head", b"<body"]
        .iter()
        .any(|tag| start.get(..tag.len()).is_some_and(|start| start.eq_ignore_ascii_case(tag)))
}

fn is_field(line: &[u8]) -> bool {
    let name = &line[..memchr(b':', line).unwrap_or(line.len())];
    matches!(name, b"data" | b"event" | b"id" | b"retry") || line.starts_with(b":")
}

/// The recording begins with a brace.
fn object(start: &[u8], complete: bool) -> Option<Format> {
    let first = start[1..].trim_ascii_start();
    for (name, format) in [(&b"\"log\""[..], Format::Har), (b"\"exchange\"", Format::Exchange)] {
        if first.starts_with(name) {
            return Some(format);
        }
        if !complete && name.starts_with(first) {
            return None;
        }
    }
    let end = match memchr(b'\n', start) {
        Some(end) => end,
        None if complete => start.len(),
        None => return None,
    };
    let (line, rest) = start.split_at(end);
    let more = rest.trim_ascii_start();
    if more.is_empty() && !complete {
        return None;
    }
    if websocket::is_message(line) {
        return Some(Format::WebSocket);
    }
    if serde_json::from_slice::<&RawValue>(line).is_err() {
        return Some(if more.starts_with(b"{") { Format::Ndjson } else { Format::Json });
    }
    let kind = std::str::from_utf8(line).map_or(Kind::Other, Kind::of);
    Some(match kind {
        Kind::Event | Kind::Batch | Kind::Stream => Format::Ndjson,
        _ if more.is_empty() => Format::Json,
        _ => Format::Ndjson,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bytes_tell() {
        let cases: [(&str, Format); 31] = [
            ("event: a\ndata: 1\n\n", Format::Sse),
            ("\u{feff}\n\ndata:1", Format::Sse),
            (": ping\n\n", Format::Sse),
            ("HTTP/1.1 200 OK\r\n\r\n", Format::Http),
            ("HTTP/2 200\n\n", Format::Http),
            ("{\"type\":\"a\"}\n{\"type\":\"b\"}\n", Format::Ndjson),
            ("{\"type\":\"a\"}", Format::Ndjson),
            ("{not json\n{\"type\":\"b\"}\n", Format::Ndjson),
            ("{\"object\":\"response\"}", Format::Json),
            ("{\n \"object\": \"response\"\n}", Format::Json),
            ("{\"level\":\"info\"}\n{\"level\":\"info\"}\n", Format::Ndjson),
            ("{\"type\":\"message\",\"stop_reason\":null}", Format::Json),
            ("{\"type\":\"message\",\"stop_reason\":null}\n{\"type\":\"message\"}\n", Format::Ndjson),
            ("{\"type\":\"error\",\"error\":{}}\n", Format::Json),
            ("[\n{\"type\":\"a\"}]", Format::Json),
            ("\"data: {}\\n\\n\"", Format::Json),
            ("{\"log\":{\"entries\":[]}}", Format::Har),
            ("{\n  \"log\": {\"entries\": []}}", Format::Har),
            ("{\"exchange\":1}\n", Format::Exchange),
            ("{\n\"exchange\":1}\n", Format::Exchange),
            ("---\ninteractions:\n- request:\n", Format::Cassette),
            ("when:\n  path: /v1/responses\n", Format::Cassette),
            ("-- request --\n{}\n-- streaming --\ndata: 1\n\n", Format::Txtar),
            ("{\"version\":1,\"interactions\":[]}\n", Format::Json),
            ("{\"event\":\"a\",\"data\":{}}\n{\"event\":\"b\",\"data\":{}}\n", Format::Ndjson),
            ("{\"object\":\"response\"}\n{\"object\":\"response\"}\n", Format::Ndjson),
            ("{\"custom_id\":\"a\",\"response\":null,\"error\":{}}\n", Format::Ndjson),
            ("{\"id\":\"a\",\"stream\":\"data: 1\\n\\n\"}\n", Format::Ndjson),
            ("{\"sent\":\"{}\"}\n{\"recv\":\"{}\"}\n", Format::WebSocket),
            // The start of a line does not decide yet.
            ("interactions: of a test\ndata \n", Format::Sse),
            ("data of a test\ninteractions:  \n", Format::Cassette),
        ];
        for (text, format) in cases {
            assert_eq!(detect(text.as_bytes(), true), Ok(Some(format)), "{text}");
            for cut in 0..text.len() {
                let early = detect(&text.as_bytes()[..cut], false);
                assert!(
                    matches!(early, Ok(None)) || early == Ok(Some(format)),
                    "{text} cut at {cut}: {early:?}"
                );
            }
        }
    }

    #[test]
    fn nothing_but_space_is_not_waited_for() {
        let blank = "\n".repeat(MAX_BLANK);
        assert_eq!(detect(format!("{blank}data: 1\n").as_bytes(), false), Ok(Some(Format::Sse)));
        assert_eq!(detect(format!("{blank}\n").as_bytes(), false), Err(CaptureError::Unrecognised));
    }

    #[test]
    fn what_cannot_be_read_is_told() {
        assert_eq!(detect(b"", true), Err(CaptureError::Empty));
        assert_eq!(detect(b"\xff\xfed\0a\0", false), Err(CaptureError::Utf16));
        let tar = [&b"a.sse"[..], &[0; 252], b"ustar\x0000", &[0; 248], b"data: 1\n\n"].concat();
        for end in [tar.len(), 300] {
            assert_eq!(detect(&tar[..end], false), Err(CaptureError::Archive("tar")));
        }
        assert_eq!(detect(&tar[..200], false), Ok(None));
        let text = [b"data: ", &[b'x'; 251][..], b"ustar\n\n"].concat();
        assert_eq!(detect(&text, true), Ok(Some(Format::Sse)));
        assert_eq!(detect(b"PK\x03\x04\ndata: 1\n\n", true), Err(CaptureError::Archive("ZIP")));
        for page in ["<html>", "\n <!DOCTYPE html>\n<html>", "<head><title>502 Bad Gateway"] {
            assert_eq!(detect(page.as_bytes(), true), Err(CaptureError::WebPage), "{page}");
        }
        assert_eq!(detect(b"<!doc", false), Ok(None));
        assert_eq!(detect(b"<xml>", true), Err(CaptureError::Unrecognised));
        // The limit does not depend on the chunks.
        let late = [&b"x\n".repeat(MAX_START)[..], b"data: 1\n"].concat();
        assert_eq!(detect(&late[..MAX_START], false), Ok(None));
        for end in [MAX_START + 1, late.len()] {
            assert_eq!(detect(&late[..end], false), Err(CaptureError::Unrecognised));
        }
    }
}
