//! Shared code does not name what only one API has: its scopes, slots, routes, events, members and types.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// The code that is the same for every API.
const SHARED: [&str; 9] = [
    "checker/src/engine",
    "grammar/src",
    "harness/src/judge",
    "harness/src/plan",
    "harness/src/wire",
    "recordings/src",
    "reports/src",
    "translation/src/replies",
    "translation/src/requests",
];
/// The code that is to become so, with the number of names in each file that has any: `neutral.toml`.
const BECOMING: [&str; 3] = ["clients/src", "gateway/src", "translation/src"];
/// The code that reads nothing but events, so that even a plain word is a member.
const OF_EVENTS: [&str; 2] = ["checker/src/engine", "harness/src/wire"];

/// Slots that the engine may name: it joins texts, counts events and keeps log probabilities in any API.
const SLOTS: [&str; 5] = ["Value", "SequenceNumber", "Logprobs", "PLACES", "name"];
/// What it may ask of scopes without naming one.
const SCOPES: [&str; 2] = ["ALL", "MOST_KEYS"];
/// Members that it may name: every API has them, or the word is not about a member.
const MEMBERS: [&str; 8] = ["delta", "echo", "id", "model", "name", "none", "stream", "type"];

/// Returns the files of folders, each with its code: without comments, attributes and unit tests, which are about one
/// API.
fn code(folders: &[&str]) -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut due: Vec<PathBuf> = folders.iter().map(|folder| root.join(folder)).collect();
    let mut files = Vec::new();
    while let Some(path) = due.pop() {
        if path.is_dir() && path.file_name().is_some_and(|name| spec::APIS.iter().any(|api| name == api.name))
        {
            // What is about one API has a folder of its name.
            continue;
        }
        if path.is_dir() {
            due.extend(fs::read_dir(path).expect("it is there").flatten().map(|entry| entry.path()));
        } else if path.extension().is_some_and(|end| end == "rs") && !path.ends_with("tests.rs") {
            let text = fs::read_to_string(&path).expect("it is text");
            let text = text.split("#[cfg(test)]").next().unwrap_or_default();
            let is_code =
                |line: &&str| !line.trim_start().starts_with("//") && !line.trim_start().starts_with("#[");
            files.push((path, text.lines().filter(is_code).collect::<Vec<_>>().join("\n")));
        }
    }
    files
}

/// Returns the texts in quotes, as written.
fn literals(code: &str) -> Vec<String> {
    let code = code.replace("'\"'", "").replace("'\\\\'", "");
    let (mut found, mut open): (Vec<String>, Option<String>) = (Vec::new(), None);
    let mut letters = code.chars();
    while let Some(letter) = letters.next() {
        match (letter, &mut open) {
            ('"', text) => match text.take() {
                Some(text) => found.push(text),
                None => open = Some(String::new()),
            },
            ('\\', Some(text)) => text.extend(letters.next()),
            (_, Some(text)) => text.push(letter),
            _ => {}
        }
    }
    found
}

/// Adds the names of members and the values of types in a schema.
fn add_names(schema: &Value, names: &mut BTreeSet<String>) {
    match schema {
        Value::Object(members) => {
            for (keyword, value) in members.iter().filter(|(keyword, _)| *keyword != "examples") {
                match (keyword.as_str(), value) {
                    ("properties", Value::Object(members)) => names.extend(members.keys().cloned()),
                    ("const", Value::String(value)) => drop(names.insert(value.clone())),
                    ("enum", Value::Array(values)) => {
                        names.extend(values.iter().filter_map(Value::as_str).map(str::to_owned));
                    }
                    _ => {}
                }
                add_names(value, names);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| add_names(value, names)),
        _ => {}
    }
}

/// Returns the names of members, types and events in the schemas of all dialects.
fn names() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let dialects = Path::new(env!("CARGO_MANIFEST_DIR")).join("../spec/dialects");
    for dialect in fs::read_dir(dialects).expect("it is there").flatten() {
        for kind in ["events", "types"] {
            for file in fs::read_dir(dialect.path().join(kind)).into_iter().flatten().flatten() {
                let text = fs::read_to_string(file.path()).expect("it is text");
                add_names(&serde_json::from_str(&text).expect("it is JSON"), &mut names);
            }
        }
    }
    // No code can do without words of one letter.
    names.retain(|name| name.len() > 1);
    assert!(names.len() > 500, "{} names", names.len());
    names
}

/// Returns whether a name cannot be an ordinary word.
fn is_technical(name: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.');
    name.contains(['_', '.'])
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.bytes().all(is_part)
}

/// Returns the name of one API that a text has, if any. A plain word counts if it is the whole text, or a pointer.
fn named(text: &str, names: &BTreeSet<String>, is_of_events: bool) -> Option<String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
    let words = text.split(|c: char| !is_part(c)).map(|word| word.trim_matches('.'));
    let mut technical = words.filter(|word| is_technical(word) && names.contains(*word));
    let member = text.strip_prefix('/').or(Some(text).filter(|text| is_of_events && !text.contains('/')));
    let segments = member.into_iter().flat_map(|member| member.split('/'));
    let mut plain = segments.filter(|word| names.contains(*word) && !MEMBERS.contains(word));
    let route = spec::APIS.iter().find(|api| text.ends_with(api.path)).map(|api| api.path);
    technical.next().or(route).or_else(|| plain.next()).map(str::to_owned)
}

/// The names of one API in the literals of a file.
fn named_in(code: &str, names: &BTreeSet<String>, is_of_events: bool) -> Vec<String> {
    literals(code).iter().filter_map(|text| named(text, names, is_of_events)).collect()
}

#[test]
fn other_code_names_ever_less_of_one_api() {
    let names = names();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let row = |line: &str| {
        let (file, count) = line.split_once(" = ")?;
        Some((file.trim_matches('"').to_owned(), count.parse().expect("a number")))
    };
    let listed: BTreeMap<String, usize> = include_str!("neutral.toml").lines().filter_map(row).collect();
    let mut found = BTreeMap::new();
    for (path, code) in code(&BECOMING) {
        let file = path.strip_prefix(root).expect("it is in the folder");
        let file = file.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/");
        found.extend(Some((file, named_in(&code, &names, false).len())).filter(|(_, count)| *count > 0));
    }
    let wrong: Vec<String> = listed
        .keys()
        .chain(found.keys())
        .collect::<BTreeSet<_>>()
        .into_iter()
        .filter_map(|file| {
            let [limit, count] = [&listed, &found].map(|all| all.get(file).copied().unwrap_or(0));
            match count.cmp(&limit) {
                Ordering::Greater => Some(format!("{file}: {count} names, not {limit}: in a table, please")),
                Ordering::Less => Some(format!("{file}: only {count} names: lower {limit} in neutral.toml")),
                Ordering::Equal => None,
            }
        })
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn shared_code_names_nothing_of_one_api() {
    let names = names();
    let files = code(&SHARED);
    assert!(files.len() > 100, "{} files", files.len());
    let of_events = code(&OF_EVENTS);
    let mut found = Vec::new();
    for (path, code) in &files {
        let is_of_events = of_events.iter().any(|(known, _)| known == path);
        let own = named_in(code, &names, is_of_events);
        found.extend(own.into_iter().map(|name| format!("{}: {name}", path.display())));
    }
    assert!(found.is_empty(), "in a table of the API instead, please: {found:#?}");
}

#[test]
fn names_of_one_api_would_be_found() {
    let names = names();
    for text in ["/output/0", "call_id", "the `item_id` of it", "response.created", "{base}/responses"] {
        assert!(named(text, &names, false).is_some(), "{text}");
    }
    assert_eq!(named("tools", &names, true).as_deref(), Some("tools"));
    for text in ["tools", "/type", "the message of an error", "text/event-stream", "0.1"] {
        assert_eq!(named(text, &names, false), None, "{text}");
    }
    let code = r#"let a = "x\"y"; let b = '"'; let c = "z";"#;
    assert_eq!(literals(code), ["x\"y", "z"]);
}

#[test]
fn the_engine_names_no_scope() {
    let files = code(&["checker/src/engine"]);
    assert!(files.len() > 20, "{} files", files.len());
    for (path, code) in &files {
        for (kind, allowed) in [("Slot::", &SLOTS[..]), ("Scope::", &SCOPES[..])] {
            for after in code.split(kind).skip(1) {
                let name = after.split(|c: char| !c.is_alphanumeric() && c != '_').next();
                let name = name.unwrap_or_default();
                assert!(allowed.contains(&name), "{} names {kind}{name}", path.display());
            }
        }
    }
}
