//! The finding in the README is what the program prints.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

const START: &str = "<!-- finding: BLESS=1 cargo test -p conformance --test suite readme -->\n";
const END: &str = "<!-- /finding -->";

#[test]
fn the_finding_is_fresh() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md");
    let readme = fs::read_to_string(&path).expect("it is there");
    let (before, rest) = readme.split_once(START).expect("the part begins");
    let (found, behind) = rest.split_once(END).expect("the part ends");
    let expected = format!("```text\n$ conformance check stream.sse\n{}\n```\n", printed().trim_end());
    if env::var_os("BLESS").is_some() {
        fs::write(&path, format!("{before}{START}{expected}{END}{behind}")).expect("it can be written");
        return;
    }
    assert!(found == expected, "stale, see {START}\n{expected}");
}

/// Returns a stream that breaks clients: without `response.content_part.added`, and numbered without a gap.
fn recording() -> String {
    let golden = include_str!("../../../spec/apis/responses/goldens/openai/text.sse");
    let frames =
        golden.split_inclusive("\n\n").filter(|frame| !frame.contains("response.content_part.added"));
    let renumbered = frames.enumerate().map(|(number, frame)| {
        let (before, after) = frame.split_once("\"sequence_number\":").expect("each event has a number");
        let rest = after.trim_start_matches(|digit: char| digit.is_ascii_digit());
        format!("{before}\"sequence_number\":{number}{rest}")
    });
    renumbered.collect()
}

/// Returns the findings of that stream, as a terminal shows them.
fn printed() -> String {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("readme");
    fs::create_dir_all(&folder).expect("it can be made");
    fs::write(folder.join("stream.sse"), recording()).expect("it can be written");
    let output = Command::new(env!("CARGO_BIN_EXE_conformance"))
        .args(["check", "stream.sse"])
        .current_dir(folder)
        .output()
        .expect("the program starts");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let text = String::from_utf8(output.stderr).expect("what it prints is UTF-8");
    assert!(text.contains("breaks: openai-python"), "the finding breaks clients: {text}");
    text
}
