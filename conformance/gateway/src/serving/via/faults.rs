//! Faults of the reference translator. Those of what it translates are in `translation`.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use catalogue::BETWEEN_RULES;
use serde_json::{Value, json};
use spec::Dialect;
use translation::{Crowd, break_turn};

use crate::content::problem::Problem;
use crate::rendering::wire::Wire;

/// The header with the advice whether to send a refused request again.
pub(super) const SHOULD_RETRY: &str = "x-should-retry";

/// Returns the faults of the reference translator: the rules of what passes through a gateway. It can break each of them.
pub fn via_faults() -> Vec<&'static str> {
    let mut all: Vec<&str> = BETWEEN_RULES.iter().map(|rule| rule.id).collect();
    all.sort_unstable();
    all
}

/// The fault of a translator, and what it remembers from one request to the next.
#[derive(Debug)]
pub(super) struct FaultState {
    pub(super) rule: Option<String>,
    pub(super) crowd: Arc<Crowd>,
    /// Whether the next request is refused.
    is_blocked: AtomicBool,
    /// Number of requests so far.
    requests: AtomicU64,
    /// The first agent and its first text, which others get.
    first: Mutex<Option<[String; 2]>>,
}

impl FaultState {
    pub(super) fn new(rule: Option<&str>) -> io::Result<Self> {
        if let Some(rule) = rule.filter(|rule| !via_faults().contains(rule)) {
            let problem = format!("no fault is named {rule:?}; there are {}", via_faults().join(", "));
            return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
        }
        let rule = rule.map(str::to_owned);
        let (is_blocked, requests, first) = Default::default();
        Ok(Self { rule, crowd: Arc::default(), is_blocked, requests, first })
    }

    pub(super) fn is_at(&self, rule: &str) -> bool {
        self.rule.as_deref() == Some(rule)
    }

    pub(super) fn failed(&self) {
        if self.is_at("fault/next") || self.is_at("session/recovers") {
            self.is_blocked.store(true, Ordering::SeqCst);
        }
    }

    pub(super) fn break_turn(&self, request: &mut Value) -> bool {
        let number = self.requests.fetch_add(1, Ordering::SeqCst);
        let rule = self.rule.as_deref().unwrap_or_default();
        let is_mixed = self.is_at("session/lanes-apart");
        if is_mixed {
            self.mix(request);
        }
        break_turn(rule, request, number) || is_mixed
    }

    fn mix(&self, request: &mut Value) {
        let names = |request: &Value| request.get("tools").map(Value::to_string).unwrap_or_default();
        let agent = names(request) + &request.get("model").map(Value::to_string).unwrap_or_default();
        let user = ["messages", "input"].into_iter().find_map(|name| {
            let all = request.get(name)?.as_array()?;
            let place = all.iter().position(|it| it.get("role").and_then(Value::as_str) == Some("user"))?;
            Some((name, place))
        });
        let Some(content) = user.map(|(name, place)| &mut request[name][place]["content"]) else { return };
        let text = match &*content {
            Value::String(text) => text.clone(),
            blocks => {
                let mut all = blocks.as_array().into_iter().flatten().rev();
                all.find_map(|block| block.get("text")?.as_str()).unwrap_or_default().to_owned()
            }
        };
        let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        let [known, foreign] = first.get_or_insert_with(|| [agent.clone(), text.clone()]);
        if *known != agent {
            let block = |text: &str| json!({"type": "text", "text": text});
            match content {
                Value::Array(blocks) => blocks.insert(0, block(foreign)),
                content => *content = json!([block(foreign), block(&text)]),
            }
        }
    }

    pub(super) fn break_refusal(&self, response: &mut Response, front: &Dialect) {
        let status = response.status();
        if status.as_u16() < 400 {
            return;
        }
        if self.is_at("contract/error-token")
            && [StatusCode::BAD_REQUEST, StatusCode::PAYLOAD_TOO_LARGE].contains(&status)
        {
            let message = "capability_rejected: other".to_owned();
            let problem = Problem { message, ..Problem::of_status(status.as_u16()) };
            *response.body_mut() = Wire::refused(&problem, front.api).body.into();
            response.headers_mut().remove(header::CONTENT_LENGTH);
        }
        if self.is_at("contract/status") {
            *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
        }
        let headers = response.headers_mut();
        if self.is_at("contract/retry-after") {
            headers.remove(header::RETRY_AFTER);
        }
        if self.is_at("contract/should-retry") {
            headers.remove(SHOULD_RETRY);
        }
    }

    pub(super) fn break_headers(&self, headers: &mut HeaderMap) {
        if self.is_at("contract/beta") {
            headers.remove("anthropic-beta");
        }
        if self.is_at("contract/version") {
            headers.insert("anthropic-version", HeaderValue::from_static("2023-01-01"));
        }
    }

    pub(super) fn refuses_next(&self) -> bool {
        self.is_blocked.swap(false, Ordering::SeqCst)
    }
}
