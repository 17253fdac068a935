//! Typical mistakes of a first run: each ends early, with one message, the right advice, and no verdict.

use std::fs;
use std::io::Write;
use std::net::TcpStream;
use std::thread;
use std::time::Duration;

use conformance::results::{Run, UndecidedKind};

use crate::program::{Outcome, bare, conformance, expect, folder, outcome, path};
use crate::server::{Request, Server, answer, golden, text};

/// Returns a server that responds with this to every request.
fn always(status: &'static str, content_type: &'static str, body: &'static str) -> Server {
    Server::new(move |_, stream| answer(stream, status, content_type, body))
}

/// Runs the profile core, as a new user does.
fn core(url: &str, more: &[&str]) -> Outcome {
    outcome(&mut bare(&[&["run", "--target", url, "--profile", "core"], more].concat()))
}

/// Asserts that a run ends early for this reason, with this output after the first lines.
fn ends(name: &str, server: &Server, class: UndecidedKind, requests: usize, more: &[&str], message: &str) {
    let out = folder(name);
    let run = core(&server.url, &[more, &["--out", path(&out), "--report", "json=hindered.json"]].concat());
    let (_, told) = run.stdout.split_once("error[").expect("it has a message");
    let told = told.replace(&server.url, "http://HOST");
    assert_eq!(run.code, Some(2), "{name}: {}\n{}", run.stdout, run.stderr);
    assert!(!run.stdout.contains("FAIL"), "{name}: {}", run.stdout);
    let message = message.trim();
    assert!(format!("error[{told}").starts_with(message), "{name}: expected\n{message}\nfound\nerror[{told}");
    assert_eq!(server.requests().len(), requests, "{name}");
    let text = fs::read_to_string(out.join("report.json")).expect("it is written");
    let report: Run = serde_json::from_str(&text).expect("it is a report");
    let live = report.live.expect("it is a run");
    assert_eq!(live.obstacle.map(|obstacle| obstacle.class), Some(class), "{name}");
    assert!(report.causes.is_empty() && report.totals.trials.failed == 0, "{name}: {:?}", report.totals);
    let verified = conformance(&["verify", path(&out)]);
    assert!(verified.stdout.contains("consistent: "), "{name}: {}\n{}", verified.stdout, verified.stderr);
}

const UNKNOWN: &str = r#"{"error":{"message":"The model `m` does not exist","type":"invalid_request_error","param":null,"code":"model_not_found"}}"#;

#[test]
fn an_unknown_model_is_told_with_those_that_there_are() {
    let models = r#"{"object":"list","data":[{"id":"small"},{"id":"large"},{"id":"a\u001b[2J"}]}"#;
    let other =
        |_: &Request, stream: &mut TcpStream| answer(stream, "404 Not Found", "application/json", UNKNOWN);
    ends(
        "unknown-model",
        &Server::listing(models, other),
        UndecidedKind::Model,
        1,
        &["--model", "m"],
        r#"
error[model]: the endpoint responds with 404 Not Found: "The model `m` does not exist" (model_not_found)
 --> http://HOST/v1/responses
  = fix: choose one of the 2 models that GET /models lists with --model: small, large

incomplete: "#,
    );
    // Without a code, the message names it. Without a list, the flag is enough.
    let bare = always("400 Bad Request", "application/json", r#"{"error":"model 'm' not found"}"#);
    ends(
        "unnamed-model",
        &bare,
        UndecidedKind::Model,
        1,
        &["--model", "m"],
        r#"
error[model]: the endpoint responds with 400 Bad Request: "model 'm' not found"
 --> http://HOST/v1/responses
  = fix: choose another with --model
"#,
    );
}

#[test]
fn a_wrong_path_is_told_as_such() {
    ends(
        "wrong-path",
        &always("404 Not Found", "text/html", "<html>\n<title>404</title>\u{202e}</html>"),
        UndecidedKind::Path,
        1,
        &["--model", "m"],
        r#"
error[path]: nothing answers at http://HOST/v1/responses (404 Not Found): "<html>
  <title>404</title>\u{202e}</html>"
 --> http://HOST/v1/responses
  = fix: is the path right? --target is the URL of the endpoint, with or without /v1
"#,
    );
    ends(
        "no-post",
        &always("405 Method Not Allowed", "text/plain", ""),
        UndecidedKind::Path,
        1,
        &["--model", "m"],
        r"
error[path]: nothing answers at http://HOST/v1/responses (405 Method Not Allowed)
",
    );
}

#[test]
fn who_may_not_ask_is_told_in_the_words_of_the_endpoint() {
    ends(
        "wrong-key",
        &always(
            "401 Unauthorized",
            "application/json",
            r#"{"error":{"message":"Incorrect API key provided: secret-k**.","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}"#,
        ),
        UndecidedKind::Auth,
        1,
        &["--model", "m"],
        r#"
error[auth]: the endpoint responds with 401 Unauthorized: "Incorrect API key provided: secret-k**." (invalid_api_key)
 --> http://HOST/v1/responses
  = fix: pass --api-key, CONFORMANCE_API_KEY or --header
"#,
    );
    ends(
        "region",
        &always(
            "403 Forbidden",
            "application/json",
            r#"{"error":{"message":"Country, region, or territory not supported","type":"request_forbidden","param":null,"code":"unsupported_country_region_territory"}}"#,
        ),
        UndecidedKind::Region,
        1,
        &["--model", "m"],
        r#"
error[region]: the endpoint responds with 403 Forbidden: "Country, region, or territory not supported"
  (unsupported_country_region_territory)
 --> http://HOST/v1/responses
  = fix: run from a region that it serves
"#,
    );
    ends(
        "quota",
        &always(
            "429 Too Many Requests",
            "application/json",
            r#"{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}"#,
        ),
        UndecidedKind::Quota,
        1,
        &["--model", "m"],
        r#"
error[quota]: the endpoint responds with 429 Too Many Requests: "You exceeded your current quota, please check your plan
  and billing details." (insufficient_quota)
 --> http://HOST/v1/responses
  = fix: raise the quota of the account, or use another key
"#,
    );
}

#[test]
fn keys_that_the_endpoint_repeats_are_masked() {
    let server = Server::new(|request, stream| {
        let header = request.headers.lines().find(|line| line.to_lowercase().starts_with("authorization"));
        let body =
            serde_json::json!({ "error": { "message": format!("wrong: {}", header.unwrap_or_default()) } });
        answer(stream, "401 Unauthorized", "application/json", body.to_string());
    });
    let run = core(&server.url, &["--api-key", "key-1234567890", "--model", "m"]);
    assert!(run.stdout.contains("wrong: authorization: Bearer ****"), "{}", run.stdout);
    assert!(!(run.stdout + &run.stderr).contains("key-1234567890"));
}

#[test]
fn who_has_no_capacity_is_given_up() {
    let error = r#"{"error":{"message":"slow down","type":"rate_limit_error","param":null,"code":"rate_limit_exceeded"}}"#;
    ends(
        "rate",
        &always("429 Too Many Requests", "application/json", error),
        UndecidedKind::Rate,
        3,
        &["--model", "m"],
        r#"
error[rate]: the endpoint responds with 429 Too Many Requests: "slow down" (rate_limit_exceeded)
 --> http://HOST/v1/responses
  = fix: rate limited; try --delay
"#,
    );
    ends(
        "overload",
        &always(
            "529 Overloaded",
            "application/json",
            r#"{"error":{"message":"Overloaded","type":"overloaded_error"}}"#,
        ),
        UndecidedKind::Overload,
        3,
        &["--model", "m"],
        r#"
error[overload]: the endpoint responds with 529: "Overloaded" (overloaded_error)
 --> http://HOST/v1/responses
  = fix: it has no capacity; try again later, or with --delay
"#,
    );
    let page = "<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>";
    ends(
        "proxy",
        &always("502 Bad Gateway", "text/html", page),
        UndecidedKind::Network,
        3,
        &["--model", "m"],
        r#"
error[network]: a proxy or gateway responds with 502 Bad Gateway: "<html><head><title>502 Bad
  Gateway</title></head><body>nginx</body></html>"
 --> http://HOST/v1/responses
  = fix: look into what stands before the endpoint, or correct --target
"#,
    );
}

#[test]
fn three_hangs_end_a_run_as_three_refusals_do() {
    let wait = |_: &Request, stream: &mut TcpStream| {
        let _ = stream.set_read_timeout(Some(Duration::from_secs(20)));
        let _ = stream.peek(&mut [0]);
    };
    ends(
        "hangs",
        &Server::new(wait),
        UndecidedKind::Network,
        3,
        &["--model", "m", "--timeout", "300ms"],
        r"
error[network]: no response within 300ms (--timeout)
 --> http://HOST/v1/responses
  = fix: check that the endpoint is up
",
    );
}

#[test]
fn who_closes_every_connection_is_given_up() {
    ends(
        "closes",
        &Server::new(|_, _| {}),
        UndecidedKind::Network,
        3,
        &["--model", "m"],
        r"
error[network]: client error (SendRequest): connection closed before message completed
 --> http://HOST/v1/responses
  = fix: it takes connections, but closes them without a response: look into its log
",
    );
}

#[test]
fn pages_of_other_programs_are_no_verdict() {
    let page = "<!DOCTYPE html>\n<html><title>Welcome</title></html>";
    ends(
        "page",
        &always("200 OK", "text/html", page),
        UndecidedKind::Path,
        1,
        &["--model", "m"],
        r#"
error[path]: a web page answers at http://HOST/v1/responses (200 OK): "<!DOCTYPE html>
  <html><title>Welcome</title></html>"
 --> http://HOST/v1/responses
  = fix: is the path right? --target is the URL of the endpoint, with or without /v1
"#,
    );
    ends(
        "blocked",
        &always("403 Forbidden", "text/html", page),
        UndecidedKind::Network,
        3,
        &["--model", "m"],
        r"
error[network]: a proxy or gateway responds with 403 Forbidden",
    );
    let redirect = |_: &Request, stream: &mut TcpStream| {
        let head = "HTTP/1.1 301 Moved Permanently\r\nlocation: http://127.0.0.2:9/v1/responses\r\n";
        let _ = write!(stream, "{head}content-length: 0\r\nconnection: close\r\n\r\n");
    };
    ends(
        "redirected",
        &Server::new(redirect),
        UndecidedKind::Path,
        1,
        &["--model", "m"],
        r"
error[path]: http://HOST/v1/responses redirects to another host (301 Moved Permanently)
 --> http://HOST/v1/responses
  = fix: pass the URL that it redirects to with --target: another host is not given the key by itself
",
    );
}

#[test]
fn errors_of_the_account_are_no_verdict_whatever_their_status() {
    ends(
        "quota-200",
        &always(
            "200 OK",
            "application/json",
            r#"{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}"#,
        ),
        UndecidedKind::Quota,
        1,
        &["--model", "m"],
        r#"
error[quota]: the endpoint responds with 200 OK, and an error: "You exceeded your current quota" (insufficient_quota)
"#,
    );
    let error = r#"data: {"type":"error","sequence_number":0,"code":"invalid_api_key","message":"no such key","param":null}"#;
    let stream = format!("event: error\n{error}\n\n");
    ends(
        "key-200",
        &Server::new(move |_, socket| answer(socket, "200 OK", "text/event-stream", &stream)),
        UndecidedKind::Auth,
        1,
        &["--model", "m"],
        r#"
error[auth]: the endpoint responds with 200 OK, and an error: "no such key" (invalid_api_key)
"#,
    );
}

#[test]
fn another_content_type_is_named() {
    let server = always("200 OK", "text/plain", "data: {}\n\n");
    let run = conformance(&["--target", &server.url, "--model", "m", "text/hello::answer"]);
    expect(&run, 1, &["a stream was requested, but the content type is text/plain, not text/event-stream"]);
}

#[test]
fn a_gateway_that_stops_is_told_with_the_last_request_that_it_took() {
    // It crashes on the third request.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let url = format!("http://{}", listener.local_addr().expect("it is bound"));
    thread::spawn(move || {
        for mut stream in listener.incoming().take(3).map_while(Result::ok) {
            let mut request = vec![0; 65_536];
            let length = std::io::Read::read(&mut stream, &mut request).unwrap_or_default();
            let request = String::from_utf8_lossy(&request[..length]).into_owned();
            if request.contains("three words") {
                let request = Request { body: request, ..Request::default() };
                text(&request, &mut stream);
            }
        }
    });
    let run = core(&url, &["--model", "m"]);
    assert_eq!(run.code, Some(2), "{}\n{}", run.stdout, run.stderr);
    for words in
        ["error[network]: the endpoint stopped answering after ", "connection refused", "look into its log"]
    {
        assert!(run.stdout.contains(words), "{words}: {}", run.stdout);
    }
    assert!(!run.stdout.contains("correct --target"), "{}", run.stdout);
    assert!(run.stderr.contains("stopped after "), "{}", run.stderr);
}

#[test]
fn a_gateway_that_stops_at_last_is_told_so() {
    // The last request of the run crashes it: the other reports stay.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let url = format!("http://{}", listener.local_addr().expect("it is bound"));
    thread::spawn(move || {
        let mut stream = listener.incoming().next().and_then(Result::ok).expect("a request comes");
        let mut request = [0; 65_536];
        let length = std::io::Read::read(&mut stream, &mut request).unwrap_or_default();
        let request = String::from_utf8_lossy(&request[..length]).into_owned();
        text(&Request { body: request, ..Request::default() }, &mut stream);
    });
    let run = conformance(&["--target", &url, "--model", "m", "text/hello", "text/hello.json"]);
    assert_eq!(run.code, Some(2), "{}\n{}", run.stdout, run.stderr);
    for words in ["the endpoint stopped answering after text/hello: ", "look into its log", "passed"] {
        assert!(run.stdout.contains(words), "{words}: {}", run.stdout);
    }
}

#[test]
fn errors_that_scenarios_ask_for_are_judged() {
    // An endpoint that answers, and refuses unknown models as it should.
    let server = Server::new(|request, stream| {
        if request.body.contains("no-such-model") {
            answer(stream, "404 Not Found", "application/json", UNKNOWN);
        } else if request.body.contains("\"input\":42") {
            answer(stream, "503 Service Unavailable", "application/json", UNKNOWN);
        } else {
            text(request, stream);
        }
    });
    let run = conformance(&[
        "--target",
        &server.url,
        "--model",
        "m",
        "text/hello::answer",
        "error/unknown-model::answer",
    ]);
    expect(&run, 0, &["test error/unknown-model::answer", "2 passed"]);
    // A single response without capacity is no end.
    let run = conformance(&[
        "--target",
        &server.url,
        "--model",
        "m",
        "error/wrong-type::answer",
        "text/hello::answer",
    ]);
    expect(&run, 2, &["harness error: the endpoint responds with 503 Service Unavailable", "1 passed"]);
}

#[test]
fn a_failed_request_says_what_the_endpoint_said() {
    let server = Server::new(|request, stream| {
        if request.body.contains("tools") {
            let body = r#"{"error":{"message":"tools: not yet","type":"invalid_request_error"}}"#;
            answer(stream, "400 Bad Request", "application/json", body);
        } else {
            text(request, stream);
        }
    });
    let run =
        conformance(&["--target", &server.url, "--model", "m", "text/hello::answer", "call/single::answer"]);
    expect(
        &run,
        1,
        &["the response has status 400, not 200: \"tools: not yet\" (invalid_request_error)", "--without"],
    );
}

#[test]
fn the_first_model_that_is_listed_is_requested() {
    let models = r#"{"object":"list","data":[{"id":"a\u001b[2J"},{"id":"m-1"},{"id":"m-2"}]}"#;
    let server = Server::listing(models, text);
    let run = conformance(&["--target", &server.url, "text/hello::answer"]);
    expect(&run, 0, &[]);
    let line = "model m-1, the first of 2 that GET /models lists; --model chooses";
    assert!(run.stderr.contains(line), "{}", run.stderr);
    assert!(server.requests()[0].body.contains("\"m-1\""));
    // Where none is listed, there is a default.
    let server = Server::new(text);
    let run = conformance(&["--target", &server.url, "text/hello::answer"]);
    expect(&run, 0, &[]);
    let line = "model default: GET /models responds with 404 Not Found; --model chooses";
    assert!(run.stderr.contains(line), "{}", run.stderr);
    // A list of tests sends nothing.
    let server = Server::listing(models, text);
    expect(&conformance(&["--target", &server.url, "text/hello::answer", "--list"]), 0, &[]);
    assert_eq!(server.connections(), 0);
}

#[test]
fn the_simplest_scenario_is_the_first() {
    let server = Server::new(text);
    core(&server.url, &["--model", "m"]);
    let first = &server.requests()[0];
    assert!(first.body.contains("Say hello to the world in three words."), "{}", first.body);
}

#[test]
fn a_run_is_replaced_and_nothing_else() {
    let (server, out) = (Server::new(text), folder("replaced"));
    let run = |more: &[&str]| {
        let args = ["--target", &server.url, "--model", "m", "--out", path(&out)];
        conformance(&[&args[..], more].concat())
    };
    expect(&run(&["text/hello"]), 0, &[]);
    let again = run(&["text/hello"]);
    assert!(again.code == Some(2) && again.stderr.contains("--replace"), "{}", again.stderr);
    fs::write(out.join("notes.txt"), "mine").expect("it can be written");
    expect(&run(&["text/hello::answer", "--replace"]), 0, &[]);
    assert_eq!(fs::read_to_string(out.join("notes.txt")).expect("it is there"), "mine");
    assert!(!out.join("exchanges/text/hello.json.exchange").exists());
    // What is not of a run stays, and so does the run with it.
    fs::write(out.join("exchanges/mine.txt"), "mine").expect("it can be written");
    let other = run(&["text/hello", "--replace"]);
    assert!(other.code == Some(2) && other.stderr.contains("is no exchange of a run"), "{}", other.stderr);
    assert!(out.join("exchanges/mine.txt").exists());
    // A folder that is not of a run is refused.
    let foreign = folder("replaced-foreign");
    fs::create_dir_all(&foreign).expect("it can be made");
    fs::write(foreign.join("run.json"), "{\"version\":1}").expect("it can be written");
    let refused =
        conformance(&["--target", &server.url, "--model", "m", "--out", path(&foreign), "--replace"]);
    assert!(
        refused.code == Some(2) && refused.stderr.contains("no run that --replace could"),
        "{}",
        refused.stderr
    );
    assert!(foreign.join("run.json").exists());
}

#[test]
fn repeated_failures_show_whether_there_are_responses() {
    let out = folder("repeated");
    let server = Server::new(|_, stream| {
        let stream_with_gap = golden("openai/text").replace("\"sequence_number\":3", "\"sequence_number\":9");
        answer(stream, "200 OK", "text/event-stream", stream_with_gap);
    });
    let args = ["--target", &server.url, "--model", "m", "state/continued::sequence", "--out", path(&out)];
    expect(&conformance(&args), 1, &["test state/continued::sequence"]);
    let again = conformance(&["run", "--rerun-failed", path(&out)]);
    expect(
        &again,
        1,
        &["test state/continued::answer", "test state/stored::answer", "test state/continued::sequence"],
    );
}
