//! Properties that hold for every stream.

use std::borrow::Cow;
use std::collections::BTreeSet;

use conformance::capture::Format;
use conformance::goldens::{GOLDENS, Golden};
use conformance::{Checker, Finding, Rules, violation};
use serde_json::Value;
use spec::Dialect;

use crate::fuzz::random::Xorshift;

fn dialect(name: &str) -> &'static Dialect {
    spec::dialect(name).expect("a dialect")
}

fn findings<'b>(rules: &Rules, chunks: impl Iterator<Item = &'b [u8]>) -> Vec<Finding> {
    let mut checker = Checker::with_rules(rules);
    for chunk in chunks {
        checker.push(chunk);
    }
    checker.finish();
    checker.into_findings().0
}

fn broken(rules: &Rules, stream: &[u8]) -> BTreeSet<Cow<'static, str>> {
    findings(rules, std::iter::once(stream)).into_iter().map(|finding| finding.rule).collect()
}

fn streams() -> impl Iterator<Item = &'static Golden> {
    GOLDENS.iter().filter(|golden| golden.format == Format::Sse)
}

#[test]
fn any_split_of_the_bytes_gives_the_same_findings() {
    let mut random = Xorshift::new(7);
    for (rule, own) in catalogue::rules_in_apis() {
        let recording = violation::apply(&own.violation).expect("a violation");
        let (name, _) = own.violation.golden.split_once('/').expect("a golden");
        let rules = Rules::of(dialect(name));
        let whole = findings(&rules, std::iter::once(&*recording));
        assert_eq!(findings(&rules, recording.chunks(1)), whole, "{}: byte by byte", rule.id);
        for _ in 0..3 {
            let mut rest = &*recording;
            let pieces = std::iter::from_fn(|| {
                let (piece, behind) = rest.split_at(rest.len().min(1 + random.below(400)));
                rest = behind;
                Some(piece).filter(|piece| !piece.is_empty())
            });
            assert_eq!(findings(&rules, pieces.collect::<Vec<_>>().into_iter()), whole, "{}", rule.id);
        }
    }
}

/// Streams that are cut off leave more behind than those that end.
#[test]
fn a_checker_that_is_reset_finds_what_a_new_one_finds() {
    let mut judged = 0;
    for dialect in spec::DIALECTS {
        let rules = Rules::of(dialect);
        let mut used = Checker::with_rules(&rules);
        for (rule, own) in catalogue::rules_in_apis() {
            if own.violation.golden.split_once('/').is_none_or(|(name, _)| name != dialect.name) {
                continue;
            }
            let recording = violation::apply(&own.violation).expect("a violation");
            for length in [recording.len(), recording.len() * 2 / 3, recording.len() / 3] {
                let piece = &recording[..length];
                used.reset();
                used.push(piece);
                used.finish();
                assert_eq!(used.findings(), findings(&rules, std::iter::once(piece)), "{}", rule.id);
                judged += 1;
            }
        }
    }
    assert_eq!(judged, 3 * catalogue::rules_in_apis().count());
}

/// A truncated stream has a finding about that, and no other.
#[test]
fn a_stream_that_is_cut_off_is_blamed_for_nothing_else() {
    let expected = [
        "candidate/finished",
        "completion/ends-with-done",
        "error/followed-by-failed",
        "interaction/completed",
        "message/one-stop",
        "response/one-terminal",
        "wire/done-marker",
        "wire/event-line",
        "wire/json-object",
        "wire/terminated",
        "wire/utf-8",
    ];
    let mut random = Xorshift::new(17);
    for golden in streams() {
        let rules = Rules::of(dialect(golden.dialect));
        let between_frames = (0..golden.bytes.len()).filter(|at| golden.bytes[..*at].ends_with(b"\n"));
        let anywhere = (0..60).map(|_| random.below(golden.bytes.len()));
        for end in between_frames.chain(anywhere) {
            let stream = &golden.bytes[..end];
            let others: Vec<_> = findings(&rules, std::iter::once(stream))
                .into_iter()
                .filter(|finding| !expected.contains(&&*finding.rule))
                .collect();
            let id = format!("{}/{}", golden.dialect, golden.name);
            assert!(others.is_empty(), "{id} cut at {end}: {others:#?}");
        }
    }
}

/// Returns the events of a stream, each with the index of its item.
fn events(golden: &Golden) -> Vec<(Option<u64>, String)> {
    let text = String::from_utf8_lossy(golden.bytes);
    let frames = text.split_inclusive("\n\n");
    let index = |frame: &str| {
        let data = frame.lines().find_map(|line| line.strip_prefix("data: "))?;
        serde_json::from_str::<Value>(data).ok()?.get("output_index")?.as_u64()
    };
    frames.map(|frame| (index(frame), frame.to_owned())).collect()
}

/// Returns the events in another order: those of each item keep theirs, and items are added in turn.
fn permuted(events: &[(Option<u64>, String)], random: &mut Xorshift) -> String {
    let items: BTreeSet<u64> = events.iter().filter_map(|(item, _)| *item).collect();
    let mut queues: Vec<Vec<&str>> = items
        .iter()
        .map(|item| {
            events.iter().filter(|(of, _)| of == &Some(*item)).map(|(_, frame)| &**frame).rev().collect()
        })
        .collect();
    let first = events.iter().position(|(item, _)| item.is_some()).unwrap_or(events.len());
    let last = events.iter().rposition(|(item, _)| item.is_some()).map_or(events.len(), |at| at + 1);
    let mut order: Vec<&str> = events[..first].iter().map(|(_, frame)| &**frame).collect();
    let mut begun = 0;
    while queues.iter().any(|queue| !queue.is_empty()) {
        let at = random.below((begun + 1).min(queues.len()));
        if let Some(frame) = queues[at].pop() {
            begun = begun.max(at + 1);
            order.push(frame);
        }
    }
    order.extend(events[last..].iter().map(|(_, frame)| &**frame));
    renumbered(&order)
}

fn renumbered(frames: &[&str]) -> String {
    let mut number = 0;
    let mut renumber = |frame: &&str| match frame.split_once("\"sequence_number\":") {
        Some((head, tail)) => {
            let rest = tail.trim_start_matches(|digit: char| digit.is_ascii_digit());
            number += 1;
            format!("{head}\"sequence_number\":{}{rest}", number - 1)
        }
        None => (*frame).to_owned(),
    };
    frames.iter().map(&mut renumber).collect()
}

/// Events of different items may come in any order: the verdicts stay the same.
#[test]
fn the_order_between_items_is_free() {
    let mut random = Xorshift::new(11);
    let mut permutations = 0;
    for golden in streams() {
        let all = events(golden);
        let items: BTreeSet<u64> = all.iter().filter_map(|(item, _)| *item).collect();
        if items.len() < 2 {
            continue;
        }
        let rules = Rules::of(dialect(golden.dialect));
        for _ in 0..40 {
            let stream = permuted(&all, &mut random);
            assert_eq!(broken(&rules, stream.as_bytes()), BTreeSet::new(), "{stream}");
            permutations += 1;
        }
        // With an event of an item missing, every order is broken in the same way.
        for missing in (0..all.len()).filter(|at| all[*at].0 == items.last().copied()) {
            let mut fewer = all.clone();
            fewer.remove(missing);
            let usual =
                broken(&rules, renumbered(&fewer.iter().map(|(_, f)| &**f).collect::<Vec<_>>()).as_bytes());
            for _ in 0..8 {
                let stream = permuted(&fewer, &mut random);
                assert_eq!(broken(&rules, stream.as_bytes()), usual, "without event {missing}:\n{stream}");
                permutations += 1;
            }
        }
    }
    assert!(permutations > 500, "only {permutations} were tried");
}
