//! `verify` on edited runs.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use conformance::Suite;
use conformance::certificate::SIGNATURE;
use conformance::compare;
use conformance::evidence::Evidence;
use conformance::gateway::Settings;
use conformance::results::Transport;
use serde_json::Value;

use super::choices::Choices;
use super::endpoint::Folder;
use super::within::within;

/// Files by their names in the folder; a link where there are no bytes.
type Files = BTreeMap<String, Option<Vec<u8>>>;

/// Edits a run. Nothing panics or hangs, and `verify` sees every edit.
pub fn verify(bytes: &[u8]) {
    static RUN: OnceLock<Files> = OnceLock::new();
    let run = RUN.get_or_init(recorded);
    let mut files = run.clone();
    let mut choices = Choices(bytes);
    while choices.is_left() {
        edit(&mut files, &mut choices);
    }
    let folder = Folder::new("verify");
    if !write(&folder.0, &files) {
        return;
    }
    let evidence = Evidence::open(&folder.0);
    let Ok(of) = evidence.run() else { return };
    let compared = within(|| compare(&evidence, &of, None));
    let is_seen = compared.as_ref().map_or(true, |compared| !compared.differences.is_empty());
    let changed: Vec<&String> =
        files.keys().chain(run.keys()).filter(|of| files.get(*of) != run.get(*of)).collect();
    assert_eq!(is_seen, !changed.is_empty(), "{changed:?} changed; {compared:?}");
}

fn recorded() -> Files {
    let folder = Folder::new("recorded");
    let dialect = spec::dialect("openai").expect("it is built in");
    let out = folder.0.join("run");
    let suite = Suite::reference(Settings::new(dialect)).seed("fuzz").out(&out).transports(Transport::ALL);
    let wanted = ["text/hello", "call/single", "state/recalled", "ws/in-order"];
    let told = suite.judge_only(&|name| wanted.iter().any(|wanted| name.starts_with(wanted)));
    told.expect("the reference gateway can be asked");
    let mut files = Files::new();
    read(&out, "", &mut files);
    files
}

fn read(folder: &Path, below: &str, files: &mut Files) {
    for entry in fs::read_dir(folder).expect("it is there") {
        let entry = entry.expect("it can be read");
        let name = format!("{below}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            read(&entry.path(), &format!("{name}/"), files);
        } else {
            files.insert(name, Some(fs::read(entry.path()).expect("it can be read")));
        }
    }
}

/// Some paths are impossible.
fn write(folder: &Path, files: &Files) -> bool {
    files.iter().all(|(name, bytes)| {
        let path = folder.join(name);
        let made = path.parent().is_none_or(|parent| fs::create_dir_all(parent).is_ok());
        made && match bytes {
            Some(bytes) => fs::write(&path, bytes).is_ok(),
            None => link(&path),
        }
    })
}

#[cfg(unix)]
fn link(path: &Path) -> bool {
    std::os::unix::fs::symlink("/dev/zero", path).is_ok()
}

#[cfg(not(unix))]
fn link(path: &Path) -> bool {
    fs::create_dir(path).is_ok()
}

fn edit(files: &mut Files, choices: &mut Choices<'_>) {
    let names: Vec<String> = files.keys().cloned().collect();
    let any = |choices: &mut Choices<'_>| names.get(choices.below(names.len())).cloned().unwrap_or_default();
    let (kind, name) = (choices.below(10), any(choices));
    match kind {
        0 => drop(files.remove(&name)),
        1 => {
            let other = any(choices);
            let (one, two) = (files.get(&name).cloned(), files.get(&other).cloned());
            files.extend(two.map(|bytes| (name, bytes)));
            files.extend(one.map(|bytes| (other, bytes)));
        }
        2 => {
            let copy = format!("{name}.{}", choices.below(3));
            let bytes = files.get(&name).cloned().flatten();
            // Only `--key` checks whether a signature is valid.
            files.extend(bytes.filter(|_| copy != SIGNATURE).map(|bytes| (copy, Some(bytes))));
        }
        3 => drop(files.insert(name, None)),
        4 => {
            let (start, length) = (choices.below(1 << 20), choices.below(300));
            let put = choices.below(20);
            let put = choices.bytes(put);
            if let Some(Some(bytes)) = files.get_mut(&name) {
                let start = start % (bytes.len() + 1);
                let end = (start + length).min(bytes.len());
                bytes.splice(start..end, put.iter().copied());
            }
        }
        _ => {
            if let Some(Some(bytes)) = files.get_mut(&name) {
                edit_json(bytes, choices);
            }
        }
    }
}

/// The value can be in a line, or in a text that is JSON itself.
fn edit_json(bytes: &mut Vec<u8>, choices: &mut Choices<'_>) {
    let text = String::from_utf8_lossy(bytes).into_owned();
    if let Ok(mut value) = serde_json::from_str::<Value>(&text) {
        edit_value(&mut value, choices);
        *bytes = format!("{value:#}\n").into_bytes();
        return;
    }
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let at = choices.below(lines.len());
    let Some(line) = lines.get_mut(at) else { return };
    if let Ok(mut value) = serde_json::from_str::<Value>(line) {
        edit_value(&mut value, choices);
        *line = value.to_string();
        *bytes = (lines.join("\n") + "\n").into_bytes();
    }
}

fn edit_value(value: &mut Value, choices: &mut Choices<'_>) {
    match value {
        Value::Object(members) if !members.is_empty() => {
            let at = choices.below(members.len());
            let name = members.keys().nth(at).cloned().unwrap_or_default();
            match choices.below(12) {
                0 => drop(members.remove(&name)),
                1 => drop(members.insert(format!("{name}_"), odd(choices))),
                _ => members.get_mut(&name).into_iter().for_each(|value| edit_value(value, choices)),
            }
        }
        Value::Array(entries) if !entries.is_empty() => {
            let at = choices.below(entries.len());
            match choices.below(12) {
                0 => drop(entries.remove(at)),
                1 => entries.insert(at, entries[at].clone()),
                2 => entries.reverse(),
                _ => edit_value(&mut entries[at], choices),
            }
        }
        Value::String(text) if text.starts_with('{') && choices.below(4) > 0 => {
            let Ok(mut inner) = serde_json::from_str::<Value>(text) else { return };
            edit_value(&mut inner, choices);
            *text = inner.to_string();
        }
        Value::String(text) if choices.below(3) == 0 => {
            let at = choices.below(text.chars().count() + 1);
            let at = text.char_indices().nth(at).map_or(text.len(), |(at, _)| at);
            text.insert_str(at, ["0", "\u{1b}[2J", "../", "\n", "\u{0}", "{{word 1}}"][choices.below(6)]);
        }
        Value::Number(number) if choices.below(2) == 0 => {
            let next = number.as_i64().unwrap_or_default().wrapping_add(1);
            *number = next.into();
        }
        other => *other = odd(choices),
    }
}

fn odd(choices: &mut Choices<'_>) -> Value {
    let odd = [
        "null",
        "true",
        "-1",
        "0",
        "18446744073709551615",
        "1e308",
        "-0.5",
        "\"\"",
        "\"a\"",
        "[]",
        "{}",
        "[[[[]]]]",
        "\"\\u0000\"",
        "\"http://127.0.0.1:1/v1\"",
        "\"openai\"",
        "\"text/hello\"",
    ];
    let long = || Value::String("a".repeat(100_000));
    let chosen = choices.below(odd.len() + 1);
    odd.get(chosen).map_or_else(long, |text| serde_json::from_str(text).expect("it is JSON"))
}
