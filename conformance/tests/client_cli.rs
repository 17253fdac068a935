//! `conformance client`: exit codes, the files of a run, expected failures.
#![cfg(unix)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A client that returns the same text for every response.
const ALWAYS_HELLO: &str = r#"while read -r line; do
    name=$(printf '%s' "$line" | sed 's/.*"case":"\([^"]*\)".*/\1/')
    printf '{"case":"%s","status":"ok","text":"Hello, world.","client_version":"1.0"}\n' "$name"
done"#;

/// Runs the command with a client, and returns its exit code, stdout and stderr.
fn client(arguments: &[&str], script: &str) -> (Option<i32>, String, String) {
    let command = ["client", "--name", "hello", "--jobs", "1"].iter().chain(arguments);
    run(&command.chain(&["--", "sh", "-c", script]).copied().collect::<Vec<_>>())
}

fn run(arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_conformance")).args(arguments).output().expect("it starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// Creates a folder for a test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder can be made");
    folder
}

fn of(path: &Path) -> &str {
    path.to_str().expect("it is text")
}

/// Every case is in exactly one shard.
#[test]
fn shards_split_the_cases() {
    let list = |more: &[&str]| -> Vec<String> {
        let (code, stdout, stderr) = run(&[&["client", "--list"], more].concat());
        assert_eq!(code, Some(0), "{stderr}");
        stdout.lines().map(str::to_owned).collect()
    };
    let mut parts: Vec<String> =
        ["1/3", "2/3", "3/3"].iter().flat_map(|part| list(&["--shard", part])).collect();
    let mut all = list(&[]);
    parts.sort();
    all.sort();
    assert_eq!(parts, all);
}

#[test]
fn exit_codes_say_how_a_run_ended() {
    assert_eq!(client(&["text/hello"], ALWAYS_HELLO).0, Some(0));
    // The response is a function call, which this client does not report.
    assert_eq!(client(&["call/one"], ALWAYS_HELLO).0, Some(1));
    let (code, _, problem) = client(&["text/"], "exit 1");
    assert!(code == Some(2) && problem.contains("did not reply"), "{code:?} {problem}");
    let (code, _, problem) = client(&["no/such-case"], ALWAYS_HELLO);
    assert!(code == Some(2) && problem.contains("no/such-case"), "{code:?} {problem}");
    let (code, _, problem) = client(&["--profile", "client-core2"], ALWAYS_HELLO);
    assert!(code == Some(2) && problem.contains("client-core"), "{code:?} {problem}");
    let (code, _, problem) = run(&["client", "text/hello"]);
    assert!(code == Some(2) && problem.contains("after `--`"), "{code:?} {problem}");
}

#[test]
fn a_profile_sends_its_cases_over_its_transports() {
    let (code, listed, _) = run(&["client", "--list", "--profile", "client-websocket"]);
    assert_eq!(code, Some(0));
    let names: Vec<&str> = listed.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert!(
        names.contains(&"turn/tool-output.ws")
            && names.iter().all(|name| name.rsplit('.').next() == Some("ws")),
        "{names:?}"
    );
}

#[test]
fn a_run_is_written_compared_and_rendered() {
    let folder = folder("client-runs");
    let (old, new) = (folder.join("old"), folder.join("new"));
    let cases = ["text/hello", "text/two-parts"];
    let written = |out: &Path, script: &str| client(&[&cases[..], &["--out", of(out)]].concat(), script);
    assert_eq!(written(&old, ALWAYS_HELLO).0, Some(1));
    assert_eq!(written(&new, &ALWAYS_HELLO.replace("Hello, world.", "First part.Second part.")).0, Some(1));
    let page = fs::read_to_string(old.join("certificate.md")).unwrap();
    assert!(page.contains("| client-core 1 | openai | failed |") && page.contains("-- sh -c"), "{page}");
    let certificate: serde_json::Value =
        serde_json::from_slice(&fs::read(old.join("certificate.json")).unwrap()).unwrap();
    assert_eq!(certificate["profiles"][0]["state"], "failed");

    let (code, told, _) = run(&["diff", of(&old), of(&new)]);
    assert_eq!(code, Some(1), "{told}");
    assert!(
        told.contains("- text/hello: right → wrong") && told.contains("+ text/two-parts: wrong → right"),
        "{told}"
    );
    for (format, expected) in
        [("markdown", "## ❌ Failed: `hello 1.0`"), ("junit", "<testsuites"), ("html", "<!doctype html>")]
    {
        let (code, told, problem) = run(&["report", of(&old), "--format", format]);
        assert!(
            code == Some(0) && told.to_lowercase().contains(&expected.to_lowercase()),
            "{format}: {told} {problem}"
        );
    }
    let (code, told, _) = run(&["report", of(&old), of(&new), "--format", "markdown"]);
    assert!(code == Some(0) && told.contains("| `text/hello` | `must-survive` | ✓ | ≠ |"), "{told}");
}

#[test]
fn expected_failures_are_borne_until_they_are_over() {
    let file = folder("client-expected").join("expected.toml");
    let cases = ["text/hello", "text/two-parts", "text/unicode"];
    let with = |flag: &str, script: &str| client(&[&cases[..], &[flag, of(&file)]].concat(), script);
    assert_eq!(with("--write-expected-failures", ALWAYS_HELLO).0, Some(0));
    let text = fs::read_to_string(&file).unwrap();
    assert!(
        text.contains("outcome = \"wrong\"")
            && text.contains("\"text/unicode\"")
            && !text.contains("text/hello")
    );
    let (code, _, problem) = with("--expected-failures", ALWAYS_HELLO);
    assert!(
        code == Some(2)
            && problem.contains("expected.toml:3: text/two-parts, ")
            && problem.contains("`reason` is empty"),
        "{problem}"
    );
    fs::write(&file, text.replace("reason = \"\"", "reason = \"it knows one text\"")).unwrap();
    let (code, told, _) = with("--expected-failures", ALWAYS_HELLO);
    assert!(code == Some(0) && told.contains("expected: it knows one text"), "{told}");
    let (code, told, _) =
        with("--expected-failures", &ALWAYS_HELLO.replace("Hello, world.", "First part.Second part."));
    assert!(code == Some(1) && told.contains("text/two-parts is right, expected wrong"), "{told}");
}

#[test]
fn failed_cases_run_again() {
    let folder = folder("client-again");
    let (first, again) = (folder.join("first"), folder.join("again"));
    let cases = ["text/hello", "text/two-parts", "--transport", "sse"];
    let (code, told, _) = client(&[&cases[..], &["--out", of(&first)]].concat(), ALWAYS_HELLO);
    assert_eq!(code, Some(1), "{told}");
    for expected in [
        "wanted: the answer that was sent, without an error. ",
        "\n  1 wrong: it returned another answer without an error\n",
        "\nnext\n  show what text/two-parts plays, and what is expected\n    conformance client --show text/two-parts\n",
    ] {
        assert!(told.contains(expected), "{expected:?}: {told}");
    }
    let command = format!("conformance client --rerun-failed {}", of(&first));
    assert!(told.contains(&command), "{told}");

    // The command and the name are those of the first run.
    let (code, told, problem) = run(&["client", "--rerun-failed", of(&first), "--out", of(&again)]);
    assert_eq!(code, Some(1), "{told}{problem}");
    assert!(told.contains("text/two-parts") && !told.contains("text/hello"), "{told}");
    assert!(told.contains("failed: hello 1.0 · 1 case in"), "{told}");
    let script = ALWAYS_HELLO.replace("Hello, world.", "First part.Second part.");
    let (code, told, _) = client(&["--rerun-failed", of(&first), "--out", of(&again)], &script);
    assert!(code == Some(0) && told.contains("passed: hello 1.0 · 1 case in"), "{told}");
    let (code, _, problem) = run(&["client", "--rerun-failed", of(&again)]);
    assert!(code == Some(2) && problem.contains("no case failed in"), "{problem}");
    let (code, _, problem) = run(&["client", "--rerun-failed", of(&folder)]);
    assert!(code == Some(2) && problem.contains("is not a folder that `client --out` wrote"), "{problem}");
}

#[test]
fn a_case_shows_what_it_plays() {
    let (code, bytes, facts) = run(&["client", "--show", "defect/cr_only"]);
    assert_eq!(code, Some(0), "{facts}");
    assert!(bytes.contains("data: {") && bytes.contains('\r') && !bytes.contains('\n'), "{bytes:?}");
    insta::assert_snapshot!("show_cr_only", facts);
    // What a case plays is what its page says.
    let (_, page, _) = run(&["explain", "defect/cr_only"]);
    assert_eq!(page, facts);
    let (code, turns, facts) = run(&["client", "--show", "turn/tool-output"]);
    assert!(code == Some(0) && turns.matches("event: response.completed").count() == 2, "{turns}");
    assert!(facts.contains("answer-calls"), "{facts}");
    let (_, body, facts) = run(&["client", "--show", "text/hello.json"]);
    assert!(
        serde_json::from_str::<serde_json::Value>(&body).is_ok() && facts.contains("HTTP 200"),
        "{facts}"
    );
    let (code, _, problem) = run(&["client", "--show", "text/helo"]);
    assert!(code == Some(2) && problem.contains("did you mean text/hello"), "{problem}");
    let (_, page, _) = run(&["explain", "text/hello"]);
    assert!(page.contains("\nrun it     conformance run ") && page.contains("\nmust       "), "{page}");
    let (_, fault, _) = run(&["explain", "slow"]);
    assert!(fault.contains("conformance serve --fault slow"), "{fault}");
}

#[test]
fn tests_are_listed_as_cargo_does() {
    let (code, told, _) = client(&["text/hello", "text/two-parts", "--all-tests"], ALWAYS_HELLO);
    assert_eq!(code, Some(1));
    let of =
        |name: &str| told.lines().find(|line| line.starts_with(&format!("test {name} "))).unwrap_or_default();
    assert!(of("text/hello").ends_with("... ok") && of("text/two-parts").ends_with("... FAILED"), "{told}");
}
