//! Detection of recordings of other APIs.

use spec::{APIS, Api, api_of_event, api_of_value, foreign_at, json};

use super::Frame;

/// Returns the API of a URL if it is another one, and whether the URL belongs to this one; without one, to any API of the
/// suite.
pub(crate) fn at_url(url: &str, own: Option<&Api>) -> (Option<&'static str>, bool) {
    let path = url.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
    let known = own.into_iter().chain(APIS.iter().copied()).find(|api| api.has_path(path));
    if let Some(api) = known {
        let is_own = own.is_none_or(|own| own.name == api.name);
        return (Some(api.title).filter(|_| !is_own), is_own);
    }
    (foreign_at(path).map(|api| api.name), false)
}

/// Returns whether a URL belongs to an API that is known.
pub(super) fn is_known(url: &str) -> bool {
    APIS.iter().any(|api| url.contains(api.path)) || at_url(url, None).0.is_some()
}

/// Returns the API of a response by its first event or body, if it is not this one; without one, if it is none of the
/// suite. If the response is inconclusive, it is the one that was asked.
pub(crate) fn of_answer(
    own: Option<&Api>,
    asked: Option<&'static str>,
    frame: &Frame<'_>,
) -> Option<&'static str> {
    let data = frame.data.as_deref()?;
    let kind = json::string_member(data, "type");
    let event = kind.as_deref().or(frame.event.as_deref()).unwrap_or_default();
    let is_own = |api: &&Api| own.is_none_or(|own| own.name == api.name);
    let mut own_apis = APIS.iter().copied().filter(|api| is_own(api));
    if own_apis.any(|api| api.signature.pattern(event).is_some() || api.signature.value(data).is_some()) {
        return None;
    }
    api_of_event(event, own).or_else(|| api_of_value(data, own)).or(asked)
}

/// Returns whether an object without a known type is an event of any API.
pub(super) fn is_event(text: &str) -> bool {
    let kind = json::string_member(text, "type").unwrap_or_default();
    api_of_event(&kind, None).or_else(|| api_of_value(text, None)).is_some()
}

/// Returns the API of the suite that has an event.
pub(crate) fn own_api(kind: &str, data: &str) -> Option<&'static Api> {
    let has = |api: &&&Api| api.signature.pattern(kind).is_some() || api.signature.value(data).is_some();
    APIS.iter().find(has).copied()
}

#[cfg(test)]
mod tests {
    use spec::table::apis;

    use super::*;

    #[test]
    fn urls_tell_the_api() {
        let at_url = |url| at_url(url, Some(&apis::RESPONSES));
        assert_eq!(at_url("https://a.test/v1/responses?stream=true"), (None, true));
        assert_eq!(at_url("https://a.test/openai/responses/resp_1/"), (None, true));
        assert_eq!(at_url("/v1/messages"), (Some("Anthropic Messages"), false));
        assert_eq!(
            at_url("https://a.test/v1beta/models/m:streamGenerateContent?alt=sse"),
            (Some("Gemini"), false)
        );
        assert_eq!(at_url("https://a.test/v1/openai/chat/completions/"), (Some("Chat Completions"), false));
        assert_eq!(at_url("https://a.test/my/gateway"), (None, false));
    }

    #[test]
    fn answers_tell_the_api() {
        let of = |asked, event: Option<&str>, data: &str| {
            let frame = Frame {
                data: Some(data.to_owned().into()),
                event: event.map(|name| name.to_owned().into()),
                ..Frame::default()
            };
            of_answer(Some(&apis::RESPONSES), asked, &frame)
        };
        assert_eq!(of(None, None, r#"{"type":"message_start","message":{}}"#), Some("Anthropic Messages"));
        assert_eq!(
            of(None, None, r#"{"type":"message","role":"assistant","stop_reason":null}"#),
            Some("Anthropic Messages")
        );
        assert_eq!(
            of(None, None, r#"{"id":"c","object":"chat.completion.chunk"}"#),
            Some("Chat Completions")
        );
        assert_eq!(of(None, None, r#"{"choices":[{"delta":{}}]}"#), Some("Chat Completions"));
        let azure = r#"{"choices":[],"created":0,"id":"","model":"","object":"","prompt_filter_results":[]}"#;
        assert_eq!(of(None, None, azure), Some("Chat Completions"));
        let mcp = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#;
        assert_eq!(of(None, Some("message"), mcp), Some("MCP"));
        assert_eq!(of(None, None, r#"{"candidates":[]}"#), Some("Gemini"));
        assert_eq!(of(None, None, r#"{"type":"session.created","session":{}}"#), Some("the Realtime API"));
        let run = r#"{"id":"run_1","object":"thread.run"}"#;
        assert_eq!(of(None, Some("thread.run.created"), run), Some("the Assistants API"));
        let ollama = r#"{"model":"m","created_at":"2026-01-01T00:00:00Z","message":{},"done":false}"#;
        assert_eq!(of(None, None, ollama), Some("Ollama"));
        // An unknown event may be a fault in our API.
        for data in
            [r#"{"type":"response.created"}"#, r#"{"object":"response"}"#, r#"{"type":"ping"}"#, "[]", "x"]
        {
            assert_eq!(of(None, None, data), None, "{data}");
        }
        assert_eq!(of(None, Some("response.created"), "{}"), None);
        // Of the APIs of the suite, none is another one.
        let of_any = |data: &str| {
            of_answer(None, None, &Frame { data: Some(data.to_owned().into()), ..Frame::default() })
        };
        for data in [azure, r#"{"type":"message_start"}"#, r#"{"object":"response"}"#, r#"{"choices":[]}"#] {
            assert_eq!(of_any(data), None, "{data}");
        }
        assert_eq!((of_any(mcp), of_any(r#"{"candidates":[]}"#)), (Some("MCP"), Some("Gemini")));
        // If the response is inconclusive, the URL decides.
        assert_eq!(of(Some("Gemini"), None, r#"{"error":{}}"#), Some("Gemini"));
        assert_eq!(of(Some("Chat Completions"), None, r#"{"type":"response.created"}"#), None);
    }
}
