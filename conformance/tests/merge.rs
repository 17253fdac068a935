//! Merged reports of parts of an archive equal the report of the whole.
#![cfg(feature = "cli")]

use std::path::Path;
use std::process::{Command, Output};
use std::{env, fs};

use conformance::results::{CaptureReport, Run};
use conformance::{Rules, check, reports, violation};

const PROGRAM: &str = env!("CARGO_BIN_EXE_conformance");

fn rules() -> Rules {
    Rules::of(conformance::dialect("openai").expect("the build has it"))
}

/// Returns a recording for every way to break a rule.
fn archive() -> Vec<(String, Vec<u8>)> {
    let broken = catalogue::RULES.iter().filter(|rule| rule.violation.golden.starts_with("openai/"));
    broken
        .map(|rule| {
            (format!("{}.sse", rule.id.replace('/', "-")), violation::recording(rule).expect("it is made"))
        })
        .collect()
}

fn captures() -> Vec<CaptureReport> {
    let rules = rules();
    archive().iter().map(|(name, bytes)| check(name.clone(), &mut &**bytes, None, &rules)).collect()
}

/// Returns the report of a part, as it is read from JSON.
fn shard(captures: &[CaptureReport]) -> Run {
    let run = Run::new(&rules(), captures.to_vec(), None);
    serde_json::from_str(&reports::json(&run)).expect("a report can be read")
}

#[test]
fn merging_shards_equals_checking_all_at_once() {
    let captures = captures();
    assert!(captures.len() > 50, "{} recordings", captures.len());
    let whole = reports::json(&Run::new(&rules(), captures.clone(), None));
    for size in [1, 3, 17, captures.len()] {
        let shards: Vec<Run> = captures.chunks(size).map(shard).collect();
        let merged = Run::merge(shards.clone()).expect("they fit");
        assert!(reports::json(&merged) == whole, "shards of {size}");
        // Merging is associative: merged reports can be merged again, with the same result.
        let halves = shards.chunks(shards.len().div_ceil(2));
        let halves: Vec<Run> = halves.map(|half| Run::merge(half.to_vec()).expect("they fit")).collect();
        assert!(reports::json(&Run::merge(halves).expect("they fit")) == whole, "merged twice");
    }
}

#[test]
fn files_that_were_passed_over_are_added() {
    let mut shards = vec![shard(&captures()[..2]), shard(&captures()[2..3])];
    (shards[0].passed_over, shards[1].passed_over) = (3, 4);
    assert_eq!(Run::merge(shards).expect("they fit").passed_over, 7);
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(PROGRAM).args(arguments).current_dir(folder).output().expect("it starts")
}

#[test]
fn the_command_merges_reports() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("merge");
    let _ = fs::remove_dir_all(&folder);
    for (at, (name, bytes)) in archive().iter().enumerate() {
        let part = folder.join(if at % 2 == 0 { "a" } else { "b" });
        fs::create_dir_all(&part).expect("it can be made");
        fs::write(part.join(name), bytes).expect("it can be written");
    }
    for (paths, report) in [(&["a"][..], "a.json"), (&["b"], "b.json"), (&["a", "b"], "whole.json")] {
        let flags = ["--format", "json", "--output", report];
        let output = run(&folder, &[&["check"], paths, &flags].concat());
        assert_eq!(output.status.code(), Some(1), "{output:?}");
    }
    let merge = ["report", "--merge", "a.json", "b.json", "--format", "json", "--output", "merged.json"];
    let output = run(&folder, &merge);
    assert!(output.status.success(), "{output:?}");
    let read = |name| fs::read_to_string(folder.join(name)).expect("it is there");
    assert!(read("merged.json") == read("whole.json"));

    // Reports that do not fit are refused with their names.
    let refused = |arguments: &[&str], reason: &str| {
        let output = run(&folder, arguments);
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && told.contains(reason), "{arguments:?}: {told}");
    };
    refused(&["report", "a.json", "b.json"], "--merge");
    run(
        &folder,
        &["check", "a", "--dialect", "open-responses", "--format", "json", "--output", "other.json"],
    );
    refused(&["report", "--merge", "a.json", "other.json"], "other.json: its dialect differs");
    run(&folder, &["check", "a", "--select", "wire", "--format", "json", "--output", "some.json"]);
    refused(&["report", "--merge", "a.json", "some.json"], "some.json: its rules differ");
    let old = read("b.json").replacen(
        &format!("\"suite\": \"{}\"", env!("CARGO_PKG_VERSION")),
        "\"suite\": \"0\"",
        1,
    );
    fs::write(folder.join("old.json"), old).expect("it can be written");
    refused(&["report", "--merge", "a.json", "old.json"], "old.json: its version of the suite differs");
    run(&folder, &["run", "text/hello", "--out", "live"]);
    refused(&["report", "--merge", "live", "a.json"], "live: it is a run against an endpoint");
}
