//! An upstream that sends given bytes, a tap in front of it, and a client that sends given bytes.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use tap::{Judge, Judged, Judges, Metrics, Passed, Proxy, Queue, Sample, Upstream, serve};
use tokio::sync::oneshot;

/// Starts an upstream that answers each connection with the same bytes, then closes it. Returns its address, and what it
/// got.
pub(crate) fn upstream(answer: Vec<u8>) -> (SocketAddr, Arc<Mutex<Vec<Vec<u8>>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, got) = (listener.local_addr().unwrap(), Arc::new(Mutex::new(Vec::new())));
    let all = Arc::clone(&got);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let (answer, all) = (answer.clone(), Arc::clone(&all));
            thread::spawn(move || {
                let mut stream = stream.unwrap();
                all.lock().unwrap().push(request(&mut stream));
                // A client that leaves closes the connection.
                let _ = stream.write_all(&answer);
                let _ = stream.shutdown(Shutdown::Write);
                let _ = stream.read(&mut [0]);
            });
        }
    });
    (address, got)
}

/// Reads a request with a body of known length.
fn request(stream: &mut TcpStream) -> Vec<u8> {
    let (mut bytes, mut chunk) = (Vec::new(), [0; 4096]);
    loop {
        let text = String::from_utf8_lossy(&bytes).to_ascii_lowercase();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length =
                head.split("content-length:").nth(1).map_or("0", |rest| rest.lines().next().unwrap());
            if body.len() >= length.trim().parse().unwrap() {
                return bytes;
            }
        }
        match stream.read(&mut chunk) {
            Ok(0) | Err(_) => return bytes,
            Ok(length) => bytes.extend_from_slice(&chunk[..length]),
        }
    }
}

/// The body ends with the connection.
pub(crate) fn response(status: &str, kind: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nX-Odd-Name: a  b\r\n\r\n");
    [head.as_bytes(), body].concat()
}

/// A response that says how long it is, which can be more than it has.
pub(crate) fn response_of_length(kind: &str, length: usize, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\r\n");
    [head.as_bytes(), body].concat()
}

/// A tap in front of an upstream, until it is dropped.
pub(crate) struct Tapped {
    pub(crate) address: SocketAddr,
    pub(crate) metrics: Metrics,
    stop: Option<oneshot::Sender<()>>,
    server: Option<thread::JoinHandle<()>>,
    judges: Option<Judges>,
}

impl Tapped {
    pub(crate) fn start<J: FnMut(Passed)>(
        upstream: SocketAddr,
        memory: usize,
        make: impl Fn() -> J + Clone + Send + 'static,
    ) -> Self {
        let metrics = Metrics::default();
        let (judges, queue) = Judges::start(1, memory, &metrics, make).unwrap();
        Self::with(upstream, metrics, judges, queue, 1.0)
    }

    pub(crate) fn with(
        upstream: SocketAddr,
        metrics: Metrics,
        judges: Judges,
        queue: Queue,
        sample: f64,
    ) -> Self {
        let url = format!("http://{upstream}").parse().unwrap();
        let proxy =
            Proxy::new(vec![Upstream { name: "one".into(), url }], queue, Sample::new(sample)).unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let (say, said) = std::sync::mpsc::channel();
        let server = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
                say.send(listener.local_addr().unwrap()).unwrap();
                serve(listener, proxy, async { drop(stopped.await) }).await.unwrap();
            });
        });
        let address = said.recv().unwrap();
        Self { address, metrics, stop: Some(stop), server: Some(server), judges: Some(judges) }
    }

    /// A tap whose judgements are kept, with all rules or with none.
    pub(crate) fn judging(upstream: SocketAddr, are_on: bool) -> (Self, Arc<Mutex<Vec<Judged>>>) {
        let all = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&all);
        let tapped = Self::start(upstream, 1 << 20, move || {
            let rules = checker::RuleSets::new(std::collections::BTreeMap::new(), move |_| are_on);
            let (mut judge, kept) =
                (Judge::new(recordings::Checking::recognising(&rules, false)), Arc::clone(&kept));
            move |passed: Passed| kept.lock().unwrap().extend(judge.judge(&passed))
        });
        (tapped, all)
    }

    /// Ends the tap, when all is judged.
    pub(crate) fn end(&mut self) {
        drop(self.stop.take());
        self.server.take().into_iter().for_each(|server| server.join().unwrap());
        self.judges.take().into_iter().for_each(|judges| judges.finish(Duration::from_secs(20)));
    }
}

/// Sends a request, and returns all that comes back.
pub(crate) fn ask(address: SocketAddr, request: &[u8]) -> Vec<u8> {
    ask_within(address, request, Duration::from_secs(20))
}

/// The time is for each part of the answer.
pub(crate) fn ask_within(address: SocketAddr, request: &[u8], limit: Duration) -> Vec<u8> {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(limit)).unwrap();
    stream.write_all(request).unwrap();
    let mut answer = Vec::new();
    // A broken response ends with an error.
    let _ = stream.read_to_end(&mut answer);
    answer
}

/// A request of an API.
pub(crate) fn post(path: &str, body: &str) -> Vec<u8> {
    format!(
        "POST {path} HTTP/1.1\r\nHost: a.test\r\nX-Api-Key: sk-secret\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// Returns the body of a response, without the framing of chunks.
pub(crate) fn body(response: &[u8]) -> Vec<u8> {
    let at = response.windows(4).position(|window| window == b"\r\n\r\n").unwrap();
    let (head, mut rest) =
        (String::from_utf8_lossy(&response[..at]).to_ascii_lowercase(), &response[at + 4..]);
    if !head.contains("transfer-encoding: chunked") {
        return rest.to_vec();
    }
    let mut body = Vec::new();
    while let Some(end) = rest.windows(2).position(|window| window == b"\r\n") {
        let length = usize::from_str_radix(std::str::from_utf8(&rest[..end]).unwrap(), 16).unwrap();
        let chunk = &rest[end + 2..];
        body.extend_from_slice(&chunk[..length.min(chunk.len())]);
        let Some(next) = chunk.get(length + 2..) else { break };
        rest = next;
    }
    body
}

/// Another thread makes it so in time.
pub(crate) fn until(is_so: impl Fn() -> bool) {
    let by = Instant::now() + Duration::from_secs(20);
    while !is_so() {
        assert!(Instant::now() < by, "it did not happen in time");
        thread::sleep(Duration::from_millis(2));
    }
}
