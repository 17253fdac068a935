//! Measures the costs of a tap, and whether every byte passes: `cargo bench -p tap -- [STREAMS] [AT_ONCE] [ONLY]`.
//!
//! Requests are timed directly, through a plain proxy, through a tap that copies nothing, and through one that judges, in turn.
//! Streams of 50 events a second pass at once, and others wait while memory is read. Then all faults of the reference gateway
//! pass, while judges panic and wait, and the memory for copies is too small. `ONLY` is the name of one of these: first, paced,
//! open, all.

#![expect(clippy::print_stdout, reason = "a bench prints")]

mod load;
mod plain;
#[path = "../../tests/suite/scene.rs"]
#[expect(dead_code, reason = "the tests use all of it")]
mod scene;
mod serving;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use load::Load;
use recordings::Checking;
use recordings::goldens::{GOLDENS, golden};
use scene::{Tapped, post, response, response_of_length};
use tap::{Judge, Judges, Lost, Metrics, Passed};

/// Answers with a golden. The connection of `/kept` stays open.
fn upstream() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = listener.local_addr().expect("it is bound");
    let text = golden("chat/text").expect("it is there").bytes;
    let kept = response_of_length("text/event-stream", text.len(), text);
    let closed = response("200 OK", "text/event-stream", GOLDENS[1].bytes);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let (kept, closed) = (kept.clone(), closed.clone());
            let answer = move |mut stream: TcpStream| {
                let _ = stream.set_nodelay(true);
                let mut head = [0; 512];
                // A client that leaves closes the connection.
                while let Ok(length @ 1..) = stream.read(&mut head) {
                    let is_kept = String::from_utf8_lossy(&head[..length]).contains("/kept/");
                    if stream.write_all(if is_kept { &kept } else { &closed }).is_err() || !is_kept {
                        return;
                    }
                }
            };
            let small = thread::Builder::new().stack_size(128 << 10);
            let _ = stream.map(|stream| small.spawn(move || answer(stream)));
        }
    });
    address
}

fn judging(address: SocketAddr, memory: usize, sample: f64, fails: bool) -> Tapped {
    let metrics = Metrics::default();
    let numbers = metrics.clone();
    let make = move || {
        let numbers = numbers.clone();
        let rules = checker::RuleSets::new(std::collections::BTreeMap::new(), |_| true);
        let (mut judge, mut count) = (Judge::new(Checking::recognising(&rules, false)), 0);
        move |passed: Passed| {
            count += 1;
            assert!(!fails || count != 1000, "a judge that is killed");
            if fails && count % 500 == 0 {
                thread::sleep(Duration::from_millis(50));
            }
            if let Some(judged) = judge.judge(&passed) {
                numbers.count("one", &judged);
            }
        }
    };
    let (judges, queue) = Judges::start(1, memory, &metrics, make).expect("threads can be started");
    Tapped::with(address, metrics, judges, queue, sample)
}

/// The time to the first byte, with a connection of its own unless there is one.
fn first_byte(address: SocketAddr, open: Option<&mut TcpStream>) -> Duration {
    let began = Instant::now();
    let Some(stream) = open else {
        let mut stream = TcpStream::connect(address).expect("it listens");
        stream.write_all(&post("/1", "")).expect("it reads");
        stream.read_exact(&mut [0]).expect("it answers");
        let time = began.elapsed();
        let _ = stream.read_to_end(&mut Vec::new());
        return time;
    };
    stream.write_all(KEPT.as_bytes()).expect("it reads");
    stream.read_exact(&mut [0]).expect("it answers");
    let time = began.elapsed();
    let mut rest = Vec::new();
    while !rest.ends_with(b"data: [DONE]\n\n") {
        let mut chunk = [0; 4096];
        let length = stream.read(&mut chunk).expect("it answers");
        assert!(length > 0, "the connection ended");
        rest.extend_from_slice(&chunk[..length]);
    }
    time
}

/// A request that leaves its connection open.
const KEPT: &str = "POST /kept/v1/chat/completions HTTP/1.1\r\nHost: a.test\r\nContent-Length: 0\r\n\r\n";

fn overhead(direct: SocketAddr) {
    let [mut copying, mut judged] = [0.0, 1.0].map(|sample| judging(direct, 256 << 20, sample, false));
    let places = [
        ("direct", direct),
        ("a plain hyper proxy", plain::start(direct)),
        ("a tap that copies nothing", copying.address),
        ("a tap that judges", judged.address),
    ];
    for is_kept in [false, true] {
        let mut open = places.map(|(_, address)| {
            let stream = is_kept.then(|| TcpStream::connect(address).expect("it listens"));
            stream.inspect(|stream| stream.set_nodelay(true).expect("it is a socket"))
        });
        let mut times = [const { Vec::new() }; 4];
        for round in 0..3100 {
            for place in (0..places.len()).map(|place| (place + round) % places.len()) {
                let time = first_byte(places[place].1, open[place].as_mut());
                if round >= 100 {
                    times[place].push(time);
                }
            }
        }
        let connection = if is_kept { "one connection" } else { "a connection each" };
        for ((name, _), mut times) in places.into_iter().zip(times) {
            times.sort();
            let at = |part: usize| times[times.len() * part / 1000].as_secs_f64() * 1e3;
            println!("first byte, {connection}, {name}: p50 {:.3} ms, p99 {:.3} ms", at(500), at(990));
        }
    }
    copying.end();
    judged.end();
}

/// The seconds of processors, and the memory in MiB that this process uses.
fn used() -> (f64, f64) {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let ticks = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: f64 = ticks.skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum();
    (ticks / 100.0, memory("VmRSS") / 1024.0)
}

fn memory(of: &str) -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with(of));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok()).unwrap_or_default()
}

/// The time between two events.
const GAP: Duration = Duration::from_millis(20);

fn paced(streams: u64) {
    let mut load = Load::start();
    let upstream = load.upstream;
    let mut tapped = judging(upstream, 256 << 20, 1.0, false);
    let places =
        [("direct", upstream), ("a plain hyper proxy", plain::start(upstream)), ("a tap", tapped.address)];
    for (name, to) in places {
        let (before, _) = used();
        let began = Instant::now();
        let events = load.run(to, streams, 500, GAP);
        let (seconds, (after, memory)) = (began.elapsed().as_secs_f64(), used());
        let [p50, p99, most] = events.took;
        println!(
            "{streams} streams of 50 events a second, {name}: {} events, p50 {p50:.2} ms, p99 {p99:.2} ms, at most {most:.1} ms, \
             {} late; {:.2} processors, {memory:.0} MiB",
            events.count,
            events.late,
            (after - before) / seconds,
        );
    }
    tapped.end();
    println!("{} judged, {}", tapped.metrics.checked(), dropped(&tapped));
}

fn open() {
    let mut load = Load::start();
    let mut tapped = judging(load.upstream, 256 << 20, 1.0, false);
    let (_, none) = used();
    println!("open streams, each with 100 events: none, {none:.1} MiB");
    for streams in [10, 100, 1000, 4000] {
        let (_, memory) = load.hold(tapped.address, streams, 100, used);
        println!("open streams: {streams}, {memory:.1} MiB");
    }
    tapped.end();
}

fn dropped(tapped: &Tapped) -> String {
    let dropped = Lost::ALL.map(|why| format!("{} {}", tapped.metrics.dropped(why), why.name()));
    format!("not judged: {}", dropped.join(", "))
}

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    if arguments.iter().any(|argument| argument == load::ARGUMENT) {
        load::main();
        return;
    }
    let mut numbers = arguments.iter().filter_map(|argument| argument.parse().ok());
    let (streams, at_once) = (numbers.next().unwrap_or(20_000), numbers.next().unwrap_or(1000));
    let parts = ["first", "paced", "open", "all"];
    let only = arguments.iter().find(|argument| parts.contains(&&***argument));
    for part in parts.into_iter().filter(|part| only.is_none_or(|only| only == part)) {
        match part {
            "first" => overhead(upstream()),
            "paced" => paced(1000),
            "open" => open(),
            _ => serving::all_pass(streams, at_once),
        }
    }
}
