//! Expected failures.

use std::fs;

use crate::program::{Outcome, conformance, expect, folder, path};
use crate::server::{Server, answer, golden};

/// Returns an endpoint that gives one of its events a wrong name, and only supports streams.
fn broken() -> Server {
    let stream = golden("openai/text").replace("event: response.output_item.added", "event: added");
    Server::new(move |request, to| {
        if request.wants_stream() {
            answer(to, "200 OK", "text/event-stream", &stream);
        } else {
            answer(to, "501 Not Implemented", "application/json", "{}");
        }
    })
}

fn text_with(server: &Server, list: &str, more: &[&str]) -> Outcome {
    let port = server.url.rsplit(':').next().expect("it has one");
    let file = folder(&format!("baseline-{port}")).with_extension("toml");
    fs::create_dir_all(file.parent().expect("it has one")).expect("it can be made");
    fs::write(&file, list).expect("it can be written");
    let args = ["--target", &server.url, "text/hello", "--attempts", "1"];
    conformance(&[args.as_slice(), &["--expected-failures", path(&file)], more].concat())
}

fn entry(rule: &str, scenario: &str, reason: &str) -> String {
    format!("[[failure]]\nrule = \"{rule}\"\nscenarios = [\"{scenario}\"]\nreason = \"{reason}\"\n")
}

#[test]
fn what_is_known_is_told_and_does_not_fail_the_run() {
    let server = broken();
    let out = folder("baseline-run");
    let known = entry("wire/event-line", "text/hello", "mended in 1.2")
        + &entry("answer", "text/hello.json", "there are streams only")
        + &entry("wire/json-content-type", "text/hello.json", "not seen when there is no answer");
    let run = text_with(&server, &known, &["--out", path(&out)]);
    expect(
        &run,
        0,
        &[
            "text/hello::wire        ... ignored (expected: wire/event-line: mended in 1.2)",
            "text/hello.json::answer ... ignored (expected: answer: there are streams only)",
        ],
    );
    // The results of the endpoint are the same.
    let told = fs::read_to_string(out.join("run.json")).expect("it is written");
    assert!(told.contains("\"verdict\": \"fail\""), "{told}");
    assert!(run.stderr.contains("incomplete") || run.stderr.contains("failed core"), "{}", run.stderr);
    expect(&conformance(&["verify", path(&out)]), 0, &["consistent: "]);
}

#[test]
fn what_is_not_known_fails() {
    let server = broken();
    let known =
        entry("wire/event-line", "text/hello", "known") + &entry("wire/terminated", "text/hello", "over");
    let run = text_with(&server, &known, &[]);
    expect(&run, 1, &["text/hello.json::answer ... FAILED", "ignored (expected: wire/event-line: known)"]);
    let stale = "wire/terminated in text/hello: it no longer fails";
    expect(&run, 1, &["unexpectedly passing: remove from the list of expected failures", stale]);
}

#[test]
fn what_is_over_fails_the_run_and_is_told_in_every_report() {
    let server = Server::new(crate::server::text);
    let (out, over) = (folder("baseline-over"), entry("wire/terminated", "text/hello", "over"));
    let run = text_with(&server, &over, &["--skip", "hello.json", "--out", path(&out)]);
    let stale = "wire/terminated in text/hello: it no longer fails";
    expect(&run, 1, &[" 0 failed", "\nfailed: ", stale]);
    expect(&conformance(&["verify", path(&out)]), 0, &["consistent: "]);
    let report = fs::read_to_string(out.join("report.json")).expect("it is written");
    assert!(report.contains("\"outcome\": \"failed\"") && report.contains(stale), "{report}");
    for format in ["human", "markdown", "github", "html", "junit", "json"] {
        expect(&conformance(&["report", path(&out), "--format", format]), 0, &[stale]);
    }
}

#[test]
fn a_list_is_read_with_care() {
    let server = Server::new(|_, _| ());
    let good = entry("wire/event-line", "text/hello", "known");
    for (list, told) in [
        (entry("wire/event-lin", "text/hello", "x"), "did you mean wire/event-line"),
        (entry("wire/event-line", "text/hallo", "x"), "did you mean text/hello"),
        (entry("wire/event-line", "text/hello", " "), "wire/event-line: `reason` is empty"),
        (good.replace("\"text/hello\"", ""), "`scenarios` is empty"),
        (good.clone() + &good, "wire/event-line in text/hello is listed twice"),
        (good.replace("reason", "raison"), "unknown field `raison`"),
        ("[[".to_owned(), ".toml"),
    ] {
        let run = text_with(&server, &list, &[]);
        assert!(run.code == Some(2) && run.stderr.contains(told), "{list}\n{}", run.stderr);
    }
    assert_eq!(server.connections(), 0);
    let several = conformance(&["--dialect", "all", "--write-expected-failures", "x.toml"]);
    assert!(
        several.code == Some(2) && several.stderr.contains("expected failures belong to one dialect"),
        "{}",
        several.stderr
    );
    let recorded = conformance(&["--capture", ".", "--expected-failures", "x.toml"]);
    let told = "'--capture <PATH>...' cannot be used with '--expected-failures <FILE>'";
    assert!(recorded.code == Some(2) && recorded.stderr.contains(told), "{}", recorded.stderr);
}

#[test]
fn a_list_is_written_from_what_fails() {
    let server = broken();
    let file = folder("baseline-written").with_extension("toml");
    let _ = fs::remove_file(&file);
    fs::create_dir_all(file.parent().expect("it has one")).expect("it can be made");
    let run = |more: &[&str]| {
        let args = ["--target", &server.url, "text/hello", "--attempts", "1"];
        conformance(&[args.as_slice(), more].concat())
    };
    // As in other tools, writing the list is a success.
    let written = run(&["--write-expected-failures", path(&file)]);
    expect(
        &written,
        0,
        &["text/hello::wire ... ignored (listed: wire/event-line)", " 0 failed", "\nfailed: "],
    );
    assert!(written.stderr.contains("add a reason to each before you use it"), "{}", written.stderr);
    let text = fs::read_to_string(&file).expect("it is written");
    let listed =
        "[[failure]]\nrule = \"wire/event-line\"\nscenarios = [\n  \"text/hello\",\n]\nreason = \"\"\n";
    assert!(text.contains(listed), "{text}");
    let unexplained = run(&["--expected-failures", path(&file)]);
    assert!(unexplained.code == Some(2) && unexplained.stderr.contains("`reason` is empty"));
    let again = run(&["--write-expected-failures", path(&file)]);
    assert!(again.code == Some(2) && again.stderr.contains(" exists; also pass it"), "{}", again.stderr);
    fs::write(&file, text.replace("reason = \"\"", "reason = \"a \\\"known\\\" one\""))
        .expect("it is written");
    expect(&run(&["--expected-failures", path(&file)]), 0, &["expected: answer: a \"known\" one"]);
    let kept = run(&["--expected-failures", path(&file), "--write-expected-failures", path(&file)]);
    expect(&kept, 0, &[]);
    assert!(fs::read_to_string(&file).is_ok_and(|text| text.contains("reason = \"a \\\"known\\\" one\"")));
    // Obsolete entries are not listed again.
    let over =
        fs::read_to_string(&file).expect("it is there") + &entry("wire/terminated", "text/hello", "over");
    fs::write(&file, over).expect("it is written");
    let mended = run(&["--expected-failures", path(&file), "--write-expected-failures", path(&file)]);
    expect(&mended, 0, &[]);
    assert!(
        mended.stderr.contains("expected failure removed, as it passes: wire/terminated"),
        "{}",
        mended.stderr
    );
    assert!(fs::read_to_string(&file).is_ok_and(|text| !text.contains("wire/terminated")));
    // Without results, the list is not changed.
    let before = fs::read_to_string(&file).expect("it is there");
    let args = ["--target", "http://127.0.0.1:1", "text/hello", "--expected-failures", path(&file)];
    let nobody = conformance(&[args.as_slice(), &["--write-expected-failures", path(&file)]].concat());
    assert_eq!(nobody.code, Some(2), "{}", nobody.stderr);
    assert_eq!(fs::read_to_string(&file).ok(), Some(before), "what was not seen is kept");
}
