//! Errors of refused requests.

/// The code of a request of Messages for a conversation that the server holds.
pub(crate) const NO_THREADS: &str = "thread_unsupported_request";

/// Why a request is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The status of the answer.
    pub status: u16,
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
        Self { status: 400, code, message: message.into(), param: param.map(str::to_owned) }
    }

    pub(crate) fn not_json(error: &serde_json::Error) -> Self {
        Self::invalid("invalid_json", format!("The body is not JSON: {error}."), None)
    }

    /// Returns an error of something that does not exist.
    pub fn not_found(code: &'static str, message: impl Into<String>, param: Option<&str>) -> Self {
        Self { status: 404, ..Self::invalid(code, message, param) }
    }

    /// Returns an error with a requested status.
    pub fn of_status(status: u16) -> Self {
        let code = match status {
            401 => "invalid_api_key",
            429 => "rate_limit_exceeded",
            500.. => "server_error",
            _ => "invalid_value",
        };
        Self { status, code, message: format!("Status {status} was requested."), param: None }
    }
}
