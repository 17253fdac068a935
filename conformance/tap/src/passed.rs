//! An exchange that has passed, and the memory of its copy.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use http::HeaderMap;
use serde_json::Value;

/// An exchange as it passed.
#[derive(Debug)]
pub struct Passed {
    /// The name of its upstream.
    pub upstream: Arc<str>,
    /// When its request came.
    pub began: SystemTime,
    /// The method of its request.
    pub method: String,
    /// The URL of the upstream that was asked.
    pub url: String,
    /// The headers of its request.
    pub request_headers: HeaderMap,
    /// The body of its request, or the bytes of the client on a WebSocket.
    pub request: Vec<u8>,
    /// Where each chunk of the client ends on a WebSocket, and when that came.
    pub request_chunks: Vec<(usize, Duration)>,
    /// The status and the headers of its response, if there was one.
    pub response: Option<(u16, HeaderMap)>,
    /// The body of its response, or the bytes of the upstream on a WebSocket.
    pub body: Vec<u8>,
    /// Where each chunk of it ends, and when that came.
    pub chunks: Vec<(usize, Duration)>,
    /// The messages of both sides, if it became a WebSocket.
    pub messages: Vec<Message>,
    /// How it ended, and when.
    pub end: (Duration, Ended),
    pub(crate) held: Held,
}

impl Passed {
    pub(crate) fn is_socket(&self) -> bool {
        self.response.as_ref().is_some_and(|(status, _)| *status == SWITCHED)
    }

    /// The model that was asked for, in the body or in the path.
    pub fn model(&self) -> Option<String> {
        let request: Option<Value> = serde_json::from_slice(&self.request).ok();
        let of_body = request.as_ref().and_then(|request| request.get("model")?.as_str());
        let of_path = || self.url.split_once("/models/")?.1.split(['/', ':', '?']).next();
        of_body.or_else(of_path).map(str::to_owned)
    }
}

/// A message on a WebSocket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// The client sent it.
    pub is_sent: bool,
    /// When its last byte came.
    pub at: Duration,
    /// Its text.
    pub text: String,
}

/// The status of a response that switches protocols.
const SWITCHED: u16 = 101;

/// The end of an exchange.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// The response was passed on whole.
    Whole,
    /// The client left before.
    ClientLeft,
    /// The upstream broke the response off.
    Broken(String),
    /// The upstream sent what is no WebSocket.
    Unreadable(String),
    /// The upstream gave no response.
    Unanswered(String),
}

/// The memory of all copies.
#[derive(Debug)]
pub(crate) struct Room {
    most: usize,
    used: AtomicUsize,
}

impl Room {
    pub(crate) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most, used: AtomicUsize::new(0) })
    }
}

/// The part of the room that one copy holds.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) room: Arc<Room>,
    pub(crate) bytes: usize,
}

impl Held {
    pub(crate) fn take(&mut self, bytes: usize) -> bool {
        let used = self.room.used.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.bytes += bytes;
        used <= self.room.most
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.room.used.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// The deepest cause says most.
pub(crate) fn in_words(error: &dyn std::error::Error) -> String {
    std::iter::successors(Some(error), |error| error.source())
        .last()
        .map(ToString::to_string)
        .unwrap_or_default()
}
