//! A server with scripted responses.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri};
use axum::response::Response;
use tokio::net::TcpListener;
use tokio::time::sleep;

use super::cors;
use super::host::{Broken, Host, listen};
use super::sending::{End, play};

/// Maximum size of a request body.
const LARGEST: usize = 16 << 20;

/// A request that a stage received.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Received {
    /// Its method.
    pub method: String,
    /// Its path.
    pub path: String,
    /// Its query.
    pub query: String,
    /// Its headers, with names in lower case.
    pub headers: Vec<(String, String)>,
    /// Its body.
    pub body: Vec<u8>,
}

impl Received {
    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// A response with the timing of its chunks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Act {
    /// The status.
    pub status: u16,
    /// The headers.
    pub headers: Vec<(String, String)>,
    /// The chunks of the body, each with the delay before it.
    pub pieces: Vec<(Duration, Vec<u8>)>,
    /// How the body ends.
    pub end: End,
}

impl Act {
    /// Returns a response that is sent at once.
    pub fn new(status: u16, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        let headers = vec![("content-type".to_owned(), content_type.to_owned())];
        Self { status, headers, pieces: vec![(Duration::ZERO, body.into())], end: End::Whole }
    }

    /// The whole body.
    pub fn body(&self) -> Vec<u8> {
        self.pieces.iter().map(|(_, bytes)| &**bytes).collect::<Vec<_>>().concat()
    }

    /// Returns it as a recording: its head, and the whole body.
    pub fn recording(&self) -> Vec<u8> {
        let mut recording = format!("HTTP/1.1 {} \r\n", self.status).into_bytes();
        for (name, value) in &self.headers {
            recording.extend(format!("{name}: {value}\r\n").into_bytes());
        }
        recording.extend(b"\r\n");
        recording.extend(self.body());
        recording
    }
}

/// Messages on a WebSocket, each after a delay, optionally followed by a close.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SocketScript {
    /// The messages.
    pub messages: Vec<(Duration, String)>,
    /// Whether the connection is closed afterwards.
    pub is_last: bool,
}

/// The logic of a stage.
pub trait Director: Send + Sync + 'static {
    /// The response to a request.
    fn answer(&self, request: &Received) -> Act;

    /// Refuses a WebSocket handshake unless its path supports it.
    fn open(&self, request: &Received) -> Result<(), Act> {
        Err(self.answer(request))
    }

    /// Returns the messages in response to a message on the WebSocket of this request. `number` counts its
    /// messages from 0.
    fn message(&self, _opened: &Received, _number: usize, _text: &str) -> SocketScript {
        SocketScript { messages: Vec::new(), is_last: true }
    }

    /// Returns the origins of web pages that may read responses, in addition to this machine.
    fn origins(&self) -> &[String] {
        &[]
    }
}

/// A stage in this process, on a port of the loopback interface, stopped when dropped.
#[derive(Debug)]
pub struct Stage(Host);

impl Stage {
    /// Starts it on a port; 0 picks a free one.
    pub fn start(port: u16, director: Arc<dyn Director>) -> io::Result<Self> {
        Host::start_on(port, router(director)).map(Self)
    }

    /// Its address.
    pub const fn address(&self) -> SocketAddr {
        self.0.address()
    }
}

pub(super) async fn serve(
    listener: TcpListener,
    director: Arc<dyn Director>,
    until: impl Future<Output = ()>,
) -> io::Result<()> {
    listen(listener, router(director), until).await
}

fn router(director: Arc<dyn Director>) -> Router {
    let origins = director.origins().to_vec();
    let app = Router::new().fallback(answer).layer(DefaultBodyLimit::max(LARGEST)).with_state(director);
    cors::guarded(app, &origins, LARGEST)
}

async fn answer(
    State(director): State<Arc<dyn Director>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
    body: Bytes,
) -> Response {
    let received = Received {
        method: method.to_string(),
        path: uri.path().to_owned(),
        query: uri.query().unwrap_or_default().to_owned(),
        headers: headers.iter().map(|(name, value)| (name.to_string(), text_of(value))).collect(),
        body: body.to_vec(),
    };
    match upgrade {
        Ok(upgrade) => match director.open(&received) {
            Ok(()) => upgrade.on_upgrade(move |socket| talk(director, socket, received)),
            Err(act) => of_act(act),
        },
        Err(_) => of_act(director.answer(&received)),
    }
}

fn text_of(value: &HeaderValue) -> String {
    String::from_utf8_lossy(value.as_bytes()).into_owned()
}

fn of_act(act: Act) -> Response {
    let Act { status, headers, mut pieces, end } = act;
    let is_plain = pieces.len() <= 1 && end == End::Whole && pieces.iter().all(|(after, _)| after.is_zero());
    let body = if is_plain {
        Body::from(pieces.pop().map(|(_, bytes)| bytes).unwrap_or_default())
    } else {
        play(pieces, end)
    };
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    for (name, value) in headers {
        if let (Ok(name), Ok(value)) =
            (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(&value))
        {
            response.headers_mut().append(name, value);
        }
    }
    if end == End::Reset {
        response.extensions_mut().insert(Broken);
    }
    response
}

async fn talk(director: Arc<dyn Director>, mut socket: WebSocket, opened: Received) {
    let mut number = 0;
    while let Some(Ok(message)) = socket.recv().await {
        let text = match message {
            Message::Text(text) => text.as_str().to_owned(),
            Message::Binary(_) => String::new(),
            Message::Close(_) => return,
            Message::Ping(_) | Message::Pong(_) => continue,
        };
        let SocketScript { messages, is_last } = director.message(&opened, number, &text);
        number += 1;
        for (after, message) in messages {
            if !after.is_zero() {
                sleep(after).await;
            }
            if socket.send(Message::Text(message.into())).await.is_err() {
                return;
            }
        }
        if is_last {
            let _ = socket.send(Message::Close(None)).await;
            return;
        }
    }
}
