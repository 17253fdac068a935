//! Generated documents.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::{env, fs};

use crate::corpus;

/// Returns the right to read and write documents: several tests write parts of one.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Asserts that a generated document, given by its path in the repository, is up to date. With `BLESS`, writes it. `by`
/// is the name of the test.
pub fn is_fresh(path: &str, text: &str, by: &str) {
    let _alone = alone();
    is_same(path, text, by);
}

fn is_same(path: &str, text: &str, by: &str) {
    let full = corpus::repository().join(path);
    if env::var_os("BLESS").is_some() {
        fs::create_dir_all(full.parent().expect("it lies in a folder")).expect("it can be made");
        fs::write(&full, text).expect("it can be written");
    }
    let found = fs::read_to_string(&full).unwrap_or_default();
    assert!(found == text, "{path} is stale: BLESS=1 cargo test -p tests --test suite {by}");
}

/// Asserts the same of the part of a document between two texts.
pub fn is_part_fresh(path: &str, (start, end): (&str, &str), part: &str, by: &str) {
    let _alone = alone();
    let page = fs::read_to_string(corpus::repository().join(path)).expect("it is there");
    let (before, rest) = page.split_once(start).expect("the part begins");
    let (_, behind) = rest.split_once(end).expect("the part ends");
    is_same(path, &format!("{before}{start}{part}{end}{behind}"), by);
}
