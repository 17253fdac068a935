//! The commands of a certificate reproduce the run.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use conformance::gateway::{Embedded, Settings};
use serde_json::Value;

use crate::program::{certificate, command, expect, files, folder, outcome, path};

const TENANT: &str = "tenant-that-is-mine";

/// Returns the settings and the results of a run, without times.
fn done(run: &Path) -> (Value, Value) {
    let text = fs::read_to_string(run.join("run.json")).expect("it is written");
    let mut run: Value = serde_json::from_str(&text).expect("it is JSON");
    for time in ["began", "took_ms"] {
        let time_of = run["options"].as_object_mut().and_then(|options| options.remove(time));
        assert!(time_of.is_some(), "the run has no {time}");
    }
    (run["options"].take(), run["trials"].take())
}

/// Repeats a run in a shell with the command of its certificate.
fn again(run: &Path) -> PathBuf {
    for file in files(run) {
        let bytes = fs::read(&file).expect("it can be read");
        let is_told = bytes.windows(TENANT.len()).any(|bytes| bytes == TENANT.as_bytes());
        assert!(!is_told, "{} tells the secret", file.display());
    }
    let elsewhere = run.with_extension("again");
    let _ = fs::remove_dir_all(&elsewhere);
    fs::create_dir(&elsewhere).expect("it can be made");
    let program = Path::new(env!("CARGO_BIN_EXE_conformance")).parent().expect("it is in a folder");
    let usual = env::var_os("PATH").unwrap_or_default();
    let programs = [program.to_owned()].into_iter().chain(env::split_paths(&usual));
    let programs = env::join_paths(programs).expect("no name has a colon");
    for line in &certificate(run).reproduce {
        let mut shell = Command::new("sh");
        shell.args(["-c", line]).current_dir(&elsewhere).env("HEADER_X_TENANT", TENANT);
        shell.env("GIVEN_MCP_SERVER", format!("https://mcp.test/{TENANT}/v1?key={TENANT}"));
        shell.env("PATH", &programs);
        expect(&outcome(&mut shell), 0, &[]);
    }
    elsewhere.join("again")
}

#[test]
fn a_run_is_made_again_by_what_its_certificate_says() {
    let gateway = Embedded::start(Settings::new(&spec::openai::DIALECT)).expect("a port is free");
    let url = gateway.url();
    let tenant = format!("x_tenant: {TENANT}");
    let server = format!("mcp-server=https://mcp.test/{TENANT}/v1?key={TENANT}");
    let given: [&str; 4] = ["--given", "down-model=no 1", "--given", &server];
    let target: &[&str] =
        &[&["--target", &url, "--model", "it's mine", "--header", &tenant], &given[..]].concat();
    let cases: [(&str, &[&str], &[&str]); 5] = [
        ("whole", &["--dialect", "open-responses", "--profile", "core"], &[]),
        ("crowd", target, &["--concurrent", "3", "--features", "", "--", "crowd/"]),
        ("asked", target, &["--attempts", "1", "tool/mcp::answer"]),
        ("filtered", target, &["--transport", "sse", "--skip", "late", "--attempts", "2", "error/"]),
        ("exact", target, &["--strict", "--idle-timeout", "5s", "--exact", "text/hello::answer"]),
    ];
    for (name, args, more) in cases {
        let out = folder(&format!("reproduce-{name}"));
        let run = outcome(&mut command(&[args, &["--out", path(&out)], more].concat()));
        expect(&run, 0, &[" 0 failed"]);
        let (first, second) = (done(&out), done(&again(&out)));
        assert!(first.1.as_array().is_some_and(|trials| !trials.is_empty()), "{name}");
        assert_eq!(first, second, "{name}");
    }
}
