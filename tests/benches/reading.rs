//! How fast events are read, as ratios to `serde_json::from_slice::<Value>` on the same bytes in the
//! same run, on one thread. `cargo bench -p tests --bench reading [-- MEGABYTES]`; with
//! `--features peers` other crates are measured beside ours.

use std::hint::black_box;
use std::time::{Duration, Instant};

use spec::openai;
use tests::corpus;

/// A contender: its name, and what it does with an event of that type.
type Contender = (&'static str, fn(&str, &str) -> bool);

const CONTENDERS: &[Contender] = &[
    ("strict validation while parsing", |event, data| openai::DIALECT.check_event(event, data).is_valid()),
];

const ROUNDS: usize = 7;

fn main() {
    let megabytes: usize = std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(40);
    let folder = corpus::recordings().map(|recordings| recordings.join("real/openai"));
    let folder = folder.unwrap_or_else(|| corpus::repository().join("spec/goldens/openai"));
    let events: Vec<(String, String)> =
        corpus::events(&folder).into_iter().map(|event| (event.event_type(), event.data)).collect();
    let bytes: usize = events.iter().map(|(_, data)| data.len()).sum();
    let repeat = (megabytes * 1_000_000 / bytes).max(1);
    println!("{} events, {bytes} bytes, read {repeat} times in each of {ROUNDS} rounds", events.len());

    let pass = |read: &dyn Fn(&str, &str) -> bool| -> (Duration, usize) {
        let start = Instant::now();
        let mut good = 0;
        for _ in 0..repeat {
            for (event, data) in &events {
                good += usize::from(black_box(read(event, data)));
            }
        }
        (start.elapsed(), good / repeat)
    };
    let baseline = |_: &str, data: &str| serde_json::from_slice::<serde_json::Value>(data.as_bytes()).is_ok();
    for (name, read) in CONTENDERS {
        let mut ratios = Vec::new();
        let mut good = 0;
        let mut rate = 0.0;
        for _ in 0..ROUNDS {
            let (base, _) = pass(&baseline);
            let (ours, passed) = pass(read);
            good = passed;
            rate = (bytes * repeat) as f64 / ours.as_secs_f64() / 1e9;
            ratios.push(base.as_secs_f64() / ours.as_secs_f64());
        }
        ratios.sort_by(f64::total_cmp);
        println!(
            "{:6.2} x  ({:.2} to {:.2}, {rate:.2} GB/s, {good} accepted)  {name}",
            ratios[ROUNDS / 2],
            ratios[0],
            ratios[ROUNDS - 1]
        );
    }
}
