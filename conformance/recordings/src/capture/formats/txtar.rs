//! Text archives of Go tests: files separated by lines such as `-- streaming --`.

use checker::{Entry, Exchange, Request};

use super::http;
use crate::capture::CaptureError;
use crate::capture::pack::body::{Body, is_content};

struct File<'a> {
    name: &'a str,
    content: &'a [u8],
    /// Offset of its content.
    byte: u64,
    line: u64,
}

pub(in crate::capture) fn name_in(line: &[u8]) -> Option<&str> {
    let line = line.trim_ascii_end().strip_prefix(b"-- ")?.strip_suffix(b" --")?;
    std::str::from_utf8(line).ok().map(str::trim).filter(|name| !name.is_empty())
}

fn files(bytes: &[u8]) -> Vec<File<'_>> {
    let mut files: Vec<File<'_>> = Vec::new();
    let (mut at, mut number) = (0, 0);
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        at += line.len();
        number += 1;
        if let Some(name) = name_in(line) {
            files.push(File { name, content: &[], byte: at as u64, line: number + 1 });
        } else if let Some(file) = files.last_mut() {
            let start = usize::try_from(file.byte).unwrap_or(at);
            file.content = &bytes[start..at];
        }
    }
    files
}

/// A file named as a request belongs to the other files; a file that is neither a stream nor JSON nor an HTTP response
/// is skipped.
pub(in crate::capture) fn read(bytes: &[u8], sink: &mut impl FnMut(Entry<'_>)) -> Result<(), CaptureError> {
    let mut outcome = Ok(());
    let mut asked = None;
    for file in files(bytes) {
        if file.name.starts_with("request") {
            asked = Some(String::from_utf8_lossy(file.content));
            continue;
        }
        let content = file.content.trim_ascii_start();
        if content.starts_with(b"HTTP/") {
            outcome = outcome.and(http::read(content, sink));
            continue;
        }
        if !is_content(content) {
            continue;
        }
        let request = asked.clone().map(|body| Request { body: Some(body), ..Request::default() });
        let exchange = Exchange { label: Some(file.name.to_owned()), request, ..Exchange::default() };
        let body = Body::new(&exchange, (file.byte, file.line));
        sink(Entry::Exchange(exchange));
        outcome = outcome.and(body.read(file.content, sink));
    }
    outcome
}
