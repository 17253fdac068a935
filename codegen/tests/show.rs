//! `codegen show`: the Rust of one event or type.

use std::process::Command;

/// Runs `codegen show` in the root of the workspace. Returns its exit code, stdout and stderr.
fn show(args: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_codegen"))
        .arg("show")
        .args(args)
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
        .output()
        .expect("the program starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
}

#[test]
fn an_event_is_shown_with_its_validator() {
    let (code, types, _) = show(&["response.output_text.delta"]);
    assert_eq!(code, 0);
    assert!(types.contains("pub struct OutputTextDelta<'a>"), "{types}");
    assert!(types.contains("pub fn new("), "{types}");
    assert!(!types.contains("EVENT_"), "no validator was asked for: {types}");
    let (code, both, _) = show(&["response.output_text.delta", "--validator"]);
    assert_eq!(code, 0);
    assert!(both.starts_with(&types), "{both}");
    assert!(both.contains("EVENT_RESPONSE_OUTPUT_TEXT_DELTA"), "{both}");
    assert!(!both.contains("static TYPE_"), "types are shown by their own names: {both}");
}

#[test]
fn a_type_is_shown_in_its_dialect() {
    let (code, text, _) = show(&["ResponseUsage", "--validator"]);
    assert_eq!(code, 0);
    assert!(text.contains("pub struct ResponseUsage"), "{text}");
    assert!(text.contains("static TYPE_RESPONSE_USAGE"), "{text}");
    let (code, text, _) = show(&["ResponseResource", "--dialect", "open-responses"]);
    assert_eq!(code, 0);
    assert!(text.contains("pub struct Response<'a>"), "{text}");
}

#[test]
fn mistaken_names_get_a_hint() {
    let (code, _, error) = show(&["response.craeted"]);
    assert_eq!(code, 2);
    assert!(error.contains("did you mean response.created"), "{error}");
    let (code, _, error) = show(&["error", "--dialect", "opneai"]);
    assert_eq!(code, 2);
    assert!(error.contains("there are:") && error.contains("openai"), "{error}");
}
