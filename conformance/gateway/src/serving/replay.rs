//! Replay of recordings.

use std::borrow::Cow;
use std::collections::HashSet;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use percent_encoding::{PercentDecode, percent_decode_str};
use serde_json::{Value, json};
use spec::Api;
use tokio::net::TcpListener;

use super::log::Log;
use super::sending::End;
use super::stage::{Act, Director, Received, SocketScript, serve};
use crate::content::problem::Problem;
use crate::rendering::body_of;
use crate::rendering::events::events;
use recordings::capture::{CaptureError, Entry, Exchange, Format, Frame, Transport, read};

/// Maximum length of a pause.
const PAUSE: Duration = Duration::from_secs(600);
/// Prefix of a model that selects a recording.
const MODEL: &str = "replay:";

/// A replayable exchange.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replay {
    /// Its name.
    pub name: String,
    act: Act,
    /// The turns of a WebSocket; empty for HTTP.
    turns: Vec<SocketScript>,
}

impl Replay {
    /// Reads the exchanges of a recording in any format. A `speed` of 2 halves the pauses, 0 removes them.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    pub fn read(name: &str, recording: &[u8], speed: f64) -> Result<Vec<Self>, CaptureError> {
        let mut all: Vec<Self> = Vec::new();
        let mut clock = Clock { speed, before: Duration::ZERO };
        let format = read(recording, None, &mut |entry| {
            if let Entry::Exchange(exchange) = &entry {
                clock.before = Duration::ZERO;
                all.push(Self::begin(exchange));
            } else {
                if all.is_empty() {
                    all.push(Self::begin(&Exchange::default()));
                }
                if let Some(last) = all.last_mut() {
                    last.take(entry, &mut clock);
                }
            }
        })?;
        if let (Format::Sse, [replay]) = (format, &mut *all)
            && replay.is_of(recording)
        {
            // Include the blank lines after frames.
            replay.act.pieces = events(recording).map(|event| (Duration::ZERO, event.to_vec())).collect();
        }
        all.retain(|replay| !replay.act.pieces.is_empty() || !replay.turns.is_empty());
        for (at, replay) in all.iter_mut().enumerate() {
            replay.name = if at == 0 { name.to_owned() } else { format!("{name}-{}", at + 1) };
        }
        Ok(all)
    }

    /// Returns the response over HTTP; none if it was recorded on a WebSocket.
    pub fn act(&self) -> Option<&Act> {
        Some(&self.act).filter(|act| !act.pieces.is_empty())
    }

    /// Numbers the recordings that have the names of others, as those in other folders can.
    pub fn number(replays: &mut [Self]) {
        let mut taken = HashSet::new();
        for replay in replays {
            let (name, mut number) = (replay.name.clone(), 1);
            while !taken.insert(replay.name.clone()) {
                number += 1;
                replay.name = format!("{name}-{number}");
            }
        }
    }

    fn begin(exchange: &Exchange<'_>) -> Self {
        let content_type = exchange.header("content-type");
        let headers = content_type.map(|value| ("content-type".to_owned(), value.to_owned()));
        let act = Act {
            status: exchange.status.unwrap_or(200),
            headers: headers.into_iter().collect(),
            ..Act::default()
        };
        Self { name: String::new(), act, turns: Vec::new() }
    }

    fn take(&mut self, entry: Entry<'_>, clock: &mut Clock) {
        match entry {
            Entry::Exchange(_) | Entry::Row(_) => {}
            Entry::Sent(frame) => {
                clock.pause(frame.time);
                self.turns.push(SocketScript::default());
            }
            Entry::Event(frame) if frame.transport == Transport::WebSocket => {
                let message = (clock.pause(frame.time), frame.data.unwrap_or_default().into_owned());
                if self.turns.is_empty() {
                    self.turns.push(SocketScript::default());
                }
                if let Some(turn) = self.turns.last_mut() {
                    turn.messages.push(message);
                }
            }
            Entry::Event(frame) => {
                self.give_type("text/event-stream");
                self.act.pieces.push((clock.pause(frame.time), bytes_of(&frame)));
            }
            Entry::Body(frame) => {
                self.give_type("application/json");
                self.act.pieces.push((clock.pause(frame.time), frame.source.to_vec()));
            }
            Entry::Lost(_) => self.act.end = End::Break,
        }
    }

    fn is_of(&self, recording: &[u8]) -> bool {
        let first = self.act.pieces.first().map(|(_, bytes)| bytes.trim_ascii());
        first.is_some_and(|first| memchr::memmem::find(recording, first).is_some())
    }

    fn give_type(&mut self, content_type: &str) {
        if self.act.headers.is_empty() {
            self.act.headers.push(("content-type".to_owned(), content_type.to_owned()));
        }
    }
}

struct Clock {
    speed: f64,
    before: Duration,
}

impl Clock {
    fn pause(&mut self, time: Option<Duration>) -> Duration {
        let Some(time) = time else { return Duration::ZERO };
        let pause = time.saturating_sub(self.before).min(PAUSE);
        self.before = self.before.max(time);
        if self.speed > 0.0 {
            Duration::try_from_secs_f64(pause.as_secs_f64() / self.speed).unwrap_or(PAUSE)
        } else {
            Duration::ZERO
        }
    }
}

/// Formats with only events have no bytes on the wire, so they are generated.
fn bytes_of(frame: &Frame<'_>) -> Vec<u8> {
    let is_bare = frame.source.first() == Some(&b'{');
    let mut bytes = Vec::new();
    if is_bare {
        let data = frame.data.as_deref().unwrap_or_default();
        let kind = serde_json::from_str::<Value>(data).unwrap_or_default();
        if let Some(kind) = kind.get("type").and_then(Value::as_str) {
            bytes.extend_from_slice(format!("event: {kind}\n").as_bytes());
        }
        bytes.extend_from_slice(format!("data: {data}\n\n").as_bytes());
        return bytes;
    }
    bytes.extend_from_slice(frame.source);
    let end: &[u8] = match frame.source {
        source if source.ends_with(b"\r\n") => b"\r\n",
        source if source.ends_with(b"\n") => b"\n",
        _ => b"\n\n",
    };
    bytes.extend_from_slice(if frame.terminated { end } else { b"" });
    bytes
}

/// Serves recordings of an API until a future completes: each by name, or one after the other.
pub async fn replay(
    listener: TcpListener,
    api: &'static Api,
    replays: Vec<Replay>,
    origins: Vec<String>,
    log: Option<Log>,
    until: impl Future<Output = ()>,
) -> io::Result<()> {
    serve(listener, Arc::new(Player { api, replays, origins, log, next: AtomicUsize::new(0) }), until).await
}

struct Player {
    api: &'static Api,
    replays: Vec<Replay>,
    origins: Vec<String>,
    log: Option<Log>,
    next: AtomicUsize,
}

impl Player {
    /// The recording that a request selects, or the next one of that kind.
    fn find(&self, request: &Received, model: Option<&str>, is_socket: bool) -> Result<&Replay, Problem> {
        let path = request.path.strip_prefix("/replay/");
        let named = path.and_then(|path| path.split_once("/v1/")).map(|(name, _)| percent_decode_str(name));
        let named = named.map(PercentDecode::decode_utf8_lossy).or(model.map(Cow::Borrowed));
        let is_kind = |replay: &&Replay| replay.turns.is_empty() != is_socket;
        let found = if let Some(name) = &named {
            self.replays.iter().filter(is_kind).find(|replay| replay.name == **name)
        } else {
            let all: Vec<&Replay> = self.replays.iter().filter(is_kind).collect();
            let at = self.next.fetch_add(1, Ordering::Relaxed);
            at.checked_rem(all.len()).and_then(|at| all.get(at).copied())
        };
        found.ok_or_else(|| {
            let message = named.map_or("There is no recording of this type.".to_owned(), |name| {
                let name: String = name.chars().take(100).collect();
                format!("There is no recording {name:?} of this type; GET / lists them all.")
            });
            Problem::not_found("recording_not_found", message, None)
        })
    }

    fn note(&self, request: &Received, outcome: &str) {
        if let Some(log) = &self.log {
            log.line(&format!("{} {} {outcome}", request.method, request.path));
        }
    }

    fn refuse(&self, request: &Received, problem: &Problem) -> Act {
        self.note(request, &format!("{}; {}", problem.status, problem.message));
        Act::new(problem.status, "application/json", body_of(problem, self.api).to_string())
    }
}

fn wanted(body: &[u8]) -> Option<String> {
    let body: Value = serde_json::from_slice(body).ok()?;
    Some(body.get("model")?.as_str()?.strip_prefix(MODEL)?.to_owned())
}

impl Director for Player {
    fn answer(&self, request: &Received) -> Act {
        if request.method == "GET" && request.path == "/" {
            let names: Vec<&str> = self.replays.iter().map(|replay| replay.name.as_str()).collect();
            let how = format!(
                "POST /v1{} plays them one after the other; the model replay:NAME, or the base URL /replay/NAME/v1, \
                 plays one",
                self.api.path
            );
            return Act::new(200, "application/json", json!({"recordings": names, "use": how}).to_string());
        }
        if !(request.method == "POST" && self.api.is_at(&request.path)) {
            let message =
                format!("No route for {} {}; GET / lists the recordings.", request.method, request.path);
            return self.refuse(request, &Problem::not_found("not_found", message, None));
        }
        match self.find(request, wanted(&request.body).as_deref(), false) {
            Ok(replay) => {
                self.note(request, &format!("{}; plays {}", replay.act.status, replay.name));
                replay.act.clone()
            }
            Err(problem) => self.refuse(request, &problem),
        }
    }

    fn open(&self, request: &Received) -> Result<(), Act> {
        let is_there =
            self.api.is_at(&request.path) && self.replays.iter().any(|replay| !replay.turns.is_empty());
        if is_there { Ok(()) } else { Err(self.answer(request)) }
    }

    fn message(&self, opened: &Received, number: usize, text: &str) -> SocketScript {
        match self.find(opened, wanted(text.as_bytes()).as_deref(), true) {
            Ok(replay) => {
                self.note(opened, &format!("WebSocket turn {}; plays {}", number + 1, replay.name));
                let last = SocketScript { messages: Vec::new(), is_last: true };
                replay.turns.get(number).cloned().unwrap_or(last)
            }
            Err(problem) => {
                self.note(opened, &problem.message);
                SocketScript {
                    messages: vec![(Duration::ZERO, body_of(&problem, self.api).to_string())],
                    is_last: true,
                }
            }
        }
    }

    fn origins(&self) -> &[String] {
        &self.origins
    }
}
