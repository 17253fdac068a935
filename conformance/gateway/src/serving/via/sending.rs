//! Responses to clients.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use futures_core::Stream;
use spec::Dialect;
use tokio::sync::mpsc;
use tokio::time::{Instant, Sleep, sleep};
use translation::{Reply, Translator, UpstreamEnd};

use super::{Answer, Via, json, refused};

/// The bytes of the upstream's body as they arrive.
type Chunks = Pin<Box<dyn Stream<Item = Result<Bytes, String>> + Send>>;

/// Returns a response whose bytes pass unchanged.
pub(super) fn passed(answer: Answer, via: &Arc<Via>, front: Option<&'static Dialect>) -> Response {
    let Answer { response, leak } = answer;
    let status = response.status();
    let mut headers = response.headers().clone();
    for name in [header::CONNECTION, header::TRANSFER_ENCODING, header::TRAILER, header::UPGRADE] {
        headers.remove(name);
    }
    let is_changed = front.is_some() && via.fault.is_at("passthrough/bytes");
    if is_changed {
        headers.remove(header::CONTENT_LENGTH);
    }
    let chunks = chunks(response, via);
    let body = Passed { chunks: Waiting::new(chunks, via), is_changed };
    let mut response = Response::new(Body::from_stream(body));
    *response.status_mut() = StatusCode::from_u16(status.as_u16()).unwrap_or(StatusCode::BAD_GATEWAY);
    *response.headers_mut() = headers;
    leaked(&mut response, leak.as_deref());
    response
}

/// Returns a response that is translated.
pub(super) async fn translated(
    answer: Answer,
    mut translator: Translator,
    via: &Arc<Via>,
    asked: &Bytes,
    is_stream: bool,
) -> Response {
    let Answer { response, leak } = answer;
    let status = response.status().as_u16();
    let retry_after = response.headers().get(header::RETRY_AFTER).cloned();
    let mut response = if status >= 400 || !is_stream {
        whole(response, &mut translator, via).await
    } else {
        streamed(response, translator, via, asked).await
    };
    if let Some(retry_after) = retry_after {
        response.headers_mut().insert(header::RETRY_AFTER, retry_after);
    }
    if response.status().as_u16() >= 400 {
        via.fault.failed();
    }
    leaked(&mut response, leak.as_deref());
    response
}

/// Translates a body.
async fn whole(response: reqwest::Response, translator: &mut Translator, via: &Arc<Via>) -> Response {
    let status = response.status().as_u16();
    let (status, body) = match via.upstream.whole(response).await {
        Ok(body) => translator.body(status, &body),
        Err(problem) => translator.body(problem.status, problem.message.as_bytes()),
    };
    json(status, &body)
}

/// Translates a stream. Its head is sent with its first event, so that an error before that has a status.
async fn streamed(
    response: reqwest::Response,
    translator: Translator,
    via: &Arc<Via>,
    asked: &Bytes,
) -> Response {
    let chunks = Waiting::new(chunks(response, via), via);
    let mut body = Translated {
        chunks: Some(chunks),
        translator,
        via: Arc::clone(via),
        asked: asked.clone(),
        kind: Kind::Unknown,
        held: Vec::new(),
        is_quiet: false,
        again: None,
    };
    let first = std::future::poll_fn(|context| body.poll(context)).await;
    if let Some((status, error)) = body.translator.early_error() {
        via.fault.failed();
        return json(status, &error);
    }
    if via.fault.is_at("answer/kind") {
        return of_kind(first, body, via).await;
    }
    let mut response = Response::new(Body::from_stream(Begun { first, body }));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream; charset=utf-8"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// Returns the body in place of a stream.
async fn of_kind(first: Option<Bytes>, mut body: Translated, via: &Arc<Via>) -> Response {
    let mut stream = first.unwrap_or_default().to_vec();
    while let Some(more) = std::future::poll_fn(|context| body.poll(context)).await {
        stream.extend_from_slice(&more);
    }
    let front = body.translator.front();
    let reply = Reply::of_stream(front, &stream);
    if reply.error.is_some() {
        return refused(&crate::content::problem::Problem::of_status(500), via.settings.upstream);
    }
    json(200, &body.translator.reply(&reply))
}

/// Returns the bytes of a response as they arrive. They are still read when the client has left, if that is the fault.
fn chunks(response: reqwest::Response, via: &Via) -> Chunks {
    let stream = Bodied(Box::pin(response.bytes_stream()));
    if !via.fault.is_at("cancel/upstream-left") {
        return Box::pin(stream);
    }
    let (sender, receiver) = mpsc::unbounded_channel();
    let mut stream = stream;
    tokio::spawn(async move {
        while let Some(chunk) = std::future::poll_fn(|context| Pin::new(&mut stream).poll_next(context)).await
        {
            // Nobody has to receive it.
            let _ = sender.send(chunk);
        }
    });
    Box::pin(Received(receiver))
}

/// Adds a key to the headers of a response, if that is the fault.
fn leaked(response: &mut Response, key: Option<&str>) {
    if let Some(key) = key.and_then(|key| HeaderValue::from_str(key).ok()) {
        response.headers_mut().insert("x-upstream-key", key);
    }
}

/// The body of a response of the upstream.
struct Bodied(Pin<Box<dyn Stream<Item = reqwest::Result<Bytes>> + Send>>);

impl Stream for Bodied {
    type Item = Result<Bytes, String>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        // The text of an error has the address of the upstream.
        self.0.as_mut().poll_next(context).map_err(|_| "its connection was lost.".to_owned())
    }
}

/// Bytes that a task has read.
struct Received(mpsc::UnboundedReceiver<Result<Bytes, String>>);

impl Stream for Received {
    type Item = Result<Bytes, String>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_recv(context)
    }
}

/// Bytes for which the wait is limited.
struct Waiting {
    chunks: Chunks,
    limit: std::time::Duration,
    until: Pin<Box<Sleep>>,
}

impl Waiting {
    fn new(chunks: Chunks, via: &Via) -> Self {
        let limit = via.settings.limit;
        Self { chunks, limit, until: Box::pin(sleep(limit)) }
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, String>>> {
        if let Poll::Ready(chunk) = self.chunks.as_mut().poll_next(context) {
            let until = Instant::now() + self.limit;
            self.until.as_mut().reset(until);
            return Poll::Ready(chunk);
        }
        let message = || format!("nothing followed within {} ms.", self.limit.as_millis());
        self.until.as_mut().poll(context).map(|()| Some(Err(message())))
    }
}

/// A body that passes unchanged, except for one byte if that is the fault.
struct Passed {
    chunks: Waiting,
    is_changed: bool,
}

impl Stream for Passed {
    type Item = io::Result<Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let is_changed = self.is_changed;
        match std::task::ready!(self.chunks.poll(context)) {
            None => Poll::Ready(None),
            Some(Err(problem)) => Poll::Ready(Some(Err(io::Error::other(problem)))),
            Some(Ok(chunk)) => {
                let brace = chunk.iter().position(|byte| *byte == b'{').filter(|_| is_changed);
                let Some((head, tail)) = brace.and_then(|at| chunk.split_at_checked(at + 1)) else {
                    return Poll::Ready(Some(Ok(chunk)));
                };
                self.is_changed = false;
                Poll::Ready(Some(Ok(Bytes::from([head, b" ", tail].concat()))))
            }
        }
    }
}

/// What the upstream sends.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    Unknown,
    Stream,
    /// One JSON body, with what has arrived of it.
    Body(Vec<u8>),
}

/// A stream that is translated.
struct Translated {
    /// Nothing once the upstream has ended.
    chunks: Option<Waiting>,
    translator: Translator,
    via: Arc<Via>,
    asked: Bytes,
    kind: Kind,
    /// What a fault holds back.
    held: Vec<u8>,
    /// Whether it neither sends more nor ends.
    is_quiet: bool,
    /// The request that a fault sends again, for which the end waits.
    again: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
}

impl Translated {
    /// Returns the next bytes for the client, or nothing at the end.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        loop {
            if self.is_quiet {
                return Poll::Pending;
            }
            if let Some(again) = &mut self.again {
                std::task::ready!(again.as_mut().poll(context));
                self.again = None;
            }
            let Some(chunks) = &mut self.chunks else {
                let held = std::mem::take(&mut self.held);
                return Poll::Ready((!held.is_empty()).then(|| held.into()));
            };
            let out = match std::task::ready!(chunks.poll(context)) {
                Some(Ok(chunk)) => self.push(&chunk),
                Some(Err(problem)) => self.finish(&UpstreamEnd::Broken(problem)),
                None => self.finish(&UpstreamEnd::Complete),
            };
            if self.translator.has_ended() {
                self.end();
            }
            let out = self.hold(out);
            if self.again.is_some() {
                self.held = out;
                continue;
            }
            if !out.is_empty() {
                return Poll::Ready(Some(out.into()));
            }
        }
    }

    fn push(&mut self, chunk: &[u8]) -> Vec<u8> {
        if self.kind == Kind::Unknown
            && let Some(first) = chunk.trim_ascii_start().first()
        {
            self.kind = if *first == b'{' { Kind::Body(Vec::new()) } else { Kind::Stream };
        }
        if let Kind::Body(body) = &mut self.kind {
            body.extend_from_slice(chunk);
            return Vec::new();
        }
        if self.via.fault.is_at("borders/same-answer") {
            // Of each piece, only whole characters are read.
            let whole: Vec<u8> = chunk.utf8_chunks().flat_map(|piece| piece.valid().bytes()).collect();
            return self.translator.push(&whole);
        }
        self.translator.push(chunk)
    }

    fn finish(&mut self, end: &UpstreamEnd) -> Vec<u8> {
        let mut out = Vec::new();
        if let Kind::Body(body) = std::mem::replace(&mut self.kind, Kind::Stream)
            && *end == UpstreamEnd::Complete
        {
            let reply = Reply::of_body(self.via.settings.upstream, 200, &body);
            out = self.translator.write(reply.deltas());
        }
        out.extend(self.translator.finish(end));
        out
    }

    /// Ends the upstream's side: a response that failed is given up, and the rest of a complete one is read.
    fn end(&mut self) {
        let chunks = self.chunks.take();
        if !self.translator.has_failed() {
            if let Some(mut chunks) = chunks {
                tokio::spawn(async move {
                    while let Some(Ok(_)) = std::future::poll_fn(|context| chunks.poll(context)).await {}
                });
            }
            return;
        }
        let fault = &self.via.fault;
        fault.failed();
        let is_early = self.translator.early_error().is_some();
        self.is_quiet = fault.is_at("fault/hung") && !is_early;
        if fault.is_at("fault/replay") && !is_early {
            let (via, asked) = (Arc::clone(&self.via), self.asked.clone());
            self.again = Some(Box::pin(async move {
                if let Ok(answer) = via.upstream.ask(&HeaderMap::new(), &asked, &via.fault).await {
                    let _ = via.upstream.whole(answer.response).await;
                }
            }));
        }
    }

    /// Returns what is sent at once.
    fn hold(&mut self, out: Vec<u8>) -> Vec<u8> {
        let fault = &self.via.fault;
        if fault.is_at("time/first-byte") {
            self.held.extend(out);
            return Vec::new();
        }
        if fault.is_at("time/in-step") {
            return if out.is_empty() { out } else { std::mem::replace(&mut self.held, out) };
        }
        out
    }
}

/// A stream whose first bytes were awaited.
struct Begun {
    first: Option<Bytes>,
    body: Translated,
}

impl Stream for Begun {
    type Item = io::Result<Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        match self.first.take() {
            Some(first) => Poll::Ready(Some(Ok(first))),
            None => self.body.poll(context).map(|bytes| bytes.map(Ok)),
        }
    }
}
