//! A recorder of exchanges that removes secrets.

use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::capture::pack::base64;
use checker::{Exchange, Headers, Loss, Request};
use spec::{APIS, UNKNOWN_KEY};

pub(super) const VERSION: u64 = 1;

/// A recorder that converts an exchange to lines of JSON while it happens. It does no I/O and reads no clock:
/// the caller passes times, counted from the start of the request, and stores the lines.
///
/// Values of headers and of query parameters are only recorded if they are known to be harmless. Credentials of tools
/// are removed from request bodies. Chunks are recorded unchanged.
///
/// ```
/// use std::time::Duration;
/// use recordings::capture::{End, Exchange, Recorder, Request};
///
/// let recorder = Recorder::new();
/// let mut recording = recorder.begin(&Exchange {
///     status: Some(200),
///     headers: vec![("content-type".into(), "text/event-stream".into())],
///     request: Some(Request {
///         method: "POST".into(),
///         url: "https://gateway.test/v1/responses?api_key=abc".into(),
///         headers: vec![("authorization".into(), "Bearer abc".into())],
///         body: Some("{}".into()),
///     }),
///     ..Exchange::default()
/// });
/// recording += &recorder.chunk(Duration::from_millis(12), b"data: {}\n\n");
/// recording += &recorder.end(Duration::from_millis(13), End::Closed);
/// assert!(!recording.contains("abc"));
/// assert_eq!(recording.lines().count(), 3);
/// ```
#[derive(Debug, Clone, Default)]
pub struct Recorder {
    parameters: Vec<String>,
}

/// The end of a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End<'a> {
    /// A regular end.
    Closed,
    /// A lost connection, with the reason.
    Lost(Loss<'a>),
}

/// Placeholder of a redacted value.
pub const REDACTED: &str = "[redacted]";

/// Headers whose values are not secret.
const HEADERS: [&str; 42] = [
    "accept",
    "accept-encoding",
    "anthropic-beta",
    "cache-control",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "date",
    "host",
    "keep-alive",
    "openai-beta",
    "openai-processing-ms",
    "openai-version",
    "request-id",
    "retry-after",
    "retry-after-ms",
    "server",
    "strict-transport-security",
    "thread-id",
    "transfer-encoding",
    "upgrade",
    "user-agent",
    "vary",
    "via",
    "x-accel-buffering",
    "x-claude-code-agent-id",
    "x-litellm-attempted-fallbacks",
    "x-litellm-attempted-retries",
    "x-litellm-call-id",
    "x-litellm-model-id",
    "x-litellm-model-name",
    "x-litellm-timeout",
    "x-litellm-version",
    "x-ratelimit-limit-requests",
    "x-ratelimit-limit-tokens",
    "x-ratelimit-remaining-requests",
    "x-ratelimit-remaining-tokens",
    "x-ratelimit-reset-requests",
    "x-ratelimit-reset-tokens",
    "x-request-id",
    "x-should-retry",
];

/// Query parameters with public values, besides parameters of APIs.
const PARAMETERS: [&str; 1] = ["api-version"];

/// Members of a request whose strings are secrets, at any depth.
const SECRET_MEMBERS: [&str; 9] = [
    "access_token",
    "api-key",
    "api_key",
    "apikey",
    "authorization",
    "client_secret",
    "password",
    "secret",
    "token",
];

impl Recorder {
    /// Returns a recorder that keeps only values known to be harmless.
    pub fn new() -> Self {
        Self::default()
    }

    /// Also keeps the value of this query parameter.
    #[must_use]
    pub fn keep_parameter(mut self, name: impl Into<String>) -> Self {
        self.parameters.push(name.into());
        self
    }

    /// Returns the first line of an exchange, without a status if there was no response.
    pub fn begin(&self, exchange: &Exchange<'_>) -> String {
        let request = exchange.request.as_ref().map(|request| self.request(request));
        let status = exchange.status;
        let headers = redact(&exchange.headers);
        let response = status.map(|status| json!({ "status": status, "headers": headers }));
        line(&json!({ "exchange": VERSION, "request": request, "response": response }))
    }

    /// Returns the line of a chunk of the body.
    pub fn chunk(&self, at: Duration, bytes: &[u8]) -> String {
        line(&match std::str::from_utf8(bytes) {
            Ok(text) => json!({ "at": milliseconds(at), "text": text }),
            Err(_) => json!({ "at": milliseconds(at), "bytes": base64::encode(bytes) }),
        })
    }

    /// Returns the line of a WebSocket message from the client.
    pub fn sent(&self, at: Duration, message: &str) -> String {
        line(&json!({ "at": milliseconds(at), "sent": self.body(message) }))
    }

    /// Returns the line of a WebSocket message from the server.
    pub fn received(&self, at: Duration, message: &str) -> String {
        line(&json!({ "at": milliseconds(at), "received": message }))
    }

    /// Returns the last line of an exchange.
    pub fn end(&self, at: Duration, end: End<'_>) -> String {
        let (end, reason) = match end {
            End::Closed => ("closed", None),
            End::Lost(Loss::Left) => ("left", None),
            End::Lost(Loss::Interrupted) => ("interrupted", None),
            End::Lost(Loss::Unconnected(reason)) => ("unconnected", Some(reason)),
            End::Lost(Loss::Silent(reason)) => ("silent", Some(reason)),
            End::Lost(Loss::Broken(reason) | Loss::Cut(reason)) => ("lost", Some(reason)),
        };
        let at = milliseconds(at);
        line(&match reason {
            None => json!({ "at": at, "end": end }),
            Some(reason) => json!({ "at": at, "end": end, "reason": reason }),
        })
    }

    fn request(&self, request: &Request<'_>) -> Value {
        json!({
            "method": request.method,
            "url": self.url(&request.url),
            "headers": redact(&request.headers),
            "body": request.body.as_deref().map(|text| self.body(text)),
        })
    }

    /// Returns a URL without credentials, values of unknown parameters, and fragment.
    pub fn url(&self, url: &str) -> String {
        let url = url.split('#').next().unwrap_or_default();
        let (place, query) = url.split_once('?').map_or((url, None), |(place, query)| (place, Some(query)));
        let mut text = match place.split_once("://") {
            Some((scheme, rest)) => {
                let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
                let host = host.rsplit('@').next().unwrap_or_default();
                format!("{scheme}://{host}{path}")
            }
            None => place.to_owned(),
        };
        let parameter = |parameter: &str| match parameter.split_once('=') {
            Some((name, _)) if self.keeps(name) => parameter.to_owned(),
            Some((name, _)) => format!("{name}={REDACTED}"),
            // A parameter without a name is a value.
            None => REDACTED.to_owned(),
        };
        if let Some(query) = query {
            text.push('?');
            text += &query.split('&').map(parameter).collect::<Vec<_>>().join("&");
        }
        text
    }

    /// The value of the query parameter is not secret.
    fn keeps(&self, name: &str) -> bool {
        let of_apis = || APIS.iter().flat_map(|api| api.parameters());
        is_listed(name, &PARAMETERS, &self.parameters)
            || of_apis().any(|known| name.eq_ignore_ascii_case(known))
    }

    /// Returns the body of a request without secrets. Bodies other than JSON are dropped, as they could
    /// contain anything.
    pub fn body(&self, text: &str) -> String {
        let Ok(mut value) = serde_json::from_str::<Value>(text) else { return REDACTED.to_owned() };
        if hide(&mut value) { value.to_string() } else { text.to_owned() }
    }
}

/// Whether a header is known to have no secrets.
pub fn is_public_header(name: &str) -> bool {
    let mut of_apis = APIS.iter().flat_map(|api| api.request.headers);
    is_listed(name, &HEADERS, &[]) || of_apis.any(|(listed, _)| name.eq_ignore_ascii_case(listed))
}

fn redact(headers: &Headers<'_>) -> Vec<(String, String)> {
    let is_kept = |name: &str, value: &str| is_public_header(name) || value.ends_with(UNKNOWN_KEY);
    let value = |name: &str, value: &str| if is_kept(name, value) { value } else { REDACTED }.to_owned();
    headers.iter().map(|(name, text)| (name.to_string(), value(name, text))).collect()
}

fn is_listed(name: &str, known: &[&str], more: &[String]) -> bool {
    let mut all = known.iter().copied().chain(more.iter().map(String::as_str));
    all.any(|listed| name.eq_ignore_ascii_case(listed))
}

fn hide(value: &mut Value) -> bool {
    match value {
        Value::Array(values) => values.iter_mut().fold(false, |found, value| hide(value) | found),
        Value::Object(members) => hide_members(members),
        _ => false,
    }
}

fn hide_members(members: &mut Map<String, Value>) -> bool {
    let mut found = false;
    for (name, value) in members {
        found |= match value {
            Value::String(text) if SECRET_MEMBERS.iter().any(|secret| name.eq_ignore_ascii_case(secret)) => {
                REDACTED.clone_into(text);
                true
            }
            Value::Object(headers) if name.eq_ignore_ascii_case("headers") => {
                headers.values_mut().for_each(|header| *header = REDACTED.into());
                !headers.is_empty()
            }
            other => hide(other),
        };
    }
    found
}

/// Maximum time in a recording, about 35,000 years. Readers, which divide it by 1000, get exactly this time.
const LATEST: Duration = Duration::from_secs(1 << 40);

/// Rounded to microseconds.
fn milliseconds(at: Duration) -> Value {
    let at = at.min(LATEST);
    #[expect(clippy::cast_precision_loss, reason = "a recording does not last for centuries")]
    let milliseconds = at.as_micros() as f64 / 1000.0;
    if milliseconds.fract() == 0.0 { json!(at.as_millis()) } else { json!(milliseconds) }
}

fn line(value: &Value) -> String {
    let mut line = value.to_string();
    line.push('\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::{self, Entry, Format};

    const SECRET: &str = "sk-47110815";

    #[test]
    fn secrets_are_never_written() {
        let header = |name: &str, value: &str| (name.to_owned().into(), value.to_owned().into());
        let names = [
            "Authorization",
            "api-key",
            "X-API-Key",
            "Cookie",
            "Sec-WebSocket-Protocol",
            "Proxy-Authorization",
            "x-anything",
        ];
        let mut headers: Headers<'_> =
            names.iter().map(|name| header(name, &format!("Bearer {SECRET}"))).collect();
        headers.push(header("content-type", "application/json"));
        for url in [
            "https://a.test/v1/responses?api_key=S&key=S&token=S&stream=true",
            "https://a.test/v1/responses?S",
            "https://a.test/v1/responses?stream=true#S",
            "https://user:S@a.test/v1/responses",
            "https://S@a.test?KEY=S",
            "/v1/responses?a=1;key=S&api%5Fkey=S",
        ] {
            let body = format!(
                "{{\"tools\":[{{\"type\":\"mcp\",\"authorization\":\"{SECRET}\",\"headers\":{{\"x\":\"{SECRET}\"}}}}],\"a\":{{\"API_KEY\":\"{SECRET}\"}}}}"
            );
            let exchange = Exchange {
                status: Some(200),
                headers: vec![header("set-cookie", SECRET), header("Content-Type", "text/event-stream")],
                request: Some(Request {
                    method: "POST".into(),
                    url: url.replace('S', SECRET).into(),
                    headers: headers.clone(),
                    body: Some(body.into()),
                }),
                ..Exchange::default()
            };
            let recorder = Recorder::new();
            let lines = recorder.begin(&exchange)
                + &recorder
                    .sent(Duration::ZERO, &format!("{{\"tools\":[{{\"authorization\":\"{SECRET}\"}}]}}"))
                + &recorder.sent(Duration::ZERO, SECRET);
            assert!(!lines.contains("4711"), "{lines}");
            assert!(lines.contains("text/event-stream") && lines.contains("application/json"), "{lines}");
            assert!(!url.contains("stream=true") || lines.contains("stream=true"), "{lines}");
        }
    }

    #[test]
    fn what_is_harmless_stays_as_it_is() {
        let text = "{ \"model\" : \"m\", \"max_output_tokens\": 1.0, \"metadata\": {\"key\":\"a\"} }";
        let exchange = Exchange {
            request: Some(Request {
                url: "https://a.test/?x=1&y=2".into(),
                body: Some(text.into()),
                ..Request::default()
            }),
            ..Exchange::default()
        };
        let line = Recorder::new().keep_parameter("y").begin(&exchange);
        let value: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(value["request"]["body"], text);
        assert_eq!(value["request"]["url"], "https://a.test/?x=[redacted]&y=2");
        assert_eq!(value["response"], Value::Null);
    }

    #[test]
    fn the_longest_time_is_recorded_as_one_that_is_read() {
        let recorder = Recorder::new();
        let exchange = Exchange {
            status: Some(200),
            headers: vec![("content-type".into(), "text/event-stream".into())],
            ..Exchange::default()
        };
        for at in [LATEST, LATEST + Duration::from_nanos(1), Duration::MAX] {
            let text = recorder.begin(&exchange)
                + &recorder.chunk(at, b"data: 1\n\n")
                + &recorder.end(at, End::Closed);
            let mut times = Vec::new();
            let format = capture::read(text.as_bytes(), None, &mut |entry| match entry {
                Entry::Event(frame) => times.push(frame.time),
                Entry::Lost(reason) => panic!("{reason}"),
                _ => {}
            });
            assert_eq!((format, times), (Ok(Format::Exchange), vec![Some(LATEST)]), "{text}");
        }
        let lines = [recorder.sent(Duration::MAX, "{}"), recorder.received(Duration::MAX, "{}")];
        assert!(lines.iter().all(|line| line.contains("\"at\":1099511627776000,")), "{lines:?}");
    }

    #[test]
    fn what_is_written_is_read() {
        let recorder = Recorder::new();
        let exchange = Exchange {
            status: Some(200),
            headers: vec![("content-type".into(), "text/event-stream".into())],
            request: Some(Request {
                method: "POST".into(),
                url: "https://a.test/".into(),
                ..Request::default()
            }),
            ..Exchange::default()
        };
        let mut text = recorder.begin(&exchange);
        let ms = |micros| Duration::from_micros(micros);
        text += &recorder.chunk(ms(1001), b"data: 1\n\ndata: \xf0\x9f");
        text += &recorder.chunk(ms(2_000_000_123), b"\x98\x80\n\ndata: 3");
        text += &recorder.end(ms(3_000_000_000), End::Lost("reset by peer".into()));
        text += &recorder.begin(&Exchange { status: Some(101), ..exchange });
        text += &recorder.sent(ms(1), "{}");
        text += &recorder.received(ms(2), "[]");
        let mut seen = Vec::new();
        let format = capture::read(text.as_bytes(), None, &mut |entry| {
            seen.push(match entry {
                Entry::Exchange(exchange) => {
                    format!("{} {:?}", exchange.label.unwrap_or_default(), exchange.status)
                }
                Entry::Event(frame) => {
                    format!("{} {:?}", frame.data.unwrap_or_default(), frame.time.unwrap_or_default())
                }
                Entry::Sent(frame) => {
                    format!("> {} {:?}", frame.data.unwrap_or_default(), frame.time.unwrap_or_default())
                }
                Entry::Lost(reason) => format!("! {reason}"),
                Entry::Body(frame) => format!("{frame:?}"),
                Entry::Row(row) => format!("{row:?}"),
            });
        });
        assert_eq!(format, Ok(Format::Exchange));
        let expected = [
            "exchange 1, POST https://a.test/ Some(200)",
            "1 1.001ms",
            "\u{1f600} 2000.000123s",
            "3 2000.000123s",
            "! reset by peer",
            "exchange 2, POST https://a.test/ Some(101)",
            "> {} 1\u{b5}s",
            "[] 2\u{b5}s",
            "! the recording is truncated here",
        ];
        assert_eq!(seen, expected);
    }
}
