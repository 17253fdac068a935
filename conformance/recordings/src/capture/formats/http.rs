//! HTTP responses as printed by `curl -i`: status, headers, a blank line, the body.

use std::borrow::Cow;

use memchr::memchr;

use crate::capture::pack::body::{Body, is_compressed, is_content};
use crate::capture::source::{Lines, line_of};
use crate::capture::{CaptureError, Format};
use checker::{Entry, Exchange};

pub(in crate::capture) fn read(bytes: &[u8], sink: &mut impl FnMut(Entry<'_>)) -> Result<(), CaptureError> {
    let (mut exchange, mut body) = head(bytes, 0)?;
    // Interim responses, redirects and responses of proxies precede the final one.
    while bytes[body..].starts_with(b"HTTP/") {
        (exchange, body) = head(bytes, body)?;
    }
    let chunked = exchange.header("transfer-encoding").is_some_and(|how| how.contains("chunked"));
    // The tool that printed the response may have joined the chunks.
    let dechunked = if chunked { Chunks::decode(&bytes[body..]) } else { None };
    let impossible = impossible(&exchange, chunked && dechunked.is_none() && !is_content(&bytes[body..]))
        .map(|problem| CaptureError::Malformed { format: Format::Http, line: line_of(bytes, body), problem })
        .map_or(Ok(()), Err);
    let sent = dechunked.as_ref().map_or(&bytes[body..], |chunks| &chunks.body);
    if is_compressed(&exchange, sent) {
        let how = exchange.header("content-encoding").unwrap_or_default();
        exchange.label = Some(format!("the body, decompressed ({how})"));
        let reader = Body::new(&exchange, (0, 1));
        sink(Entry::Exchange(exchange));
        return reader.read(sent, sink).and(impossible);
    }
    let Some(chunks) = &dechunked else {
        let reader = Body::new(&exchange, (body as u64, line_of(bytes, body)));
        sink(Entry::Exchange(exchange));
        return reader.read(sent, sink).and(impossible);
    };
    let reader = Body::new(&exchange, (0, 1));
    sink(Entry::Exchange(exchange));
    let mut lines = Lines::of(bytes);
    reader.read(sent, &mut |entry| sink(chunks.place(entry, body, &mut lines))).and(impossible)
}

/// Limit of a plausible body.
const MAX_LENGTH: u64 = 1 << 40;

/// Such a `content-length` is invalid.
fn impossible(exchange: &Exchange<'_>, is_badly_chunked: bool) -> Option<String> {
    if is_badly_chunked {
        return Some("expected a chunk: its size in hexadecimal digits, then that many bytes".to_owned());
    }
    let length = exchange.header("content-length")?.trim();
    let is_possible = length.parse::<u64>().is_ok_and(|length| length < MAX_LENGTH);
    (!is_possible).then(|| format!("content-length is {length:?}, which is not a valid length"))
}

fn head(bytes: &[u8], start: usize) -> Result<(Exchange<'_>, usize), CaptureError> {
    let mut at = start;
    let mut line = || {
        let rest = &bytes[at..];
        let end = memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
        at += end;
        (String::from_utf8_lossy(rest[..end].trim_ascii_end()), at)
    };
    let (first, _) = line();
    let status = first.split_ascii_whitespace().nth(1).and_then(|status| status.parse().ok());
    if status.is_none() {
        return Err(CaptureError::Malformed {
            format: Format::Http,
            line: line_of(bytes, start),
            problem: "expected a status line such as `HTTP/1.1 200 OK`".to_owned(),
        });
    }
    let mut exchange = Exchange { status, ..Exchange::default() };
    loop {
        let (header, end) = line();
        if header.is_empty() {
            return Ok((exchange, end));
        }
        if let Some((name, value)) = header.split_once(':') {
            let header = (Cow::Owned(name.trim().to_owned()), Cow::Owned(value.trim().to_owned()));
            exchange.headers.push(header);
        }
    }
}

struct Chunks {
    body: Vec<u8>,
    /// Offsets of each chunk in the body and in the sent bytes.
    starts: Vec<(usize, usize)>,
}

impl Chunks {
    /// The last chunk may be truncated.
    fn decode(sent: &[u8]) -> Option<Self> {
        let mut chunks = Self { body: Vec::new(), starts: Vec::new() };
        let mut at = 0;
        loop {
            let Some(end) = memchr(b'\n', &sent[at..]) else {
                return (!chunks.starts.is_empty()).then_some(chunks);
            };
            let line = sent[at..at + end].trim_ascii_end();
            let digits = line.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii_end();
            let size =
                std::str::from_utf8(digits).ok().and_then(|text| usize::from_str_radix(text, 16).ok())?;
            if size as u64 >= MAX_LENGTH {
                return None;
            }
            at += end + 1;
            if size == 0 {
                return Some(chunks);
            }
            chunks.starts.push((chunks.body.len(), at));
            let end = at.saturating_add(size);
            let Some(data) = sent.get(at..end) else {
                chunks.body.extend_from_slice(&sent[at..]);
                return Some(chunks);
            };
            chunks.body.extend_from_slice(data);
            let rest = &sent[end..];
            at = end
                + rest.strip_prefix(b"\r\n").or_else(|| rest.strip_prefix(b"\n")).map(|_| match rest {
                    [b'\r', ..] => 2,
                    _ => 1,
                })?;
        }
    }

    fn sent_at(&self, in_body: u64) -> u64 {
        let chunk = self.starts.partition_point(|(start, _)| *start as u64 <= in_body).saturating_sub(1);
        self.starts.get(chunk).map_or(in_body, |(start, sent)| in_body - *start as u64 + *sent as u64)
    }

    fn place<'a>(&self, mut entry: Entry<'a>, body: usize, lines: &mut Lines<'_>) -> Entry<'a> {
        let place = |at: u64| body as u64 + self.sent_at(at);
        if let Entry::Event(frame) | Entry::Body(frame) = &mut entry {
            let end = place(frame.bytes.end.saturating_sub(1)) + 1;
            frame.bytes = place(frame.bytes.start)..end;
            frame.line = lines.line(usize::try_from(frame.bytes.start).unwrap_or(usize::MAX));
            frame.invalid_utf8 = frame.invalid_utf8.map(place);
        }
        entry
    }
}
