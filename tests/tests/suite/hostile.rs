//! Hostile input to the validators and the typed readers has defined results, without panics, on a small stack.

#![expect(clippy::print_stdout, reason = "figures, for those who ask for the output")]

use std::thread;

use codegen::dialect;
use serde_json::Value;
use spec::Verdict;
use tests::corpus;
use tests::random::Xorshift;
use tests::suite::Suite;
use tests::typed;
use types::openai::{DIALECT, Event};
use types::{Miss, Nullable, Reason};

const SMALL_STACK: usize = 512 * 1024;

/// Runs a test on a thread that has little room to recurse.
fn on_small_stack(test: impl FnOnce() + Send + 'static) {
    let thread = thread::Builder::new().stack_size(SMALL_STACK).spawn(test).expect("threads can be made");
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}

/// Returns the pointers and expectations of the faults of an event; empty if it is valid.
fn faults(event: &str, text: &str) -> Vec<(String, String)> {
    match DIALECT.check_event(event, text) {
        Verdict::Valid => Vec::new(),
        Verdict::Invalid(faults, _) => {
            faults.into_iter().map(|fault| (fault.pointer, fault.kind.to_string())).collect()
        }
        other => panic!("{other:?}: {text}"),
    }
}

fn places(event: &str, text: &str) -> Vec<String> {
    faults(event, text).into_iter().map(|(pointer, _)| pointer).collect()
}

/// Returns a text delta with these members added or replaced.
fn delta_with(members: &str) -> String {
    let usual = [
        r#""item_id":"msg_1""#,
        r#""output_index":0"#,
        r#""content_index":0"#,
        r#""delta":"Hi""#,
        r#""sequence_number":4"#,
        r#""logprobs":[]"#,
    ];
    let is_given = |member: &str| member.split_once(':').is_some_and(|(name, _)| members.contains(name));
    let kept = usual.into_iter().filter(|member| !is_given(member)).collect::<Vec<_>>().join(",");
    format!("{{\"type\":\"{DELTA}\",{kept},{members}}}")
}

const DELTA: &str = "response.output_text.delta";

/// Returns the example of `response.created` with the value at a pointer replaced.
fn created_with(pointer: &str, value: &Value) -> String {
    let model = dialect::load(&corpus::repository().join("spec"), "openai").expect("the dialect can be read");
    let mut event = model.events["response.created"].examples[0].clone();
    *event.pointer_mut(pointer).expect("the example has it") = value.clone();
    event.to_string()
}

/// What the typed readers make of these, `spec/types/tests/suite/types.rs` tests.
#[test]
fn unknown_names_and_lone_surrogates_have_their_places() {
    on_small_stack(|| {
        let event = r#"{"type":"response.telepathy.delta","thought":[1.50,{"a":null}]}"#;
        assert_eq!(DIALECT.check_event("response.telepathy.delta", event), Verdict::Unknown);
        let item = r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"telepathy_call","depth":1e1},"sequence_number":2}"#;
        assert_eq!(places("response.output_item.added", item), ["/item/type"]);
        assert_eq!(
            places("response.created", &created_with("/response/status", &"paused".into())),
            ["/response/status"]
        );
        for members in [
            r#""obfuscation":"x","a/b":{"c":[0.10]}"#,
            r#""delta":"\ud83d""#,
            r#""delta":"a\udc00b\ud83d\ud83d\ude00""#,
            r#""new":"\ud83d""#,
            r#""\ud800":1,"\ud801":2"#,
            r#""delta\ud800":"x""#,
        ] {
            assert_eq!(places(DELTA, &delta_with(members)), [""; 0], "{members}");
        }
        // Half a pair makes a constant another one.
        let event = delta_with("\"x\":0").replace(DELTA, r"response.output_text.delta\udfff");
        assert_eq!(places(DELTA, &event), ["/type"]);
        assert!(
            matches!(Event::parse(&event), Ok(Event::Unknown(unknown)) if unknown.reason == Reason::NotListed)
        );
    });
}

#[test]
fn of_repeated_names_the_last_counts_and_declared_ones_are_faults() {
    on_small_stack(|| {
        for (again, place) in [
            (r#""delta":"a","delta":"last""#, "/delta"),
            (r#""delta":"a","del\u0074a":"last""#, "/delta"),
            (r#""delta":7,"delta":"last""#, "/delta"),
            (r#""delta":"last","type":"response.output_text.delta""#, "/type"),
        ] {
            let event = delta_with(again);
            let found = faults(DELTA, &event);
            assert!(
                found.contains(&(place.to_owned(), "each property once".to_owned())),
                "{event}: {found:?}"
            );
            let Ok(Event::OutputTextDelta(typed)) = Event::parse(&event) else { panic!("{event}") };
            assert_eq!(typed.delta, "last");
        }
        let event = delta_with(r#""new":1,"new":2"#);
        assert_eq!(places(DELTA, &event), [""; 0], "what the schema does not name is not watched");
        let Ok(Event::OutputTextDelta(typed)) = Event::parse(&event) else { panic!() };
        assert_eq!(typed.extra.get("new").map(types::Raw::as_str), Some("2"));

        let event = delta_with(r#""type":"response.refusal.delta""#);
        assert_eq!(places(DELTA, &event), ["/type", "/type"]);
        let Ok(Event::Unknown(unknown)) = Event::parse(&event) else { panic!() };
        assert_eq!(unknown.raw.as_str(), event, "two types are none");
    });
}

#[test]
fn numbers_beyond_all_limits_are_numbers() {
    on_small_stack(|| {
        for (number, integral) in [
            ("1e400", true),
            ("-1e400", true),
            ("1e-400", false),
            ("1E+99999999999999999999", true),
            ("0e-99999999999999999999", true),
            ("123456789012345678901234567890.0", true),
            ("0.00000000000000000000000000000000000001", false),
        ] {
            let event = delta_with(&format!(r#""sequence_number":{number},"new":{number}"#));
            let expected: &[&str] = if integral { &[] } else { &["/sequence_number"] };
            assert_eq!(places(DELTA, &event), expected, "{number}");
            match Event::parse(&event) {
                Ok(Event::OutputTextDelta(typed)) if integral => {
                    assert_eq!(typed.sequence_number.to_string(), number);
                    assert_eq!(typed.to_json().matches(number).count(), 2);
                }
                Ok(Event::Unknown(unknown)) if !integral => {
                    assert_eq!(unknown.reason, Reason::Miss(Miss::Field("sequence_number")));
                }
                other => panic!("{number}: {other:?}"),
            }
        }
        // No number is too great for the text, but this one is for its limits.
        let event = created_with("/response/temperature", &"placeholder".into());
        for number in ["1e400", "-1e400", "1e-400"] {
            let event = event.replace("\"placeholder\"", number);
            let expected: &[&str] = if number == "1e-400" { &[] } else { &["/response/temperature"] };
            assert_eq!(places("response.created", &event), expected);
            let Ok(Event::Created(created)) = Event::parse(&event) else { panic!() };
            let Nullable::Value(temperature) = &created.response.temperature else { panic!() };
            assert_eq!(temperature.as_str(), number);
        }
    });
}

#[test]
fn nesting_needs_no_stack() {
    on_small_stack(|| {
        const DEEP: usize = 5_000;
        for (open, close) in [("[", "]"), ("{\"a\":", "}"), ("[{\"\":[", "]}]")] {
            let nested = format!("{}1{}", open.repeat(DEEP), close.repeat(DEEP));
            let event = delta_with(&format!("\"new\":{nested}"));
            assert_eq!(places(DELTA, &event), [""; 0]);
            let Ok(Event::OutputTextDelta(typed)) = Event::parse(&event) else { panic!() };
            assert_eq!(typed.extra.get("new").map(types::Raw::as_str), Some(nested.as_str()));

            let event = delta_with(&format!("\"delta\":{nested}"));
            assert_eq!(places(DELTA, &event), ["/delta"]);
            assert!(matches!(Event::parse(&event), Ok(Event::Unknown(_))));

            let unclosed = delta_with("").replace(",}", &format!(",\"new\":{}", open.repeat(200 * DEEP)));
            assert!(
                matches!(DIALECT.check_event(DELTA, &unclosed), Verdict::NotJson(_, at) if at == unclosed.len())
            );
            assert_eq!(Event::parse(&unclosed).map_err(|error| error.miss), Err(Miss::Syntax));
        }
    });
}

#[test]
fn types_that_hold_themselves_are_followed_to_a_depth() {
    on_small_stack(|| {
        let tools = serde_json::json!([{"type":"file_search","vector_store_ids":[],"filters":"placeholder"}]);
        let event = created_with("/response/tools", &tools);
        for (depth, fits) in [(1, true), (50, true), (64, false), (5_000, false)] {
            let (open, close) = (r#"{"type":"and","filters":["#, "]}");
            let leaf = r#"{"type":"eq","key":"k","value":1}"#;
            let filters = format!("{}{leaf}{}", open.repeat(depth), close.repeat(depth));
            let event = event.replace("\"placeholder\"", &filters);
            let found = faults("response.created", &event);
            if fits {
                assert_eq!(found, []);
            } else {
                let [(pointer, expected)] = found.as_slice() else { panic!("{found:?}") };
                assert!(pointer.starts_with("/response/tools/0/filters/filters/0/filters/0"), "{pointer}");
                assert_eq!(expected, "nesting of at most 128 levels");
            }
            let event = Event::parse(&event).expect("an object");
            assert!(matches!(event, Event::Created(_)), "{depth}");
            assert!(event.to_json().contains(&filters));
        }
    });
}

#[test]
fn a_hundred_megabytes_are_one_string() {
    on_small_stack(|| {
        let long = "x".repeat(100_000_000);
        let event = delta_with(&format!("\"delta\":\"{long}\""));
        drop(long);
        assert!(DIALECT.check_event(DELTA, &event).is_valid());
        let Ok(Event::OutputTextDelta(typed)) = Event::parse(&event) else { panic!() };
        assert!(typed.delta.is_borrowed());
        assert_eq!(typed.delta.len(), 100_000_000);
        assert_eq!(typed.to_json().len(), event.len());
        drop(typed);
        // In the wrong place, an excerpt of it is enough.
        let event = event.replacen("\"sequence_number\":4", "\"sequence_number\":4,\"x\":5", 1);
        let event = event.replacen("\"delta\":", "\"item_id\":5,\"new\":", 1);
        let verdict = DIALECT.check_event(DELTA, &event);
        assert!(verdict.faults().iter().all(|fault| fault.actual.to_string().len() < 200), "{verdict:?}");
    });
}

/// Returns the shortest golden or example of every event of every dialect.
fn shortest() -> Vec<(&'static spec::Dialect, String, String)> {
    let mut found = Vec::new();
    for dialect in spec::DIALECTS {
        let mut seeds = Suite::load(dialect.name).seeds();
        seeds.sort_by_key(|seed| (seed.name.clone(), seed.text.len()));
        seeds.dedup_by_key(|seed| seed.name.clone());
        found.extend(seeds.into_iter().map(|seed| (*dialect, seed.name, seed.text)));
    }
    found
}

#[test]
fn truncated_events_are_not_json() {
    let events = shortest();
    on_small_stack(move || {
        for (dialect, name, text) in events {
            let ends = text.char_indices().map(|(end, _)| end);
            // In long events, the middle repeats what short events already cover.
            for end in ends.filter(|end| *end < 3_000 || text.len() - end < 500) {
                let cut = &text[..end];
                let verdict = dialect.check_event(&name, cut);
                assert!(
                    matches!(verdict, Verdict::NotJson(_, at) if at <= end),
                    "{name}: {verdict:?}: {cut}"
                );
                let error = typed::read(dialect, &name, cut).expect_err(cut);
                assert!(error.miss == Miss::Syntax && error.offset <= end, "{error}: {cut}");
            }
        }
    });
}

/// Returns whether the text is JSON, and whether it is an object; `None` where `serde_json` has limits of its own.
fn json_and_object(text: &str) -> Option<(bool, bool)> {
    match serde_json::from_str::<Value>(text) {
        Ok(value) => Some((true, value.is_object())),
        Err(error) => {
            let limits =
                ["surrogate", "number out of range", "recursion limit", "unexpected end of hex escape"];
            let words = error.to_string();
            (!limits.iter().any(|limit| words.contains(limit))).then_some((false, false))
        }
    }
}

fn whatever(dialect: &spec::Dialect, name: &str, text: &str) -> bool {
    let verdict = dialect.check_event(name, text);
    let is_json = !matches!(verdict, Verdict::NotJson(..));
    let reading = typed::read(dialect, name, text);
    if let Some((json, object)) = json_and_object(text) {
        assert_eq!(is_json, json, "{verdict:?}: {text}");
        assert_eq!(reading.is_ok(), object, "{reading:?}: {text}");
    }
    // A value that is not an object is refused at its first byte, without reading the rest.
    if text.trim_start_matches([' ', '\n', '\r', '\t']).starts_with('{') {
        assert_eq!(reading.is_ok(), is_json, "{verdict:?}, {reading:?}: {text}");
    }
    is_json
}

#[test]
fn random_text_is_judged_as_other_readers_of_json_do() {
    let events = shortest();
    on_small_stack(move || {
        let pieces = [
            "{",
            "}",
            "[",
            "]",
            ":",
            ",",
            "\"",
            "\\",
            "\\u",
            "d83d",
            "\\n",
            "null",
            "true",
            "false",
            "0",
            "-",
            "1",
            ".",
            "e",
            "E",
            "+",
            " ",
            "\n",
            "\u{0}",
            "\u{1f}",
            "\u{7f}",
            "é",
            "😀",
            "\u{feff}",
            "type",
            "\"type\"",
            "\"a\":",
            "nul",
            "\"\\ud800\"",
            "1e400",
            "[[[[",
            "]]]]",
            "//",
            "'",
            "NaN",
        ];
        let mut random = Xorshift::new(3);
        let mut json = 0;
        for round in 0..30_000 {
            let (dialect, name, text) = random.pick(&events);
            let text = if round % 3 == 0 {
                (0..random.below(12)).map(|_| *random.pick(&pieces)).collect()
            } else {
                let mut text = text.clone();
                for _ in 0..=random.below(3) {
                    let start = boundary(&text, random.below(text.len() + 1));
                    let end = boundary(&text, start + random.below(4));
                    let piece = if random.once_in(2) { "" } else { random.pick::<&str>(&pieces) };
                    text.replace_range(start..end, piece);
                }
                text
            };
            json += usize::from(whatever(dialect, name, &text));
        }
        println!("{json} of 30000 random texts are JSON");
        assert!(json > 1_000);
    });
}

fn boundary(text: &str, at: usize) -> usize {
    (at..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len())
}
