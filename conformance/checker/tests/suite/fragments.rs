//! The fast paths for repeated deltas, as frames, as bytes and in recordings, have the same findings as the general path.

use std::ops::Range;
use std::thread;

use checker::sse::{FrameStart, Repeated, Sink};
use checker::{Checker, Finding, Frame, Observer, Rules, Seen, sse};
use recordings::capture::Format;
use recordings::goldens::{GOLDENS, golden};
use spec::Dialect;

/// Sees every frame, so that none is taken the short way.
#[derive(Default)]
struct Watch(usize);

impl Observer for Watch {
    fn record(&mut self, _: &Seen<'_>) {
        self.0 += 1;
    }
}

/// The findings of a checker, the number of omitted ones, and the number of events.
type Outcome = (Vec<Finding>, u64, u64);

/// Returns the outcomes of one checker with an observer, of another one without, and of those that get bytes: all of
/// them, and a few at a time.
fn outcomes(checkers: &mut [Checker; 4], stream: &[u8]) -> [Outcome; 4] {
    let mut watch = Watch::default();
    for checker in checkers.iter_mut() {
        checker.reset();
    }
    let [watched, alone, whole, pieces] = checkers;
    let mut parser = sse::Parser::default();
    let mut frames = 0;
    let mut take = |frame: Frame<'_>| {
        frames += usize::from(frame.data.is_some());
        watched.frame_seen_by(&frame, &mut watch);
        alone.frame_seen_by(&frame, &mut ());
    };
    parser.push(stream, &mut take);
    parser.finish(&mut take);
    assert_eq!(watch.0, frames, "who watches sees every frame with data");
    whole.push(stream);
    for piece in stream.chunks(301) {
        pieces.push(piece);
    }
    checkers.each_mut().map(|checker| {
        checker.finish();
        let events = checker.events();
        let (found, omitted) = checker.take_findings();
        (found, omitted, events)
    })
}

/// What is in a delta of a text, in the APIs' own ways, up to the text.
const DELTAS: [&str; 6] = [
    "\"delta\":\"",
    "{\"type\":\"text_delta\",\"text\":\"",
    "{\"type\":\"input_json_delta\",\"partial_json\":\"",
    "{\"type\":\"thinking_delta\",\"thinking\":\"",
    "\"delta\":{\"content\":\"",
    "{\"index\":0,\"function\":{\"arguments\":\"",
];

/// Texts in front of those of deltas in a row.
const TEXTS: [&str; 8] =
    ["", "a ", "", "\\n\\\"\\\\", "ü 😀", " a text of more than sixteen bytes", "\\/", "z"];

/// Edits of a delta.
const DAMAGES: [(&str, &str); 53] = [
    ("", ""),
    ("\"delta\":\"", "\"delta\":\"\\n\\\\\\\""),
    ("\"delta\":\"", "\"delta\":\"\\ud83d"),
    ("\"delta\":\"", "\"delta\":\"\\ufffd"),
    ("\"delta\":\"", "\"delta\":\"\u{fffd}"),
    ("\"delta\":\"", "\"delta\":7,\"was\":\""),
    ("\"sequence_number\":", "\"sequence_number\":1"),
    ("\"sequence_number\":", "\"sequence_number\":-"),
    ("\"output_index\":0", "\"output_index\":1"),
    ("\"logprobs\":[]", "\"logprobs\":[{\"token\":\"a\",\"logprob\":-1,\"bytes\":[],\"top_logprobs\":[]}]"),
    ("event: ", "id: 1\nevent: "),
    ("event: response", "event: esponse"),
    ("event: content", "event: ontent"),
    ("data: ", "id: 1\ndata: "),
    ("data: ", "event: message\ndata: "),
    ("data: ", "what\ndata: "),
    ("data: ", "data:"),
    ("data: ", "data:  "),
    ("data: ", ": note\ndata: "),
    ("\n", "\r\n"),
    ("\n\n", "\n\n\n"),
    ("\n\n", "\n"),
    ("}\n", "}\ndata: \n"),
    ("\"text\":\"", "\"text\":\"\\ud83d"),
    ("\"text\":\"", "\"text\":7,\"was\":\""),
    ("\"text\":\"", "\"text\":null,\"was\":\""),
    ("\"text\":\"", "\"t\\u0065xt\":\""),
    ("\"partial_json\":\"", "\"partial_json\":\"\u{fffd}"),
    ("\"content\":\"", "\"content\":\"\\u00e9"),
    ("\"content\":\"", "\"content\":null,\"was\":\""),
    ("\"content\":\"", "\"role\":\"assistant\",\"content\":\""),
    ("\"content\":\"", "\"refusal\":\"no\",\"content\":\""),
    ("\"arguments\":\"", "\"arguments\":7,\"was\":\""),
    ("{\"index\":0,\"function\"", "{\"index\":0,\"id\":\"call_9\",\"function\""),
    ("{\"index\":0,\"function\"", "{\"index\":1,\"function\""),
    ("\"index\":0", "\"index\":1"),
    ("\"index\":0", "\"index\":0.0"),
    ("\"index\":0", "\"index\":-1"),
    ("}}\n", "}    }\n"),
    ("}}\n", "} \t}\n"),
    ("}}\n", "}}  \n"),
    ("]}\n", "]   }\n"),
    ("\"id\":\"chatcmpl-1\"", "\"id\":\"chatcmpl-2\""),
    ("\"created\":1785000000", "\"created\":1785000001"),
    ("\"model\":\"gpt", "\"model\":\"gtp"),
    ("\"finish_reason\":null", "\"finish_reason\":\"stop\""),
    ("\"finish_reason\":null", "\"finish_reason\":\"new\""),
    ("\"logprobs\":null", "\"logprobs\":{\"content\":[],\"refusal\":null}"),
    (
        "\"choices\":[",
        "\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":1,\"total_tokens\":2},\"choices\":[",
    ),
    ("\"choices\":[", "\"usage\":null,\"choices\":["),
    ("\"choices\":[", "\"obfuscation\":\"abc\",\"choices\":["),
    ("\"choices\":[", "\"obfuscation\":7,\"choices\":["),
    ("\"choices\":[", "\"error\":{\"message\":\"x\"},\"choices\":["),
];

/// Returns the sequence number of a frame.
fn number(frame: &str) -> Option<usize> {
    let (_, rest) = frame.split_once("\"sequence_number\":")?;
    rest.split(|end: char| !end.is_ascii_digit()).next()?.parse().ok()
}

/// Streams of a golden with a text of many fragments, each damaged in its own way: one fragment, or all from one on.
fn damaged(golden: &str, deltas: &[&str]) -> Vec<String> {
    let frames: Vec<&str> = golden.split_inclusive("\n\n").collect();
    let mut streams = Vec::new();
    for delta in deltas {
        let Some(at) = frames.iter().position(|frame| frame.contains(delta)) else { continue };
        let first = number(frames[at]).unwrap_or_default();
        let numbered = |frame: &str, to: usize| match number(frame) {
            Some(was) => {
                frame.replace(&format!("\"sequence_number\":{was}"), &format!("\"sequence_number\":{to}"))
            }
            None => frame.to_owned(),
        };
        let fragment = |nth: usize, has_padding: bool| {
            let text = TEXTS[nth % TEXTS.len()];
            let frame = numbered(frames[at], first + nth).replacen(delta, &format!("{delta}{text}"), 1);
            let padding = format!("{{\"obfuscation\":\"{}\",\"id\":\"chat", "x".repeat(nth * 5 % 7));
            if has_padding { frame.replacen("{\"id\":\"chat", &padding, 1) } else { frame }
        };
        let stream = |(from, to): (&str, &str), is_damaged: &dyn Fn(usize) -> bool, has_padding| {
            let mut text: String = frames[..at].concat();
            for nth in 0..12 {
                let frame = fragment(nth, has_padding);
                text.push_str(&if is_damaged(nth) { frame.replace(from, to) } else { frame });
            }
            let rest = frames[at + 1..].iter().zip(first + 12..);
            text.extend(rest.map(|(frame, number_of)| numbered(frame, number_of)));
            text
        };
        let is_there = |damage: &&(&str, &str)| fragment(1, false).contains(damage.0);
        for (nth, damage) in DAMAGES.iter().filter(is_there).enumerate() {
            // One and all in turn, so that the goldens differ in it.
            streams.push(match (nth + frames.len()) % 2 {
                0 => stream(*damage, &|nth| nth == 7, false),
                _ => stream(*damage, &|nth| nth >= 5, true),
            });
        }
    }
    streams
}

/// Returns a valid stream with a text of many fragments.
fn deltas() -> String {
    let golden = golden("openai/text").expect("the golden");
    let text = std::str::from_utf8(golden.bytes).expect("goldens are UTF-8");
    let stream = damaged(text, &DELTAS).into_iter().next().expect("a stream of deltas");
    // The final text has none of those in front.
    TEXTS
        .iter()
        .rev()
        .filter(|text| !text.is_empty())
        .fold(stream, |stream, text| stream.replace(&format!("\"delta\":\"{text}"), "\"delta\":\""))
}

/// Returns the goldens of the API of a dialect that are streams of server-sent events.
fn goldens(dialect: &Dialect) -> impl Iterator<Item = &'static str> {
    let is_of_api = |name| spec::dialect(name).is_some_and(|of| std::ptr::eq(of.api, dialect.api));
    let goldens =
        GOLDENS.iter().filter(move |golden| golden.format == Format::Sse && is_of_api(golden.dialect));
    goldens.map(|golden| std::str::from_utf8(golden.bytes).expect("goldens are UTF-8"))
}

/// Returns the number of streams and findings of a dialect, which are the same in all ways.
fn compared(dialect: &'static Dialect) -> [usize; 2] {
    let (mut streams, mut found) = (0, 0);
    let rules = Rules::of(dialect);
    let mut checkers = [(); 4].map(|()| Checker::with_rules(&rules));
    for text in goldens(dialect).flat_map(|text| damaged(text, &DELTAS).into_iter().chain([text.to_owned()]))
    {
        let [watched, others @ ..] = outcomes(&mut checkers, text.as_bytes());
        let report = recordings::check("", &mut text.as_bytes(), Some(Format::Sse), &rules);
        let recorded = (report.findings, report.omitted, report.events);
        for other in others.into_iter().chain([recorded]) {
            assert_eq!(watched, other, "{}:\n{text}", dialect.name);
        }
        streams += 1;
        found += watched.0.len();
    }
    [streams, found]
}

/// Counts the frames that a checker takes without parsing them.
struct Counting {
    checker: Checker,
    repeated: u64,
}

impl Sink for Counting {
    fn frame(&mut self, frame: &mut Frame<'_>) {
        self.checker.frame(frame);
    }

    fn repeated_frames(&mut self, text: &str, start: &FrameStart) -> Option<Repeated> {
        let repeated = self.checker.repeated_frames(text, start);
        self.repeated += repeated.map_or(0, |repeated| repeated.frames);
        repeated
    }
}

/// Texts in a row are appended without parsing, wherever the API has them, except at first.
#[test]
fn deltas_are_taken_the_short_way() {
    let mut kinds = Vec::new();
    for name in ["openai", "anthropic", "chat"] {
        let dialect = spec::dialect(name).expect("the dialect");
        let goldens: Vec<&str> = goldens(dialect).collect();
        for delta in DELTAS {
            let undamaged = goldens.iter().filter_map(|text| damaged(text, &[delta]).into_iter().next());
            let is_short = |stream: String| {
                let mut counting = Counting { checker: Checker::new(dialect), repeated: 0 };
                sse::Parser::default().push_to(stream.as_bytes(), &mut counting);
                counting.repeated >= 6
            };
            kinds.extend(undamaged.map(is_short).find(|is_short| *is_short).map(|_| (name, delta)));
        }
    }
    assert_eq!(kinds.len(), DELTAS.len(), "{kinds:?}");
}

#[test]
fn what_is_found_does_not_depend_on_the_way() {
    let dialects = spec::DIALECTS.iter();
    let counts = thread::scope(|scope| {
        let compared: Vec<_> = dialects.map(|dialect| scope.spawn(|| compared(dialect))).collect();
        compared.into_iter().map(|count| count.join().expect("they are the same")).collect::<Vec<_>>()
    });
    let [streams, found] = [0, 1].map(|at| counts.iter().map(|counts| counts[at]).sum::<usize>());
    assert!(streams > 500 && found > 500, "{streams} streams, {found} findings");
}

/// A comment that is dropped belongs to the frame behind it.
#[test]
fn a_delta_behind_a_long_comment_is_where_it_is() {
    let dialect = spec::dialect("openai").expect("the dialect");
    let goldens = goldens(dialect).filter(|text| text.contains("_text.delta\n"));
    let streams = goldens.filter_map(|text| damaged(text, &DELTAS).into_iter().next());
    for stream in streams.take(5) {
        let ends: Vec<usize> = stream.match_indices("_text.delta\n").map(|(at, _)| at).collect();
        let start = stream[..ends[4]].rfind("event: ").expect("the start of the frame");
        let (before, behind) = stream.split_at(start);
        let comment = format!(":{}\n", "x".repeat(100_000));
        // So that findings refer to the delta.
        let behind =
            behind.replacen("event: response.output_item.done", "event: response.output_item.gone", 1);
        let places = |pieces: &[&str]| {
            let mut checker = Checker::new(dialect);
            for piece in pieces {
                checker.push(piece.as_bytes());
            }
            checker.finish();
            checker.findings().iter().map(|finding| finding.place.bytes).collect::<Vec<_>>()
        };
        let apart = places(&[before, &comment, &behind]);
        assert!(!apart.is_empty());
        assert_eq!(apart, places(&[&format!("{before}{comment}{behind}")]));
    }
}

/// The data of a frame that is too long is dropped, also if the frame repeats the previous one.
#[test]
fn a_delta_that_is_too_long_is_so_however_it_is_cut() {
    let dialect = spec::dialect("openai").expect("the dialect");
    let stream = deltas();
    let delta = stream.match_indices("\"delta\":\"").nth(5).expect("a delta").0 + "\"delta\":\"".len();
    let start = stream[..delta].rfind("event: ").expect("the start of the frame");
    let length = stream[start..].find("\n\n").expect("the end of the frame") + 1;
    // Each of the two lines has an overhead.
    let longest = Frame::LONGEST - 2 * size_of::<Range<usize>>() - length;
    let (before, behind) = stream.split_at(delta);
    let mut long = before.to_owned();
    long.push_str(&"x".repeat(longest));
    let end = long.len();
    long.push_str(behind);
    let is_cut = |checker: &Checker| {
        checker.findings().iter().any(|finding| finding.message.contains("longer than 64 MiB"))
    };
    for is_too_long in [false, true] {
        if is_too_long {
            long.insert(end, 'x');
        }
        let [whole, pieces] = [long.len(), 16 << 20].map(|size| {
            let mut checker = Checker::new(dialect);
            for piece in long.as_bytes().chunks(size) {
                checker.push(piece);
            }
            checker.finish();
            assert_eq!(is_cut(&checker), is_too_long, "in pieces of {size}");
            checker.into_findings()
        });
        assert_eq!(whole, pieces);
    }
}

/// Notes whether the last frame was faulty.
#[derive(Default)]
struct Faulty(bool);

impl Observer for Faulty {
    fn record(&mut self, seen: &Seen<'_>) {
        self.0 = seen.is_faulty;
    }
}

#[test]
fn a_frame_with_a_stray_line_is_faulty() {
    let dialect = spec::dialect("openai").expect("the dialect");
    let rules = Rules::of(dialect).only(|rule| rule.id == "wire/known-fields");
    let is_faulty = |stream: &[u8]| {
        let (mut checker, mut seen) = (Checker::with_rules(&rules), Faulty::default());
        sse::Parser::default().push(stream, &mut |frame| {
            checker.frame_seen_by(&frame, &mut seen);
        });
        assert_eq!(checker.findings().len(), usize::from(seen.0));
        seen.0
    };
    assert!(is_faulty(b"what\ndata: {}\n\n"));
    assert!(!is_faulty(b"data: {}\n\n"));
}

/// Data of several lines are joined by line feeds. Bytes with a line feed at the same place are not the same frame.
#[test]
fn a_line_of_data_without_its_field_is_not_data() {
    let dialect = spec::dialect("openai").expect("the dialect");
    let mut checkers = [(); 4].map(|()| Checker::new(dialect));
    let stream = deltas();
    let stream = stream.replace(",\"item_id\"", ",\ndata: \"item_id\"");
    let deltas: Vec<usize> = stream.match_indices("\ndata: \"item_id\"").map(|(at, _)| at).collect();
    let (before, behind) = stream.split_at(deltas[5]);
    let broken = format!("{before}{}", behind.replacen("\ndata: ", "\n", 1));
    for (stream, is_sound) in [(stream.as_str(), true), (broken.as_str(), false)] {
        let [watched, others @ ..] = outcomes(&mut checkers, stream.as_bytes());
        let has_stray_line = watched.0.iter().any(|finding| finding.rule == "wire/known-fields");
        assert_eq!(has_stray_line, !is_sound, "{stream}");
        for other in others {
            assert_eq!(watched, other, "{stream}");
        }
    }
}
