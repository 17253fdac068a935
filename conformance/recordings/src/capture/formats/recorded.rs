//! Exchanges of test recorders: their names differ, their contents do not.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::capture::other_api::is_known;
use crate::capture::pack::base64;
use crate::capture::pack::body::{self, Body};
use crate::capture::{CaptureError, Recorder};
use checker::{Entry, Exchange, Headers, Request};

/// Names of the list of exchanges: in VCR and its ports, the test proxy of Azure's SDKs, `WireMock` and
/// others.
const LISTS: [&str; 6] =
    ["interactions", "http_interactions", "recordings", "Entries", "entries", "mappings"];

/// One exchange, or a list of them. Its values are not parsed.
pub(in crate::capture) fn is_recorded(text: &str) -> bool {
    #[derive(Deserialize)]
    struct Members {
        #[serde(
            rename = "interactions",
            alias = "http_interactions",
            alias = "recordings",
            alias = "mappings"
        )]
        list: Option<IgnoredAny>,
        #[serde(rename = "Entries", alias = "entries")]
        entries: Option<IgnoredAny>,
        #[serde(rename = "request", alias = "when", alias = "scope")]
        request: Option<IgnoredAny>,
        #[serde(rename = "response", alias = "then")]
        response: Option<IgnoredAny>,
        // Events and responses can have members of the same names.
        r#type: Option<IgnoredAny>,
        object: Option<IgnoredAny>,
    }
    let members: Option<Members> = serde_json::from_str(text).ok();
    members.is_some_and(|members| {
        let is_one = members.request.is_some() && members.response.is_some();
        let is_other = members.r#type.is_some() || members.object.is_some();
        (members.list.is_some() || members.entries.is_some() || is_one) && !is_other
    })
}

/// Emits streams, and responses of known APIs.
pub(in crate::capture) fn read<'v>(
    documents: impl IntoIterator<Item = &'v Value>,
    sink: &mut impl FnMut(Entry<'_>),
) -> Result<(), CaptureError> {
    let mut outcome = Ok(());
    for (index, exchange) in documents.into_iter().flat_map(listed).enumerate() {
        let Some(recorded) = Recorded::of(exchange) else { continue };
        let exchange = recorded.exchange(index + 1);
        if exchange.is_stream() || is_known(&recorded.url) {
            let content = Body::new(&exchange, (0, 1));
            let bytes = recorded.bytes(&exchange);
            sink(Entry::Exchange(exchange));
            outcome = outcome.and(content.read(&bytes, sink));
        }
    }
    outcome
}

fn listed(document: &Value) -> &[Value] {
    let named = LISTS.iter().find_map(|name| document.get(name)?.as_array());
    named.or_else(|| document.as_array()).map_or(std::slice::from_ref(document), Vec::as_slice)
}

struct Recorded<'v> {
    method: &'v str,
    url: Cow<'v, str>,
    asked: [&'v Value; 2],
    status: Option<u64>,
    headers: &'v Value,
    body: &'v Value,
}

/// Names of base64 bodies: in VCR and `ReqLLM`.
const BASE64: [&str; 2] = ["base64_string", "b64"];

const ABSENT: &Value = &Value::Null;

impl<'v> Recorded<'v> {
    fn of(exchange: &'v Value) -> Option<Self> {
        Self::in_pairs(exchange).or_else(|| Self::of_test_proxy(exchange)).or_else(|| Self::of_nock(exchange))
    }

    /// VCR, its ports, go-vcr, `ExVCR` and `WireMock` have pairs; httpmock has `when` and `then`.
    fn in_pairs(exchange: &'v Value) -> Option<Self> {
        let side = |names: [&str; 2]| names.iter().find_map(|name| exchange.get(name)?.as_object());
        let (request, response) = (side(["request", "when"])?, side(["response", "then"])?);
        let of_request = |names: &[&str]| first(names.iter().map(|name| request.get(*name)));
        let of_response = |names: &[&str]| first(names.iter().map(|name| response.get(*name)));
        let status = of_response(&["code", "status_code", "status"]);
        Some(Self {
            method: of_request(&["method"]).as_str().unwrap_or_default(),
            url: Cow::Borrowed(of_request(&["uri", "url", "path", "urlPath"]).as_str().unwrap_or_default()),
            asked: [of_request(&["headers", "header"]), of_request(&["body", "parsed_body"])],
            status: status.as_u64().or_else(|| response.get("status")?["code"].as_u64()),
            headers: of_response(&["headers", "header"]),
            body: match of_response(&[
                "body",
                "parsed_body",
                "jsonBody",
                "base64Body",
                "body_base64",
                "chunks",
            ]) {
                // Some recorders keep the chunks of a stream outside its response.
                Value::Null => first([exchange.get("chunks")]),
                body => body,
            },
        })
    }

    fn of_test_proxy(exchange: &'v Value) -> Option<Self> {
        Some(Self {
            method: exchange["RequestMethod"].as_str().unwrap_or_default(),
            url: Cow::Borrowed(exchange["RequestUri"].as_str()?),
            asked: [&exchange["RequestHeaders"], &exchange["RequestBody"]],
            status: Some(exchange["StatusCode"].as_u64()?),
            headers: &exchange["ResponseHeaders"],
            body: &exchange["ResponseBody"],
        })
    }

    fn of_nock(exchange: &'v Value) -> Option<Self> {
        let (scope, path) = (exchange["scope"].as_str()?, exchange["path"].as_str()?);
        Some(Self {
            method: exchange["method"].as_str().unwrap_or_default(),
            url: Cow::Owned(format!("{scope}{path}")),
            asked: [&exchange["reqheaders"], &exchange["body"]],
            status: Some(exchange["status"].as_u64()?),
            headers: first([exchange.get("rawHeaders"), exchange.get("headers")]),
            body: &exchange["response"],
        })
    }

    fn exchange(&self, number: usize) -> Exchange<'static> {
        let method = self.method.to_uppercase();
        let [headers_asked, body_asked] = self.asked;
        let asked = String::from_utf8_lossy(&bytes(body_asked)).into_owned();
        Exchange {
            label: Some(format!("interaction {number}, {method} {}", Recorder::new().url(&self.url))),
            number: None,
            status: self.status.and_then(|status| status.try_into().ok()),
            headers: headers(self.headers),
            request: Some(Request {
                url: Cow::Owned(self.url.clone().into_owned()),
                method: Cow::Owned(method),
                headers: headers(headers_asked),
                body: (!asked.is_empty()).then_some(Cow::Owned(asked)),
            }),
        }
    }

    /// Binary bodies are base64, recognizable only because they look like neither a stream nor JSON.
    fn bytes(&self, exchange: &Exchange<'_>) -> Cow<'v, [u8]> {
        let written = bytes(self.body);
        let decoded = std::str::from_utf8(&written).ok().and_then(base64::decode);
        match decoded.filter(|decoded| body::is_compressed(exchange, decoded) || body::is_content(decoded)) {
            Some(decoded) => Cow::Owned(decoded),
            None => written,
        }
    }
}

/// Null counts as absent.
fn first<'v>(all: impl IntoIterator<Item = Option<&'v Value>>) -> &'v Value {
    all.into_iter().flatten().find(|value| !value.is_null()).unwrap_or(ABSENT)
}

/// By name, each with a value or a list; objects with `name` and `value`; or a list with alternating names and values.
fn headers(headers: &Value) -> Headers<'static> {
    let owned = |name: &str, value: &str| (Cow::Owned(name.to_owned()), Cow::Owned(value.to_owned()));
    let texts = |values: &Value| -> Vec<String> {
        let values = values.as_array().map_or(std::slice::from_ref(values), Vec::as_slice);
        values.iter().filter_map(Value::as_str).map(str::to_owned).collect()
    };
    match headers {
        Value::Object(by_name) => {
            let all = by_name
                .iter()
                .flat_map(|(name, values)| texts(values).into_iter().map(move |value| (name, value)));
            all.map(|(name, value)| owned(name, &value)).collect()
        }
        Value::Array(list) if list.iter().all(Value::is_string) => {
            let pairs = texts(headers);
            pairs.chunks_exact(2).filter_map(|pair| Some(owned(pair.first()?, pair.get(1)?))).collect()
        }
        Value::Array(list) => {
            let pair = |header: &Value| Some(owned(header["name"].as_str()?, header["value"].as_str()?));
            list.iter().filter_map(pair).collect()
        }
        _ => Headers::new(),
    }
}

/// JSON, text, or a stream of events. Bodies in separate files are empty.
fn of_kind(body: &Value) -> Option<Cow<'_, [u8]>> {
    let text = |name: &str| body.get(name)?.as_str();
    match text("kind")? {
        "json" => Some(Cow::Owned(body.get("value")?.to_string().into_bytes())),
        "text" => Some(Cow::Borrowed(text("value").or_else(|| text("text"))?.as_bytes())),
        "base64" => base64::decode(text("value")?).map(Cow::Owned),
        "sse" => {
            let events = body.get("chunks")?.as_array()?.iter().filter_map(Value::as_str);
            let framed = events.flat_map(|event| [event.trim_end_matches('\n'), "\n\n"]);
            Some(Cow::Owned(framed.collect::<String>().into_bytes()))
        }
        "binary" | "empty" | "none" => Some(Cow::Borrowed(b"")),
        _ => None,
    }
}

/// A text, an object with it, or a list of its chunks. Some recorders keep JSON unchanged.
fn bytes(body: &Value) -> Cow<'_, [u8]> {
    if let Some(bytes) = of_kind(body) {
        return bytes;
    }
    if let Some(text) = body.as_str().or_else(|| body["string"].as_str()) {
        return Cow::Borrowed(text.as_bytes());
    }
    if let Some(bytes) = BASE64.iter().find_map(|name| base64::decode(body.get(name)?.as_str()?)) {
        return Cow::Owned(bytes);
    }
    let is_piece = |piece: &Value| piece.is_string() || BASE64.iter().any(|name| piece.get(name).is_some());
    match body {
        Value::Null => Cow::Borrowed(b""),
        Value::Array(pieces) if !pieces.is_empty() && pieces.iter().all(is_piece) => {
            Cow::Owned(pieces.iter().map(bytes).collect::<Vec<_>>().concat())
        }
        other => Cow::Owned(other.to_string().into_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_and_responses_are_no_recordings() {
        assert!(!is_recorded(r#"{"type":"response.created","request":{},"response":{}}"#));
        assert!(!is_recorded(r#"{"object":"list","interactions":[]}"#));
        assert!(!is_recorded(r#"{"response":{}}"#));
        assert!(!is_recorded("[]"));
    }
}
