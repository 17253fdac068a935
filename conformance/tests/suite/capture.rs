//! Recordings of the same stream have the same events in every format.

use std::io::Read;
use std::time::Duration;

use conformance::capture::{self, CaptureError, Compression, Decompressing, Entry, Format};
use conformance::goldens::{self, GOLDENS};
use conformance::{Rules, check};

use crate::fuzz;
use crate::fuzz::random::Xorshift;

/// A function that compresses bytes.
type Compress = fn(&[u8]) -> Vec<u8>;

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

#[test]
fn one_stream_in_every_format() {
    let stream = goldens::golden("openai/web-search").unwrap().bytes;
    let events = fuzz::recordings::data(stream);
    assert!(events.len() > 10);
    let recordings = fuzz::recordings::of(stream);
    for (format, recording) in &recordings {
        assert_eq!(data(recording), (*format, events.clone()), "{}", format.name());
    }
    // Tables have rows of logs alone.
    for format in Format::ALL.into_iter().filter(|format| *format != Format::Csv) {
        assert!(recordings.iter().any(|(is, _)| *is == format), "{} is not among them", format.name());
    }
}

#[test]
fn cuts_change_no_entry() {
    let mut random = Xorshift::new(3);
    let odd = b"\xef\xbb\xbf: \xf0\x9f\x98\x80\r\ndata: \xf0\x9f\xff\r\rdata: {\r\ndata:}\r\n\r\n\n: a\nid: 1\nevent: x\n\ndata";
    let few = [&odd[..], goldens::golden("wave/text").unwrap().bytes];
    for (format, recording) in few.into_iter().flat_map(fuzz::recordings::of) {
        for known in [None, Some(format)] {
            let whole = fuzz::entries(&[&recording], known);
            assert!(!whole.0.is_empty() || format != Format::Sse);
            let bytes: Vec<&[u8]> = recording.chunks(1).collect();
            assert_eq!(fuzz::entries(&bytes, known), whole, "{}, byte by byte", format.name());
            for _ in 0..40 {
                let longest = 1 + random.below(400);
                let pieces = fuzz::cut(&recording, longest, &mut random);
                assert_eq!(fuzz::entries(&pieces, known), whole, "{}", format.name());
            }
        }
    }
}

#[test]
fn a_missing_end_loses_only_what_is_missing() {
    let stream = goldens::golden("openai/web-search").unwrap().bytes;
    let all = fuzz::recordings::data(stream).len();
    for (how, recording) in
        [("gzip", fuzz::recordings::gzip(stream)), ("zstd", fuzz::recordings::zstd(stream))]
    {
        let (entries, outcome) = fuzz::entries(&[&recording[..recording.len() - 5]], None);
        let error = outcome.unwrap_err().to_string();
        assert!(
            error.starts_with(&format!("it is compressed with {how}, and cannot be decompressed ")),
            "{error}"
        );
        assert!(error.ends_with("it is truncated"), "{error}");
        // The last entry is `Entry::Lost`.
        assert!(how != "gzip" || entries.len() == all + 1, "{how}: {} of {all}", entries.len());
    }
    let (_, outcome) = fuzz::entries(&[&fuzz::recordings::gzip(&fuzz::recordings::zstd(stream))], None);
    assert_eq!(outcome, Err(CaptureError::CompressedTwice("zstd")));
}

/// A recording that is cut says nothing about the end of its streams.
#[test]
fn what_was_not_recorded_is_nobodys_fault() {
    let stream = goldens::golden("openai/web-search").unwrap().bytes;
    let rules = Rules::of(openai());
    let check = |recording: &[u8]| check("a", &mut { recording }, None, &rules);
    let exchange = |end: &str| {
        let recorder = conformance::capture::Recorder::new();
        let head = conformance::capture::Exchange {
            status: Some(200),
            headers: vec![("content-type".into(), "text/event-stream".into())],
            ..Default::default()
        };
        let begun = recorder.begin(&head) + &recorder.chunk(Duration::ZERO, &stream[..stream.len() - 40]);
        begun + end
    };
    let lost = exchange("{\"at\":1.0,\"end\":\"lost\"}\n");
    let findings = |recording: &[u8]| check(recording).findings.into_iter().map(|finding| finding.rule);
    assert!(findings(lost.as_bytes()).any(|rule| rule == "wire/terminated"));
    let ends =
        ["{\"at\":1.0,\"end\":\"left\"}\n", "{\"at\":1.0,\"end\":\"interrupted\"}\n", "", "{\"at\":1.0,\"te"];
    let gzip = fuzz::recordings::gzip(stream);
    let mut recordings: Vec<Vec<u8>> = ends.iter().map(|end| exchange(end).into_bytes()).collect();
    recordings
        .extend([gzip[..gzip.len() / 2].to_vec(), fuzz::recordings::gzip(lost.as_bytes())[..200].to_vec()]);
    for recording in recordings {
        let report = check(&recording);
        let told: Vec<_> = report.findings.iter().map(|finding| &finding.message).collect();
        assert!(told.is_empty(), "{told:?} in {}", String::from_utf8_lossy(&recording));
        assert!(report.events > 2 || report.error.is_some(), "{report:?}");
    }
}

/// The readable part of a damaged recording does not depend on how the input is chunked.
#[test]
fn damage_is_met_at_the_same_place() {
    let stream = goldens::golden("openai/text").unwrap().bytes;
    for (damaged, at) in [(fuzz::recordings::gzip(stream), 0x5a), (fuzz::recordings::zstd(stream), 0xa5)] {
        for place in (20..damaged.len()).step_by(37) {
            let mut bytes = damaged.clone();
            bytes[place] ^= at;
            let whole = fuzz::entries(&[&bytes], None);
            for size in [1, 2, 7, 63, 100] {
                let pieces: Vec<&[u8]> = bytes.chunks(size).collect();
                assert_eq!(fuzz::entries(&pieces, None), whole, "byte {place} damaged, pieces of {size}");
            }
        }
    }
}

#[test]
fn what_was_compressed_in_parts_is_one() {
    let parts: [Compress; 2] = [fuzz::recordings::gzip, fuzz::recordings::zstd];
    for compress in parts {
        let mut both = compress(b"data: 1\n\nda");
        both.extend(compress(b"ta: 2\n\n"));
        assert_eq!(data(&both), (Format::Sse, vec!["1".to_owned(), "2".to_owned()]));
        let bytes: Vec<&[u8]> = both.chunks(1).collect();
        assert_eq!(fuzz::entries(&bytes, None), fuzz::entries(&[&both], None));
    }
}

/// Three events, as the reference encoder of Brotli writes them.
const BROTLI: &[u8] = b"\x1b\x81\x00\x60\x1d\x07\x76\xe3\x55\x43\x11\x2f\x37\x3e\xd8\x04\xcd\x38\x7f\x83\xce\x33\xd9\x05\xb3\x61\xb0\x04\x21\x4b\xcd\x18\x99\x61\x70\xc8\x01\xd8\x55\xae\x71\xf3\x44\xa1\x0c\x8d\x4c\x82\x5a\x35\xba\xf9\x64\xba\x5f\xb5\xd7\x50\x1a\x03\x06\x6a\x0f";

#[test]
fn brotli_is_known_by_what_is_said_of_it() {
    let expected = ["1", "2", "\u{e9}"].map(str::to_owned).to_vec();
    let head = b"HTTP/2 200\r\ncontent-type: text/event-stream\r\ncontent-encoding: br\r\n\r\n";
    let recording = [&head[..], BROTLI].concat();
    assert_eq!(data(&recording), (Format::Http, expected.clone()));
    let bytes: Vec<&[u8]> = recording.chunks(1).collect();
    assert_eq!(fuzz::entries(&bytes, None), fuzz::entries(&[&recording], None));

    let read = |bytes: &[u8]| {
        let mut text = Vec::new();
        let mut input = Decompressing::new(bytes, Compression::Brotli);
        let outcome = input.read_to_end(&mut text);
        (text, outcome.map_err(|error| error.to_string()))
    };
    let (text, outcome) = read(BROTLI);
    assert_eq!((data(&text).1, outcome), (expected, Ok(text.len())));
    let problem = read(&BROTLI[..BROTLI.len() - 2]).1.unwrap_err();
    assert!(problem.contains("it is truncated"), "{problem}");
    let problem = read(&b"data: 1\n\n".repeat(20)).1.unwrap_err();
    assert!(problem.contains("it is damaged or not compressed this way"), "{problem}");
    let problem = read(&[BROTLI, b"data: 4\n\n"].concat()).1.unwrap_err();
    assert!(problem.contains("it has trailing bytes"), "{problem}");
}

#[test]
fn skippable_frames_of_zstandard_are_skipped() {
    let skippable = [&0x184d_2a5f_u32.to_le_bytes()[..], &5_u32.to_le_bytes(), b"index"].concat();
    let recording = [skippable, fuzz::recordings::zstd(b"data: 1\n\n")].concat();
    assert_eq!(data(&recording), (Format::Sse, vec!["1".to_owned()]));
    let bytes: Vec<&[u8]> = recording.chunks(1).collect();
    assert_eq!(fuzz::entries(&bytes, None), fuzz::entries(&[&recording], None));
}

#[test]
fn what_grows_without_measure_is_given_up() {
    // A valid event, followed by blocks of four bytes that each expand to 128 KiB.
    let mut bomb = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58, 0x48, 0x00, 0x00];
    bomb.extend_from_slice(b"data: 1\n\n");
    for _ in 0..4000 {
        bomb.extend_from_slice(&[0x02, 0x00, 0x10, b'\n']);
    }
    let error = fuzz::entries(&[&bomb], None).1.unwrap_err().to_string();
    assert!(error.contains("it decompresses to more than 64 MiB and 200 times its size"), "{error}");
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
