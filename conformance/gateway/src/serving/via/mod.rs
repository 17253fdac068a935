//! A reference translator: it answers clients of all APIs with the responses of an upstream of one.
//!
//! It is a test object: what the suite for gateways finds right, and wrong on demand. It has no accounts, no limits of rates,
//! and no retries.

mod faults;
mod homes;
mod sending;
mod upstream;

use std::collections::BTreeSet;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse as _, Redirect, Response};
use axum::routing::{get, post};
use futures_util::FutureExt as _;
use serde_json::Value;
use spec::Dialect;
use spec::table::Operation;
use tokio::net::TcpListener;
use translation::pen::counted;
use translation::{Question, Translator, break_question, break_request};

use super::cors;
use super::host::{Host, listen};
use super::log::Log;
use super::talk::Talk;
use crate::content::address::{pattern, wants_list, with_path};
use crate::content::problem::Problem;
use crate::rendering::wire::Wire;
use faults::FaultState;
pub use faults::via_faults;
use homes::Homes;
use upstream::{Answer, Asked, Upstream};

/// Maximum size of a request body.
const LARGEST: usize = 64 << 20;

/// Settings of the reference translator.
#[derive(Debug, Clone)]
pub struct ViaSettings {
    /// The base URL of the upstream, such as `http://127.0.0.1:9000/v1`.
    pub upstream_url: String,
    /// Its dialect.
    pub upstream: &'static Dialect,
    /// The key for it.
    pub key: Option<String>,
    /// The dialects of the clients, one for each API.
    pub fronts: Vec<&'static Dialect>,
    /// Limit of a wait for the upstream.
    pub limit: Duration,
    /// The longest time without a byte for a client that waits for a stream.
    pub keeps_alive: Option<Duration>,
    /// A model that another provider serves.
    pub other_model: Option<String>,
    /// The rule to break, of those that [`via_faults`] lists.
    pub fault: Option<String>,
    /// The request log.
    pub log: Option<Log>,
}

impl ViaSettings {
    /// Returns settings without a fault, for clients of all APIs.
    pub fn new(upstream_url: &str, upstream: &'static Dialect) -> Self {
        let fronts = spec::spoken().filter_map(|api| checker::fallback(Some(api))).collect();
        Self {
            upstream_url: upstream_url.to_owned(),
            upstream,
            key: None,
            fronts,
            limit: Duration::from_secs(60),
            keeps_alive: None,
            other_model: None,
            fault: None,
            log: None,
        }
    }
}

/// A reference translator in this process on its own port, stopped when dropped.
#[derive(Debug)]
pub struct EmbeddedVia(Host);

impl EmbeddedVia {
    /// Starts it.
    ///
    /// # Errors
    ///
    /// If the URL of the upstream is invalid, or there is no such fault.
    pub fn start(settings: ViaSettings) -> io::Result<Self> {
        Host::start(router(settings)?).map(Self)
    }

    /// Its address.
    pub const fn address(&self) -> SocketAddr {
        self.0.address()
    }

    /// Its base URL.
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address())
    }
}

/// Serves the reference translator until a future completes.
///
/// # Errors
///
/// If the URL of the upstream is invalid, or there is no such fault.
pub async fn serve_via(
    listener: TcpListener,
    settings: ViaSettings,
    until: impl Future<Output = ()>,
) -> io::Result<()> {
    listen(listener, router(settings)?, until).await
}

/// State that all requests share.
#[derive(Debug)]
struct Via {
    settings: ViaSettings,
    upstream: Upstream,
    homes: Homes,
    fault: Arc<FaultState>,
}

fn router(settings: ViaSettings) -> io::Result<Router> {
    let fault = Arc::new(FaultState::new(settings.fault.as_deref())?);
    let upstream = Upstream::new(&settings)?;
    let via = Arc::new(Via { settings, upstream, homes: Homes::default(), fault });
    let mut api = Router::new().route("/models", get(models));
    let mut versions = BTreeSet::new();
    for front in via.settings.fronts.iter().copied() {
        let create = move |state: State<Arc<Via>>, uri: Uri, headers: HeaderMap, body: Bytes| {
            create(state, front, uri, headers, body)
        };
        api = api.route(&pattern(front.api), post(create));
        if front.api.session.is_some() {
            let connect = move |State(via): State<Arc<Via>>,
                                uri: Uri,
                                headers: HeaderMap,
                                upgrade: WebSocketUpgrade| async move {
                let (is_refused, is_forgetful) =
                    (via.fault.is_at("socket/upgrade"), via.fault.is_at("session/system-inside"));
                let talk = Talk::new(front, move |body| {
                    let (via, uri, headers) = (Arc::clone(&via), uri.clone(), headers.clone());
                    async move { answer(&via, front, &uri, &headers, body).await }.boxed()
                });
                let Some(talk) = talk.filter(|_| !is_refused) else {
                    return StatusCode::FORBIDDEN.into_response();
                };
                upgrade.on_upgrade(move |socket| talk.forgetful(is_forgetful).run(socket))
            };
            api = api.route(front.api.path, get(connect));
        }
        versions.extend(["v1", front.api.version]);
    }
    let mut app = Router::new().merge(api.clone());
    for version in versions {
        app = app.nest(&format!("/{version}"), api.clone());
    }
    let app = app.fallback(nothing).layer(DefaultBodyLimit::max(LARGEST)).with_state(via);
    Ok(cors::guarded(app, &[], LARGEST))
}

async fn nothing(State(via): State<Arc<Via>>, uri: Uri) -> Response {
    if via.fault.is_at("contract/probe") {
        return Redirect::temporary("/").into_response();
    }
    let fronts = &via.settings.fronts;
    let counts = |front: &&&Dialect| {
        front.api.route(Operation::Count).is_some_and(|route| uri.path().ends_with(route.path))
    };
    if let Some(front) = fronts.iter().find(counts).filter(|_| via.fault.is_at("contract/count-tokens")) {
        return json(200, &counted(front.api, 1));
    }
    let problem = Problem::not_found("not_found", format!("No route for {}.", uri.path()), None);
    // Paths that no API has are refused in the words of one.
    let is_below = |front: &&&Dialect| {
        uri.path().contains(front.api.path.split_once('{').map_or(front.api.path, |(before, _)| before))
    };
    let front = fronts.iter().find(is_below).or(fronts.first());
    refused(&problem, front.copied().unwrap_or(via.settings.upstream))
}

async fn models(State(via): State<Arc<Via>>) -> Response {
    match via.upstream.models().await {
        Ok(answer) => sending::passed(answer, &via, None),
        Err(problem) => refused(&problem, via.settings.upstream),
    }
}

async fn create(
    State(via): State<Arc<Via>>,
    front: &'static Dialect,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let query = uri.query().unwrap_or_default();
    let is_refused = via.fault.is_at("contract/query") && !query.is_empty();
    if is_refused || front.api.names_model() && front.api.asked_at(uri.path()).is_none() {
        return nothing(State(via), uri).await;
    }
    let mut response = answer(&via, front, &uri, &headers, body).await;
    if wants_list(front.api, &uri) {
        response = sending::of_list(response, front.api.name != via.settings.upstream.api.name);
    }
    via.fault.break_refusal(&mut response, front);
    if let Some(log) = &via.settings.log {
        let status = response.status().as_u16();
        log.line(&format!("{} for {} {status}", front.api.name, via.settings.upstream.api.name));
    }
    response
}

async fn answer(
    via: &Arc<Via>,
    front: &'static Dialect,
    uri: &Uri,
    headers: &HeaderMap,
    body: Bytes,
) -> Response {
    if via.fault.refuses_next() {
        let unavailable = Problem { status: 503, ..Problem::of_status(500) };
        return refused(&unavailable, front);
    }
    let own = via.settings.upstream;
    if front.api.name == own.api.name {
        return match via.upstream.pass(headers, uri, body, via).await {
            Ok(answer) => sending::passed(answer, via, Some(front)),
            Err(problem) => refused(&problem, front),
        };
    }
    let request: Value = match serde_json::from_slice(&body) {
        Ok(request) => with_path(front.api, uri.path(), request),
        Err(error) => return refused(&Problem::not_json(&error), front),
    };
    let question = Question::read(front.api, &request);
    let asked = asked(via, &question);
    let mut translator = Translator::new(front, own, &question, &request, now());
    if let Some(rule) = &via.fault.rule {
        translator = translator.with_fault(rule, &via.fault.crowd);
    }
    match via.upstream.ask(headers, &asked, &via.fault).await {
        Ok(answer) => sending::translated(answer, translator, via, &asked, question.is_stream).await,
        Err(problem) => {
            let (status, body) = translator.body(problem.status, problem.message.as_bytes());
            json(status, &body)
        }
    }
}

impl Via {
    /// Seals of other providers are taken out of a request. The result is whether it had any.
    fn keep_out(&self, request: &mut Value) -> bool {
        self.settings.other_model.is_some()
            && !self.fault.is_at("session/reasoning-home")
            && self.homes.keep_out(self.settings.upstream.api, request)
    }

    fn keeps_alive(&self) -> Option<Duration> {
        self.settings.keeps_alive.filter(|_| !self.fault.is_at("time/kept-alive"))
    }
}

fn asked(via: &Via, question: &Question) -> Asked {
    let mut question = question.clone();
    let rule = via.fault.rule.as_deref().unwrap_or_default();
    break_question(rule, &mut question);
    let mut request = question.write(via.settings.upstream.api);
    break_request(rule, &mut request);
    via.fault.break_turn(&mut request);
    via.keep_out(&mut request);
    Asked::new(via.settings.upstream.api, request)
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

fn refused(problem: &Problem, front: &Dialect) -> Response {
    let wire = Wire::refused(problem, front.api);
    of_json(wire.status, wire.body)
}

fn json(status: u16, body: &Value) -> Response {
    of_json(status, body.to_string())
}

fn of_json(status: u16, body: impl Into<Body>) -> Response {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY);
    (status, [(header::CONTENT_TYPE, "application/json")], body.into()).into_response()
}
