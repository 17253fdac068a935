//! Reports of clients, in every format.

use crate::common::{assert_schema, assert_xml, body, plain};
use reports::client::{ClientDiff, ClientForm, ClientMatrix, client_matrix, client_report};
use results::{
    CLIENT_RUN_VERSION, ClientCaseReport, ClientOutcome, ClientRun, ClientTally, Demand, Outcome,
    ProfileReport, ProfileState, Reason, RequestProblem, Specification, Transport, Verdict,
};

/// Words of a hostile client.
const HOSTILE: &str = "<script>alert(1)</script> \u{1b}[31m | `x` \u{202e}]]>";

fn case(name: &str, expect: &str, outcome: ClientOutcome, detail: &str) -> ClientCaseReport {
    ClientCaseReport {
        name: name.to_owned(),
        title: format!("The case {name}"),
        expect: expect.to_owned(),
        reason: "Clients meet it.".to_owned(),
        authority: "Open Responses, Streaming".to_owned(),
        transport: if name.rsplit('.').next() == Some("json") { Transport::Json } else { Transport::Sse },
        control: None,
        outcome,
        detail: detail.to_owned(),
        requests: Vec::new(),
        expected: None,
        ms: 7,
    }
}

fn profile(name: &str, state: ProfileState, reasons: &[(&str, Verdict, &str)]) -> ProfileReport {
    let reason =
        |(name, verdict, reason): &(&str, Verdict, &str)| Reason::new(Demand::Case, name, *verdict, *reason);
    ProfileReport {
        name: name.to_owned(),
        version: 1,
        title: format!("What {name} says"),
        specification: Some(Specification { name: "openai".to_owned(), source: "OpenAI".to_owned() }),
        state,
        rules: Vec::new(),
        scenarios: vec!["text/hello".to_owned(), "call/one".to_owned()],
        transitions: None,
        reasons: reasons.iter().map(reason).collect(),
    }
}

/// Returns a run with a case of every outcome.
fn run() -> ClientRun {
    use ClientOutcome as Of;
    let mut cases = vec![
        case("broken/empty", "must-report", Of::Silent, "expected an error, found a reply without text"),
        case("broken/stalled", "must-report", Of::Hung, "no reply after 1500 ms"),
        case("call/one", "must-survive", Of::NotExercised, "the reply has no `calls`, which this case tests"),
        case("call/one.json", "must-survive", Of::Wrong, "calls is \"\", expected \"get_weather({})\""),
        case("error/rate-limit", "must-report", Of::Reported, "RateLimitError: 429"),
        case("fault/wire/utf-8", "must-survive", Of::Fragile, HOSTILE),
        case("legal/slow", "must-survive", Of::HarnessError, "the reply does not match its schema"),
        case("text/hello", "must-survive", Of::Right, ""),
        case("text/refusal", "must-survive", Of::Wrong, "refusal is empty"),
    ];
    cases[7].requests = vec![RequestProblem {
        rule: "N02".to_owned(),
        message: "the content type is \"text/plain\"".to_owned(),
    }];
    cases[8].expected = Some("it knows no refusals".to_owned());
    ClientRun {
        client_run: CLIENT_RUN_VERSION,
        suite: "0.1.0".to_owned(),
        client: "my-client".to_owned(),
        client_version: Some("1.2".to_owned()),
        command: vec!["my-client".to_owned(), "--fast".to_owned()],
        mode: "lines".to_owned(),
        dialect: "openai".to_owned(),
        strict: false,
        outcome: Outcome::Passed,
        totals: ClientTally::default(),
        ms: 1234,
        cases,
        asked: Vec::new(),
        is_part: false,
        profiles: vec![
            profile(
                "client-core",
                ProfileState::Failed,
                &[("text/hello", Verdict::Fail, "wrong: text is empty")],
            ),
            profile(
                "client-tools",
                ProfileState::Incomplete,
                &[("call/one", Verdict::NotExercised, "left out")],
            ),
            profile(
                "client-websocket",
                ProfileState::Incomplete,
                &[
                    ("text/hello.ws", Verdict::NotExercised, "the run did not select it"),
                    ("call/one.ws", Verdict::NotExercised, "the run did not select it"),
                ],
            ),
        ],
        stale: vec!["text/empty is right, not wrong".to_owned()],
        folder: Some("run/".to_owned()),
    }
    .concluded()
}

/// Returns a later run of the same client: one case is better, one is worse, one is missing.
fn later() -> ClientRun {
    let mut run = ClientRun { client_version: Some("1.3".to_owned()), ..run() };
    run.cases.retain(|case| case.name != "legal/slow");
    for case in &mut run.cases {
        match &*case.name {
            "broken/empty" => (case.outcome, case.detail) = (ClientOutcome::Reported, "no answer".to_owned()),
            "text/hello" => (case.outcome, case.detail) = (ClientOutcome::Wrong, HOSTILE.to_owned()),
            _ => {}
        }
    }
    run.stale.clear();
    run.concluded()
}

fn rendered(form: ClientForm) -> String {
    client_report(&run(), form, false, plain())
}

#[test]
fn human() {
    insta::assert_snapshot!(rendered(ClientForm::Human));
}

#[test]
fn human_with_all_cases() {
    insta::assert_snapshot!(client_report(&run(), ClientForm::Human, true, plain()));
}

#[test]
fn markdown() {
    insta::assert_snapshot!(rendered(ClientForm::Markdown));
}

#[test]
fn junit() {
    let text = rendered(ClientForm::Junit);
    assert_xml(&text);
    insta::assert_snapshot!(text);
}

#[test]
fn html() {
    insta::assert_snapshot!(body(&rendered(ClientForm::Html)));
}

#[test]
fn json_is_read_again_as_it_was() {
    let text = rendered(ClientForm::Json);
    let read: ClientRun = serde_json::from_str(&text).expect("it is a run");
    assert_eq!(read, ClientRun { folder: None, ..run() });
    assert_schema::<ClientRun>(&text);
}

#[test]
fn outcomes_decide_how_a_run_ends() {
    let of = |name: &str, is_strict: bool| {
        let mut run = ClientRun { strict: is_strict, stale: Vec::new(), ..run() };
        run.cases.retain(|case| case.name == name);
        run.concluded().outcome
    };
    for (name, usual, strict) in [
        ("broken/empty", Outcome::Failed, Outcome::Failed),
        ("broken/stalled", Outcome::Failed, Outcome::Failed),
        ("call/one", Outcome::Incomplete, Outcome::Incomplete),
        ("call/one.json", Outcome::Failed, Outcome::Failed),
        ("error/rate-limit", Outcome::Passed, Outcome::Passed),
        ("fault/wire/utf-8", Outcome::Passed, Outcome::Failed),
        ("legal/slow", Outcome::Incomplete, Outcome::Incomplete),
        ("text/hello", Outcome::Passed, Outcome::Failed),
        // An expected failure passes.
        ("text/refusal", Outcome::Passed, Outcome::Passed),
    ] {
        assert_eq!((of(name, false), of(name, true)), (usual, strict), "{name}");
    }
}

#[test]
fn an_expected_failure_that_is_over_fails_a_run() {
    let mut run = run();
    run.cases.retain(|case| case.name == "error/rate-limit");
    assert_eq!(run.concluded().outcome, Outcome::Failed);
}

#[test]
fn diff() {
    let diff = ClientDiff::new(&run(), &later());
    assert!(diff.is_worse() && !ClientDiff::new(&run(), &run()).is_worse());
    let changed =
        |all: &[reports::client::Changed]| all.iter().map(|one| one.case.clone()).collect::<Vec<_>>();
    assert_eq!(
        (changed(&diff.worse), changed(&diff.better)),
        (vec!["text/hello".to_owned()], vec!["broken/empty".to_owned()])
    );
    insta::assert_snapshot!(diff.human(plain()));
}

#[test]
fn matrix() {
    let mut other = later();
    other.client = "other".to_owned();
    let runs = [run(), other];
    let matrix = ClientMatrix::new(&runs, &["c1".to_owned(), "c2".to_owned()]);
    let render = |form| client_matrix(&matrix, form);
    insta::assert_snapshot!(render(ClientForm::Markdown).expect("it has a form"));
    let page = render(ClientForm::Html).expect("it has a form");
    assert!(!page.contains("<script>alert"));
    insta::assert_snapshot!("matrix_html", page.split_once("</head>").expect("it has a head").1);
    assert_eq!(render(ClientForm::Junit), None);

    let runs = [run(), run()];
    let same = ClientMatrix::new(&runs, &["c1".to_owned(), "c2".to_owned()]);
    let page = client_matrix(&same, ClientForm::Html).expect("it has a form");
    for name in ["(c1)", "(c2)"] {
        assert!(page.contains(name), "{name}");
    }
}

#[test]
fn a_profile_that_was_asked_for_decides() {
    let outcome = |asked: &[&str], is_part| {
        let asked = asked.iter().map(|name| (*name).to_owned()).collect();
        let mut run = ClientRun { asked, is_part, stale: Vec::new(), ..run() };
        run.cases.retain(|case| case.outcome == ClientOutcome::Right);
        run.concluded().outcome
    };
    assert_eq!(outcome(&[], false), Outcome::Passed);
    assert_eq!(outcome(&["client-core"], false), Outcome::Failed);
    assert_eq!(outcome(&["client-core"], true), Outcome::Failed);
    assert_eq!(outcome(&["client-tools"], false), Outcome::Incomplete);
    // Of some of the cases, nothing else can be expected.
    assert_eq!(outcome(&["client-tools"], true), Outcome::Passed);
}
