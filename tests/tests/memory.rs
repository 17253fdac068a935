//! What is remembered from one event to the next makes no difference to what is found in it.

use serde_json::Value;
use spec::{Dialect, Memory, Slot, View};
use tests::mutate::Mutator;
use tests::suite::{As, Suite};

/// So many events follow each other in one dialect.
const EVENTS: usize = 4_000;

/// Reads events one after the other, and each by itself.
struct Reading {
    dialect: &'static Dialect,
    memory: Memory,
    /// What the event before was about.
    before: Vec<Option<String>>,
    repeats: usize,
}

/// The slots whose values are the same in an event that repeats the one before it.
fn about(view: &View<'_>) -> Vec<Option<String>> {
    let slots = Slot::ALL.iter().filter(|slot| !matches!(slot, Slot::Value | Slot::SequenceNumber));
    slots.map(|slot| view.raw(*slot).map(str::to_owned)).collect()
}

impl Reading {
    fn next(&mut self, name: &str, text: &str) {
        let dialect = self.dialect.name;
        let (alone, view) = self.dialect.view_event(name, text);
        let (verdict, seen) = self.dialect.next_event(name, text, &mut self.memory);
        assert_eq!(verdict, alone, "{dialect} {name}: {text}");
        for slot in Slot::ALL {
            assert_eq!(seen.raw(slot), view.raw(slot), "{dialect} {name}, {slot:?}: {text}");
        }
        let about = about(&view);
        if seen.repeats() {
            self.repeats += 1;
            assert_eq!(about, self.before, "{dialect} {name}: {text}");
        } else if let Some(raw) = view.raw(Slot::Response).or(view.raw(Slot::Value))
            && let Some(members) = self.memory.outline().members()
        {
            let place = |at: &std::ops::Range<usize>| raw.get(at.clone()).unwrap_or_default();
            let noted: Vec<_> = members.iter().map(|it| (place(&it.name), place(&it.value))).collect();
            let mut found = Vec::new();
            assert!(spec::json::each_member(raw, |name, value| found.push((name.raw, value))));
            assert_eq!(noted, found, "{dialect} {name}: {text}");
        }
        self.before = about;
    }
}

#[test]
fn events_are_read_in_a_row_as_each_is_alone() {
    for dialect in spec::DIALECTS {
        let suite = Suite::load(dialect.name);
        let seeds: Vec<_> = suite.seeds().into_iter().filter(|seed| seed.kind == As::Event).collect();
        let mut mutator = Mutator::new(&suite.model, 71);
        let mut reading = Reading { dialect, memory: Memory::default(), before: Vec::new(), repeats: 0 };
        for _ in 0..=EVENTS / seeds.len().min(EVENTS) {
            for seed in &seeds {
                let value: Value = serde_json::from_str(&seed.text).expect("seeds are JSON");
                reading.next(&seed.name, &seed.text);
                reading.next(&seed.name, &seed.text);
                reading.next(&seed.name, &mutator.mutant(&value));
                reading.next(&seed.name, &mutator.mutant(&value));
            }
        }
        assert!(reading.repeats > seeds.len() / 20, "{}: {} repeats", dialect.name, reading.repeats);
    }
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
        let (verdict, view) = spec::openai::DIALECT.next_event(name, text, &mut memory);
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
