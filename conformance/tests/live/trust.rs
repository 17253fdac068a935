//! What files of a repository, and strings of an endpoint, must not be able to do.

use std::fs;
use std::path::PathBuf;

use conformance::results::text::first_dangerous;
use serde_json::Value;

use crate::program::{Outcome, bare, folder, outcome, path};

/// Characters that control a terminal, forge a line, or reorder text.
const HOSTILE: &str = "m\u{1b}]0;pwn\u{7}\n::error::owned\r\u{202e}gnp\u{9b}2J";

/// Asserts that nothing printed controls the terminal, and that no line is one of somebody else.
fn harmless(run: &Outcome) {
    for line in run.stdout.lines().chain(run.stderr.lines()) {
        assert_eq!(first_dangerous(line), None, "{line:?}");
        assert!(!line.trim_start().starts_with("::") && !line.starts_with("consistent: forged"), "{line:?}");
    }
}

/// Returns a new folder with this configuration.
fn configured(name: &str, config: &str) -> PathBuf {
    let at = folder(name);
    fs::create_dir_all(&at).expect("it can be made");
    fs::write(at.join("conformance.toml"), config).expect("it can be written");
    at
}

/// Values of a configuration file appear in messages, also in those of the command line.
#[test]
fn values_of_files_forge_nothing() {
    let quoted = serde_json::to_string(HOSTILE).expect("it is a text").replace('\u{7f}', "\\u007f");
    let bare_values = [
        format!("dialect = {quoted}"),
        format!("profile = [{quoted}]"),
        format!("without = ['tools', {quoted}]"),
        format!("limits = {{ timeout = {quoted} }}"),
        format!("headers = {{ {quoted} = 'a' }}"),
        format!("api-key = {quoted}"),
        format!("{quoted} = 1"),
        format!("expected-failures = {quoted}"),
    ];
    let mut configs: Vec<String> = bare_values.iter().map(|value| format!("[defaults]\n{value}\n")).collect();
    configs.push(format!("[targets.{quoted}]\nurl = 'http://127.0.0.1:9'\n"));
    configs.push(format!("[targets.a]\nurl = {quoted}\n"));
    configs.push(HOSTILE.to_owned());
    for config in configs {
        let at = configured("trust-values", &config);
        for target in ["http://127.0.0.1:9", "a"] {
            let run = outcome(bare(&["run", "--target", target]).current_dir(&at));
            assert_eq!(run.code, Some(2), "{config}: {}", run.stdout);
            harmless(&run);
        }
    }
    // And arguments.
    for flag in
        ["--profile", "--dialect", "--timeout", "--given", "--report", "--without", "--target", HOSTILE]
    {
        let run = outcome(&mut bare(&["run", "--target", "http://127.0.0.1:9", flag, HOSTILE]));
        assert_eq!(run.code, Some(2), "{flag}");
        harmless(&run);
    }
}

/// Returns the pointers of all strings of a value, one for each place in a list.
fn strings(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::String(_) => found.push(at.to_owned()),
        Value::Array(values) => {
            values.iter().take(1).for_each(|value| strings(value, &format!("{at}/0"), found));
        }
        Value::Object(members) => {
            for (name, value) in members {
                let name = name.replace('~', "~0").replace('/', "~1");
                strings(value, &format!("{at}/{name}"), found);
            }
        }
        _ => {}
    }
}

/// No string of stored files reaches the terminal as it is, whichever command reads it.
#[test]
fn stored_files_control_no_terminal() {
    let out = folder("trust-stored");
    let run = outcome(&mut bare(&["run", "text/hello", "--profile", "core", "--out", path(&out)]));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let mut tried = 0;
    for name in ["run.json", "report.json", "certificate.json"] {
        let text = fs::read_to_string(out.join(name)).expect("it is there");
        let stored: Value = serde_json::from_str(&text).expect("it is JSON");
        let mut pointers = Vec::new();
        strings(&stored, "", &mut pointers);
        for pointer in pointers {
            let mut edited = stored.clone();
            *edited.pointer_mut(&pointer).expect("it is there") = HOSTILE.into();
            fs::write(out.join(name), edited.to_string()).expect("it can be written");
            let commands: &[&[&str]] = match name {
                "run.json" => &[&["verify"], &["sign", "--statement"], &["run", "--list", "--rerun-failed"]],
                "report.json" => &[&["verify"], &["report"], &["report", "--verbose", "--level", "may"]],
                _ => &[&["verify"], &["sign", "--statement"]],
            };
            for command in commands {
                let told = outcome(&mut bare(&[*command, &[path(&out)]].concat()));
                assert!(matches!(told.code, Some(0..=2)), "{name}{pointer} {command:?}: {}", told.stderr);
                harmless(&told);
                tried += 1;
            }
        }
        fs::write(out.join(name), text).expect("it can be written");
    }
    assert!(tried > 100, "{tried} commands: these cannot be all strings");
}
