//! Requests to the upstream.

use std::io;
use std::time::Duration;

use axum::body::Bytes;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Uri, header};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::{Client, Method, RequestBuilder, Response, Url, redirect};
use serde_json::Value;
use spec::table::Operation;
use spec::{Api, Dialect};
use tokio::time::timeout;

use super::faults::FaultState;
use super::{Via, ViaSettings};
use crate::content::address::{with_path, without_path};
use crate::content::problem::Problem;
use crate::serving::host::is_loopback;

/// Characters that a segment of a path cannot have as they are.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~').remove(b':');

const CONNECTION: Duration = Duration::from_secs(10);
/// Maximum size of a body that is translated as a whole.
const LARGEST: usize = 64 << 20;

/// Headers of one connection alone, and those that each side has for itself.
const OWN: [HeaderName; 11] = [
    header::HOST,
    header::CONNECTION,
    header::CONTENT_LENGTH,
    header::TRANSFER_ENCODING,
    header::TE,
    header::TRAILER,
    header::UPGRADE,
    header::EXPECT,
    header::ACCEPT_ENCODING,
    header::COOKIE,
    header::PROXY_AUTHORIZATION,
];

#[derive(Debug)]
pub(super) struct Upstream {
    client: Client,
    url: String,
    dialect: &'static Dialect,
    key: Option<String>,
    limit: Duration,
}

/// A request for the upstream: what follows its base URL, and the body.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    at: String,
    pub(super) model: String,
    body: Bytes,
}

impl Asked {
    pub(super) fn new(api: &Api, request: Value) -> Self {
        let model = request["model"].as_str().unwrap_or_default().to_owned();
        let is_stream = request.get("stream") == Some(&Value::Bool(true));
        let (segments, body) = without_path(api, request);
        let query = api.route(Operation::Create).filter(|_| is_stream).map_or(&[][..], |route| route.query);
        let query: Vec<String> = query.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let path = segments.iter().map(|segment| format!("/{}", utf8_percent_encode(segment, SEGMENT)));
        let path = if segments.is_empty() { api.path.to_owned() } else { path.collect() };
        let at = if query.is_empty() { path } else { format!("{path}?{}", query.join("&")) };
        Self { at, model, body: Bytes::from(body.to_string()) }
    }

    fn with(self, body: Bytes) -> Self {
        Self { body, ..self }
    }

    fn lessened(&self) -> Self {
        let mut request = serde_json::from_slice(&self.body).unwrap_or_default();
        translation::lessen(&mut request);
        self.clone().with(Bytes::from(request.to_string()))
    }
}

/// A response of the upstream, whose body is not read yet.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) response: Response,
    pub(super) model: String,
    /// A key that leaks: the client's or the upstream's.
    pub(super) leak: Option<String>,
}

impl Upstream {
    pub(super) fn new(settings: &ViaSettings) -> io::Result<Self> {
        let invalid = |problem: String| io::Error::new(io::ErrorKind::InvalidInput, problem);
        let url = Url::parse(&settings.upstream_url)
            .map_err(|error| invalid(format!("{}: {error}", settings.upstream_url)))?;
        let _ = rustls::crypto::ring::default_provider().install_default();
        // Each request has a connection of its own, which ends with it.
        let mut client = Client::builder()
            .redirect(redirect::Policy::none())
            .pool_max_idle_per_host(0)
            .connect_timeout(CONNECTION)
            .tcp_nodelay(true);
        if is_loopback(&url) {
            client = client.no_proxy();
            // Without TLS, no certificates are read.
            if url.scheme() == "http" {
                client = client.tls_certs_only([]);
            }
        }
        Ok(Self {
            client: client.build().map_err(|error| invalid(error.to_string()))?,
            url: settings.upstream_url.trim_end_matches('/').to_owned(),
            dialect: settings.upstream,
            key: settings.key.clone(),
            limit: settings.limit,
        })
    }

    pub(super) async fn ask(
        &self,
        client: &HeaderMap,
        asked: &Asked,
        fault: &FaultState,
    ) -> Result<Answer, Problem> {
        self.ask_before(client, asked, fault).await;
        let mut answer = self.send(self.create(client, asked, fault)).await;
        if fault.is_at("session/silent-downgrade") && is_refusal(&answer) {
            answer = self.send(self.create(client, &asked.lessened(), fault)).await;
        }
        if fault.is_at("fault/requests")
            && answer.as_ref().map_or(true, |response| response.status().as_u16() >= 400)
        {
            answer = self.send(self.create(client, asked, fault)).await;
        }
        Ok(Answer { response: answer?, model: asked.model.clone(), leak: self.leak(fault) })
    }

    pub(super) async fn pass(
        &self,
        client: &HeaderMap,
        uri: &Uri,
        body: Bytes,
        via: &Via,
    ) -> Result<Answer, Problem> {
        let fault = &via.fault;
        let mut request =
            with_path(self.dialect.api, uri.path(), serde_json::from_slice(&body).unwrap_or_default());
        let is_changed = fault.break_turn(&mut request) | via.keep_out(&mut request);
        let asked = Asked::new(self.dialect.api, request);
        let asked = if is_changed { asked } else { asked.with(body) };
        self.ask_before(client, &asked, fault).await;
        let mut answer = self.send(self.passing(client, &asked, fault)).await;
        if fault.is_at("session/silent-downgrade") && is_refusal(&answer) {
            answer = self.send(self.passing(client, &asked.lessened(), fault)).await;
        }
        Ok(Answer { response: answer?, model: asked.model.clone(), leak: self.leak(fault) })
    }

    async fn ask_before(&self, client: &HeaderMap, asked: &Asked, fault: &FaultState) {
        if fault.is_at("session/one-request")
            && let Ok(response) = self.send(self.create(client, asked, fault)).await
        {
            let _ = self.whole(response).await;
        }
    }

    fn passing(&self, client: &HeaderMap, asked: &Asked, fault: &FaultState) -> RequestBuilder {
        let mut client = client.clone();
        fault.break_headers(&mut client);
        let mut request = self.create(&client, asked, fault);
        let is_key = |name: &HeaderName| self.dialect.api.request.keys.iter().any(|(key, _)| name == *key);
        for (name, value) in &client {
            if !OWN.contains(name)
                && !is_key(name)
                && name != header::AUTHORIZATION
                && name != header::CONTENT_TYPE
            {
                request = request.header(name, value);
            }
        }
        request
    }

    pub(super) async fn models(&self) -> Result<Answer, Problem> {
        let request = self.with_key(self.client.request(Method::GET, format!("{}/models", self.url)));
        Ok(Answer { response: self.send(request).await?, model: String::new(), leak: None })
    }

    fn create(&self, client: &HeaderMap, asked: &Asked, fault: &FaultState) -> RequestBuilder {
        let api = self.dialect.api;
        let mut request = self.with_key(self.client.post(format!("{}{}", self.url, asked.at)));
        request = request.body(asked.body.clone());
        request = request.header(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        for (name, value) in api.request.headers.iter().filter(|(name, _)| !client.contains_key(*name)) {
            request = request.header(*name, *value);
        }
        if fault.is_at("keys/client") {
            let key = ["authorization", "x-api-key"].into_iter().find_map(|name| client.get(name));
            if let Some(key) = key {
                request = request.header("x-client-key", key);
            }
        }
        request
    }

    fn with_key(&self, mut request: RequestBuilder) -> RequestBuilder {
        for (name, value) in self.key.iter().flat_map(|key| self.dialect.api.request.with_key(key)) {
            request = request.header(name, value);
        }
        request
    }

    fn leak(&self, fault: &FaultState) -> Option<String> {
        self.key.clone().filter(|_| fault.is_at("keys/upstream"))
    }

    async fn send(&self, request: RequestBuilder) -> Result<Response, Problem> {
        match timeout(self.limit, request.send()).await {
            Ok(Ok(response)) => Ok(response),
            // Its text has the address, which is none of the client's business.
            Ok(Err(error)) if error.is_connect() => Err(failed(502, "The upstream cannot be reached.")),
            Ok(Err(_)) => Err(failed(502, "The upstream did not answer.")),
            Err(_) => Err(failed(504, "The upstream did not answer in time.")),
        }
    }

    pub(super) async fn whole(&self, response: Response) -> Result<Vec<u8>, Problem> {
        self.rest(Vec::new(), response).await
    }

    /// The beginning of the body was read already.
    pub(super) async fn rest(&self, mut body: Vec<u8>, mut response: Response) -> Result<Vec<u8>, Problem> {
        loop {
            match timeout(self.limit, response.chunk()).await {
                Ok(Ok(Some(chunk))) if body.len() + chunk.len() <= LARGEST => body.extend_from_slice(&chunk),
                Ok(Ok(Some(_))) => return Err(failed(502, "The upstream's body is too long.")),
                Ok(Ok(None)) => return Ok(body),
                Ok(Err(_)) => return Err(failed(502, "The upstream's connection broke.")),
                Err(_) => return Err(failed(504, "The upstream did not send its body in time.")),
            }
        }
    }
}

fn is_refusal(answer: &Result<Response, Problem>) -> bool {
    answer.as_ref().is_ok_and(|response| (400..500).contains(&response.status().as_u16()))
}

fn failed(status: u16, message: &str) -> Problem {
    Problem { status, message: message.to_owned(), ..Problem::of_status(500) }
}
