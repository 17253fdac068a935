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

/// Lines are printed file by file, in the order of the files, whichever is done first.
#[test]
fn lines_of_json_are_those_of_the_report() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("lines");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("a")).expect("it can be made");
    for (name, bytes) in archive() {
        fs::write(folder.join("a").join(name), bytes).expect("it can be written");
    }
    let streamed = run(&folder, &["check", "a", "--format", "ndjson"]);
    assert_eq!(streamed.status.code(), Some(1), "{streamed:?}");
    run(&folder, &["check", "a", "--format", "ndjson", "--output", "a.ndjson", "--report", "json=a.json"]);
    let written = fs::read(folder.join("a.ndjson")).expect("it is there");
    assert!(streamed.stdout == written && written.len() > 1000);
    let rendered = run(&folder, &["report", "a.json", "--format", "ndjson"]);
    assert!(rendered.stdout == written);
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
    run(&folder, &["check", "b", "--fail-on", "must", "--format", "json", "--output", "must.json"]);
    refused(&["report", "--merge", "a.json", "must.json"], "must.json: it fails on other findings");
    let levels = ["--rule", "wire/no-id-line=off", "--format", "json", "--output"];
    run(&folder, &[&["check", "b"][..], &levels, &["levels.json"]].concat());
    refused(&["report", "--merge", "a.json", "levels.json"], "levels.json: its levels of rules differ");
    run(&folder, &[&["check", "a"][..], &levels, &["first.json"]].concat());
    let output = run(&folder, &["report", "--merge", "first.json", "levels.json"]);
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && told.contains("wire/no-id-line off instead of SHOULD"), "{told}");
    let old = read("b.json").replacen(
        &format!("\"suite\": \"{}\"", env!("CARGO_PKG_VERSION")),
        "\"suite\": \"0\"",
        1,
    );
    fs::write(folder.join("old.json"), old).expect("it can be written");
    refused(&["report", "--merge", "a.json", "old.json"], "old.json: its version of the suite differs");
    run(&folder, &["run", "text/hello", "--out", "live"]);
    refused(&["report", "--merge", "a.json", "live"], "live: reports of recordings and of an endpoint");
    refused(&["report", "--merge", "live"], "live: it is a whole run");
}

/// Returns what a run found: its tests with their verdicts, its profiles, and the places of its recordings.
fn found(run: &Run) -> (Vec<String>, Vec<(String, String)>, u64) {
    let live = run.live.as_ref().expect("it is of an endpoint");
    let trials = live.cases.iter().flat_map(|case| &case.trials);
    let mut tests: Vec<String> =
        trials.map(|trial| format!("{} {}", trial.name, trial.judged.verdict.name())).collect();
    tests.sort();
    let profiles = live.profiles.iter().map(|profile| (profile.name.clone(), profile.words())).collect();
    (tests, profiles, run.totals.trials.all())
}

#[test]
fn shards_of_a_run_are_merged_into_the_run() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("shards");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("it can be made");
    let parts = ["1/3", "2/3", "3/3"];
    let flags = ["--profile", "core", "--seed", "7"];
    let whole = run(&folder, &[&["run", "--out", "whole"], &flags[..]].concat());
    assert!(whole.status.success(), "{whole:?}");
    for (at, part) in parts.iter().enumerate() {
        let out = format!("part{at}");
        let output = run(&folder, &[&["run", "--shard", part, "--out", &out], &flags[..]].concat());
        assert!(output.status.success(), "{output:?}");
        let verified = run(&folder, &["verify", &out]);
        assert!(verified.status.success(), "{verified:?}");
        let page = fs::read_to_string(folder.join(&out).join("certificate.md")).expect("it is there");
        let told = format!("shard {part} of the run");
        assert!(page.contains("incomplete") && page.contains(&told), "{page}");
    }
    let merge =
        ["report", "--merge", "part0", "part1", "part2", "--format", "json", "--output", "merged.json"];
    let output = run(&folder, &merge);
    assert!(output.status.success(), "{output:?}");
    let read = |name: &str| -> Run {
        let text = fs::read_to_string(folder.join(name)).expect("it is there");
        serde_json::from_str(&text).expect("it is a report")
    };
    let (merged, whole) = (read("merged.json"), read("whole/report.json"));
    assert_eq!(found(&merged), found(&whole));
    let core = &merged.live.as_ref().expect("it is of an endpoint").profiles[0];
    assert_eq!((core.name.as_str(), core.words().as_str()), ("core", "passed"));
    for capture in &merged.captures {
        assert!(folder.join(&capture.name).is_file(), "{}", capture.name);
    }

    let refused = |arguments: &[&str], reason: &str| {
        let output = run(&folder, arguments);
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && told.contains(reason), "{arguments:?}: {told}");
    };
    refused(&["report", "--merge", "part0", "part2"], "the report of shard 2/3 is missing");
    refused(
        &["report", "--merge", "part0", "part1", "part0"],
        "part0: an earlier report is of the same shard",
    );
    let model =
        run(&folder, &[&["run", "--shard", "3/3", "--out", "model", "--model", "m"], &flags[..]].concat());
    assert!(model.status.success(), "{model:?}");
    refused(&["report", "--merge", "part0", "part1", "model"], "model: its endpoint or model differs");
    let four = run(&folder, &[&["run", "--shard", "3/4", "--out", "four"], &flags[..]].concat());
    assert!(four.status.success(), "{four:?}");
    refused(&["report", "--merge", "part0", "part1", "four"], "four: its run has another number of shards");
    refused(&["run", "--shard", "5/4"], "there is no part 5 of 4");
    refused(&["run", "--shard", "2"], "expected I/N");
}
