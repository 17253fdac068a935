//! Merged reports of parts of an archive equal the report of the whole.

use conformance::results::{CaptureReport, Run};
use conformance::{Rules, check, reports, violation};

fn rules() -> Rules {
    Rules::of(conformance::dialect("openai").expect("the build has it"))
}

/// Returns a recording for every way to break a rule.
fn archive() -> Vec<(String, Vec<u8>)> {
    let broken = catalogue::rules_in_apis().filter(|(_, own)| own.violation.golden.starts_with("openai/"));
    broken
        .map(|(rule, own)| {
            let recording = violation::apply(&own.violation).expect("it is made");
            (format!("{}.sse", rule.id.replace('/', "-")), recording)
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
