//! An endpoint with scripted responses.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

/// A received request.
#[derive(Debug, Clone, Default)]
pub(crate) struct Request {
    pub(crate) path: String,
    pub(crate) headers: String,
    pub(crate) body: String,
    /// Number of earlier requests.
    pub(crate) number: usize,
}

impl Request {
    /// Returns whether it requests a stream.
    pub(crate) fn wants_stream(&self) -> bool {
        self.body.contains("\"stream\":true")
    }
}

/// A server on a free port, stopped when dropped.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) url: String,
    connections: Arc<AtomicUsize>,
    requests: Arc<Mutex<Vec<Request>>>,
}

type Models = Arc<str>;

impl Server {
    /// Starts a server with these responses. It does not have `GET /models`, which is not counted as a request.
    pub(crate) fn new(answer: impl Fn(&Request, &mut TcpStream) + Send + Sync + 'static) -> Self {
        Self::listing("", answer)
    }

    /// Starts a server with these responses, and this body of `GET /models`.
    pub(crate) fn listing(
        models: &str,
        answer: impl Fn(&Request, &mut TcpStream) + Send + Sync + 'static,
    ) -> Self {
        let models: Models = models.into();
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let url = format!("http://{}", listener.local_addr().expect("it is bound"));
        let (connections, requests) = (Arc::<AtomicUsize>::default(), Arc::<Mutex<Vec<Request>>>::default());
        let (count, seen, answer) = (Arc::clone(&connections), Arc::clone(&requests), Arc::new(answer));
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (seen, answer) = (Arc::clone(&seen), Arc::clone(&answer));
                let (count, models) = (Arc::clone(&count), Arc::clone(&models));
                count.fetch_add(1, Ordering::SeqCst);
                thread::spawn(move || {
                    if !serve(stream, &seen, &models, &*answer) {
                        count.fetch_sub(1, Ordering::SeqCst);
                    }
                });
            }
        });
        Self { url, connections, requests }
    }

    /// Returns the number of connections.
    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// Returns the received requests.
    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.lock().expect("nobody panicked").clone()
    }
}

/// Answers a request. Returns whether it counts.
fn serve(
    mut stream: TcpStream,
    seen: &Mutex<Vec<Request>>,
    models: &str,
    respond: &dyn Fn(&Request, &mut TcpStream),
) -> bool {
    let mut reader = BufReader::new(stream.try_clone().expect("it can be read"));
    let mut first = String::new();
    if reader.read_line(&mut first).unwrap_or_default() == 0 {
        return true;
    }
    let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut request = Request { path, ..Request::default() };
    let mut line = String::new();
    while reader.read_line(&mut line).unwrap_or_default() > 2 {
        request.headers += &line;
        line.clear();
    }
    let headers = request.headers.to_lowercase();
    let length = headers.lines().find_map(|header| header.strip_prefix("content-length: "));
    let mut body = vec![0; length.and_then(|length| length.trim().parse().ok()).unwrap_or_default()];
    reader.read_exact(&mut body).expect("the body comes");
    request.body = String::from_utf8(body).expect("it is UTF-8");
    if request.path.ends_with("/models") {
        let status = if models.is_empty() { "404 Not Found" } else { "200 OK" };
        answer(&mut stream, status, "application/json", models);
        return false;
    }
    {
        let mut seen = seen.lock().expect("nobody panicked");
        request.number = seen.len();
        seen.push(request.clone());
    }
    respond(&request, &mut stream);
    true
}

/// Writes, ignoring errors of closed connections.
pub(crate) fn write(stream: &mut TcpStream, bytes: impl AsRef<[u8]>) -> bool {
    stream.write_all(bytes.as_ref()).and_then(|()| stream.flush()).is_ok()
}

/// Sends a response that ends with the connection.
pub(crate) fn answer(stream: &mut TcpStream, status: &str, content_type: &str, body: impl AsRef<[u8]>) {
    head(stream, status, content_type, "");
    write(stream, body);
}

/// Sends the head of a response that ends with the connection. Each additional header ends with a newline.
pub(crate) fn head(stream: &mut TcpStream, status: &str, content_type: &str, more: &str) {
    let head =
        format!("HTTP/1.1 {status}\r\ncontent-type: {content_type}\r\nconnection: close\r\n{more}\r\n");
    write(stream, head);
}

/// Sends the good response to a request for a short text.
pub(crate) fn text(request: &Request, stream: &mut TcpStream) {
    if request.wants_stream() {
        answer(stream, "200 OK", "text/event-stream", golden("openai/text"));
    } else {
        answer(stream, "200 OK", "application/json", response());
    }
}

/// Returns a good stream.
pub(crate) fn golden(id: &str) -> &'static str {
    std::str::from_utf8(conformance::goldens::golden(id).expect("it exists").bytes).expect("it is UTF-8")
}

/// Returns the response at the end of the good stream.
pub(crate) fn response() -> String {
    let data = golden("openai/text").lines().rev().find_map(|line| line.strip_prefix("data: {"));
    let event: serde_json::Value =
        serde_json::from_str(&format!("{{{}", data.expect("it ends in one"))).expect("it is JSON");
    event["response"].to_string()
}
