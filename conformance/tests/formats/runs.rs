//! Runs that every format must support.

use catalogue::Level;
use conformance::results::{
    CaptureReport, CaseReport, Demand, FailOn, Judgement, Latency, LiveReport, Lost, ProfileReport, Reason,
    Run, Spread, UndecidedKind, Verdict,
};
use conformance::{Rules, check, goldens, violation};

use crate::live;

/// Few rules, so that a new one changes no snapshot.
const RULES: [&str; 6] = [
    "part/before-open",
    "response/one-terminal",
    "schema/event-known",
    "schema/event-valid",
    "text/equals-part",
    "wire/json-object",
];

fn rules() -> Rules {
    let dialect = conformance::dialect("openai").expect("the build has it");
    Rules::of(dialect).only(|rule| RULES.contains(&rule.id))
}

/// Returns a run, without most of the unaffected clients.
pub(crate) fn run(captures: Vec<CaptureReport>, live: Option<LiveReport>) -> Run {
    let mut run = Run::new(&rules(), captures, live);
    run.clients.retain(|client| client.captures > 0 || client.name == "llm");
    run
}

pub(crate) fn recording(name: &str, bytes: &[u8]) -> CaptureReport {
    check(name, &mut &*bytes, None, &rules())
}

fn golden(id: &str) -> &'static [u8] {
    goldens::golden(id).expect("it exists").bytes
}

/// Returns the report of the violation of a rule.
pub(crate) fn violated(name: &str, rule: &str) -> CaptureReport {
    let page = catalogue::rule(rule).expect("there is such a rule");
    recording(name, &violation::apply(&page.in_api("").violation).expect("its edits can be made"))
}

fn case(name: &str, attempts: &[usize], trials: &[(&'static str, Verdict, &str)]) -> CaseReport {
    let judged = |(about, verdict, reason): &(&'static str, Verdict, &str)| match (*about, verdict) {
        ("answer", Verdict::NotExercised) => {
            (*about, Judgement::undecided(*verdict, UndecidedKind::NotElicited, *reason))
        }
        _ => (*about, Judgement::new(*verdict, *reason)),
    };
    live::case(name, format!("A scenario about {name}"), attempts, trials.iter().map(judged))
}

/// Returns the results of a profile that requires all cases.
fn profile(cases: &[CaseReport]) -> ProfileReport {
    let reasons = live::undecided(cases).map(|(case, told)| {
        Reason::new(Demand::Scenario, &case.name, told.judged.verdict, &told.judged.reason)
    });
    ProfileReport {
        rules: vec!["response/one-terminal".to_owned()],
        scenarios: cases.iter().map(|case| case.name.clone()).collect(),
        reasons: reasons.collect(),
        ..ProfileReport::new("core", 1, "Streams that clients can read", None)
    }
    .decided()
}

fn live(target: &str, model: &str, cases: Vec<CaseReport>) -> LiveReport {
    let profiles = vec![profile(&cases)];
    let latency = vec![Latency {
        case: "crowd/words".to_owned(),
        streams: 8,
        first_event: Spread { p50_us: 150_000, p90_us: 200_000, p99_us: 228_100, max_us: 230_000 },
        between_events: Some(Spread { p50_us: 200, p90_us: 600, p99_us: 18_000, max_us: 30_000 }),
        total: Spread { p50_us: 151_000, p90_us: 201_000, p99_us: 240_000, max_us: 250_000 },
    }];
    LiveReport { latency, ..live::live(target, model, cases, profiles) }
}

/// Returns a run that passed.
pub(crate) fn good() -> Run {
    let captures = vec![
        recording("exchanges/text/hello.exchange", golden("openai/text")),
        recording("exchanges/call/parallel.exchange", golden("openai/parallel-function-calls")),
    ];
    let passed =
        [("answer", Verdict::Pass, ""), ("part", Verdict::Pass, ""), ("other-rules", Verdict::Pass, "")];
    let cases = vec![case("call/parallel", &[1], &passed), case("text/hello", &[0], &passed)];
    run(captures, Some(live("https://gateway.test/v1/responses", "small", cases)))
}

/// Returns a run with broken rules, a wrong response and undecided trials.
pub(crate) fn bad() -> Run {
    let mut lost = recording("exchanges/text/long.exchange", b"data: {\"type\":\"response.creat\n\n");
    lost.lost = 1;
    lost.first_lost = Some(Lost { exchange: None, events: 1, reason: "reset by peer".to_owned() });
    let captures = vec![
        violated("exchanges/text/hello.exchange", "part/before-open"),
        violated("exchanges/text/hello.2.exchange", "part/before-open"),
        violated("exchanges/text/two.exchange", "text/equals-part"),
        lost,
    ];
    let (pass, fail) = (Verdict::Pass, Verdict::Fail);
    let see = "see reasoning/effort::answer";
    let cases = vec![
        case(
            "image/url",
            &[],
            &[("answer", Verdict::HarnessError, "the endpoint responds with 401: give --api-key")],
        ),
        case(
            "reasoning/effort",
            &[],
            &[
                (
                    "answer",
                    Verdict::NotExercised,
                    "requested 3 times, but there was no response.reasoning_text.delta",
                ),
                ("reasoning", Verdict::NotExercised, see),
                ("other-rules", Verdict::NotExercised, see),
            ],
        ),
        case(
            "text/hello",
            &[0, 1],
            &[("answer", pass, ""), ("part", fail, "part/before-open"), ("other-rules", pass, "")],
        ),
        case(
            "text/long",
            &[3],
            &[
                ("answer", fail, "the response is incomplete: reset by peer"),
                ("wire", fail, "wire/json-object"),
            ],
        ),
        case("text/two", &[2], &[("answer", pass, ""), ("text", fail, "text/equals-part")]),
    ];
    let stale = vec!["wire/terminated in text/hello: it no longer fails".to_owned()];
    let live = live("https://gateway.test/v1/responses", "small", cases);
    run(captures, Some(LiveReport { stale, ..live }))
}

/// Returns a run with changed levels, in which a finding below MUST fails.
pub(crate) fn terms() -> Run {
    let dialect = conformance::dialect("openai").expect("the build has it");
    let levels = [("part/before-open", Level::Should), ("wire/json-object", Level::Off)];
    let levels = levels.map(|(rule, level)| (rule.to_owned(), level)).into();
    let rules = Rules::with_levels(dialect, &levels).only(|rule| RULES.contains(&rule.id));
    let text = String::from_utf8_lossy(golden("openai/text")).into_owned();
    let is_sent = |frame: &&str| !frame.starts_with("event: response.content_part.added");
    let stream: String = text.split_inclusive("\n\n").filter(is_sent).collect();
    let capture = check("a.sse", &mut stream.as_bytes(), None, &rules);
    let mut run = Run::of_recordings(&rules, vec![capture], FailOn::Breaks);
    run.clients.retain(|client| client.captures > 0);
    run
}

/// Returns a good stream with an unknown event.
pub(crate) fn heartbeat(fail_on: FailOn) -> Run {
    let text = String::from_utf8_lossy(golden("openai/text")).into_owned();
    let at = text.find("event: response.output_item.added").expect("it is there");
    let (before, behind) = text.split_at(at);
    let event = "event: ping\ndata: {\"type\":\"ping\",\"sequence_number\":2}\n\n";
    let stream = format!("{before}{event}{behind}");
    Run::of_recordings(&rules(), vec![recording("heartbeat.sse", stream.as_bytes())], fail_on)
}

/// Untrusted text that endpoints control.
pub(crate) const HOSTILE: &str = "\u{1b}[2J\u{202e}]]></failure><script>alert(1)</script>::error::x%0A\r\n::set-output|`a``b`<!-- @team #1 https://evil.test [x](javascript:y) {0} \u{fffe}\u{0}";

/// Names, messages and pieces of recordings are hostile.
pub(crate) fn hostile() -> Run {
    let data = serde_json::json!({ "type": format!("a{HOSTILE}"), HOSTILE: 1 });
    let created = serde_json::json!({
        "type": "response.output_text.delta", "delta": 1, "item_id": HOSTILE, HOSTILE: HOSTILE.repeat(200),
    });
    let text =
        format!("data: {data}\n\ndata: {created}\n\ndata: {{{}\n\n", HOSTILE.replace(['\r', '\n'], ""));
    let mut capture = recording(&format!("a/{HOSTILE}.sse"), text.as_bytes());
    capture.lost = 1;
    capture.first_lost =
        Some(Lost { exchange: Some(HOSTILE.to_owned()), events: 2, reason: HOSTILE.to_owned() });
    let unread = CaptureReport {
        name: HOSTILE.to_owned(),
        error: Some(HOSTILE.to_owned()),
        ..CaptureReport::default()
    };
    let cases = vec![
        case(
            HOSTILE,
            &[0],
            &[
                ("answer", Verdict::Fail, HOSTILE),
                ("schema", Verdict::Fail, HOSTILE),
                ("other-rules", Verdict::Pass, ""),
            ],
        ),
        case(
            "b|c/d",
            &[1],
            &[("answer", Verdict::HarnessError, HOSTILE), ("other-rules", Verdict::NotExercised, HOSTILE)],
        ),
    ];
    let live = live(&format!("https://x.test/{HOSTILE}"), HOSTILE, cases);
    run(vec![capture, unread], Some(LiveReport { stale: vec![HOSTILE.to_owned()], ..live }))
}
