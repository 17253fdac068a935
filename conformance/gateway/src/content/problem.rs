//! Errors of refused requests.

use serde_json::{Value, json};
use spec::Dialect;
use spec::json::Actual;

use super::responses::script::wanted_status;
use super::text;

/// Why a request is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The status of the answer.
    pub status: u16,
    /// The type of the error.
    pub kind: &'static str,
    /// Its code.
    pub code: &'static str,
    /// The message.
    pub message: String,
    /// The parameter.
    pub param: Option<String>,
}

impl Problem {
    /// Returns an error of an invalid request.
    pub fn invalid(code: &'static str, message: impl Into<String>, param: Option<&str>) -> Self {
        let kind = "invalid_request_error";
        Self { status: 400, kind, code, message: message.into(), param: param.map(str::to_owned) }
    }

    /// Returns an error of something that does not exist.
    pub fn not_found(code: &'static str, message: impl Into<String>, param: Option<&str>) -> Self {
        Self { status: 404, ..Self::invalid(code, message, param) }
    }

    /// Returns an error with a requested status.
    fn of_status(status: u16) -> Self {
        let (kind, code) = match status {
            401 => ("invalid_request_error", "invalid_api_key"),
            429 => ("too_many_requests", "rate_limit_exceeded"),
            500.. => ("server_error", "server_error"),
            _ => ("invalid_request_error", "invalid_value"),
        };
        Self { status, kind, code, message: format!("Status {status} was requested."), param: None }
    }

    /// Returns the body of the response.
    pub fn body(&self) -> Value {
        let Self { kind, code, message, param, .. } = self;
        json!({"error": {"type": kind, "code": code, "message": message, "param": param}})
    }
}

/// Returns why a request is refused, if it is.
pub fn refusal(request: &Value, dialect: &Dialect) -> Option<Problem> {
    if !request.is_object() {
        return Some(Problem::invalid("invalid_json", "The body of the request is not a JSON object.", None));
    }
    let problem = invalid(request, dialect);
    if problem.is_some() {
        return problem;
    }
    wanted_status(request).map(Problem::of_status)
}

/// Returns why a request is invalid, if it is.
pub fn invalid(request: &Value, dialect: &Dialect) -> Option<Problem> {
    let problem = dialect.root("request").and_then(|root| refused(&with_strict(request), dialect, root));
    if problem.is_some() {
        return problem;
    }
    if text(request, "model").is_none() {
        let message = "The request has no model.";
        return Some(Problem::invalid("missing_required_parameter", message, Some("model")));
    }
    if request.get("input").is_some_and(|input| input.to_string().len() > MAX_INPUT_BYTES) {
        let message = "The input exceeds the context window of the model.";
        return Some(Problem::invalid("context_length_exceeded", message, Some("input")));
    }
    None
}

/// Returns why a body does not match a type.
pub(crate) fn refused(body: &Value, dialect: &Dialect, root: &str) -> Option<Problem> {
    let verdict = dialect.check_type(root, &body.to_string());
    let fault = verdict.faults().first()?;
    let param = fault.pointer.trim_start_matches('/').replace('/', ".");
    let message = if fault.actual == Actual::Nothing {
        format!("{} lacks {}.", if param.is_empty() { "The request" } else { &param }, fault.kind)
    } else {
        format!("{} is {}, but should be {}.", param, fault.actual, fault.kind)
    };
    Some(Problem::invalid("invalid_value", message, Some(&param)))
}

/// Maximum size of the input, as JSON.
const MAX_INPUT_BYTES: usize = 2_000_000;

/// Returns why a model is not served. Without a list, all models are served except reserved names.
pub(crate) fn unserved(request: &Value, models: &[String]) -> Option<Problem> {
    let model = text(request, "model")?;
    let is_served = match models {
        [] => !model.starts_with("no-such-") && !model.starts_with("unknown-"),
        models => model == "auto" || model.starts_with("fault:") || models.iter().any(|other| other == model),
    };
    let message = || format!("There is no model {model:?}.");
    (!is_served).then(|| Problem::not_found("model_not_found", message(), Some("model")))
}

/// Returns the request with `strict` in its functions: a published schema requires it, but endpoints accept
/// requests without it.
fn with_strict(request: &Value) -> Value {
    let mut request = request.clone();
    let tools = request.get_mut("tools").and_then(Value::as_array_mut);
    let functions = tools.into_iter().flatten().filter_map(Value::as_object_mut);
    for tool in functions.filter(|tool| tool.get("type").is_some_and(|kind| kind == "function")) {
        tool.entry("strict").or_insert(Value::Bool(true));
    }
    request
}
