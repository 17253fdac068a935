//! `codegen new`: every skeleton passes every check, but for the places that it leaves to be filled in.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::own_spec;
use codegen::catalogue::Catalogue;
use codegen::{SpecFiles, dialect, emit};
use codegen_command::check::check;

/// Runs `codegen new`, which must succeed, and returns what it prints.
fn new(spec: &Path, args: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_codegen"));
    let output = command.arg("new").args(args).arg("--spec-dir").arg(spec).output().expect("it starts");
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn copy_all(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy_all(&path, &target);
        } else {
            fs::copy(&path, target).unwrap();
        }
    }
}

#[test]
fn skeletons_pass_every_check() {
    let spec = &Path::new(env!("CARGO_TARGET_TMPDIR")).join("skeletons");
    // An earlier run may have left it.
    let _ = fs::remove_dir_all(spec);
    copy_all(&own_spec(), spec);
    let event = |name, dialect, scope, role| {
        vec!["event", name, "--dialect", dialect, "--scope", scope, "--role", role]
    };
    let made = [
        event("response.extra.added", "openai", "item", "open"),
        event("response.extra.delta", "openai", "text", "delta"),
        event("response.extra.done", "wave", "arguments", "final"),
        event("response.extra.searching", "openai", "web_search", "phase"),
        event("response.extra.found", "aitronos", "annotation", "point"),
        event("chat.extra.point", "chat", "choice", "point"),
        event("chat.extra.delta", "groq", "arguments", "delta"),
        vec!["rule", "text/extra"],
        vec!["rule", "text/more", "--api", "responses"],
        vec!["rule", "wire/extra"],
        vec!["dialect", "extra"],
        vec!["dialect", "extra@2", "--extends", "eugpt"],
        vec!["scenario", "text/extra"],
        vec!["client", "text/extra"],
    ];
    for args in made {
        let text = new(spec, &args);
        assert!(text.contains("next:"), "{args:?}: {text}");
    }
    assert_eq!(check(spec).findings, []);
    let shared = SpecFiles::load(spec).expect("the shared files are as their formats say");
    for name in dialect::list(spec).expect("the dialects are there") {
        let dialect = dialect::load(spec, &name).expect("the dialect is as its format says");
        emit::dialect(&dialect, None, shared.api_of(&dialect).unwrap())
            .expect("the dialect can be made into Rust");
        emit::types(&dialect, None, &shared.glossary);
    }
    let (catalogue, errors) = Catalogue::load(spec);
    assert!(errors.is_empty() && catalogue.rules.contains_key("text/extra"));
    emit::format(&emit::catalogue(&catalogue));
}
