//! HTTP archives, version 1.2, as browsers and proxies save them.

use std::borrow::Cow;
use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::websocket;
use crate::capture::on_disk::OnDisk;
use crate::capture::other_api::is_known;
use crate::capture::pack::base64;
use crate::capture::pack::body::Body;
use crate::capture::source::{line_of, malformed, offset_in};
use crate::capture::{CaptureError, Format, Recorder};
use checker::{Entry, Exchange, Headers};

#[derive(Deserialize)]
struct Archive<'a> {
    #[serde(borrow)]
    log: Log<'a>,
}

#[derive(Deserialize)]
struct Log<'a> {
    #[serde(borrow)]
    entries: Vec<&'a RawValue>,
}

/// The part of an entry that decides whether it is skipped.
#[derive(Deserialize)]
struct Asked {
    request: Addressed,
}

#[derive(Deserialize)]
struct Addressed {
    url: String,
}

#[derive(Deserialize)]
struct Recorded {
    request: Request,
    response: Response,
    #[serde(default, rename = "_webSocketMessages")]
    messages: Vec<Message>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Request {
    method: String,
    url: String,
    headers: Vec<Header>,
    #[serde(rename = "postData")]
    body: Option<Posted>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Posted {
    text: String,
}

#[derive(Deserialize)]
struct Response {
    status: u16,
    #[serde(default)]
    headers: Vec<Header>,
    #[serde(default)]
    content: Content,
}

#[derive(Deserialize)]
struct Header {
    name: String,
    value: String,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Content {
    mime_type: String,
    text: String,
    encoding: String,
}

#[derive(Deserialize)]
struct Message {
    r#type: String,
    /// Seconds since 1970.
    time: f64,
    data: String,
}

/// The type of a stream.
const STREAM: &str = "text/event-stream";

/// Other requests of a browser are skipped, and an entry that cannot be read costs only itself.
pub(in crate::capture) fn read(bytes: &[u8], sink: &mut impl FnMut(Entry<'_>)) -> Result<(), CaptureError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let archive: Archive<'_> =
        serde_json::from_slice(bytes).map_err(|error| malformed(Format::Har, &error))?;
    let mut outcome = Ok(());
    let mut on_disk = OnDisk::new(bytes);
    for (index, raw) in archive.log.entries.iter().enumerate() {
        let entry: Recorded = match serde_json::from_str(raw.get()) {
            Ok(entry) => entry,
            Err(error) => {
                let asked: Option<Asked> = serde_json::from_str(raw.get()).ok();
                let is_meant =
                    || raw.get().contains(STREAM) || asked.is_none_or(|asked| is_known(&asked.request.url));
                // Only the first error is reported.
                if outcome.is_ok() && is_meant() {
                    let before = line_of(bytes, offset_in(bytes, raw.get()));
                    let line = before + (error.line() as u64).saturating_sub(1);
                    let text = error.to_string();
                    let problem = text.split(" at line ").next().unwrap_or_default();
                    let problem = format!("entry {}: {problem}", index + 1);
                    outcome = Err(CaptureError::Malformed { format: Format::Har, line, problem });
                }
                continue;
            }
        };
        let exchange = entry.exchange(index + 1);
        let url = &entry.request.url;
        if !exchange.is_stream() && !is_known(url) {
            continue;
        }
        let body = Body::new(&exchange, (0, 1));
        sink(Entry::Exchange(exchange));
        let content = entry.response.content.body().ok_or_else(|| CaptureError::Malformed {
            format: Format::Har,
            line: 1,
            problem: format!("the body of entry {} is not valid base64, as its encoding states", index + 1),
        });
        if entry.messages.is_empty() {
            outcome = outcome.and(
                content.and_then(|content| body.read(&content, &mut |frame| sink(on_disk.placed(frame)))),
            );
        }
        for (number, message) in entry.messages.iter().enumerate() {
            message.hand_out(number as u64 + 1, entry.messages[0].time, sink);
        }
    }
    outcome
}

impl Recorded {
    fn exchange(&self, number: usize) -> Exchange<'_> {
        let mut headers = pairs(&self.response.headers);
        if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type")) {
            headers.push(("content-type".into(), (&*self.response.content.mime_type).into()));
        }
        let url = Recorder::new().url(&self.request.url);
        Exchange {
            label: Some(format!("entry {number}, {} {url}", self.request.method)),
            number: None,
            status: Some(self.response.status),
            headers,
            request: Some(self.request.read()),
        }
    }
}

fn pairs(headers: &[Header]) -> Headers<'_> {
    headers.iter().map(|header| (Cow::Borrowed(&*header.name), Cow::Borrowed(&*header.value))).collect()
}

impl Request {
    fn read(&self) -> checker::Request<'_> {
        checker::Request {
            method: Cow::Borrowed(&self.method),
            url: Cow::Borrowed(&self.url),
            headers: pairs(&self.headers),
            body: self.body.as_ref().map(|body| Cow::Borrowed(&*body.text)),
        }
    }
}

impl Content {
    fn body(&self) -> Option<Cow<'_, [u8]>> {
        match self.encoding.as_str() {
            "base64" => base64::decode(&self.text).map(Cow::Owned),
            _ => Some(Cow::Borrowed(self.text.as_bytes())),
        }
    }
}

impl Message {
    fn hand_out(&self, line: u64, first: f64, sink: &mut impl FnMut(Entry<'_>)) {
        let time = Duration::try_from_secs_f64(self.time - first).ok();
        let frame = websocket::frame(&self.data, line, time);
        sink(if self.r#type == "send" { Entry::Sent(frame) } else { Entry::Event(frame) });
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn an_entry_that_cannot_be_read_costs_only_itself() {
        let entry = |url: &str, response: Value| json!({"request": {"method": "POST", "url": url}, "response": response});
        let stream =
            json!({"status": 200, "content": {"mimeType": "text/event-stream", "text": "data: {}\n\n"}});
        let known = "http://h.test/v1/responses";
        let archive = |odd: &[Value]| {
            let entries: Vec<Value> = odd.iter().cloned().chain([entry(known, stream.clone())]).collect();
            json!({"log": {"entries": entries}}).to_string()
        };
        let read = |archive: &str| {
            let mut events = 0;
            let outcome = read(archive.as_bytes(), &mut |entry| {
                events += usize::from(matches!(entry, Entry::Event(_)));
            });
            (events, outcome.err().map(|error| error.to_string()))
        };
        let (events, error) =
            read(&archive(&[entry(known, Value::Null), entry("http://h.test/a.js", Value::Null)]));
        assert_eq!(events, 1);
        assert!(error.is_some_and(|error| error.contains("entry 1: ") && !error.contains("entry 2")));
        assert_eq!(read(&archive(&[entry("http://h.test/a.js", json!({"status": -1}))])), (1, None));
        assert!(read(&archive(&[json!(1)])).1.is_some_and(|error| error.starts_with("line 1: entry 1: ")));
    }
}
