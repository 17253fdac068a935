//! Whether a response is a stream.

use crate::evidence::Response;

/// Returns whether a response is a stream: by its content type, or by its beginning if that is wrong.
pub(super) fn is_stream(response: &Response, body: &[u8]) -> bool {
    let names_stream = response.header("content-type").is_some_and(|kind| {
        let kind = kind.split(';').next().unwrap_or_default();
        kind.trim().eq_ignore_ascii_case("text/event-stream")
    });
    let first = body.trim_ascii_start().first();
    first != Some(&b'{')
        && (names_stream || response.status < 400 && first.is_some_and(|it| b":ed".contains(it)))
}
