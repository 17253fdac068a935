//! The upstream's answers to the requests of a session.

use serde_json::Value;
use spec::Dialect;
use translation::{Question, Translator};

use super::{RecordedRequest, Session};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RecordedAnswer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    pub(crate) is_cut: bool,
}

/// Time of answers that are rendered in another API.
const NOW: u64 = 1_785_000_000;
/// Headers that other APIs have, too.
const SHARED: [&str; 2] = ["retry-after", "x-should-retry"];
const CONTENT_TYPE: &str = "content-type";

/// A gateway that repeats a request which was refused, and changes it, gets the answer
/// to the next request that was not refused.
pub(crate) fn answer(
    session: &Session,
    dialect: &'static Dialect,
    turn: usize,
    is_changed: bool,
    asked: &Value,
) -> Option<RecordedAnswer> {
    let own = session.requests.get(turn)?;
    let is_good = |request: &&RecordedRequest| request.status < 400 && !request.is_cut;
    let next = session.requests.iter().skip(turn + 1).find(is_good);
    let request = next.filter(|_| is_changed && own.status >= 400).unwrap_or(own);
    Some(rendered(request, session.front, dialect, asked))
}

fn rendered(
    request: &RecordedRequest,
    front: &'static Dialect,
    dialect: &'static Dialect,
    asked: &Value,
) -> RecordedAnswer {
    let RecordedRequest { status, is_cut, .. } = *request;
    let body = request.response.as_bytes();
    let content_type = request.response_headers.iter().find(|(name, _)| name == CONTENT_TYPE);
    let is_stream = content_type.is_some_and(|(_, value)| value.starts_with("text/event-stream"));
    let is_json = serde_json::from_slice::<Value>(body).is_ok_and(|body| body.is_object());
    if front.api.name == dialect.api.name || !(is_stream || is_json) {
        let headers = request.response_headers.clone();
        return RecordedAnswer { status, headers, body: body.to_vec(), is_cut };
    }
    let question = Question::read(dialect.api, asked);
    let mut translator = Translator::new(dialect, front, &question, asked, NOW);
    let shared = request.response_headers.iter().filter(|(name, _)| SHARED.contains(&&**name));
    let mut headers: Vec<(String, String)> = shared.cloned().collect();
    let content_type = if is_stream { "text/event-stream" } else { "application/json" };
    headers.push((CONTENT_TYPE.to_owned(), content_type.to_owned()));
    let (status, body) = if is_stream {
        (status, translator.push(body))
    } else {
        let (status, body) = translator.body(status, body);
        (status, body.to_string().into_bytes())
    };
    RecordedAnswer { status, headers, body, is_cut }
}
