//! Each fault of the reference gateway is detected by a run against it, without other findings.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use catalogue::Rule;
use conformance::Rules;
use conformance::gateway::{self, Embedded, McpServer, Settings, Wire, WireFault, respond, socket_faults};
use conformance::live::{CaseOutcome, Live, RunPlan, RunRuntime};
use conformance::plan::{About, Given, Offer, RequestContext, ScenarioCase, Seed, cases};
use conformance::results::{FailOn, Finding, Judgement, Options, Transport, Verdict};
use conformance::wire::{Client, Limits, Target};
use serde_json::Value;
use spec::Dialect;
use spec::table::Operation;

use crate::program::several_at_once;

const MODEL: &str = "default";

/// The cases of a dialect, with the responses to them.
struct Known {
    rules: Rules,
    cases: Vec<ScenarioCase>,
    /// The request of a case, with the response.
    answers: Vec<Option<(Value, Wire)>>,
}

impl Known {
    fn of(dialect: &'static Dialect, given: &Given) -> Self {
        let rules = Rules::of(dialect);
        let mut cases = cases(dialect, &rules, &Offer::All, &Transport::ALL);
        for case in &mut cases {
            case.give(given);
        }
        let answer = |case: &ScenarioCase| {
            let is_alone = case.turns.is_empty() && case.previous.is_none() && case.scenario.fill.is_none();
            let is_creating = case.scenario.operation == Operation::Create;
            let context = RequestContext { model: MODEL, given, number: 1, seed: &Seed::NONE };
            let call = case.call(&context, None);
            let body = call.body.filter(|_| case.unfit.is_none() && is_alone && is_creating)?;
            let mut request: Value = serde_json::from_str(&body).ok()?;
            // These are in the path.
            if !call.at.is_empty() {
                (request["model"], request["stream"]) = (MODEL.into(), call.wants_stream.into());
            }
            let wire = respond(&request, dialect);
            // Which models there are is for the gateway on a port to know.
            let is_so = if case.scenario.status.is_empty() { wire.status == 200 } else { wire.status != 200 };
            is_so.then_some((request, wire))
        };
        let answers = cases.iter().map(answer).collect();
        Self { rules, cases, answers }
    }

    /// Returns a case whose response can break a rule, preferring one with a trial for the group of the rule.
    fn provoking(&self, rule: &'static Rule) -> Option<usize> {
        let all = || 0..self.cases.len();
        let is_on_socket = |at: &usize| !self.cases[*at].turns.is_empty() && self.cases[*at].unfit.is_none();
        let is_about = |at: &usize| is_on_socket(at) && self.cases[*at].scenario.rules.contains(&rule.id);
        if socket_faults(&self.rules).iter().any(|(other, _)| other.id == rule.id) {
            // Refused requests come first, as most rules of errors are broken there.
            let order =
                |at: &usize| (self.cases[*at].scenario.status.is_empty(), self.cases[*at].turns.len());
            // What no scenario is about takes two turns that are answered.
            let is_unnamed = catalogue::SCENARIOS.iter().all(|scenario| !scenario.rules.contains(&rule.id));
            let is_plain = |at: &usize| {
                let ScenarioCase { turns, scenario, .. } = &self.cases[*at];
                is_unnamed && is_on_socket(at) && turns.len() == 2 && scenario.status.is_empty()
            };
            return all().filter(|at| is_about(at) || is_plain(at)).min_by_key(order);
        }
        let breaks = |at: &usize| {
            let Some((request, wire)) = &self.answers[*at] else { return false };
            wire.breaking(rule, &self.rules, &[]).is_some()
                || gateway::regardless(request, rule, &self.rules).is_some()
        };
        let mut order: Vec<usize> = all().collect();
        order.sort_by_key(|at| {
            let case = &self.cases[*at];
            let is_about = case.scenario.rules.contains(&rule.id);
            let is_grouped = case.trials.contains(&About::Group(rule.group()));
            (case.scenario.cut_after.is_some(), !is_about, !is_grouped)
        });
        order.into_iter().find(breaks)
    }
}

/// The results of a case, and of those that it depends on.
struct Outcome {
    trials: BTreeMap<&'static str, Judgement>,
    findings: Vec<Finding>,
}

struct Harness {
    machine: RunRuntime,
    notes: McpServer,
}

impl Harness {
    fn start() -> Self {
        Self {
            machine: RunRuntime::start().expect("it starts"),
            notes: McpServer::start().expect("it starts"),
        }
    }

    fn given(&self) -> Given {
        let mut given = conformance::gateway::given();
        given.insert("mcp-server".to_owned(), self.notes.url());
        given.insert("failing-mcp-server".to_owned(), self.notes.failing_url());
        given
    }

    /// Runs one case against a separate gateway.
    fn run(&self, known: &Known, at: usize, settings: Settings, limits: Limits) -> Outcome {
        let gateway = Embedded::start(settings).expect("a port is free");
        let target =
            Target::new(&gateway.url(), known.rules.dialect().api).expect("it is an address").direct();
        let client = Client::new(target, limits, self.machine.interrupt()).expect("it can be made");
        let mut plan = RunPlan {
            cases: known.cases.clone(),
            wanted: (0..known.cases.len()).map(|other| other == at).collect(),
            model: MODEL.to_owned(),
            given: self.given(),
            options: Options { attempts: 1, fail_on: Some(FailOn::May), ..Options::usual() },
            shapes: false,
            seed: Seed::NONE,
        };
        plan.complete();
        let live = Arc::new(Live::new(
            plan,
            [known.rules.clone(), known.rules.clone()],
            client,
            self.machine.runtime(),
            None,
        ));
        live.start().expect("threads can be started");
        let case = &known.cases[at];
        assert!(matches!(live.wait(at), CaseOutcome::Sent(_)), "{}: {:?}", case.name, live.wait(at));
        let trials = case.trials.iter().map(|about| (about.name(), live.judge(at, *about))).collect();
        let findings = live.sent().flat_map(|(_, attempt)| attempt.report.findings.clone()).collect();
        Outcome { trials, findings }
    }
}

/// Asserts that a rule was found broken, and no other rule except its companions.
fn is_found(rule: &Rule, outcome: &Outcome) -> Result<(), String> {
    let trial = outcome.trials.get(rule.group()).or(outcome.trials.get("other-rules"));
    let told = trial.filter(|judged| judged.verdict == Verdict::Fail);
    if !told.is_some_and(|judged| judged.reason.split([' ', ',']).any(|word| word == rule.id)) {
        return Err(format!("{}: its trial says {trial:?}", rule.id));
    }
    if !outcome.findings.iter().any(|finding| finding.rule == rule.id) {
        return Err(format!("{}: there is no finding of it", rule.id));
    }
    let also: Vec<&str> = rule.in_apis.iter().flat_map(|own| own.violation.also).copied().collect();
    let is_meant = |id: &str| id == rule.id || also.contains(&id);
    match outcome.findings.iter().find(|finding| !is_meant(&finding.rule)) {
        Some(other) => Err(format!("{}: {} fires too: {}", rule.id, other.rule, other.message)),
        None => Ok(()),
    }
}

/// Returns the dialects, with that of the rule's own violation first.
fn dialects(rule: &Rule) -> Vec<&'static Dialect> {
    let mut dialects: Vec<_> = gateway::called_dialects().collect();
    let own = rule.in_api("").violation.golden.split('/').next();
    dialects.sort_by_key(|dialect| Some(dialect.name) != own);
    dialects
}

/// Rules that no run can see broken, and why.
const OUT_OF_REACH: [(&str, &str); 28] = [
    ("candidate/text-before-stop", "no scenario is answered by the text of its violation"),
    ("choice/limit-reached", "no scenario has the limit of its violation"),
    ("choice/text-before-stop", "no scenario is answered by the text of its violation"),
    ("code-execution/follows-code", "no scenario is answered by the code of its violation"),
    ("code-execution/has-result", "no scenario is answered by the code of its violation"),
    ("completion/audio-asked", "no scenario asks for speech"),
    ("error/ends-completion", "no scenario fails after one delta"),
    ("error/ends-generation", "no scenario is answered by the chunk of its violation"),
    ("generation/has-candidates", "no scenario is answered by the chunk of its violation"),
    ("generation/line-ends-escaped", "no scenario is answered by the text of its violation"),
    ("grounding/indices-in-chunks", "no scenario is answered by the sources of its violation"),
    ("grounding/segment-in-text", "no scenario is answered by the text of its violation"),
    ("server-call/answered", "no plan of the gateway calls tools of the service"),
    ("server-tool/answered", "no scenario offers an MCP server"),
    ("server-tool/result-named", "no scenario is answered by words before a search"),
    ("stop/limit-reached", "no scenario has the limit of its violation"),
    ("stop/reason-kept", "no plan of the gateway stops twice"),
    ("stop/text-before-sequence", "no scenario is answered by the text of its violation"),
    ("thinking/first", "no plan of the gateway begins with words before a thought"),
    ("thought-signature/on-call", "no scenario asks for a model that signs each call"),
    ("thought/before-answer", "no plan of the gateway thinks after words"),
    ("thought/counted", "no scenario has the counts of its violation"),
    ("tool-use/id-unique", "no scenario is answered by words before two calls"),
    ("tool-use/input-complete", "no scenario is answered by the input of its violation"),
    ("tool-use/input-once", "no scenario is answered by the code of its violation"),
    ("usage/output-within-max-tokens", "no scenario has the limit of its violation"),
    ("usage/within-limit", "no scenario has the limit of its violation"),
    ("ws/connection-limit", "no run takes an hour"),
];

#[test]
fn every_rule_that_the_gateway_breaks_is_found_in_a_run() {
    let harness = Harness::start();
    let given = harness.given();
    let known: Vec<Known> = gateway::called_dialects().map(|dialect| Known::of(dialect, &given)).collect();
    let of = |dialect: &Dialect| known.iter().find(|known| known.rules.dialect().name == dialect.name);
    let fault = |rule: &'static Rule| {
        let known = dialects(rule).into_iter().filter_map(of);
        let mut known = known.filter(|known| known.rules.iter().any(|bound| bound.id == rule.id));
        known.find_map(|known| Some((known, known.provoking(rule)?)))
    };
    // A message on a WebSocket that is not answered takes as long.
    let limits = Limits { first_event: Duration::from_secs(5), ..Limits::default() };
    let (failed, missed) = (Mutex::new(Vec::new()), Mutex::new(Vec::new()));
    several_at_once(catalogue::RULES, |rule| {
        if !gateway::called_dialects().any(|dialect| rule.applies_to(dialect)) {
            return;
        }
        let Some((known, at)) = fault(rule) else {
            missed.lock().expect("nobody panicked").push(rule.id);
            return;
        };
        let settings = Settings { rules: vec![rule], ..Settings::new(known.rules.dialect()) };
        let outcome = harness.run(known, at, settings, limits);
        if let Err(problem) = is_found(rule, &outcome) {
            let place = format!("{} {}", known.rules.dialect().name, known.cases[at].name);
            failed.lock().expect("nobody panicked").push(format!("{place}: {problem}"));
        }
    });
    let failed = failed.into_inner().expect("nobody panicked");
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    let mut missed = missed.into_inner().expect("nobody panicked");
    missed.sort_unstable();
    assert_eq!(missed, OUT_OF_REACH.map(|(rule, _)| rule), "rules that no run sees broken");
}

/// An allowed transport fault passes; for the others, a trial fails with the expected reason.
#[test]
fn every_fault_of_transport_has_its_verdict() {
    let usual = Limits::default();
    let short = Duration::from_millis(300);
    let quick = Limits { first_event: short, idle: short, ..usual };
    let small = Limits { bytes: 1_000_000, ..usual };
    let expected: &[(WireFault, Limits, &[&str])] = &[
        (WireFault::Cut, usual, &["wire/json-object", "wire/terminated"]),
        (WireFault::Crlf, usual, &[]),
        (WireFault::SplitUtf8, usual, &[]),
        (WireFault::Stall, quick, &["the response is incomplete: no event ended for 300ms"]),
        (WireFault::Slow, usual, &[]),
        (WireFault::Slow, quick, &["no event ended within 300ms (--first-event-timeout)"]),
        (WireFault::HugeLine, usual, &[]),
        (WireFault::HugeLine, small, &["the response is longer than 1000000 bytes"]),
        (
            WireFault::WrongContentType,
            usual,
            &["a stream was requested, but the content type", "wire/event-stream-content-type"],
        ),
        (WireFault::Gzip, usual, &[]),
        (WireFault::EarlyClose, usual, &["the response is incomplete"]),
        (WireFault::ErrorAsStream, usual, &["the response has status 500, not 200"]),
    ];
    for fault in WireFault::ALL {
        assert!(expected.iter().any(|(known, ..)| *known == fault), "{fault} is not tried");
    }
    let harness = Harness::start();
    let dialect = conformance::dialect("openai").expect("the build has it");
    let known = Known::of(dialect, &harness.given());
    let hello = known.cases.iter().position(|case| case.name == "text/hello").expect("it is a scenario");
    let run = |(fault, limits, words): &(WireFault, Limits, &[&str])| {
        let settings = Settings { wire: vec![*fault], ..Settings::new(dialect) };
        let outcome = harness.run(&known, hello, settings, *limits);
        let failed = outcome.trials.into_values().filter(|judged| judged.verdict == Verdict::Fail);
        let told: Vec<String> = failed.map(|judged| judged.reason).collect();
        for words in *words {
            assert!(told.iter().any(|reason| reason.contains(words)), "{fault}: no {words:?} in {told:?}");
        }
        assert_eq!(words.is_empty(), told.is_empty(), "{fault}: {told:?}");
    };
    thread::scope(|scope| expected.iter().for_each(|row| drop(scope.spawn(|| run(row)))));
}
