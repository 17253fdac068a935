//! The page of numbers for operators, and pages that say that a tap works.

use std::convert::Infallible;
use std::time::Duration;

use http::header::CONTENT_TYPE;
use http::{HeaderValue, Response, StatusCode};
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tokio::time::sleep;

use crate::metrics::Metrics;

/// The media type of `OpenMetrics`.
const TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Serves `/metrics`, `/healthz` and `/readyz` as long as it is polled.
pub async fn serve_metrics(listener: TcpListener, metrics: Metrics) -> Infallible {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // Too many open files pass.
            sleep(Duration::from_millis(50)).await;
            continue;
        };
        let metrics = metrics.clone();
        tokio::spawn(async move {
            let answer = service_fn(|request: http::Request<_>| {
                let answer = answer(request.uri().path(), &metrics);
                async { Ok::<_, Infallible>(answer) }
            });
            // Whoever asks may leave at any time.
            let _ = http1::Builder::new()
                .timer(TokioTimer::new())
                .serve_connection(TokioIo::new(stream), answer)
                .await;
        });
    }
}

fn answer(path: &str, metrics: &Metrics) -> Response<Full<Bytes>> {
    let (status, kind, text) = match path {
        "/metrics" => (StatusCode::OK, TYPE, metrics.text()),
        "/healthz" | "/readyz" => (StatusCode::OK, "text/plain", "ok\n".to_owned()),
        _ => (StatusCode::NOT_FOUND, "text/plain", "/metrics, /healthz, /readyz\n".to_owned()),
    };
    let mut response = Response::new(Full::from(text));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}
