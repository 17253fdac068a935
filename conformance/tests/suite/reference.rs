//! The reference gateway conforms to every rule of every dialect, and breaks the selected ones.

use std::collections::BTreeMap;

use catalogue::{Edit, Rule, RuleInApi};
use conformance::{Checker, Rules, gateway, goldens};
use serde_json::{Value, json};
use spec::Dialect;

fn dialect(name: &str) -> &'static Dialect {
    spec::dialect(name).expect("the build has it")
}

/// Requests for all that a plan can hold, and that the dialect has a way to say.
fn requests(dialect: &'static Dialect) -> Vec<(String, Value)> {
    let api = dialect.api;
    let is_of =
        |golden: &&str| golden.split_once('/').is_some_and(|(of, _)| self::dialect(of).api.name == api.name);
    let mut requests: Vec<(String, Value)> = gateway::examples()
        .filter(is_of)
        .filter_map(|golden| Some((golden.to_owned(), gateway::example(golden)?)))
        .collect();
    let texts = [
        "[[parts 3]]",
        "[[say A|B]][[refuse]][[say C]]",
        "[[call get_weather parallel 2 interleaved]]",
        "[[call get_weather parallel 3]]",
        "[[think A|B]][[encrypt]][[call f {}]]",
        "[[summarize A|B]][[encrypt]][[say C]]",
        "[[say A|B|C]][[cite]][[cite file]]",
        "[[say A|B|C]][[fail after 0]]",
        "[[say A|B|C]][[fail after 1]]",
        "[[say A|B|C]][[fail after 3]]",
        "[[say A|B|C]][[fail after 7]]",
        "[[call f {\"a\":|1}]][[fail after 2]]",
        "[[say A|B]][[say C|D]][[fail after 9]]",
        "[[say A|B]][[incomplete content_filter]]",
        "[[call f {\"a\":1}]][[incomplete]]",
        "[[image 3]][[shell]][[patch]][[code]][[web_search x]][[file_search y]][[mcp_tools]][[mcp failed]]",
        "[[custom f A|B]][[call g]][[keepalive]][[pad]][[rewrite]]",
        "[[say ]]",
        "[[say A|B]][[web_search x]][[say C]]",
        "[[mcp]][[say C]]",
        "[[mcp failed]][[say C]]",
        "[[web_search x]][[pause]]",
        "[[keepalive]][[pad]][[say A|B]]",
    ];
    for text in texts {
        requests.push((text.to_owned(), gateway::request(text, api)));
    }
    let mut plain: BTreeMap<String, Vec<Value>> =
        serde_json::from_str(include_str!("requests.json")).expect("it lists requests by API");
    let plain = plain.remove(api.name).expect("each API has some");
    let named = plain.into_iter().map(|mut request| {
        let name = request.to_string();
        request["model"] = json!("reference-1");
        request["stream"] = json!(true);
        (name, request)
    });
    let (said, unsaid): (Vec<_>, Vec<_>) = requests
        .into_iter()
        .chain(named)
        .partition(|(_, request)| gateway::respond(request, dialect).status == 200);
    assert!(unsaid.len() * 4 < said.len(), "{}: {unsaid:#?}", dialect.name);
    said.into_iter().collect()
}

fn answer(request: &Value, dialect: &'static Dialect, seed: u64) -> gateway::RenderedResponse {
    let plan = gateway::plan(request, dialect, seed);
    gateway::render(request, &plan, dialect, seed)
}

#[test]
fn every_stream_keeps_every_rule_of_its_dialect() {
    let mut told = Vec::new();
    let mut streams = 0;
    for dialect in gateway::dialects() {
        for (name, request) in requests(dialect) {
            for seed in 0..4 {
                let stream = answer(&request, dialect, seed).stream();
                let mut checker = Checker::new(dialect);
                checker.push(stream.as_bytes());
                checker.finish();
                streams += 1;
                for finding in checker.findings() {
                    told.push(format!("{} {name}: {} {}", dialect.name, finding.rule, finding.message));
                }
                assert!(
                    checker.events() > u64::from(dialect.api.snapshot.is_some()),
                    "{} {name}: {stream}",
                    dialect.name
                );
            }
        }
    }
    told.dedup();
    assert!(told.is_empty(), "{} of {streams}:\n{}", told.len(), told.join("\n"));
}

#[test]
fn answers_that_are_no_streams_are_valid() {
    for dialect in gateway::dialects() {
        for (name, request) in requests(dialect) {
            let answer = answer(&request, dialect, 0);
            let Some(resource) = dialect.root("response").filter(|_| answer.status == 200) else { continue };
            for snapshot in &answer.snapshots {
                let verdict = dialect.check_type(resource, &snapshot.to_string());
                assert!(verdict.is_valid(), "{} {name}: {:?}", dialect.name, verdict.faults());
            }
        }
    }
}

fn types(stream: &str) -> Vec<String> {
    let named = |block: &str| {
        let data = block.lines().find_map(|line| line.strip_prefix("data: "))?;
        let inside: Option<Value> = serde_json::from_str(data).ok();
        let inside = inside.and_then(|data| Some(data.get("type")?.as_str()?.to_owned()));
        let line = || Some(block.lines().find_map(|line| line.strip_prefix("event: "))?.to_owned());
        Some(inside.or_else(line).unwrap_or_else(|| data.to_owned()))
    };
    stream.split_terminator("\n\n").filter_map(named).collect()
}

#[test]
fn examples_have_the_shape_of_their_golden() {
    for golden in gateway::examples().filter_map(goldens::golden) {
        let stream = String::from_utf8_lossy(golden.bytes);
        if !stream.starts_with("event:") {
            continue;
        }
        let id = format!("{}/{}", golden.dialect, golden.name);
        let request = gateway::example(&id).expect("it is an example");
        let ours = answer(&request, dialect(golden.dialect), 0).stream();
        assert_eq!(types(&ours), types(&stream), "{id}");
    }
    assert!(gateway::examples().all(|id| goldens::golden(id).is_some()));
}

/// Returns whether a rule is about WebSocket turns, since these faults are applied to a single response.
fn needs_websocket(own: &RuleInApi) -> bool {
    own.violation.golden.contains("websocket")
}

/// Returns whether a rule compares a response with its request, which says what is wrong here.
fn needs_request(own: &RuleInApi) -> bool {
    own.violation.edits.iter().any(|edit| matches!(edit, Edit::Request(_)))
}

#[test]
fn requests_are_kept_and_every_rule_about_them_can_be_broken() {
    let mut told = Vec::new();
    for dialect in gateway::dialects() {
        let rules = Rules::of(dialect);
        let is_own = |own: &RuleInApi| {
            own.violation.golden.split('/').next() == Some(dialect.name)
                && needs_request(own)
                && is_planned(own)
        };
        let about = catalogue::rules_in_apis().filter(|(_, own)| is_own(own)).map(|(rule, _)| rule);
        for rule in about.filter(|rule| rules.iter().any(|bound| bound.id == rule.id)) {
            let Some(request) = gateway::request_about(rule, dialect) else {
                told.push(format!("{}: no request", rule.id));
                continue;
            };
            let kept = gateway::respond(&request, dialect);
            let broken = kept.broken_for(&request, &rules);
            if kept.status != 200 || !broken.is_empty() {
                told.push(format!("{}: {} {broken:?} {request}", rule.id, kept.status));
            }
            if gateway::regardless(&request, rule, &rules).is_none() {
                told.push(format!("{}: cannot be broken {request}", rule.id));
            }
        }
    }
    assert!(told.is_empty(), "{}", told.join("\n"));
}

/// Goldens that no plan of the gateway is like, with the reason.
const UNPLANNED: [(&str, &str); 9] = [
    ("anthropic/text-before-thinking", "thoughts begin with words"),
    ("anthropic/two-message-deltas", "one plan has one end"),
    ("anthropic/call-by-code", "no code runs"),
    ("chat/audio", "nothing is spoken"),
    ("gemini/blocked", "a prompt is never blocked"),
    ("gemini/code-execution", "no code runs"),
    ("gemini/grounding", "nothing is searched"),
    ("gemini/server-tools", "no tool of the server runs"),
    ("gemini/body", "a body is planned by a request without a stream"),
];

fn is_planned(own: &RuleInApi) -> bool {
    UNPLANNED.iter().all(|(golden, _)| own.violation.golden != *golden)
}

#[test]
fn every_rule_can_be_broken_in_the_dialect_of_its_violation() {
    for dialect in gateway::dialects() {
        let rules = Rules::of(dialect);
        let faults = gateway::faults(&rules);
        let is_due = |rule: &&Rule| {
            let own = rule.in_dialect(dialect);
            let is_own = own.violation.golden.split('/').next() == Some(dialect.name);
            is_own && !needs_websocket(own) && !needs_request(own) && is_planned(own)
        };
        let missing: Vec<&str> = (rules.iter())
            .filter(is_due)
            .filter(|rule| !faults.iter().any(|(other, _)| other.id == rule.id))
            .map(|rule| rule.id)
            .collect();
        assert!(missing.is_empty(), "{}: {missing:?}", dialect.name);
        for (rule, golden) in faults {
            let request = gateway::example(golden).expect("it is an example");
            let wire = gateway::respond(&request, dialect);
            assert_eq!(wire.broken(&rules), Vec::<&str>::new(), "{} {golden}", dialect.name);
            let broken = wire.breaking(rule, &rules, &[]).expect("it can be broken").broken(&rules);
            let told = format!("{} {} in {golden}: {broken:?}", dialect.name, rule.id);
            assert!(broken.contains(&rule.id), "{told}");
            let also = rule.in_dialect(dialect).violation.also;
            assert!(broken.iter().all(|id| *id == rule.id || also.contains(id)), "{told}");
        }
    }
}
