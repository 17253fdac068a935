//! The command at the limits of a machine: signals, a full disk, few threads.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// A client that returns the same text for every response.
const ALWAYS_HELLO: &str = r#"while read -r line; do
    url=$(printf '%s' "$line" | sed 's/.*"base_url":"\([^"]*\)".*/\1/')
    curl -s -m 2 -d '{}' "$url/responses" >/dev/null
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

/// A full disk is reported, without a panic.
#[test]
fn a_full_stdout_is_reported() {
    let full = || fs::File::options().write(true).open("/dev/full");
    if full().is_err() {
        return;
    }
    let hello = ["client", "text/hello", "--all-tests", "--", "sh", "-c", ALWAYS_HELLO];
    let junit = ["run", "--api", "responses", "text/hello", "--format", "junit"];
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
        let is_plain = !told.contains("panicked") && !told.contains("unwrap");
        assert!(told.contains("cannot be printed") && is_plain, "{arguments:?}: {told}");
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
