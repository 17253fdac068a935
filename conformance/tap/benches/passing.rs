//! Measures the costs of a tap, and whether every byte passes: `cargo bench -p tap -- [STREAMS] [AT_ONCE]`.
//!
//! Requests are timed directly, through a tap that copies nothing, and through one that judges, in turn. Then all streams
//! pass, while a judge panics, another is slow, and the memory for copies is too small.

#![expect(clippy::print_stdout, reason = "a bench prints")]

#[path = "../tests/suite/scene.rs"]
#[expect(dead_code, reason = "the tests use all of it")]
mod scene;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use recordings::Checking;
use recordings::goldens::GOLDENS;
use scene::{Tapped, ask, body, post, response, response_of_length};
use tap::{Judge, Judges, Lost, Metrics, Passed};

/// The path `/N` has the golden of that number; each third one is cut.
fn upstream() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = listener.local_addr().expect("it is bound");
    thread::spawn(move || {
        for stream in listener.incoming() {
            let answer = move |mut stream: TcpStream| {
                let mut head = [0; 512];
                let length = stream.read(&mut head).unwrap_or_default();
                let head = String::from_utf8_lossy(&head[..length]);
                let number = head.split(['/', ' ']).find_map(|word| word.parse().ok()).unwrap_or_default();
                // A client that leaves closes the connection.
                let _ = stream.write_all(&sent(number));
            };
            let small = thread::Builder::new().stack_size(128 << 10);
            let _ = stream.map(|stream| small.spawn(move || answer(stream)));
        }
    });
    address
}

fn golden(number: usize) -> &'static [u8] {
    GOLDENS[number % GOLDENS.len()].bytes
}

fn sent(number: usize) -> Vec<u8> {
    let whole = golden(number);
    if number.is_multiple_of(3) {
        response_of_length("text/event-stream", whole.len(), &whole[..whole.len() / 2])
    } else {
        response("200 OK", "text/event-stream", whole)
    }
}

fn judging(address: SocketAddr, memory: usize, sample: f64) -> Tapped {
    let metrics = Metrics::default();
    let numbers = metrics.clone();
    let make = move || {
        let numbers = numbers.clone();
        let rules = checker::RuleSets::new(std::collections::BTreeMap::new(), |_| true);
        let (mut judge, mut count) = (Judge::new(Checking::recognising(&rules, false)), 0);
        move |passed: Passed| {
            count += 1;
            assert!(count != 1000, "a judge that is killed");
            if count % 500 == 0 {
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

fn first_byte(address: SocketAddr) -> Duration {
    let began = Instant::now();
    let mut stream = TcpStream::connect(address).expect("it listens");
    stream.write_all(&post("/1", "")).expect("it reads");
    stream.read_exact(&mut [0]).expect("it answers");
    let time = began.elapsed();
    let _ = stream.read_to_end(&mut Vec::new());
    time
}

fn overhead(direct: SocketAddr) {
    let [copying, judged] = [0.0, 1.0].map(|sample| judging(direct, 256 << 20, sample));
    let places = [
        ("direct", direct),
        ("a tap that copies nothing", copying.address),
        ("a tap that judges", judged.address),
    ];
    let mut times = [const { Vec::new() }; 3];
    for _ in 0..3000 {
        for ((_, address), times) in places.iter().zip(&mut times) {
            times.push(first_byte(*address));
        }
    }
    for ((name, _), mut times) in places.into_iter().zip(times) {
        times.sort();
        let at = |part: usize| times[times.len() * part / 1000].as_secs_f64() * 1e3;
        println!("first byte, {name}: p50 {:.3} ms, p99 {:.3} ms", at(500), at(990));
    }
}

fn all_pass(direct: SocketAddr, streams: u64, at_once: u64) {
    let mut tapped = judging(direct, 256 << 10, 1.0);
    let (address, next, wrong) = (tapped.address, AtomicU64::new(0), AtomicU64::new(0));
    let began = Instant::now();
    thread::scope(|scope| {
        for _ in 0..at_once {
            let client = || {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= streams {
                        return;
                    }
                    let number = usize::try_from(number).expect("it is small");
                    let whole = golden(number);
                    let due = if number.is_multiple_of(3) { &whole[..whole.len() / 2] } else { whole };
                    let answer = ask(address, &post(&format!("/{number}/v1/responses"), ""));
                    if body(&answer) != due {
                        wrong.fetch_add(1, Ordering::Relaxed);
                    }
                }
            };
            thread::Builder::new()
                .stack_size(256 << 10)
                .spawn_scoped(scope, client)
                .expect("a thread starts");
        }
    });
    let seconds = began.elapsed().as_secs_f64();
    tapped.end();
    let dropped = Lost::ALL.map(|why| format!("{} {}", tapped.metrics.dropped(why), why.name()));
    let memory = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let memory = memory.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default();
    println!(
        "{streams} streams, {at_once} at once: {wrong:?} differ, {:.0} a second, {} judged, not judged: {}; {memory}",
        f64::from(u32::try_from(streams).unwrap_or(u32::MAX)) / seconds,
        tapped.metrics.checked(),
        dropped.join(", "),
    );
    assert_eq!(wrong.into_inner(), 0);
}

fn main() {
    let mut numbers = env::args().filter_map(|argument| argument.parse().ok());
    let (streams, at_once) = (numbers.next().unwrap_or(20_000), numbers.next().unwrap_or(1000));
    let direct = upstream();
    overhead(direct);
    all_pass(direct, streams, at_once);
}
