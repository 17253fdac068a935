//! Reports of clients, in every format.

use crate::common::{assert_schema, assert_xml, body, plain};
use catalogue::Level;
use reports::client::{ClientMatrix, client_matrix};
use reports::diff::{self, Diff, TrialChange};
use reports::{Detail, Form, render};
use results::{
    CLIENT_RUN_VERSION, ClientOutcome, ClientRun, ClientTest, Demand, ExpectedFailure, FailOn, LevelChange,
    OfClient, Outcome, ProfileReport, ProfileState, Reason, Specification, Test, Transport, Verdict,
};

/// Words of a hostile client.
const HOSTILE: &str = "<script>alert(1)</script> \u{1b}[31m | `x` \u{202e}]]>";

fn case(
    name: &str,
    expect: &str,
    outcome: ClientOutcome,
    reason: &str,
    requests: &[(&str, &str)],
) -> ClientTest {
    let about = OfClient {
        title: format!("The case {name}"),
        expect: expect.to_owned(),
        because: "Clients meet it.".to_owned(),
        authority: "Open Responses, Streaming".to_owned(),
        transport: if name.rsplit('.').next() == Some("json") { Transport::Json } else { Transport::Sse },
        control: None,
        outcome,
    };
    ClientTest { ms: 7, ..Test::of_client(name, about, reason.to_owned(), requests) }
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
        scenarios: ["text/hello", "text/hello.ws", "call/one", "call/one.ws"].map(str::to_owned).to_vec(),
        transitions: None,
        reasons: reasons.iter().map(reason).collect(),
    }
}

/// Returns a run with a case of every outcome, not concluded.
fn open_run() -> ClientRun {
    use ClientOutcome as Of;
    let tests = vec![
        case("broken/empty", "must-report", Of::Silent, "expected an error, found a reply without text", &[]),
        case("broken/stalled", "must-report", Of::Hung, "no reply after 1500 ms", &[]),
        case(
            "call/one",
            "must-survive",
            Of::NotExercised,
            "the reply has no `calls`, which this case tests",
            &[],
        ),
        case("call/one.json", "must-survive", Of::Wrong, "calls is \"\", expected \"get_weather({})\"", &[]),
        case("error/rate-limit", "must-report", Of::Reported, "RateLimitError: 429", &[]),
        case("fault/wire/utf-8", "must-survive", Of::Fragile, HOSTILE, &[]),
        case("legal/slow", "must-survive", Of::HarnessError, "the reply does not match its schema", &[]),
        case(
            "text/hello",
            "must-survive",
            Of::Right,
            "",
            &[
                ("content-type", "the content type is \"text/plain\""),
                ("content", "`model` differs from the case's request"),
            ],
        ),
        case("text/refusal", "must-survive", Of::Wrong, "refusal is empty", &[]),
    ];
    ClientRun {
        client_run: CLIENT_RUN_VERSION,
        suite: "0.1.0".to_owned(),
        client: "my-client".to_owned(),
        client_version: Some("1.2".to_owned()),
        command: vec!["my-client".to_owned(), "--fast".to_owned()],
        mode: "lines".to_owned(),
        dialect: "openai".to_owned(),
        ms: 1234,
        tests,
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
        folder: Some("run/".to_owned()),
        ..ClientRun::default()
    }
}

/// Returns what is known to fail.
fn expected() -> Vec<ExpectedFailure> {
    let expect = |rule: &str, tests: &[&str]| ExpectedFailure {
        rule: rule.to_owned(),
        tests: tests.iter().map(|test| (*test).to_owned()).collect(),
        reason: "it knows no refusals".to_owned(),
    };
    vec![
        expect("client/wrong", &["text/refusal", "error/rate-limit", "call/one", "no/such-test"]),
        expect("client/silent", &["call/one.json"]),
    ]
}

fn run() -> ClientRun {
    open_run().expecting(&expected())
}

/// Returns a later run of the same client: one case is better, one is worse, one is missing.
fn later() -> ClientRun {
    let mut run = ClientRun { client_version: Some("1.3".to_owned()), ..run() };
    run.tests.retain(|case| case.name != "legal/slow");
    for test in &mut run.tests {
        let changed = match &*test.name {
            "broken/empty" => case("broken/empty", "must-report", ClientOutcome::Reported, "no answer", &[]),
            "text/hello" => case("text/hello", "must-survive", ClientOutcome::Wrong, HOSTILE, &[]),
            _ => continue,
        };
        *test = changed;
    }
    run.stale.clear();
    run.concluded()
}

fn rendered(form: Form) -> String {
    render(&run(), form, Level::May, plain())
}

#[test]
fn human() {
    insta::assert_snapshot!(rendered(Form::Human));
}

#[test]
fn human_with_all_cases() {
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
fn junit() {
    let text = rendered(Form::Junit);
    assert_xml(&text);
    insta::assert_snapshot!(text);
}

#[test]
fn html() {
    insta::assert_snapshot!(body(&rendered(Form::Html)));
}

#[test]
fn json_is_read_again_as_it_was() {
    let text = rendered(Form::Json);
    let read: ClientRun = serde_json::from_str(&text).expect("it is a run");
    assert_eq!(read, ClientRun { folder: None, ..run() });
    assert_schema::<ClientRun>(&text);
}

#[test]
fn outcomes_decide_how_a_run_ends() {
    let of = |name: &str, fail_on| {
        let mut run = ClientRun { fail_on, ..open_run() };
        run.tests.retain(|case| case.name == name);
        run.expecting(&expected()[..1]).outcome
    };
    for (name, usual, should) in [
        ("broken/empty", Outcome::Failed, Outcome::Failed),
        ("broken/stalled", Outcome::Failed, Outcome::Failed),
        ("call/one", Outcome::Incomplete, Outcome::Incomplete),
        ("call/one.json", Outcome::Failed, Outcome::Failed),
        ("fault/wire/utf-8", Outcome::Passed, Outcome::Failed),
        ("legal/slow", Outcome::Incomplete, Outcome::Incomplete),
        ("text/hello", Outcome::Passed, Outcome::Failed),
        // An expected failure passes, and fails when it is over.
        ("text/refusal", Outcome::Passed, Outcome::Passed),
        ("error/rate-limit", Outcome::Failed, Outcome::Failed),
    ] {
        assert_eq!((of(name, FailOn::default()), of(name, FailOn::Should)), (usual, should), "{name}");
    }
}

#[test]
fn levels_decide_what_fails() {
    let failing = |rule: &str, usual, level| {
        let levels = vec![LevelChange { rule: rule.to_owned(), usual, level }];
        let run = ClientRun { levels, ..open_run() }.concluded();
        assert_eq!(run.clone().concluded(), run);
        run.failed().map(|test| test.name.clone()).collect::<Vec<_>>()
    };
    let usual = failing("none", Level::Must, Level::Off);
    assert_eq!(usual, ["broken/empty", "broken/stalled", "call/one.json", "legal/slow", "text/refusal"]);
    let without = failing("client/wrong", Level::Must, Level::Should);
    assert_eq!(without, ["broken/empty", "broken/stalled", "legal/slow"]);
    assert!(failing("client/fragile", Level::Should, Level::Must).contains(&"fault/wire/utf-8".to_owned()));
    assert!(
        failing("client-request/content-type", Level::Should, Level::Must).contains(&"text/hello".to_owned())
    );
    assert!(!failing("client/silent", Level::Must, Level::Off).contains(&"broken/empty".to_owned()));
}

#[test]
fn only_what_is_listed_is_expected() {
    let run = run();
    let expected = |name: &str| run.tests.iter().find(|test| test.name == name).unwrap().expected.clone();
    assert_eq!(expected("text/refusal").as_deref(), Some("it knows no refusals"));
    // It is wrong, not silent. What was not judged may still fail.
    assert_eq!(expected("call/one.json"), None);
    assert_eq!(run.stale, ["client/silent in call/one.json", "client/wrong in error/rate-limit"]);
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
    let is_annotation = |line: &str| {
        ["::error title=", "::warning title=", "::notice title="].iter().any(|head| line.starts_with(head))
    };
    assert!(text.lines().all(is_annotation), "{text}");
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
fn badge() {
    insta::assert_snapshot!(rendered(Form::Badge));
}

#[test]
fn nothing_of_a_client_controls_a_terminal_or_forges_a_line() {
    for form in Form::ALL {
        for is_verbose in [false, true] {
            let text = render(&run(), form, Detail { level: Level::May, is_verbose }, plain());
            assert!(!text.contains(['\u{1b}', '\u{202e}']), "{form:?}: {text}");
            assert!(!text.contains("<script>alert") || !matches!(form, Form::Html), "{form:?}: {text}");
        }
    }
}

#[test]
fn levels_below_the_shown_one_are_hidden_unless_they_fail() {
    let of = |fail_on, form| {
        let run = ClientRun { fail_on, ..open_run() }.concluded();
        render(&run, form, Level::Must, plain())
    };
    for form in [Form::Human, Form::Github] {
        assert!(!of(FailOn::Must, form).contains("the content type is"), "{form:?}");
        assert!(of(FailOn::Should, form).contains("the content type is"), "{form:?}");
    }
}

#[test]
fn diff() {
    let (before, after) = (run(), later());
    let diff = Diff::new(&before, &after);
    assert!(diff.is_worse() && Diff::new(&before, &before).is_empty());
    let changed = |all: &[TrialChange]| all.iter().map(|one| one.name.clone()).collect::<Vec<_>>();
    assert_eq!(
        (changed(&diff.worse_trials), changed(&diff.better_trials)),
        (vec!["text/hello".to_owned()], vec!["broken/empty".to_owned()])
    );
    insta::assert_snapshot!(diff::human(&diff, plain()));
}

/// Returns the parts of a run, each as if it were in a folder of its own.
fn parts(of: u32) -> Vec<ClientRun> {
    let part = |number| {
        let shard = results::Shard { number, of };
        let mut run = ClientRun { shard: Some(shard), folder: Some(format!("p{number}")), ..open_run() };
        run.tests.retain(|test| shard.has_case(&test.name));
        for profile in &mut run.profiles {
            let is_there = |name: &str| run.tests.iter().any(|test| test.name == name);
            profile
                .reasons
                .retain(|reason| is_there(&reason.name) || reason.verdict == Verdict::NotExercised);
        }
        run.expecting(&expected())
    };
    (1..=of).map(part).collect()
}

#[test]
fn parts_make_the_whole_run() {
    let whole = ClientRun { folder: None, ..run() };
    for of in [1, 2, 3] {
        assert_eq!(ClientRun::merge(parts(of)).unwrap(), whole, "{of}");
    }
    let refused = |runs: Vec<ClientRun>| ClientRun::merge(runs).unwrap_err().to_string();
    let mut other = parts(2);
    other[1].fail_on = FailOn::Should;
    assert!(refused(other).contains("its options, differ"));
    assert!(refused(parts(3)[1..].to_vec()).contains("shard 1/3 is missing"));
    assert!(refused([parts(2), parts(2)].concat()).contains("the same shard"));
    assert!(refused(vec![run()]).contains("it is a whole run"));
    assert!(refused(Vec::new()).contains("no reports"));
}

#[test]
fn matrix() {
    let mut other = later();
    other.client = "other".to_owned();
    let runs = [run(), other];
    let matrix = ClientMatrix::new(&runs, &["c1".to_owned(), "c2".to_owned()]);
    let render = |form| client_matrix(&matrix, form);
    insta::assert_snapshot!(render(Form::Markdown).expect("it has a form"));
    let page = render(Form::Html).expect("it has a form");
    assert!(!page.contains("<script>alert"));
    insta::assert_snapshot!("matrix_html", page.split_once("</head>").expect("it has a head").1);
    assert_eq!(render(Form::Junit), None);

    let runs = [run(), run()];
    let same = ClientMatrix::new(&runs, &["c1".to_owned(), "c2".to_owned()]);
    let page = client_matrix(&same, Form::Html).expect("it has a form");
    for name in ["(c1)", "(c2)"] {
        assert!(page.contains(name), "{name}");
    }
}

#[test]
fn a_profile_that_was_asked_for_decides() {
    let outcome = |asked: &[&str], is_part| {
        let asked = asked.iter().map(|name| (*name).to_owned()).collect();
        let mut run = ClientRun { asked, is_part, ..open_run() };
        run.tests.retain(|test| test.about.outcome == ClientOutcome::Right);
        run.concluded().outcome
    };
    assert_eq!(outcome(&[], false), Outcome::Passed);
    assert_eq!(outcome(&["client-core"], false), Outcome::Failed);
    assert_eq!(outcome(&["client-core"], true), Outcome::Failed);
    assert_eq!(outcome(&["client-tools"], false), Outcome::Incomplete);
    // Of some of the cases, nothing else can be expected.
    assert_eq!(outcome(&["client-tools"], true), Outcome::Passed);
}
