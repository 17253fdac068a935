//! Evidence of a gateway that does everything right: both sides are rendered from one plan.

use std::time::Duration;

use catalogue::{BETWEEN_CASES, HandlingMode};
use gateway::{RenderedResponse, plan, render, request, without_path};
use results::Declared;
use serde_json::Value;
use translation::{Call, Output, Part, Question, Reply, Role, Turn};

use crate::evidence::{Evidence, Exchanged, Fault, Response, Test};
use crate::judge::answer::calls_of;
use crate::judge::parts::progress::{Moment, progress};
use crate::judge::{Judged, judge};
use crate::{front_dialect, upstream_dialect};

/// The mark of each test.
pub(super) const MARK: &str = "zqmarkaaaaaa";

/// A test with its evidence.
#[derive(Debug, Clone)]
pub(super) struct Bench {
    pub(super) test: Test,
    pub(super) evidence: Evidence,
}

/// Returns the pairs of APIs.
pub(super) fn pairs() -> impl Iterator<Item = (&'static str, &'static str)> {
    spec::spoken().flat_map(move |front| spec::spoken().map(move |upstream| (front.name, upstream.name)))
}

pub(super) fn ask(exchange: &mut Exchanged, api: &spec::Api, request: Value) {
    let (segments, body) = without_path(api, request);
    let path = if segments.is_empty() { api.path.to_owned() } else { format!("/{}", segments.join("/")) };
    exchange.path = format!("/{}{path}", api.version);
    exchange.body = body.to_string().into_bytes();
}

fn ms(number: usize) -> Duration {
    Duration::from_millis(10 * number as u64)
}

/// Returns a response whose events are sent in step, each `late` after its number.
pub(super) fn response(rendered: &RenderedResponse, is_whole: bool, late: Duration) -> Response {
    let content_type = if is_whole { "application/json" } else { "text/event-stream" };
    let pieces = if is_whole { vec![rendered.response().to_string()] } else { rendered.events.clone() };
    let pieces: Vec<_> = pieces
        .into_iter()
        .enumerate()
        .map(|(number, text)| (ms(number + 1) + late, text.into_bytes()))
        .collect();
    let ended_at = ms(pieces.len() + 1) + late;
    Response {
        status: 200,
        headers: vec![("content-type".to_owned(), content_type.to_owned())],
        pieces,
        ended_at,
        ..Response::default()
    }
}

/// Sets the times of the client's events to those at which the upstream has said as much.
fn in_step(client: &mut Response, upstream: &Response, [front, back]: [&'static spec::Api; 2]) {
    let sent = progress(upstream, back);
    let received = progress(client, front);
    let mut at = upstream.pieces.first().expect("a piece").0 + Duration::from_millis(5);
    for (number, (time, _)) in client.pieces.iter_mut().enumerate() {
        if let Some(moment) = received.iter().find(|moment| moment.piece == number) {
            let is_sent = |it: &&Moment| it.said.iter().zip(moment.said).all(|(sent, said)| *sent >= said);
            let due = sent.iter().find(is_sent).or(sent.last()).expect("a moment").at;
            at = at.max(due + Duration::from_millis(5));
        }
        *time = at;
    }
}

/// Returns what a gateway asks the upstream: the same question, with what only the upstream can read.
fn translated(asked: &Question, given: &[(Reply, Reply)]) -> Question {
    let mut question = asked.clone();
    let seals = given.iter().flat_map(|(_, upstream)| &upstream.parts).filter_map(|part| match part {
        Part::Reasoning(reasoning) => Some(reasoning),
        _ => None,
    });
    let mut seals = seals.cycle();
    let calls =
        given.iter().flat_map(|(client, upstream)| calls_of(client).into_iter().zip(calls_of(upstream)));
    let calls: Vec<_> = calls.collect();
    let of =
        |id: &str| calls.iter().find(|(client, _)| client.id == id).map(|(_, upstream)| upstream.id.clone());
    for part in question.turns.iter_mut().flat_map(|turn| &mut turn.parts) {
        match part {
            Part::Call(Call { id, .. }) | Part::Result(Output { id, .. }) => {
                *id = of(id).unwrap_or(id.clone());
            }
            Part::Reasoning(own) => own.clone_from(seals.next().expect("reasoning")),
            _ => {}
        }
    }
    question
}

/// Continues an answer with the output of its calls.
fn go_on(question: &mut Question, reply: &Reply, output: &str) {
    let result =
        |call: &Call| Part::Result(Output { id: call.id.clone(), text: output.to_owned(), is_error: false });
    let results = calls_of(reply).into_iter().map(result).collect();
    question.turns.push(Turn { role: Role::Assistant, parts: reply.parts.clone() });
    question.turns.push(Turn { role: Role::User, parts: results });
}

impl Bench {
    /// Returns the evidence of a case without its faults.
    pub(super) fn new(front: &str, upstream: &str, case: &str) -> Self {
        let api = |name: &str| spec::APIS.iter().copied().find(|api| api.name == name).expect("an API");
        let case = BETWEEN_CASES.iter().find(|known| known.id == case).expect("a case");
        let test = Test {
            name: format!("{front}-{upstream}/{}", case.id),
            agent: None,
            case,
            front: front_dialect(api(front)).expect("a dialect"),
            upstream: upstream_dialect(api(upstream)).expect("a dialect"),
            mode: HandlingMode::Transform,
            fault: None,
            mark: MARK.to_owned(),
            model: "model-of-test".to_owned(),
            declared: Declared::default(),
            is_limit_known: false,
        };
        let mut bench = Self { test, evidence: Evidence::default() };
        bench.play();
        bench
    }

    fn play(&mut self) {
        let test = &self.test;
        let page = test.case.question.replace("{mark}", MARK);
        let mut question: Question = serde_json::from_str(&page).expect("a question");
        question.model.clone_from(&test.model);
        question.is_stream = !test.case.is_whole;
        let mut given: Vec<(Reply, Reply)> = Vec::new();
        for (turn, answer) in test.case.answers.iter().enumerate() {
            if let Some((reply, _)) = given.last() {
                let output = test.case.results.get(turn - 1).expect("an output");
                go_on(&mut question, reply, output);
            }
            let body = question.write(test.front.api);
            let asked = Question::read(test.front.api, &body);
            let got = translated(&asked, &given).write(test.upstream.api);
            let mut sent =
                plan(&request(&answer.replace("{mark}", MARK), test.upstream.api), test.upstream, 0);
            sent.stop_before(&asked.stops);
            sent.is_obfuscated = false;
            let of = |body: &Value, dialect: &'static spec::Dialect, late| {
                response(&render(body, &sent, dialect, turn as u64), test.case.is_whole, late)
            };
            // The dialect of clients shows no reasoning in every API, but clients read it.
            let shown = upstream_dialect(test.front.api).expect("a dialect");
            let upstream = of(&got, test.upstream, Duration::ZERO);
            let mut client = of(&body, shown, Duration::from_millis(5));
            in_step(&mut client, &upstream, [test.front.api, test.upstream.api]);
            given.push((
                crate::judge::parts::turn::read(test.front, &client),
                crate::judge::parts::turn::read(test.upstream, &upstream),
            ));
            let exchange = |api: &spec::Api, body: Value, response| {
                let response = Some(response);
                let mut exchange = Exchanged { at: ms(0), turn, response, ..Exchanged::default() };
                ask(&mut exchange, api, body);
                exchange
            };
            self.evidence.upstream.push(exchange(test.upstream.api, got, upstream));
            self.evidence.client.push(exchange(test.front.api, body, client));
        }
    }

    /// Returns the same with a fault.
    pub(super) fn failing(mut self, fault: Fault) -> Self {
        self.test.fault = Some(fault);
        self
    }

    pub(super) fn judge(&self) -> Judged {
        judge(&self.test, &self.evidence)
    }

    /// Returns the rules with findings, and their kinds.
    pub(super) fn found(&self) -> Vec<(String, String)> {
        self.judge().findings.into_iter().map(|finding| (finding.rule, finding.kind)).collect()
    }

    /// Changes the body of the first request to the upstream.
    pub(super) fn ask(&mut self, change: impl FnOnce(&mut Question)) {
        let api = self.test.upstream.api;
        let exchange = self.evidence.upstream.last_mut().expect("a request");
        let mut question = Question::read(api, &exchange.request(api).expect("JSON"));
        change(&mut question);
        ask(exchange, api, question.write(api));
    }

    /// Changes the stream of the client's last response.
    pub(super) fn replace(&mut self, from: &str, to: &str) {
        let response =
            self.evidence.client.last_mut().and_then(|it| it.response.as_mut()).expect("a response");
        let before = response.body();
        for (_, bytes) in &mut response.pieces {
            *bytes = String::from_utf8_lossy(bytes).replace(from, to).into_bytes();
        }
        assert_ne!(before, response.body(), "{from} is not in {}", String::from_utf8_lossy(&before));
    }

    pub(super) fn client(&mut self) -> &mut Response {
        self.evidence.client.last_mut().and_then(|it| it.response.as_mut()).expect("a response")
    }

    pub(super) fn upstream(&mut self) -> &mut Response {
        self.evidence.upstream.last_mut().and_then(|it| it.response.as_mut()).expect("a response")
    }
}
