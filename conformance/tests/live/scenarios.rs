//! The selection and order of scenarios.

use std::fs;
use std::time::{Duration, Instant};

use crate::program::{conformance, expect, folder, path};
use crate::server::{Server, answer, golden, response, text};

#[test]
fn a_good_endpoint_passes() {
    let server = Server::new(text);
    let out = folder("good");
    let run = conformance(&["--target", &server.url, "--model", "m-1", "text/hello", "--out", path(&out)]);
    expect(&run, 0, &["test text/hello::answer", "test text/hello.json::answer", "0 failed; 0 ignored"]);
    assert!(run.stderr.contains("2 requests will be sent to http://127.0.0.1"), "{}", run.stderr);
    let requests = server.requests();
    assert_eq!(requests.len(), 2);
    assert_eq!(requests[0].path, "/v1/responses");
    assert!(requests.iter().all(|request| request.body.contains("\"model\":\"m-1\"")), "{requests:?}");
    expect(&conformance(&["verify", path(&out)]), 0, &["consistent: these 2 exchanges"]);
    let again = conformance(&["--target", &server.url, "text/hello", "--out", path(&out)]);
    assert!(again.code == Some(2) && again.stderr.contains("already contains a run"), "{}", again.stderr);
}

#[test]
fn a_list_contacts_nobody() {
    let server = Server::new(text);
    let list = conformance(&["--target", &server.url, "--list", "call/"]);
    expect(&list, 0, &["call/forced::request: test", "call/parallel.json::answer: test"]);
    assert_eq!(server.connections(), 0);
}

#[test]
fn one_failure_leaves_the_rest() {
    let server = Server::new(|request, stream| {
        if request.number != 1 {
            text(request, stream);
        }
    });
    let run = conformance(&["--target", &server.url, "text/", "--skip", "text/hello.json"]);
    expect(&run, 1, &["test text/instructions::answer      ... ok"]);
    assert!(server.requests().len() > 5);
}

#[test]
fn only_what_the_dialect_has_is_missed() {
    let server = Server::new(text);
    let options =
        ["--target", &server.url, "reasoning/text", "--attempts", "1", "--dialect", "open-responses"];
    let run = conformance(&options);
    let missed = "there was no response.reasoning.delta, no response.reasoning.done";
    assert!(run.stdout.contains(missed), "{}", run.stdout);
}

#[test]
fn what_does_not_come_is_asked_for_again_and_kept() {
    let (server, out) = (Server::new(text), folder("again"));
    let run = conformance(&["--target", &server.url, "text/refusal", "--attempts", "2", "--out", path(&out)]);
    expect(
        &run,
        0,
        &["ignored (requested 2 times, but there was no response.refusal.delta", "0 passed; 0 failed"],
    );
    assert_eq!(server.requests().len(), 2);
    assert!(out.join("exchanges/text/refusal.2.exchange").exists());
    // Every attempt counts.
    let server = Server::new(|request, stream| match request.number {
        0 => answer(
            stream,
            "200 OK",
            "text/event-stream",
            golden("openai/text").replace("\"sequence_number\":3", "\"sequence_number\":9"),
        ),
        _ => text(request, stream),
    });
    let run = conformance(&["--target", &server.url, "text/refusal", "--attempts", "2"]);
    expect(&run, 1, &["exchanges/text/refusal.exchange", "test text/refusal::sequence"]);
}

#[test]
fn what_is_not_offered_is_not_sent() {
    let server = Server::new(text);
    let run = conformance(&["--target", &server.url, "call/single", "--features", "store,metadata"]);
    expect(&run, 0, &["ignored (tools is not in --features)"]);
    let run = conformance(&["--target", &server.url, "call/custom", "--dialect", "open-responses"]);
    expect(&run, 0, &["open-responses has no response.custom_tool_call_input.delta"]);
    assert_eq!(server.connections(), 0);
    let run = conformance(&["--target", &server.url, "--features", "tolls"]);
    assert!(run.code == Some(2) && run.stderr.contains("did you mean tools"), "{}", run.stderr);
}

#[test]
fn responses_are_continued_by_their_ids() {
    let server = Server::new(text);
    let run = conformance(&["--target", &server.url, "state/continued-twice::answer", "--exact"]);
    expect(&run, 0, &["1 passed"]);
    let bodies: Vec<String> = server.requests().into_iter().map(|request| request.body).collect();
    assert_eq!(bodies.len(), 3, "{bodies:?}");
    let id: serde_json::Value = serde_json::from_str(&response()).expect("it is JSON");
    let continues = format!("\"previous_response_id\":{}", id["id"]);
    assert!(!bodies[0].contains("previous_response_id"), "{bodies:?}");
    assert!(bodies[1].contains(&continues) && bodies[2].contains(&continues), "{bodies:?}");
    let broken = Server::new(|_, stream| answer(stream, "500 Oh", "text/html", ""));
    let run = conformance(&["--target", &broken.url, "state/continued::"]);
    expect(&run, 0, &["ignored (the response it continues is missing: see state/stored::answer)"]);
}

#[test]
fn several_at_once_find_the_same() {
    let server = Server::new(text);
    let run = |jobs: &str| {
        let out = folder(&format!("jobs-{jobs}"));
        let once = ["--target", &server.url, "--attempts", "1", "--seed", "same"];
        conformance(&[&once[..], &["--jobs", jobs, "--out", path(&out)]].concat());
        let file = fs::read_to_string(out.join("run.json")).expect("it is written");
        let run: serde_json::Value = serde_json::from_str(&file).expect("it is JSON");
        assert!(run["trials"].as_array().is_some_and(|trials| trials.len() > 200), "{file}");
        expect(&conformance(&["verify", path(&out)]), 0, &[]);
        run["trials"].clone()
    };
    assert_eq!(run("1"), run("8"));
}

#[test]
fn requests_keep_their_distance() {
    let server = Server::new(text);
    let start = Instant::now();
    let run = conformance(&["--target", &server.url, "text/hello", "--delay", "400ms", "--jobs", "4"]);
    expect(&run, 0, &[]);
    assert!(start.elapsed() >= Duration::from_millis(400));
}

#[test]
fn failures_are_asked_only_of_models_that_are_said_to_fail() {
    let server = Server::new(|request, stream| {
        let status = if request.body.contains("\"model\":\"m-down\"") { "503 Gone" } else { "200 OK" };
        let body =
            r#"{"error":{"type":"server_error","code":null,"message":"Nothing is there.","param":null}}"#;
        answer(stream, status, "application/json", body);
    });
    let failures = |more: &[&str]| {
        let usual = ["--target", &server.url, "--model", "m-1", "--transport", "sse", "error/"];
        let others = ["malformed", "not-stored", "unknown", "wrong-type"];
        let skipped = others.iter().flat_map(|name| ["--skip", *name]);
        conformance(&usual.into_iter().chain(skipped).chain(more.iter().copied()).collect::<Vec<_>>())
    };
    let healthy = failures(&[]);
    expect(&healthy, 0, &["upstream-down::answer", "it needs --given limited-model=...", "0 passed"]);
    assert_eq!(server.connections(), 0, "{}", healthy.stdout);
    let down = failures(&["--given", "down-model=m-down"]);
    expect(&down, 0, &["test error/upstream-down::answer     ... ok", "0 failed"]);
    assert_eq!(server.connections(), 1);
    // A given model that does not fail is detected.
    expect(&failures(&["--given", "down-model=default"]), 1, &["not 500 or 502 or 503"]);
    let record = conformance(&["record", "--target", &server.url, "--scenario", "error/upstream-down"]);
    assert!(record.code == Some(2) && record.stderr.contains("--given down-model="), "{}", record.stderr);
    let mistaken = failures(&["--given", "donw-model=m"]);
    assert!(
        mistaken.code == Some(2) && mistaken.stderr.contains("did you mean down-model"),
        "{}",
        mistaken.stderr
    );
}
