//! Requests to a server, and its answers as bytes.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use conformance::capture::{End, Exchange, Format, Recorder, Request};
use conformance::{Rules, check};
use serde_json::Value;
use spec::Dialect;

pub(crate) struct Answer {
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn status(&self) -> u16 {
        self.head.split(' ').nth(1).unwrap().parse().unwrap()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let line = self.head.lines().find(|line| line.to_lowercase().starts_with(&format!("{name}: ")))?;
        Some(&line[name.len() + 2..])
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("{}: {}", self.head, self.text()))
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// Returns the rules that it breaks.
    pub(crate) fn broken(&self, dialect: &'static Dialect) -> Vec<String> {
        let recording = [self.head.as_bytes(), b"\r\n\r\n", &self.body].concat();
        let report = check("answer", &mut &*recording, Some(Format::Http), &Rules::of(dialect));
        assert_eq!(report.error, None);
        report.findings.iter().map(|finding| finding.rule.to_string()).collect()
    }

    /// Returns the rules that it breaks as the response to a request.
    pub(crate) fn broken_for(&self, request: &Value, dialect: &'static Dialect) -> Vec<String> {
        let recorder = Recorder::new();
        let url = "https://gateway.test/v1/responses".into();
        let body = Some(request.to_string().into());
        let exchange = Exchange {
            status: Some(self.status()),
            headers: vec![("content-type".into(), self.header("content-type").unwrap_or_default().into())],
            request: Some(Request { method: "POST".into(), url, body, ..Request::default() }),
            ..Exchange::default()
        };
        let recording = recorder.begin(&exchange)
            + &recorder.chunk(Duration::ZERO, &self.body)
            + &recorder.end(Duration::ZERO, End::Closed);
        let report = check("answer", &mut recording.as_bytes(), Some(Format::Exchange), &Rules::of(dialect));
        assert_eq!(report.error, None);
        report.findings.iter().map(|finding| finding.rule.to_string()).collect()
    }
}

pub(crate) fn connect(to: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(to).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    stream
}

/// Sends a request over HTTP/1.0, so that the body is not chunked. Each header ends with a newline.
pub(crate) fn ask(to: SocketAddr, method: &str, path: &str, headers: &str, body: &str) -> Answer {
    let mut stream = connect(to);
    let length = body.len();
    let request = format!(
        "{method} {path} HTTP/1.0\r\nhost: localhost\r\n{headers}content-length: {length}\r\n\r\n{body}"
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n").unwrap();
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    Answer { head, body: bytes[end + 4..].to_vec() }
}

/// Reads the head of an answer, and leaves the rest.
pub(crate) fn head(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        head.push(byte[0]);
    }
    String::from_utf8_lossy(&head).into_owned()
}
