//! The keys of a run: where they are seen, and how they are kept out of recordings.

use std::sync::Mutex;

use harness::lock;
use memchr::memmem;
use spec::Api;

use crate::evidence::{Exchanged, KeyPlace, Response, RunKey, SeenKey};

/// Number of characters below which a key is not looked for, as it occurs in any text.
const SHORT: usize = 8;

pub(crate) struct Keys {
    client: Option<String>,
    /// That of the gateway for the upstream, from the settings or from its first request.
    upstream: Mutex<Option<String>>,
}

impl Keys {
    pub(crate) fn new(client: Option<String>, upstream: Option<String>) -> Self {
        Self { client, upstream: Mutex::new(upstream) }
    }

    pub(crate) fn learn(&self, api: &Api, headers: &[(String, String)]) {
        let mut known = lock(&self.upstream);
        if known.is_some() {
            return;
        }
        let mut keys = api.request.with_key("").filter_map(|(name, prefix)| {
            let name = name.to_ascii_lowercase();
            let (_, value) = headers.iter().find(|(known, _)| *known == name)?;
            Some(value.strip_prefix(&*prefix)?.trim().to_owned())
        });
        *known = keys.find(|key| key.len() >= SHORT && Some(key) != self.client.as_ref());
    }

    fn all(&self) -> Vec<(RunKey, String)> {
        let upstream = lock(&self.upstream).clone();
        let client = self.client.clone().map(|key| (RunKey::Client, key));
        let all = client.into_iter().chain(upstream.map(|key| (RunKey::Upstream, key)));
        all.filter(|(_, key)| key.len() >= SHORT).collect()
    }

    pub(crate) fn secrets(&self) -> Vec<String> {
        self.all().into_iter().map(|(_, key)| key).collect()
    }

    pub(crate) fn hidden(&self, text: &str) -> String {
        self.all().iter().fold(text.to_owned(), |text, (key, value)| text.replace(value, placeholder(*key)))
    }

    pub(crate) fn hide_request(&self, exchange: &mut Exchanged) {
        for (key, value) in self.all() {
            let Exchanged { headers, body, keys, .. } = exchange;
            if hide_headers(headers, &value, key) {
                keys.push(SeenKey { key, place: KeyPlace::RequestHeaders });
            }
            if let Some(hidden) = hide(body, &value, key) {
                *body = hidden;
                keys.push(SeenKey { key, place: KeyPlace::RequestBody });
            }
        }
    }

    /// A body with a key becomes one piece, and the places of keys are noted.
    pub(crate) fn hide_response(&self, exchange: &mut Exchanged) {
        let Some(mut response) = exchange.response.take() else { return };
        for (key, value) in self.all() {
            if hide_headers(&mut response.headers, &value, key) {
                exchange.keys.push(SeenKey { key, place: KeyPlace::ResponseHeaders });
            }
            if let Some(hidden) = hide(&response.body(), &value, key) {
                let at = response.pieces.last().map(|(at, _)| *at).unwrap_or_default();
                response = Response { pieces: vec![(at, hidden)], ..response };
                exchange.keys.push(SeenKey { key, place: KeyPlace::ResponseBody });
            }
        }
        exchange.response = Some(response);
    }
}

const fn placeholder(key: RunKey) -> &'static str {
    match key {
        RunKey::Client => "[key of the client]",
        RunKey::Upstream => "[key of the upstream]",
    }
}

fn hide_headers(headers: &mut [(String, String)], value: &str, key: RunKey) -> bool {
    let mut is_seen = false;
    // Names of headers are written in lower case.
    let in_name = value.to_ascii_lowercase();
    for (name, header) in headers {
        if name.contains(&in_name) {
            *name = name.replace(&in_name, placeholder(key));
            is_seen = true;
        }
        if header.contains(value) {
            *header = header.replace(value, placeholder(key));
            is_seen = true;
        }
    }
    is_seen
}

/// `None` if the key is not there.
fn hide(bytes: &[u8], value: &str, key: RunKey) -> Option<Vec<u8>> {
    let (mut hidden, mut end) = (Vec::new(), 0);
    for at in memmem::find_iter(bytes, value) {
        hidden.extend_from_slice(&bytes[end..at]);
        hidden.extend_from_slice(placeholder(key).as_bytes());
        end = at + value.len();
    }
    hidden.extend_from_slice(&bytes[end..]);
    (end > 0).then_some(hidden)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_noted_and_hidden() {
        let keys = Keys::new(Some("sk-client-1".into()), None);
        let headers = |key: &str| vec![("authorization".to_owned(), format!("Bearer {key}"))];
        let api = spec::dialect("chat").unwrap().api;
        keys.learn(api, &headers("sk-client-1"));
        keys.learn(api, &headers("sk-upstream-1"));
        let mut exchange = Exchanged {
            headers: headers("sk-client-1"),
            body: br#"{"key":"sk-upstream-1"}"#.to_vec(),
            response: Some(Response {
                pieces: vec![
                    (std::time::Duration::ZERO, b"sk-cli".to_vec()),
                    (std::time::Duration::ZERO, b"ent-1!".to_vec()),
                ],
                ..Response::default()
            }),
            ..Exchanged::default()
        };
        exchange.headers.push(("x-sk-client-1-x".to_owned(), String::new()));
        keys.hide_request(&mut exchange);
        assert_eq!(exchange.headers.pop().unwrap().0, "x-[key of the client]-x");
        keys.hide_response(&mut exchange);
        assert_eq!(
            exchange.keys,
            [
                SeenKey { key: RunKey::Client, place: KeyPlace::RequestHeaders },
                SeenKey { key: RunKey::Upstream, place: KeyPlace::RequestBody },
                SeenKey { key: RunKey::Client, place: KeyPlace::ResponseBody },
            ]
        );
        assert_eq!(exchange.headers[0].1, "Bearer [key of the client]");
        assert_eq!(exchange.response.unwrap().body(), b"[key of the client]!");
        assert_eq!(keys.hidden("a sk-upstream-1"), "a [key of the upstream]");
    }
}
