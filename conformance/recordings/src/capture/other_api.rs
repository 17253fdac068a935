//! Detection of recordings of other APIs.

use std::borrow::Cow;

use checker::{MESSAGES_EVENTS, typed_protocol, untyped_protocol};
use spec::{APIS, json};

use super::Frame;

/// Path suffixes of other APIs.
const PATHS: [(&str, &str); 17] = [
    ("/messages", "Anthropic Messages"),
    ("/messages/count_tokens", "Anthropic Messages"),
    ("/chat/completions", "Chat Completions"),
    ("/completions", "Completions"),
    (":generateContent", "Gemini"),
    (":streamGenerateContent", "Gemini"),
    (":countTokens", "Gemini"),
    ("/interactions", "Gemini"),
    ("/converse", "Bedrock"),
    ("/converse-stream", "Bedrock"),
    ("/invoke", "Bedrock"),
    ("/invoke-with-response-stream", "Bedrock"),
    ("/embeddings", "Embeddings"),
    ("/moderations", "Moderations"),
    ("/images/generations", "Images"),
    ("/api/chat", "Ollama"),
    ("/api/generate", "Ollama"),
];

/// Returns the API of a URL if it is another one, and whether the URL belongs to an API of the suite.
pub(crate) fn at_url(url: &str) -> (Option<&'static str>, bool) {
    let path = url.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
    if APIS.iter().any(|api| api.has_path(path)) {
        return (None, true);
    }
    (PATHS.iter().find(|(end, _)| path.ends_with(end)).map(|(_, name)| *name), false)
}

/// Returns the API of a response by its first event or body, if it is another one.
pub(crate) fn of_answer(asked: Option<&'static str>, frame: &Frame<'_>) -> Option<&'static str> {
    let data = frame.data.as_deref()?;
    let member = |name| json::string_member(data, name);
    let has = |pointer| json::at(data, pointer).is_some();
    let event = member("type").or_else(|| frame.event.as_deref().map(Cow::Borrowed));
    let event = event.as_deref().unwrap_or_default();
    if APIS.iter().any(|api| event.starts_with(api.signature.event)) {
        return None;
    }
    let object = member("object");
    let object = object.as_deref().unwrap_or_default();
    if APIS.iter().any(|api| object.starts_with(api.signature.object)) {
        return None;
    }
    let seen = match (event, object) {
        (name, _) if typed_protocol(name).is_some() => typed_protocol(name),
        (name, _) if MESSAGES_EVENTS.contains(&name) => Some("Anthropic Messages"),
        // Other APIs also send pings.
        ("ping", _) if asked.is_some() => Some("Anthropic Messages"),
        ("message", _) if has("/stop_reason") => Some("Anthropic Messages"),
        _ if member("type").is_none() && untyped_protocol(data).is_some() => untyped_protocol(data),
        (_, "list") if has("/data/0/embedding") => Some("Embeddings"),
        _ => None,
    };
    seen.or(asked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_tell_the_api() {
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
            of_answer(asked, &frame)
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
        // If the response is inconclusive, the URL decides.
        assert_eq!(of(Some("Gemini"), None, r#"{"error":{}}"#), Some("Gemini"));
        assert_eq!(of(Some("Chat Completions"), None, r#"{"type":"response.created"}"#), None);
    }
}
