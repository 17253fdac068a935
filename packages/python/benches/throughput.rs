//! Throughput of the checker without Python, for comparison with `measure.py`.
//!
//! `cargo bench --profile dist -p python --bench throughput -- FILE` checks the stream in the file, 64 KB at a time, and
//! prints megabytes per second, and nanoseconds per event when each event is passed on its own.
#![allow(clippy::print_stdout, clippy::cast_precision_loss)]

use std::time::Instant;
use std::{env, fs};

use checker::{Checker, Rules};

const CHUNK: usize = 64 << 10;

/// Returns the shortest time of many, in seconds: what else runs on the machine lengthens the others.
fn best(mut work: impl FnMut()) -> f64 {
    let time = |_| {
        let began = Instant::now();
        work();
        began.elapsed().as_secs_f64()
    };
    (0..1000).map(time).fold(f64::INFINITY, f64::min)
}

fn main() {
    let stream = fs::read(env::args().nth(1).expect("a file")).expect("it can be read");
    let mut checker = Checker::with_rules(&Rules::of(spec::dialect("openai").expect("it is there")));
    let pushed = best(|| {
        for chunk in stream.chunks(CHUNK) {
            checker.push(chunk);
        }
        checker.finish();
        checker.reset();
    });
    println!("{:.0} MB/s", stream.len() as f64 / pushed / 1e6);

    let text = String::from_utf8_lossy(&stream);
    let events: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("data: ")).collect();
    let given = best(|| {
        for event in &events {
            checker.event(event);
        }
        checker.reset();
    });
    println!("{:.0} ns/event", given * 1e9 / events.len() as f64);
}
