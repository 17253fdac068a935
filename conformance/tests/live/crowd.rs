//! Concurrent requests.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::program::{conformance, expect, folder, path, says};
use crate::server::{Request, Server, answer, golden};

/// Returns the good stream, with unique ids and the mark of a request in its text.
fn stream(number: u64, mark: &str) -> String {
    golden("openai/text")
        .replace("\"Hello", &format!("\"{mark}"))
        .replace("\"msg_", &format!("\"msg_{number}"))
        .replace("\"resp_", &format!("\"resp_{number}"))
}

fn mark(request: &Request) -> &str {
    let at = request.body.find("zq").expect("each request has a mark");
    &request.body[at..at + 9]
}

/// Runs the concurrency scenarios against a server with these responses.
fn run(
    name: &str,
    reply: impl Fn(&Request, u64) -> String + Send + Sync + 'static,
) -> (String, Vec<Request>) {
    let count = AtomicU64::new(0);
    let server = Server::new(move |request, to| {
        let number = count.fetch_add(1, Ordering::SeqCst);
        answer(to, "200 OK", "text/event-stream", reply(request, number));
    });
    let out = folder(name);
    let mut args = vec!["crowd/words::", "--target", &server.url, "--concurrent", "12", "--transport", "sse"];
    args.extend(["--select", "text,item,sequence", "--out", path(&out)]);
    let run = conformance(&args);
    assert!(run.stderr.contains("12 requests will be sent"), "{}", run.stderr);
    expect(&conformance(&["verify", path(&out)]), 0, &["consistent: these 12 exchanges"]);
    (run.stdout, server.requests())
}

#[test]
fn streams_that_keep_apart_pass() {
    let (told, requests) = run("crowd", |request, number| stream(number, mark(request)));
    assert!(says(&told, "test crowd/words::apart ... ok"), "{told}");
    let marks: std::collections::BTreeSet<&str> = requests.iter().map(mark).collect();
    assert_eq!(marks.len(), 12);
}

#[test]
fn what_leaks_from_stream_to_stream_is_found() {
    let leaking = |request: &Request, number| match mark(request) {
        "zq00007qz" => stream(number, "zq00003qz"),
        own => stream(number, own),
    };
    let (told, _) = run("crowd-text", leaking);
    assert!(says(&told, "crowd/words::apart ... FAILED"), "{told}");
    assert!(told.contains("response 7 contains the mark of the request for response 3"), "{told}");
    let (told, _) = run("crowd-ids", |request, number| stream(number / 4, mark(request)));
    // Their order depends on timing.
    assert!(told.contains("share the id \"resp_") || told.contains("share the id \"msg_"), "{told}");
}
