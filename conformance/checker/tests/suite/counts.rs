//! Indices and sequence numbers of any size, in every place where a dialect has one.

use std::collections::BTreeSet;
use std::thread;

use checker::{Checker, Finding, Frame, Transport};
use recordings::capture::Format;
use recordings::goldens::{GOLDENS, Golden, golden};
use spec::table::EventInfo;
use spec::{Dialect, Level, Slot};

/// Samples of each class of invalid numbers.
const ODD: [&str; 14] = [
    "-1",
    "-18446744073709551616",
    "-1e400",
    "-0.5",
    "0.5",
    "1e-400",
    "9007199254740992",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "1e400",
    "123456789012345678901234567890.0",
    "1e99999999999999999999",
];

/// Number of digits of the longest number, used rarely as it is slow.
const DIGITS: usize = 1_000_000;

fn findings(checker: &mut Checker, event: &str, data: &str) -> Vec<Finding> {
    checker.reset();
    let frame = Frame {
        event: Some(event.into()),
        data: Some(data.into()),
        source: data.as_bytes(),
        terminated: true,
        transport: Transport::Unframed,
        ..Frame::default()
    };
    checker.frame(&frame).to_vec()
}

/// Returns the identifying numbers of an event of this type, each with the name of its member in this dialect.
fn counts(dialect: &Dialect, event: &EventInfo) -> Vec<(Slot, &'static str)> {
    let slots = event.level.key.iter().copied().chain([Slot::SequenceNumber]);
    let member = |slot: Slot| {
        names(dialect.name, slot.name()).find(|name| {
            let data = format!("{{\"type\":\"{}\",\"{name}\":7}}", event.name);
            dialect.view_event(event.name, &data).1.raw(slot) == Some("7")
        })
    };
    slots.filter_map(|slot| Some((slot, member(slot)?))).collect()
}

/// Returns the possible names of a member: one dialect shortens the name of the item index.
fn names(dialect: &str, name: &'static str) -> impl Iterator<Item = &'static str> {
    let is_short = dialect == "aitronos" && name == "output_index";
    [name].into_iter().chain(is_short.then_some("index"))
}

fn is_told(findings: &[Finding], member: &str) -> bool {
    let rules = ["schema/whole-numbers", "schema/event-valid", "sequence/present"];
    findings.iter().any(|finding| {
        rules.contains(&&*finding.rule)
            && finding.level == Level::Must
            && finding.pointer.as_deref() == Some(&format!("/{member}"))
    })
}

#[test]
fn numbers_that_count_nothing_are_found_wherever_a_dialect_has_an_index() {
    let long = "7".repeat(DIGITS);
    let find_all = |dialect: &'static Dialect| {
        let mut checker = Checker::new(dialect);
        let mut slots = BTreeSet::new();
        let stated = dialect.framing.types.iter().find(|rule| rule.is.is_some());
        let named = stated.and_then(|rule| rule.has?.strip_prefix('/')).unwrap_or("type");
        for event in dialect.events {
            for (slot, member) in counts(dialect, event) {
                let is_new = slots.insert(slot.name());
                for number in ODD.iter().copied().chain(is_new.then_some(&*long)) {
                    let data = format!("{{\"{named}\":\"{}\",\"{member}\":{number}}}", event.name);
                    let found = findings(&mut checker, event.name, &data);
                    let number = &number[..number.len().min(30)];
                    assert!(is_told(&found, member), "{} {} {number}: {found:#?}", dialect.name, event.name);
                }
                for number in ["7", "7.0", "70e-1", "0", "-0", "9007199254740991"] {
                    let data = format!("{{\"{named}\":\"{}\",\"{member}\":{number}}}", event.name);
                    let found = findings(&mut checker, event.name, &data);
                    assert!(!is_told(&found, member), "{} {} {number}: {found:#?}", dialect.name, event.name);
                }
            }
        }
        // Events without a type have their indices in lists.
        let has_index = slots.contains(dialect.api.index.name());
        assert_eq!(
            has_index,
            dialect.framing.types.is_empty() || stated.is_some(),
            "{}: {slots:?}",
            dialect.name
        );
    };
    thread::scope(|scope| {
        for dialect in spec::DIALECTS {
            scope.spawn(|| find_all(dialect));
        }
    });
}

fn dialect_of(golden: &Golden) -> &'static Dialect {
    spec::dialect(golden.dialect).expect("a dialect")
}

fn streams() -> impl Iterator<Item = &'static Golden> {
    GOLDENS.iter().filter(|golden| golden.format == Format::Sse)
}

fn judged(dialect: &'static Dialect, stream: &str) -> Vec<Finding> {
    let mut checker = Checker::new(dialect);
    checker.push(stream.as_bytes());
    checker.finish();
    checker.into_findings().0
}

/// Returns a stream in which each number of a member is replaced, and how many there are.
fn rewritten(stream: &str, member: &str, number: impl Fn(u64) -> String) -> (String, usize) {
    let name = format!("\"{member}\":");
    let mut pieces = stream.split(&*name);
    let mut text = pieces.next().unwrap_or_default().to_owned();
    let mut count = 0;
    for piece in pieces {
        let digits = piece.len() - piece.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        text.push_str(&name);
        match piece[..digits].parse() {
            Ok(before) => {
                text.push_str(&number(before));
                count += 1;
            }
            Err(_) => text.push_str(&piece[..digits]),
        }
        text.push_str(&piece[digits..]);
    }
    (text, count)
}

const MEMBERS: [&str; 7] = [
    "sequence_number",
    "output_index",
    "content_index",
    "summary_index",
    "annotation_index",
    "command_index",
    "partial_image_index",
];

#[test]
fn numbers_are_compared_by_value() {
    let mut streams_changed = 0;
    for golden in streams() {
        let text = std::str::from_utf8(golden.bytes).expect("text");
        let clean = judged(dialect_of(golden), text);
        for member in MEMBERS.into_iter().flat_map(|name| names(golden.dialect, name)) {
            // Only every second number is replaced, so that equal numbers are written in two ways.
            for odd in [0, 1] {
                let write = |number: u64| match (number % 2 == odd, number) {
                    (true, 0) => "-0e3".to_owned(),
                    (true, number) => format!("{number}0.0e-1"),
                    (false, number) => number.to_string(),
                };
                let (stream, count) = rewritten(text, member, write);
                streams_changed += count.min(1);
                let found = judged(dialect_of(golden), &stream);
                assert_eq!(
                    found.len(),
                    clean.len(),
                    "{}/{} {member}: {found:#?}",
                    golden.dialect,
                    golden.name
                );
            }
        }
    }
    assert!(streams_changed > 200, "{streams_changed}");
}

#[test]
fn a_number_that_is_a_string_is_read_as_the_number() {
    let mut streams_changed = 0;
    let indices = MEMBERS.into_iter().chain(["index"]);
    for (golden, member) in streams().flat_map(|golden| indices.clone().map(move |member| (golden, member))) {
        let text = std::str::from_utf8(golden.bytes).expect("text");
        let clean = judged(dialect_of(golden), text);
        // All of them, and every second one.
        for every in [1, 2] {
            let (stream, count) = rewritten(text, member, |number| {
                if number % every == 0 { format!("\"{number}\"") } else { number.to_string() }
            });
            streams_changed += count.min(1);
            let found = judged(dialect_of(golden), &stream);
            let others: Vec<_> = found
                .iter()
                .filter(|finding| !["schema/event-valid", "sequence/present"].contains(&&*finding.rule))
                .filter(|finding| clean.iter().all(|known| known.rule != finding.rule))
                .collect();
            assert!(others.is_empty(), "{}/{} {member}: {others:#?}", golden.dialect, golden.name);
        }
    }
    assert!(streams_changed > 300, "{streams_changed}");
}

#[test]
fn one_number_that_counts_nothing_is_one_finding() {
    for golden in streams() {
        let text = std::str::from_utf8(golden.bytes).expect("text");
        for member in MEMBERS.into_iter().flat_map(|name| names(golden.dialect, name)) {
            for shift in ["-", "1844674407370955161", "0.5e-", "1e40"] {
                let (stream, count) = rewritten(text, member, |number| format!("{shift}{}", number + 1));
                let found = judged(dialect_of(golden), &stream);
                let others: Vec<_> = found
                    .iter()
                    .filter(|finding| !is_told(std::slice::from_ref(finding), member))
                    // Without its number, the first event may start any stream.
                    .filter(|finding| finding.pointer.as_deref() != Some(&format!("/{member}")))
                    .collect();
                let id = format!("{}/{} {member} {shift}", golden.dialect, golden.name);
                assert_eq!(count > 0, found.iter().any(|_| true), "{id}");
                assert!(others.is_empty(), "{id}: {others:#?}");
            }
        }
    }
}

#[test]
fn what_comes_after_too_large_a_number_does_not_grow() {
    let golden = golden("openai/text").expect("a golden");
    let text = std::str::from_utf8(golden.bytes).expect("text");
    let (stream, _) =
        rewritten(
            text,
            "sequence_number",
            |number| if number == 3 { "1e400".into() } else { number.to_string() },
        );
    let found = judged(dialect_of(golden), &stream);
    let rules: Vec<_> = found.iter().map(|finding| (&*finding.rule, finding.actual.as_deref())).collect();
    assert_eq!(rules, [("schema/whole-numbers", Some("1e400")), ("sequence/grows", Some("4"))]);
}
