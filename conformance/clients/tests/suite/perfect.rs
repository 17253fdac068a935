//! A client that does everything right passes everything.

use std::time::Duration;

use clients::{ClientSuite, Mode};
use results::{ClientOutcome, ClientRun, ClientTest, ExpectedFailure, FailOn, Outcome, Transport};

use super::{at_once, run, suite};

#[test]
fn a_perfect_client_is_right_or_reports_in_every_case_dialect_and_transport() {
    let dialects = [
        ("openai", 450),
        ("open-responses", 400),
        ("open-responses@2026-01-15", 200),
        ("vllm-responses", 50),
    ];
    at_once(&dialects, |(name, least)| {
        let suite = ClientSuite {
            dialect: spec::dialect(name).unwrap(),
            fail_on: FailOn::Should,
            ..suite("perfect")
        };
        // Other tests are about retries.
        let run = run(&suite, &|name| !name.starts_with("retry/"));
        assert_right(name, &run, *least, |_| true);
        assert_eq!(run.outcome, Outcome::Passed);
    });
}

/// Checks that each case is right or reported, with good requests, and that a client returns the responses of pages that it
/// must survive, and reports the errors that it must report.
fn assert_right(name: &str, run: &ClientRun, least: usize, is_page: impl Fn(&ClientTest) -> bool) {
    let is_fine = |case: &&ClientTest| {
        matches!(case.about.outcome, ClientOutcome::Right | ClientOutcome::Reported)
            && case.requests().next().is_none()
    };
    let of = |case: &ClientTest| {
        let (name, outcome) = (&case.name, case.about.outcome.name());
        format!("{name} {}: {outcome} {} {:?}", case.about.expect, case.reason, case.findings)
    };
    let wrong: Vec<String> = run.tests.iter().filter(|case| !is_fine(case)).map(of).collect();
    assert!(wrong.is_empty(), "{name}:\n{}", wrong.join("\n"));
    assert!(run.tests.len() >= least, "{name}: {} cases", run.tests.len());
    for case in run.tests.iter().filter(|case| is_page(case)) {
        let due = match &*case.about.expect {
            "must-survive" => Some(ClientOutcome::Right),
            "must-report" => Some(ClientOutcome::Reported),
            _ => None,
        };
        assert!(
            due.is_none_or(|due| due == case.about.outcome),
            "{}: {}",
            case.name,
            case.about.outcome.name()
        );
    }
}

/// The requests of all goldens of these APIs are valid, and a client that reads their events passes.
#[test]
fn a_client_that_reads_events_is_right_or_reports_in_every_case_of_other_apis() {
    at_once(&[("anthropic", 600), ("chat", 300)], |(name, least)| {
        let dialect = spec::dialect(name).unwrap();
        let suite = ClientSuite {
            dialect,
            transports: vec![Transport::Sse, Transport::Json],
            fail_on: FailOn::Should,
            has_members: true,
            ..suite("perfect")
        };
        // Spoken output never finishes, which this client takes for a lost connection, and it refuses what vendors change.
        let is_beyond = |name: &str| {
            ["chat/audio", "azure-chat/text", "groq/reasoning", "defect/prompt_filter_first"]
                .iter()
                .any(|it| name.ends_with(it))
        };
        let run = run(&suite, &|name| !is_beyond(name) && !name.starts_with("retry/"));
        assert_right(name, &run, *least, |case| {
            catalogue::CLIENT_CASES.iter().any(|row| row.id == case.name)
        });
        let unread = catalogue::REQUESTS.iter().filter(|(golden, _)| {
            let own = golden.split_once('/').and_then(|(own, _)| spec::dialect(own)).expect(golden);
            own.is_or_extends(name) && !run.tests.iter().any(|case| case.name == format!("sound/{golden}"))
        });
        let unread: Vec<&str> = unread.map(|(golden, _)| *golden).filter(|name| !is_beyond(name)).collect();
        assert!(unread.is_empty(), "{unread:?}");
    });
}

#[test]
fn a_program_can_be_started_for_each_case() {
    let script = r#"curl -s -m 2 -d '{}' "$1/responses" >/dev/null
    case "$CONFORMANCE_CASE" in
        text/hello) test "$CONFORMANCE_BASE_URL" = "$1" && grep -q '"model"' "$CONFORMANCE_REQUEST" && printf 'Hello, world.\n';;
        text/two-parts) echo log; echo '{"status":"ok","text":"First part.Second part."}'; echo;;
        text/refusal) exit 89;;
        text/empty) sleep 60;;
        *) echo "no such thing" >&2; exit 3;;
    esac"#;
    let words = ["sh", "-c", script, "sh"];
    let suite = ClientSuite {
        command: words.map(Into::into).to_vec(),
        mode: Mode::Spawn,
        transports: vec![Transport::Sse],
        timeout: Some(Duration::from_millis(100)),
        jobs: 4,
        ..suite("perfect")
    };
    let wanted =
        ["text/hello", "text/two-parts", "text/refusal", "text/unicode", "error/rate-limit", "text/empty"];
    let run = run(&suite, &|name| wanted.contains(&name));
    let told: Vec<(&str, &str)> =
        run.tests.iter().map(|case| (case.name.as_str(), case.about.outcome.name())).collect();
    let expected = [
        ("error/rate-limit", "reported"),
        ("text/empty", "hung"),
        ("text/hello", "right"),
        ("text/refusal", "not exercised"),
        ("text/two-parts", "right"),
        ("text/unicode", "fragile"),
    ];
    assert_eq!(told, expected, "{:#?}", run.tests);
    assert!(run.tests[0].reason.contains("exit code 3: no such thing"), "{}", run.tests[0].reason);
}

#[test]
fn a_client_fetches_its_cases_over_http() {
    use std::io::{Read as _, Write as _};
    let suite = ClientSuite { mode: Mode::Server, transports: vec![Transport::Sse], ..suite("perfect") };
    let wanted = ["text/hello", "text/empty", "error/rate-limit", "text/refusal"];
    let cases = suite.cases(&|name| wanted.contains(&name));
    let (sender, addresses) = std::sync::mpsc::channel::<String>();
    let client = std::thread::spawn(move || {
        let address = addresses.recv().unwrap();
        let ask = |path: &str, body: &str| {
            let mut stream = std::net::TcpStream::connect(address.trim_start_matches("http://")).unwrap();
            let length = body.len();
            write!(
                stream,
                "POST {path} HTTP/1.0\r\nhost: localhost\r\ncontent-length: {length}\r\n\r\n{body}"
            )
            .unwrap();
            let mut text = String::new();
            stream.read_to_string(&mut text).unwrap();
            text
        };
        let mut names = Vec::new();
        loop {
            let next = ask("/next", "");
            let Some((_, body)) = next.split_once("\r\n\r\n").filter(|_| next.contains(" 200 ")) else {
                break;
            };
            let case =
                body.split("\"case\":\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap().to_owned();
            let status = if case == "text/hello" { "ok" } else { "error" };
            let base = body.split("/case/").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
            ask(&format!("/case/{base}/responses"), "{}");
            let told = ask(
                "/result",
                &format!("{{\"case\":\"{case}\",\"status\":\"{status}\",\"text\":\"Hello, world.\"}}"),
            );
            assert!(told.contains(" 204 "), "{told}");
            assert!(ask("/result", &format!("{{\"case\":\"{case}\",\"status\":\"ok\"}}")).contains(" 400 "));
            names.push(case);
        }
        assert!(ask("/result", "nonsense").contains(" 400 "));
        names.len()
    });
    let run = suite.run(cases, &|address| sender.send(address.to_owned()).unwrap()).unwrap();
    assert_eq!(client.join().unwrap(), 4);
    let told: Vec<&str> = run.tests.iter().map(|case| case.about.outcome.name()).collect();
    assert_eq!(told, ["reported", "fragile", "right", "fragile"]);
}

#[test]
fn expected_failures_do_not_fail_a_run_until_they_are_over() {
    let expected = |rule: &str, tests: &[&str]| ExpectedFailure {
        rule: rule.to_owned(),
        tests: tests.iter().map(ToString::to_string).collect(),
        reason: "known".to_owned(),
    };
    let lies = ClientSuite { transports: vec![Transport::Sse], ..suite("lies") };
    let wanted = |name: &str| ["text/hello", "text/two-parts"].contains(&name);
    let outcome = |expected: Vec<ExpectedFailure>| {
        let run = run(&ClientSuite { expected, ..lies.clone() }, &wanted);
        (run.outcome, run.stale.len())
    };
    assert_eq!(outcome(vec![]), (Outcome::Failed, 0));
    assert_eq!(outcome(vec![expected("client/wrong", &["text/hello"])]), (Outcome::Failed, 0));
    let both = ["text/hello", "text/two-parts"];
    assert_eq!(outcome(vec![expected("client/wrong", &both)]), (Outcome::Passed, 0));
    assert_eq!(outcome(vec![expected("client/silent", &both)]), (Outcome::Failed, 2));
}

#[test]
fn a_command_that_is_no_client_is_refused() {
    for (words, told) in [
        (&["/no/such/program"][..], "cannot be started"),
        (&["true"], "did not reply"),
        (&["cat"], "did not reply"),
    ] {
        let suite = ClientSuite {
            command: words.iter().map(Into::into).collect(),
            timeout: Some(Duration::from_millis(10)),
            ..suite("perfect")
        };
        let refused = suite.run(suite.cases(&|name| name.starts_with("text/")), &|_| {}).unwrap_err();
        assert!(refused.to_string().contains(told), "{refused}");
    }
}
