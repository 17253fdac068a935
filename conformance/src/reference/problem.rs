//! Requests that are refused, and how that is told.

use serde_json::{Value, json};
use spec::Dialect;

use super::script::{text, wanted_status};

/// Why a request is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The status of the answer.
    pub status: u16,
    /// The type of the error.
    pub kind: &'static str,
    /// Its code.
    pub code: &'static str,
    /// What is wrong.
    pub message: String,
    /// Where in the request.
    pub param: Option<String>,
}

impl Problem {
    /// A request that cannot be understood.
    pub fn invalid(code: &'static str, message: impl Into<String>, param: Option<&str>) -> Self {
        let kind = "invalid_request_error";
        Self { status: 400, kind, code, message: message.into(), param: param.map(str::to_owned) }
    }

    /// Something that does not exist, or not any more.
    pub fn not_found(code: &'static str, message: impl Into<String>, param: Option<&str>) -> Self {
        Self { status: 404, ..Self::invalid(code, message, param) }
    }

    /// An error of a status that was asked for.
    fn of_status(status: u16) -> Self {
        let (kind, code) = match status {
            401 => ("invalid_request_error", "invalid_api_key"),
            429 => ("too_many_requests", "rate_limit_exceeded"),
            500.. => ("server_error", "server_error"),
            _ => ("invalid_request_error", "invalid_value"),
        };
        Self { status, kind, code, message: format!("A status of {status} was asked for."), param: None }
    }

    /// The body of the answer.
    pub fn body(&self) -> Value {
        let Self { kind, code, message, param, .. } = self;
        json!({"error": {"type": kind, "code": code, "message": message, "param": param}})
    }
}

/// Why a request is refused, if it is.
pub fn refusal(request: &Value, dialect: &Dialect) -> Option<Problem> {
    if !request.is_object() {
        return Some(Problem::invalid("invalid_json", "The body of the request is no JSON object.", None));
    }
    let verdict = dialect.root("request").map(|root| dialect.check_type(root, &request.to_string()));
    if let Some(fault) = verdict.as_ref().and_then(|verdict| verdict.faults().first()) {
        let param = fault.pointer.trim_start_matches('/').replace('/', ".");
        let message = format!("{} is {}, and should be {}.", param, fault.actual, fault.expected);
        return Some(Problem::invalid("invalid_value", message, Some(&param)));
    }
    let Some(model) = text(request, "model") else {
        let message = "The request does not say which model it is for.";
        return Some(Problem::invalid("missing_required_parameter", message, Some("model")));
    };
    if model.starts_with("unknown") || model.contains("does-not-exist") {
        let message = format!("There is no model {model:?}.");
        return Some(Problem::not_found("model_not_found", message, Some("model")));
    }
    wanted_status(request).map(Problem::of_status)
}
