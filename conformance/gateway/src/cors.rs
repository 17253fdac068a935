//! Cross-origin requests of web pages.

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::response::Response;

use super::faults::HEADER;

/// Returns the origin of a request if its pages may read the response: those of this machine, and those
/// listed. Others may not, since a response can contain the output of a local MCP server.
pub(super) fn allowed<'h>(headers: &'h HeaderMap, origins: &[String]) -> Option<&'h HeaderValue> {
    let origin = headers.get(header::ORIGIN)?;
    let text = origin.to_str().ok()?;
    let is_listed = origins.iter().any(|other| other == "*" || other == text);
    (is_listed || is_local(text)).then_some(origin)
}

fn is_local(origin: &str) -> bool {
    let Ok(uri) = origin.parse::<Uri>() else { return false };
    let is_page = matches!(uri.scheme_str(), Some("http" | "https"));
    is_page && matches!(uri.host(), Some("localhost" | "127.0.0.1" | "[::1]"))
}

/// Returns whether a request is a CORS preflight.
pub(super) fn is_preflight(method: &Method, headers: &HeaderMap) -> bool {
    method == Method::OPTIONS && headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD)
}

/// Answers a CORS preflight.
pub(super) fn preflight(asked: &HeaderMap) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    let headers = response.headers_mut();
    headers
        .insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST, DELETE, OPTIONS"));
    if let Some(names) = asked.get(header::ACCESS_CONTROL_REQUEST_HEADERS) {
        headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, names.clone());
    }
    headers.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    response
}

/// Allows pages of an origin to read a response.
pub(super) fn allow(response: &mut Response, origin: &HeaderValue) {
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(HEADER));
    headers.append(header::VARY, HeaderValue::from_static("origin"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_this_machine_and_of_listed_origins_may_read() {
        let is_allowed = |origin: &str, origins: &[&str]| {
            let headers = HeaderMap::from_iter([(header::ORIGIN, origin.parse().unwrap())]);
            let origins: Vec<String> = origins.iter().map(ToString::to_string).collect();
            allowed(&headers, &origins).is_some()
        };
        for local in ["http://localhost:5173", "http://127.0.0.1", "https://localhost", "http://[::1]:3000"] {
            assert!(is_allowed(local, &[]), "{local}");
        }
        for other in [
            "https://a.test",
            "null",
            "http://localhost.a.test",
            "file://localhost",
            "http://127.0.0.1.a.test",
        ] {
            assert!(!is_allowed(other, &[]) && !is_allowed(other, &["https://b.test"]), "{other}");
            assert!(is_allowed(other, &["*"]) && is_allowed(other, &[other]), "{other}");
        }
        assert_eq!(allowed(&HeaderMap::new(), &["*".to_owned()]), None);
    }
}
