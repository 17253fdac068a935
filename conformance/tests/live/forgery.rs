//! Results of `verify` for forged runs.

use std::fs;
use std::path::Path;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use conformance::certificate::{Certificate, Judge, Sent};
use conformance::evidence::Evidence;
use conformance::harness::hash;
use conformance::judge::{Attempt, verdict};
use conformance::plan::{Offer, ScenarioCase, Seed, cases};
use conformance::results::LevelChange;
use conformance::suite;
use rcgen::{KeyPair, PKCS_ED25519};

use crate::program::{Outcome, conformance, expect, folder, path};

const HELLO: &str = "exchanges/text/hello.exchange";

/// Regenerates everything that is derived from the exchanges and the description of a run: verdicts, hashes, chain,
/// report, certificate.
fn remake(folder: &Path) {
    let evidence = Evidence::open(folder);
    let mut run = evidence.run().expect("it can be read");
    let dialect = conformance::dialect(&run.dialect).expect("it is known");
    let rules = suite::rules(dialect, &LevelChange::by_rule(&run.options.levels), &[], &[], &[]);
    let mut cases = cases(dialect, &rules, &Offer::All, &run.options.transports);
    let seed = Seed::new(&*run.seed, dialect, &Offer::All);
    for case in &mut cases {
        case.expect(&seed);
    }
    let mut attempts: Vec<(&ScenarioCase, Attempt)> = Vec::new();
    for kept in &mut run.exchanges {
        let bytes = evidence.read(&kept.file).expect("it can be read");
        kept.sha256 = hash(&bytes);
        if let Some(case) = cases.iter().find(|case| case.name == kept.case) {
            let attempt = Attempt::read(&kept.file, &bytes, &rules, case.is_part());
            attempts.extend(attempt.ok().map(|attempt| (case, attempt)));
        }
    }
    let of = |case: &ScenarioCase| -> Vec<Attempt> {
        let own = attempts.iter().filter(|(other, _)| other.name == case.name);
        own.map(|(_, attempt)| attempt.clone()).collect()
    };
    for case in &cases {
        let other = case.compared.and_then(|at| of(&cases[at]).last().cloned());
        for about in case.trials.iter().filter(|_| !of(case).is_empty()) {
            let name = case.trial(*about);
            if let Some(told) = run.trials.iter_mut().find(|told| told.name == name) {
                told.judged = verdict(case, *about, &of(case), other.as_ref(), run.options.fail_on(), &rules);
            }
        }
    }
    let sent: Vec<Sent<'_>> = attempts.iter().map(|(case, attempt)| Sent { case, attempt }).collect();
    run.chain = run.chained().unwrap_or_default();
    let (report, profiles) = Judge { run: &run, rules: &rules, cases: &cases, sent: &sent }.report();
    run.report =
        Some(evidence.write_report(&conformance::reports::json(&report)).expect("it can be written"));
    evidence.write_run(&run).expect("it can be written");
    Certificate::new(&run, profiles).write(&evidence).expect("it can be written");
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("it can be made");
    for entry in fs::read_dir(from).expect("it is there") {
        let entry = entry.expect("it can be read");
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() {
            copy(&from, &to);
        } else {
            {
                fs::copy(from, to).expect("it can be copied");
            }
        }
    }
}

fn edit(folder: &Path, file: &str, from: &str, to: &str) {
    let text = fs::read_to_string(folder.join(file)).expect("it is there");
    assert!(text.contains(from), "{file} has no {from}: {text}");
    fs::write(folder.join(file), text.replacen(from, to, 1)).expect("it can be written");
}

fn edit_all(folder: &Path, from: &str, to: &str) {
    for file in crate::program::files(folder) {
        let text = fs::read_to_string(&file).expect("it is UTF-8");
        fs::write(&file, text.replace(from, to)).expect("it can be written");
    }
}

/// Removes the entries of a file from run.json.
fn unlist(folder: &Path, list: &str, is_it: impl Fn(&serde_json::Value) -> bool) {
    let text = fs::read_to_string(folder.join("run.json")).expect("it is there");
    let mut run: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
    let entries = run[list].as_array_mut().expect("it is a list");
    let before = entries.len();
    entries.retain(|entry| !is_it(entry));
    assert!(entries.len() < before, "nothing was taken out of {list}");
    let mut place = 0;
    for entry in run["exchanges"].as_array_mut().expect("it is a list") {
        place += 1;
        entry["place"] = place.into();
    }
    fs::write(folder.join("run.json"), format!("{run:#}\n")).expect("it can be written");
}

fn is_hello(entry: &serde_json::Value) -> bool {
    entry["file"] == HELLO
}

type Edit = fn(&Path);

/// Edits after which all derived files were regenerated, with the expected results of `verify`.
const REMADE: &[(&str, Edit, &str)] = &[
    (
        "another target",
        |at| edit(at, "run.json", "\"target\": \"http://127.0.0.1", "\"target\": \"http://vendor.example"),
        "the address differs from the scenario",
    ),
    (
        "another target in the requests, too, but for its path",
        |at| {
            edit_all(at, "http://127.0.0.1", "http://vendor.example");
            edit(at, HELLO, "/v1/responses", "/v2/responses");
        },
        "the address differs from the scenario",
    ),
    (
        "an easier question",
        |at| edit(at, HELLO, "hello to the world in three words", "anything"),
        "the body of the request differs from the scenario",
    ),
    (
        "a question with one more member",
        |at| edit(at, HELLO, "\\\"stream\\\":true", "\\\"stream\\\":true,\\\"temperature\\\":0"),
        "the body of the request differs from the scenario",
    ),
    (
        "an easier question on a WebSocket",
        |at| edit(at, "exchanges/text/hello.ws.exchange", "hello to the world in three words", "anything"),
        "a message differs from the scenario",
    ),
    (
        "another seed",
        |at| edit(at, "run.json", "\"seed\": \"one\"", "\"seed\": \"two\""),
        "the body of the request differs from the scenario",
    ),
    (
        "another model",
        |at| edit(at, "run.json", "\"model\": \"default\"", "\"model\": \"vendor\""),
        "the body of the request differs from the scenario",
    ),
    (
        "another method",
        |at| edit(at, HELLO, "\"method\":\"POST\"", "\"method\":\"PUT\""),
        "the method differs from the scenario",
    ),
    (
        "a header more",
        |at| edit(at, HELLO, "[[\"content-type\"", "[[\"x-cache\",\"[redacted]\"],[\"content-type\""),
        "the request has a header x-cache, which the run did not send",
    ),
    (
        "another client",
        |at| edit(at, HELLO, "\"conformance/", "\"curl/"),
        "the header user-agent differs from the scenario",
    ),
    (
        "another format asked for",
        |at| edit(at, HELLO, "[\"accept\",\"text/event-stream\"]", "[\"accept\",\"application/json\"]"),
        "the header accept differs from the scenario",
    ),
    (
        "another version of the suite",
        |at| edit(at, "run.json", "\"suite\": \"", "\"suite\": \"9"),
        "of the suite, but this is",
    ),
    (
        "an exchange that is listed no more",
        |at| unlist(at, "exchanges", is_hello),
        "exchanges/text/hello.exchange: it is not listed in run.json",
    ),
    (
        "an exchange that is there no more",
        |at| {
            unlist(at, "exchanges", is_hello);
            fs::remove_file(at.join(HELLO)).unwrap();
        },
        "text/hello::answer: the run states pass, but no request was sent",
    ),
    (
        "a first attempt that is there no more",
        |at| {
            edit(at, "run.json", HELLO, "exchanges/text/hello.2.exchange");
            fs::rename(at.join(HELLO), at.join("exchanges/text/hello.2.exchange")).unwrap();
        },
        "its name is not that of attempt",
    ),
    (
        "a trial that is there no more",
        |at| unlist(at, "trials", |told| told["name"] == "text/hello::answer"),
        "run.json: its trials do not match its options",
    ),
    ("times that run backwards", |at| edit(at, HELLO, "{\"at\":", "{\"at\":99999"), "its time is "),
    (
        "a member in an exchange that nobody knows",
        |at| edit(at, HELLO, "{\"at\":", "{\"note\":1,\"at\":"),
        "unknown field `note`",
    ),
    (
        "an exchange without its end",
        |at| {
            let text = fs::read_to_string(at.join(HELLO)).unwrap();
            let end = text.trim_end().rfind('\n').unwrap();
            fs::write(at.join(HELLO), &text[..=end]).unwrap();
        },
        "hello.exchange: it has no end",
    ),
    (
        "two exchanges in a file",
        |at| {
            let text = fs::read_to_string(at.join(HELLO)).unwrap();
            fs::write(at.join(HELLO), format!("{text}{text}")).unwrap();
        },
        "a file has exactly one exchange",
    ),
];

/// Edits that cannot be detected from the files, which is why `verify` reports that it proves no origin.
const NOT_TOLD: &[(&str, Edit)] = &[
    ("a dialect with the same requests, and its verdicts", |at| {
        edit(at, "run.json", "\"dialect\": \"openai\"", "\"dialect\": \"open-responses\"");
    }),
    ("another name for the target, everywhere", |at| {
        edit_all(at, "http://127.0.0.1", "http://vendor.example");
    }),
    ("a header of an answer", |at| {
        edit(at, HELLO, "\"text/event-stream\"],[\"", "\"text/event-stream\"],[\"via\",\"1.1 a\"],[\"");
    }),
];

fn made(name: &str) -> std::path::PathBuf {
    let out = folder(name);
    expect(&conformance(&["text/hello", "--seed", "one", "--out", path(&out)]), 0, &[]);
    expect(&verify(&out), 0, &["consistent: these ", "not proven: that they came from the named endpoint"]);
    out
}

fn verify(folder: &Path) -> Outcome {
    conformance(&["verify", path(folder)])
}

#[test]
fn forgeries_are_told() {
    let out = made("forged");
    let forged = folder("forgery");
    for (name, edit, words) in REMADE {
        let _ = fs::remove_dir_all(&forged);
        copy(&out, &forged);
        edit(&forged);
        remake(&forged);
        let verified = verify(&forged);
        assert!(matches!(verified.code, Some(1 | 2)), "{name}: {}", verified.stdout);
        let told = verified.stdout + &verified.stderr;
        assert!(told.contains(words), "{name}: there is no {words:?} in\n{told}");
    }
}

#[test]
fn what_the_files_cannot_tell_is_consistent() {
    let out = made("not-told");
    for (name, edit) in NOT_TOLD {
        let forged = folder("untold");
        copy(&out, &forged);
        edit(&forged);
        remake(&forged);
        let verified = verify(&forged);
        assert_eq!(verified.code, Some(0), "{name}: {}", verified.stdout);
    }
}

/// Another build of the same version may reach the same verdicts.
#[test]
fn other_builds_are_named() {
    let out = made("built");
    let build = conformance::evidence::BUILD;
    assert!(build.len() == 16 && build.chars().all(|digit| digit.is_ascii_hexdigit()), "{build}");
    assert!(!verify(&out).stdout.contains("note: "));
    edit(&out, "run.json", build, "0123456789abcdef");
    remake(&out);
    let note = format!("note: the run was made by build 0123456789abcdef of the suite, but this is {build}");
    expect(&verify(&out), 0, &["consistent: ", &note]);
    edit(&out, "report.json", "\"openai\"", "\"0penai\"");
    expect(&verify(&out), 1, &["report.json: the file was changed", &note]);
}

#[test]
fn signatures_are_of_a_key_and_of_all_files() {
    let out = made("signed");
    let [own, other] = [(); 2].map(|()| KeyPair::generate_for(&PKCS_ED25519).expect("it can be made"));
    let file = |name: &str, text: String| {
        let file = out.with_extension(name);
        fs::write(&file, text).expect("it can be written");
        file
    };
    let private = file("key", own.serialize_pem());
    let (public, others) = (file("pub", own.public_key_pem()), file("other", other.public_key_pem()));
    let check = |key: &Path| conformance(&["verify", path(&out), "--key", path(key)]);
    expect(&check(&public), 1, &["is not signed: it has no certificate.sigstore.json"]);
    expect(&conformance(&["sign", path(&out), "--key", path(&private)]), 0, &["signed: "]);
    expect(&check(&public), 0, &["consistent: ", &format!("signed by the key {} (SHA-256 ", path(&public))]);
    let stated = conformance(&["sign", path(&out), "--statement"]);
    let statement: serde_json::Value = serde_json::from_str(&stated.stdout).expect("it is JSON");
    let bundle = fs::read(out.join("certificate.sigstore.json")).expect("it is there");
    let bundle: serde_json::Value = serde_json::from_slice(&bundle).expect("it is JSON");
    let payload = bundle["dsseEnvelope"]["payload"].as_str().expect("it is a text");
    let signed = BASE64_STANDARD.decode(payload).expect("it is base64");
    assert_eq!(statement, serde_json::from_slice::<serde_json::Value>(&signed).expect("it is JSON"));
    assert_eq!(statement["subject"][0]["name"], "certificate.json");
    expect(&verify(&out), 0, &["consistent: "]);
    expect(&check(&others), 1, &["the signature does not match this key and statement"]);
    let wrong = check(&private);
    assert!(wrong.code == Some(2) && wrong.stderr.contains("not a public key"), "{}", wrong.stderr);
    // Edits that cannot be detected from the files are detected by the signature.
    edit_all(&out, "http://127.0.0.1", "http://vendor.example");
    remake(&out);
    expect(&verify(&out), 0, &["consistent: "]);
    expect(&check(&public), 1, &["certificate.sigstore.json: the signed files differ"]);
    let bundle = fs::read_to_string(out.join("certificate.sigstore.json")).expect("it is there");
    edit(&out, "certificate.sigstore.json", "\"sig\": \"", "\"sig\": \"AAAA");
    expect(&check(&public), 1, &["the signature does not match this key"]);
    fs::write(out.join("certificate.sigstore.json"), bundle).expect("it can be written");
    let between = out.with_extension("between");
    let pair =
        ["between", "--self", "--front", "chat", "--upstream", "chat", "--out", path(&between), "--replace"];
    expect(&conformance(&pair), 0, &["passed: "]);
    let check = |key: &Path| conformance(&["verify", path(&between), "--key", path(key)]);
    expect(&check(&public), 1, &["is not signed: it has no certificate.sigstore.json"]);
    expect(&conformance(&["sign", path(&between), "--key", path(&private)]), 0, &["signed: "]);
    expect(&check(&public), 0, &["consistent: ", "certificate: between-chat-chat", "signed by the key "]);
    expect(&check(&others), 1, &["the signature does not match this key and statement"]);
    edit(&between, "certificate.json", "\"retries\": 0", "\"retries\": 1");
    expect(&check(&public), 1, &["it is not the certificate of this run", "the signed files differ"]);
    let refused = conformance(&["sign", path(&between), "--key", path(&private)]);
    assert!(refused.code == Some(2) && refused.stderr.contains("is not signed"), "{}", refused.stderr);
}

/// A recording has one spelling, so that it is not changed by making all hashes anew.
#[test]
fn recordings_are_spelled_as_the_suite_spells_them() {
    let out = made("spelled");
    let file = out.join(HELLO);
    let text = fs::read_to_string(&file).expect("it is there");
    fs::write(&file, text.replace('\n', "\r\n")).expect("it can be written");
    remake(&out);
    expect(&verify(&out), 1, &["hello.exchange: line 1 differs from what the suite writes"]);
}
