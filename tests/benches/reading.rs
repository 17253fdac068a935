//! Throughput of reading events, as ratios to `serde_json::from_slice::<Value>` on the same bytes in the
//! same run, on one thread.
//!
//! `cargo bench -p tests --bench reading [-- MEGABYTES]`: the size of the data per round (default: 40). The data are
//! the recorded OpenAI streams, repeated, if a corpus exists beside the repository, and the goldens otherwise. With
//! `--features peers`, other crates are measured for comparison.
#![allow(clippy::print_stdout, clippy::cast_precision_loss)]

use std::collections::BTreeMap;
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;
use tests::corpus;
use types::openai::{DIALECT, Event};

/// Reads an event of that type; whether it was accepted.
type Reader = Box<dyn Fn(&str, &str) -> bool>;

const ROUNDS: usize = 7;

fn main() {
    let megabytes: usize = std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(40);
    let recorded = corpus::recordings().map(|folder| folder.join("real/openai"));
    let folder = recorded.unwrap_or_else(|| corpus::repository().join("spec/apis/responses/goldens/openai"));
    let events: Vec<(String, String)> =
        corpus::events(&folder).into_iter().map(|event| (event.event_type(), event.data)).collect();
    let bytes: usize = events.iter().map(|(_, data)| data.len()).sum();
    let repeat = (megabytes * 1_000_000 / bytes).max(1);
    println!("{} events, {bytes} bytes, read {repeat} times in each of {ROUNDS} rounds", events.len());

    for (name, reader) in contenders() {
        compare(name, &reader, &events, repeat, bytes);
    }
}

fn contenders() -> Vec<(&'static str, Reader)> {
    let by_type = validators();
    let mut contenders: Vec<(&'static str, Reader)> = vec![
        (
            "strict validation while parsing",
            Box::new(|event, data| DIALECT.check_event(event, data).is_valid()),
        ),
        (
            "the engine's view: validation, and the values that rules need",
            Box::new(|event, data| {
                let (verdict, view) = DIALECT.view_event(event, data);
                black_box(view);
                verdict.is_valid()
            }),
        ),
        (
            "typed events, borrowed",
            Box::new(|_, data| Event::parse(data).is_ok_and(|e| !matches!(e, Event::Unknown(_)))),
        ),
        (
            "typed events, owned",
            Box::new(|_, data| {
                let owned = Event::parse(data).map(Event::into_owned);
                black_box(&owned).as_ref().is_ok_and(|event| !matches!(event, Event::Unknown(_)))
            }),
        ),
        (
            "serde_json::Value and jsonschema, one validator a type",
            Box::new(move |event, data| {
                let value: Option<Value> = serde_json::from_str(data).ok();
                value.zip(by_type.get(event)).is_some_and(|(value, validator)| validator.is_valid(&value))
            }),
        ),
    ];
    contenders.extend(peers());
    contenders
}

#[cfg(not(feature = "peers"))]
const fn peers() -> [(&'static str, Reader); 0] {
    []
}

#[cfg(feature = "peers")]
fn peers() -> [(&'static str, Reader); 2] {
    use async_openai::types::responses::ResponseStreamEvent;
    [
        (
            "async-openai's types",
            Box::new(|_, data| serde_json::from_str::<ResponseStreamEvent>(data).is_ok()),
        ),
        ("sonic-rs to a tree", Box::new(|_, data| sonic_rs::from_str::<sonic_rs::Value>(data).is_ok())),
    ]
}

fn validators() -> BTreeMap<String, jsonschema::Validator> {
    let spec = Path::new(env!("CARGO_MANIFEST_DIR")).join("../spec");
    let dialect = codegen::dialect::load(&spec, DIALECT.name).expect("the dialect's files");
    let names = dialect.events.keys();
    names
        .map(|name| (name.clone(), jsonschema::validator_for(&dialect.bundle(name).unwrap()).unwrap()))
        .collect()
}

/// Measures reader and baseline alternately, so that a drifting clock speed does not favour one of them.
fn compare(name: &str, reader: &Reader, events: &[(String, String)], repeat: usize, bytes: usize) {
    let baseline: Reader = Box::new(|_, data| serde_json::from_slice::<Value>(data.as_bytes()).is_ok());
    let (mut ratios, mut rates, mut accepted) = (Vec::new(), Vec::new(), 0);
    for _ in 0..ROUNDS {
        let (base, _) = pass(&baseline, events, repeat);
        let (ours, good) = pass(reader, events, repeat);
        accepted = good;
        ratios.push(base.as_secs_f64() / ours.as_secs_f64());
        rates.push((bytes * repeat) as f64 / ours.as_secs_f64() / 1e9);
    }
    ratios.sort_by(f64::total_cmp);
    rates.sort_by(f64::total_cmp);
    let (least, median, most) = (ratios[0], ratios[ROUNDS / 2], ratios[ROUNDS - 1]);
    let rate = rates[ROUNDS / 2];
    println!("{median:6.2} x  ({least:.2} to {most:.2}; {rate:.2} GB/s; {accepted} accepted)  {name}");
}

fn pass(reader: &Reader, events: &[(String, String)], repeat: usize) -> (Duration, usize) {
    let start = Instant::now();
    let mut good = 0;
    for _ in 0..repeat {
        for (event, data) in events {
            good += usize::from(black_box(reader(event, data)));
        }
    }
    (start.elapsed(), good / repeat)
}
