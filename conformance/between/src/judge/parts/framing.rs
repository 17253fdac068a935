//! Whether a response is a stream.

use crate::evidence::Response;

/// If the content type is wrong, the beginning counts.
pub(in crate::judge) fn is_stream(response: &Response, body: &[u8]) -> bool {
    let names_stream = response.header("content-type").is_some_and(|kind| {
        let kind = kind.split(';').next().unwrap_or_default();
        kind.trim().eq_ignore_ascii_case("text/event-stream")
    });
    let first = body.trim_ascii_start().first();
    first != Some(&b'{')
        && (names_stream || response.status < 400 && first.is_some_and(|it| b":ed".contains(it)))
}

/// The beginnings of lines that belong to the head of a response, and to no event.
const HEADS: [&str; 7] =
    ["HTTP/1.", "HTTP/2 ", "content-type:", "content-length:", "transfer-encoding:", "server:", "date:"];

pub(in crate::judge) fn http_within(stream: &[u8]) -> Option<String> {
    let is_head = |line: &&[u8]| {
        HEADS.iter().any(|head| {
            line.get(..head.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(head.as_bytes()))
        })
    };
    let line = stream.split(|byte| matches!(byte, b'\n' | b'\r')).find(is_head)?;
    Some(String::from_utf8_lossy(line).into_owned())
}
