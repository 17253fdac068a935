//! Typed events read every JSON object and write it back as the same value; valid ones have no
//! unknown parts.
//!
//! `MUTANTS` sets the number of mutants over all dialects, as in `oracle.rs`.

#![expect(clippy::print_stdout, reason = "figures, for those who ask for the output")]

use std::collections::BTreeMap;
use std::env;

use serde_json::Value;
use tests::corpus;
use tests::instances::Instances;
use tests::mutate::Mutator;
use tests::suite::{As, Suite};
use tests::typed::{self, Reading};
use types::{IntoOwned, Read, Write};

const FEW: usize = 7_000;

/// Reads an event and writes it again. Fails if the values differ.
fn round_trip(suite: &Suite, name: &str, text: &str) -> Reading {
    let reading = typed::read(suite.ours, name, text)
        .unwrap_or_else(|error| panic!("{}, {name}: {error}\n{text}", suite.ours.name));
    same(text, &reading.json);
    assert_eq!(reading.json, reading.owned, "{}, {name}: cut from its text it is another", suite.ours.name);
    reading
}

/// Reads and writes a valid event again. Fails if any part of it is unknown.
fn understood(suite: &Suite, name: &str, text: &str) {
    let reading = round_trip(suite, name, text);
    if suite.ours.check_event(name, text).is_valid() {
        let dialect = suite.ours.name;
        assert_eq!(reading.event_type, name, "{dialect}: {text}");
        assert_eq!(reading.unknown, None, "{dialect}, {name} is valid, but not understood: {text}");
        assert_eq!(
            reading.unknown_inside, 0,
            "{dialect}, {name} is valid, but not understood wholly: {text}"
        );
    }
}

fn same(before: &str, after: &str) {
    let value = |text: &str| -> Value {
        serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
    };
    assert_eq!(value(before), value(after), "\nread:    {before}\nwritten: {after}");
    assert_eq!(numbers(before), numbers(after), "\nread:    {before}\nwritten: {after}");
}

/// Returns the numbers in a text as written, since comparing parsed values would not detect a lost digit.
fn numbers(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let bytes = text.as_bytes();
    let (mut at, mut in_string) = (0, false);
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if in_string => at += 1,
            b'"' => in_string = !in_string,
            b'-' | b'0'..=b'9' if !in_string => {
                let end = text[at..]
                    .find([',', '}', ']', ' ', '\n', '\r', '\t'])
                    .map_or(text.len(), |end| at + end);
                found.push(&text[at..end]);
                at = end;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    found.sort_unstable();
    found
}

fn given_and_derived(suite: &Suite) {
    for seed in suite.seeds().into_iter().chain(suite.recorded()) {
        understood(suite, &seed.name, &seed.text);
    }
    let around = suite.around().filter(|(kind, _, around)| *kind == As::Event && around.value.is_object());
    for (_, name, around) in around {
        understood(suite, name, &around.value.to_string());
    }
}

fn mutants(suite: &Suite) {
    let wanted = env::var("MUTANTS").ok().map_or(FEW, |number| number.parse().expect("MUTANTS is a number"));
    let instances = Instances::new(suite.model.registry());
    let seeds = suite.seeds().into_iter().filter(|seed| seed.kind == As::Event);
    let mut seeds: Vec<(String, Value)> =
        seeds.map(|seed| (seed.name, serde_json::from_str(&seed.text).expect("seeds are JSON"))).collect();
    let events = suite.model.events.values();
    seeds.extend(events.map(|event| (event.name.clone(), instances.full(&event.schema))));
    let mut mutator = Mutator::new(&suite.model, 1815);
    for _ in 0..wanted.div_ceil(spec::DIALECTS.len()) {
        let (name, value) = mutator.random().pick(&seeds);
        let text = mutator.mutant(value);
        if text.trim_start().starts_with('{') {
            understood(suite, name, &text);
        }
    }
}

macro_rules! dialects {
    ($($module:ident $name:literal)*) => {$(
        mod $module {
            #[test]
            fn nothing_is_lost() {
                let suite = super::Suite::load($name);
                super::given_and_derived(&suite);
                super::mutants(&suite);
            }
        }
    )*};
}

types::with_dialects!(dialects);

/// Reads a body and writes it again, if it can be read. Returns whether it could.
fn body<'a, T: Read<'a> + Write + IntoOwned<Owned: Write>>(text: &'a str) -> bool {
    let Ok(read) = T::parse(text) else { return false };
    let json = read.to_json();
    same(text, &json);
    assert_eq!(json, read.into_owned().to_json());
    true
}

macro_rules! bodies {
    ($test:ident, $module:ident, $dialect:literal: $($name:ident $(= $wire:literal)?,)*) => {
        #[test]
        fn $test() {
            let suite = Suite::load($dialect);
            let instances = Instances::new(suite.model.registry());
            let mut mutator = Mutator::new(&suite.model, 7);
            $(
                let wire = [$($wire,)? stringify!($name)][0];
                let schema = &suite.model.types[wire];
                for around in instances.around(schema) {
                    let mutant = mutator.mutant(&around.value);
                    for text in [around.value.to_string(), mutant] {
                        let read = body::<types::$module::$name<'_>>(&text);
                        let valid = suite.ours.check_type(wire, &text).is_valid();
                        assert!(read || !valid, "{wire} is valid, but not read: {text}");
                    }
                }
            )*
            for (role, name) in suite.ours.roots {
                let all = [$([$($wire,)? stringify!($name)][0]),*];
                assert!(all.contains(name), "add {name}, the {role}");
            }
        }
    };
}

bodies! {
    bodies_of_openai, openai, "openai":
    CreateResponse, Response, CompactRequest = "CompactResponseMethodPublicBody",
    CompactedResponse = "CompactResource", ResponseItemList, ClientEvent = "ResponsesClientEvent",
    WebSocketError = "ResponseWsError", OutputItem, InputItem, Tool, ToolChoiceParam, Annotation, Filters,
}

bodies! {
    bodies_of_open_responses, open_responses, "open-responses":
    CreateResponse = "CreateResponseBody", Response = "ResponseResource",
    CompactRequest = "CompactResponseMethodPublicBody", CompactedResponse = "CompactResource",
    WebSocketResponseCreateEvent, WebSocketErrorEvent, ConversationItem = "ItemField", ItemParam,
}

#[cfg_attr(not(corpus), ignore = "needs the corpus of recordings: set CONFORMANCE_CORPUS")]
#[test]
fn recorded_events_are_read_as_what_they_are() {
    let recordings = corpus::required();
    let suite = Suite::load("openai");
    for folder in ["real/openai", "real/azure", "real/xai", "real/lmstudio", "handmade"] {
        let (mut known, mut typed, mut other, mut inside) = (0, 0, 0, 0);
        let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
        for event in corpus::events(&recordings.join(folder)) {
            if !serde_json::from_str::<Value>(&event.data).is_ok_and(|value| value.is_object()) {
                assert!(typed::read(suite.ours, "", &event.data).is_err(), "{}", event.data);
                continue;
            }
            let name = event.event_type();
            let reading = round_trip(&suite, &name, &event.data);
            if suite.ours.event(&name).is_none() {
                other += 1;
                continue;
            }
            known += 1;
            inside += usize::from(reading.unknown_inside > 0);
            match reading.unknown {
                None => typed += 1,
                Some(reason) => *reasons.entry(format!("{name}: {reason}")).or_default() += 1,
            }
        }
        println!(
            "{folder}: {known} events of known types, {typed} of them typed, {inside} with something unknown inside, {other} of unknown types; {reasons:#?}"
        );
        if folder == "real/openai" || folder == "real/azure" {
            // Streams recorded before 2025-05-29 have no sequence numbers.
            assert!(
                reasons.keys().all(|reason| reason.contains("`sequence_number` is missing")),
                "{reasons:#?}"
            );
        }
    }
}
