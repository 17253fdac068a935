//! The copy of an exchange, made while it passes.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant, SystemTime};

use http::{request, response};
use http_body::{Body, Frame, SizeHint};
use hyper::body::{Bytes, Incoming};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::lost::Lost;
use crate::passed::{Ended, Held, Passed, in_words};
use crate::queue::Queue;

/// The place and the time of a chunk.
const CHUNK: usize = size_of::<(usize, Duration)>();

/// Follows an exchange. Without a copy, it does nothing.
#[derive(Debug)]
pub(crate) struct Follower {
    start: Instant,
    copy: Mutex<Option<Passed>>,
    queue: Queue,
}

impl Follower {
    pub(crate) fn new(
        queue: &Queue,
        upstream: &Arc<str>,
        url: String,
        request: &request::Parts,
    ) -> Arc<Self> {
        let passed = Passed {
            upstream: Arc::clone(upstream),
            began: SystemTime::now(),
            method: request.method.to_string(),
            url,
            request_headers: request.headers.clone(),
            request: Vec::new(),
            request_chunks: Vec::new(),
            response: None,
            body: Vec::new(),
            chunks: Vec::new(),
            messages: Vec::new(),
            end: (Duration::ZERO, Ended::ClientLeft),
            held: Held { room: Arc::clone(queue.room()), bytes: 0 },
        };
        Arc::new(Self { start: Instant::now(), copy: Mutex::new(Some(passed)), queue: queue.clone() })
    }

    /// Copies something of this size; nothing more, if there is no room.
    fn copy(&self, bytes: usize, copy: impl FnOnce(&mut Passed, Duration)) {
        let mut held = self.copy.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(passed) = held.as_mut() else { return };
        if passed.held.take(bytes) {
            copy(passed, self.start.elapsed());
        } else {
            *held = None;
            drop(held);
            self.queue.lose(Lost::Memory);
        }
    }

    fn sent(&self, bytes: &[u8]) {
        self.copy(bytes.len(), |passed, _| passed.request.extend_from_slice(bytes));
    }

    pub(crate) fn head(&self, response: &response::Parts) {
        self.copy(0, |passed, _| {
            passed.response = Some((response.status.as_u16(), response.headers.clone()));
        });
    }

    fn received(&self, bytes: &[u8]) {
        self.copy(bytes.len() + CHUNK, |passed, at| {
            passed.body.extend_from_slice(bytes);
            passed.chunks.push((passed.body.len(), at));
        });
    }

    /// Bytes of the client after the upgrade. There may have been a body before.
    fn said(&self, bytes: &[u8]) {
        self.copy(bytes.len() + CHUNK, |passed, at| {
            if passed.request_chunks.is_empty() {
                passed.request.clear();
            }
            passed.request.extend_from_slice(bytes);
            passed.request_chunks.push((passed.request.len(), at));
        });
    }

    /// Only the first end counts.
    pub(crate) fn end(&self, ended: Ended) {
        let passed = self.copy.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(passed) = passed {
            self.queue.offer(Passed { end: (self.start.elapsed(), ended), ..passed });
        }
    }

    /// Drops the copy of an exchange that cannot be judged.
    pub(crate) fn lose(&self, why: Lost) {
        if self.copy.lock().unwrap_or_else(PoisonError::into_inner).take().is_some() {
            self.queue.lose(why);
        }
    }
}

/// A body that is copied while it is read.
#[derive(Debug)]
pub(crate) struct Followed {
    body: Incoming,
    follower: Arc<Follower>,
    is_response: bool,
}

impl Followed {
    pub(crate) const fn request(body: Incoming, follower: Arc<Follower>) -> Self {
        Self { body, follower, is_response: false }
    }

    pub(crate) const fn response(body: Incoming, follower: Arc<Follower>) -> Self {
        Self { body, follower, is_response: true }
    }
}

impl Body for Followed {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        match &polled {
            Poll::Ready(Some(Ok(frame))) => {
                if let Some(bytes) = frame.data_ref() {
                    if self.is_response { self.follower.received(bytes) } else { self.follower.sent(bytes) }
                }
                // The end of a body of known length is not asked for.
                if self.is_response && self.body.is_end_stream() {
                    self.follower.end(Ended::Whole);
                }
            }
            Poll::Ready(Some(Err(error))) if self.is_response => {
                self.follower.end(Ended::Broken(in_words(error)));
            }
            Poll::Ready(None) if self.is_response => self.follower.end(Ended::Whole),
            _ => {}
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Followed {
    fn drop(&mut self) {
        if self.is_response {
            let is_whole = self.body.is_end_stream();
            self.follower.end(if is_whole { Ended::Whole } else { Ended::ClientLeft });
        }
    }
}

/// One side of a WebSocket, whose bytes are copied while they are read.
#[derive(Debug)]
pub(crate) struct Side {
    io: TokioIo<Upgraded>,
    follower: Arc<Follower>,
    is_client: bool,
}

impl Side {
    pub(crate) fn new(io: Upgraded, follower: &Arc<Follower>, is_client: bool) -> Self {
        Self { io: TokioIo::new(io), follower: Arc::clone(follower), is_client }
    }

    fn end(&self, why: String) {
        self.follower.end(if self.is_client { Ended::ClientLeft } else { Ended::Broken(why) });
    }
}

impl AsyncRead for Side {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = ready!(Pin::new(&mut self.io).poll_read(context, buffer));
        match (&read, buffer.filled().get(before..).unwrap_or_default()) {
            (Err(error), _) => self.end(error.to_string()),
            (Ok(()), []) => self.end("the connection broke without a WebSocket close frame".to_owned()),
            (Ok(()), bytes) if self.is_client => self.follower.said(bytes),
            (Ok(()), bytes) => self.follower.received(bytes),
        }
        Poll::Ready(read)
    }
}

impl AsyncWrite for Side {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(context)
    }
}

impl Drop for Side {
    fn drop(&mut self) {
        self.follower.end(Ended::ClientLeft);
    }
}
