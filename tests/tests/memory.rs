//! State carried between events does not change findings, and its size is limited.

use std::io::{Cursor, Read};

use conformance::{Checker, Rules, check};
use serde_json::Value;
use spec::{Count, Dialect, Fragment, FragmentFrame, Memory, Slot, View};
use tests::mutate::Mutator;
use tests::suite::{As, Suite};

/// Number of consecutive events in one dialect.
const EVENTS: usize = 4_000;

/// Reads events one after the other, and each by itself.
struct Reading {
    dialect: &'static Dialect,
    memory: Memory,
    /// The identifying values of the previous event.
    before: Vec<Option<String>>,
    repeats: usize,
    fragments: usize,
}

/// Returns the values of the slots that are equal in consecutive events about the same text.
fn about(view: &View<'_>) -> Vec<Option<String>> {
    let slots = Slot::ALL.iter().filter(|slot| !matches!(slot, Slot::Value | Slot::SequenceNumber));
    slots.map(|slot| view.raw(*slot).map(str::to_owned)).collect()
}

impl Reading {
    fn next(&mut self, name: &str, text: &str) {
        let dialect = self.dialect.name;
        let (alone, view, matches) = self.dialect.read_event(name, text);
        let mut seen = View::nothing();
        let info = self.dialect.event(name);
        let fragment = info.and_then(|info| self.memory.fragment(info, text));
        let frame = format!("event: {name}\ndata: {text}\n\n");
        let (stream, other) = (format!("{frame}event: "), frame.replacen("\n\n", "\nid: 1\n\n", 1));
        let in_frame = |stream| info.and_then(|info| self.memory.fragment_of_frame(info, stream));
        let data = frame.len() - text.len() - 2..frame.len() - 2;
        let whole = fragment.map(|fragment| FragmentFrame { fragment, data, length: frame.len(), lines: 3 });
        assert_eq!(in_frame(&stream), whole, "{dialect} {name}: {text}");
        assert_eq!(in_frame(&other), None, "{dialect} {name}: {text}");
        if let Some(Fragment { text: delta, number }) = fragment {
            self.fragments += 1;
            assert!(alone.is_valid(), "{dialect} {name}: {text}");
            let of_effect = info.and_then(|info| matches.get(0, info, &view)).map(|(_, view)| view);
            let value = of_effect.unwrap_or(view).string(Slot::Value);
            assert_eq!(value, Some(delta), "{dialect} {name}: {text}");
            let number = number.map(Count::Whole);
            assert_eq!(view.count(Slot::SequenceNumber), number, "{dialect} {name}: {text}");
            assert_eq!(about(&view), self.before, "{dialect} {name}: {text}");
            assert!(!text.contains("\\u") && !text.contains('\u{fffd}'), "{dialect} {name}: {text}");
        }
        let verdict = self.memory.next_event(info, text, &mut seen);
        if let Some(info) = info {
            let number = view.count(Slot::SequenceNumber).and_then(|number| number.whole());
            self.memory.expect_fragments(info, Some(name), number);
        }
        assert_eq!(verdict, alone, "{dialect} {name}: {text}");
        for slot in Slot::ALL {
            assert_eq!(seen.raw(slot), view.raw(slot), "{dialect} {name}, {slot:?}: {text}");
        }
        let about = about(&view);
        if seen.repeats() {
            self.repeats += 1;
            assert_eq!(about, self.before, "{dialect} {name}: {text}");
        } else if let Some(raw) = view.raw(Slot::Response).or(view.raw(Slot::Value))
            && let Some((members, names)) = self.memory.outline().members()
        {
            let place = |at: std::ops::Range<usize>| raw.get(at).unwrap_or_default();
            let noted: Vec<_> = members.iter().map(|it| (place(it.name()), place(it.value()))).collect();
            let mut found = Vec::new();
            assert!(spec::json::each_member(raw, |name, value| found.push((name.raw, value))));
            assert_eq!(noted, found, "{dialect} {name}: {text}");
            for (name, _) in found.iter().filter(|(name, _)| !name.contains('\\')) {
                let last = found.iter().rev().find(|(other, _)| other == name).map(|(_, value)| *value);
                let named = names.find(members, raw, name).map(|member| place(member.value()));
                assert_eq!(named, last, "{dialect} {name}: {text}");
            }
            assert!(names.find(members, raw, "no such member").is_none());
        }
        self.before = about;
    }
}

/// Returns an event with the next sequence number.
fn following(text: &str) -> String {
    let Some((before, rest)) = text.split_once("\"sequence_number\":") else { return text.to_owned() };
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (number, rest) = rest.split_at(end);
    let next = number.parse::<u64>().map_or(number.to_owned(), |number| (number + 1).to_string());
    format!("{before}\"sequence_number\":{next}{rest}")
}

#[test]
fn events_are_read_in_a_row_as_each_is_alone() {
    let mut fragments = 0;
    for dialect in spec::DIALECTS {
        let suite = Suite::load(dialect.name);
        let seeds: Vec<_> = suite.seeds().into_iter().filter(|seed| seed.kind == As::Event).collect();
        let mut mutator = Mutator::new(&suite.model, 71);
        let mut reading =
            Reading { dialect, memory: Memory::default(), before: Vec::new(), repeats: 0, fragments: 0 };
        for _ in 0..=EVENTS / seeds.len().min(EVENTS) {
            for seed in &seeds {
                let value: Value = serde_json::from_str(&seed.text).expect("seeds are JSON");
                reading.next(&seed.name, &seed.text);
                reading.next(&seed.name, &seed.text);
                reading.next(&seed.name, &following(&seed.text));
                reading.next(&seed.name, &mutator.mutant(&value));
                reading.next(&seed.name, &mutator.mutant(&value));
            }
        }
        // The values of lists of effects are collected anew.
        let has_lists = dialect.events.iter().any(|event| !event.effects.is_empty());
        let enough = if has_lists { 0 } else { seeds.len() / 20 + 1 };
        assert!(reading.repeats >= enough, "{}: {} repeats", dialect.name, reading.repeats);
        fragments += reading.fragments;
    }
    // Some dialects do not number their events, or do not begin them with their type.
    assert!(fragments > 100, "{fragments} fragments");
}

#[test]
fn what_varies_varies_within_its_kind() {
    let delta = |delta: &str, number: &str, item: &str, end: &str| {
        format!(
            r#"{{"type":"response.output_text.delta","content_index":0,"delta":{delta},"item_id":"{item}","logprobs":[],"obfuscation":"a","output_index":0,"sequence_number":{number}{end}"#
        )
    };
    let mut memory = Memory::default();
    let name = "response.output_text.delta";
    let mut read = |text: &str| {
        let mut view = View::nothing();
        let verdict = memory.next_event(spec::openai::DIALECT.event(name), text, &mut view);
        assert_eq!(verdict, spec::openai::DIALECT.check_event(name, text), "{text}");
        view.repeats()
    };
    let usual = delta(r#""Hel""#, "4", "msg_1", "}");
    assert!(!read(&usual));
    for (text, number) in [(r#""lo, \n wörld""#, "5"), (r#""""#, "1234567"), (r#""\ud83d""#, "-1")] {
        assert!(read(&delta(text, number, "msg_1", "}")), "{text} {number}");
    }
    for (text, number, item, end) in [
        ("\"\u{1}\"", "5", "msg_1", "}"),
        (r#""\x""#, "5", "msg_1", "}"),
        ("5", "5", "msg_1", "}"),
        (r#""a""#, "5.5", "msg_1", "}"),
        (r#""a""#, "05", "msg_1", "}"),
        (r#""a""#, "\"5\"", "msg_1", "}"),
        (r#""a""#, "5", "msg_2", "}"),
        (r#""a""#, "5", "msg_1", ""),
        (r#""a""#, "5", "msg_1", "} "),
        (r#""a""#, "5", "msg_1", "}}"),
        (r#""a""#, "5", "msg_1", r#","more":1}"#),
    ] {
        read(&usual);
        assert!(read(&usual));
        assert!(!read(&delta(text, number, item, end)), "{text} {number} {item} {end}");
    }
}

/// A delta is expected with the next number, however many digits that has, and wherever it is.
#[test]
fn numbers_follow_each_other() {
    let name = "response.output_text.delta";
    let event = spec::openai::DIALECT.event(name);
    let info = event.expect("the dialect has it");
    let number_first = |text: &str, number: u64| {
        format!(
            r#"{{"type":"{name}","sequence_number":{number},"item_id":"msg_1","output_index":0,"content_index":0,"delta":"{text}","logprobs":[],"obfuscation":"{text}"}}"#
        )
    };
    let number_last = |text: &str, number: u64| {
        format!(
            r#"{{"type":"{name}","content_index":0,"delta":"{text}","item_id":"msg_1","logprobs":[],"obfuscation":"","output_index":0,"sequence_number":{number}}}"#
        )
    };
    for is_first in [true, false] {
        let delta = |text: &str, number| {
            if is_first { number_first(text, number) } else { number_last(text, number) }
        };
        let mut memory = Memory::default();
        let read = |memory: &mut Memory, number| {
            let text = delta("some", number);
            assert!(memory.next_event(event, &text, &mut View::nothing()).is_valid(), "{text}");
            memory.expect_fragments(info, Some(name), Some(number));
        };
        let is_expected = |memory: &Memory, number| {
            let text = delta("more text", number);
            let fragment = memory.fragment(info, &text);
            assert!(fragment.is_none_or(|fragment| fragment.number == Some(number)), "{text}");
            assert!(fragment.is_none_or(|fragment| fragment.text.raw == "more text"), "{text}");
            fragment.is_some()
        };
        read(&mut memory, 7);
        for next in 8..1_200 {
            for other in [0, next - 1, next + 1, next * 10, next + 1_000] {
                assert!(!is_expected(&memory, other), "{other} instead of {next}");
            }
            assert!(is_expected(&memory, next), "{next}");
            if next % 3 == 0 {
                read(&mut memory, next);
            } else {
                memory.take_fragment();
            }
        }
        for (number, next) in [(98, 99), (5, 6), (99_999, 100_000), (0, 1), (999_999_999, 1_000_000_000)] {
            read(&mut memory, number);
            assert!(is_expected(&memory, next), "{next}");
        }
        read(&mut memory, 99_999_999_999_999_999);
        assert!(
            !is_expected(&memory, 100_000_000_000_000_000),
            "a number of too many digits is not expected"
        );
        read(&mut memory, 3);
        assert!(is_expected(&memory, 4));
    }
}

/// The identifying values of an event recur inside the content of a later one.
#[test]
fn what_lies_in_something_is_read_as_it_is_alone() {
    let dialect = &spec::openai::DIALECT;
    let part = r#"{"type":"output_text","text":"Hi","annotations":[],"logprobs":[]}"#;
    let item = |part: &str, id: &str| {
        format!(
            r#"{{"id":"{id}","type":"message","status":"completed","role":"assistant","content":[{part}]}}"#
        )
    };
    let part_done = format!(
        r#"{{"type":"response.content_part.done","sequence_number":1,"item_id":"msg_1","output_index":0,"content_index":0,"part":{part}}}"#
    );
    let item_done = |item: &str| {
        format!(
            r#"{{"type":"response.output_item.done","sequence_number":2,"output_index":0,"item":{item}}}"#
        )
    };
    let list = |items: &str| {
        format!(r#"{{"type":"response.completed","sequence_number":3,"response":{{"output":[{items}]}}}}"#)
    };
    let (whole, no_part) = (item(part, "msg_1"), item(&part.replace("\"Hi\"", "7"), "msg_1"));
    let no_item = whole.replace("\"assistant\"", "1");
    let texts = [
        ("response.content_part.done", part_done),
        ("response.output_item.done", item_done(&whole)),
        ("response.output_item.done", item_done(&no_part)),
        ("response.completed", list(&whole)),
        ("response.completed", list(&format!("{whole},{no_item},{no_part},{whole}"))),
        ("response.completed", list(&whole[..whole.len() - 1])),
        ("response.completed", list(&format!("{whole}}}"))),
    ];
    let mut memory = Memory::default();
    let mut valid = 0;
    for (name, text) in &texts {
        let mut view = View::nothing();
        let verdict = memory.next_event(dialect.event(name), text, &mut view);
        assert_eq!(verdict, dialect.check_event(name, text), "{text}");
        valid += usize::from(verdict.is_valid());
    }
    assert_eq!(valid, 2);
}

/// Returns a golden stream up to its first delta.
fn begun() -> (&'static str, &'static str) {
    let golden = include_str!("../../spec/apis/responses/goldens/openai/text.sse");
    golden.split_at(golden.find("event: response.output_text.delta").expect("a delta"))
}

/// A reader that repeats bytes.
struct Again {
    bytes: Cursor<Vec<u8>>,
    times: usize,
}

impl Read for Again {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let length = self.bytes.read(buffer)?;
        if length == 0 && self.times > 1 {
            self.times -= 1;
            self.bytes.set_position(0);
            return self.bytes.read(buffer);
        }
        Ok(length)
    }
}

#[test]
fn a_comment_of_any_length_is_passed_over() {
    let (before, rest) = begun();
    let comment = Again { bytes: Cursor::new(vec![b'x'; 1 << 20]), times: 80 };
    let mut stream =
        before.as_bytes().chain(&b": "[..]).chain(comment).chain(&b"\n"[..]).chain(rest.as_bytes());
    let report = check("a", &mut stream, None, &Rules::of(&spec::openai::DIALECT));
    assert_eq!((report.error, report.findings.len()), (None, 0), "{:?}", report.findings);
    assert_eq!(count(report.events), begun().0.matches("data:").count() + rest.matches("data:").count());
}

#[test]
fn an_event_that_is_too_long_is_told_and_not_kept() {
    let (before, rest) = begun();
    let long = Again { bytes: Cursor::new(vec![b'x'; 1 << 20]), times: 65 };
    let mut stream =
        before.as_bytes().chain(&b"data: "[..]).chain(long).chain(&b"\n\n"[..]).chain(rest.as_bytes());
    let report = check("a", &mut stream, None, &Rules::of(&spec::openai::DIALECT));
    let told: Vec<_> = report.findings.iter().map(|it| (&*it.rule, it.message.as_str())).collect();
    assert_eq!(told, [("wire/json-object", "the data is not JSON: the event is longer than 64 MiB")]);
    let next = count(report.findings[0].place.event);
    assert_eq!(next, before.matches("data:").count() + 1);
    assert_eq!(count(report.events), next + rest.matches("data:").count());
}

#[test]
fn a_stream_with_too_much_open_is_judged_up_to_there() {
    let (before, rest) = begun();
    let delta = rest.split_inclusive("\n\n").next().expect("a delta");
    let delta = delta.replacen("\"delta\":\"", &format!("\"delta\":\"{}", "x".repeat(1 << 20)), 1);
    assert!(delta.len() > 1 << 20);
    let times = (Checker::MOST_KEPT >> 20) + 8;
    let deltas = Again { bytes: Cursor::new(delta.into_bytes()), times };
    let mut stream = before.as_bytes().chain(deltas).chain(rest.as_bytes());
    let report = check("a", &mut stream, None, &Rules::of(&spec::openai::DIALECT));
    let error = report.error.expect("it is told");
    let all = before.matches("data:").count() + times + rest.matches("data:").count();
    let unchecked = all - count(report.events);
    assert!(unchecked > 0, "{error}");
    assert_eq!(
        error,
        format!("a stream has more than 256 MiB open at once: its last {unchecked} events were not checked")
    );
    // A repeated sequence number is detected earlier, a mismatching end is not.
    assert!(
        report.findings.iter().all(|finding| finding.rule.starts_with("sequence/")),
        "{:?}",
        report.findings
    );
}

fn count(events: u64) -> usize {
    usize::try_from(events).expect("there are not so many")
}
