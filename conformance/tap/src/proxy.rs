//! The reverse proxy: requests and responses pass as they come.

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use http::header::{
    CONNECTION, CONTENT_TYPE, HOST, HeaderName, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TE, TRAILER,
    TRANSFER_ENCODING, UPGRADE,
};
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode, Uri, Version};
use http_body_util::{Either, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper_rustls::{ConfigBuilderExt as _, HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::GracefulShutdown;
use rustls::ClientConfig;
use tokio::io::copy_bidirectional;
use tokio::net::TcpListener;
use tokio::time::{sleep, timeout};

use crate::copy::{Followed, Follower, Side};
use crate::lost::Lost;
use crate::passed::{Ended, in_words};
use crate::queue::Queue;

/// Headers of one connection.
const HOPS: [HeaderName; 8] = [
    CONNECTION,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION,
    TE,
    TRANSFER_ENCODING,
    UPGRADE,
];

/// Timeout of a connection to an upstream.
const CONNECTION_LIMIT: Duration = Duration::from_secs(10);

/// Where requests go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upstream {
    /// Its name. Requests whose path begins with it go there; all others go to the first upstream.
    pub name: Arc<str>,
    /// Its address: the path of a request follows its own.
    pub url: Uri,
}

/// The part of the exchanges that is judged. Copies change together.
#[derive(Debug, Clone)]
pub struct Sample(Arc<AtomicU64>);

impl Sample {
    /// From 0 to 1.
    pub fn new(part: f64) -> Self {
        let sample = Self(Arc::default());
        sample.set(part);
        sample
    }

    /// The part of the exchanges that is copied from now on.
    pub fn set(&self, part: f64) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is from 0 to 1")]
        self.0.store((part.clamp(0.0, 1.0) * 1e6) as u64, Ordering::Relaxed);
    }
}

/// The proxy.
#[derive(Debug)]
pub struct Proxy {
    upstreams: Vec<Upstream>,
    client: Client<HttpsConnector<HttpConnector>, Followed>,
    /// A connection of HTTP/2 cannot become another one.
    upgrading: Client<HttpsConnector<HttpConnector>, Followed>,
    queue: Queue,
    /// In millionths.
    sample: Sample,
    count: AtomicU64,
}

pub(crate) fn connector(upgrades: bool) -> io::Result<HttpsConnector<HttpConnector>> {
    // Another part of the program may have installed one already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let trust = ClientConfig::builder().try_with_platform_verifier().map_err(io::Error::other)?;
    let mut plain = HttpConnector::new();
    plain.set_nodelay(true);
    plain.set_connect_timeout(Some(CONNECTION_LIMIT));
    plain.enforce_http(false);
    let builder = HttpsConnectorBuilder::new().with_tls_config(trust.with_no_client_auth());
    let builder = builder.https_or_http();
    Ok(if upgrades {
        builder.enable_http1().wrap_connector(plain)
    } else {
        builder.enable_all_versions().wrap_connector(plain)
    })
}

type Passing = Response<Either<Followed, Full<Bytes>>>;

impl Proxy {
    /// Passes requests on to these upstreams, and copies of a part of the exchanges to a queue.
    ///
    /// # Errors
    ///
    /// If there is no upstream, or the certificate authorities of the system cannot be read.
    pub fn new(upstreams: Vec<Upstream>, queue: Queue, sample: Sample) -> io::Result<Self> {
        if upstreams.is_empty() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "there is no upstream"));
        }
        let mut builder = Client::builder(TokioExecutor::new());
        builder.pool_timer(TokioTimer::new()).http1_preserve_header_case(true);
        let (client, upgrading) = (builder.build(connector(false)?), builder.build(connector(true)?));
        Ok(Self { upstreams, client, upgrading, queue, sample, count: AtomicU64::new(0) })
    }

    /// The path there is without the name.
    fn upstream<'p>(&self, path: &'p str) -> (&Upstream, &'p str) {
        let named = self.upstreams.iter().find_map(|upstream| {
            let rest = path.strip_prefix('/')?.strip_prefix(&*upstream.name)?;
            (rest.is_empty() || rest.starts_with(['/', '?'])).then_some((upstream, rest))
        });
        named.unwrap_or((&self.upstreams[0], path))
    }

    /// The sample is spread evenly.
    fn is_sampled(&self) -> bool {
        let count = self.count.fetch_add(1, Ordering::Relaxed);
        let sample = self.sample.0.load(Ordering::Relaxed);
        let part = |count: u64| count.wrapping_mul(sample) / 1_000_000;
        part(count + 1) > part(count)
    }

    async fn pass(self: Arc<Self>, mut request: Request<Incoming>) -> Passing {
        let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
        let (upstream, path) = self.upstream(path);
        let Some(uri) = joined(&upstream.url, path) else {
            return refusal(
                StatusCode::BAD_REQUEST,
                "the path of the request cannot follow that of the upstream",
            );
        };
        let upgrade = is_upgrade(request.headers()).then(|| hyper::upgrade::on(&mut request));
        let (mut parts, body) = request.into_parts();
        let follower = Follower::new(&self.queue, &upstream.name, uri.to_string(), &parts);
        if !self.is_sampled() {
            follower.lose(Lost::Sample);
        }
        let kept = upgrade.is_some().then(|| parts.headers.get(UPGRADE).cloned()).flatten();
        let trailers = parts.headers.get(TE).is_some_and(|value| value == "trailers");
        strip(&mut parts.headers);
        parts.headers.remove(HOST);
        if let Some(protocol) = kept {
            parts.headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
            parts.headers.insert(UPGRADE, protocol);
        }
        if trailers {
            parts.headers.insert(TE, HeaderValue::from_static("trailers"));
        }
        (parts.uri, parts.version) = (uri, Version::HTTP_11);
        let body = Followed::request(body, Arc::clone(&follower));
        let client = if upgrade.is_some() { &self.upgrading } else { &self.client };
        let mut response = match client.request(Request::from_parts(parts, body)).await {
            Ok(response) => response,
            Err(error) => {
                let reason = in_words(&error);
                follower.end(Ended::Unanswered(reason.clone()));
                return refusal(StatusCode::BAD_GATEWAY, &format!("the upstream cannot be asked: {reason}"));
            }
        };
        let switched = (response.status() == StatusCode::SWITCHING_PROTOCOLS)
            .then(|| upgrade.map(|client| (client, hyper::upgrade::on(&mut response))))
            .flatten();
        let (mut parts, body) = response.into_parts();
        follower.head(&parts);
        let protocol = parts.headers.get(UPGRADE).cloned();
        strip(&mut parts.headers);
        if let Some((client, upstream)) = switched {
            if protocol
                .as_ref()
                .is_none_or(|protocol| !protocol.as_bytes().eq_ignore_ascii_case(b"websocket"))
            {
                follower.lose(Lost::Upgrade);
            }
            parts.headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
            parts.headers.extend(protocol.map(|protocol| (UPGRADE, protocol)));
            let proxy = Arc::clone(&self);
            tokio::spawn(async move {
                if let (Ok(client), Ok(upstream)) = (client.await, upstream.await) {
                    let [mut client, mut upstream] = [(client, true), (upstream, false)]
                        .map(|(io, is_client)| Side::new(io, &follower, is_client));
                    // Either side may leave at any time.
                    let _ = copy_bidirectional(&mut client, &mut upstream).await;
                } else {
                    follower.end(Ended::ClientLeft);
                }
                drop(proxy);
            });
            return Response::from_parts(parts, Either::Right(Full::default()));
        }
        Response::from_parts(parts, Either::Left(Followed::response(body, follower)))
    }
}

fn joined(base: &Uri, path: &str) -> Option<Uri> {
    let path = format!("{}{path}", base.path().trim_end_matches('/'));
    let path = if path.starts_with('/') { path } else { format!("/{path}") };
    Uri::builder()
        .scheme(base.scheme()?.clone())
        .authority(base.authority()?.clone())
        .path_and_query(path)
        .build()
        .ok()
}

fn is_upgrade(headers: &HeaderMap) -> bool {
    headers.contains_key(UPGRADE)
        && headers
            .get_all(CONNECTION)
            .iter()
            .any(|value| value.to_str().is_ok_and(|value| value.to_ascii_lowercase().contains("upgrade")))
}

/// A connection names further headers of its own.
fn strip(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in HOPS.iter().chain(&named).filter(|name| **name != TRAILER) {
        headers.remove(name);
    }
}

/// The only answer of the proxy itself.
fn refusal(status: StatusCode, why: &str) -> Passing {
    let body = serde_json::json!({ "error": { "type": "conformance_tap", "message": why } }).to_string();
    let mut response = Response::new(Either::Right(Full::from(body)));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// Maximum time for exchanges at hand, once the proxy is to end.
const DRAIN: Duration = Duration::from_secs(30);

/// Passes exchanges until a future completes, then those at hand.
///
/// # Errors
///
/// If the listener has no address.
pub async fn serve(listener: TcpListener, proxy: Proxy, until: impl Future<Output = ()>) -> io::Result<()> {
    let proxy = Arc::new(proxy);
    let graceful = GracefulShutdown::new();
    let mut until = std::pin::pin!(until);
    loop {
        let accepted = tokio::select! {
            biased;
            () = &mut until => break,
            accepted = listener.accept() => accepted,
        };
        // Too many open files pass.
        let Ok((stream, _)) = accepted else {
            sleep(Duration::from_millis(50)).await;
            continue;
        };
        // It is an optimization.
        let _ = stream.set_nodelay(true);
        let proxy = Arc::clone(&proxy);
        let service = service_fn(move |request| {
            let proxy = Arc::clone(&proxy);
            async move { Ok::<_, Infallible>(proxy.pass(request).await) }
        });
        let mut builder = auto::Builder::new(TokioExecutor::new());
        builder.http1().preserve_header_case(true).timer(TokioTimer::new());
        let connection = builder.serve_connection_with_upgrades(TokioIo::new(stream), service).into_owned();
        let watched = graceful.watch(connection);
        tokio::spawn(async move {
            // Clients may leave at any time.
            let _ = watched.await;
        });
    }
    let _ = timeout(DRAIN, async {
        graceful.shutdown().await;
        // Each WebSocket has the proxy.
        while Arc::strong_count(&proxy) > 1 {
            sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
    Ok(())
}
