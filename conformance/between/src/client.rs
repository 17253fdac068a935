//! The client in front of the gateway.

use std::error::Error as _;
use std::iter::successors;
use std::time::Duration;

use harness::plan::Call;
use harness::wire::Target;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Url, redirect};
use spec::Api;
use tokio::time::{Instant, timeout_at};

use crate::evidence::{Ended, Exchanged, Method, Response};
use crate::session::RecordedRequest;
use crate::upstream::Playing;

/// Maximum size of a response.
pub(crate) const LARGEST: usize = 16 << 20;

/// How long agents wait for what they ask beside their turns.
const PROBED: Duration = Duration::from_secs(3);

#[derive(Debug, Clone)]
pub(crate) struct Client {
    http: reqwest::Client,
    api: &'static Api,
    target: Target,
    limit: Duration,
}

pub(crate) struct Sent {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
}

impl Client {
    /// A client for the gateway at a base URL.
    ///
    /// # Errors
    ///
    /// If the URL or a header is invalid.
    pub(crate) fn new(
        base: &str,
        api: &'static Api,
        key: Option<&str>,
        own_headers: &[String],
        limit: Duration,
    ) -> Result<Self, String> {
        let target = Target::new(base, api);
        let target = key.into_iter().fold(target, |target, key| target?.with_key(key));
        let target = own_headers.iter().fold(target, |target, header| target?.with_header(header));
        let target = target.map_err(|error| error.to_string())?;
        // Another part of the program may have installed one already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder();
        // Without TLS, a system may have no certificate authorities.
        let http = if target.url().scheme() == "https" { http } else { http.tls_certs_only([]) };
        let http = http
            .no_proxy()
            .redirect(redirect::Policy::none())
            .retry(reqwest::retry::never())
            .pool_max_idle_per_host(0)
            .build()
            .map_err(|error| error.to_string())?;
        Ok(Self { http, api, target, limit })
    }

    pub(crate) async fn ask(&self, body: String, playing: &Playing) -> Exchanged {
        self.send(self.asked(body), None, playing).await
    }

    pub(crate) const fn http(&self) -> &reqwest::Client {
        &self.http
    }

    pub(crate) fn limit(&self, playing: &Playing) -> Duration {
        self.limit + playing.test.silence().unwrap_or_default()
    }

    pub(crate) fn asked(&self, body: String) -> Sent {
        let call = Call::create(self.api, body);
        let headers = self.target.headers(call.wants_stream);
        let body = call.body.clone().unwrap_or_default();
        Sent { method: Method::Post, url: call.url(self.target.url()), headers, body }
    }

    pub(crate) fn recorded(&self, request: &RecordedRequest) -> Sent {
        let mut headers = HeaderMap::new();
        for (name, value) in &request.headers {
            if let (Ok(name), Ok(value)) =
                (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(value))
            {
                headers.append(name, value);
            }
        }
        // The recording has no keys.
        for (name, value) in &self.target.headers(true) {
            headers.entry(name).or_insert_with(|| value.clone());
        }
        let mut url = Call { at: request.at.clone(), ..Call::default() }.url(self.target.url());
        url.set_query(request.query.as_deref());
        Sent { method: Method::Post, url, headers, body: request.body.clone() }
    }

    /// A probe comes beside the turns. It is a method, and a path from the root of the gateway.
    pub(crate) async fn probe(&self, probe: &str, like: &RecordedRequest, playing: &Playing) -> Exchanged {
        let mut sent = self.recorded(like);
        let (method, target) = probe.split_once(' ').unwrap_or(("GET", probe));
        let (path, query) =
            target.split_once('?').map_or((target, None), |(path, query)| (path, Some(query)));
        let base = sent.url.path().strip_suffix(self.api.path).unwrap_or_default();
        let is_version = |name: &str| {
            name.strip_prefix('v').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        };
        let root = base.rsplit_once('/').filter(|(_, last)| is_version(last)).map_or(base, |(root, _)| root);
        let root = root.to_owned();
        sent.method = Method::named(method);
        sent.url.set_path(&(root + path));
        sent.url.set_query(query);
        if sent.method != Method::Post {
            sent.body.clear();
        }
        self.send_within(sent, PROBED.min(self.limit), None, playing).await
    }

    pub(crate) async fn send(&self, sent: Sent, leaves_after: Option<u32>, playing: &Playing) -> Exchanged {
        let limit = self.limit(playing);
        self.send_within(sent, limit, leaves_after, playing).await
    }

    async fn send_within(
        &self,
        sent: Sent,
        limit: Duration,
        leaves_after: Option<u32>,
        playing: &Playing,
    ) -> Exchanged {
        let mut exchange = sent.exchange(playing.elapsed());
        let by = Instant::now() + limit;
        let Sent { method, url, headers, body } = sent;
        let method = reqwest::Method::from_bytes(method.name().as_bytes()).unwrap_or_default();
        let request = self.http.request(method, url).headers(headers).body(body);
        let mut recorded = Response::default();
        recorded.end = match timeout_at(by, request.send()).await {
            Err(_) => Ended::Silent(format!("no response within {limit:?}")),
            Ok(Err(error)) => Ended::Broken(in_words(&error)),
            Ok(Ok(mut response)) => {
                recorded.status = response.status().as_u16();
                recorded.headers = written(response.headers());
                self.read(&mut response, &mut recorded.pieces, leaves_after, by, playing).await
            }
        };
        recorded.ended_at = playing.elapsed();
        if recorded.end == Ended::Left {
            playing.left();
        }
        exchange.response = Some(recorded);
        exchange
    }

    async fn read(
        &self,
        response: &mut reqwest::Response,
        pieces: &mut Vec<(Duration, Vec<u8>)>,
        leaves_after: Option<u32>,
        by: Instant,
        playing: &Playing,
    ) -> Ended {
        let mut size = 0;
        let mut ends = Ends::default();
        loop {
            let chunk = match timeout_at(by, response.chunk()).await {
                Err(_) => return Ended::Silent(format!("no end within {:?}", self.limit)),
                Ok(Err(error)) => return Ended::Broken(in_words(&error)),
                Ok(Ok(None)) => return Ended::Complete,
                Ok(Ok(Some(chunk))) => chunk,
            };
            size += chunk.len();
            if size > LARGEST {
                return Ended::Broken(format!("the response is longer than {LARGEST} bytes"));
            }
            pieces.push((playing.elapsed(), chunk.to_vec()));
            playing.received(&chunk);
            if leaves_after.is_some_and(|count| ends.count(&chunk) >= count) {
                return Ended::Left;
            }
        }
    }
}

impl Sent {
    /// Before there is a response.
    pub(crate) fn exchange(&self, at: Duration) -> Exchanged {
        let path = self.url.path();
        Exchanged {
            at,
            method: self.method,
            path: self.url.query().map_or_else(|| path.to_owned(), |query| format!("{path}?{query}")),
            headers: written(&self.headers),
            body: self.body.clone().into_bytes(),
            ..Exchanged::default()
        }
    }
}

/// Counts the events of a stream, by the blank lines at their ends.
#[derive(Debug, Default)]
struct Ends {
    count: u32,
    is_blank: bool,
}

impl Ends {
    fn count(&mut self, chunk: &[u8]) -> u32 {
        for byte in chunk {
            match byte {
                b'\n' if self.is_blank => {
                    self.count += 1;
                    self.is_blank = false;
                }
                b'\n' => self.is_blank = true,
                b'\r' => {}
                _ => self.is_blank = false,
            }
        }
        self.count
    }
}

fn written(headers: &HeaderMap) -> Vec<(String, String)> {
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    headers.iter().map(|(name, value)| (name.to_string(), text(value))).collect()
}

/// The last cause has no address.
fn in_words(error: &reqwest::Error) -> String {
    let cause = successors(error.source(), |&error| error.source()).last();
    cause.map_or_else(|| "the request could not be sent".to_owned(), ToString::to_string)
}
