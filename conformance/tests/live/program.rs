//! The program, as a user starts it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use conformance::certificate::Certificate;

use crate::server::Server;

pub(crate) struct Outcome {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Returns the command of the program with these arguments. Runs of the suite list each test, and are of the Responses API
/// unless another one is named.
pub(crate) fn command(args: &[&str]) -> Command {
    const COMMANDS: [&str; 11] = [
        "between", "check", "diff", "explain", "init", "list", "record", "report", "serve", "sign", "verify",
    ];
    let is_run = args.first().is_none_or(|first| !COMMANDS.contains(first));
    let has_format = args.iter().any(|arg| ["--format", "--quiet", "--list", "--verbose"].contains(arg));
    let format: &[&str] = if is_run && !has_format { &["--all-tests"] } else { &[] };
    let has_api = args.iter().any(|arg| ["--api", "--dialect"].contains(arg));
    let api: &[&str] = if is_run && !has_api { &["--api=responses"] } else { &[] };
    // After two dashes nothing is a flag.
    let flags = args.iter().position(|arg| *arg == "--").unwrap_or(args.len());
    let (flags, names) = args.split_at(flags);
    bare(&[flags, format, api, names].concat())
}

/// Returns the command of the program with these arguments only.
pub(crate) fn bare(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_conformance"));
    command.args(args).current_dir(env!("CARGO_TARGET_TMPDIR"));
    for scheme in ["http", "https", "all", "no"] {
        let name = format!("{scheme}_proxy");
        command.env_remove(name.to_uppercase()).env_remove(name);
    }
    command.env_remove("CONFORMANCE_API_KEY");
    command
}

pub(crate) fn conformance(args: &[&str]) -> Outcome {
    outcome(&mut command(args))
}

pub(crate) fn outcome(command: &mut Command) -> Outcome {
    let output = command.output().expect("the program starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("what it prints is UTF-8");
    Outcome { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// Sends the scenario of the short text, and nothing else.
pub(crate) fn hello(server: &Server, more: &[&str]) -> Outcome {
    conformance(&[&["--target", &server.url, "text/hello::"], more].concat())
}

pub(crate) fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("live").join(name);
    let _ = fs::remove_dir_all(&folder);
    folder
}

pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let entries =
        fs::read_dir(folder).expect("it is there").map(|entry| entry.expect("it can be read").path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

pub(crate) fn path(folder: &Path) -> &str {
    folder.to_str().expect("it is UTF-8")
}

/// Returns the certificate of a run.
pub(crate) fn certificate(out: &Path) -> Certificate {
    let text = fs::read_to_string(out.join("certificate.json")).expect("it is written");
    serde_json::from_str(&text).expect("it is as its type says")
}

/// Asserts that the run has this exit code and prints these words.
pub(crate) fn expect(outcome: &Outcome, code: i32, words: &[&str]) {
    let Outcome { stdout, stderr, .. } = outcome;
    assert_eq!(outcome.code, Some(code), "{stdout}\n{stderr}");
    for words in words {
        assert!(says(stdout, words), "there is no {words:?} in\n{stdout}\n{stderr}");
    }
}

/// Returns whether a text contains these words. Column widths are ignored, as they depend on the longest name.
pub(crate) fn says(text: &str, words: &str) -> bool {
    let close = |text: &str| text.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    text.contains(words) || close(text).contains(&close(words))
}

/// Calls a function with each value, on several threads, as runs often wait.
pub(crate) fn several_at_once<'v, T: Sync>(values: &'v [T], work: impl Fn(&'v T) + Sync) {
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(value) = values.get(next.fetch_add(1, Ordering::Relaxed)) {
            work(value);
        }
    };
    thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(work))));
}
