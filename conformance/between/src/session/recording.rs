//! Sessions in recordings with requests, such as HAR, cassettes, and the exchanges of this suite.

use std::io;

use checker::{Entry, Exchange, Frame, Loss};
use recordings::capture::{self, REDACTED};
use spec::Api;

use super::RecordedRequest;

/// Headers of one connection, of the body as it was sent, and keys: the suite sends its own.
const OWN: [&str; 15] = [
    "host",
    "connection",
    "content-length",
    "transfer-encoding",
    "te",
    "trailer",
    "upgrade",
    "expect",
    "accept-encoding",
    "content-encoding",
    "cookie",
    "set-cookie",
    "date",
    "proxy-authorization",
    "authorization",
];

#[derive(Debug, Default)]
pub(super) struct FileExchange {
    pub(super) method: String,
    pub(super) target: String,
    pub(super) is_answered: bool,
    /// With all headers, and without what its target says.
    pub(super) recorded: RecordedRequest,
}

impl FileExchange {
    pub(super) fn request(self, api: &Api) -> RecordedRequest {
        let (path, query) = match self.target.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (&*self.target, None),
        };
        let asked = api.asked_at(path);
        RecordedRequest {
            at: asked.map(|(model, is_stream)| api.path_for(model, is_stream)).unwrap_or_default(),
            query: query.map(str::to_owned),
            headers: kept(self.recorded.headers, api),
            response_headers: kept(self.recorded.response_headers, api),
            ..self.recorded
        }
    }

    fn of(head: &Exchange<'_>) -> Self {
        let request = head.request.clone().unwrap_or_default();
        let texts = |pairs: &checker::Headers<'_>| {
            pairs.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect()
        };
        // Without scheme and host.
        let target = request.url.split_once("://").map_or(&*request.url, |(_, rest)| {
            rest.find('/').and_then(|at| rest.get(at..)).unwrap_or_default()
        });
        Self {
            method: request.method.to_string(),
            target: target.to_owned(),
            is_answered: head.status.is_some(),
            recorded: RecordedRequest {
                headers: texts(&request.headers),
                body: request.body.unwrap_or_default().into_owned(),
                status: head.status.unwrap_or_default(),
                response_headers: texts(&head.headers),
                ..RecordedRequest::default()
            },
        }
    }
}

/// With names in lower case, and without those that the suite sends itself.
fn kept(headers: Vec<(String, String)>, api: &Api) -> Vec<(String, String)> {
    let is_key = |name: &str| api.request.keys.iter().any(|(key, _)| key.eq_ignore_ascii_case(name));
    let all = headers.into_iter().map(|(name, value)| (name.to_ascii_lowercase(), value));
    all.filter(|(name, value)| !OWN.contains(&&**name) && !is_key(name) && value != REDACTED).collect()
}

pub(super) fn read(bytes: &[u8]) -> io::Result<Vec<FileExchange>> {
    let mut all: Vec<FileExchange> = Vec::new();
    let read = capture::read(bytes, None, &mut |entry| match (entry, all.last_mut()) {
        (Entry::Exchange(head), _) => all.push(FileExchange::of(&head)),
        (Entry::Event(frame), Some(last)) => write(&frame, &mut last.recorded.response),
        (Entry::Body(frame), Some(last)) => {
            last.recorded.response += frame.data.as_deref().unwrap_or_default();
        }
        (Entry::Lost(loss), Some(last)) => last.recorded.is_cut |= matches!(loss, Loss::Broken(_)),
        _ => {}
    });
    read.map_err(|error| io::Error::other(error.to_string()))?;
    if all.iter().all(|exchange| exchange.method.is_empty()) {
        let problem =
            "it has no requests: it is neither a session (docs/sessions.md) nor a recording with requests";
        return Err(io::Error::other(problem));
    }
    Ok(all)
}

/// The event as a server writes it.
fn write(frame: &Frame<'_>, out: &mut String) {
    let mut field = |name: &str, value: &str| {
        for line in value.split('\n') {
            out.extend([name, line, "\n"]);
        }
    };
    frame.comments.iter().for_each(|comment| field(":", comment));
    for (name, value) in
        [("event: ", &frame.event), ("id: ", &frame.id), ("retry: ", &frame.retry), ("data: ", &frame.data)]
    {
        if let Some(value) = value {
            field(name, value);
        }
    }
    if frame.terminated {
        out.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_recording_of_a_browser_is_a_session() {
        let stream = ": hold\n\nevent: a\ndata: {\"type\":\"a\"}\n\ndata: 1\ndata: 2\n\n";
        let entry = |url: &str, key: &str, text: &str| {
            json!({
                "request": {"method": "POST", "url": url, "headers": [{"name": "X-Api-Key", "value": key},
                    {"name": "Anthropic-Beta", "value": "b"}], "postData": {"text": "{\"messages\":[]}"}},
                "response": {"status": 200, "headers": [{"name": "Content-Type", "value": "text/event-stream"}],
                    "content": {"mimeType": "text/event-stream", "text": text}},
            })
        };
        let url = "https://a.test/v1/messages?beta=true";
        let har =
            json!({"log": {"entries": [entry(url, "secret", stream), entry("https://a.test", "", "")]}});
        let all = read(har.to_string().as_bytes()).unwrap();
        assert_eq!(all.iter().map(|it| &*it.target).collect::<Vec<_>>(), ["/v1/messages?beta=true", ""]);
        let api = spec::dialect("anthropic").unwrap().api;
        let request = all.into_iter().next().unwrap().request(api);
        assert_eq!(request.headers, [("anthropic-beta".to_owned(), "b".to_owned())]);
        assert_eq!((&*request.body, request.status, &*request.response), ("{\"messages\":[]}", 200, stream));
        let bare = read(stream.as_bytes()).unwrap_err().to_string();
        assert!(bare.starts_with("it has no requests"), "{bare}");
    }
}
