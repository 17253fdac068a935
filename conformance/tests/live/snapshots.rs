//! The shapes of streams, and the approved ones.

use std::fs;
use std::path::Path;

use crate::program::{conformance, expect, files, folder, path};
use crate::server::{Server, answer, golden};

const SHAPE: &str = "text/hello::snapshot";

fn streaming(stream: impl Into<String>) -> Server {
    let stream = stream.into();
    Server::new(move |_, to| answer(to, "200 OK", "text/event-stream", &stream))
}

/// Compares the shape of one stream.
fn compared(server: &Server, shapes: &Path, code: i32, words: &[&str], more: &[&str]) {
    let args = ["--target", &server.url, SHAPE, "--exact", "--attempts", "1", "--snapshots", path(shapes)];
    expect(&conformance(&[&args, more].concat()), code, words);
}

#[test]
fn a_shape_is_approved_of_and_then_kept() {
    let good = streaming(golden("openai/text"));
    let shapes = folder("shapes-live");
    let file = shapes.join("text/hello.shape");
    let new = shapes.join("text/hello.shape.new");
    compared(&good, &shapes, 1, &["there is no snapshot ", "accept it with --bless"], &[]);
    assert!(new.exists() && !file.exists());
    compared(&good, &shapes, 0, &[&format!("{SHAPE} ... ok")], &["--bless"]);
    assert!(!new.exists() && file.exists());
    compared(&good, &shapes, 0, &[&format!("{SHAPE} ... ok")], &[]);

    let stream = golden("openai/text");
    let part = stream.split_inclusive("\n\n").find(|event| event.contains("content_part.added"));
    let worse = streaming(stream.replacen(part.expect("it has a part"), "", 1));
    let told = ["--- approved\n+++ came\n", "\n-response.content_part.added  part 0.0 ", "if it is correct"];
    compared(&worse, &shapes, 1, &told, &[]);
    let came = fs::read_to_string(&new).expect("it is written");
    assert!(!came.contains("content_part.added") && came.contains("content_part.done"), "{came}");
    // An unchanged shape writes no file.
    compared(&good, &shapes, 0, &[], &[]);
    assert!(!new.exists());
}

#[test]
fn the_shape_of_a_failure_is_not_approved_of() {
    let shapes = folder("shapes-failed");
    let refusing = Server::new(|_, to| answer(to, "400 Bad Request", "application/json", "{}"));
    compared(&refusing, &shapes, 1, &["its shape is not accepted: the response failed"], &["--bless"]);
    let cut = golden("openai/text").split("event: response.completed").next();
    let cut = streaming(cut.expect("it ends"));
    compared(
        &cut,
        &shapes,
        0,
        &["ignored (requested once, but there was no response.completed: it ended without a terminal event)"],
        &["--bless"],
    );
    assert!(!shapes.exists());
    // The truncated response is not the requested one, but a snapshot requires a complete one.
    compared(&streaming(golden("openai/text")), &shapes, 0, &[], &["--bless"]);
    compared(&cut, &shapes, 1, &["\n-response.completed  response #1 "], &[]);
    let down = Server::new(|_, to| answer(to, "500 Internal Server Error", "text/html", "<p>"));
    compared(&down, &shapes, 1, &["the response has no events"], &[]);
}

#[test]
fn recordings_are_compared_too() {
    let shapes = folder("shapes-captures");
    let captures = folder("shapes-recorded");
    fs::create_dir_all(&captures).expect("it can be made");
    let capture = captures.join("a.sse");
    fs::write(&capture, golden("openai/text")).expect("it can be written");
    fs::write(captures.join("b.json"), "{\"object\":\"response\"}").expect("it can be written");
    let run = |code, words: &[&str], more: &[&str]| {
        let args = ["::snapshot", "--capture", path(&captures), "--snapshots", path(&shapes)];
        expect(&conformance(&[&args, more].concat()), code, words);
    };
    run(1, &["a.sse::snapshot  ... FAILED", "b.json::snapshot ... ignored", "there is no snapshot"], &[]);
    run(0, &["a.sse::snapshot  ... ok"], &["--bless"]);
    run(0, &["a.sse::snapshot  ... ok"], &[]);
    let swapped = golden("openai/text").replacen("\"output_index\":0", "\"output_index\":1", 1);
    fs::write(&capture, swapped).expect("it can be written");
    run(1, &["-response.output_item.added  item 0 ", "+response.output_item.added  item 1 "], &[]);
    assert_eq!(files(&shapes).len(), 2);
    // A snapshot without a recording is reported, unless a single recording is selected.
    let beside = files(&shapes).remove(0);
    fs::write(beside.with_file_name("gone.sse.shape"), "").expect("it can be written");
    run(1, &["/gone.sse::snapshot\n", "it is stale: there is no recording with this name; delete "], &[]);
    let one = conformance(&["::snapshot", "--capture", path(&capture), "--snapshots", path(&shapes)]);
    expect(&one, 1, &["a.sse::snapshot"]);
    assert!(!one.stdout.contains("gone.sse"), "{}", one.stdout);
    // Snapshots of scenarios may be in the same folder.
    fs::create_dir_all(shapes.join("text")).expect("it can be made");
    fs::write(shapes.join("text/gone.shape"), "").expect("it can be written");
    let both = conformance(&["::snapshot", "--capture", path(&captures), "--snapshots", path(&shapes)]);
    assert!(!both.stdout.contains("text/gone"), "{}", both.stdout);
    let live = conformance(&["--snapshots", path(&shapes), "::snapshot", "--bless"]);
    assert!(live.stdout.contains("text/gone") && !live.stdout.contains("gone.sse"), "{}", live.stdout);
    let piped = ["--capture", "-", "--snapshots", path(&shapes), "::snapshot"];
    expect(&conformance(&piped), 2, &["standard input: it can be read only once"]);
}

#[test]
fn snapshots_change_nothing_else() {
    let (shapes, out) = (folder("shapes-reference"), folder("shapes-reference-out"));
    let args = ["--snapshots", path(&shapes), "--bless", "--out", path(&out)];
    expect(&conformance(&args), 0, &["text/hello::snapshot", "ws/ahead.ws::snapshot", " 0 failed"]);
    expect(&conformance(&["verify", path(&out)]), 0, &["consistent: "]);
    expect(&conformance(&["--snapshots", path(&shapes), "::snapshot"]), 0, &[" 0 failed"]);
    fs::write(shapes.join("text/gone.shape"), "").expect("it can be written");
    let (gone, stale) = ("text/gone::snapshot", "it is stale: there is no such scenario; delete ");
    expect(&conformance(&["--snapshots", path(&shapes), "text/"]), 1, &[gone, stale, " 1 failed"]);
    expect(&conformance(&["--snapshots", path(&shapes), "text/hello"]), 0, &[" 0 failed"]);
    let some = ["--snapshots", path(&shapes), "ws/", "--transport", "sse"];
    expect(&conformance(&some), 0, &["ws/ahead.ws::snapshot ", "ignored (this run does not send it)"]);
    let listed = conformance(&["--snapshots", path(&shapes), "--list", "text/hello"]);
    expect(&listed, 0, &["text/hello::snapshot: test"]);
    assert!(!listed.stdout.contains("hello.json::snapshot"), "{}", listed.stdout);
    assert_eq!(conformance(&["--bless"]).code, Some(2));
}
