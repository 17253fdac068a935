//! A recorded exchange, exactly as the suite writes it: one JSON object a line.

use serde::Deserialize;

/// A line, without unknown members.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExchangeLine {
    /// Version of the format, in the first line of an exchange.
    pub exchange: Option<u32>,
    /// The request.
    pub request: Option<RequestLine>,
    /// The head of the response.
    pub response: Option<ResponseLine>,
    /// Milliseconds since the request.
    pub at: Option<f64>,
    /// A piece of the body, if it is UTF-8.
    pub text: Option<String>,
    /// A piece of the body in base64, if it is not.
    pub bytes: Option<String>,
    /// A message of the client on a WebSocket.
    pub sent: Option<String>,
    /// A message of the endpoint on a WebSocket.
    pub received: Option<String>,
    /// How the exchange ended.
    pub end: Option<String>,
    /// Why it ended so.
    pub reason: Option<String>,
}

/// A request.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequestLine {
    /// Its method.
    pub method: String,
    /// Its URL, or its path.
    pub url: String,
    /// Its headers.
    pub headers: Vec<(String, String)>,
    /// Its body.
    pub body: Option<String>,
}

/// The head of a response.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResponseLine {
    /// Its status.
    pub status: u16,
    /// Its headers.
    pub headers: Vec<(String, String)>,
}
