//! `conformance client`: exit codes, the files of a run, expected failures.
#![cfg(unix)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

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

/// Returns whether a process has this marker in its command line.
fn runs(marker: &str) -> bool {
    Command::new("pgrep").args(["-f", marker]).output().is_ok_and(|found| found.status.success())
}

/// Waits until a process runs, or runs no more.
fn wait_for(marker: &str, is_running: bool) -> bool {
    (0..200).any(|_| {
        std::thread::sleep(Duration::from_millis(50));
        runs(marker) == is_running
    })
}

#[test]
fn descendants_end_with_a_client() {
    let script = format!("sleep 86.25 & {ALWAYS_HELLO}");
    assert_eq!(client(&["text/hello"], &script).0, Some(0));
    assert!(wait_for("sleep 86.25", false));
}

#[test]
fn clients_end_with_an_interrupted_run() {
    for (mode, signal, marker) in [
        ("lines", "INT", "86.31"),
        ("spawn", "TERM", "86.32"),
        ("spawn", "HUP", "86.33"),
        ("lines", "HUP", "86.34"),
    ] {
        let temporary = folder(&format!("interrupted-{mode}-{signal}"));
        let mut suite = Command::new(env!("CARGO_BIN_EXE_conformance"))
            .args(["client", "text/hello", "--mode", mode, "--", "sh", "-c", r#"sleep "$PAUSE"; true"#])
            .env("TMPDIR", &temporary)
            .env("PAUSE", marker)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        let marker = &format!("sleep {marker}");
        assert!(wait_for(marker, true), "{mode} {signal}");
        let killed = Command::new("kill").args([format!("-{signal}"), suite.id().to_string()]).status();
        assert!(killed.is_ok_and(|status| status.success()));
        let status = suite.wait().expect("it ends");
        assert_eq!(status.code(), Some(2), "{mode} {signal}");
        assert!(wait_for(marker, false), "{mode} {signal}");
        assert_eq!(fs::read_dir(&temporary).expect("it is there").count(), 0, "{mode} {signal}");
    }
}

#[test]
fn files_of_a_client_replace_links() {
    let out = folder("client-link");
    let victim = folder("client-link-victim").join("victim");
    fs::write(&victim, "untouched").expect("it can be written");
    for name in ["client.json", "certificate.md.new"] {
        std::os::unix::fs::symlink(&victim, out.join(name)).expect("it can be made");
    }
    assert_eq!(client(&["text/hello", "--out", of(&out)], ALWAYS_HELLO).0, Some(0));
    assert_eq!(fs::read_to_string(&victim).expect("it is there"), "untouched");
    assert!(!out.join("client.json").is_symlink());
}

/// A full disk is reported, without a panic.
#[test]
fn a_full_stdout_is_reported() {
    let full = || fs::File::options().write(true).open("/dev/full");
    if full().is_err() {
        return;
    }
    let hello = ["client", "text/hello", "--all-tests", "--", "sh", "-c", ALWAYS_HELLO];
    let junit = ["run", "text/hello", "--format", "junit"];
    for arguments in [
        &["run", "--list"][..],
        &["run", "text/hello", "-q"],
        &["run", "text/hello", "--all-tests"],
        &["run", "text/hello"],
        &junit,
        &hello,
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_conformance"))
            .args(arguments)
            .stdout(full().expect("it is there"))
            .output()
            .expect("it starts");
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {told}");
        assert!(told.contains("cannot be printed") && !told.contains("panicked"), "{arguments:?}: {told}");
    }
}

/// With one thread, recordings are checked, and what needs more is refused without a panic.
#[cfg(target_os = "linux")]
#[test]
fn few_threads_are_enough_or_refused() {
    // The limit holds for other users than root.
    let alone = |command: &str| {
        let script = format!("cd / && ulimit -u 1 && exec {} {command}", env!("CARGO_BIN_EXE_conformance"));
        let mut limited = Command::new("setpriv");
        limited.args(["--reuid", "65533", "--regid", "65533", "--clear-groups", "sh", "-c", &script]);
        limited.output()
    };
    if !alone("--version").is_ok_and(|output| output.status.success()) {
        return;
    }
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../spec/apis/responses/goldens/openai/text.sse");
    let golden = golden.canonicalize().expect("it is there");
    for (command, code) in [
        (format!("check {}", of(&golden)), 0),
        (format!("run --capture {}", of(&golden)), 0),
        ("run text/hello".to_owned(), 2),
        ("serve --port 0".to_owned(), 2),
        ("client text/hello -- true".to_owned(), 2),
    ] {
        let output = alone(&command).expect("it starts");
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{command}: {told}");
        assert!(
            !told.contains("panicked") && told.contains("too few threads") == (code == 2),
            "{command}: {told}"
        );
    }
}
