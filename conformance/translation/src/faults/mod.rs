//! Faults of the translator: each breaks the rule whose name it has, and changes nothing else.

mod replies;
mod requests;
mod sessions;

use serde_json::Value;

use crate::Question;

pub use replies::Crowd;
pub(crate) use replies::{ReplyFault, is_at};
use requests::REQUESTS;
pub use sessions::{break_turn, lessen};

/// The fault that makes a request invalid.
const SCHEMA: &str = "request/schema";

/// Changes a question, if the fault is one of questions.
pub fn break_question(rule: &str, question: &mut Question) {
    if let Some((_, change)) = REQUESTS.iter().find(|(known, _)| *known == rule) {
        change(question);
    }
}

/// Changes a request as it is written, if the fault is one of its form.
pub fn break_request(rule: &str, request: &mut Value) {
    if let Some(request) = request.as_object_mut().filter(|_| rule == SCHEMA) {
        request.insert("service_tier".to_owned(), Value::from(5));
    }
}
