//! A short run of the fuzz targets of `fuzz/`, without its compiler: randomly damaged goldens in every format, events and
//! scripts of endpoints, and randomly edited runs. `FUZZ_ROUNDS` sets the number of each, `FUZZ_SEED` the first seed.

use std::{env, thread};

use conformance::capture::Format;
use conformance::goldens::GOLDENS;

use crate::fuzz;
use crate::fuzz::random::Xorshift;

/// Number of threads that damage recordings, each with its own random choices.
const PARTS: u64 = 4;

fn number(name: &str, usual: u64) -> u64 {
    env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

#[test]
fn damaged_recordings_break_nothing() {
    let (rounds, seed) = (number("FUZZ_ROUNDS", 300), number("FUZZ_SEED", 0));
    let damage_some = |part: u64| {
        let mut random = Xorshift::new(seed * PARTS + part + 1);
        for _ in 0..rounds.div_ceil(PARTS) {
            let mut any = || {
                let mut recordings = fuzz::recordings::of_golden(&GOLDENS[random.below(GOLDENS.len())]);
                recordings.swap_remove(random.below(recordings.len())).1
            };
            let (mut recording, other) = (any(), any());
            for _ in 0..random.below(6) {
                damage(&mut recording, &other, &mut random);
            }
            fuzz::check(&recording);
            let _ = fuzz::entries(&[&recording], Some(Format::ALL[random.below(Format::ALL.len())]));
            fuzz::split(&recording);
        }
    };
    thread::scope(|scope| (0..PARTS).for_each(|part| drop(scope.spawn(move || damage_some(part)))));
}

#[test]
fn json_is_what_serde_json_accepts() {
    let (rounds, seed) = (number("FUZZ_ROUNDS", 3000), number("FUZZ_SEED", 0));
    let mut random = Xorshift::new(seed + 4);
    let events: Vec<_> = GOLDENS.iter().flat_map(|golden| fuzz::recordings::data(golden.bytes)).collect();
    for _ in 0..rounds {
        let [mut event, other] = [0; 2].map(|_| events[random.below(events.len())].clone().into_bytes());
        let start = random.below(event.len());
        let end = start + random.below(100.min(event.len() - start));
        fuzz::json::json(&event[start..end]);
        for _ in 0..random.below(6) {
            damage(&mut event, &other, &mut random);
        }
        fuzz::json::json(&event);
    }
}

#[test]
fn endpoints_that_say_anything_break_nothing() {
    let (rounds, seed) = (number("FUZZ_ROUNDS", 10), number("FUZZ_SEED", 0));
    let (scripts, mut random) = (fuzz::endpoint::scripts(), Xorshift::new(seed + 2));
    for round in 0..rounds {
        let mut script = vec![round.to_le_bytes()[0]];
        script.extend(&scripts[random.below(scripts.len())]);
        let other = &scripts[random.below(scripts.len())];
        for _ in 0..random.below(6) {
            damage(&mut script, other, &mut random);
        }
        for _ in 0..random.below(3) {
            let at = 1 + random.below(script.len());
            let pause = [0, random.below(256).to_le_bytes()[0]];
            script.splice(at.min(script.len())..at.min(script.len()), pause);
        }
        fuzz::endpoint::client(&script);
    }
}

#[test]
fn every_edit_of_a_run_is_seen() {
    let (rounds, seed) = (number("FUZZ_ROUNDS", 10), number("FUZZ_SEED", 0));
    let mut random = Xorshift::new(seed + 3);
    fuzz::evidence::verify(&[]);
    for _ in 0..rounds {
        let length = 4 + random.below(40);
        let choices: Vec<u8> = (0..length).map(|_| random.below(256).to_le_bytes()[0]).collect();
        fuzz::evidence::verify(&choices);
    }
}

fn damage(recording: &mut Vec<u8>, other: &[u8], random: &mut Xorshift) {
    let start = random.below(recording.len());
    let end = (start + random.below(60)).min(recording.len());
    match random.below(8) {
        0 => recording.truncate(start),
        1 => drop(recording.drain(start..end)),
        2 => {
            let piece = recording[start..end].to_vec();
            let at = random.below(recording.len());
            recording.splice(at..at, piece);
        }
        3 => {
            let from = random.below(other.len());
            let to = (from + random.below(500)).min(other.len());
            recording.splice(start..end, other[from..to].iter().copied());
        }
        4 => {
            let odd: [&[u8]; 8] =
                [b"\n", b"\r", b"\r\n\r\n", b"\xff", b"\xed\xa0\x80", b"\\ud800", b"\x00", b"\xef\xbb\xbf"];
            recording.splice(start..start, odd[random.below(odd.len())].iter().copied());
        }
        _ => {
            if let Some(byte) = recording.get_mut(start) {
                *byte = random.below(256).to_le_bytes()[0];
            }
        }
    }
}
