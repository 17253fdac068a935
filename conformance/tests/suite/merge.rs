//! Merged reports of parts of an archive equal the report of the whole.

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
}
