//! The scripted upstream: a server of all APIs on loopback, which answers each request by the mark in it.

mod performance;
mod playing;
mod script;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::future::ready;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri};
use axum::response::Response;
use futures_util::FutureExt as _;
use gateway::{Host, Problem, Talk, Wire, listed, wants_list, with_path};
use harness::lock;
use results::Unaccounted;
use serde_json::{Value, json};
use spec::Api;
use translation::pen;

use crate::dialects::upstream_dialect;
use crate::evidence::Exchanged;
use crate::keys::Keys;
use performance::perform;
pub(crate) use playing::Playing;
pub(crate) use script::fault_places;
use script::{aside, script};

/// The words of a refusal of what no test sends.
pub(crate) const UNSERVED: &str = "No test of this run sends this request.";
/// Maximum size of a request body.
const LARGEST: usize = 16 << 20;
/// Maximum number of unaccounted requests that are listed.
const MOST_UNACCOUNTED: usize = 50;
/// Number of characters of the body of such a request.
const SHOWN: usize = 300;
/// The path behind which a server of models lists them.
const MODELS: &str = "/models";

/// The upstream while it runs.
pub(crate) struct Upstream {
    desk: Arc<Desk>,
    host: Host,
}

/// What the upstream knows.
struct Desk {
    /// The tests that run, by their marks.
    playing: Mutex<BTreeMap<String, Arc<Playing>>>,
    /// The session that is replayed, alone: its requests have no marks.
    session: Mutex<Option<Arc<Playing>>>,
    unaccounted: Mutex<Vec<Unaccounted>>,
    keys: Arc<Keys>,
    model: String,
}

impl Upstream {
    /// Starts it on a port; 0 picks a free one.
    ///
    /// # Errors
    ///
    /// If the port is taken.
    pub(crate) fn start(port: u16, keys: Arc<Keys>, model: &str) -> io::Result<Self> {
        let desk = Desk {
            playing: Mutex::default(),
            session: Mutex::default(),
            unaccounted: Mutex::default(),
            keys,
            model: model.to_owned(),
        };
        let desk = Arc::new(desk);
        let app = Router::new()
            .fallback(answer)
            .layer(DefaultBodyLimit::max(LARGEST))
            .with_state(Arc::clone(&desk));
        Ok(Self { desk, host: Host::start_patient(port, app)? })
    }

    /// Returns its address.
    pub(crate) const fn address(&self) -> SocketAddr {
        self.host.address()
    }

    /// Answers requests with the mark of a test from now on.
    pub(crate) fn begin(&self, playing: &Arc<Playing>) {
        if playing.session.is_some() {
            *lock(&self.desk.session) = Some(Arc::clone(playing));
        } else {
            lock(&self.desk.playing).insert(playing.test.mark.clone(), Arc::clone(playing));
        }
    }

    /// Answers no more requests with the mark of a test.
    pub(crate) fn end(&self, mark: &str) {
        lock(&self.desk.playing).remove(mark);
        lock(&self.desk.session).take_if(|playing| playing.test.mark == mark);
    }

    /// Returns the requests that no test accounts for.
    pub(crate) fn unaccounted(&self) -> Vec<Unaccounted> {
        lock(&self.desk.unaccounted).clone()
    }
}

impl Desk {
    /// Returns the test whose mark a body has.
    fn find(&self, body: &[u8]) -> Option<Arc<Playing>> {
        if let Some(session) = &*lock(&self.session) {
            return Some(Arc::clone(session));
        }
        let text = String::from_utf8_lossy(body);
        let playing = lock(&self.playing);
        crate::mark::marks_in(&text).find_map(|mark| playing.get(mark)).cloned()
    }

    /// Lists a request that no test accounts for.
    fn list(&self, method: &Method, path: &str, body: &[u8]) {
        let request = format!("{method} {path}");
        let mut all = lock(&self.unaccounted);
        if let Some(known) = all.iter_mut().find(|known| known.request == request) {
            known.times += 1;
        } else if all.len() < MOST_UNACCOUNTED {
            let body = self.keys.hidden(&String::from_utf8_lossy(body));
            all.push(Unaccounted { request, times: 1, body: body.chars().take(SHOWN).collect() });
        }
    }
}

/// Returns the API whose responses are created by a request to a path.
fn api_of(path: &str) -> Option<&'static Api> {
    spec::spoken().find(|api| api.is_at(path.trim_end_matches('/')))
}

/// The beginning of the content type of a stream.
const STREAM: &str = "text/event-stream";

/// A request, or the first one of a WebSocket, whose messages are answered like requests.
async fn answer(
    State(desk): State<Arc<Desk>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
    body: Bytes,
) -> Response {
    let dialect = api_of(uri.path()).and_then(upstream_dialect);
    if let (Ok(upgrade), Some(dialect)) = (upgrade, dialect) {
        let talk = Talk::new(dialect, move |body| {
            ready(respond(&desk, &Method::POST, &uri, &headers, &body)).boxed()
        });
        return match talk {
            Some(talk) => upgrade.on_upgrade(|socket| talk.run(socket)),
            None => response(StatusCode::UPGRADE_REQUIRED.as_u16(), Vec::new(), Body::empty()),
        };
    }
    respond(&desk, &method, &uri, &headers, &body)
}

fn respond(desk: &Desk, method: &Method, uri: &Uri, headers: &HeaderMap, body: &[u8]) -> Response {
    let path = uri.path();
    if *method == Method::GET && path.trim_end_matches('/').ends_with(MODELS) {
        return of_wire(&models(&desk.model));
    }
    let api = api_of(path).filter(|_| *method == Method::POST);
    let found = api.zip(desk.find(body));
    let found = found.and_then(|(api, playing)| Some((api, playing.dialect(api)?, playing)));
    let Some((api, dialect, playing)) = found else {
        desk.list(method, path, body);
        if api.is_some() && desk.find(body).is_none() {
            lock(&desk.playing).values().for_each(|playing| playing.requested_unmarked());
        }
        let [first, ..] = spec::APIS else { return Response::new(Body::empty()) };
        if let (Some(dialect), true) = (api.and_then(upstream_dialect), desk.find(body).is_none()) {
            let asked = with_path(dialect.api, path, serde_json::from_slice(body).unwrap_or_default());
            return of_wire(&aside(dialect, &asked));
        }
        let problem = Problem::not_found("not_found", UNSERVED, None);
        return of_wire(&Wire::refused(&problem, api.unwrap_or(first)));
    };
    let headers = headers.iter().map(|(name, value)| (name.to_string(), text_of(value))).collect();
    let mut exchange =
        Exchanged { path: uri.to_string(), headers, body: body.to_vec(), ..Exchanged::default() };
    desk.keys.learn(api, &exchange.headers);
    desk.keys.hide_request(&mut exchange);
    let Some((number, turn, tag)) = playing.requested(exchange) else {
        let problem = Problem::not_found("not_found", "The test had too many requests.", None);
        return of_wire(&Wire::refused(&problem, api));
    };
    let asked = with_path(api, path, serde_json::from_slice(body).unwrap_or_default());
    let recorded = playing.recorded(number, turn, dialect, &asked);
    let script = recorded.unwrap_or_else(|| {
        // A gateway that changes what was refused is not refused again, and must tell its client.
        let is_refused = !(playing.test.is_session() && playing.is_changed(number));
        let test = &playing.test;
        let fault = test.fault.filter(|_| is_refused && test.is_faulty(turn));
        let script = script(test, fault, dialect, turn, &tag, &asked);
        if script.status >= 400 && wants_list(api, uri) { script.in_list() } else { script }
    });
    playing.responds(number, script.status, &script.headers);
    let mut headers = script.headers;
    let kind = headers.iter_mut().find(|(name, value)| name == "content-type" && value.starts_with(STREAM));
    let kind = kind.filter(|_| wants_list(api, uri));
    let events = perform(playing, number, script.pieces, script.ending);
    let Some((_, kind)) = kind else { return response(script.status, headers, Body::from_stream(events)) };
    // The recording has the events.
    "application/json".clone_into(kind);
    response(script.status, headers, Body::from_stream(listed(events)))
}

fn text_of(value: &HeaderValue) -> String {
    String::from_utf8_lossy(value.as_bytes()).into_owned()
}

fn models(model: &str) -> Wire {
    let one = json!({"id": model, "object": "model", "type": "model", "display_name": model, "created": 1_785_000_000,
        "created_at": "2026-07-25T17:20:00Z", "owned_by": "upstream"});
    let mut list =
        json!({"object": "list", "data": [one], "has_more": false, "first_id": model, "last_id": model});
    for api in spec::spoken() {
        // Some have the list in a member of their own.
        if let (Value::Object(all), Value::Object(own)) = (&mut list, pen::models(api, &[model.to_owned()])) {
            own.into_iter().for_each(|(name, value)| _ = all.entry(name).or_insert(value));
        }
    }
    Wire::json(200, &list.to_string())
}

fn of_wire(wire: &Wire) -> Response {
    response(
        wire.status,
        vec![("content-type".to_owned(), wire.content_type.clone())],
        Body::from(wire.body.clone()),
    )
}

fn response(status: u16, headers: Vec<(String, String)>, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    for (name, value) in headers {
        if let (Ok(name), Ok(value)) =
            (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(&value))
        {
            response.headers_mut().insert(name, value);
        }
    }
    response
}
