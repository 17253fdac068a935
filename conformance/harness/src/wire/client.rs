//! Sends requests and records responses.

use std::borrow::Cow;
use std::error::Error;
use std::time::{Duration, SystemTime};

use reqwest::header::{CONTENT_TYPE, HeaderMap};
use reqwest::{RequestBuilder, Response, StatusCode, redirect};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout_at};

use super::limits::{Ends, Limits, Volume, in_time, too_long};
use super::mask::Mask;
use super::proxy::Proxy;
use super::target::Target;
use super::trust;
use crate::plan::Call;
use recordings::capture::{
    CaptureError, Compression, Decompressor, End, Exchange, Headers, Loss, Recorder, Request,
};

const REDIRECTIONS: usize = 5;

/// Client for one target, with limits.
#[derive(Debug, Clone)]
pub struct Client {
    http: reqwest::Client,
    /// Client for WebSocket handshakes, which need HTTP/1.1.
    upgrading: reqwest::Client,
    target: Target,
    proxy: Option<String>,
    limits: Limits,
    interrupt: watch::Receiver<bool>,
    /// When the run ends, whatever is in flight.
    end: Option<Instant>,
}

/// The result of a request, which determines the next step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Outcome {
    /// The status of the response, if any.
    pub status: Option<u16>,
    /// The delay after which the endpoint accepts a retry.
    pub retry_after: Option<Duration>,
}

impl Client {
    /// Creates a client that cancels requests when the signal turns true.
    ///
    /// # Errors
    ///
    /// If no certificate authority is available, or the proxy of the environment does not support HTTP.
    pub fn new(target: Target, limits: Limits, interrupt: watch::Receiver<bool>) -> Result<Self, String> {
        // Another part of the program may have installed one already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let proxy = if target.is_direct() { None } else { Proxy::of(target.url())? };
        let is_secure =
            target.url().scheme() == "https" || proxy.as_ref().is_some_and(|proxy| proxy.is_secure);
        let target = target.hiding(proxy.as_ref().map_or(&[], |proxy| &proxy.secrets));
        let builder = |protocols: &[&str]| usual(&target, &limits, is_secure, protocols);
        let http = builder(&["h2", "http/1.1"])?.build().map_err(|error| in_words(&error))?;
        let upgrading = builder(&["http/1.1"])?.http1_only().build().map_err(|error| in_words(&error))?;
        Ok(Self {
            http,
            upgrading,
            target,
            proxy: proxy.map(|proxy| proxy.url),
            limits,
            interrupt,
            end: None,
        })
    }

    /// The address of the proxy without its credentials, if requests use one.
    pub fn proxy(&self) -> Option<&str> {
        self.proxy.as_deref()
    }

    /// Returns a client for a route beside `/responses`, such as `/models`.
    #[must_use]
    pub fn beside(&self, route: &str) -> Self {
        Self { target: self.target.clone().beside(route), ..self.clone() }
    }

    /// The target.
    pub const fn target(&self) -> &Target {
        &self.target
    }

    /// The limits.
    pub const fn limits(&self) -> &Limits {
        &self.limits
    }

    pub(crate) fn ending_at(self, end: Option<Instant>) -> Self {
        Self { end, ..self }
    }

    pub(crate) async fn wait(&self, until: Instant) -> bool {
        tokio::select! {
            biased;
            () = self.run_ends() => false,
            () = sleep_until(until) => true,
        }
    }

    /// Sends a request, and passes the lines of the recording to `keep` as they arrive.
    pub async fn send(&self, call: &Call, by: Instant, keep: &mut (dyn FnMut(&str) + Send)) -> Outcome {
        let mut headers = self.target.headers(call.wants_stream);
        if call.body.is_none() {
            headers.remove(CONTENT_TYPE);
        }
        if call.has_unknown_key {
            self.target.set_unknown_key(&mut headers);
        }
        let mut sending = self.sending(call, &headers, by, keep);
        let lost = tokio::select! {
            biased;
            () = self.run_ends() => Some(Loss::Interrupted),
            answered = sending.run(headers) => answered.err(),
        };
        sending.end(lost)
    }

    pub(super) fn sending<'s>(
        &'s self,
        call: &'s Call,
        headers: &HeaderMap,
        by: Instant,
        keep: &'s mut (dyn FnMut(&str) + Send),
    ) -> Sending<'s> {
        Sending {
            client: self,
            call,
            exchange: Exchange { request: Some(self.request(call, headers)), ..Exchange::default() },
            start: Instant::now(),
            by,
            mask: Mask::new(self.target.secrets()),
            keep,
            outcome: Outcome::default(),
        }
    }

    /// Handshakes need a client of their own.
    pub(super) const fn upgrading(&self) -> &reqwest::Client {
        &self.upgrading
    }

    /// The user interrupts the run, or its time is over.
    pub(super) async fn run_ends(&self) {
        let interrupt = interrupted(self.interrupt.clone());
        match self.end {
            None => interrupt.await,
            Some(end) => drop(timeout_at(end, interrupt).await),
        }
    }

    fn request(&self, call: &Call, headers: &HeaderMap) -> Request<'static> {
        Request {
            method: Cow::Owned(call.method.to_string()),
            url: Cow::Owned(call.url(self.target.url()).to_string()),
            headers: written(headers),
            body: call.body.clone().map(Cow::Owned),
        }
    }
}

fn usual(
    target: &Target,
    limits: &Limits,
    is_secure: bool,
    protocols: &[&str],
) -> Result<reqwest::ClientBuilder, String> {
    let builder = reqwest::Client::builder();
    let builder = if target.is_direct() { builder.no_proxy() } else { builder };
    let builder = match target.authorities() {
        // Without TLS verification, a system may have no certificate authorities.
        _ if !is_secure => builder.tls_certs_only([]),
        [] => builder,
        named => {
            let config = trust::config(named, protocols).map_err(|error| format!("--ca-file: {error}"))?;
            builder.tls_backend_preconfigured(config)
        }
    };
    Ok(builder
        .connect_timeout(limits.connect)
        .redirect(redirect::Policy::custom(stay))
        .retry(reqwest::retry::never())
        // One connection per exchange. A pooled connection that the endpoint has closed meanwhile would look like a
        // missing response.
        .pool_max_idle_per_host(0))
}

/// Redirects keep method and body, and must stay at the origin.
fn stay(attempt: redirect::Attempt<'_>) -> redirect::Action {
    let is_same = matches!(attempt.status(), StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT)
        && attempt.previous().first().is_some_and(|first| first.origin() == attempt.url().origin());
    if is_same && attempt.previous().len() <= REDIRECTIONS { attempt.follow() } else { attempt.stop() }
}

pub(crate) async fn interrupted(mut signal: watch::Receiver<bool>) {
    if signal.wait_for(|is_over| *is_over).await.is_err() {
        // The sender is gone, so no interrupt can follow.
        std::future::pending::<()>().await;
    }
}

pub(super) struct Sending<'s> {
    pub(super) client: &'s Client,
    call: &'s Call,
    exchange: Exchange<'static>,
    start: Instant,
    pub(super) by: Instant,
    mask: Mask,
    keep: &'s mut (dyn FnMut(&str) + Send),
    outcome: Outcome,
}

impl Sending<'_> {
    /// The error is the reason why the response is incomplete.
    async fn run(&mut self, headers: HeaderMap) -> Result<(), Loss<'static>> {
        let Client { http, target, .. } = self.client;
        let request = http.request(self.call.method.clone(), self.call.url(target.url())).headers(headers);
        let request = match &self.call.body {
            Some(body) => request.body(body.clone()),
            None => request,
        };
        let mut response = self.ask(request).await?;
        self.read(&mut response).await
    }

    pub(super) async fn ask(&mut self, request: RequestBuilder) -> Result<Response, Loss<'static>> {
        let limits = self.client.limits;
        let (by, what) = self.earlier(limits.first_event, self.call.wants_stream);
        let response = match timeout_at(by, request.send()).await {
            Err(_) => {
                let reason = format!("no response {}", self.limit(what));
                return Err(Loss::Silent(reason.into()));
            }
            Ok(Err(error)) if error.is_connect() => {
                let Client { target, proxy, .. } = self.client;
                let through = proxy.as_ref().map(|proxy| format!(" through the proxy {proxy}"));
                let (to, through) = (target.address(), through.unwrap_or_default());
                let reason = format!("no connection to {to}{through}: {}", unconnected(&error));
                return Err(Loss::Unconnected(reason.into()));
            }
            Ok(Err(error)) => return Err(in_words(&error).into()),
            Ok(Ok(response)) => response,
        };
        self.begin(&response);
        Ok(response)
    }

    fn begin(&mut self, response: &Response) {
        self.outcome.status = Some(response.status().as_u16());
        self.outcome.retry_after = retry_after(response.headers());
        self.exchange.status = self.outcome.status;
        // The body is recorded decoded, so readers must not decode it again.
        let (encoding, kept): (Vec<_>, Vec<_>) =
            written(response.headers()).into_iter().partition(|(name, _)| name == "content-encoding");
        self.exchange.headers = kept;
        let line = Recorder::new().begin(&self.exchange);
        self.exchange.headers.extend(encoding);
        self.keep_masked(&line);
    }

    /// A compressed body is recorded uncompressed, as masks could not find secrets in it otherwise.
    pub(super) async fn read(&mut self, response: &mut Response) -> Result<(), Loss<'static>> {
        let limits = self.client.limits;
        let is_framed = self.exchange.is_stream();
        let mut decoding = Decoding::of(&self.exchange)?;
        let mut ends = Ends::default();
        let mut last_event = None;
        let mut volume = Volume::default();
        let (mut counted, mut left) = (Ends::default(), self.call.cut_after.unwrap_or_default());
        loop {
            let (by, what) = match last_event {
                None => self.earlier(limits.first_event, self.call.wants_stream),
                Some(last) if last + limits.idle < self.by => (last + limits.idle, Limit::Idle),
                Some(_) => (self.by, Limit::Total),
            };
            let chunk = match in_time(by, response.chunk()).await {
                None => return Err(format!("no {} {}", self.awaited(), self.limit(what)).into()),
                Some(Err(error)) => return Err(in_words(&error).into()),
                Some(Ok(chunk)) => chunk,
            };
            let rest = limits.bytes - volume.bytes;
            let (chunk, outcome) = match &chunk {
                Some(chunk) => decoding.push(chunk, rest),
                None => decoding.finish(rest),
            };
            if !is_framed || ends.are_in(&chunk) {
                last_event = Some(Instant::now());
            }
            let cut = (left > 0 && is_framed).then(|| counted.count(&chunk, &mut left)).flatten();
            let bytes = chunk.get(..cut.unwrap_or(rest)).unwrap_or(&chunk);
            volume.add(bytes.len(), limits.bytes)?;
            let bytes = self.mask.push(bytes);
            self.chunk(&bytes);
            if cut.is_some() {
                return Err(Loss::Left);
            }
            if chunk.len() > rest {
                return Err(too_long(limits.bytes).into());
            }
            if outcome? {
                return Ok(());
            }
        }
    }

    pub(super) fn limit(&self, limit: Limit) -> String {
        let limits = self.client.limits;
        let left = self.by.saturating_duration_since(self.start);
        match limit {
            Limit::FirstEvent => format!("within {:?} (--first-event-timeout)", limits.first_event),
            Limit::Idle => format!("for {:?} (--idle-timeout)", limits.idle),
            Limit::Total if left + SLACK >= limits.total => format!("within {:?} (--timeout)", limits.total),
            Limit::Total => format!("within {left:.1?}, the rest of --timeout"),
        }
    }

    fn awaited(&self) -> &'static str {
        if self.exchange.is_stream() { "event ended" } else { "byte of the response was received" }
    }

    /// The next limit is the timeout of the first event, or of the whole response.
    fn earlier(&self, first_event: Duration, is_stream: bool) -> (Instant, Limit) {
        let first = self.start + first_event;
        if is_stream && first < self.by { (first, Limit::FirstEvent) } else { (self.by, Limit::Total) }
    }

    fn chunk(&mut self, bytes: &[u8]) {
        for piece in bytes.chunks(PIECE) {
            (self.keep)(&Recorder::new().chunk(self.start.elapsed(), piece));
        }
    }

    pub(super) fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    /// Secrets are masked.
    pub(super) fn keep(&mut self, line: &str) {
        (self.keep)(line);
    }

    /// Headers, addresses and errors may contain secrets, too.
    fn keep_masked(&mut self, line: &str) {
        let line = self.client.target.masked(line);
        (self.keep)(&line);
    }

    pub(super) fn masked(&mut self, text: &str) -> String {
        let mut bytes = self.mask.push(text.as_bytes());
        bytes.extend(self.mask.finish());
        String::from_utf8_lossy(&bytes).into_owned()
    }

    pub(super) fn end(mut self, lost: Option<Loss<'_>>) -> Outcome {
        let recorder = Recorder::new();
        if self.outcome.status.is_none() {
            let line = recorder.begin(&self.exchange);
            self.keep_masked(&line);
        }
        let held = self.mask.finish();
        self.chunk(&held);
        let end = lost.map_or(End::Closed, End::Lost);
        let line = recorder.end(self.start.elapsed(), end);
        self.keep_masked(&line);
        self.outcome
    }
}

enum Decoding {
    /// Not known from the headers or these first bytes.
    Plain(Vec<u8>),
    /// This compression, and whether any bytes arrived.
    Compressed(Box<Decompressor>, bool),
}

impl Decoding {
    /// The headers state the compression.
    fn of(exchange: &Exchange<'_>) -> Result<Self, String> {
        match exchange.header("content-encoding").map(str::trim) {
            None | Some("" | "identity") => Ok(Self::Plain(Vec::new())),
            Some(how) => {
                let known = Compression::named(how).ok_or_else(|| {
                    format!(
                        "the response has content-encoding {how:?}; only gzip, deflate, br and zstd are supported"
                    )
                })?;
                Ok(Self::Compressed(Box::new(Decompressor::new(known)), false))
            }
        }
    }

    /// Decodes little more than `most` bytes. Returns whether the compressed data has ended.
    fn push<'c>(&mut self, chunk: &'c [u8], most: usize) -> (Cow<'c, [u8]>, Result<bool, String>) {
        match self {
            Self::Plain(start) => {
                let missing = SIGNATURE.saturating_sub(start.len());
                start.extend(chunk.iter().take(missing));
                if missing > 0 && Compression::is_begun(start) {
                    let problem = "the response is compressed, but has no content-encoding";
                    return (Cow::Borrowed(&[]), Err(problem.to_owned()));
                }
                (Cow::Borrowed(chunk), Ok(false))
            }
            Self::Compressed(decompressor, has_begun) => {
                *has_begun = true;
                let mut plain = Vec::new();
                let outcome = decompressor.push(chunk, &mut |piece| bounded(&mut plain, piece, most));
                (Cow::Owned(plain), outcome.map(|()| false).map_err(|error| error.to_string()))
            }
        }
    }

    fn finish<'c>(&mut self, most: usize) -> (Cow<'c, [u8]>, Result<bool, String>) {
        match self {
            Self::Compressed(decompressor, true) => {
                let mut plain = Vec::new();
                let outcome = decompressor.finish(&mut |piece| bounded(&mut plain, piece, most));
                (Cow::Owned(plain), outcome.map(|()| true).map_err(|error| error.to_string()))
            }
            _ => (Cow::Borrowed(&[]), Ok(true)),
        }
    }
}

/// Maximum length of a line of a recording, as a few compressed bytes can expand to many.
const PIECE: usize = 1 << 20;
/// Time from the start of an attempt to the start of its request.
const SLACK: Duration = Duration::from_millis(200);
/// Number of bytes that identify a compression format.
const SIGNATURE: usize = 4;

/// If the limit is exceeded, the decompression ends. The length check reports that the response is too long.
fn bounded(plain: &mut Vec<u8>, piece: &[u8], most: usize) -> Result<(), CaptureError> {
    if plain.len() > most {
        return Err(CaptureError::Empty);
    }
    plain.extend_from_slice(piece);
    Ok(())
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Limit {
    FirstEvent,
    Idle,
    Total,
}

fn written(headers: &HeaderMap) -> Headers<'static> {
    let text = |(name, value): (&reqwest::header::HeaderName, &reqwest::header::HeaderValue)| {
        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
        (Cow::Owned(name.to_string()), Cow::Owned(value))
    };
    headers.iter().map(text).collect()
}

fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| Some(headers.get(name)?.to_str().ok()?.trim());
    let number = |name| text(name)?.parse::<u64>().ok();
    let date = |name| httpdate::parse_http_date(text(name)?).ok();
    // Dates are relative to the clock of the endpoint, if it sends its time.
    let until = || {
        let now = date("date").unwrap_or_else(SystemTime::now);
        Some(date("retry-after")?.duration_since(now).unwrap_or_default())
    };
    let seconds = || number("retry-after").map(Duration::from_secs);
    number("retry-after-ms").map(Duration::from_millis).or_else(seconds).or_else(until)
}

/// Causes are included, and the address is not, as it may contain secrets.
pub(super) fn in_words(error: &reqwest::Error) -> String {
    let mut text = if error.is_redirect() { "too many redirections".to_owned() } else { String::new() };
    let mut cause = error.source();
    while let Some(error) = cause {
        let words = error.to_string();
        if !text.contains(&words) {
            text += if text.is_empty() { "" } else { ": " };
            text += &words;
        }
        cause = error.source();
    }
    let advice = ADVICE.iter().find(|(words, _)| text.contains(words));
    text += advice.map_or("", |(_, advice)| advice);
    if text.is_empty() { "the request could not be sent".to_owned() } else { text }
}

/// All such errors share some phrases, which are dropped.
fn unconnected(error: &reqwest::Error) -> String {
    if let Some(refusal) = trust::refusal(error) {
        return refusal;
    }
    let text = in_words(error);
    let text = text.strip_prefix("client error (Connect): ").unwrap_or(&text);
    let text = text.strip_prefix("tcp connect error: ").unwrap_or(text);
    let text =
        text.split_once(" (os error ").filter(|(_, rest)| rest.ends_with(')')).map_or(text, |(text, _)| text);
    match text.strip_prefix("Connection ") {
        Some(rest) => format!("connection {rest}"),
        None => text.to_owned(),
    }
}

const ADVICE: [(&str, &str); 1] = [("No CA certificates", "; pass the ones to trust with --ca-file")];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoints_say_in_many_ways_when_to_come_again() {
        let wait = |headers: &[(&'static str, &str)]| {
            let header = |(name, value): &(&'static str, &str)| {
                (reqwest::header::HeaderName::from_static(name), value.parse().unwrap())
            };
            retry_after(&headers.iter().map(header).collect())
        };
        let date = ("date", "Sun, 06 Nov 1994 08:49:37 GMT");
        let seconds = |seconds| Some(Duration::from_secs(seconds));
        assert_eq!(wait(&[("retry-after", " 3 ")]), seconds(3));
        assert_eq!(wait(&[("retry-after", "3"), ("retry-after-ms", "20")]), Some(Duration::from_millis(20)));
        assert_eq!(wait(&[date, ("retry-after", "Sun, 06 Nov 1994 08:50:00 GMT")]), seconds(23));
        assert_eq!(wait(&[date, ("retry-after", "Sunday, 06-Nov-94 08:49:30 GMT")]), seconds(0));
        let soon = httpdate::fmt_http_date(SystemTime::now() + Duration::from_secs(100));
        let left = wait(&[("retry-after", &soon)]).unwrap();
        assert!(left > Duration::from_secs(90) && left <= Duration::from_secs(100), "{left:?}");
        for other in ["soon", "-1", "1.5", ""] {
            assert_eq!(wait(&[("retry-after", other)]), None, "{other}");
        }
    }
}
