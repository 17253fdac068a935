//! What the containers of streams can go through, and what those of a recording do.

use std::collections::BTreeSet;

use grammar::{Claim, Grammar, Lifecycle, Move, Walk, exercised};
use recordings::Checking;
use recordings::capture::Format;
use recordings::goldens::{GOLDENS, Golden};
use results::Exercised;

fn dialect() -> &'static spec::Dialect {
    spec::dialect("openai").expect("it is known")
}

fn read(stream: &[u8]) -> Exercised {
    let mut walk = Walk::default();
    let mut checking = Checking::new(&checker::Rules::of(dialect()), false);
    checking.check_seen_by("stream".to_owned(), &mut &*stream, Some(Format::Sse), &mut walk);
    exercised(dialect(), &walk.observed, Claim::All).expect("there is a lifecycle")
}

/// Returns the transitions of a type that a stream has, or all.
fn transitions(of: &Exercised, lane: &str, is_exercised: bool) -> BTreeSet<String> {
    let lane = of.lanes.iter().find(|known| known.name == lane).expect("there is this type");
    let due = lane.transitions.iter().filter(|path| path.is_exercised || !is_exercised);
    due.map(|path| lane.words(path)).collect()
}

#[test]
fn a_text_exercises_a_message_and_no_call() {
    let has = |golden: &Golden, text: &str| String::from_utf8_lossy(golden.bytes).contains(text);
    let is_text = |golden: &&Golden| {
        golden.format == Format::Sse && has(golden, "output_text.done") && !has(golden, "function_call")
    };
    let golden =
        GOLDENS.iter().filter(|golden| golden.holds_for("openai")).find(is_text).expect("there is one");
    let of = read(golden.bytes);
    let delta = "response.output_text.delta → response.output_text.done";
    assert!(transitions(&of, "message", true).contains(delta), "{:#?}", transitions(&of, "message", true));
    assert_eq!(transitions(&of, "function_call", true), BTreeSet::new());
    let is_of_call =
        |name: String| name.contains("output_item.added → ") && name.ends_with(" (function_call)");
    assert!(of.never().any(is_of_call));
    let values = |name: &str| -> Vec<(&str, bool)> {
        let member = of.members.iter().find(|member| member.name == name).expect("a golden has it");
        member.values.iter().map(|value| (&*value.name, value.is_exercised)).collect()
    };
    assert_eq!(values("message/status"), [("completed", true), ("in_progress", true), ("incomplete", false)]);
    assert!(values("function_call/status").iter().all(|(_, is_exercised)| !is_exercised));
    // No good stream has such an item.
    assert!(of.members.iter().all(|member| !member.name.starts_with("computer_call/")));
}

#[test]
fn an_empty_stream_exercises_nothing() {
    let of = read(b": nothing\n\n");
    assert_eq!((of.states.exercised, of.transitions.exercised, of.pairs.exercised), (0, 0, 0));
    assert!(of.states.reachable < of.transitions.reachable && of.transitions.reachable < of.pairs.reachable);
}

/// Each transition is the end of a pair or begins a container, and what ends a container is followed by nothing.
#[test]
fn nothing_follows_what_ends_a_container() {
    let windows = &Lifecycle::of(dialect()).windows;
    let is_done = |name: &str| name == "response.output_item.done";
    for window in windows.keys().filter(|window| window.lane != "response") {
        let before = window.stages[1].map(|stage| stage.effect.name).unwrap_or_default();
        assert!(!is_done(before), "{window:?}");
    }
    let legal = transitions(&read(b""), "message", false);
    assert!(legal.contains("response.content_part.done → response.output_item.done"), "{legal:#?}");
    assert!(!legal.contains("response.output_text.done → response.output_text.delta"), "{legal:#?}");
}

/// Each pair of transitions has a stream that is legal, and has it.
#[test]
fn each_pair_of_transitions_has_a_legal_stream() {
    for name in ["openai", "anthropic", "chat"] {
        let dialect = spec::dialect(name).expect("it is known");
        let grammar = Grammar::of(dialect);
        for (window, stream) in &Lifecycle::of(dialect).windows {
            let stream: Vec<Move> = stream.iter().map(|step| vec![*step]).collect();
            assert_eq!(grammar.accepts(&stream), Ok(()), "{window:?}");
            let (mut walk, text) = (Walk::default(), grammar.write(&stream));
            let mut checking = Checking::new(&checker::Rules::of(dialect), false);
            checking.check_seen_by("stream".to_owned(), &mut text.as_bytes(), Some(Format::Sse), &mut walk);
            assert!(walk.observed.windows.contains(&(dialect.name, *window)), "{window:?} in {text}");
        }
    }
}
