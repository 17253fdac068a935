//! Throughput of checking streams, as ratios to `serde_json::from_slice::<Value>` on the same events in
//! the same run, on one thread, bytes in memory unless files are named.
//!
//! `cargo bench -p tests --bench checking [-- MEGABYTES] [DIALECT] [WORK]`: the size of the data per round (default: 40), and
//! the only dialect and work to measure. The data are recorded streams of the first party of each API, repeated, if they
//! exist beside the repository, and the goldens otherwise.
#![allow(clippy::print_stdout, clippy::cast_precision_loss)]

#[path = "../instructions/src/streams.rs"]
mod streams;

use std::fs::{self, File};
use std::hint::black_box;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use conformance::capture::sse;
use conformance::recordings::Checking;
use conformance::{Checker, Rules};
use serde_json::Value;
use spec::{Dialect, EventInfo, Memory, View};
use streams::{PATTERNS, Pattern};
use tests::corpus;

const ROUNDS: usize = 7;
const CHUNK: usize = 64 << 10;

/// A pass over all streams that returns the size of its result.
type Pass<'p> = &'p dyn Fn() -> u64;

/// The streams of an API.
struct Streams {
    dialect: &'static Dialect,
    pattern: Pattern,
    rules: Rules,
    files: Vec<PathBuf>,
    contents: Vec<Vec<u8>>,
}

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench").peekable();
    let megabytes = arguments.peek().and_then(|argument| argument.parse().ok());
    if megabytes.is_some() {
        arguments.next();
    }
    let (dialect, work) = (arguments.next(), arguments.next().unwrap_or_default());
    let is_meant = |pattern: &Pattern| dialect.as_ref().is_none_or(|dialect| pattern.dialect == dialect);
    for pattern in PATTERNS.into_iter().filter(is_meant) {
        Streams::of(pattern).compare_all(megabytes.unwrap_or(40), &work);
    }
    if dialect.is_none() {
        Streams::of(PATTERNS[0]).linear();
    }
}

impl Streams {
    fn of(pattern: Pattern) -> Self {
        let dialect = spec::dialect(pattern.dialect).expect("the dialect");
        let recorded = corpus::real(dialect.api.name, pattern.vendor);
        let files = if recorded.is_empty() {
            let api = format!("spec/apis/{}/goldens/{}", dialect.api.name, dialect.name);
            corpus::files(&corpus::repository().join(api), &["sse"])
        } else {
            recorded
        };
        let contents = files.iter().map(|file| fs::read(file).expect("a recording")).collect();
        Self { dialect, pattern, rules: Rules::of(dialect), files, contents }
    }

    fn compare_all(&self, megabytes: usize, work: &str) {
        let Self { dialect, rules, files, contents: streams, .. } = self;
        let bytes: usize = streams.iter().map(Vec::len).sum();
        let repeat = (megabytes * 1_000_000 / bytes).max(1);
        println!(
            "{}: {} streams, {bytes} bytes, checked {repeat} times in each of {ROUNDS} rounds",
            dialect.api.title,
            streams.len()
        );
        let compare = |name: &str, repeat, base: Pass<'_>, ours: Pass<'_>| {
            if name.contains(work) {
                compare(name, repeat, base, ours);
            }
        };
        let data = events(streams);
        let broken = streams::damaged(streams.iter().map(Vec::as_slice));
        let broken_data = events(&broken);
        let mut long = Vec::new();
        self.pattern.long(&self.golden(), 200_000, &mut |frame| long.extend_from_slice(frame.as_bytes()));
        let one = [long];
        let one_data = events(&one);
        compare("framing, 64 KB at a time", repeat, &|| tree(&data), &|| frame(streams));
        let typed = typed(dialect, &data);
        let name = "strict validation alone, each event by itself";
        compare(name, repeat, &|| tree(&data), &|| validate(dialect, &typed));
        let name = "strict validation alone, event after event";
        compare(name, repeat, &|| tree(&data), &|| validate_in_order(&typed));
        compare("the full check", repeat, &|| tree(&data), &|| check(rules, streams));
        compare("the full check, of files", repeat, &|| tree(&data), &|| check_files(rules, files));
        let name = "the full check, 4 % of the events invalid";
        compare(name, repeat, &|| tree(&broken_data), &|| check(rules, &broken));
        compare("one stream of 200,000 deltas", 1, &|| tree(&one_data), &|| check(rules, &one));
    }

    /// Returns the golden that is made longer.
    fn golden(&self) -> String {
        let Dialect { api, name, .. } = self.dialect;
        let path = format!("spec/apis/{}/goldens/{name}/{}.sse", api.name, self.pattern.golden);
        fs::read_to_string(corpus::repository().join(path)).expect("a golden")
    }

    /// Shows that time and memory grow at most linearly with the length of a stream.
    fn linear(&self) {
        let Self { rules, pattern, .. } = self;
        let golden = self.golden();
        for deltas in [10_000, 100_000, 1_000_000] {
            grown(rules, &format!("{deltas} deltas"), |sink| pattern.long(&golden, deltas, sink));
        }
        for items in [1_000, 10_000, 50_000] {
            grown(rules, &format!("{items} items, all of them out of order in the end"), |sink| {
                pattern.many(&golden, items, true, &|_| true, sink);
            });
            // Their texts differ from the final output, too.
            let is_begun = |frame: &str| frame.contains("added\n") || frame.contains(".delta\n");
            grown(rules, &format!("{items} items, none of them ever finished"), |sink| {
                pattern.many(&golden, items, true, &is_begun, &mut |frame| {
                    let is_end = frame.starts_with("event: response.completed\n");
                    sink(&if is_end { frame.replace("world", "there") } else { frame.to_owned() });
                });
            });
        }
        grown(rules, "1000000 items, all open, judged as far as they are kept", |sink| {
            pattern.many(&golden, 1_000_000, true, &|frame| frame.contains("output_item.added\n"), sink);
        });
    }
}

/// Returns the payloads of the data lines.
fn events(streams: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let mut data = Vec::new();
    for stream in streams {
        let mut keep = |frame: conformance::capture::Frame<'_>| {
            data.extend(frame.data.map(|text| text.into_owned().into_bytes()));
        };
        let mut parser = sse::Parser::default();
        parser.push(stream, &mut keep);
        parser.finish(&mut keep);
    }
    data
}

fn tree(events: &[Vec<u8>]) -> u64 {
    events.iter().map(|data| u64::from(serde_json::from_slice::<Value>(data).is_ok())).sum()
}

/// Returns the events that the dialect has, as texts.
fn typed<'d>(dialect: &Dialect, events: &'d [Vec<u8>]) -> Vec<(&'static EventInfo, &'d str)> {
    let event = |data| {
        let text = std::str::from_utf8(data).ok()?;
        Some((streams::event_of(dialect, text)?, text))
    };
    events.iter().filter_map(|data| event(data)).collect()
}

fn validate(dialect: &Dialect, events: &[(&'static EventInfo, &str)]) -> u64 {
    events.iter().map(|(event, data)| u64::from(!dialect.check_event(event.name, data).is_valid())).sum()
}

fn validate_in_order(events: &[(&'static EventInfo, &str)]) -> u64 {
    let mut memory = Memory::default();
    let mut is_valid = |event, data| memory.next_event(Some(event), data, &mut View::nothing()).is_valid();
    events.iter().map(|(event, data)| u64::from(!is_valid(event, data))).sum()
}

fn frame(streams: &[Vec<u8>]) -> u64 {
    let mut frames = 0;
    for stream in streams {
        let mut parser = sse::Parser::default();
        let mut count = |frame: conformance::capture::Frame<'_>| {
            black_box(&frame);
            frames += 1;
        };
        for chunk in stream.chunks(CHUNK) {
            parser.push(chunk, &mut count);
        }
        parser.finish(&mut count);
    }
    frames
}

fn check(rules: &Rules, streams: &[Vec<u8>]) -> u64 {
    let mut found = 0;
    let mut checker = Checker::with_rules(rules);
    for stream in streams {
        checker.reset();
        for chunk in stream.chunks(CHUNK) {
            checker.push(chunk);
        }
        checker.finish();
        found += checker.findings().len() as u64;
    }
    found
}

fn check_files(rules: &Rules, files: &[PathBuf]) -> u64 {
    let mut checking = Checking::new(rules, false);
    let mut check = |file: &PathBuf| {
        let mut input = File::open(file).expect("a recording");
        checking.check(String::new(), &mut input, None).findings.len() as u64
    };
    files.iter().map(&mut check).sum()
}

/// Measures both alternately, so that a drifting clock speed does not favour one of them.
fn compare(name: &str, repeat: usize, base: Pass<'_>, ours: Pass<'_>) {
    let (mut ratios, mut result) = (Vec::new(), 0);
    for _ in 0..ROUNDS {
        let (slow, _) = timed(repeat, base);
        let (fast, count) = timed(repeat, ours);
        result = count;
        ratios.push(slow.as_secs_f64() / fast.as_secs_f64());
    }
    ratios.sort_by(f64::total_cmp);
    let (least, median, most) = (ratios[0], ratios[ROUNDS / 2], ratios[ROUNDS - 1]);
    println!("{median:6.2} x  ({least:.2} to {most:.2}; {result} results)  {name}");
}

fn timed(repeat: usize, pass: Pass<'_>) -> (Duration, u64) {
    let start = Instant::now();
    let mut result = 0;
    for _ in 0..repeat {
        result = black_box(pass());
    }
    (start.elapsed(), result)
}

fn grown(rules: &Rules, name: &str, stream: impl FnOnce(&mut dyn FnMut(&str))) {
    let mut checker = Checker::with_rules(rules);
    let mut spent = Duration::ZERO;
    stream(&mut |frame| {
        let start = Instant::now();
        checker.push(frame.as_bytes());
        spent += start.elapsed();
    });
    let each = spent.as_nanos() as f64 / checker.events() as f64;
    println!("{each:6.0} ns an event, {} at most in memory: a stream of {name}", peak());
}

/// Returns the peak memory of the process, if the system reports it.
fn peak() -> String {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.map_or_else(|| "unknown".to_owned(), |kilobytes| kilobytes.trim().to_owned())
}
