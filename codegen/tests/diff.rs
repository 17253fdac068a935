//! Differences between the dialects in the specification.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use codegen::dialect;
use codegen::diff::{Diff, Side, diff, human, json};

fn spec() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../spec")
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

#[test]
fn no_line_is_wider_than_a_terminal() {
    let text = human(&diff(&side("open-responses"), &side("openai")));
    let wide: Vec<&str> = text.lines().filter(|line| line.chars().count() > 80).collect();
    assert!(wide.is_empty(), "{wide:#?}");
}

fn run(arguments: &[&str]) -> Output {
    let program = Path::new(env!("CARGO_BIN_EXE_codegen"));
    Command::new(program).arg("diff").args(arguments).arg("--spec-dir").arg(spec()).output().unwrap()
}

#[test]
fn the_exit_code_says_what_was_asked_for() {
    let versions = ["open-responses@2026-01-15", "open-responses@2026-04-24"];
    let code = |fail_on: &[&str]| run(&[&versions, fail_on].concat()).status.code();
    assert_eq!(code(&[]), Some(0));
    assert_eq!(code(&["--fail-on", "breaking"]), Some(1));
    assert_eq!(code(&["--fail-on", "breaking-for-reader"]), Some(1));
    assert_eq!(code(&["--fail-on", "breaking-for-writer"]), Some(0));
    assert_eq!(code(&["--fail-on", "nothing"]), Some(2));
}

#[test]
fn a_side_may_be_a_folder() {
    let folder = spec().join("dialects/open-responses");
    let output = run(&[folder.to_str().unwrap(), "open-responses@2026-04-24"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8_lossy(&output.stdout).contains("No difference."));
}

/// Our own corrections are no change of the document's makers.
#[test]
fn against_a_document_a_dialect_is_as_it_is_published() {
    let errata = dialect::load(&spec(), "openai").unwrap();
    let published = dialect::open(&spec(), "openai", dialect::Errata::LeftOut).unwrap();
    let corrected = diff(&Side::of_published(&published), &Side::of_dialect(&errata));
    assert!(!corrected.is_empty() && corrected.events.added.iter().any(|name| name == "keepalive"));

    let document = r##"{"openapi":"3.1.0","info":{"title":"d","version":"1"},"paths":{"/responses":{"post":{
        "responses":{"200":{"content":{"text/event-stream":{"schema":{"oneOf":[
        {"$ref":"#/components/schemas/Done"}]}}}}}}}},"components":{"schemas":{"Done":{"type":"object",
        "required":["type"],"properties":{"type":{"type":"string","enum":["done"]},"n":{"type":"integer"}}}}}}"##;
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("diff-published");
    let event = |name: &str| {
        format!(
            r#"{{"$id":"{name}","description":"d","x-lifecycle":{{"scope":"response","role":"point"}},"type":"object",
            "required":["type"],"properties":{{"type":{{"const":"{name}"}},"n":{{"type":"integer"}}}}}}"#
        )
    };
    fs::create_dir_all(folder.join("dialect/events")).unwrap();
    let write = |path: &str, text: &str| fs::write(folder.join(path), text).unwrap();
    write("document.json", document);
    write(
        "dialect/dialect.toml",
        "product = \"p\"\nsource = \"s\"\nsummary = \"t\"\n[terminal]\nevents = []\n",
    );
    write("dialect/events/done.json", &event("done"));
    write("dialect/events/ours.json", &event("ours"));
    write(
        "dialect/errata.toml",
        "[[erratum]]\nreason = \"r\"\nevidence = \"e\"\nnullable = [\"events/done.json#/properties/n\"]\n\
         [[erratum]]\nreason = \"r\"\nevidence = \"e\"\nadds = [\"events/ours.json\"]\n",
    );
    let [document, dialect] =
        ["document.json", "dialect"].map(|name| folder.join(name).display().to_string());
    let compared = |arguments: &[&str]| {
        let output = run(arguments);
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
    };
    for sides in [[&*document, &*dialect], [&*dialect, &*document]] {
        let text = compared(&sides);
        assert!(text.contains("No difference.\nOur own 2 errata are left out"), "{text}");
        let text = compared(&[&sides[..], &["--with-errata"]].concat());
        assert!(text.contains("ours") && text.contains(".n: null") && !text.contains("left out"), "{text}");
    }
}

#[test]
fn a_side_that_is_not_there_is_an_error_that_names_those_that_are() {
    let output = run(&["open-response", "openai"]);
    assert_eq!(output.status.code(), Some(2));
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(error.contains("\"open-response\" is not a dialect, folder or file"), "{error}");
    assert!(error.contains("open-responses@2026-04-24"), "{error}");
}
