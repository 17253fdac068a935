//! Properties of scopes that no stream of `openai` has, each with a good stream and with one that breaks it. The APIs are
//! those of `codegen/src/dialect/tiny`.

use std::fmt::Write as _;

use catalogue::DecidedBy;
use conformance::{Rules, check};
use recordings::capture::Format;

/// Returns the rules about structure that a stream breaks. Its events are separated by spaces, and have their index behind
/// a colon.
fn broken(dialect: &'static spec::Dialect, stream: &str) -> Vec<String> {
    let mut recording = String::new();
    for event in stream.split(' ') {
        let data = match event.split_once(':') {
            None if event == "[DONE]" => event.to_owned(),
            None => format!(r#"{{"type":"{event}"}}"#),
            Some((name, index)) => format!(r#"{{"type":"{name}","n":{index}}}"#),
        };
        let _ = write!(recording, "data: {data}\n\n");
    }
    let rules = Rules::of(dialect).only(|rule| matches!(rule.decided_by, DecidedBy::Structure(_)));
    let report = check("stream", &mut recording.as_bytes(), Some(Format::Sse), &rules);
    report.findings.iter().map(|finding| format!("{} {}", finding.rule, finding.place.event)).collect()
}

fn song(stream: &str) -> Vec<String> {
    broken(&spec::songs::DIALECT, &format!("song.begin {stream} song.over"))
}

fn drips(stream: &str) -> Vec<String> {
    broken(&spec::drips::DIALECT, stream)
}

fn stalls(stream: &str) -> Vec<String> {
    broken(&spec::stalls::DIALECT, stream)
}

const NOTHING: [&str; 0] = [];

#[test]
fn of_exclusive_scopes_one_is_open() {
    assert_eq!(song("verse.begin:0 verse.end:0 verse.begin:1 verse.end:1"), NOTHING);
    assert_eq!(song("verse.begin:0 verse.begin:1 verse.end:0 verse.end:1"), ["block/one-at-a-time 3"]);
    // Those of the other API may overlap.
    assert_eq!(drips("drop.hang:0 drop.hang:1 drop.fall:0 drop.fall:1 [DONE]"), NOTHING);
}

#[test]
fn none_opens_or_stays_open_from_a_phase_on() {
    assert_eq!(song("verse.begin:0 verse.end:0 song.fade"), NOTHING);
    assert_eq!(song("song.tune verse.begin:0 verse.end:0 song.fade"), NOTHING);
    assert_eq!(song("song.fade verse.begin:0 verse.end:0"), ["block/none-after-stop-reason 3"]);
    assert_eq!(song("verse.begin:0 song.fade verse.end:0"), ["block/never-closed 3"]);
}

#[test]
fn only_repeatable_phases_are_repeated() {
    assert_eq!(song("song.tune song.fade song.fade"), NOTHING);
    assert_eq!(song("song.tune song.tune song.fade"), ["response/phase-order 3"]);
    assert_eq!(song("song.fade song.tune"), ["response/phase-order 3"]);
}

#[test]
fn the_first_event_opens_what_no_event_opens() {
    assert_eq!(drips("drop.fall:0 [DONE]"), NOTHING);
    assert_eq!(broken(&spec::songs::DIALECT, "song.tune song.over"), ["response/created-first 1"]);
}

#[test]
fn the_marker_ends_what_no_event_ends() {
    assert_eq!(drips("drop.hang:0 drop.fall:0 [DONE]"), NOTHING);
    assert_eq!(drips("drop.hang:0 drop.fall:0"), ["completion/ends-with-done 2"]);
    assert_eq!(drips("drop.hang:0 [DONE]"), ["choice/finished 2"]);
    assert_eq!(broken(&spec::songs::DIALECT, "song.begin song.fade"), ["response/one-terminal 2"]);
}

#[test]
fn the_end_of_the_stream_ends_what_neither_an_event_nor_the_marker_ends() {
    assert_eq!(stalls("stall.lay:0 stall.sell:0"), NOTHING);
    assert_eq!(stalls("stall.lay:0 stall.sell:0 stall.lay:1"), ["choice/finished 3"]);
}

#[test]
fn a_scope_is_complete_from_a_phase_on_and_can_go_on() {
    assert_eq!(stalls("stall.sell:0 stall.lay:0 stall.sell:0"), NOTHING);
    assert_eq!(stalls("stall.lay:0"), ["choice/finished 1"]);
}

#[test]
fn what_has_no_index_is_counted() {
    assert_eq!(stalls("stall.lay:0 stall.lay:0 stall.lay:1 stall.sell:0 stall.sell:1"), NOTHING);
    // With an index of its own, the second one is the first one again.
    assert_eq!(drips("drop.fall:0 drop.fall:0 [DONE]"), ["choice/finished-once 2"]);
}
