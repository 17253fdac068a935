//! Requests of web pages: only pages of this machine, and of listed origins, are served.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use tokio::time::timeout;

use crate::faults::requested::HEADER;

/// Timeout of the body of a request.
const BODY: Duration = Duration::from_secs(30);

/// The web pages that are served, besides this machine's.
#[derive(Debug, Clone)]
struct Guard {
    origins: Arc<[String]>,
    /// Maximum size of a request body.
    largest: usize,
}

/// A page could otherwise command a local server, and read the output of its MCP servers. It could also send requests through
/// a name of its own for this machine. Bodies that are too long or too slow are refused, too.
pub(super) fn guarded(app: Router, origins: &[String], largest: usize) -> Router {
    app.layer(from_fn_with_state(Guard { origins: origins.into(), largest }, guard))
}

async fn guard(State(guard): State<Guard>, request: Request, next: Next) -> Response {
    let Guard { origins, largest } = guard;
    let headers = request.headers();
    let problem = foreign_page(headers, &origins).or_else(|| foreign_host(headers, request.uri(), &origins));
    if let Some(problem) = problem {
        return (StatusCode::FORBIDDEN, problem + "\n").into_response();
    }
    let origin = allowed(headers, &origins).cloned();
    let mut response = if origin.is_some() && is_preflight(request.method(), headers) {
        preflight(headers)
    } else {
        let (head, body) = request.into_parts();
        match timeout(BODY, to_bytes(body, largest)).await {
            Ok(Ok(bytes)) => next.run(Request::from_parts(head, Body::from(bytes))).await,
            Ok(Err(_)) => {
                let problem = format!("The body is not whole, or longer than {largest} bytes.\n");
                (StatusCode::PAYLOAD_TOO_LARGE, problem).into_response()
            }
            Err(_) => {
                let problem = format!("The body took longer than {BODY:?}.\n");
                (StatusCode::REQUEST_TIMEOUT, problem).into_response()
            }
        }
    };
    if let Some(origin) = origin {
        allow(&mut response, &origin);
    }
    response
}

fn foreign_page(headers: &HeaderMap, origins: &[String]) -> Option<String> {
    let origin = headers.get(header::ORIGIN)?;
    if allowed(headers, origins).is_some() {
        return None;
    }
    let origin = String::from_utf8_lossy(origin.as_bytes());
    Some(format!("{origin:?} is not an origin of this machine; start the server with --cors to allow it."))
}

/// Somebody else may have given this machine the name: a page with that name sends requests without an origin.
fn foreign_host(headers: &HeaderMap, uri: &Uri, origins: &[String]) -> Option<String> {
    if headers.contains_key(header::ORIGIN) {
        return None;
    }
    let host = headers.get(header::HOST).map(|host| String::from_utf8_lossy(host.as_bytes()).into_owned());
    let host = host.or_else(|| uri.authority().map(ToString::to_string))?;
    let is_listed =
        |origin: &String| origin == "*" || origin.split_once("://").is_some_and(|(_, name)| name == host);
    if is_own(&host) || origins.iter().any(is_listed) {
        return None;
    }
    Some(format!(
        "{host:?} is not a name of this machine; start the server with --cors 'http://{host}' to allow it."
    ))
}

/// Pages of this machine and of the listed origins may read the response.
fn allowed<'h>(headers: &'h HeaderMap, origins: &[String]) -> Option<&'h HeaderValue> {
    let origin = headers.get(header::ORIGIN)?;
    let text = origin.to_str().ok()?;
    let is_listed = origins.iter().any(|other| other == "*" || other == text);
    (is_listed || is_local(text)).then_some(origin)
}

/// An address, or a name that nobody can register for another machine.
fn is_own(host: &str) -> bool {
    const CONTAINERS: [&str; 2] = ["host.docker.internal", "host.containers.internal"];
    let Ok(uri) = format!("http://{host}").parse::<Uri>() else { return false };
    let has_user = uri.authority().is_some_and(|authority| authority.as_str().contains('@'));
    let is_address = |name: &str| name.trim_matches(['[', ']']).parse::<IpAddr>().is_ok();
    // Nobody can register these.
    let is_reserved = |name: &str| [".localhost", ".invalid"].iter().any(|end| name.ends_with(end));
    let is_named = |name: &str| name == "localhost" || is_reserved(name) || CONTAINERS.contains(&name);
    !has_user && uri.host().is_some_and(|name| is_named(name) || is_address(name))
}

fn is_local(origin: &str) -> bool {
    let Ok(uri) = origin.parse::<Uri>() else { return false };
    let is_page = matches!(uri.scheme_str(), Some("http" | "https"));
    is_page && matches!(uri.host(), Some("localhost" | "127.0.0.1" | "[::1]"))
}

fn is_preflight(method: &Method, headers: &HeaderMap) -> bool {
    method == Method::OPTIONS && headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD)
}

fn preflight(requested: &HeaderMap) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    let headers = response.headers_mut();
    headers
        .insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST, DELETE, OPTIONS"));
    if let Some(names) = requested.get(header::ACCESS_CONTROL_REQUEST_HEADERS) {
        headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, names.clone());
    }
    headers.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    response
}

fn allow(response: &mut Response, origin: &HeaderValue) {
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

    #[test]
    fn names_of_others_for_this_machine_are_refused() {
        let is_served = |host: &'static str, origins: &[&str]| {
            let headers = HeaderMap::from_iter([(header::HOST, HeaderValue::from_static(host))]);
            let origins: Vec<String> = origins.iter().map(ToString::to_string).collect();
            foreign_host(&headers, &Uri::from_static("/"), &origins).is_none()
        };
        for local in [
            "localhost:8080",
            "127.0.0.1:1",
            "[::1]:3000",
            "localhost",
            "192.168.1.2:80",
            "host.docker.internal:8080",
            "gateway.invalid:1",
        ] {
            assert!(is_served(local, &[]), "{local}");
        }
        for other in ["a.test:8080", "127.0.0.1.a.test", "localhost@a.test", ""] {
            assert!(!is_served(other, &[]), "{other}");
        }
        assert!(is_served("a.test:8080", &["http://a.test:8080"]) && is_served("a.test", &["*"]));
        assert_eq!(foreign_host(&HeaderMap::new(), &Uri::from_static("/"), &[]), None);
    }
}
