//! Runs of every kind.

use std::fmt::Write as _;
use std::time::Duration;

use conformance::capture::{End, Exchange, Recorder, Request};
use conformance::check_with_timelines;
use conformance::results::{
    CLIENT_RUN_VERSION, CaptureReport, CaseReport, ClientOutcome, ClientRun, ClientTest, Demand, Exercised,
    ExercisedLane, ExercisedMember, ExercisedPath, ExercisedStep, ExercisedValue, Judgement, OfClient,
    ProfileReport, ProfileState, Reason, Run, Test, Transport, UndecidedKind, Verdict,
};
use conformance::{Rules, goldens, violation};

use crate::live;

/// Untrusted text that must not be rendered, loaded or run.
pub(crate) const HOSTILE: &str = "</code></pre></style><script>alert(1)</script><img src=http://evil.test/x onerror=alert(1)>\"' onload='x' \u{202e}\u{200d}\u{1b}[2J\u{0}]]>--><a href=javascript:alert(1)>&lt;";

fn rules() -> Rules {
    Rules::of(conformance::dialect("openai").expect("the build has it"))
}

/// Returns the recording of an exchange with delays between events.
fn exchange(request: &str, stream: &[u8], end: End<'_>) -> Vec<u8> {
    let recorder = Recorder::new();
    let mut recording = recorder.begin(&Exchange {
        status: Some(200),
        headers: vec![("content-type".into(), "text/event-stream".into())],
        request: Some(Request {
            method: "POST".into(),
            url: "http://127.0.0.1:8080/v1/responses".into(),
            headers: Vec::new(),
            body: Some(request.into()),
        }),
        ..Exchange::default()
    });
    let mut at = Duration::from_millis(180);
    let text = String::from_utf8_lossy(stream);
    for (number, frame) in (0_u64..).zip(text.split_inclusive("\n\n")) {
        recording += &recorder.chunk(at, frame.as_bytes());
        at += Duration::from_millis(12 + number * number * 7 % 41);
    }
    recording += &recorder.end(at, end);
    recording.into_bytes()
}

fn checked(name: &str, recording: &[u8]) -> CaptureReport {
    check_with_timelines(name, &mut { recording }, None, &rules())
}

const NOT_ELICITED: &str = "requested 3 times, but there was no response.refusal.delta";
const NOT_OFFERED: &str = "web-search is not in --features";
const NOT_GIVEN: &str = "it needs --given vector-store=...";

fn judged(verdict: Verdict, reason: &str) -> Judgement {
    let (kind, detail) = match reason {
        NOT_ELICITED => (UndecidedKind::NotElicited, "no response.refusal.delta"),
        NOT_OFFERED => (UndecidedKind::NotOffered, ""),
        NOT_GIVEN => (UndecidedKind::NotGiven, "--given vector-store=..."),
        _ => (UndecidedKind::Other, ""),
    };
    Judgement::undecided(verdict, kind, reason).with_detail(detail)
}

fn case(name: &str, attempts: &[usize], trials: &[(&'static str, Verdict, &str)]) -> CaseReport {
    let title = catalogue::scenario(name).map_or("Something is asked", |scenario| scenario.title);
    let judged =
        |(about, verdict, reason): &(&'static str, Verdict, &str)| (*about, judged(*verdict, reason));
    live::case(name, title.to_owned(), attempts, trials.iter().map(judged))
}

/// Returns the results of a profile that requires texts, or everything else.
fn profile(name: &str, cases: &[CaseReport]) -> ProfileReport {
    let is_own = |case: &CaseReport| case.name.starts_with("text/") == (name == "core");
    let bad = live::undecided(cases).filter(|(case, _)| is_own(case));
    let reasons = bad.map(|(case, told)| Reason::judged(Demand::Scenario, &case.name, &told.judged));
    ProfileReport {
        rules: vec!["item/reopened".to_owned()],
        scenarios: cases.iter().filter(|case| is_own(case)).map(|case| case.name.clone()).collect(),
        reasons: reasons.collect(),
        ..ProfileReport::new(name, 1, "Streams that clients can read", None)
    }
    .decided()
}

fn live(captures: Vec<CaptureReport>, cases: Vec<CaseReport>) -> Run {
    let profiles = ["core", "tools"].map(|name| profile(name, &cases)).to_vec();
    let mut report = live::live("http://127.0.0.1:8080/v1", "model-under-test", cases, profiles);
    "conformance run --target http://127.0.0.1:8080/v1 --model model-under-test"
        .clone_into(&mut report.command);
    report.options.began = Some("2026-11-22T07:41:12Z".to_owned());
    report.options.took_ms = Some(83_400);
    Run::new(&rules(), captures, Some(report))
}

const REQUEST: &str = r#"{"model":"model-under-test","input":[{"role":"user","content":"What is the weather in Rome?"}],"stream":true}"#;

fn golden(name: &str) -> Vec<u8> {
    let golden = goldens::golden(&format!("openai/{name}")).expect("there is such a golden");
    exchange(REQUEST, golden.bytes, End::Closed)
}

/// Returns a run that passed.
pub(crate) fn good() -> Run {
    let names = [
        ("text/hello", "text"),
        ("call/parallel", "parallel-function-calls"),
        ("tool/web-search", "web-search"),
    ];
    let captures =
        names.map(|(case, of)| checked(&format!("exchanges/{case}.exchange"), &golden(of))).to_vec();
    let passed = |about| (about, Verdict::Pass, "");
    let cases = names.iter().enumerate().map(|(at, (name, _))| {
        case(
            name,
            &[at],
            &["answer", "item", "response", "schema", "sequence", "wire", "other-rules"].map(passed),
        )
    });
    let mut run = live(captures, cases.collect());
    run.exercised = vec![exercised("message", ["response.output_item.added", "response.output_item.done"])];
    run
}

/// Returns a lifecycle of two steps, the first of which was exercised.
fn exercised(lane: &str, names: [&str; 2]) -> Exercised {
    let step = |(at, name): (usize, &str)| ExercisedStep { name: name.to_owned(), is_exercised: at == 0 };
    let path = |from, to, is_exercised| ExercisedPath { steps: vec![from, to], is_exercised, goldens: 0 };
    let lane = ExercisedLane {
        name: lane.to_owned(),
        is_container: true,
        steps: (0..).zip(names).map(step).collect(),
        transitions: vec![path(0, 0, true), path(0, 1, false), path(1, 0, false)],
        pairs: Vec::new(),
    };
    let value = |(at, name): (usize, &str)| ExercisedValue { name: name.to_owned(), is_exercised: at == 0 };
    let values = (0..).zip(names).map(value).collect();
    let member = ExercisedMember { name: format!("{}/status", lane.name), values };
    Exercised::new("openai", true, vec![lane], vec![member])
}

/// Returns a run with every kind of failure.
pub(crate) fn bad() -> Run {
    let broken = [
        "item/reopened",
        "part/before-open",
        "text/deltas-joined",
        "response/one-terminal",
        "sequence/starts-at-zero",
    ];
    let mut captures = Vec::new();
    let mut cases = Vec::new();
    for id in broken {
        let page = catalogue::rule(id).expect("there is such a rule");
        let recording = violation::apply(&page.in_api("").violation).expect("its edits can be made");
        let name = format!("text/{}", id.replace('/', "-"));
        captures.push(checked(
            &format!("exchanges/{name}.exchange"),
            &exchange(REQUEST, &recording, End::Closed),
        ));
        let group = catalogue::group(id);
        cases.push(case(
            &name,
            &[captures.len() - 1],
            &[("answer", Verdict::Pass, ""), ("wire", Verdict::Pass, ""), (group, Verdict::Fail, id)],
        ));
    }
    let stream = goldens::golden("openai/reasoning-summary").expect("it is there").bytes;
    let half = stream.split_at(stream.len() / 2).0;
    captures.push(checked(
        "exchanges/reasoning/summary.exchange",
        &exchange(REQUEST, half, End::Lost("reset by peer".into())),
    ));
    let lost = "the response is incomplete: reset by peer";
    cases.push(case(
        "reasoning/summary",
        &[captures.len() - 1],
        &[("answer", Verdict::Fail, lost), ("response", Verdict::Fail, "response/one-terminal")],
    ));
    captures.extend(
        (1..4).map(|number| checked(&format!("exchanges/text/refusal.{number}.exchange"), &golden("text"))),
    );
    let attempts: Vec<usize> = (captures.len() - 3..captures.len()).collect();
    cases.push(case(
        "text/refusal",
        &attempts,
        &[
            ("answer", Verdict::NotExercised, NOT_ELICITED),
            ("wire", Verdict::NotExercised, "see text/refusal::answer"),
        ],
    ));
    let key = "the endpoint responds with 401: pass --api-key, CONFORMANCE_API_KEY or --header";
    let refused = b"{\"exchange\":1,\"request\":{\"method\":\"POST\",\"url\":\"http://127.0.0.1:8080/v1/responses\",\"body\":\"{}\"},\"response\":{\"status\":401,\"headers\":[[\"content-type\",\"application/json\"]]}}\n{\"at\":3,\"text\":\"{\\\"error\\\":{\\\"message\\\":\\\"no key\\\",\\\"type\\\":\\\"invalid_request_error\\\",\\\"param\\\":null,\\\"code\\\":\\\"invalid_api_key\\\"}}\"}\n{\"at\":4,\"end\":\"closed\"}\n";
    captures.push(checked("exchanges/error/wrong-type.exchange", refused));
    cases.push(case("error/wrong-type", &[captures.len() - 1], &[("answer", Verdict::HarnessError, key)]));
    for (name, reason) in [("tool/web-search", NOT_OFFERED), ("tool/file-search", NOT_GIVEN)] {
        cases.push(case(name, &[], &[("answer", Verdict::NotExercised, reason)]));
    }
    let mut run = live(captures, cases);
    if let Some(live) = &mut run.live {
        live.options.features = Some(vec!["tools".to_owned(), "file-search".to_owned()]);
    }
    run
}

/// Returns a run of a malicious endpoint, whose texts contain markup, scripts or invisible characters.
pub(crate) fn hostile() -> Run {
    let text = serde_json::to_string(HOSTILE).expect("it is text");
    let events = [
        format!(
            "event: {}\ndata: {{\"type\":{text},\"sequence_number\":0}}\n\n",
            HOSTILE.replace('\u{0}', "")
        ),
        format!(
            "data: {{\"type\":\"response.created\",\"response\":{{\"id\":{text},\"object\":{text}}}}}\n\n"
        ),
        format!(
            "data: {{\"type\":\"response.output_item.added\",\"output_index\":0,\"item\":{{\"type\":{text},\"id\":{text},\"name\":{text}}}}}\n\n"
        ),
        format!(
            "data: {{\"type\":\"response.output_text.delta\",\"output_index\":0,\"item_id\":{text},\"delta\":{text}}}\n\n"
        ),
    ];
    let request = format!("{{\"input\":{text}}}");
    let stream = exchange(&request, events.concat().as_bytes(), End::Lost(HOSTILE.into()));
    let capture = checked(HOSTILE, &stream);
    let name = format!("text/{HOSTILE}");
    let cases = vec![case(
        &name,
        &[0],
        &[("answer", Verdict::Fail, HOSTILE), (HOSTILE, Verdict::NotExercised, HOSTILE)],
    )];
    let mut run = live(vec![capture], cases);
    HOSTILE.clone_into(&mut run.dialect);
    if let Some(live) = &mut run.live {
        HOSTILE.clone_into(&mut live.target);
        HOSTILE.clone_into(&mut live.model);
        live.options.select.push(HOSTILE.to_owned());
    }
    for client in &mut run.clients {
        client.name += HOSTILE;
    }
    run.exercised = vec![exercised(HOSTILE, [HOSTILE; 2])];
    run
}

/// Returns a run with a stream of more than a thousand events, and twenty others.
pub(crate) fn long() -> Run {
    let text = goldens::golden("openai/text").expect("it is there");
    let text = String::from_utf8_lossy(text.bytes).into_owned();
    let frames: Vec<&str> = text.split_inclusive("\n\n").collect();
    let is_delta = |frame: &&str| frame.contains("\"response.output_text.delta\"");
    let first = frames.iter().position(is_delta).expect("a delta is in it");
    let deltas = (0..1000).map(|_| frames[first]);
    let stream: Vec<&str> =
        frames[..first].iter().copied().chain(deltas).chain(frames[first..].iter().copied()).collect();
    let mut captures = vec![checked(
        "exchanges/text/story.exchange",
        &exchange(REQUEST, stream.concat().as_bytes(), End::Closed),
    )];
    // Its findings are irrelevant here.
    captures[0].findings.clear();
    let mut cases = vec![case("text/story", &[0], &[("answer", Verdict::Pass, "")])];
    for number in 1..21 {
        captures
            .push(checked(&format!("exchanges/text/{number}.exchange"), &golden("parallel-function-calls")));
        cases.push(case(&format!("text/{number}"), &[number], &[("answer", Verdict::Pass, "")]));
    }
    live(captures, cases)
}

/// Returns a run with fifty scenarios, one of them with a stream of fifty thousand events, and a hundred thousand
/// findings.
pub(crate) fn huge() -> Run {
    let mut stream = String::new();
    let mut number = 0;
    let mut event = |text: &str| {
        let _ = write!(stream, "data: {{{text},\"sequence_number\":{number}}}\n\n");
        number += 1;
    };
    event(r#""type":"response.created","response":{"id":"resp_1"}"#);
    for item in 0..120 {
        event(&format!(
            r#""type":"response.output_item.added","output_index":{item},"item":{{"type":"message","id":"m{item}"}}"#
        ));
        event(&format!(
            r#""type":"response.content_part.added","item_id":"m{item}","output_index":{item},"content_index":0,"part":{{"type":"output_text"}}"#
        ));
        for _ in 0..410 {
            event(&format!(
                r#""type":"response.output_text.delta","item_id":"m{item}","output_index":{item},"content_index":0,"delta":"a""#
            ));
        }
        event(&format!(
            r#""type":"response.output_text.done","item_id":"m{item}","output_index":{item},"content_index":0,"text":"b""#
        ));
        event(&format!(
            r#""type":"response.content_part.done","item_id":"m{item}","output_index":{item},"content_index":0,"part":{{"type":"output_text"}}"#
        ));
        event(&format!(
            r#""type":"response.output_item.done","output_index":{item},"item":{{"type":"message","id":"m{item}"}}"#
        ));
    }
    event(r#""type":"response.completed","response":{"id":"resp_1"}"#);
    let mut captures =
        vec![checked("exchanges/long/story.exchange", &exchange(REQUEST, stream.as_bytes(), End::Closed))];
    let bad = bad();
    let mut cases = vec![case(
        "long/story",
        &[0],
        &[("answer", Verdict::Pass, ""), ("text", Verdict::Fail, "text/deltas-joined")],
    )];
    for number in 1..50 {
        let mut capture = bad.captures[number % 5].clone();
        capture.name = format!("exchanges/many/{number}.exchange");
        let one = capture.findings[0].clone();
        capture.findings.extend((0..2040).map(|_| one.clone()));
        captures.push(capture);
        cases.push(case(
            &format!("many/{number}"),
            &[number],
            &[("answer", Verdict::Pass, ""), ("item", Verdict::Fail, "item/reopened")],
        ));
    }
    live(captures, cases)
}

/// Returns a run of a client with cases of every outcome, among them hostile ones and ones with long names.
pub(crate) fn client() -> ClientRun {
    let case = |number: usize| {
        let outcome = ClientOutcome::ALL[number % ClientOutcome::ALL.len()];
        let hostile = number.is_multiple_of(7);
        let about = OfClient {
            title: "A stream that breaks the rule: only `[DONE]` ends it".to_owned(),
            expect: "must-survive".to_owned(),
            because: "A client may reject such a stream, but must not return other content.".to_owned(),
            authority: "Open Responses 2026-04-24, Streaming".to_owned(),
            transport: Transport::Sse,
            outcome,
            control: hostile.then(|| HOSTILE.to_owned()),
        };
        let name = format!("fault/a-group-with-a-long-name/and-a-case-with-a-longer-one-{number}");
        let reason =
            if hostile { HOSTILE.to_owned() } else { "text is \"Hello\", expected \"Hi\"".repeat(3) };
        let expected = hostile.then(|| "it is known".to_owned());
        ClientTest { expected, ms: 7, ..Test::of_client(&name, about, reason, &[("content-type", HOSTILE)]) }
    };
    let tests: Vec<ClientTest> = (0..60).map(case).collect();
    let reasons = tests.iter().map(|test| Reason::new(Demand::Case, &test.name, Verdict::Fail, "wrong"));
    let title = "it returns texts as they were sent, and reports failures";
    let profile = ProfileReport {
        state: ProfileState::Failed,
        reasons: reasons.collect(),
        scenarios: vec!["text/hello".to_owned()],
        ..ProfileReport::new("client-core", 1, title, None)
    };
    let passed = ProfileReport {
        state: ProfileState::Passed,
        scenarios: vec!["text/hello".to_owned()],
        ..ProfileReport::new("client-tools", 1, title, None)
    };
    ClientRun {
        client_run: CLIENT_RUN_VERSION,
        suite: "0.1.0".to_owned(),
        client: "client-under-test".to_owned(),
        client_version: Some("1.2.3".to_owned()),
        command: vec!["python3".to_owned(), "examples/client.py".to_owned()],
        mode: "lines".to_owned(),
        dialect: "openai".to_owned(),
        ms: 4321,
        profiles: vec![profile, passed],
        tests,
        stale: vec!["client/wrong in text/empty".to_owned()],
        folder: Some("run/".to_owned()),
        ..ClientRun::default()
    }
    .concluded()
}
