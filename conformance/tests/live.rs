//! Runs against endpoints that behave, and against some that do not.
#![cfg(feature = "cli")]

#[path = "support/server.rs"]
mod server;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use server::{Server, answer, golden, head, text, write};

struct Outcome {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_conformance"));
    command.args(args).current_dir(env!("CARGO_TARGET_TMPDIR"));
    for proxy in ["http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] {
        command.env_remove(proxy);
    }
    command.env_remove("CONFORMANCE_API_KEY");
    command
}

fn conformance(args: &[&str]) -> Outcome {
    let output = command(args).output().expect("the program starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("what it prints is UTF-8");
    Outcome { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// Sends the scenario of the short text, and nothing else.
fn hello(server: &Server, more: &[&str]) -> Outcome {
    conformance(&[&["--target", &server.url, "text/hello::"], more].concat())
}

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("live").join(name);
    let _ = fs::remove_dir_all(&folder);
    folder
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries =
        fs::read_dir(folder).expect("it is there").map(|entry| entry.expect("it can be read").path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

fn path(folder: &Path) -> &str {
    folder.to_str().expect("it is UTF-8")
}

/// That the run ends so, with these words in its results.
fn expect(outcome: &Outcome, code: i32, words: &[&str]) {
    let Outcome { stdout, stderr, .. } = outcome;
    assert_eq!(outcome.code, Some(code), "{stdout}\n{stderr}");
    for words in words {
        assert!(stdout.contains(words), "there is no {words:?} in\n{stdout}\n{stderr}");
    }
}

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
    expect(&conformance(&["verify", path(&out)]), 0, &["verified: 2 exchanges"]);
    let again = conformance(&["--target", &server.url, "text/hello", "--out", path(&out)]);
    assert!(again.code == Some(2) && again.stderr.contains("holds a run already"), "{}", again.stderr);
}

#[test]
fn a_list_contacts_nobody() {
    let server = Server::new(text);
    let list = conformance(&["--target", &server.url, "--list", "call/"]);
    expect(&list, 0, &["call/forced::request: test", "call/parallel.json::answer: test"]);
    assert_eq!(server.connections(), 0);
}

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
    // A byte that no rule looks at, one that breaks a rule, and what the run itself says.
    let exchange = "exchanges/text/hello.exchange";
    expect(&change(exchange, "event-stream", "event-stream "), 1, &["hello.exchange: the file was changed"]);
    let broken = change(exchange, "response.completed", "response.complete");
    expect(
        &broken,
        1,
        &[
            "the file was changed",
            "text/hello::wire: the run says pass, and it is fail (wire/event-line)",
            "report.json: line ",
        ],
    );
    expect(&change("report.json", "\"openai\"", "\"0penai\""), 1, &["report.json: the file was changed"]);
    let forged = change("run.json", "\"verdict\": \"pass\"", "\"verdict\": \"fail\"");
    expect(&forged, 1, &["text/hello::answer: the run says fail, and it is pass"]);
    let outside = change("run.json", &format!("\"{exchange}\""), "\"../../../Cargo.toml\"");
    expect(&outside, 2, &["../../../Cargo.toml: it is not in the folder"]);
    fs::remove_file(out.join(exchange)).expect("it is there");
    expect(&conformance(&["verify", path(&out)]), 2, &["cannot be read: exchanges/text/hello.exchange"]);
}

#[test]
fn an_endpoint_that_dies_fails_at_every_event() {
    let ends: Vec<usize> = golden("openai/text").match_indices("\n\n").map(|(at, _)| at + 2).collect();
    for (number, end) in ends.iter().copied().enumerate().take(ends.len() - 1) {
        // With and without saying how much there should have been.
        let silent = Server::new(move |_, stream| {
            answer(stream, "200 OK", "text/event-stream", &golden("openai/text")[..end]);
        });
        expect(&hello(&silent, &["--attempts", "1"]), 1, &["error[response/one-terminal]"]);
        let loud = Server::new(move |_, stream| {
            head(stream, "200 OK", "text/event-stream", "content-length: 100000\r\n");
            write(stream, &golden("openai/text")[..end]);
        });
        let run = hello(&loud, &[]);
        expect(&run, 1, &["the answer was not read to its end", "end of file before message length"]);
        assert_eq!(loud.requests().len(), 1, "event {number}: only what is not there is asked for again");
    }
}

#[test]
fn silence_ends_with_its_limit() {
    let wait = |stream: &mut std::net::TcpStream| {
        while write(stream, "") && stream.peek(&mut [0]).is_ok_and(|length| length > 0) {}
        thread::sleep(Duration::from_secs(20));
    };
    let first = || golden("openai/text").split_inclusive("\n\n").next().expect("there is one");
    let start = Instant::now();
    let mute = Server::new(move |_, stream| wait(stream));
    let run = hello(&mute, &["--first-event-timeout", "300ms"]);
    expect(&run, 1, &["no answer came within 300ms of the request"]);
    let headers = Server::new(move |_, stream| {
        head(stream, "200 OK", "text/event-stream", "");
        wait(stream);
    });
    let run = hello(&headers, &["--first-event-timeout", "300ms"]);
    expect(&run, 1, &["no event ended within 300ms of the request"]);
    let stalled = Server::new(move |_, stream| {
        answer(stream, "200 OK", "text/event-stream", first());
        wait(stream);
    });
    expect(&hello(&stalled, &["--idle-timeout", "300ms"]), 1, &["no event ended for 300ms"]);
    let total = hello(&stalled, &["--timeout", "300ms"]);
    expect(&total, 1, &["within the time that an answer may take as a whole"]);
    assert!(start.elapsed() < Duration::from_secs(15), "{:?}", start.elapsed());
}

#[test]
fn a_trickle_is_no_event() {
    let server = Server::new(|_, stream| {
        head(stream, "200 OK", "text/event-stream", "");
        for byte in golden("openai/text").bytes() {
            if !write(stream, [byte]) {
                return;
            }
            thread::sleep(Duration::from_millis(20));
        }
    });
    expect(&hello(&server, &["--first-event-timeout", "500ms"]), 1, &["no event ended within 500ms"]);
}

#[test]
fn an_endless_line_is_cut_off() {
    let server = Server::new(|_, stream| {
        head(stream, "200 OK", "text/event-stream", "");
        while write(stream, [b'x'; 4096]) {}
    });
    let run = hello(&server, &["--max-bytes", "1000000"]);
    expect(&run, 1, &["the answer is longer than 1000000 bytes"]);
}

#[test]
fn what_is_no_stream_fails() {
    let html = Server::new(|_, stream| answer(stream, "200 OK", "text/html", "<html>Welcome</html>"));
    expect(&hello(&html, &[]), 1, &["a stream was asked for, and the content type"]);
    let wrong = Server::new(|_, stream| answer(stream, "200 OK", "text/plain", golden("openai/text")));
    expect(&hello(&wrong, &[]), 1, &["a stream was asked for, and the content type"]);
    let empty = Server::new(|_, stream| answer(stream, "200 OK", "text/event-stream", ""));
    expect(&hello(&empty, &[]), 1, &["there is no event in the stream"]);
    let down = Server::new(|_, stream| answer(stream, "500 Oh", "application/json", "{}"));
    expect(&hello(&down, &[]), 1, &["the answer has status 500, and not 200"]);
}

#[test]
fn who_is_not_let_in_cannot_judge() {
    let closed = Server::new(|_, stream| answer(stream, "401 No", "application/json", "{}"));
    expect(&hello(&closed, &[]), 2, &["harness error: the endpoint answers 401: give --api-key"]);
    let nobody = conformance(&["--target", "http://127.0.0.1:1", "text/hello::"]);
    expect(&nobody, 2, &["harness error: no connection"]);
    let plain = Server::new(|_, _| {});
    let tls = conformance(&["--target", &plain.url.replace("http:", "https:"), "text/hello::"]);
    expect(&tls, 2, &["harness error: no connection"]);
    let wrong = conformance(&["--target", "gateway", "text/hello::"]);
    assert!(wrong.code == Some(2) && wrong.stderr.contains("the target is no URL"), "{}", wrong.stderr);
}

#[test]
fn who_is_asked_to_wait_waits() {
    let busy = |after: &'static str| {
        Server::new(move |request, stream| match request.number {
            0 => {
                head(stream, "429 Busy", "application/json", after);
                write(stream, "{\"error\":{\"message\":\"busy\",\"type\":\"too_many_requests\"}}");
            }
            _ => text(request, stream),
        })
    };
    let (server, out) = (busy("retry-after: 1\r\n"), folder("busy"));
    let start = Instant::now();
    expect(&hello(&server, &["--out", path(&out)]), 0, &["0 failed; 0 ignored"]);
    assert!(start.elapsed() >= Duration::from_secs(1));
    assert!(
        out.join("exchanges/text/hello.exchange").exists()
            && out.join("exchanges/text/hello.2.exchange").exists()
    );
    expect(&conformance(&["verify", path(&out)]), 0, &["verified: 2 exchanges"]);
    for after in ["retry-after: 3600\r\n", ""] {
        let server = busy(after);
        expect(&hello(&server, &[]), 2, &["the endpoint answers 429"]);
        assert_eq!(server.requests().len(), 1);
    }
}

#[test]
fn only_the_host_that_was_named_is_contacted() {
    let other = Server::new(text);
    let location = format!("location: {}/v1/responses\r\n", other.url);
    for status in ["302 Found", "307 There", "308 There"] {
        let location = location.clone();
        let server = Server::new(move |_, stream| head(stream, status, "text/plain", &location));
        expect(&hello(&server, &[]), 1, &["redirections to other places are not followed"]);
    }
    assert_eq!(other.connections(), 0);
    let moved = Server::new(|request, stream| match &*request.path {
        "/v1/responses" => head(stream, "307 There", "text/plain", "location: /v2/responses\r\n"),
        _ => text(request, stream),
    });
    expect(&hello(&moved, &[]), 0, &[]);
    assert_eq!(moved.requests()[1].body, moved.requests()[0].body);
}

#[test]
fn one_failure_leaves_the_rest() {
    let server = Server::new(|request, stream| {
        if request.number > 0 {
            text(request, stream);
        }
    });
    let run = conformance(&["--target", &server.url, "text/hello", "text/instructions", "--skip", "nothing"]);
    assert_eq!(run.code, Some(2), "one filter at most");
    let run = conformance(&["--target", &server.url, "text/", "--skip", "text/hello.json"]);
    expect(&run, 1, &["test text/instructions::answer      ... ok"]);
    assert!(server.requests().len() > 5);
}

#[test]
fn what_does_not_come_is_asked_for_again_and_kept() {
    let (server, out) = (Server::new(text), folder("again"));
    let run = conformance(&["--target", &server.url, "text/refusal", "--attempts", "2", "--out", path(&out)]);
    expect(
        &run,
        0,
        &["ignored (asked 2 times, and there was no response.refusal.delta", "0 passed; 0 failed"],
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
    expect(&run, 0, &["ignored (the endpoint is not said to offer tools)"]);
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
    let id: serde_json::Value = serde_json::from_str(&server::response()).expect("it is JSON");
    let continues = format!("\"previous_response_id\":{}", id["id"]);
    assert!(!bodies[0].contains("previous_response_id"), "{bodies:?}");
    assert!(bodies[1].contains(&continues) && bodies[2].contains(&continues), "{bodies:?}");
    let broken = Server::new(|_, stream| answer(stream, "500 Oh", "text/html", ""));
    let run = conformance(&["--target", &broken.url, "state/continued::"]);
    expect(&run, 0, &["ignored (what it continues did not come: see state/stored::answer)"]);
}

#[test]
fn several_at_once_find_the_same() {
    let server = Server::new(text);
    let run = |jobs: &str| {
        let out = folder(&format!("jobs-{jobs}"));
        conformance(&["--target", &server.url, "--jobs", jobs, "--attempts", "1", "--out", path(&out)]);
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
fn secrets_are_in_no_file() {
    const MARKS: [&str; 4] = ["sk-MARK-11111111", "MARK-22222222", "MARK-33333333", "MARK-44444444"];
    // It says what it was told, in headers and in the body, and cuts it anywhere.
    let server = Server::new(|request, stream| {
        let told = request.headers.replace("\r\n", " ");
        let more = format!("set-cookie: s=MARK-44444444\r\nlocation: http://h.test/?k={}\r\n", MARKS[0]);
        head(stream, "200 OK", "text/event-stream", &more);
        for piece in format!(": {told}\n\n{}", golden("openai/text")).as_bytes().chunks(7) {
            write(stream, piece);
            thread::sleep(Duration::from_micros(200));
        }
    });
    let out = folder("secrets");
    let target = server.url.replace("http://", "http://user:MARK-33333333@") + "?api_key=MARK-33333333";
    let args = ["--target", &target, "--api-key", MARKS[0], "--header", "X-Key: MARK-22222222"];
    let more = ["--header", "Cookie: a=MARK-22222222; b=MARK-33333333", "text/hello", "--out", path(&out)];
    let run = conformance(&[args.as_slice(), &more].concat());
    let told = server.requests()[0].headers.clone();
    assert!(MARKS[..3].iter().all(|mark| told.contains(mark)), "{told}");
    for mark in ["11111111", "22222222", "33333333", "44444444"] {
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
    let args = ["--target", &server.url, "text/", "--out", path(&out)];
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
    expect(&conformance(&["verify", path(&out)]), 0, &["verified: 3 exchanges"]);
}
