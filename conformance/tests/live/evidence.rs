//! The evidence of a run.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use conformance::certificate::Certificate;
use conformance::results::{ProfileState, State};

use crate::program::{command, conformance, expect, files, folder, hello, path};
use crate::server::{Server, golden, head, text, write};

#[test]
fn a_changed_byte_is_named() {
    let server = Server::new(text);
    let out = folder("changed");
    expect(&hello(&server, &["--out", path(&out)]), 0, &[]);
    let change = |file: &str, from: &str, to: &str| {
        let file = out.join(file);
        let old = fs::read_to_string(&file).expect("it is there");
        assert!(old.contains(from), "{old}");
        fs::write(&file, old.replacen(from, to, 1)).expect("it can be written");
        let verdict = conformance(&["verify", path(&out)]);
        fs::write(&file, old).expect("it can be written");
        verdict
    };
    // Changes of a byte that no rule checks, of one that breaks a rule, and of the description of the run.
    let exchange = "exchanges/text/hello.exchange";
    expect(&change(exchange, "event-stream", "event-stream "), 1, &["hello.exchange: the file was changed"]);
    let broken = change(exchange, "response.completed", "response.complete");
    expect(
        &broken,
        1,
        &[
            "the file was changed",
            "text/hello::wire: the run states pass, but the exchanges show fail (wire/event-line)",
            "report.json: line ",
        ],
    );
    expect(&change("report.json", "\"openai\"", "\"0penai\""), 1, &["report.json: the file was changed"]);
    let forged = change("run.json", "\"verdict\": \"pass\"", "\"verdict\": \"fail\"");
    expect(&forged, 1, &["text/hello::answer: the run states fail, but the exchanges show pass"]);
    let outside = change("run.json", &format!("\"{exchange}\""), "\"../../../Cargo.toml\"");
    expect(&outside, 2, &["../../../Cargo.toml: it is not in the folder"]);
    fs::remove_file(out.join(exchange)).expect("it is there");
    expect(&conformance(&["verify", path(&out)]), 2, &["cannot be read: exchanges/text/hello.exchange"]);
}

#[test]
fn a_finished_run_is_told_again_and_compared() {
    let (good, cut) = (
        Server::new(text),
        Server::new(|_, stream| {
            head(stream, "200 OK", "text/event-stream", "content-length: 100000\r\n");
            write(stream, golden("openai/text").split_inclusive("\n\n").next().expect("there is one"));
        }),
    );
    let (before, after) = (folder("before"), folder("after"));
    let run = hello(&good, &["--out", path(&before)]);
    expect(&run, 0, &["passed: 11 passed"]);
    let run = hello(&cut, &["--out", path(&after)]);
    expect(&run, 1, &["failed: ", "response/one-terminal", "conformance explain response/one-terminal"]);
    for out in [&before, &after] {
        expect(&conformance(&["verify", path(out)]), 0, &[]);
    }
    for (format, words) in [
        ("human", "failed: "),
        ("json", "\"first_lost\": {"),
        ("junit", "<failure message=\"response/one-terminal"),
        ("sarif", "\"ruleId\": \"response/one-terminal\""),
        ("github", "::error title=response/one-terminal::"),
        ("markdown", "# Conformance: failed"),
        ("badge", "\"color\":\"red\""),
    ] {
        expect(&conformance(&["report", path(&after), "--format", format]), 0, &[words]);
    }
    let file = after.join("report.xml");
    expect(&conformance(&["report", path(&after), "--format", "junit", "--output", path(&file)]), 0, &[]);
    assert!(fs::read_to_string(&file).is_ok_and(|text| text.starts_with("<?xml")));
    expect(&conformance(&["diff", path(&before), path(&before)]), 0, &["nothing is better or worse"]);
    let worse = ["worse: ", "text/hello::answer pass -> fail"];
    expect(&conformance(&["diff", path(&before), path(&after)]), 1, &worse);
    expect(&conformance(&["diff", path(&after), path(&before)]), 0, &["better: "]);
    let json = conformance(&["diff", path(&before), path(&after), "--format", "json"]);
    expect(&json, 1, &["\"worse_trials\": ["]);
    for wrong in [path(&folder("nowhere")), "Cargo.toml"] {
        let run = conformance(&["diff", path(&before), wrong]);
        assert!(run.code == Some(2) && run.stderr.contains(wrong), "{}", run.stderr);
    }
    fs::write(&file, "{\"version\": 1}").expect("it can be written");
    let old = conformance(&["report", path(&file)]);
    assert!(
        old.code == Some(2) && old.stderr.contains("has version 1, but this build reads 2"),
        "{}",
        old.stderr
    );
}

#[test]
fn places_are_paths_from_the_working_directory() {
    let server = Server::new(|_, stream| {
        head(stream, "200 OK", "text/event-stream", "connection: close\r\n");
        write(stream, golden("openai/text").replace("\"logprobs\":[]", "\"logprobs\":0"));
    });
    let (out, moved) = (folder("places"), folder("places-moved"));
    let (parent, name) = (out.parent().expect("it is in one"), "exchanges/text/hello.exchange");
    let run = hello(&server, &["--out", path(&out)]);
    expect(&run, 1, &[&format!("--> {}", path(&out.join(name))), &format!(" {}:", path(&out.join(name)))]);
    let all_below = |text: &str, folder: &str| {
        let places = text.matches(name).count();
        assert!(places > 0 && text.matches(&format!("{folder}/{name}")).count() == places, "{text}");
    };
    all_below(&run.stdout, path(&out));
    let report = |dir: &str, format: &str, at: &Path| {
        let run = command(&["report", dir, "--format", format]).current_dir(at).output().expect("it runs");
        assert_eq!(run.status.code(), Some(0));
        String::from_utf8([run.stdout, run.stderr].concat()).expect("it is UTF-8")
    };
    for format in ["human", "github", "sarif", "junit", "markdown", "html"] {
        for (dir, told) in
            [(path(&out), path(&out)), ("./places/", "places"), ("places/report.json", "places")]
        {
            all_below(&report(dir, format, parent), told);
        }
        let within = report(".", format, &out);
        assert!(within.contains(name) && !within.contains(&format!("/{name}")), "{format}: {within}");
    }
    // Evidence can be moved, and code scanning still recognizes its findings.
    let json = report("places", "json", parent);
    assert!(json.contains(&format!("\"{name}\"")) && !json.contains("places"), "{json}");
    let before = report("places", "sarif", parent);
    fs::rename(&out, &moved).expect("it can be moved");
    let after = report("places-moved", "sarif", parent);
    let fingerprints = |text: &str| -> Vec<String> {
        text.lines().filter(|line| line.contains("conformance/v1")).map(str::to_owned).collect()
    };
    assert!(before != after && !fingerprints(&before).is_empty());
    assert_eq!(fingerprints(&before), fingerprints(&after));
}

/// A gateway that is down is not as good as before.
#[test]
fn an_incomplete_run_is_no_proof() {
    let server = Server::new(text);
    let (before, after) = (folder("up"), folder("down"));
    expect(&hello(&server, &["--out", path(&before)]), 0, &[]);
    let down = conformance(&["--target", "http://127.0.0.1:1", "text/hello::", "--out", path(&after)]);
    expect(&down, 2, &["incomplete: "]);
    expect(&conformance(&["diff", path(&before), path(&after)]), 2, &["no longer exercised: "]);
}

#[test]
fn secrets_are_in_no_file() {
    const MARKS: [&str; 4] = ["sk-MARK-11111111", "MARK-22222222", "MARK-33333333", "MARK-44444444"];
    // The server echoes the request in headers and in the body, split anywhere.
    let server = Server::new(|request, stream| {
        let told = request.headers.replace("\r\n", " ");
        let more = format!(
            "set-cookie: s=MARK-44444444\r\nx-request-id: {0}-MARK-55555555\r\nlocation: http://h.test/?k={0}\r\n",
            MARKS[0]
        );
        head(stream, "200 OK", "text/event-stream", &more);
        for piece in format!(": {told}\n\n{}", golden("openai/text")).as_bytes().chunks(7) {
            write(stream, piece);
            thread::sleep(Duration::from_micros(200));
        }
    });
    let out = folder("secrets");
    let target = server.url.replace("http://", "http://user:MARK-33333333@") + "?api_key=MARK-55555555";
    let args = ["--target", &target, "--api-key", MARKS[0], "--header", "X-Key: MARK-22222222"];
    let more = ["--header", "Cookie: a=MARK-22222222; b=MARK-33333333", "text/hello", "--out", path(&out)];
    let run = conformance(&[args.as_slice(), &more].concat());
    let told = server.requests()[0].headers.clone();
    assert!(MARKS[..3].iter().all(|mark| told.contains(mark)), "{told}");
    for mark in ["11111111", "22222222", "33333333", "44444444", "55555555"] {
        assert!(!run.stdout.contains(mark) && !run.stderr.contains(mark), "{}\n{}", run.stdout, run.stderr);
        for file in files(&out) {
            let text = fs::read_to_string(&file).expect("it is UTF-8");
            assert!(!text.contains(mark), "{} has {mark}: {text}", file.display());
        }
    }
    assert!(files(&out).len() >= 4);
    expect(&conformance(&["verify", path(&out)]), 0, &[]);
}

#[test]
fn secrets_are_hidden_however_they_are_written() {
    const KEY: &str = "sk/MARK+\"1111=";
    let written = ["sk\\/MARK+\\u00221111\\u003D", "sk/MARK+\\\"1111=", "sk%2FMARK%2b%221111%3d"];
    let server = Server::new(move |request, stream| {
        assert!(request.headers.contains("Bearer sk/MARK") && request.path.contains("MARK"), "{request:?}");
        let more = format!("x-request-id: {}\r\n", written[2]);
        head(stream, "200 OK", "text/event-stream", &more);
        let told =
            format!(": {KEY} {} bWU6TUFSSy0yMjIyMjIyMg==\n\n{}", written.join(" "), golden("openai/text"));
        for piece in told.as_bytes().chunks(7) {
            write(stream, piece);
            thread::sleep(Duration::from_micros(200));
        }
    });
    let out = folder("written-secrets");
    let target = server.url.replace("http://", "http://me:MARK-22222222@") + "/sk%2FMARK+%221111=/v1";
    let run = conformance(&["--target", &target, "--api-key", KEY, "text/hello::", "--out", path(&out)]);
    expect(&run, 0, &[" 0 failed"]);
    for text in files(&out).iter().map(|file| fs::read_to_string(file).expect("it is UTF-8")) {
        assert!(["MARK", "1111", "TUFSSy0yMjIy"].iter().all(|mark| !text.contains(mark)), "{text}");
    }
    assert!(!run.stdout.contains("1111") && !run.stderr.contains("1111"), "{}\n{}", run.stdout, run.stderr);
}

#[test]
fn one_exchange_is_recorded() {
    let server = Server::new(text);
    let run = conformance(&["record", "--target", &server.url, "--scenario", "text/hello", "--model", "m-2"]);
    expect(&run, 0, &["{\"exchange\":1,", "response.completed", "\"end\":\"closed\""]);
    let folder = folder("record");
    fs::create_dir_all(&folder).expect("it can be made");
    let (body, out) = (folder.join("body.json"), folder.join("one.exchange"));
    fs::write(&body, r#"{"model":"mine","input":"x"}"#).expect("it can be written");
    let args = ["record", "--target", &server.url, "--body", path(&body), "--out", path(&out)];
    expect(&conformance(&args), 0, &[]);
    assert_eq!(server.requests()[1].body, r#"{"model":"mine","input":"x"}"#);
    expect(&conformance(&["check", path(&out)]), 0, &["passed: 1 file"]);
    let nobody = conformance(&["record", "--target", "http://127.0.0.1:1", "--scenario", "text/hello"]);
    expect(&nobody, 2, &["\"reason\":\"no connection"]);
    let unknown = conformance(&["record", "--target", &server.url, "--scenario", "text/hallo"]);
    assert!(
        unknown.code == Some(2) && unknown.stderr.contains("did you mean text/hello"),
        "{}",
        unknown.stderr
    );
}

#[test]
#[cfg(unix)]
fn an_interrupted_run_keeps_its_evidence() {
    let server = Server::new(|request, stream| {
        if request.number == 2 {
            head(stream, "200 OK", "text/event-stream", "");
            thread::sleep(Duration::from_secs(20));
        }
        text(request, stream);
    });
    let out = folder("interrupted");
    let args = ["--target", &server.url, "text/", "--attempts", "1", "--out", path(&out)];
    let child = command(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let start = Instant::now();
    while server.requests().len() < 3 && start.elapsed() < Duration::from_secs(10) {
        thread::sleep(Duration::from_millis(20));
    }
    thread::sleep(Duration::from_millis(100));
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().is_ok_and(|status| status.success()));
    let output = child.wait_with_output().expect("it ends");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("interrupted after 3 of "), "{stderr}");
    assert!(start.elapsed() < Duration::from_secs(15));
    let run = fs::read_to_string(out.join("run.json")).expect("it is written");
    assert!(run.contains("\"state\": \"interrupted\""), "{run}");
    expect(&conformance(&["verify", path(&out)]), 0, &["consistent: these 3 exchanges"]);
    let certificate = fs::read_to_string(out.join("certificate.json")).expect("it is written");
    let certificate: Certificate = serde_json::from_str(&certificate).expect("it is as its type says");
    assert_eq!(certificate.state, State::Interrupted);
    for profile in &certificate.profiles {
        assert_eq!(profile.state, ProfileState::Incomplete, "{}", profile.name);
        let mut reasons = profile.reasons.iter();
        assert!(reasons.any(|reason| reason.reason == "the run did not finish"), "{}", profile.name);
    }
}
