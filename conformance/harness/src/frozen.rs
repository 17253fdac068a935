//! Files that tests keep: what each version of a profile demands, which is recorded once and must not change, and schemas.

use std::{env, fs};

use crate::hash;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../");

/// Compares a file of the repository with its text. With `BLESS`, writes it.
///
/// # Panics
///
/// If it is stale; `call` names the test that writes it.
#[expect(clippy::panic, reason = "it is for tests")]
pub fn assert_fresh(call: &str, file: &str, text: &str) {
    let path = format!("{ROOT}{file}");
    if env::var_os("BLESS").is_some()
        && let Err(error) = fs::write(&path, text)
    {
        panic!("{path} cannot be written: {error}");
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(found == text, "{file} is stale: BLESS=1 cargo test {call}");
}

/// Compares what versions of profiles demand, each with its name, with `spec/frozen.txt`. With `BLESS`, adds new ones.
///
/// # Panics
///
/// If a version demands something else than when it was frozen, or is not frozen yet; `call` names the test that adds it.
#[expect(clippy::panic, reason = "it is for tests")]
pub fn assert_frozen(call: &str, demands: impl IntoIterator<Item = (String, String)>) {
    let path = format!("{ROOT}spec/frozen.txt");
    let known = fs::read_to_string(&path).unwrap_or_default();
    let (mut text, is_blessed) = (known.clone(), env::var_os("BLESS").is_some());
    for (name, demands) in demands {
        let (key, sha256) = (format!("{name} "), hash(demands.as_bytes()));
        match known.lines().find_map(|line| line.strip_prefix(&*key)) {
            Some(frozen) if frozen == sha256 => {}
            Some(_) => {
                panic!("{name} demands something else than when it was frozen: give it its next version")
            }
            None if is_blessed => text.extend([&*key, &*sha256, "\n"]),
            None => panic!("{name} is not frozen yet: BLESS=1 cargo test {call}"),
        }
    }
    if is_blessed && let Err(error) = fs::write(&path, &text) {
        panic!("{path} cannot be written: {error}");
    }
}
