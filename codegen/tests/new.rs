//! `codegen new`: every skeleton passes every check, but for the places that it leaves to be filled in.

mod support;

use std::fs;
use std::path::Path;
use std::process::Command;

use codegen::catalogue::Catalogue;
use codegen::check::check;
use codegen::{SpecFiles, dialect, emit};
use support::{Copy, own_spec};

/// Runs `codegen new`. Returns its exit code and output.
fn new(spec: &Path, args: &[&str]) -> (i32, String) {
    codegen(&[&["new"], args].concat(), spec)
}

fn codegen(args: &[&str], spec: &Path) -> (i32, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_codegen"))
        .args(args)
        .arg("--spec-dir")
        .arg(spec)
        .output()
        .expect("the program starts");
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    (output.status.code().unwrap_or(-1), text.into_owned())
}

fn findings(spec: &Path) -> Vec<String> {
    check(spec).findings.iter().map(ToString::to_string).collect()
}

#[test]
fn skeletons_pass_every_check() {
    let copy = Copy::of(&own_spec());
    let event = |name, dialect, scope, role| {
        vec!["event", name, "--dialect", dialect, "--scope", scope, "--role", role]
    };
    let made = [
        event("response.extra.added", "openai", "item", "open"),
        event("response.extra.delta", "openai", "text", "delta"),
        event("response.extra.done", "wave", "arguments", "final"),
        event("response.extra.searching", "openai", "web_search", "phase"),
        event("response.extra.found", "aitronos", "annotation", "point"),
        vec!["rule", "text/extra"],
        vec!["dialect", "extra"],
        vec!["dialect", "extra@2", "--extends", "eugpt"],
        vec!["scenario", "text/extra"],
        vec!["client", "text/extra"],
    ];
    for args in made {
        let (code, text) = new(&copy.0, &args);
        assert_eq!(code, 0, "{args:?}: {text}");
        assert!(text.contains("next:"), "{args:?}: {text}");
    }
    assert_eq!(findings(&copy.0), [""; 0]);
    let shared = SpecFiles::load(&copy.0).expect("the shared files are as their formats say");
    for name in dialect::list(&copy.0).expect("the dialects are there") {
        let dialect = dialect::load(&copy.0, &name).expect("the dialect is as its format says");
        emit::dialect(&dialect, None, shared.api_of(&dialect).unwrap(), Some(&shared.glossary))
            .expect("the dialect can be made into Rust");
    }
    let (catalogue, errors) = Catalogue::load(&copy.0);
    assert!(errors.is_empty() && catalogue.rules.contains_key("text/extra"));
    emit::format(&emit::catalogue(&catalogue));

    // A second event that ends a response has to be listed by hand.
    let (code, text) = new(&copy.0, &event("response.extra.end", "openai", "response", "terminal"));
    assert!(code == 0 && text.contains("list it under [terminal]"), "{text}");
    let found = findings(&copy.0);
    assert!(matches!(found.as_slice(), [one] if one.contains("not listed")), "{found:?}");
}

#[test]
fn what_a_skeleton_leaves_to_be_filled_in_fails_the_check() {
    let skeletons = [
        (
            vec!["event", "acme.tick", "--dialect", "wave", "--scope", "text", "--role", "delta"],
            "dialects/wave/events/acme.tick.json",
            3,
        ),
        (vec!["rule", "text/extra"], "apis/responses/rules/text/extra.md", 9),
        (vec!["scenario", "text/extra"], "apis/responses/scenarios/text/extra.md", 5),
        (vec!["client", "text/extra"], "apis/responses/clients/text/extra.md", 5),
        (vec!["dialect", "extra", "--extends", "openai"], "dialects/extra/dialect.toml", 3),
        (vec!["dialect", "alone"], "dialects/alone/dialect.toml", 5),
    ];
    let copy = Copy::of(&own_spec());
    for (args, ..) in &skeletons {
        let (_, told) = new(&copy.0, args);
        assert!(told.contains("are marked TODO:"), "{told}");
    }
    let (code, told) = codegen(&["check"], &copy.0);
    assert_eq!(code, 1, "{told}");
    for (_, file, places) in &skeletons {
        let text = fs::read_to_string(copy.0.join(file)).unwrap();
        assert_eq!(text.matches("TODO:").count(), *places, "{text}");
        for (number, line) in text.lines().enumerate() {
            let found = told.matches(&format!("--> {file}:{}\n", number + 1)).count();
            assert_eq!(found, line.matches("TODO:").count(), "{file}: {line}\n{told}");
        }
    }
    let all: usize = skeletons.iter().map(|(.., places)| places).sum();
    let told_of = format!("{all} places to fill in (TODO:)");
    assert!(told.contains(&told_of), "{told}");

    let (code, told) = codegen(&["check", "--allow-todo"], &copy.0);
    assert_eq!(code, 0, "{told}");
    assert!(!told.contains("-->") && told.contains(&told_of), "{told}");

    for (_, file, _) in &skeletons {
        let path = copy.0.join(file);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(path, text.replace("TODO: ", "")).unwrap();
    }
    let (code, told) = codegen(&["check"], &copy.0);
    assert_eq!(code, 0, "{told}");
}

#[test]
fn nothing_is_overwritten_and_names_are_judged() {
    let copy = Copy::of(&own_spec());
    let created = ["--dialect", "openai", "--scope", "response", "--role", "open"];
    let event = |name| [&["event", name], created.as_slice()].concat();
    let refused = [
        (vec!["rule", "schema/event-valid"], "already exists"),
        (vec!["rule", "valid"], "<group>/<name>"),
        (vec!["rule", "Schema/Valid"], "<group>/<name>"),
        (vec!["rule", "../out/there"], "<group>/<name>"),
        (vec!["scenario", "text/hello"], "already exists"),
        (vec!["scenario", "text/"], "<group>/<name>"),
        (vec!["dialect", "openai"], "already"),
        (vec!["dialect", "a/b"], "is not a valid dialect name"),
        (vec!["dialect", "x", "--extends", "y"], "no dialect \"y\""),
        (event("response.created"), "already"),
        (event("a/b"), "is not a valid event type"),
        (vec!["event", "x", "--dialect", "y", "--scope", "item", "--role", "open"], "no dialect \"y\""),
        (vec!["event", "x", "--dialect", "wave", "--scope", "y", "--role", "open"], "no scope \"y\""),
        (vec!["event", "x", "--dialect", "wave", "--scope", "text", "--role", "phase"], "no phases"),
        (vec!["event", "x", "--dialect", "wave", "--scope", "text", "--role", "sleep"], "no role \"sleep\""),
        (
            vec!["event", "x", "--dialect", "wave"],
            "--scope is missing, and --role is missing\n  scopes: annotation,",
        ),
    ];
    for (args, message) in refused {
        let (code, text) = new(&copy.0, &args);
        assert!(code == 2 && text.contains(message), "{args:?}: {code} {text}");
    }
    assert_eq!(findings(&copy.0), [""; 0]);
}
