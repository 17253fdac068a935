//! YAML cassettes, as VCR, its ports, go-vcr and httpmock record them.

use std::borrow::Cow;

use serde_json::Value;

use super::on_disk::OnDisk;
use super::source::utf8;
use super::{CaptureError, Format, recorded};
use checker::Entry;

/// Reads a cassette: one document, or several.
pub(super) fn read(bytes: &[u8], sink: &mut impl FnMut(Entry<'_>)) -> Result<(), CaptureError> {
    let text = without_object_keys(utf8(bytes, Format::Cassette)?);
    // Binary values stay base64: they are seldom text.
    let options = serde_saphyr::options! { ignore_binary_tag_for_string: true };
    let read = serde_saphyr::from_multiple_with_options::<Value>(&text, options);
    let documents = read.map_err(|error| CaptureError::Malformed {
        format: Format::Cassette,
        line: error.location().map_or(1, |place| place.line()),
        problem: error.without_snippet().to_string(),
    })?;
    let mut on_disk = OnDisk::new(bytes);
    recorded::read(&documents, &mut |entry| sink(on_disk.placed(entry)))
}

/// Returns the cassette with plain header names where Python wrote them as objects: aiohttp keeps them in a
/// class of strings that ignores case. Line numbers do not change.
///
/// ```yaml
/// ? !!python/object/new:multidict._multidict.istr
/// - Content-Type
/// : - application/json
/// ```
fn without_object_keys(text: &str) -> Cow<'_, str> {
    const OBJECT: &str = "? !!python/object";
    if !text.contains(OBJECT) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut lines = text.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        let indent = &line[..line.len() - line.trim_start_matches(' ').len()];
        let key = lines.peek().and_then(|next| next.strip_prefix(indent)?.trim_end().strip_prefix("- "));
        let Some(key) = key.filter(|_| line[indent.len()..].starts_with(OBJECT)) else {
            out.push_str(line);
            continue;
        };
        // The line of the tag becomes empty.
        out.push('\n');
        out.extend([indent, key, ":\n"]);
        lines.next();
        if let Some(value) =
            lines.next_if(|next| next.strip_prefix(indent).is_some_and(|rest| rest.starts_with(':')))
        {
            out.extend([indent, " ", &value[indent.len() + 1..]]);
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(cassette: &str) -> Vec<String> {
        let mut entries = Vec::new();
        read(cassette.as_bytes(), &mut |entry| {
            entries.push(match entry {
                Entry::Exchange(exchange) => {
                    format!("{} {:?}", exchange.label.unwrap_or_default(), exchange.status)
                }
                Entry::Event(frame) => frame.data.unwrap_or_default().into_owned(),
                other => format!("{other:?}"),
            });
        })
        .unwrap();
        entries
    }

    #[test]
    fn cassettes_of_vcr() {
        let cassette = "interactions:\n- request:\n    method: POST\n    uri: https://a.test/v1/responses\n    body: '{}'\n  \
            response:\n    body:\n      string: \"data: 1\\n\\ndata: 2\\n\\n\"\n    headers:\n      Content-Type:\n      \
            - text/event-stream; charset=utf-8\n    status:\n      code: 200\n      message: OK\nversion: 1\n";
        let label = "interaction 1, POST https://a.test/v1/responses Some(200)";
        assert_eq!(entries(cassette), [label, "1", "2"]);
    }

    #[test]
    fn names_of_headers_may_be_objects_of_python() {
        let key = |name: &str, value: &str| {
            format!(
                "      ? !!python/object/new:multidict._multidict.istr\n      - {name}\n      : - {value}\n"
            )
        };
        let cassette = format!(
            "interactions:\n- request:\n    method: POST\n    uri: https://a.test/v1/responses\n    headers:\n{}  \
             response:\n    body:\n      string: \"data: 1\\n\\n\"\n    headers:\n{}    status:\n      code: 200\n",
            key("Accept", "application/json"),
            key("Content-Type", "text/event-stream") + "      Date:\n      - now\n",
        );
        assert_eq!(without_object_keys(&cassette).lines().count(), cassette.lines().count());
        assert_eq!(entries(&cassette), ["interaction 1, POST https://a.test/v1/responses Some(200)", "1"]);
    }

    #[test]
    fn cassettes_of_go_vcr() {
        let cassette = "---\nversion: 2\ninteractions:\n    - id: 0\n      request:\n        method: POST\n        \
            url: https://a.test/v1/chat\n      response:\n        body: '{}'\n        status: 200 OK\n        code: 200\n    \
            - id: 1\n      request:\n        method: POST\n        url: https://a.test/v1/responses\n      \
            response:\n        headers:\n            Content-Type:\n                - text/event-stream\n        \
            body: |+\n            data: 1\n\n        status: 200 OK\n        code: 200\n";
        assert_eq!(entries(cassette), ["interaction 2, POST https://a.test/v1/responses Some(200)", "1"]);
    }

    #[test]
    fn cassettes_of_httpmock() {
        let one = "when:\n  path: /v1/responses\n  method: POST\nthen:\n  status: 200\n  header:\n  - name: content-type\n    \
            value: text/event-stream\n  body: |+\n    data: 1\n\n";
        let label = |number| format!("interaction {number}, POST /v1/responses Some(200)");
        assert_eq!(entries(&format!("{one}---\n{one}")), [&label(1), "1", &label(2), "1"]);
    }

    #[test]
    fn bytes_are_tagged_as_binary() {
        // `data: 1`, compressed with gzip; and as it is, which is how Ruby writes bytes.
        let tagged = |tag: &str, text: &str, coding: &str| {
            entries(&format!(
                "interactions:\n- request:\n    method: POST\n    uri: https://a.test/v1/responses\n  response:\n    \
                 body:\n      string: {tag} |\n        {text}\n    headers:\n      content-type: text/event-stream\n{coding}    \
                 status:\n      code: 200\n"
            ))
            .split_off(1)
        };
        let coding = "      content-encoding: gzip\n";
        assert_eq!(tagged("!!binary", "H4sIAAAAAAACA0tJLEm0UjDk4gIAzs14VAkAAAA=", coding), ["1"]);
        assert_eq!(tagged("!binary", "ZGF0YTogMQoK", ""), ["1"]);
    }
}
