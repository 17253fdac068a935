//! What fails a check or a run, and the levels that its reader chose.

use std::fs;
use std::path::{Path, PathBuf};

use conformance::gateway::{Embedded, Settings};
use conformance::{goldens, violation};

use crate::program::{Outcome, command, conformance, expect, folder, outcome, path};

/// A SHOULD that breaks a client of a known version: its authority is recorded streams, so that it cannot be a MUST.
const BREAKS: &str = "call/has-deltas";
/// A SHOULD that breaks no client.
const SHOULD: &str = "wire/no-id-line";
/// A MAY that breaks no client.
const MAY: &str = "wire/no-replacement-character";
const MUST: &str = "part/before-open";

/// Writes the stream that violates a rule.
fn violated(at: &Path, rule: &str) -> PathBuf {
    let rule = catalogue::rule(rule).expect("it is known");
    let file = at.join(format!("{}.sse", rule.id.replace('/', "-")));
    fs::create_dir_all(at).expect("it can be made");
    fs::write(&file, violation::recording(rule).expect("it can be edited")).expect("it can be written");
    file
}

/// Returns the arguments that check a file in the dialect of its golden.
fn checked<'a>(rule: &str, file: &'a Path, command: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    let rule = catalogue::rule(rule).expect("it is known");
    let golden = goldens::golden(rule.violation.golden).expect("it is known");
    [command, &[path(file), "--dialect", golden.dialect], more].concat()
}

fn all(outcome: &Outcome) -> String {
    format!("{}{}", outcome.stdout, outcome.stderr)
}

#[test]
fn checks_fail_on_what_was_asked() {
    let at = folder("fail-on-checks");
    let expected: [(&[&str], [i32; 4]); 6] = [
        (&["--fail-on", "must"], [1, 0, 0, 0]),
        (&[], [1, 1, 0, 0]),
        (&["--fail-on", "breaks"], [1, 1, 0, 0]),
        (&["--fail-on", "should"], [1, 1, 1, 0]),
        (&["--strict"], [1, 1, 1, 0]),
        (&["--fail-on", "may"], [1, 1, 1, 1]),
    ];
    for (flags, codes) in expected {
        for (rule, code) in [MUST, BREAKS, SHOULD, MAY].into_iter().zip(codes) {
            let file = violated(&at, rule);
            for command in [&["check"][..], &["run", "--capture"]] {
                let done = conformance(&checked(rule, &file, command, flags));
                assert_eq!(done.code, Some(code), "{command:?} {flags:?} {rule}\n{}", all(&done));
                let told = all(&done);
                assert_eq!(told.contains("= fails: "), code == 1 && rule != MUST, "{told}");
                assert!(
                    rule != BREAKS || code == 0 || told.contains("= fails: SHOULD, and breaks "),
                    "{told}"
                );
            }
        }
    }
    let file = violated(&at, MUST);
    let both = conformance(&["check", path(&file), "--strict", "--fail-on", "must"]);
    assert!(both.code == Some(2) && both.stderr.contains("cannot be used with"), "{}", both.stderr);
}

#[test]
fn levels_are_what_the_reader_says() {
    let at = folder("fail-on-levels");
    let file = violated(&at, BREAKS);
    let check = |more: &[&str]| conformance(&checked(BREAKS, &file, &["check"], more));
    let off = check(&["--rule", "call/has-deltas=off"]);
    expect(&off, 0, &["levels changed: call/has-deltas off instead of SHOULD"]);
    expect(&check(&["--rule", "call=off"]), 0, &["levels changed: "]);
    // A rule wins over its group.
    expect(&check(&["--rule", "call=off,call/has-deltas=must", "--fail-on", "must"]), 1, &["1 error"]);
    // A note that breaks a client is a note, and fails.
    let note = check(&["--rule", "call/has-deltas=may"]);
    expect(&note, 1, &["1 cause, seen 1 time: 1 note", "note call/has-deltas"]);
    assert!(note.stderr.contains("note[call/has-deltas]"), "{}", note.stderr);
    assert!(note.stderr.contains("= fails: MAY, and breaks "), "{}", note.stderr);
    for (flag, words) in [
        ("call/has-detlas=off", "did you mean call/has-deltas"),
        ("call/has-deltas=of", "did you mean off"),
        ("call/has-deltas", "expected RULE=LEVEL"),
        ("call/has-deltas=off,call/has-deltas=may", "is set twice: off and may"),
    ] {
        let refused = check(&["--rule", flag]);
        assert!(refused.code == Some(2) && refused.stderr.contains(words), "{flag}: {}", refused.stderr);
    }
    let idle = check(&["--rule", "call/has-deltas=should"]);
    expect(&idle, 1, &[]);
    let note = "note: --rule call/has-deltas=should has no effect: its level in openai is SHOULD";
    assert!(idle.stderr.contains(note), "{}", idle.stderr);
    assert!(!all(&idle).contains("levels changed"), "{}", all(&idle));
}

#[test]
fn a_file_has_the_same_settings() {
    let at = folder("fail-on-file");
    let file = violated(&at, BREAKS);
    let run = |config: &str, args: &[&str]| {
        fs::write(at.join("conformance.toml"), config).expect("it can be written");
        outcome(command(&checked(BREAKS, &file, args, &[])).current_dir(&at))
    };
    for args in [&["check"][..], &["run", "--capture"]] {
        expect(&run("", args), 1, &[]);
        expect(&run("[defaults]\nfail-on = 'must'\n", args), 0, &[]);
        expect(&run("[rules]\n'call/has-deltas' = 'off'\n", args), 0, &["levels changed: "]);
    }
    let must = "[defaults]\nfail-on = 'must'\n";
    expect(&run(must, &["check", "--strict"]), 1, &[]);
    expect(&run(must, &["check", "--fail-on", "breaks"]), 1, &[]);
    let rule_off = "[rules]\n'call/has-deltas' = 'off'\n";
    expect(&run(rule_off, &["check", "--rule", "call/has-deltas=must"]), 1, &["1 error"]);
    let both = run("[defaults]\nfail-on = 'must'\nstrict = true\n", &["check"]);
    assert!(both.code == Some(2) && both.stderr.contains("either fail-on or strict"), "{}", both.stderr);
    let unknown = run("[rules]\n'call/has-detlas' = 'off'\n", &["check"]);
    assert!(unknown.code == Some(2) && unknown.stderr.contains("did you mean"), "{}", unknown.stderr);
}

#[test]
fn runs_fail_on_what_was_asked_and_are_verified_by_it() {
    let settings = Settings {
        rules: vec![catalogue::rule(BREAKS).expect("it is known")],
        ..Settings::new(&spec::openai::DIALECT)
    };
    let gateway = Embedded::start(settings).expect("a port is free");
    let url = gateway.url();
    for (fail_on, code) in [("must", 0), ("breaks", 1), ("should", 1), ("may", 1)] {
        let out = folder(&format!("fail-on-{fail_on}"));
        let run = conformance(&[
            "--target",
            &url,
            "call/parallel::",
            "--attempts",
            "1",
            "--transport",
            "sse",
            "--fail-on",
            fail_on,
            "--out",
            path(&out),
        ]);
        expect(&run, code, &[]);
        assert_eq!(all(&run).contains("= fails: SHOULD, and breaks "), code == 1, "{}", all(&run));
        let told = fs::read_to_string(out.join("run.json")).expect("it is written");
        assert!(told.contains(&format!("\"fail_on\": \"{fail_on}\"")), "{told}");
        let trial = "call/has-deltas (SHOULD, and breaks ";
        assert_eq!(told.contains(trial), code == 1, "{told}");
        let page = fs::read_to_string(out.join("certificate.md")).expect("it is written");
        assert!(page.contains(&format!("`--fail-on {fail_on}`")), "{page}");
        let stated = format!("(--fail-on {fail_on})");
        expect(&conformance(&["verify", path(&out)]), 0, &["consistent: ", &stated]);
        // A verifier asks for more than the run did.
        let asked = conformance(&["verify", path(&out), "--fail-on", "breaks"]);
        expect(&asked, 1, &["consistent: ", "with --fail-on breaks, 1 trial of the run fail", trial]);
        expect(&conformance(&["verify", path(&out), "--fail-on", "must"]), 0, &["consistent: "]);
    }
}

#[test]
fn nothing_is_certified_where_a_must_was_lowered() {
    let out = folder("fail-on-certificate");
    let lowered = ["--profile", "core", "--rule", "response/one-terminal=should", "--out", path(&out)];
    let run = conformance(&lowered);
    expect(&run, 0, &["levels changed: response/one-terminal SHOULD instead of MUST"]);
    assert!(run.stderr.contains("certificate: incomplete core"), "{}", run.stderr);
    let page = fs::read_to_string(out.join("certificate.md")).expect("it is written");
    let why = "it lowered the level of what must hold: response/one-terminal SHOULD instead of MUST";
    for words in [
        why,
        "- Levels changed: response/one-terminal SHOULD instead of MUST",
        "--rule response/one-terminal=should",
    ] {
        assert!(page.contains(words), "there is no {words:?} in {page}");
    }
    expect(
        &conformance(&["verify", path(&out)]),
        0,
        &["consistent: ", "levels changed: response/one-terminal"],
    );
    // The usual level is that of the dialect, whatever the run says.
    let file = out.join("run.json");
    let told = fs::read_to_string(&file).expect("it is there");
    fs::write(&file, told.replace("\"usual\": \"must\"", "\"usual\": \"may\"")).expect("it can be written");
    expect(
        &conformance(&["verify", path(&out)]),
        1,
        &["its levels of rules do not match the dialect openai"],
    );
    // Stricter levels keep the certificate.
    let out = folder("fail-on-stricter");
    let run = conformance(&[
        "--profile",
        "core",
        "--rule",
        "wire/terminated=must,text/has-deltas=must",
        "--out",
        path(&out),
    ]);
    assert!(run.stderr.contains("certificate: passed core"), "{}", run.stderr);
}
