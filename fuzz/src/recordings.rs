//! Recordings of a stream in every format.

use std::io::Write;
use std::time::Duration;

use conformance::capture::{self, End, Entry, Exchange, Format, Recorder, Request};
use conformance::goldens::Golden;
use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

const HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n";

/// Returns a golden in every possible format.
pub fn of_golden(golden: &Golden) -> Vec<(Format, Vec<u8>)> {
    match golden.format {
        Format::Sse => of(golden.bytes),
        format => vec![(format, golden.bytes.to_vec()), (format, gzip(golden.bytes))],
    }
}

/// Returns the stream in every format, with and without compression.
pub fn of(stream: &[u8]) -> Vec<(Format, Vec<u8>)> {
    let text = String::from_utf8_lossy(stream);
    let events = data(stream);
    let received: Vec<_> = events.iter().map(|event| format!("{{\"recv\":{}}}", quoted(event))).collect();
    let har = format!(
        "{{\"log\":{{\"entries\":[{{\"request\":{{}},\"response\":{{\"status\":200,\
         \"content\":{{\"mimeType\":\"text/event-stream\",\"text\":{}}}}}}}]}}}}",
        quoted(&text)
    );
    let cassette = format!(
        "interactions:\n- request:\n    uri: https://a.test/v1/responses\n  response:\n    \
         headers:\n      content-type: [text/event-stream]\n    body:\n      string: {}\n",
        quoted(&text)
    );
    let httpmock = format!(
        "when:\n  path: /v1/responses\n  method: POST\nthen:\n  status: 200\n  header:\n  - name: content-type\n    \
         value: text/event-stream\n  body: {}\n",
        quoted(&text)
    );
    let interactions = format!(
        "{{\"version\":1,\"interactions\":[{{\"request\":{{\"url\":\"https://a.test/v1/responses\"}},\"response\":\
         {{\"status\":200,\"headers\":{{\"content-type\":\"text/event-stream\"}},\"body\":{}}}}}]}}",
        quoted(&text)
    );
    let wrapped: Vec<_> =
        events.iter().map(|event| format!("{{\"event\":\"\",\"data\":{}}}", quoted(event))).collect();
    let plain = |rest: &str, body: &[u8]| [HEAD.as_bytes(), rest.as_bytes(), b"\r\n", body].concat();
    vec![
        (Format::Sse, stream.to_vec()),
        (Format::Sse, gzip(stream)),
        (Format::Sse, zstd(stream)),
        (Format::Http, plain("", stream)),
        (Format::Http, plain("transfer-encoding: chunked\r\n", &chunked(stream))),
        (Format::Http, plain("content-encoding: gzip\r\n", &gzip(stream))),
        (Format::Http, plain("content-encoding: deflate\r\n", &deflate(stream))),
        (
            Format::Http,
            plain("content-encoding: zstd\r\ntransfer-encoding: chunked\r\n", &chunked(&zstd(stream))),
        ),
        (Format::Http, plain("content-encoding: br\r\n", stream)),
        (Format::Ndjson, events.join("\n").into_bytes()),
        (Format::Json, format!("[\n{}\n]", events.join(",\n")).into_bytes()),
        (Format::Ndjson, wrapped.join("\n").into_bytes()),
        (Format::Json, interactions.into_bytes()),
        (Format::WebSocket, format!("{{\"sent\":\"{{}}\"}}\n{}\n", received.join("\n")).into_bytes()),
        (Format::Har, har.into_bytes()),
        (Format::Cassette, cassette.into_bytes()),
        (Format::Cassette, httpmock.into_bytes()),
        (Format::Txtar, [b"-- streaming --\n", stream].concat()),
        (Format::Exchange, recorded(stream, &[])),
        (Format::Exchange, recorded(&gzip(stream), &[("content-encoding", "gzip")])),
        (Format::Exchange, messages(&events)),
    ]
}

/// Returns the data of the events of a stream.
pub fn data(stream: &[u8]) -> Vec<String> {
    let mut data = Vec::new();
    let read = capture::read(stream, Some(Format::Sse), &mut |entry| {
        if let Entry::Event(frame) = entry {
            data.extend(frame.data.map(String::from));
        }
    });
    read.map(|_| data).unwrap_or_default()
}

/// Returns the bytes compressed with gzip.
pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("memory does not fail")
}

fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("memory does not fail")
}

/// Returns the bytes compressed with zstd.
pub fn zstd(bytes: &[u8]) -> Vec<u8> {
    compress_to_vec(bytes, CompressionLevel::Fastest)
}

fn chunked(body: &[u8]) -> Vec<u8> {
    let mut sent = Vec::new();
    for chunk in body.chunks(100) {
        sent.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
        sent.extend_from_slice(chunk);
        sent.extend_from_slice(b"\r\n");
    }
    sent.extend_from_slice(b"0\r\n\r\n");
    sent
}

fn exchange(status: u16, headers: &[(&'static str, &'static str)]) -> Exchange<'static> {
    let headers = headers.iter().map(|(name, value)| ((*name).into(), (*value).into()));
    Exchange {
        status: Some(status),
        headers: headers.chain([("content-type".into(), "text/event-stream".into())]).collect(),
        request: Some(Request {
            method: "POST".into(),
            url: "https://a.test/v1/responses".into(),
            ..Request::default()
        }),
        ..Exchange::default()
    }
}

fn recorded(body: &[u8], headers: &[(&'static str, &'static str)]) -> Vec<u8> {
    let recorder = Recorder::new();
    let mut text = recorder.begin(&exchange(200, headers));
    let mut at = Duration::ZERO;
    for chunk in body.chunks(333) {
        at += Duration::from_micros(2500);
        text += &recorder.chunk(at, chunk);
    }
    (text + &recorder.end(at, End::Closed)).into_bytes()
}

fn messages(events: &[String]) -> Vec<u8> {
    let recorder = Recorder::new();
    let mut text = recorder.begin(&exchange(101, &[]));
    for event in events {
        text += &recorder.received(Duration::from_millis(1), event);
    }
    (text + &recorder.end(Duration::from_millis(2), End::Lost("reset".into()))).into_bytes()
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
