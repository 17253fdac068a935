//! Throughput of checking streams, as ratios to `serde_json::from_slice::<Value>` on the same events in
//! the same run, on one thread, bytes in memory unless files are named.
//!
//! `cargo bench -p tests --bench checking [-- MEGABYTES]`: the size of the data per round (default: 40). The data are
//! the recorded OpenAI streams, repeated, if a corpus exists beside the repository, and the goldens otherwise.
#![allow(clippy::print_stdout, clippy::cast_precision_loss)]

use std::fs::{self, File};
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use conformance::capture::sse;
use conformance::recordings::Checking;
use conformance::{Checker, Rules};
use serde_json::Value;
use spec::openai::DIALECT;
use spec::{EventInfo, Memory, View};
use tests::corpus;

const ROUNDS: usize = 7;
const CHUNK: usize = 64 << 10;

/// A pass over all streams that returns the size of its result.
type Pass<'p> = &'p dyn Fn() -> u64;

fn main() {
    let megabytes: usize = std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(40);
    let recorded = corpus::recordings().map(|folder| folder.join("real/openai"));
    let folder = recorded.unwrap_or_else(|| corpus::repository().join("spec/apis/responses/goldens/openai"));
    let files = files(&folder);
    let streams: Vec<_> = files.iter().map(|file| fs::read(file).expect("a recording")).collect();
    let bytes: usize = streams.iter().map(Vec::len).sum();
    let repeat = (megabytes * 1_000_000 / bytes).max(1);
    println!("{} streams, {bytes} bytes, checked {repeat} times in each of {ROUNDS} rounds", streams.len());

    let data = events(&streams);
    let broken = damaged(&streams);
    let broken_data = events(&broken);
    let rules = Rules::of(&DIALECT);
    let one = [long_stream(200_000)];
    let one_data = events(&one);
    compare("framing, 64 KB at a time", repeat, &|| tree(&data), &|| frame(&streams));
    let typed = typed(&data);
    let name = "strict validation alone, each event by itself";
    compare(name, repeat, &|| tree(&data), &|| validate(&typed));
    let name = "strict validation alone, event after event";
    compare(name, repeat, &|| tree(&data), &|| validate_in_order(&typed));
    compare("the full check", repeat, &|| tree(&data), &|| check(&rules, &streams));
    compare("the full check, of files", repeat, &|| tree(&data), &|| check_files(&rules, &files));
    let name = "the full check, 4 % of the events invalid";
    compare(name, repeat, &|| tree(&broken_data), &|| check(&rules, &broken));
    compare("one stream of 200,000 deltas", 1, &|| tree(&one_data), &|| check(&rules, &one));
    linear(&rules);
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> =
        fs::read_dir(folder).expect("the folder").flatten().map(|file| file.path()).collect();
    files.retain(|file| file.extension().is_some_and(|end| end == "sse"));
    files.sort();
    files
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

/// Returns the same streams with an invalid sequence number in every 25th event.
fn damaged(streams: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let mut count = 0;
    let mut damage = |stream: &Vec<u8>| {
        let text = String::from_utf8_lossy(stream);
        let lines = text.split_inclusive('\n').map(|line| {
            count += usize::from(line.starts_with("data:"));
            let hit = line.starts_with("data:") && count % 25 == 0;
            if hit {
                line.replacen("\"sequence_number\":", "\"sequence_number\":\"\",\"n\":", 1)
            } else {
                line.to_owned()
            }
        });
        lines.collect::<String>().into_bytes()
    };
    streams.iter().map(&mut damage).collect()
}

fn tree(events: &[Vec<u8>]) -> u64 {
    events.iter().map(|data| u64::from(serde_json::from_slice::<Value>(data).is_ok())).sum()
}

/// Returns the events that the dialect has, as texts.
fn typed(events: &[Vec<u8>]) -> Vec<(&'static EventInfo, &str)> {
    let event = |data| {
        let text = std::str::from_utf8(data).ok()?;
        Some((DIALECT.event(&spec::json::string_member(text, "type")?)?, text))
    };
    events.iter().filter_map(|data| event(data)).collect()
}

fn validate(events: &[(&'static EventInfo, &str)]) -> u64 {
    events.iter().map(|(event, data)| u64::from(!DIALECT.check_event(event.name, data).is_valid())).sum()
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

/// Returns a golden with this number of deltas.
fn long_stream(deltas: usize) -> Vec<u8> {
    let mut stream = Vec::new();
    long(deltas, &mut |bytes| stream.extend_from_slice(bytes));
    stream
}

fn long(deltas: usize, sink: &mut dyn FnMut(&[u8])) {
    let golden = golden();
    let (before, rest) = golden.split_at(begin(&golden, "response.output_text.delta"));
    let (delta, _) = rest.split_at(rest.find("\n\n").expect("its end") + 2);
    sink(before.as_bytes());
    let first = before.matches("\n\n").count();
    for at in 0..deltas {
        sink(numbered(delta, first + at).as_bytes());
    }
}

/// Writes a stream with this number of items, which the final output has in reverse order.
fn crowded(items: usize, sink: &mut dyn FnMut(&[u8])) {
    many(items, &|_| true, sink);
}

/// Writes a stream with this number of items whose texts are never finished, and differ from the final output.
fn unfinished(items: usize, sink: &mut dyn FnMut(&[u8])) {
    let is_begun = |frame: &str| frame.contains("added\n") || frame.contains(".delta\n");
    many(items, &is_begun, &mut |frame| {
        let text = String::from_utf8_lossy(frame);
        let is_end = text.starts_with("event: response.completed\n");
        sink(if is_end { text.replace("world", "there") } else { text.into_owned() }.as_bytes());
    });
}

fn many(items: usize, is_kept: &dyn Fn(&str) -> bool, sink: &mut dyn FnMut(&[u8])) {
    let golden = golden();
    let (before, rest) = golden.split_at(begin(&golden, "response.output_item.added"));
    let (item, end) = rest.split_at(begin(rest, "response.completed"));
    let (_, done) = item.rsplit_once("\"item\":").expect("an item");
    let (done, _) = done.split_once(",\"output_index\"").expect("its end");
    let of = |text: &str, index: usize| {
        let named = text.replace("msg_1", &format!("msg_{index}"));
        named.replace("\"output_index\":0", &format!("\"output_index\":{index}"))
    };
    sink(before.as_bytes());
    let mut number = before.matches("\n\n").count();
    for index in 0..items {
        for frame in of(item, index).split_inclusive("\n\n").filter(|frame| is_kept(frame)) {
            sink(numbered(frame, number).as_bytes());
            number += 1;
        }
    }
    let output: Vec<String> = (0..items).rev().map(|index| of(done, index)).collect();
    sink(numbered(&end.replace(done, &output.join(",")), number).as_bytes());
}

fn golden() -> String {
    fs::read_to_string(corpus::repository().join("spec/apis/responses/goldens/openai/text.sse"))
        .expect("a golden")
}

/// Returns the offset of the first event of a type.
fn begin(stream: &str, event: &str) -> usize {
    stream.find(&format!("event: {event}\n")).expect("the event")
}

fn numbered(frame: &str, number: usize) -> String {
    let (head, tail) = frame.split_once("\"sequence_number\":").expect("a number");
    let rest = tail.trim_start_matches(|digit: char| digit.is_ascii_digit());
    format!("{head}\"sequence_number\":{number}{rest}")
}

/// Asserts that time and memory grow at most linearly with the length of a stream.
fn linear(rules: &Rules) {
    for deltas in [10_000, 100_000, 1_000_000] {
        grown(rules, &format!("{deltas} deltas"), |sink| long(deltas, sink));
    }
    for items in [1_000, 10_000, 50_000] {
        grown(rules, &format!("{items} items, all of them out of order in the end"), |sink| {
            crowded(items, sink);
        });
        grown(rules, &format!("{items} items, none of them ever finished"), |sink| unfinished(items, sink));
    }
    grown(rules, "1000000 items, all open, judged as far as they are kept", |sink| {
        many(1_000_000, &|frame| frame.contains("output_item.added\n"), sink);
    });
}

fn grown(rules: &Rules, name: &str, stream: impl FnOnce(&mut dyn FnMut(&[u8]))) {
    let mut checker = Checker::with_rules(rules);
    let mut spent = Duration::ZERO;
    stream(&mut |bytes| {
        let start = Instant::now();
        checker.push(bytes);
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
