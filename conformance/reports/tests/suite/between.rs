//! Reports of both ends of a gateway, in every format.

use std::collections::BTreeSet;

use crate::common::{assert_schema, assert_xml, body, plain};
use catalogue::Level;
use reports::diff::{self, Diff, TrialChange};
use reports::{Detail, Form, render};
use results::{
    BETWEEN_RUN_VERSION, BetweenMoment, BetweenPair, BetweenRun, BetweenSide, BetweenTest, Declared,
    ExpectedFailure, FailOn, LeftOut, LevelChange, OfPair, Outcome, StreamOutcome, TestFinding, Unaccounted,
    Verdict,
};

/// Words of a hostile gateway.
const HOSTILE: &str = "<script>alert(1)</script> \u{1b}[31m | `x` \u{202e}]]> ::error::y\n::warning::z";

fn finding(rule: &str, level: Level, kind: &str, message: &str, sides: [&str; 2]) -> TestFinding {
    TestFinding {
        rule: rule.to_owned(),
        level,
        fails: false,
        message: message.to_owned(),
        kind: kind.to_owned(),
        breaks: Vec::new(),
        upstream: sides[0].to_owned(),
        client: sides[1].to_owned(),
    }
}

fn test(name: &str, stream: Option<StreamOutcome>, findings: Vec<TestFinding>) -> BetweenTest {
    let (pair, rest) = name.split_once('/').unwrap();
    let (front, upstream) = pair.split_once('-').unwrap();
    BetweenTest {
        name: name.to_owned(),
        verdict: Verdict::Pass,
        findings,
        files: ["client", "upstream"].map(|side| format!("exchanges/{name}/{side}.exchange")).to_vec(),
        ms: 12,
        about: OfPair {
            case: rest.split('@').next().unwrap().to_owned(),
            front: front.to_owned(),
            upstream: upstream.to_owned(),
            stream,
            moments: moments(name),
            ..OfPair::default()
        },
        ..BetweenTest::default()
    }
}

fn pair(front: &str, upstream: &str, mode: &str) -> BetweenPair {
    BetweenPair {
        front: front.to_owned(),
        upstream: upstream.to_owned(),
        mode: mode.to_owned(),
        passed: 0,
        failed: 0,
        skipped: 0,
    }
}

/// Returns a run that is not concluded.
fn open_run() -> BetweenRun {
    use StreamOutcome as Of;
    let text = |sides| {
        finding("answer/text", Level::Must, "text", "the client's text differs from the upstream's", sides)
    };
    let mut tests = vec![
        test("responses-chat/text/plain", Some(Of::Complete), vec![]),
        test("responses-chat/text/unicode", Some(Of::Complete), vec![text(["Grüße, Welt", "Gr??e, Welt"])]),
        test(
            "responses-chat/text/plain@cut:2",
            Some(Of::FalseComplete),
            vec![
                finding(
                    "made-up/complete",
                    Level::Must,
                    "cut",
                    "the upstream was cut after 2 events, but the client's stream ends with response.completed",
                    ["", ""],
                ),
                text(["Hello, world, and more", "Hello"]),
            ],
        ),
        test(
            "responses-chat/text/plain@429",
            Some(Of::JsonError),
            vec![finding(
                "made-up/retry-after",
                Level::Should,
                "retry-after",
                "the header Retry-After is missing",
                ["retry-after: 7", ""],
            )],
        ),
        test(
            "messages-messages/text/plain",
            Some(Of::Complete),
            vec![finding("made-up/hostile", Level::May, HOSTILE, HOSTILE, [HOSTILE, HOSTILE])],
        ),
        test("messages-messages/tools/one", Some(Of::Hung), vec![text(["Hi", "Ho"])]),
        test("messages-messages/text/image", None, vec![]),
        test("messages-messages/text/tls", None, vec![]),
    ];
    tests[0]
        .about
        .limits
        .push(["reasoning/seal".to_owned(), "Chat Completions has no signatures".to_owned()]);
    tests[1]
        .about
        .limits
        .push(["reasoning/seal".to_owned(), "Chat Completions has no signatures".to_owned()]);
    (tests[6].verdict, tests[6].reason) = (Verdict::NotExercised, "the client was refused".to_owned());
    (tests[7].verdict, tests[7].reason) = (Verdict::HarnessError, HOSTILE.to_owned());
    BetweenRun {
        between_run: BETWEEN_RUN_VERSION,
        suite: "0.1.0".to_owned(),
        gateway: "my-gateway".to_owned(),
        url: "http://127.0.0.1:4000/v1".to_owned(),
        command: vec!["my-gateway".to_owned(), "--config".to_owned(), "a b.yaml".to_owned()],
        is_reference: false,
        upstream_port: Some(9001),
        model: "m".to_owned(),
        declared: Declared::default(),
        given_url: None,
        timeout: Some(30_000),
        limit: None,
        typed: Some("conformance between --front responses --out out -- my-gateway".to_owned()),
        is_unfinished: false,
        outcome: Outcome::Passed,
        fail_on: FailOn::Breaks,
        levels: Vec::new(),
        shard: None,
        profiles: BTreeSet::new(),
        sessions: Vec::new(),
        pairs: vec![pair("responses", "chat", "transform"), pair("messages", "messages", "passthrough")],
        causes: Vec::new(),
        tests,
        unaccounted: vec![
            Unaccounted { request: "GET /v1/models".to_owned(), times: 3, body: String::new() },
            Unaccounted { request: "POST /v1/x".to_owned(), times: 1, body: HOSTILE.to_owned() },
        ],
        stale: Vec::new(),
        not_played: vec![LeftOut { clients: vec![HOSTILE.to_owned()], reason: "not installed".to_owned() }],
        ms: 12_345,
        folder: Some("out".to_owned()),
    }
}

fn expected() -> Vec<ExpectedFailure> {
    let expect = |rule: &str, tests: &[&str]| ExpectedFailure {
        rule: rule.to_owned(),
        tests: tests.iter().map(|test| (*test).to_owned()).collect(),
        reason: "it is known".to_owned(),
    };
    vec![
        expect(
            "answer/text",
            &["messages-messages/tools/one", "responses-chat/text/plain", "responses-chat/text/plain@cut:2"],
        ),
        expect("answer/usage", &["messages-messages/text/image", "no/such-test"]),
    ]
}

fn moments(test: &str) -> Vec<BetweenMoment> {
    let moment = |at_us, side, what: &str| BetweenMoment { at_us, side, what: what.to_owned() };
    vec![
        moment(0, BetweenSide::Client, &format!("→ POST /v1/responses for {test}")),
        moment(1_234, BetweenSide::Upstream, "→ POST /v1/chat/completions {\"model\":\"m\"}"),
        moment(1_234_567, BetweenSide::Upstream, HOSTILE),
        moment(1_234_999, BetweenSide::Client, "← event: response.completed"),
    ]
}

fn run() -> BetweenRun {
    open_run().expecting(&expected())
}

fn rendered(form: Form) -> String {
    render(&run(), form, Level::May, plain())
}

fn cause_names(run: &BetweenRun) -> Vec<String> {
    run.causes.iter().map(|cause| format!("{} {} {}", cause.rule, cause.fails, cause.tests)).collect()
}

#[test]
fn causes_come_first_by_what_they_do() {
    let run = run();
    assert_eq!(
        cause_names(&run),
        [
            "answer/text true 3",
            "made-up/complete true 1",
            "made-up/retry-after false 1",
            "made-up/hostile false 1"
        ]
    );
    // The smallest example that is not expected.
    let (example, _) = run.first_of(&run.causes[0]).unwrap();
    assert_eq!(example.name, "responses-chat/text/unicode");
    assert_eq!(run.causes[0].groups, ["responses-chat", "messages-messages"]);
    assert_eq!(run.clone().concluded(), run);
}

#[test]
fn pairs_are_counted() {
    let counts: Vec<[u64; 3]> =
        run().pairs.iter().map(|pair| [pair.passed, pair.failed, pair.skipped]).collect();
    assert_eq!(counts, [[2, 2, 0], [1, 1, 2]]);
}

#[test]
fn what_fails_depends_on_the_terms() {
    let failing = |run: BetweenRun| {
        let run = run.concluded();
        let failed = run.tests.iter().filter(|test| test.verdict == Verdict::Fail);
        failed.map(|test| test.short_name().to_owned()).collect::<Vec<_>>()
    };
    let of = |fail_on| failing(BetweenRun { fail_on, ..open_run() });
    let must = ["text/unicode", "text/plain@cut:2", "tools/one"];
    assert_eq!(of(FailOn::Must), must);
    assert_eq!(of(FailOn::Breaks), must);
    assert_eq!(of(FailOn::Should), ["text/unicode", "text/plain@cut:2", "text/plain@429", "tools/one"]);
    assert_eq!(of(FailOn::May).len(), 5);
    // What breaks a client fails, unless only MUST rules do.
    let breaks = |fail_on| {
        let mut run = BetweenRun { fail_on, ..open_run() };
        run.tests[3].findings[0].breaks = vec!["a-client".to_owned()];
        failing(run).contains(&"text/plain@429".to_owned())
    };
    assert_eq!([breaks(FailOn::Must), breaks(FailOn::Breaks)], [false, true]);
    let with = |rule: &str, usual, level| {
        let levels = vec![LevelChange { rule: rule.to_owned(), usual, level }];
        BetweenRun { levels, ..open_run() }
    };
    let off = with("answer/text", Level::Must, Level::Off);
    assert_eq!(failing(off.clone()), ["text/plain@cut:2"]);
    assert!(!cause_names(&off.clone().concluded()).iter().any(|name| name.starts_with("answer/text")));
    assert_eq!(off.clone().concluded().concluded(), off.concluded());
    assert_eq!(failing(with("answer/text", Level::Must, Level::Should)), ["text/plain@cut:2"]);
    assert_eq!(failing(with("made-up/retry-after", Level::Should, Level::Must)).len(), 4);
    // What is doubtful keeps its lower level.
    assert_eq!(failing(with("made-up/retry-after", Level::Must, Level::Must)), must);
}

#[test]
fn only_what_is_listed_is_expected() {
    let run = run();
    let test = |name: &str| run.tests.iter().find(|test| test.short_name() == name).unwrap();
    assert_eq!(test("tools/one").expected.as_deref(), Some("it is known"));
    // Another rule fails there, too.
    assert_eq!(test("text/plain@cut:2").expected, None);
    // It passes; a test that was not judged, or not run, may still fail.
    assert_eq!(run.stale, ["answer/text in responses-chat/text/plain"]);
}

#[test]
fn outcomes_follow_from_tests() {
    let of = |names: &[&str]| {
        let mut run = open_run();
        run.tests.retain(|test| names.contains(&test.short_name()));
        run
    };
    assert_eq!(of(&["text/plain"]).concluded().outcome, Outcome::Passed);
    assert_eq!(of(&["text/plain", "text/image"]).concluded().outcome, Outcome::Passed);
    assert_eq!(of(&["text/image"]).concluded().outcome, Outcome::Incomplete);
    assert_eq!(of(&["text/plain", "text/tls"]).concluded().outcome, Outcome::Incomplete);
    assert_eq!(of(&["tools/one", "text/tls"]).concluded().outcome, Outcome::Failed);
    assert_eq!(of(&["tools/one"]).expecting(&expected()).outcome, Outcome::Passed);
    assert_eq!(of(&["text/plain"]).expecting(&expected()).outcome, Outcome::Failed);
}

#[test]
fn human() {
    let text = rendered(Form::Human);
    assert!(text.lines().last().unwrap().starts_with("failed: "), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn human_with_all_tests() {
    insta::assert_snapshot!(render(
        &run(),
        Form::Human,
        Detail { level: Level::May, is_verbose: true },
        plain()
    ));
}

#[test]
fn markdown() {
    insta::assert_snapshot!(rendered(Form::Markdown));
}

#[test]
fn ndjson() {
    let text = rendered(Form::Ndjson);
    let lines: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), run().tests.len() + run().causes.len() + 1);
    insta::assert_snapshot!(text);
}

#[test]
fn github() {
    let text = rendered(Form::Github);
    assert!(
        text.lines().all(|line| line.starts_with("::error title=")
            || line.starts_with("::warning title=")
            || line.starts_with("::notice title=")),
        "{text}"
    );
    insta::assert_snapshot!(text);
}

#[test]
fn sarif() {
    let text = rendered(Form::Sarif);
    let log: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(log["runs"][0]["results"].as_array().unwrap().len(), run().causes.len());
    insta::assert_snapshot!(text);
}

#[test]
fn junit() {
    let text = rendered(Form::Junit);
    assert_xml(&text);
    insta::assert_snapshot!(text);
}

#[test]
fn html() {
    let body = body(&rendered(Form::Html));
    assert!(body.contains("Gr<mark>üß</mark>e, Welt") && body.contains("Gr<mark>??</mark>e, Welt"), "{body}");
    insta::assert_snapshot!(body);
}

#[test]
fn json_is_read_again_as_it_was() {
    let text = rendered(Form::Json);
    let read: BetweenRun = serde_json::from_str(&text).expect("it is a run");
    let mut run = BetweenRun { folder: None, ..run() };
    run.tests.iter_mut().for_each(|test| test.about.moments.clear());
    assert_eq!(read, run);
    assert_eq!(run.clone().concluded(), run);
    assert_schema::<BetweenRun>(&text);
}

#[test]
fn nothing_of_a_gateway_controls_a_terminal_or_forges_a_line() {
    for form in Form::ALL {
        for is_verbose in [false, true] {
            let text = render(&run(), form, Detail { level: Level::May, is_verbose }, plain());
            assert!(!text.contains(['\u{1b}', '\u{202e}']), "{form:?}: {text}");
            // Pages keep the lines of what is compared.
            let forges = text.lines().any(|line| line.starts_with("::warning::z"));
            assert!(!forges || form == Form::Html, "{form:?}: {text}");
        }
    }
}

#[test]
fn reports_of_many_causes_are_bounded() {
    let mut run = open_run();
    run.tests[1].findings = (0..2000)
        .map(|at| finding("answer/text", Level::Must, &format!("kind {at}"), &"x".repeat(5000), ["a", "b"]))
        .collect();
    let run = run.concluded();
    assert_eq!(run.causes.len(), 2000 + 4);
    for form in [Form::Human, Form::Github, Form::Markdown, Form::Junit] {
        let text = render(&run, form, Level::May, plain());
        assert!(text.len() < 200_000, "{form:?}: {}", text.len());
    }
}

#[test]
fn diff() {
    let mut later = open_run();
    later.tests.retain(|test| test.short_name() != "text/image");
    later.tests[0].findings = later.tests[1].findings.split_off(0);
    later.tests[2].findings.truncate(1);
    later.tests[2].findings[0].rule = "made-up/other".to_owned();
    let later = later.concluded();
    let run = run();
    let diff = Diff::new(&run, &later);
    assert!(diff.is_worse() && Diff::new(&run, &run).is_empty());
    let names = |all: &[TrialChange]| all.iter().map(|one| one.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&diff.worse_trials), ["responses-chat/text/plain"]);
    assert_eq!(names(&diff.better_trials), ["responses-chat/text/unicode"]);
    insta::assert_snapshot!(diff::human(&diff, plain()));
}

#[test]
fn badge() {
    insta::assert_snapshot!(rendered(Form::Badge));
}
