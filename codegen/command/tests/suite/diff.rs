//! Differences between the dialects in the specification.

use std::path::PathBuf;

use codegen::dialect;
use codegen::diff::{Diff, Side, diff, human, json};

fn spec() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../spec")
}

fn side(name: &str) -> Side {
    Side::of_dialect(&dialect::load(&spec(), name).unwrap())
}

fn versions() -> Diff {
    diff(&side("open-responses@2026-01-15"), &side("open-responses@2026-04-24"))
}

#[test]
fn a_dialect_does_not_differ_from_itself() {
    for name in dialect::list(&spec()).unwrap() {
        let found = diff(&side(&name), &side(&name));
        assert!(found.is_empty(), "{}", human(&found));
    }
}

#[test]
fn there_and_back_are_the_same_changes() {
    let names = dialect::list(&spec()).unwrap();
    for a in &names {
        for b in names.iter().filter(|b| *b > a) {
            let (there, back) = (diff(&side(a), &side(b)), diff(&side(b), &side(a)));
            assert_eq!(there.counts.changes, back.counts.changes, "{}\n{}", human(&there), human(&back));
            assert_eq!(there.events.changed, back.events.changed);
        }
    }
}

#[test]
fn open_responses_versions_for_people() {
    insta::assert_snapshot!(human(&versions()));
}

#[test]
fn open_responses_versions_for_programs() {
    insta::assert_snapshot!(json(&versions()));
}

#[test]
fn open_responses_to_openai() {
    insta::assert_snapshot!(human(&diff(&side("open-responses"), &side("openai"))));
}

/// Our own corrections are no change of the document's makers.
#[test]
fn against_a_document_a_dialect_is_as_it_is_published() {
    let errata = dialect::load(&spec(), "openai").unwrap();
    let published = dialect::open(&spec(), "openai", dialect::Errata::LeftOut).unwrap();
    let corrected = diff(&Side::of_published(&published), &Side::of_dialect(&errata));
    assert!(!corrected.is_empty() && corrected.events.added.iter().any(|name| name == "keepalive"));
}
