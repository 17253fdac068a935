//! One kind of work on the goldens of `openai`, repeated: `instructions WORK TIMES`. `.ci/instructions` counts what it
//! executes, which is the same in every run, unlike its time.

use std::hint::black_box;

use checker::{Checker, Rules};
use recordings::capture::Format;
use recordings::goldens::GOLDENS;
use serde_json::Value;
use spec::openai::DIALECT;

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let (Some(work), Some(times)) = (arguments.next(), arguments.next()) else { return };
    let times: usize = times.parse().expect("a number of repetitions");
    let goldens = GOLDENS.iter().filter(|golden| golden.dialect == "openai" && golden.format == Format::Sse);
    let streams: Vec<&[u8]> = goldens.map(|golden| golden.bytes).collect();
    let damaged: Vec<Vec<u8>> = streams.iter().map(|stream| damage(stream)).collect();
    let damaged: Vec<&[u8]> = damaged.iter().map(Vec::as_slice).collect();
    let (events, damaged_events) = (events(&streams), events(&damaged));
    let rules = Rules::of(&DIALECT);
    for _ in 0..times {
        let result = match work.as_str() {
            "read" => read(&events),
            "read-damaged" => read(&damaged_events),
            "validate" => validate(&events),
            "check" => check(&rules, &streams),
            "check-damaged" => check(&rules, &damaged),
            other => panic!("there is no work {other}"),
        };
        black_box(result);
    }
}

/// Returns a stream in which every 25th event has a sequence number that is none.
fn damage(stream: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(stream);
    let mut count = 0;
    let lines = text.split_inclusive('\n').map(|line| {
        count += usize::from(line.starts_with("data:"));
        let is_hit = line.starts_with("data:") && count % 25 == 0;
        if is_hit {
            line.replacen("\"sequence_number\":", "\"sequence_number\":\"\",\"n\":", 1)
        } else {
            line.to_owned()
        }
    });
    lines.collect::<String>().into_bytes()
}

/// Returns the data of all events.
fn events<'s>(streams: &[&'s [u8]]) -> Vec<&'s str> {
    let text = streams.iter().filter_map(|stream| std::str::from_utf8(stream).ok());
    text.flat_map(str::lines)
        .filter_map(|line| line.strip_prefix("data: "))
        .filter(|data| data.starts_with('{'))
        .collect()
}

fn read(events: &[&str]) -> usize {
    events.iter().filter(|data| serde_json::from_str::<Value>(data).is_ok()).count()
}

fn validate(events: &[&str]) -> usize {
    let is_valid = |data: &&&str| {
        let event = spec::json::string_member(data, "type").and_then(|name| DIALECT.event(&name));
        event.is_some_and(|event| DIALECT.check_event(event.name, data).is_valid())
    };
    events.iter().filter(is_valid).count()
}

fn check(rules: &Rules, streams: &[&[u8]]) -> usize {
    let mut checker = Checker::with_rules(rules);
    let mut found = 0;
    for stream in streams {
        checker.reset();
        checker.push(stream);
        checker.finish();
        found += checker.findings().len();
    }
    found
}
