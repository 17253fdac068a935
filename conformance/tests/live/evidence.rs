//! The evidence of a run.

use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use conformance::results::{ProfileState, RunState};

use crate::program::{certificate, command, conformance, expect, files, folder, path};
use crate::server::{Server, golden, head, text, write};

#[test]
fn secrets_are_in_no_file() {
    const MARKS: [&str; 4] = ["sk-MARK-11111111", "MARK-22222222", "MARK-33333333", "MARK-44444444"];
    /// The user and the password of the target, as they are sent.
    const BASIC: &str = "dXNlcjpNQVJLLTMzMzMzMzMz";
    // The server echoes the request in headers and in the body, split anywhere.
    let server = Server::new(|request, stream| {
        let told = request.headers.replace("\r\n", " ");
        let more = format!(
            "set-cookie: s=MARK-44444444\r\nx-request-id: {0}-MARK-55555555\r\nlocation: http://h.test/?k={0}\r\n",
            MARKS[0]
        );
        head(stream, "200 OK", "text/event-stream", &more);
        for piece in format!(": {told} {BASIC}\n\n{}", golden("openai/text")).as_bytes().chunks(7) {
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
    for mark in ["11111111", "22222222", "33333333", "44444444", "55555555", &BASIC[8..]] {
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
#[cfg(unix)]
fn an_interrupted_run_keeps_its_evidence() {
    for signal in ["-INT", "-QUIT", "-TERM"] {
        let server = Server::new(|request, stream| {
            if request.number == 2 {
                head(stream, "200 OK", "text/event-stream", "");
                thread::sleep(Duration::from_secs(20));
            }
            text(request, stream);
        });
        let out = folder(&format!("interrupted{signal}"));
        let args = ["--target", &server.url, "text/", "--attempts", "1", "--out", path(&out)];
        let child = command(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        let start = Instant::now();
        while server.requests().len() < 3 && start.elapsed() < Duration::from_secs(10) {
            thread::sleep(Duration::from_millis(20));
        }
        thread::sleep(Duration::from_millis(100));
        let killed = Command::new("kill").args([signal, &child.id().to_string()]).status();
        assert!(killed.is_ok_and(|status| status.success()));
        let output = child.wait_with_output().expect("it ends");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(stderr.contains("interrupted after 3 of "), "{stderr}");
        assert!(start.elapsed() < Duration::from_secs(15));
        let run = fs::read_to_string(out.join("run.json")).expect("it is written");
        assert!(run.contains("\"state\": \"interrupted\""), "{run}");
        expect(&conformance(&["verify", path(&out)]), 0, &["consistent: these 3 exchanges"]);
        assert!(out.join("report.json").exists() && out.join("certificate.md").exists());
        let certificate = certificate(&out);
        assert_eq!(certificate.state, RunState::Interrupted);
        for profile in &certificate.profiles {
            assert_eq!(profile.state, ProfileState::Incomplete, "{}", profile.name);
            let mut reasons = profile.reasons.iter();
            assert!(reasons.any(|reason| reason.reason == "the run did not finish"), "{}", profile.name);
        }
    }
}
