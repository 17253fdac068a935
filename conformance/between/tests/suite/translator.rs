//! The reference translator: it is right in everything, and each of its faults breaks one rule.

use std::collections::BTreeSet;
use std::time::Duration;

use between::{
    Pair, Reference, SESSION_GROUPS, Settings, Suite, front_dialect, unused_limits, upstream_dialect,
};
use harness::live::RunRuntime;
use harness::suite::Selection;
use results::{BetweenRun, Declared, Verdict};

/// The faults, each with tests that show it and nothing else. Answers of crowds, and those to writes with other borders,
/// have rules of their own.
const SHOWN: &[(&str, &[&str])] = &[
    ("answer/arguments", &["call/one", "call/nested"]),
    ("answer/calls", &["call/several"]),
    ("answer/ids", &["call/several"]),
    ("answer/kind", &["text/plain"]),
    ("answer/model", &["text/plain"]),
    ("answer/nothing-invented", &["text/plain", "call/one"]),
    ("answer/order", &["call/text-before"]),
    ("answer/reasoning", &["reasoning/shown", "reasoning/summary"]),
    ("answer/refusal", &["refusal/text"]),
    ("answer/stop", &["text/plain", "stop/limit"]),
    ("answer/text", &["text/plain", "text/unicode"]),
    ("answer/usage", &["text/plain", "usage/"]),
    ("borders/same-answer", &["borders/bytes"]),
    ("cancel/upstream-left", &["cancel/"]),
    ("crowd/separate", &["crowd/eight"]),
    ("fault/false-complete", &["fault/cut-text"]),
    ("fault/hung", &["fault/cut-text@cut:3"]),
    ("fault/malformed", &["fault/cut-text"]),
    ("fault/message", &["fault/error-text", "status/whole@400"]),
    ("fault/next", &["fault/cut-text@cut:3"]),
    ("fault/replay", &["fault/cut-text@cut:5"]),
    ("fault/requests", &["status/stream@500"]),
    ("fault/status", &["status/whole@"]),
    ("fault/told", &["fault/cut-text@cut:3"]),
    ("fault/usage", &["fault/cut-text@cut:5"]),
    ("keys/client", &["text/plain"]),
    ("keys/upstream", &["text/plain"]),
    ("passthrough/bytes", &["text/plain", "whole/text"]),
    ("request/format", &["request/json-schema"]),
    ("request/images", &["request/image-url", "request/image-data"]),
    ("request/instructions", &["request/instructions"]),
    ("request/limit", &["stop/limit"]),
    ("request/messages", &["text/plain"]),
    ("request/model", &["text/plain"]),
    ("request/nothing-invented", &["text/plain"]),
    ("request/one-call", &["call/one-at-a-time"]),
    ("request/reasoning", &["reasoning/sealed", "request/effort"]),
    ("request/results", &["call/round-trip"]),
    ("request/roles", &["request/instructions"]),
    ("request/sampling", &["request/sampling"]),
    ("request/schema", &["text/plain"]),
    ("request/stops", &["request/stops"]),
    ("request/tool-choice", &["call/required"]),
    ("request/tools", &["call/one"]),
    (UPGRADE, &["text/plain"]),
    ("time/in-step", &["time/text"]),
    (SILENT, &["time/silent"]),
];

/// The rules that are judged if something is declared.
const SILENT: &str = "time/kept-alive";
const UPGRADE: &str = "socket/upgrade";

/// Rules that a fault cannot but break, too.
const BESIDE: &[(&str, &[&str])] = &[
    (
        "answer/ids",
        &["call/id-unique", "tool-call/id-unique", "tool-use/id-unique", "function-call/id-unique"],
    ),
    ("answer/nothing-invented", &["thought/counted"]),
    ("crowd/separate", &["answer/text"]),
];

/// Returns settings for some tests of these pairs.
pub(super) fn settings(pairs: Vec<Pair>, with: &[&str]) -> Settings {
    let dialect = spec::dialect("openai").unwrap();
    let with: Vec<String> = with.iter().map(|filter| (*filter).to_owned()).collect();
    Settings {
        gateway: "http://127.0.0.1:1/v1".into(),
        name: "reference".into(),
        command: Vec::new(),
        headers: Vec::new(),
        pairs,
        model: "model-1".into(),
        key: Some("client-key-5f1d".into()),
        upstream_key: Some("upstream-key-93ab".into()),
        declared: Declared::default(),
        is_limit_known: false,
        max_bytes: None,
        max_time: None,
        agents: Vec::new(),
        sessions: Vec::new(),
        selection: Selection::new(&with, &[], false, dialect).unwrap(),
        shard: None,
        jobs: 8,
        limit: Duration::from_secs(10),
        patience: Duration::from_millis(500),
        out: None,
    }
}

/// Plays tests through the reference translator, with a fault if there is one.
fn play(fault: Option<&str>, with: &[&str], is_in: impl Fn(&Pair) -> bool) -> BetweenRun {
    let mut settings = settings(pairs().filter(is_in).collect(), with);
    if let Some(fault) = fault {
        // A fault that concurrent answers show must not show in others, nor one of the next request.
        settings.jobs = match fault {
            "crowd/separate" | "fault/next" => 1,
            SILENT => 32,
            _ => 8,
        };
        settings.limit = Duration::from_secs(if fault == "fault/hung" { 1 } else { 10 });
        settings.declared.keeps_alive = (fault == SILENT).then_some(1);
        settings.declared.websocket = fault == UPGRADE;
        // Each event that is held back takes as long.
        settings.patience = Duration::from_millis(300);
    }
    let suite = Suite::start(0, &settings, &RunRuntime::start().unwrap()).unwrap();
    let _reference = Reference::start(&suite, &mut settings, fault).unwrap();
    suite.run(&settings, &mut |_| {}).unwrap()
}

#[test]
fn the_right_translator_talks_over_a_socket() {
    let is_in = |pair: &Pair| {
        pair.front.api.session.is_some() && !["messages", "gemini"].contains(&pair.upstream.api.name)
    };
    let mut settings = settings(pairs().filter(is_in).collect(), &[]);
    settings.declared.websocket = true;
    let suite = Suite::start(0, &settings, &RunRuntime::start().unwrap()).unwrap();
    let _reference = Reference::start(&suite, &mut settings, None).unwrap();
    let run = suite.run(&settings, &mut |_| {}).unwrap();
    assert_eq!(failures(&run), Vec::new());
    assert!(run.tests.len() > 300 && run.tests.iter().all(|test| test.verdict == Verdict::Pass));
}

/// The upstream stands for a gateway that changes nothing.
#[test]
fn the_upstream_talks_over_a_socket() {
    let is_in = |pair: &Pair| pair.front.api.session.is_some() && !is_translated(pair);
    let mut settings = settings(pairs().filter(is_in).collect(), &["text/", "call/", "fault/cut-text"]);
    (settings.declared.websocket, settings.declared.passes_key) = (true, true);
    let suite = Suite::start(0, &settings, &RunRuntime::start().unwrap()).unwrap();
    settings.gateway = format!("http://{}/v1", suite.address());
    let run = suite.run(&settings, &mut |_| {}).unwrap();
    assert_eq!(failures(&run), Vec::new());
    assert!(run.tests.len() > 30 && run.tests.iter().all(|test| test.verdict == Verdict::Pass));
}

#[test]
fn the_right_translator_bridges_silence() {
    let mut settings =
        settings(pairs().filter(|pair| pair.upstream.api.name != "messages").collect(), &["time/silent"]);
    settings.declared.keeps_alive = Some(1);
    settings.jobs = 32;
    let suite = Suite::start(0, &settings, &RunRuntime::start().unwrap()).unwrap();
    let _reference = Reference::start(&suite, &mut settings, None).unwrap();
    let run = suite.run(&settings, &mut |_| {}).unwrap();
    assert_eq!((run.tests.len(), failures(&run)), (24, Vec::new()));
    let silences = run.tests.iter().filter(|test| test.ms >= 3_000).count();
    assert_eq!(silences, run.tests.len());
}

/// Returns the pairs of all APIs.
pub(super) fn pairs() -> impl Iterator<Item = Pair> {
    let fronts = spec::spoken().filter_map(front_dialect);
    fronts.flat_map(|front| {
        let upstreams = spec::spoken().filter_map(upstream_dialect);
        upstreams.map(move |upstream| Pair::of_reference(front, upstream))
    })
}

fn is_translated(pair: &Pair) -> bool {
    pair.front.api.name != pair.upstream.api.name
}

/// Returns the findings that fail a test, with their rules.
fn failures(run: &BetweenRun) -> Vec<(&str, String)> {
    let findings = run.tests.iter().flat_map(|test| test.findings.iter().map(move |finding| (test, finding)));
    let failing = findings.filter(|(_, finding)| finding.fails);
    failing
        .map(|(test, finding)| (finding.rule.as_str(), format!("{}: {}", test.name, finding.message)))
        .collect()
}

#[test]
fn the_right_translator_passes() {
    let run = play(None, &[], |_| true);
    let findings = run.tests.iter().flat_map(|test| test.findings.iter().map(move |finding| (test, finding)));
    let findings: Vec<String> = findings
        .map(|(test, finding)| format!("{}: {}: {}", test.name, finding.rule, finding.message))
        .collect();
    assert!(findings.is_empty(), "{} findings\n{}", findings.len(), findings.join("\n"));
    assert!(run.tests.len() > 1500 && run.tests.iter().all(|test| test.verdict == Verdict::Pass));
    let unused: Vec<&str> = unused_limits(&run.tests).into_iter().map(|limit| limit.rule).collect();
    assert!(unused.is_empty(), "limits that no test meets: {unused:?}");
}

#[test]
fn each_wrong_translator_breaks_its_rule_alone() {
    let faults: Vec<&str> = SHOWN.iter().map(|(fault, _)| *fault).collect();
    let is_of_sessions = |rule: &&str| SESSION_GROUPS.contains(&catalogue::group(rule));
    let own: Vec<&str> = gateway::via_faults().into_iter().filter(|rule| !is_of_sessions(rule)).collect();
    assert_eq!(faults, own);
    let mut problems = Vec::new();
    for (fault, with) in SHOWN {
        let is_in = |pair: &Pair| is_translated(pair) != fault.starts_with("passthrough/");
        let run = play(Some(fault), with, is_in);
        let all: BTreeSet<&str> =
            run.tests.iter().flat_map(|test| &test.findings).map(|it| it.rule.as_str()).collect();
        if !all.contains(fault) {
            problems.push(format!("{fault}: {} tests do not show it", run.tests.len()));
        }
        let beside = BESIDE.iter().find(|(of, _)| of == fault).map_or(&[][..], |(_, rules)| rules);
        let others = failures(&run).into_iter().filter(|(rule, _)| rule != fault && !beside.contains(rule));
        problems.extend(others.map(|(rule, message)| format!("{fault} breaks {rule}, too: {message}")));
    }
    assert!(problems.is_empty(), "{} problems\n{}", problems.len(), problems.join("\n"));
}
