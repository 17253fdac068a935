//! Bytes pass unchanged, and nobody waits for a judge.

use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::Duration;

use recordings::goldens::GOLDENS;
use tap::{Judges, Lost, Metrics, Passed};

use crate::scene::{Tapped, ask, body, post, response, until, upstream};

const fn nobody() -> impl FnMut(Passed) {
    |_| {}
}

#[test]
fn every_byte_of_a_body_passes_in_both_directions() {
    let odd: Vec<u8> = (0..=u8::MAX).chain(*b"\r\n0\r\n\r\n").cycle().take(70_000).collect();
    let goldens = GOLDENS.iter().map(|golden| golden.bytes.to_vec());
    for sent in goldens.chain([odd, Vec::new()]) {
        let (address, got) = upstream(response("200 OK", "text/event-stream", &sent));
        let tapped = Tapped::start(address, 1 << 20, nobody);
        let asked = "{\"é\": [1,  2]}\r\n";
        let answer = ask(tapped.address, &post("/v1/x?a=1&b=%20", asked));
        assert!(body(&answer) == sent, "{} bytes came of {}", body(&answer).len(), sent.len());
        let head = String::from_utf8_lossy(&answer).into_owned();
        assert!(head.contains("\r\nX-Odd-Name: a  b\r\n"), "{}", head.split("\r\n\r\n").next().unwrap());
        let got = String::from_utf8(got.lock().unwrap().remove(0)).unwrap();
        assert!(got.starts_with("POST /v1/x?a=1&b=%20 HTTP/1.1\r\n"), "{got}");
        assert!(got.contains("X-Api-Key: sk-secret\r\n") && got.ends_with(asked), "{got}");
    }
}

#[test]
fn a_judge_that_panics_costs_its_exchange_alone() {
    let (address, _) = upstream(response("200 OK", "text/plain", b"hello"));
    let mut tapped = Tapped::start(address, 1 << 20, || |_: Passed| panic!("a test"));
    for _ in 0..3 {
        assert_eq!(body(&ask(tapped.address, &post("/a", ""))), b"hello");
    }
    tapped.end();
    assert_eq!(tapped.metrics.dropped(Lost::Panic), 3);
}

#[test]
fn exchanges_pass_while_every_judge_is_stuck_and_the_queue_is_full() {
    let (address, _) = upstream(response("200 OK", "text/plain", b"hello"));
    let (release, stuck) = sync_channel::<()>(0);
    let stuck = std::sync::Arc::new(std::sync::Mutex::new(stuck));
    let tapped = Tapped::start(address, 1 << 30, move || {
        let stuck = std::sync::Arc::clone(&stuck);
        // It goes on when the other end is dropped.
        move |_: Passed| assert!(stuck.lock().unwrap().recv().is_err())
    });
    let to = tapped.address;
    let clients: Vec<_> = (0..4)
        .map(|_| {
            thread::spawn(move || {
                (0..300).for_each(|_| assert_eq!(body(&ask(to, &post("/a", ""))), b"hello"));
            })
        })
        .collect();
    for client in clients {
        client.join().unwrap();
    }
    until(|| tapped.metrics.dropped(Lost::Queue) >= 1200 - 1024 - 1);
    drop(release);
}

#[test]
fn what_exceeds_the_memory_passes_and_is_not_judged() {
    let long = vec![b'x'; 100_000];
    let (address, _) = upstream(response("200 OK", "text/plain", &long));
    let mut tapped = Tapped::start(address, 50_000, || |_: Passed| panic!("it has no copy"));
    // The memory is free again after each.
    for _ in 0..3 {
        assert_eq!(body(&ask(tapped.address, &post("/a", ""))), long);
    }
    tapped.end();
    assert_eq!((tapped.metrics.dropped(Lost::Memory), tapped.metrics.dropped(Lost::Panic)), (3, 0));
}

#[test]
fn a_sample_is_a_part_of_all() {
    let (address, _) = upstream(response("200 OK", "text/plain", b"hello"));
    let metrics = Metrics::default();
    let (judges, queue) = Judges::start(1, 1 << 20, &metrics, nobody).unwrap();
    let mut tapped = Tapped::with(address, metrics, judges, queue, 0.3);
    for _ in 0..20 {
        assert_eq!(body(&ask(tapped.address, &post("/a", ""))), b"hello");
    }
    tapped.end();
    assert_eq!(tapped.metrics.dropped(Lost::Sample), 14);
}

#[test]
fn many_streams_pass_at_once() {
    let sent: Vec<u8> = GOLDENS.iter().flat_map(|golden| golden.bytes).copied().collect();
    let (address, _) = upstream(response("200 OK", "text/event-stream", &sent));
    let (mut tapped, judged) = Tapped::judging(address, true);
    let to = tapped.address;
    let clients: Vec<_> =
        (0..64).map(|_| thread::spawn(move || body(&ask(to, &post("/v1/responses", "{}"))))).collect();
    for client in clients {
        assert!(client.join().unwrap() == sent, "a body differs");
    }
    thread::sleep(Duration::from_millis(1));
    tapped.end();
    let (judged, dropped) =
        (judged.lock().unwrap().len() as u64, Lost::ALL.map(|why| tapped.metrics.dropped(why)));
    assert_eq!(judged + dropped.iter().sum::<u64>(), 64, "{dropped:?}");
}
