//! `codegen new`: every skeleton passes every check, but for the places that it leaves to be filled in.

use std::path::Path;
use std::process::Command;

use crate::support::{Copy, own_spec};
use codegen::catalogue::Catalogue;
use codegen::check::check;
use codegen::{SpecFiles, dialect, emit};

/// Runs `codegen new`. Returns its exit code and output.
fn new(spec: &Path, args: &[&str]) -> (i32, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_codegen"))
        .arg("new")
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
        vec!["rule", "text/more", "--api", "responses"],
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
}
