//! Responses to clients.

use std::convert::Infallible;
use std::future::ready;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use futures_util::stream::{self, BoxStream, StreamExt as _, TryStreamExt as _};
use spec::Dialect;
use tokio::sync::mpsc;
use tokio::time::timeout;
use translation::{Reply, Translator, UpstreamEnd};

use super::faults::SHOULD_RETRY;
use super::homes::Learning;
use super::{Answer, Asked, Via, json, refused};
use crate::content::problem::Problem;
use crate::rendering::list::listed;

const STREAM: &str = "text/event-stream";

/// The bytes of the upstream's body as they arrive, or what is wrong with it.
type Chunks = BoxStream<'static, Result<Bytes, String>>;

/// The bytes pass unchanged, except for one if that is the fault.
pub(super) fn passed(answer: Answer, via: &Arc<Via>, front: Option<&'static Dialect>) -> Response {
    let Answer { response, model, leak } = answer;
    let status = response.status();
    let mut headers = response.headers().clone();
    for name in [header::CONNECTION, header::TRANSFER_ENCODING, header::TRAILER, header::UPGRADE] {
        headers.remove(name);
    }
    let mut is_changed = front.is_some() && via.fault.is_at("passthrough/bytes");
    let (is_forgetful, is_silent) =
        (via.fault.is_at("cache/usage-kept"), via.fault.is_at("session/break-told"));
    if status.as_u16() >= 400 {
        via.fault.failed();
        if let Some(front) = front.filter(|_| via.fault.is_at("contract/error-body")) {
            return advised(
                refused(&Problem::of_status(status.as_u16()), front),
                &advice(response.headers()),
            );
        }
    }
    if is_changed || is_forgetful {
        headers.remove(header::CONTENT_LENGTH);
    }
    let is_stream =
        headers.get(header::CONTENT_TYPE).is_some_and(|it| it.as_bytes().starts_with(STREAM.as_bytes()));
    let all = chunks(response, via, &model);
    let all = match (via.keeps_alive().filter(|_| is_stream), front) {
        (Some(every), Some(front)) => kept_alive(all, every, front.api.sign_of_life),
        _ => all,
    };
    // A broken connection becomes the end.
    let all = if is_silent { all.take_while(|chunk| ready(chunk.is_ok())).boxed() } else { all };
    let body = all.map_ok(move |chunk| {
        if is_forgetful {
            return Bytes::from(without_counts(&String::from_utf8_lossy(&chunk)));
        }
        let brace = chunk.iter().position(|byte| *byte == b'{').filter(|_| is_changed);
        let Some((head, tail)) = brace.and_then(|at| chunk.split_at_checked(at + 1)) else { return chunk };
        is_changed = false;
        Bytes::from([head, b" ", tail].concat())
    });
    let mut response = Response::new(Body::from_stream(body));
    *response.status_mut() = StatusCode::from_u16(status.as_u16()).unwrap_or(StatusCode::BAD_GATEWAY);
    *response.headers_mut() = headers;
    leaked(&mut response, leak.as_deref());
    response
}

/// The upstream's advice on sending a refused request again.
fn advice(headers: &HeaderMap) -> Vec<(HeaderName, HeaderValue)> {
    let names = [header::RETRY_AFTER, HeaderName::from_static(SHOULD_RETRY)];
    names.into_iter().filter_map(|name| Some((name.clone(), headers.get(&name)?.clone()))).collect()
}

fn advised(mut response: Response, advice: &[(HeaderName, HeaderValue)]) -> Response {
    response.headers_mut().extend(advice.iter().cloned());
    response
}

fn without_counts(text: &str) -> String {
    let name = |text: &str| text.find("cache").and_then(|at| Some(at + text.get(at..)?.find(':')? + 1));
    let (mut out, mut rest) = (String::new(), text);
    while let Some((head, tail)) = name(rest).and_then(|at| rest.split_at_checked(at)) {
        out.push_str(head);
        rest = tail.trim_start_matches(|c: char| c.is_ascii_digit());
        if rest.len() < tail.len() {
            out.push('0');
        }
    }
    out + rest
}

pub(super) async fn translated(
    answer: Answer,
    mut translator: Translator,
    via: &Arc<Via>,
    asked: &Asked,
    is_stream: bool,
) -> Response {
    let Answer { response, model, leak } = answer;
    let status = response.status().as_u16();
    let advice = advice(response.headers());
    let mut response = if status >= 400 || !is_stream {
        whole(response, &mut translator, via).await
    } else {
        streamed(response, &model, translator, via, asked).await
    };
    response = advised(response, &advice);
    if response.status().as_u16() >= 400 {
        via.fault.failed();
    }
    leaked(&mut response, leak.as_deref());
    response
}

async fn whole(response: reqwest::Response, translator: &mut Translator, via: &Arc<Via>) -> Response {
    let status = response.status().as_u16();
    let (status, body) = match via.upstream.whole(response).await {
        Ok(body) => translator.body(status, &body),
        Err(problem) => translator.body(problem.status, problem.message.as_bytes()),
    };
    json(status, &body)
}

/// The head is sent with the first event, so that an error before it has a status.
async fn streamed(
    response: reqwest::Response,
    model: &str,
    translator: Translator,
    via: &Arc<Via>,
    asked: &Asked,
) -> Response {
    let mut body = Translated {
        chunks: Some(chunks(response, via, model)),
        translator,
        via: Arc::clone(via),
        asked: asked.clone(),
        kind: Kind::Unknown,
        held: Vec::new(),
        is_quiet: false,
    };
    let first = body.next().await;
    if let Some((status, error)) = body.translator.early_error() {
        via.fault.failed();
        return json(status, &error);
    }
    if via.fault.is_at("answer/kind") {
        return of_kind(first, body, via).await;
    }
    let rest = stream::unfold(body, |mut body| async move { Some((body.next().await?, body)) });
    let all = stream::iter(first).chain(rest).map(Ok::<_, Infallible>);
    let mut response = Response::new(Body::from_stream(all));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream; charset=utf-8"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// The body in place of a stream.
async fn of_kind(first: Option<Bytes>, mut body: Translated, via: &Arc<Via>) -> Response {
    let mut stream = first.unwrap_or_default().to_vec();
    while let Some(more) = body.next().await {
        stream.extend_from_slice(&more);
    }
    let front = body.translator.front();
    let reply = Reply::of_stream(front, &stream);
    if reply.error.is_some() {
        return refused(&Problem::of_status(500), via.settings.upstream);
    }
    json(200, &body.translator.reply(&reply))
}

/// Each chunk has to arrive within the limit. They are still read when the client has left, if that is the fault.
fn chunks(response: reqwest::Response, via: &Arc<Via>, model: &str) -> Chunks {
    // The text of an error has the address of the upstream.
    let mut chunks = response.bytes_stream().map_err(|_| "its connection was lost.".to_owned()).boxed();
    if via.settings.other_model.is_some() {
        let (via, mut learning) = (Arc::clone(via), Learning::new(model));
        chunks = chunks.inspect_ok(move |chunk| via.homes.learn(&mut learning, chunk)).boxed();
    }
    if via.fault.is_at("cancel/upstream-left") {
        let (sender, mut receiver) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            while let Some(chunk) = chunks.next().await {
                // Nobody has to receive it.
                let _ = sender.send(chunk);
            }
        });
        chunks = stream::poll_fn(move |context| receiver.poll_recv(context)).boxed();
    }
    let limit = via.settings.limit;
    let within = move |mut chunks: Chunks| async move {
        let late = || format!("nothing followed within {} ms.", limit.as_millis());
        let chunk = timeout(limit, chunks.next()).await.unwrap_or_else(|_| Some(Err(late())));
        Some((chunk?, chunks))
    };
    stream::unfold(chunks, within).fuse().boxed()
}

fn kept_alive(all: Chunks, every: Duration, sign: &'static str) -> Chunks {
    let next = move |(mut all, mut is_between): (Chunks, bool)| async move {
        loop {
            let chunk = match timeout(every, all.next()).await {
                Ok(chunk) => chunk?,
                Err(_) if is_between => Ok(Bytes::from_static(sign.as_bytes())),
                Err(_) => continue,
            };
            if let Ok(bytes) = &chunk {
                is_between =
                    bytes.ends_with(b"\n\n") || bytes.ends_with(b"\r\n\r\n") || **bytes == *sign.as_bytes();
            }
            return Some((chunk, (all, is_between)));
        }
    };
    stream::unfold((all, true), next).boxed()
}

/// A stream as a list that grows, which some APIs send, and an error of our own as its only entry.
pub(super) fn of_list(mut response: Response, is_translated: bool) -> Response {
    let is_stream = |value: &HeaderValue| value.as_bytes().starts_with(STREAM.as_bytes());
    if !response.headers().get(header::CONTENT_TYPE).is_some_and(is_stream) {
        if !is_translated || response.status().as_u16() < 400 {
            return response;
        }
        response.headers_mut().remove(header::CONTENT_LENGTH);
        return response.map(|body| {
            let around = |text: &'static str| stream::once(ready(Ok(Bytes::from_static(text.as_bytes()))));
            Body::from_stream(around("[").chain(body.into_data_stream()).chain(around("\n]")))
        });
    }
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response.headers_mut().remove(header::CONTENT_LENGTH);
    response.map(|body| Body::from_stream(listed(body.into_data_stream())))
}

/// Leaks the key in a header, if that is the fault.
fn leaked(response: &mut Response, key: Option<&str>) {
    if let Some(key) = key.and_then(|key| HeaderValue::from_str(key).ok()) {
        response.headers_mut().insert("x-upstream-key", key);
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    Unknown,
    Stream,
    /// One JSON body, with what has arrived of it.
    Body(Vec<u8>),
}

struct Translated {
    /// Nothing once the upstream has ended.
    chunks: Option<Chunks>,
    translator: Translator,
    via: Arc<Via>,
    asked: Asked,
    kind: Kind,
    /// Bytes that a fault holds back.
    held: Vec<u8>,
    /// Whether it neither sends more nor ends.
    is_quiet: bool,
}

impl Translated {
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if self.is_quiet {
                std::future::pending::<()>().await;
            }
            let Some(chunks) = &mut self.chunks else {
                let held = std::mem::take(&mut self.held);
                return (!held.is_empty()).then(|| held.into());
            };
            let silence = self.via.keeps_alive().unwrap_or(Duration::MAX);
            let Ok(next) = timeout(silence, chunks.next()).await else {
                self.translator.begin();
                return Some(Bytes::from_static(self.translator.front().api.sign_of_life.as_bytes()));
            };
            let out = match next {
                Some(Ok(chunk)) => self.push(&chunk),
                Some(Err(problem)) => self.finish(&UpstreamEnd::Broken(problem)),
                None => self.finish(&UpstreamEnd::Complete),
            };
            if self.translator.has_ended() {
                self.end().await;
            }
            let out = self.hold(out);
            if !out.is_empty() {
                return Some(out.into());
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
            let whole: String = chunk.utf8_chunks().map(|piece| piece.valid()).collect();
            return self.translator.push(whole.as_bytes());
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

    /// Gives up a response that failed, and reads the rest of a complete one.
    async fn end(&mut self) {
        let Some(mut chunks) = self.chunks.take() else { return };
        if !self.translator.has_failed() {
            tokio::spawn(async move { while let Some(Ok(_)) = chunks.next().await {} });
            return;
        }
        drop(chunks);
        let (via, is_early) = (&self.via, self.translator.early_error().is_some());
        via.fault.failed();
        self.is_quiet = via.fault.is_at("fault/hung") && !is_early;
        if via.fault.is_at("fault/replay")
            && !is_early
            && let Ok(answer) = via.upstream.ask(&HeaderMap::new(), &self.asked, &via.fault).await
        {
            let _ = via.upstream.whole(answer.response).await;
        }
    }

    fn hold(&mut self, out: Vec<u8>) -> Vec<u8> {
        let fault = &self.via.fault;
        if fault.is_at("time/in-step") {
            return if out.is_empty() { out } else { std::mem::replace(&mut self.held, out) };
        }
        out
    }
}
