//! YAML cassettes, as VCR, its ports and go-vcr record them.

use std::borrow::Cow;

use serde_json::Value;

use super::body::Body;
use super::frame::{Entry, Exchange, Headers, Request};
use super::{CaptureError, Format, Recorder, base64, json};

/// Reads a cassette. Of exchanges that have nothing to do with responses, nothing is handed out.
pub(super) fn read(bytes: &[u8], sink: &mut impl FnMut(Entry<'_>)) -> Result<(), CaptureError> {
    let text = json::utf8(bytes, Format::Cassette)?;
    let cassette: Value = serde_saphyr::from_str(text).map_err(|error| CaptureError::Malformed {
        format: Format::Cassette,
        line: error.location().map_or(1, |place| place.line()),
        problem: error.without_snippet().to_string(),
    })?;
    let recorded = cassette.get("interactions").or_else(|| cassette.get("http_interactions"));
    let mut outcome = Ok(());
    for (index, interaction) in recorded.and_then(Value::as_array).into_iter().flatten().enumerate() {
        let (request, response) = (&interaction["request"], &interaction["response"]);
        let exchange = exchange(index + 1, request, response);
        if exchange.is_stream() || request_uri(request).contains("/responses") {
            let content = Body::new(&exchange, (0, 1));
            sink(Entry::Exchange(exchange));
            outcome = outcome.and(content.read(&body(&response["body"]), sink));
        }
    }
    outcome
}

fn exchange(number: usize, request: &Value, response: &Value) -> Exchange<'static> {
    // VCR has an object with `code`, go-vcr a text and a `code` beside it.
    let status = response["code"].as_u64().or_else(|| response["status"]["code"].as_u64());
    let method = request["method"].as_str().unwrap_or_default().to_uppercase();
    let asked = String::from_utf8_lossy(&body(&request["body"])).into_owned();
    Exchange {
        label: Some(format!("interaction {number}, {method} {}", Recorder::new().url(request_uri(request)))),
        status: status.and_then(|status| status.try_into().ok()),
        headers: headers(&response["headers"]),
        request: Some(Request {
            url: Cow::Owned(request_uri(request).to_owned()),
            method: Cow::Owned(method),
            headers: headers(&request["headers"]),
            body: (!asked.is_empty()).then_some(Cow::Owned(asked)),
        }),
    }
}

/// Each header has one value, or a list of them.
fn headers(headers: &Value) -> Headers<'static> {
    let mut pairs = Headers::new();
    for (name, values) in headers.as_object().into_iter().flatten() {
        let values = values.as_array().map_or(std::slice::from_ref(values), Vec::as_slice);
        let texts = values.iter().filter_map(Value::as_str);
        pairs.extend(texts.map(|text| (Cow::Owned(name.clone()), Cow::Owned(text.to_owned()))));
    }
    pairs
}

fn request_uri(request: &Value) -> &str {
    request["uri"].as_str().or_else(|| request["url"].as_str()).unwrap_or_default()
}

/// The body of an answer: a text, or an object with it. Cassettes keep some as JSON.
fn body(body: &Value) -> Cow<'_, [u8]> {
    if let Some(text) = body.as_str().or_else(|| body["string"].as_str()) {
        return Cow::Borrowed(text.as_bytes());
    }
    if let Some(bytes) = body["base64_string"].as_str().and_then(base64::decode) {
        return Cow::Owned(bytes);
    }
    if body.is_null() { Cow::Borrowed(b"") } else { Cow::Owned(body.to_string().into_bytes()) }
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
    fn cassettes_of_go_vcr() {
        let cassette = "---\nversion: 2\ninteractions:\n    - id: 0\n      request:\n        method: POST\n        \
            url: https://a.test/v1/chat\n      response:\n        body: '{}'\n        status: 200 OK\n        code: 200\n    \
            - id: 1\n      request:\n        method: POST\n        url: https://a.test/v1/responses\n      \
            response:\n        headers:\n            Content-Type:\n                - text/event-stream\n        \
            body: |+\n            data: 1\n\n        status: 200 OK\n        code: 200\n";
        assert_eq!(entries(cassette), ["interaction 2, POST https://a.test/v1/responses Some(200)", "1"]);
    }
}
