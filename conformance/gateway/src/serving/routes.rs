//! Routes of the gateway.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::{DefaultBodyLimit, Path, Query, Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{MethodFilter, any, get, on, post};
use axum::{Router, http};
use hyper::service::Service as _;
use hyper_util::service::TowerToHyperService;
use serde::Deserialize;
use serde_json::Value;
use spec::table::Operation;
use spec::{Api, Dialect};
use tokio::task::spawn_blocking;
use translation::pen::{id_header, models as models_of};

use super::cors;
use super::gateway::Gateway;
use super::help;
use super::mcp::Servers;
use super::sending::send;
use super::socket::talk;
use super::store::Stored;
use crate::content::address::{pattern, to_count, wants_list, with_path};
use crate::content::problem::Problem;
use crate::content::refusal::unknown_key;
use crate::faults::requested::{Faults, HEADER};
use crate::rendering::wire::{Wire, WireFault};

/// The header of `GET /models` that identifies the reference gateway.
pub const IDENTITY: &str = "x-conformance-gateway";
/// The version of the usual base URL.
const VERSION: &str = "v1";
/// Maximum size of a request body.
const LARGEST: usize = 64 << 20;

type Shared = State<Arc<Gateway>>;

pub(super) fn router(gateway: Arc<Gateway>) -> Router {
    let of = |gateway: &Arc<Gateway>, routes: Router<Arc<Gateway>>| {
        let own = from_fn_with_state(Arc::clone(gateway), with_headers);
        routes.layer(own).with_state(Arc::clone(gateway))
    };
    let with_models = |gateway: &Arc<Gateway>| of(gateway, of_api(gateway).route("/models", get(models)));
    let mut api = with_models(&gateway);
    for other in &gateway.beside {
        api = api.merge(of(other, of_api(other)));
    }
    let mut all = Router::new().merge(api.clone()).nest(&format!("/{VERSION}"), api);
    for other in gateway.beside.iter().chain([&gateway]) {
        let version = other.settings.dialect.api.version;
        if version != VERSION {
            all = all.nest(&format!("/{version}"), with_models(other));
        }
    }
    let all = all
        .route("/", get(help))
        .route("/faults", get(faults))
        .fallback(nothing)
        .method_not_allowed_fallback(not_so)
        .layer(DefaultBodyLimit::max(LARGEST))
        .with_state(Arc::clone(&gateway));
    let inner = all.clone();
    let api = gateway.settings.dialect.api;
    let all = all.route("/fault/{*path}", any(move |request: Request| with_fault(inner, request, api)));
    cors::guarded(all, &gateway.settings.origins, LARGEST).layer(from_fn_with_state(gateway, logged))
}

fn of_api(gateway: &Gateway) -> Router<Arc<Gateway>> {
    let api = gateway.settings.dialect.api;
    let mut router = Router::new();
    if api.session.is_some() {
        router = router.route(api.path, get(connect));
    }
    if api.names_model() {
        return router.route(&pattern(api), post(create_at));
    }
    let mut added: Vec<(&str, &str)> = Vec::new();
    for (operation, route) in api.operations {
        let Some(method) = route.method.filter(|method| !added.contains(&(*method, route.path))) else {
            continue;
        };
        let filter = Method::from_bytes(method.as_bytes()).ok();
        let Some(filter) = filter.and_then(|method| MethodFilter::try_from(method).ok()) else { continue };
        let handler = match operation {
            Operation::Create => on(filter, create),
            Operation::Compact => on(filter, compact),
            Operation::Count => on(filter, count),
            Operation::Retrieve | Operation::Poll | Operation::Resume => on(filter, retrieve),
            Operation::Delete => on(filter, remove),
            Operation::Cancel => on(filter, cancel),
            Operation::InputItems => on(filter, input_items),
            Operation::Steer | Operation::Inject => continue,
        };
        added.push((method, route.path));
        router = router.route(&format!("{}{}", api.path, route.path), handler);
    }
    router
}

/// Adds the id of the request, and when a refused one may be sent again. Unknown keys are refused.
async fn with_headers(State(gateway): Shared, request: Request, next: Next) -> Response {
    let api = gateway.settings.dialect.api;
    let problem = keys(request.headers(), api).find_map(unknown_key);
    let mut response = match problem {
        Some(problem) => json_of(&gateway, request.headers(), Err(problem)),
        None => next.run(request).await,
    };
    let id = gateway.request_id();
    let is_too_soon = response.status() == StatusCode::TOO_MANY_REQUESTS;
    let headers = response.headers_mut();
    if let Ok(id) = HeaderValue::from_str(&id) {
        headers.insert(id_header(api), id);
    }
    if is_too_soon {
        headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    }
    response
}

fn keys<'h>(headers: &'h HeaderMap, api: &'static Api) -> impl Iterator<Item = &'h str> {
    api.request
        .with_key("")
        .filter_map(|(name, prefix)| headers.get(name)?.to_str().ok()?.strip_prefix(&prefix))
}

async fn logged(State(gateway): Shared, request: Request, next: Next) -> Response {
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let response = next.run(request).await;
    if let Some(log) = &gateway.settings.log {
        let text = |name| response.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or("-");
        let faults = response.headers().get(HEADER).and_then(|value| value.to_str().ok());
        let faults = faults.map_or_else(String::new, |outcomes| format!("; {outcomes}"));
        let status = response.status().as_u16();
        log.line(&format!("{method} {path} {status} {}{faults}", text("content-type")));
    }
    response
}

async fn with_fault(app: Router, mut request: Request, api: &Api) -> Response {
    let path = request.uri().path_and_query().map_or("", |path| path.as_str());
    let parts = path.strip_prefix("/fault/").and_then(|rest| {
        let versions = spec::APIS.iter().map(|api| api.version);
        let at = versions.filter_map(|version| rest.find(&format!("/{version}/"))).min()?;
        Some((rest.get(..at)?.to_owned(), rest.get(at..)?.to_owned()))
    });
    let split = parts
        .and_then(|(name, rest)| Some((HeaderValue::from_str(&name).ok()?, rest.parse::<http::Uri>().ok()?)));
    let Some((name, uri)) = split else {
        let message = "The base URL of a fault is /fault/ID/v1; GET /faults lists all faults.";
        return refused(&Problem::not_found("not_found", message, None), api);
    };
    request.headers_mut().append(HEADER, name);
    *request.uri_mut() = uri;
    let Ok(response) = TowerToHyperService::new(app).call(request).await;
    response
}

async fn help(State(gateway): Shared, headers: HeaderMap) -> Response {
    let accept = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
    let is_html = accept.contains("text/html");
    let about = Arc::clone(&gateway);
    let faults = spawn_blocking(move || about.listed()).await.unwrap_or_default();
    let (content_type, page) = if is_html {
        ("text/html; charset=utf-8", help::html(&gateway.settings, &faults))
    } else {
        ("text/plain; charset=utf-8", help::text(&gateway.settings, &faults))
    };
    let policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";
    ([(header::CONTENT_TYPE, content_type), (header::CONTENT_SECURITY_POLICY, policy)], page).into_response()
}

async fn faults(State(gateway): Shared) -> Response {
    let faults = spawn_blocking(move || gateway.listed()).await.unwrap_or_default();
    plain_json(&Wire::json(200, &serde_json::to_string(&*faults).unwrap_or_default()))
}

/// The path says the model, and whether the response is a stream.
async fn create_at(State(gateway): Shared, uri: http::Uri, headers: HeaderMap, body: Bytes) -> Response {
    let api = gateway.settings.dialect.api;
    if api.asked_at(uri.path()).is_none() {
        let request = serde_json::from_slice(&body);
        let problem = request.as_ref().err().map(Problem::not_json);
        return match (to_count(api, uri.path(), request.unwrap_or_default()), problem) {
            (None, _) => nothing(State(gateway), headers, uri).await,
            (Some(_), Some(problem)) => plain_json(&Wire::refused(&problem, api)),
            (Some(request), None) => {
                json_of(&gateway, &headers, gateway.count(request.to_string().as_bytes()))
            }
        };
    }
    let request = match serde_json::from_slice(&body) {
        Ok(request) => with_path(api, uri.path(), request),
        Err(error) => {
            let wire = Wire::refused(&Problem::not_json(&error), api);
            return plain_json(&if wants_list(api, &uri) { wire.into_list() } else { wire });
        }
    };
    let is_list = wants_list(api, &uri);
    created(&gateway, &headers, &request.to_string().into_bytes(), is_list).await
}

async fn create(State(gateway): Shared, headers: HeaderMap, body: Bytes) -> Response {
    created(&gateway, &headers, &body, false).await
}

async fn created(gateway: &Gateway, headers: &HeaderMap, body: &[u8], is_list: bool) -> Response {
    let request: Value = serde_json::from_slice(body).unwrap_or_default();
    let faults = faults_of(gateway, headers)
        .and_then(|mut faults| faults.add_request(&request, gateway.settings.dialect.api).map(|()| faults));
    let mut faults = match faults {
        Ok(faults) => faults,
        Err(problem) => return refused(&problem, gateway.settings.dialect.api),
    };
    let servers = Servers::ask(&request).await;
    let wire = gateway.create(body, &servers, &mut faults);
    let wire = if is_list { wire.into_list() } else { wire };
    respond(gateway, wire, &mut faults)
}

fn faults_of(gateway: &Gateway, headers: &HeaderMap) -> Result<Faults, Problem> {
    let mut faults = gateway.faults();
    faults.add_headers(headers)?;
    Ok(faults)
}

fn refused(problem: &Problem, api: &Api) -> Response {
    plain_json(&Wire::refused(problem, api))
}

fn plain_json(wire: &Wire) -> Response {
    head(wire, None, Body::from(wire.body.clone()))
}

async fn connect(
    State(gateway): Shared,
    method: Method,
    uri: http::Uri,
    headers: HeaderMap,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Response {
    let Dialect { api, framing, .. } = gateway.settings.dialect;
    let session = api.session.as_ref().filter(|_| framing.websocket);
    let (Ok(upgrade), Some(session)) = (upgrade, session) else {
        return not_so(State(gateway), headers, method, uri).await;
    };
    match faults_of(&gateway, &headers) {
        Ok(faults) => upgrade.on_upgrade(move |socket| talk(gateway, session, socket, faults)),
        Err(problem) => refused(&problem, api),
    }
}

#[derive(Deserialize)]
struct Retrieval {
    stream: Option<bool>,
    starting_after: Option<u64>,
}

async fn retrieve(
    State(gateway): Shared,
    Path(id): Path<String>,
    Query(retrieval): Query<Retrieval>,
    headers: HeaderMap,
) -> Response {
    if retrieval.stream != Some(true) {
        let looked = gateway.store().get(&id).map(Stored::look);
        return json_of(&gateway, &headers, looked);
    }
    let stream = gateway.store().get(&id).map(|stored| stored.stream(retrieval.starting_after));
    match (stream, faults_of(&gateway, &headers)) {
        (Err(problem), _) => json_of(&gateway, &headers, Err(problem)),
        (_, Err(problem)) => refused(&problem, gateway.settings.dialect.api),
        (Ok(body), Ok(mut faults)) => {
            let content_type = "text/event-stream".to_owned();
            respond(&gateway, Wire { status: 200, content_type, body }, &mut faults)
        }
    }
}

async fn remove(State(gateway): Shared, Path(id): Path<String>, headers: HeaderMap) -> Response {
    let removed = gateway.store().remove(gateway.settings.dialect.api, &id);
    json_of(&gateway, &headers, removed)
}

async fn cancel(State(gateway): Shared, Path(id): Path<String>, headers: HeaderMap) -> Response {
    let cancelled = gateway.store().get(&id).and_then(Stored::cancel);
    json_of(&gateway, &headers, cancelled)
}

async fn input_items(State(gateway): Shared, Path(id): Path<String>, headers: HeaderMap) -> Response {
    let input = gateway.store().get(&id).map(|stored| stored.input(gateway.settings.dialect.api));
    json_of(&gateway, &headers, input)
}

async fn compact(State(gateway): Shared, headers: HeaderMap, body: Bytes) -> Response {
    json_of(&gateway, &headers, gateway.compact(&body))
}

async fn count(State(gateway): Shared, headers: HeaderMap, body: Bytes) -> Response {
    json_of(&gateway, &headers, gateway.count(&body))
}

async fn models(State(gateway): Shared, headers: HeaderMap) -> Response {
    let names = |api: &'static Api| api.request.with_key("").map(|(name, _)| name);
    let usual = gateway.settings.dialect.api;
    let has_own = |gateway: &&Arc<Gateway>| {
        let api = gateway.settings.dialect.api;
        let own = api.request.headers;
        let has_key = names(api).any(|name| {
            headers.contains_key(name) && names(usual).all(|usual| !usual.eq_ignore_ascii_case(name))
        });
        has_key || !own.is_empty() && own.iter().all(|(name, _)| headers.contains_key(*name))
    };
    let asked = gateway.beside.iter().find(has_own).unwrap_or(&gateway);
    let models = match gateway.settings.models.as_slice() {
        [] => vec!["reference-1".to_owned()],
        models => models.to_vec(),
    };
    let mut response = json_of(&gateway, &headers, Ok(models_of(asked.settings.dialect.api, &models)));
    response.headers_mut().insert(IDENTITY, HeaderValue::from_static(env!("CARGO_PKG_VERSION")));
    response
}

async fn nothing(State(gateway): Shared, headers: HeaderMap, uri: http::Uri) -> Response {
    let message = format!("No route for {}.", uri.path());
    json_of(&gateway, &headers, Err(Problem::not_found("not_found", message, None)))
}

async fn not_so(State(gateway): Shared, headers: HeaderMap, method: Method, uri: http::Uri) -> Response {
    let message = format!("{} does not support {method}.", uri.path());
    let invalid = Problem::invalid("method_not_allowed", message, None);
    json_of(&gateway, &headers, Err(Problem { status: 405, ..invalid }))
}

fn json_of(gateway: &Gateway, headers: &HeaderMap, result: Result<Value, Problem>) -> Response {
    let mut faults = match faults_of(gateway, headers) {
        Ok(faults) => faults,
        Err(problem) => return refused(&problem, gateway.settings.dialect.api),
    };
    let wire = match result {
        Ok(value) => Wire::json(200, &value.to_string()),
        Err(problem) => Wire::refused(&problem, gateway.settings.dialect.api),
    };
    let wire = faults.break_rules(wire, &gateway.rules);
    let mut response = plain_json(&wire);
    add_fault_header(&mut response, &faults);
    response
}

fn respond(gateway: &Gateway, mut wire: Wire, faults: &mut Faults) -> Response {
    let is_stream = wire.is_stream();
    let mut encoding = None;
    // Compression comes last, as compressed bytes cannot be edited.
    let (last, first): (Vec<WireFault>, Vec<WireFault>) =
        faults.wire.iter().partition(|fault| matches!(fault, WireFault::Gzip | WireFault::WrongContentType));
    for fault in first.into_iter().chain(last) {
        if is_stream {
            faults.note(fault.name(), None);
        }
        encoding = fault.change(&mut wire).or(encoding);
    }
    let body = if is_stream {
        send(&gateway.settings, faults, std::mem::take(&mut wire.body))
    } else {
        Body::from(wire.body.clone())
    };
    let mut response = head(&wire, encoding, body);
    add_fault_header(&mut response, faults);
    response
}

fn add_fault_header(response: &mut Response, faults: &Faults) {
    if let Some(outcomes) = faults.header() {
        response.headers_mut().insert(HEADER, outcomes);
    }
}

fn head(wire: &Wire, encoding: Option<&'static str>, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(wire.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    if let Ok(content_type) = HeaderValue::from_str(&wire.content_type) {
        headers.insert(header::CONTENT_TYPE, content_type);
    }
    if wire.is_stream() {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    if let Some(encoding) = encoding {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(encoding));
    }
    response
}
