//! Recordings of the same stream in every format say the same.

use conformance::capture::{self, Entry, Format};
use conformance::goldens::{self, GOLDENS};
use conformance::{Checker, Finding, Rules, check, violation};

fn openai() -> &'static spec::Dialect {
    spec::DIALECTS.iter().find(|dialect| dialect.name == "openai").expect("the build has it")
}

fn data(recording: &[u8]) -> (Format, Vec<String>) {
    let mut data = Vec::new();
    let format = capture::read(recording, None, &mut |entry| {
        if let Entry::Event(frame) = entry {
            data.extend(frame.data.map(String::from));
        }
    });
    (format.expect("it can be read"), data)
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[test]
fn one_stream_in_every_format() {
    let stream = std::str::from_utf8(goldens::golden("openai/web-search").unwrap().bytes).unwrap();
    let (format, events) = data(stream.as_bytes());
    assert_eq!(format, Format::Sse);
    assert!(events.len() > 10);

    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n";
    let mut chunked = format!("{head}transfer-encoding: chunked\r\n\r\n").into_bytes();
    for chunk in stream.as_bytes().chunks(100) {
        chunked.extend_from_slice(&[format!("{:x}\r\n", chunk.len()).as_bytes(), chunk, b"\r\n"].concat());
    }
    chunked.extend_from_slice(b"0\r\n\r\n");
    let received: Vec<_> = events.iter().map(|event| format!("{{\"recv\":{}}}", quoted(event))).collect();
    let har = format!(
        "{{\"log\":{{\"entries\":[{{\"request\":{{}},\"response\":{{\"status\":200,\
         \"content\":{{\"mimeType\":\"text/event-stream\",\"text\":{}}}}}}}]}}}}",
        quoted(stream)
    );
    let cassette = format!(
        "interactions:\n- request:\n    uri: https://a.test/v1/responses\n  response:\n    \
         headers:\n      content-type: [text/event-stream]\n    body:\n      string: {}\n",
        quoted(stream)
    );
    let recordings = [
        (Format::Http, format!("{head}\r\n{stream}").into_bytes()),
        (Format::Http, chunked),
        (Format::Ndjson, events.join("\n").into_bytes()),
        (Format::Json, format!("[\n{}\n]", events.join(",\n")).into_bytes()),
        (Format::WebSocket, format!("{{\"sent\":\"{{}}\"}}\n{}\n", received.join("\n")).into_bytes()),
        (Format::Har, har.into_bytes()),
        (Format::Cassette, cassette.into_bytes()),
    ];
    for (format, recording) in recordings {
        assert_eq!(data(&recording), (format, events.clone()), "{}", format.name());
    }
}

#[test]
fn bytes_of_a_frame_are_those_of_the_recording() {
    for golden in GOLDENS {
        let mut place = 0;
        capture::read(golden.bytes, None, &mut |entry| {
            let Entry::Event(frame) = entry else { return };
            let range =
                usize::try_from(frame.bytes.start).unwrap()..usize::try_from(frame.bytes.end).unwrap();
            assert_eq!(&golden.bytes[range.clone()], frame.source);
            assert!(range.start >= place);
            place = range.end;
            if let Some(data) = &frame.data {
                let at = frame.place(0).unwrap();
                assert!(frame.source[at..].starts_with(data.as_bytes()), "{data}");
            }
        })
        .unwrap();
    }
}

struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit.max(1) as u64).unwrap_or(0)
    }
}

#[test]
fn cuts_change_no_finding() {
    let findings = |pieces: &[&[u8]]| -> Vec<Finding> {
        let mut checker = Checker::new(openai());
        for piece in pieces {
            checker.push(piece);
        }
        checker.finish();
        checker.into_findings().0
    };
    let mut random = Random(7);
    for rule in spec::catalogue::RULES {
        let recording = violation::recording(rule).unwrap();
        let whole = findings(&[&recording]);
        for _ in 0..100 {
            let (one, rest) = recording.split_at(random.below(recording.len()));
            let (two, three) = rest.split_at(random.below(rest.len()));
            assert_eq!(findings(&[one, two, three]), whole, "{}", rule.id);
        }
    }
}

#[test]
fn broken_recordings_break_nothing() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let starts: [&[u8]; 7] = [
        b"",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"[",
        b"{\"log\":",
        b"{\"recv\":\"",
        b"interactions:\n- ",
        b"data:",
    ];
    for round in 0..3000 {
        let golden = GOLDENS[random.below(GOLDENS.len())].bytes;
        let mut recording = starts[random.below(starts.len())].to_vec();
        recording.extend_from_slice(&golden[random.below(golden.len())..]);
        recording.truncate(random.below(2000));
        for _ in 0..random.below(20) {
            let at = random.below(recording.len());
            if let Some(byte) = recording.get_mut(at) {
                *byte = random.below(256).to_le_bytes()[0];
            }
        }
        let format = (round % 2 == 0).then(|| Format::ALL[random.below(Format::ALL.len())]);
        let report = check("random", &mut &*recording, format, &Rules::of(openai()));
        for located in &report.findings {
            let text = conformance::report::diagnostic("random", located, conformance::report::Style::Plain);
            assert!(text.chars().all(|character| character == '\n' || !character.is_control()), "{text:?}");
        }
    }
}
