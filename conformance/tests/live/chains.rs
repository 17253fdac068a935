//! Scenarios of several requests, against the reference gateway and against endpoints that support them partially.

use std::fs;

use conformance::gateway::{Embedded, Settings};

use crate::program::{conformance, expect, folder, path};
use crate::server::{Server, answer, head, response, text, write};

#[test]
fn answers_of_all_kinds_are_judged() {
    for case in ["state/input-items::", "compaction/compacted::"] {
        let run = conformance(&[case]);
        expect(&run, 0, &["passed: "]);
        assert!(!run.stdout.contains("not checked"), "{}", run.stdout);
    }
}

#[test]
fn a_stream_is_left_and_taken_up_again() {
    let dialect = spec::DIALECTS.iter().find(|dialect| dialect.name == "openai").expect("the build has it");
    let gateway = Embedded::start(Settings::new(dialect)).expect("a port is free");
    let out = folder("resumed");
    let run = conformance(&["--target", &gateway.url(), "background/resumed", "--out", path(&out)]);
    expect(&run, 0, &["test background/resumed::agrees"]);
    assert!(run.stderr.contains("2 requests will be sent"), "{}", run.stderr);
    let read = |name: &str| fs::read_to_string(out.join(name)).expect("it is written");
    let cut = read("exchanges/background/cut.exchange");
    assert!(cut.contains("\"end\":\"left\"") && !cut.contains("response.completed"), "{cut}");
    let resumed = read("exchanges/background/resumed.exchange");
    assert!(resumed.contains("stream=true&starting_after=6") && !resumed.contains("response.created"));
    expect(&conformance(&["verify", path(&out)]), 0, &["consistent: these 2 exchanges"]);
    // A stream that restarts is not a continuation.
    let again = Server::new(|_, stream| {
        answer(stream, "200 OK", "text/event-stream", crate::server::golden("openai/background"));
    });
    let run = conformance(&["--target", &again.url, "background/resumed"]);
    expect(&run, 1, &["the stream resumes with sequence_number 0, but 6 was the last one"]);
}

#[test]
fn a_stream_that_is_taken_up_again_is_checked_as_a_whole() {
    let dialect = spec::DIALECTS.iter().find(|dialect| dialect.name == "openai").expect("the build has it");
    let rules = ["text/deltas-joined"].into_iter().filter_map(catalogue::rule).collect();
    let gateway = Embedded::start(Settings { rules, ..Settings::new(dialect) }).expect("a port is free");
    let out = folder("resumed-badly");
    // The wrong delta precedes the disconnect, and the text that it should be part of follows it.
    let args = ["--target", &gateway.url(), "background/resumed", "--out", path(&out)];
    let told = "joined with the events before it, the stream breaks text/deltas-joined: ";
    let run = conformance(&args);
    expect(&run, 1, &[told, " 8 passed; 1 failed"]);
    expect(&conformance(&["verify", path(&out)]), 0, &["consistent: these 2 exchanges"]);
}

#[test]
fn what_is_shown_again_is_compared() {
    let changed = Server::new(|request, stream| {
        if request.path.ends_with("/input_items") {
            answer(stream, "200 OK", "application/json", r#"{"object":"list","data":[],"has_more":false}"#);
        } else if request.path == "/v1/responses" {
            text(request, stream);
        } else {
            answer(stream, "200 OK", "application/json", response().replace("Hello, world.", "Hello, moon."));
        }
    });
    let run = conformance(&["--target", &changed.url, "state/retrieved"]);
    let told = "/output/0/content/0/text is \"Hello, moon.\" instead of \"Hello, world.\"";
    expect(&run, 1, &[told, "test state/retrieved::agrees"]);
    let items = conformance(&["--target", &changed.url, "state/input-items::agrees"]);
    expect(&items, 1, &["none of 0 items is the input of the user"]);
    let unknown = conformance(&["--target", &changed.url, "state/unknown::answer"]);
    expect(&unknown, 1, &["the response has status 200, not 404"]);
    let forgotten = conformance(&["--target", &changed.url, "state/recalled::agrees", "--attempts", "2"]);
    expect(&forgotten, 1, &["no response contains \"", "which only the earlier turn contains"]);
}

#[test]
fn twins_are_compared() {
    let other = Server::new(|request, stream| {
        if request.wants_stream() {
            text(request, stream);
        } else {
            let body = response().replace("\"input_tokens_details\":{", "\"input_token_details\":{");
            answer(stream, "200 OK", "application/json", body);
        }
    });
    let run = conformance(&["--target", &other.url, "text/hello.json::agrees"]);
    expect(&run, 1, &["/usage/input_tokens_details is missing"]);
}

#[test]
fn what_runs_is_polled_until_it_ends() {
    let server = Server::new(|request, stream| {
        head(stream, "200 OK", "application/json", "");
        let status = if request.number < 3 { "in_progress" } else { "completed" };
        let output = response();
        let body = output.replace(
            "\"status\":\"completed\",\"background\"",
            &format!("\"status\":\"{status}\",\"background\""),
        );
        write(stream, body);
    });
    let out = folder("polled");
    let run = conformance(&["--target", &server.url, "background/polled::answer", "--out", path(&out)]);
    expect(&run, 0, &["1 passed"]);
    assert!(run.stderr.contains("at least 2 requests will be sent"), "{}", run.stderr);
    assert_eq!(server.requests().len(), 4, "{}", response());
    assert!(out.join("exchanges/background/polled.3.exchange").exists());
    expect(&conformance(&["verify", path(&out)]), 0, &["consistent: these 4 exchanges"]);
}
