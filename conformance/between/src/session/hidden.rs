//! Sessions without the texts of their users.

use std::hash::RandomState;

use recordings::capture::{Shaper, is_public_header};

use super::{RecordedRequest, Session};

/// Headers that tell agents apart, or that gateways owe their upstreams.
const KEPT: [&str; 4] = ["anthropic-", "openai-", "x-stainless-", "x-app"];

impl Session {
    /// The same session with filler in place of texts. Texts that begin alike for so many characters do so in the filler, so that
    /// the verdicts on caches stay; ids, names of models and tools, and words of the protocol stay, too.
    #[must_use]
    pub fn hidden(&self) -> Self {
        let key = RandomState::new();
        let requests = self.requests.iter().map(|request| hidden(request, &key)).collect();
        Self { requests, ..self.clone() }
    }
}

fn hidden(request: &RecordedRequest, key: &RandomState) -> RecordedRequest {
    let headers = |all: &[(String, String)]| {
        let value = |(name, value): &(String, String)| {
            let is_kept = is_public_header(name) || KEPT.iter().any(|kept| name.starts_with(kept));
            let value = if is_kept { value.clone() } else { Shaper::keyed(key).text(value) };
            (name.clone(), value)
        };
        all.iter().map(value).collect()
    };
    let response = Shaper::keyed(key).body(request.response.as_bytes(), &[]).body;
    RecordedRequest {
        headers: headers(&request.headers),
        body: Shaper::keyed(key).json(&request.body),
        response_headers: headers(&request.response_headers),
        response: String::from_utf8_lossy(&response).into_owned(),
        ..request.clone()
    }
}
