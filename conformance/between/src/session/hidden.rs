//! Sessions without the texts of their users.

use std::hash::RandomState;

use recordings::capture::{Shaper, is_public_header};
use spec::Api;

use super::{RecordedRequest, Session};

/// Headers that tell agents apart, or that gateways owe their upstreams.
const KEPT: [&str; 4] = ["anthropic-", "openai-", "x-stainless-", "x-app"];

/// Values of parameters that hide nothing.
const FLAGS: [&str; 2] = ["true", "false"];

impl Session {
    /// The same session with filler in place of texts. Texts that begin alike for so many characters do so in the filler, so that
    /// the verdicts on caches stay; ids, names of models and tools, and words of the protocol stay, too.
    #[must_use]
    pub fn hidden(&self) -> Self {
        let key = RandomState::new();
        let requests = self.requests.iter().map(|request| hidden(request, self.front.api, &key)).collect();
        Self { requests, ..self.clone() }
    }
}

fn hidden(request: &RecordedRequest, api: &Api, key: &RandomState) -> RecordedRequest {
    let headers = |all: &[(String, String)]| {
        let value = |(name, value): &(String, String)| {
            let is_kept = is_public_header(name) || KEPT.iter().any(|kept| name.starts_with(kept));
            let value = if is_kept { value.clone() } else { Shaper::keyed(key).text(value) };
            (name.clone(), value)
        };
        all.iter().map(value).collect()
    };
    // A key may be among the parameters.
    let parameter = |pair: &str| match pair.split_once('=') {
        Some((name, value)) if !api.parameters().any(|public| public == name) && !FLAGS.contains(&value) => {
            format!("{name}={}", Shaper::keyed(key).text(value))
        }
        _ => pair.to_owned(),
    };
    let query = |query: &String| query.split('&').map(parameter).collect::<Vec<_>>().join("&");
    let response = Shaper::keyed(key).body(request.response.as_bytes(), &[]).body;
    RecordedRequest {
        query: request.query.as_ref().map(query),
        headers: headers(&request.headers),
        body: Shaper::keyed(key).json(&request.body),
        response_headers: headers(&request.response_headers),
        response: String::from_utf8_lossy(&response).into_owned(),
        ..request.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_secret_is_left_of_a_request() {
        let request = RecordedRequest {
            query: Some("alt=sse&key=AIza-secret&beta=true".to_owned()),
            headers: [("user-agent", "agent/1"), ("x-team", "secret")]
                .map(|(name, value)| (name.into(), value.into()))
                .into(),
            body: r#"{"contents":[{"parts":[{"text":"secret"}]}]}"#.to_owned(),
            response: "data: {\"text\":\"secret\"}\n\n".to_owned(),
            ..RecordedRequest::default()
        };
        let gemini = spec::dialect("gemini").unwrap().api;
        let hidden = hidden(&request, gemini, &RandomState::new());
        let query = hidden.query.clone().unwrap();
        assert!(query.starts_with("alt=sse&key=") && query.ends_with("&beta=true"), "{query}");
        assert_eq!(hidden.headers[0], ("user-agent".to_owned(), "agent/1".to_owned()));
        assert!(!format!("{hidden:?}").contains("secret"), "{hidden:?}");
    }
}
