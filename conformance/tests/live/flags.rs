//! Flags of a run: selection, limits, attempts and output files.

use std::fs;
use std::path::Path;

use conformance::gateway::{Embedded, Settings};

use crate::program::{command, conformance, expect, folder, outcome, path};
use crate::server::{Request, Server, answer, golden, response, text};

/// Returns an endpoint that only creates responses, and answers other routes with this status and body.
fn creating(status: &'static str, body: &'static str) -> Server {
    Server::new(move |request, stream| match &*request.path {
        "/v1/responses" => text(request, stream),
        _ => answer(stream, status, "application/json", body),
    })
}

#[test]
fn missing_routes_are_unsupported_and_no_failure() {
    for (status, body) in [
        ("404 Not Found", r#"{"detail":"Not Found"}"#),
        ("404 Not Found", ""),
        (
            "404 Not Found",
            r#"{"error":{"message":"Invalid URL (GET /v1/responses/resp_1)","type":"invalid_request_error","param":null,"code":null}}"#,
        ),
        ("405 Method Not Allowed", r#"{"detail":"Method Not Allowed"}"#),
        ("501 Not Implemented", ""),
    ] {
        let server = creating(status, body);
        let tests = ["state/retrieved", "state/input-items", "compaction/compacted"];
        let run = conformance(&[&["run", "--target", &server.url], &tests[..]].concat());
        let words = [
            "unsupported: retrieval (GET /responses/{id} responds with",
            "--without compaction,input-items,retrieval",
        ];
        expect(&run, 0, &words);
        // Claimed features must be supported.
        let claimed = ["--features", "store,retrieval,input-items,compaction"];
        let run = conformance(&[&["run", "--target", &server.url], &claimed[..], &tests[..]].concat());
        expect(&run, 1, &["test state/retrieved::answer", "the response has status"]);
        // Scenarios of missing features are not sent.
        let run = conformance(&["run", "--target", &server.url, "--without", "retrieval", "state/retrieved"]);
        expect(&run, 0, &["the endpoint lacks retrieval (--without)"]);
    }
}

#[test]
fn responses_that_are_lost_are_failures() {
    let body = r#"{"error":{"message":"Response resp_1 not found.","type":"invalid_request_error","param":"id","code":null}}"#;
    let server = creating("404 Not Found", body);
    let run = conformance(&["run", "--target", &server.url, "state/retrieved::"]);
    expect(&run, 1, &["the response has status 404, not 200"]);
}

#[test]
fn evidence_of_unsupported_routes_is_verified() {
    let out = folder("unsupported");
    let server = creating("404 Not Found", r#"{"detail":"Not Found"}"#);
    let run = conformance(&[
        "run",
        "--target",
        &server.url,
        "state/retrieved",
        "--without",
        "mcp",
        "--out",
        path(&out),
    ]);
    expect(&run, 0, &["--without mcp,retrieval"]);
    expect(&conformance(&["verify", path(&out)]), 0, &["consistent: "]);
}

/// Returns a stream without an end.
fn endless(request: &Request) -> String {
    let stream = golden("openai/text");
    let end = stream.rfind("event: response.completed").unwrap_or(stream.len());
    if request.wants_stream() { stream[..end].to_owned() } else { String::new() }
}

#[test]
fn runs_stop_after_failures() {
    let server = Server::new(|request, stream| {
        std::thread::sleep(std::time::Duration::from_millis(30));
        answer(stream, "200 OK", "text/event-stream", endless(request));
    });
    let run = conformance(&["run", "--target", &server.url, "--attempts", "1", "--fail-fast", "text/"]);
    expect(&run, 1, &["not sent: the run stopped after 1 failed test"]);
    let few = server.requests().len();
    assert!(few < 8, "{few} requests");
    let run = conformance(&["run", "--target", &server.url, "--attempts", "1", "text/"]);
    expect(&run, 1, &[]);
    assert!(server.requests().len() - few >= 15, "{}", server.requests().len());
}

#[test]
fn failed_tests_are_repeated() {
    let out = folder("repeated");
    let server = Server::new(|request, stream| {
        if request.wants_stream() {
            answer(stream, "200 OK", "text/event-stream", endless(request));
        } else {
            answer(stream, "200 OK", "application/json", response());
        }
    });
    let target = ["--target", &*server.url, "--model", "m"];
    expect(&conformance(&[&target[..], &["text/hello", "--out", path(&out)]].concat()), 1, &[]);
    // The target and the model are those of that run.
    let again = conformance(&["run", "--rerun-failed", path(&out), "--list"]);
    expect(&again, 0, &["text/hello::response: test"]);
    assert!(!again.stdout.contains("text/hello.json::wire"), "{}", again.stdout);
    let count = server.requests().len();
    expect(&conformance(&["run", "--rerun-failed", path(&out)]), 1, &["text/hello::response"]);
    assert!(server.requests()[count..].iter().all(|request| request.body.contains("\"m\"")));
}

#[test]
fn failing_exchanges_have_a_command_to_repeat_them() {
    let out = folder("curl");
    let server =
        Server::new(|request, stream| answer(stream, "200 OK", "text/event-stream", endless(request)));
    let target = ["--target", &*server.url, "--api-key", "sk-very-secret-key", "--out", path(&out)];
    let run = conformance(&[&target[..], &["text/hello::"]].concat());
    expect(&run, 1, &["reproduce with curl", "-H \"Authorization: Bearer $CONFORMANCE_API_KEY\""]);
    let report = conformance(&["report", path(&out)]);
    let line =
        report.stdout.lines().find(|line| line.trim_start().starts_with("curl ")).expect("it is printed");
    assert!(run.stdout.contains(line) && !line.contains("secret"), "{line}");
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", line.trim()]).env("CONFORMANCE_API_KEY", "k").env("no_proxy", "127.0.0.1");
    let count = server.requests().len();
    if let Ok(output) = shell.output() {
        // 127: there is no curl on this machine.
        assert!(output.status.success() || output.status.code() == Some(127), "{output:?}");
        if output.status.success() {
            let requests = server.requests();
            assert_eq!(requests[count].body, requests[count - 1].body);
            assert!(requests[count].headers.to_lowercase().contains("authorization: bearer k"));
        }
    }
}

#[test]
fn scenarios_that_take_several_attempts_are_flaky() {
    let out = folder("flaky");
    let server = Server::new(|request, stream| match request.number {
        0 | 1 => answer(stream, "200 OK", "text/event-stream", golden("openai/refusal")),
        _ => text(request, stream),
    });
    let run = conformance(&["run", "--target", &server.url, "text/hello::answer", "--out", path(&out)]);
    expect(&run, 0, &["flaky: 1 scenario\n  text/hello: the expected events occurred on attempt 3 of 3"]);
    let report = fs::read_to_string(out.join("report.json")).expect("it is written");
    let report: serde_json::Value = serde_json::from_str(&report).expect("it is JSON");
    assert_eq!(report["live"]["cases"][0]["missed"], 2);
    expect(&conformance(&["verify", path(&out)]), 0, &["consistent: "]);
}

#[test]
fn a_run_writes_reports_in_one_go() {
    let at = folder("at-once");
    fs::create_dir_all(&at).expect("it can be made");
    let file = |name: &str| path(&at).to_owned() + "/" + name;
    let reports = format!("junit={},markdown={}", file("a.xml"), file("a.md"));
    let run = conformance(&["run", "text/hello::", "--report", &reports, "--format", "json"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let json: serde_json::Value = serde_json::from_str(&run.stdout).expect("stdout is the report alone");
    assert_eq!(json["dialect"], "openai");
    assert!(!run.stderr.contains('\r'), "no progress in a pipe");
    for name in ["a.xml", "a.md"] {
        assert!(fs::read_to_string(at.join(name)).expect("it is written").contains("text/hello"), "{name}");
    }
    let notes = conformance(&["run", "text/hello::", "--level", "may"]);
    expect(&notes, 0, &[]);
}

/// Runs in a folder with this configuration.
fn configured(at: &Path, config: &str, args: &[&str]) -> crate::program::Outcome {
    fs::create_dir_all(at.join("below")).expect("it can be made");
    fs::write(at.join("conformance.toml"), config).expect("it can be written");
    outcome(command(args).current_dir(at.join("below")).env("TENANT_OF_TEST", "tenant-1"))
}

#[test]
fn targets_have_names_and_settings() {
    let server = Server::new(text);
    let config = format!(
        "[defaults]\nmodel = 'of-all'\nwithout = ['mcp']\nheaders = {{ x-tenant = '$TENANT_OF_TEST', x-a = '1' }}\n\
         [targets.staging]\nurl = '{}'\n[targets.staging.settings]\nmodel = 'of-staging'\nlimits = {{ attempts = 1 }}\n",
        server.url
    );
    let at = folder("configured");
    let run = |args: &[&str]| configured(&at, &config, args);
    expect(&run(&["run", "--target", "staging", "text/hello::", "--header", "X-A: 2"]), 0, &[]);
    let request = server.requests().pop().expect("it came");
    assert!(request.body.contains("\"of-staging\"") && request.headers.contains("x-tenant: tenant-1"));
    assert!(request.headers.contains("x-a: 2") && !request.headers.contains("x-a: 1"), "{}", request.headers);
    expect(&run(&["--target", "staging", "text/hello::", "--model", "staging"]), 0, &[]);
    assert!(server.requests().pop().expect("it came").body.contains("\"staging\""));
    // Flags win, and a URL has the settings of all targets.
    expect(&run(&["--target", "staging", "text/hello::", "--model", "mine"]), 0, &[]);
    assert!(server.requests().pop().expect("it came").body.contains("\"mine\""));
    expect(&run(&["--target", &server.url, "text/hello::"]), 0, &[]);
    assert!(server.requests().pop().expect("it came").body.contains("\"of-all\""));
    let mistaken = run(&["--target", "stagin"]);
    assert!(
        mistaken.code == Some(2) && mistaken.stderr.contains("did you mean staging?"),
        "{}",
        mistaken.stderr
    );
    let unknown = configured(&at, "[defaults]\nmodle = 'a'\n", &["--target", "x"]);
    assert!(unknown.code == Some(2) && unknown.stderr.contains("modle"), "{}", unknown.stderr);
    // The file does not affect the suite itself.
    expect(&run(&["text/hello::answer"]), 0, &["1 passed"]);
}

#[test]
fn an_endpoint_is_asked_what_it_supports() {
    let gateway = Embedded::start(Settings::new(&spec::openai::DIALECT)).expect("a port is free");
    let at = folder("init");
    fs::create_dir_all(&at).expect("it can be made");
    let init = |args: &[&str]| outcome(command(&[&["init"], args].concat()).current_dir(&at));
    let whole = init(&["--target", &gateway.url(), "--model", "m"]);
    expect(&whole, 0, &[]);
    for words in [
        "probes, with the scenarios",
        "  compaction/compacted  supported",
        "wrote conformance.toml",
        "--profile core",
    ] {
        assert!(whole.stderr.contains(words), "{words}: {}", whole.stderr);
    }
    let file = fs::read_to_string(at.join("conformance.toml")).expect("it is written");
    assert!(file.contains("websocket") && !file.contains("without"), "{file}");
    let again = init(&["--target", &gateway.url()]);
    assert!(again.code == Some(2) && again.stderr.contains("conformance.toml exists"), "{}", again.stderr);
    // One that has only the first route, and lists its models.
    fs::remove_file(at.join("conformance.toml")).expect("it is there");
    let models = r#"{"object":"list","data":[{"id":"gpt-a"},{"id":"b"}]}"#;
    let server = Server::listing(models, |request, stream| match &*request.path {
        "/v1/responses" if !request.headers.to_lowercase().contains("upgrade: websocket") => {
            text(request, stream);
        }
        _ => answer(stream, "404 Not Found", "application/json", r#"{"detail":"Not Found"}"#),
    });
    let poor = init(&["--target", &server.url, "--no-run"]);
    expect(&poor, 0, &[]);
    assert!(
        poor.stderr.contains("model gpt-a, the first of 2 that GET /models lists; --model chooses"),
        "{}",
        poor.stderr
    );
    let file = fs::read_to_string(at.join("conformance.toml")).expect("it is written");
    for words in [
        "model = \"gpt-a\"",
        "\"background\"",
        "\"cancellation\"",
        "\"compaction\"",
        "\"resumption\"",
        "\"retrieval\"",
        "\"tools\"",
    ] {
        assert!(file.contains(words), "{words}: {file}");
    }
    assert!(!file.contains("websocket"), "{file}");
    let listed = outcome(command(&["run", "--target", "default", "--list", "call/"]).current_dir(&at));
    expect(&listed, 0, &["call/single::answer"]);
    let nobody = init(&["--target", "http://127.0.0.1:9", "--model", "m", "--name", "x"]);
    assert_eq!(nobody.code, Some(2), "{}", nobody.stderr);
}

#[test]
fn a_whole_gateway_needs_no_without() {
    let gateway = Embedded::start(Settings::new(&spec::openai::DIALECT)).expect("a port is free");
    let url = gateway.url();
    let run = conformance(&["run", "--target", &url, "--profile", "stateful"]);
    expect(&run, 0, &[]);
    assert!(!run.stdout.contains("--without"), "{}", run.stdout);
}
