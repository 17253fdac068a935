//! Broken clients fail exactly the cases about their defect.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use clients::ClientSuite;
use results::{ClientOutcome, ClientRun, FailOn, Outcome, Transport};

use super::{at_once, run, suite};

/// Clients with one thing broken each, and how they fail.
const BROKEN: [(&str, ClientOutcome); 26] = [
    ("drops-a-delta", ClientOutcome::Wrong),
    ("trusts-deltas", ClientOutcome::Wrong),
    ("trusts-the-end", ClientOutcome::Wrong),
    ("hides-errors", ClientOutcome::Silent),
    ("ignores-error-events", ClientOutcome::Right),
    ("takes-failures-for-answers", ClientOutcome::Silent),
    ("needs-no-end", ClientOutcome::Silent),
    ("refuses-unknown-events", ClientOutcome::Fragile),
    ("demands-sequence-numbers", ClientOutcome::Reported),
    ("demands-schemas", ClientOutcome::Reported),
    ("dies-of-errors", ClientOutcome::Fragile),
    ("mangles-arguments", ClientOutcome::Wrong),
    ("one-call", ClientOutcome::Wrong),
    ("ignores-indices", ClientOutcome::Wrong),
    ("first-part", ClientOutcome::Wrong),
    ("lies", ClientOutcome::Wrong),
    ("trims", ClientOutcome::Wrong),
    ("ascii", ClientOutcome::Wrong),
    ("drops-refusals", ClientOutcome::Wrong),
    ("always-completed", ClientOutcome::Wrong),
    ("knows-lf-only", ClientOutcome::Fragile),
    ("trusts-event-lines", ClientOutcome::Reported),
    ("needs-done", ClientOutcome::Fragile),
    ("lazy", ClientOutcome::NotExercised),
    ("stops-at-the-first-answer", ClientOutcome::NotExercised),
    ("resumes-from-the-start", ClientOutcome::Reported),
];

/// Returns the cases in which a client behaves differently from the perfect one.
fn caught(perfect: &BTreeMap<String, ClientOutcome>, run: &ClientRun) -> Vec<(String, ClientOutcome)> {
    let differs = |case: &&results::ClientTest| perfect.get(&case.name) != Some(&case.about.outcome);
    run.tests.iter().filter(differs).map(|case| (case.name.clone(), case.about.outcome)).collect()
}

#[test]
fn each_broken_client_is_caught_where_it_breaks() {
    // Cases with a stalled or slow server are left out, as every client waits in them, and so it does in those about retries.
    let is_wanted = |name: &str| {
        !name.starts_with("broken/stalled") && name != "legal/slow" && !name.starts_with("retry/")
    };
    let over_http = |kind: &str| ClientSuite { transports: vec![Transport::Sse], ..suite(kind) };
    let perfect = run(&over_http("perfect"), &is_wanted);
    let perfect = perfect.tests.into_iter().map(|case| (case.name, case.about.outcome)).collect();
    let runs = BROKEN.chunks(4).flat_map(|some| at_once(some, |(kind, _)| run(&over_http(kind), &is_wanted)));
    let mut told = String::new();
    for ((kind, how), run) in BROKEN.into_iter().zip(runs) {
        let caught = caught(&perfect, &run);
        assert!(!caught.is_empty(), "{kind} is not caught");
        if how != ClientOutcome::Right {
            assert!(caught.iter().any(|(_, outcome)| *outcome == how), "{kind}: {caught:?}");
        }
        let _ = writeln!(told, "{kind}: {} cases", caught.len());
        let mut groups: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
        for (name, outcome) in &caught {
            let (group, rest) = name.split_once('/').unwrap();
            groups.entry((outcome.name(), group)).or_default().push(rest);
        }
        for ((outcome, group), names) in groups {
            let _ = writeln!(told, "  {outcome}: {group}/ {}", names.join(", "));
        }
    }
    insta::assert_snapshot!("broken", told);
}

#[test]
fn a_client_loses_what_it_returns_for_the_intact_stream_alone() {
    let suite =
        ClientSuite { transports: vec![Transport::Sse], has_members: true, ..suite("leaves-out-empty-ids") };
    let damaged = "member/response.output_item.added/item[function_call]/call_id=absent";
    let played = suite.cases(&|name| name == damaged || name.starts_with("sound/"));
    let control =
        played.iter().find_map(|case| case.control.clone()).expect("the stream has no other defect");
    let outcome = |wanted: &[&str]| {
        let cases = played.iter().filter(|case| wanted.contains(&&*case.name)).cloned().collect();
        let run = suite.run(cases, &|_| {}).expect("the client can be tested");
        let case = run.tests.into_iter().find(|case| case.name == damaged).expect("it was played");
        (case.about.outcome, case.reason)
    };
    let lost = "the call_id of get_weather is \"\", expected \"call_1\"";
    assert_eq!(outcome(&[damaged, &control]), (ClientOutcome::Wrong, lost.to_owned()));
    // Alone, the suite cannot know that the client reads ids.
    assert_eq!(outcome(&[damaged]).0, ClientOutcome::Right);
}

#[test]
fn a_client_without_a_timeout_hangs_where_the_server_stalls() {
    let suite = ClientSuite { transports: vec![Transport::Sse], jobs: 1, ..suite("has-no-timeout") };
    // A client that has replied once is not given the time of a first start again.
    at_once(&["broken/stalled", "broken/stalled-at-once"], |stalled| {
        let run = run(&suite, &|name| ["broken/empty", stalled, "text/hello"].contains(&name));
        let told: Vec<(&str, ClientOutcome)> =
            run.tests.iter().map(|case| (case.name.as_str(), case.about.outcome)).collect();
        let expected = [
            ("broken/empty", ClientOutcome::Reported),
            (*stalled, ClientOutcome::Hung),
            ("text/hello", ClientOutcome::Right),
        ];
        assert_eq!(told, expected);
    });
}

#[test]
fn a_child_that_misbehaves_costs_only_its_case() {
    let of = |kind: &str| {
        let suite = ClientSuite {
            transports: vec![Transport::Sse],
            timeout: Some(Duration::from_millis(200)),
            ..suite("perfect")
        };
        // The child misbehaves in one of three cases.
        let program = suite.command[2].to_string_lossy().into_owned();
        let script = format!(
            "while read -r line; do case \"$line\" in *text/refusal*) \
             printf '%s\\n' \"$line\" | CLIENT_KIND={kind} '{program}' driver::the_client --exact --ignored --nocapture || exit $?;; \
             *) printf '%s\\n' \"$line\" | CLIENT_KIND=perfect '{program}' driver::the_client --exact --ignored --nocapture;; esac; done"
        );
        let suite =
            ClientSuite { command: ["sh", "-c", &script].iter().map(Into::into).collect(), jobs: 1, ..suite };
        let wanted = ["text/hello", "text/refusal", "text/two-parts"];
        let run = run(&suite, &|name| wanted.contains(&name));
        let told: Vec<ClientOutcome> = run.tests.iter().map(|case| case.about.outcome).collect();
        assert_eq!((told[0], told[2]), (ClientOutcome::Right, ClientOutcome::Right), "{kind}: {told:?}");
        (told[1], run.outcome)
    };
    let kinds = [
        ("hangs", ClientOutcome::Hung, Outcome::Failed),
        ("dies", ClientOutcome::Fragile, Outcome::Passed),
        ("floods", ClientOutcome::HarnessError, Outcome::Incomplete),
        ("long-line", ClientOutcome::HarnessError, Outcome::Incomplete),
        ("garbage", ClientOutcome::HarnessError, Outcome::Incomplete),
        ("unsupported", ClientOutcome::NotExercised, Outcome::Passed),
    ];
    at_once(&kinds, |(kind, case, run)| assert_eq!(of(kind), (*case, *run), "{kind}"));
}

#[test]
fn requests_are_judged() {
    let of = |kind: &str, transport: Transport| {
        let suite = ClientSuite { transports: vec![transport], fail_on: FailOn::Should, ..suite(kind) };
        let run = run(&suite, &|name| name.starts_with("text/hello") || name.starts_with("turn/continued"));
        let rules: Vec<String> = run
            .tests
            .iter()
            .flat_map(|case| case.requests().map(|problem| problem.rule.replace("client-request/", "")))
            .collect();
        (rules, run.outcome)
    };
    let told = |rules: &[&str]| (rules.iter().map(ToString::to_string).collect::<Vec<_>>(), Outcome::Failed);
    assert_eq!(of("perfect", Transport::Sse), (vec![], Outcome::Passed));
    assert_eq!(of("sends-no-key", Transport::Json), told(&["content", "content"]));
    assert_eq!(of("sends-text", Transport::Sse), told(&["content-type", "content-type"]));
    assert_eq!(of("sends-nonsense", Transport::Sse), told(&["schema", "schema"]));
    assert_eq!(of("forgets-the-previous-id", Transport::Sse), told(&["content"]));
    assert_eq!(of("streams-on-sockets", Transport::Websocket), told(&["socket-members", "socket-members"]));
}

#[test]
fn requests_that_follow_are_judged() {
    let of = |kind: &str, case: &str| {
        let suite = ClientSuite { transports: vec![Transport::Sse, Transport::Websocket], ..suite(kind) };
        let run = run(&suite, &|name| name.split('.').next() == Some(case));
        let told = |case: &results::ClientTest| {
            let problems: Vec<&str> = case.requests().map(|problem| &*problem.message).collect();
            (case.about.outcome, problems.join("; "))
        };
        let told: Vec<(ClientOutcome, String)> = run.tests.iter().map(told).collect();
        assert_eq!(told.len(), 2);
        assert_eq!(told[0], told[1], "{kind}");
        told[0].clone()
    };
    let right = (ClientOutcome::Right, String::new());
    assert_eq!(of("perfect", "turn/tool-outputs"), right);
    assert_eq!(of("perfect", "turn/follow-ups"), right);
    assert_eq!(of("continues-another", "turn/follow-up").0, ClientOutcome::NotExercised);
    let (outcome, problems) = of("mixes-up-calls", "turn/tool-output");
    assert_eq!((outcome, &*problems), (ClientOutcome::Right, "the input has no output of the call call_1"));
}

#[test]
fn only_new_input_belongs_on_a_socket() {
    let of = |kind: &str, transport: Transport| {
        let suite = ClientSuite { transports: vec![transport], ..suite(kind) };
        let run = run(&suite, &|name| name.split('.').next() == Some("turn/follow-up"));
        let case = run.tests.first().expect("the case");
        let rules: Vec<String> =
            case.requests().map(|problem| problem.rule.replace("client-request/", "")).collect();
        (case.about.outcome, rules)
    };
    let right = |rules: &[&str]| (ClientOutcome::Right, rules.iter().map(ToString::to_string).collect());
    assert_eq!(of("perfect", Transport::Websocket), right(&[]));
    assert_eq!(of("repeats-the-conversation", Transport::Websocket), right(&["socket-input"]));
    assert_eq!(of("repeats-the-conversation", Transport::Sse), right(&[]));
}

#[test]
fn what_a_reply_leaves_out_is_not_exercised() {
    let run = run(&suite("lazy"), &|name| {
        ["text/hello", "call/one", "text/incomplete", "legal/unknown-usage"].contains(&name)
    });
    let told: Vec<(ClientOutcome, &str)> =
        run.tests.iter().map(|case| (case.about.outcome, &*case.reason)).collect();
    let left_out = |part| (ClientOutcome::NotExercised, part);
    let expected = [
        left_out("the reply has no `calls`, which this case tests"),
        left_out("the reply has no `usage`, which this case tests"),
        (ClientOutcome::Right, ""),
        left_out("the reply has no `response_status`, which this case tests"),
    ];
    assert_eq!(told, expected);
}

#[test]
fn requests_that_repeat_the_conversation_are_judged() {
    let of = |kind: &str, dialect: &str, case: &str| {
        let dialect = spec::dialect(dialect).expect("it is there");
        let suite = ClientSuite { transports: vec![Transport::Sse], dialect, ..suite(kind) };
        let run = run(&suite, &|name| name == case);
        let case = run.tests.first().expect("the case");
        let problems: Vec<&str> = case.requests().map(|problem| &*problem.message).collect();
        (case.about.outcome, problems.join("; "))
    };
    let right = |problems: &str| (ClientOutcome::Right, problems.to_owned());
    for (dialect, id) in [("anthropic", "toolu_1"), ("chat", "call_1")] {
        for case in ["turn/follow-ups", "turn/tool-outputs", "turn/calls-in-a-row"] {
            assert_eq!(of("perfect", dialect, case), right(""), "{dialect} {case}");
        }
        assert_eq!(of("forgets-the-answer", dialect, "turn/follow-up").0, ClientOutcome::NotExercised);
        let problems = format!(
            "the input has no output of the call {id}; There is no call \"call_0\" before its result."
        );
        assert_eq!(of("mixes-up-calls", dialect, "turn/tool-output"), right(&problems));
    }
    let lost = "an entry `thinking` of a response is not in the request";
    let changed = format!("{lost}; an entry `thinking` of a response was changed");
    assert_eq!(of("changes-thoughts", "anthropic", "turn/thinking-kept"), right(&changed));
    assert_eq!(of("drops-thoughts", "anthropic", "turn/thinking-kept"), right(lost));
    let redacted = "an entry `redacted_thinking` of a response is not in the request";
    assert_eq!(of("drops-thoughts", "anthropic", "turn/redacted-thinking-kept"), right(redacted));
}
