//! Which request goes where.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::{DefaultBodyLimit, Path, Query, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use axum::routing::{get, post};
use axum::{Router, http};
use serde::Deserialize;
use serde_json::{Value, json};

use super::Wire;
use super::mcp::Servers;
use super::problem::Problem;
use super::sending::send;
use super::server::Gateway;
use super::socket::talk;
use super::store::Stored;
use super::wire::WireFault;

/// The largest body of a request.
const LARGEST: usize = 64 << 20;

type Shared = State<Arc<Gateway>>;

pub(super) fn router(gateway: Arc<Gateway>) -> Router {
    let api = Router::new()
        .route("/responses", post(create).get(connect))
        .route("/responses/compact", post(compact))
        .route("/responses/{id}", get(retrieve).delete(remove))
        .route("/responses/{id}/cancel", post(cancel))
        .route("/responses/{id}/input_items", get(input_items))
        .route("/models", get(models));
    Router::new()
        .merge(api.clone())
        .nest("/v1", api)
        .fallback(nothing)
        .method_not_allowed_fallback(not_so)
        .layer(DefaultBodyLimit::max(LARGEST))
        .with_state(gateway)
}

async fn create(State(gateway): Shared, body: Bytes) -> Response {
    let servers = Servers::ask(&serde_json::from_slice(&body).unwrap_or_default()).await;
    let wire = gateway.create(&body, &servers);
    respond(&gateway, wire)
}

/// Opens a WebSocket, where messages tell what they are.
async fn connect(
    State(gateway): Shared,
    method: http::Method,
    uri: http::Uri,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Response {
    let is_spoken = gateway.settings.dialect.framing.websocket;
    match upgrade.ok().filter(|_| is_spoken) {
        Some(upgrade) => upgrade.on_upgrade(move |socket| talk(gateway, socket)),
        None => not_so(State(gateway), method, uri).await,
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
) -> Response {
    if retrieval.stream != Some(true) {
        let looked = gateway.store().get(&id).map(Stored::look);
        return json_of(&gateway, looked);
    }
    let stream = gateway.store().get(&id).map(|stored| stored.stream(retrieval.starting_after));
    match stream {
        Err(problem) => json_of(&gateway, Err(problem)),
        Ok(body) => {
            let content_type = "text/event-stream".to_owned();
            respond(&gateway, Wire { status: 200, content_type, body })
        }
    }
}

async fn remove(State(gateway): Shared, Path(id): Path<String>) -> Response {
    let removed = gateway.store().remove(&id);
    json_of(&gateway, removed)
}

async fn cancel(State(gateway): Shared, Path(id): Path<String>) -> Response {
    let cancelled = gateway.store().get(&id).and_then(Stored::cancel);
    json_of(&gateway, cancelled)
}

async fn input_items(State(gateway): Shared, Path(id): Path<String>) -> Response {
    let input = gateway.store().get(&id).map(|stored| stored.input());
    json_of(&gateway, input)
}

async fn compact(State(gateway): Shared, body: Bytes) -> Response {
    json_of(&gateway, gateway.compact(&body))
}

async fn models(State(gateway): Shared) -> Response {
    let model =
        json!({"id": "reference-1", "object": "model", "created": 1_785_000_000, "owned_by": "reference"});
    json_of(&gateway, Ok(json!({"object": "list", "data": [model]})))
}

async fn nothing(State(gateway): Shared, uri: http::Uri) -> Response {
    json_of(
        &gateway,
        Err(Problem::not_found("not_found", format!("There is nothing at {}.", uri.path()), None)),
    )
}

async fn not_so(State(gateway): Shared, method: http::Method, uri: http::Uri) -> Response {
    let message = format!("{} does not take {method}.", uri.path());
    let invalid = Problem::invalid("method_not_allowed", message, None);
    json_of(&gateway, Err(Problem { status: 405, ..invalid }))
}

fn json_of(gateway: &Gateway, result: Result<Value, Problem>) -> Response {
    let wire = match result {
        Ok(value) => Wire::json(200, &value.to_string()),
        Err(problem) => Wire::json(problem.status, &problem.body().to_string()),
    };
    let wire = gateway.broken(wire);
    head(&wire, None, Body::from(wire.body.clone()))
}

/// Sends an answer as the settings say.
fn respond(gateway: &Gateway, mut wire: Wire) -> Response {
    let settings = &gateway.settings;
    let is_stream = wire.is_stream();
    let mut encoding = None;
    // What compresses comes last, for it leaves nothing to be edited.
    let (last, first): (Vec<WireFault>, Vec<WireFault>) = settings
        .wire
        .iter()
        .partition(|fault| matches!(fault, WireFault::Gzip | WireFault::WrongContentType));
    for fault in first.into_iter().chain(last) {
        encoding = fault.change(&mut wire).or(encoding);
    }
    let body = if is_stream {
        send(settings, std::mem::take(&mut wire.body))
    } else {
        Body::from(wire.body.clone())
    };
    head(&wire, encoding, body)
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
