//! Frames and sinks that no parser makes are checked, too.

use std::time::Duration;

use checker::sse::{FrameStart, Parser, Repeated, Sink};
use checker::{Checker, Frame, Places, Transport};

const DATA: &str = "{\"type\":\"response.output_text.delta\",\"sequence_number\":-1}";
const SOURCE: &str = "data: {\"type\":\"response.output_text.delta\",\"sequence_number\":-1}\n";

#[test]
#[expect(clippy::reversed_empty_ranges, reason = "it is odd")]
fn any_place_of_a_frame_is_reported() {
    let pieces = |offset| Places::Pieces(vec![(0, 6), (20, offset)]);
    let places = [Places::At(6), Places::At(usize::MAX), pieces(usize::MAX), pieces(26), Places::Nowhere];
    let whole = SOURCE.len() as u64;
    let bytes = [0..whole, u64::MAX - whole..u64::MAX, whole..0, u64::MAX..0, u64::MAX..u64::MAX];
    for (places, bytes) in places.iter().flat_map(|places| bytes.iter().map(move |bytes| (places, bytes))) {
        for (line, source) in [(1, SOURCE), (u64::MAX, SOURCE), (u64::MAX, ""), (u64::MAX, "\n\n\n\n\n\n\n")]
        {
            for transport in [Transport::Http, Transport::WebSocket, Transport::Unframed] {
                let frame = Frame {
                    data: Some(DATA.into()),
                    strays: vec!["what".into()],
                    source: source.as_bytes(),
                    bytes: bytes.clone(),
                    line,
                    places: places.clone(),
                    terminated: true,
                    transport,
                    time: Some(Duration::MAX),
                    ..Frame::default()
                };
                assert_eq!(places == &Places::Nowhere, frame.place(0).is_none());
                assert!(frame.place(usize::MAX).is_none());
                let mut checker = Checker::new(spec::dialect("openai").expect("the dialect"));
                checker.sent(&frame);
                assert!(!checker.frame(&frame).is_empty());
                checker.body(&frame);
                checker.finish();
                assert!(checker.findings().iter().all(|finding| finding.place.line >= line));
            }
        }
    }
}

/// Claims to have taken frames.
#[derive(Default)]
struct Claim {
    taken: Option<Repeated>,
    seen: Vec<(u64, u64)>,
}

impl Sink for Claim {
    fn frame(&mut self, frame: &mut Frame<'_>) {
        self.seen.push((frame.bytes.start, frame.line));
    }

    fn repeated_frames(&mut self, _: &str, _: &FrameStart) -> Option<Repeated> {
        self.taken.take()
    }
}

#[test]
fn a_sink_takes_no_more_than_there_is() {
    let chunk = b"data: 1\n\ndata: 2\n\n";
    for ((lines, length), next) in [
        ((u64::MAX, usize::MAX), chunk.len() as u64),
        ((0, usize::MAX), chunk.len() as u64),
        ((u64::MAX, 9), 9),
        ((u64::MAX, 0), 0),
    ] {
        for (start, line) in [(0, 1), (u64::MAX, u64::MAX)] {
            let (mut parser, mut claim) = (Parser::starting_at(start, line), Claim::default());
            for _ in 0..3 {
                claim.taken = Some(Repeated { frames: 1, lines, length });
                claim.seen.clear();
                parser.push_to(chunk, &mut claim);
            }
            parser.push_to(b"data: 3\n\n", &mut claim);
            let first = claim.seen.first().map(|(byte, _)| byte - start.min(u64::MAX / 2));
            let before = 2 * chunk.len() as u64;
            assert_eq!(first, Some(before + next), "{lines} {length}");
        }
    }
}

#[test]
fn a_stream_can_begin_anywhere_in_a_recording() {
    for stream in ["\u{feff}: a\r\n\r\n\ndata: 1\n\n", "data: a\r\r\n\ndata: b"] {
        let mut frames = Vec::new();
        let mut parser = Parser::starting_at(u64::MAX, u64::MAX);
        for piece in stream.as_bytes().chunks(3).chain([&b"data: \xff"[..]]) {
            parser.push(piece, &mut |frame| frames.push((frame.bytes, frame.line)));
        }
        parser.finish(&mut |frame| frames.push((frame.bytes, frame.line)));
        assert!(frames.len() > 1);
        assert!(frames.is_sorted_by_key(|(bytes, line)| (bytes.start, bytes.end, *line)), "{frames:?}");
    }
}
