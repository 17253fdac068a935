//! The upstream's responses: pieces, with faults.

use std::time::Duration;

use catalogue::{AgentProfile, BetweenCase, FaultPlaces, SilentPlace, UpstreamFault, Writes};
use checker::Asked;
use gateway::{End, Ending, Problem, RenderedResponse, ResponsePlan, Wire, plan, render, request, tagged};
use serde_json::{Value, json};
use spec::Dialect;

use crate::content::{ContentCounter, Said, TRIGGER};
use crate::evidence::{Fault, Test};
use crate::mark::own_mark;
use crate::refusals;
use crate::session::RecordedAnswer;

/// The member with the items of a request that can ask for a compaction.
const INPUT: &str = "input";

/// Maximum number of events at the start of a response before its content.
const OPENING: usize = 8;

/// The pause between pieces that are sent after the client has left, unless the gateway declares to read them.
const AFTER_LEAVE: Duration = Duration::from_millis(40);
/// The upstream sends for longer than a gateway declares to read.
const AFTER_DRAIN: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Script {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) pieces: Vec<Piece>,
    pub(super) ending: End,
}

/// A piece of a body, which is written at once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) bytes: Vec<u8>,
    /// Content that the client must have received before this is sent.
    pub(super) after: Option<Said>,
    /// The pause before it, if it is sent only after the client has left, or long after the piece before.
    pub(super) after_leave: Option<Duration>,
    /// The silence before it.
    pub(super) pause: Option<Duration>,
}

impl Script {
    /// An error is the only entry of a list, where streams are lists.
    pub(super) fn in_list(mut self) -> Self {
        self.pieces.insert(0, Piece::new("["));
        self.pieces.push(Piece::new("\n]"));
        self
    }
}

impl Piece {
    fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Self { bytes: bytes.into(), ..Self::default() }
    }
}

/// Requests that no test accounts for get a plain answer, so that the gateway goes on.
pub(super) fn aside(dialect: &'static Dialect, asked: &Value) -> Wire {
    let plan = plan(&request("[[say Hello.]]", dialect.api), dialect, 0);
    let answer = render(asked, &plan, dialect, 0);
    if asked.get("stream") == Some(&Value::Bool(true)) {
        Wire::stream(&answer)
    } else {
        Wire::json(answer.status, &answer.response().to_string())
    }
}

/// Answers of sessions run commands in the shell of their agent.
fn planned(
    case: &BetweenCase,
    agent: Option<&AgentProfile>,
    answer: usize,
    mark: &str,
    dialect: &'static Dialect,
    is_trigger: bool,
) -> ResponsePlan {
    let answer = case.answers.get(answer).or(case.answers.last()).copied().unwrap_or_default();
    let mut answer = answer.replace("{mark}", mark);
    if let Some((before, after)) = agent.and_then(|agent| agent.shell.split_once('$')) {
        answer = answer
            .split("[[")
            .map(|directive| match directive.strip_prefix("run ").and_then(|it| it.split_once("]]")) {
                Some((command, rest)) => format!("{before}{command}{after}]]{rest}"),
                None => directive.to_owned(),
            })
            .collect::<Vec<_>>()
            .join("[[");
    }
    let mut asked = request(&answer, dialect.api);
    if is_trigger {
        let question = json!({"role": "user", "content": asked[INPUT].take()});
        asked[INPUT] = json!([question, {"type": TRIGGER}]);
    }
    let mut plan = plan(&asked, dialect, 0);
    plan.is_obfuscated = false;
    plan
}

fn events(answer: &RenderedResponse, tag: &str) -> Vec<Vec<u8>> {
    answer.events.iter().map(|event| tagged(event.as_bytes(), tag)).collect()
}

/// The faults of a case occur before these events.
pub(crate) fn fault_places(
    case: &BetweenCase,
    agent: Option<&AgentProfile>,
    dialect: &'static Dialect,
) -> Vec<usize> {
    let plan = planned(case, agent, case.fault_at(), "mark", dialect, false);
    let count = render(&request("", dialect.api), &plan, dialect, 0).events.len();
    match case.places {
        FaultPlaces::Each => (0..count).collect(),
        FaultPlaces::Edges => {
            let mut places = vec![0, count / 2, count.saturating_sub(1)];
            places.dedup();
            places
        }
    }
}

pub(super) fn script(
    test: &Test,
    fault: Option<Fault>,
    dialect: &'static Dialect,
    turn: usize,
    tag: &str,
    asked: &Value,
) -> Script {
    let mark = own_mark(&asked.to_string(), &test.mark);
    if let Some(Fault::Status(status)) = fault {
        return refusal(test, dialect, status);
    }
    let last = asked[INPUT].as_array().and_then(|items| items.last());
    let is_trigger = last.is_some_and(|item| item["type"] == TRIGGER);
    let mut plan = planned(test.case, test.agent, test.answer_at(turn), &mark, dialect, is_trigger);
    if let Some(asked) = Asked::read(&asked.to_string(), dialect.api) {
        plan.stop_before(&asked.stops());
    }
    let answer = render(asked, &plan, dialect, 0);
    let fault = match fault {
        Some(Fault::Stream(fault, place)) => Some((fault, place)),
        _ => None,
    };
    if asked.get("stream") != Some(&Value::Bool(true)) {
        return whole(&answer, tag, fault.map(|(fault, _)| fault));
    }
    let mut events = events(&answer, tag);
    let ending = fault.map_or(End::Whole, |(fault, place)| {
        damage(&mut events, fault, place, || failure(asked, &plan, dialect, tag, place));
        ending(fault)
    });
    let mut pieces = pieces(&events, test.case.writes);
    if test.case.is_in_step {
        in_step(&mut pieces, dialect);
    }
    if let Some((silence, place)) = test.silence().zip(test.case.silent_at) {
        let at = match place {
            SilentPlace::Start => 0,
            SilentPlace::Middle => pieces.len() / 2,
        };
        if let Some(piece) = pieces.get_mut(at) {
            piece.pause = Some(silence);
        }
    }
    if let Some(count) = test.case.leaves_after {
        let after = usize::try_from(count).unwrap_or(usize::MAX);
        // Another API may need more events for as many of the client's.
        let rest = pieces.get_mut(after.saturating_add(OPENING)..).unwrap_or_default();
        let count = u32::try_from(rest.len()).unwrap_or(u32::MAX).max(1);
        let drained = |drains| (Duration::from_secs(drains) + AFTER_DRAIN) / count;
        let pause = test.declared.drains.map_or(AFTER_LEAVE, drained);
        for piece in rest {
            piece.after_leave = Some(pause);
        }
    }
    let content_type = test.case.content_type.unwrap_or("text/event-stream");
    Script {
        status: 200,
        headers: vec![("content-type".to_owned(), content_type.to_owned())],
        pieces,
        ending,
    }
}

/// The answer of a recorded session. Each event is written at once.
pub(super) fn recorded(answer: RecordedAnswer) -> Script {
    let RecordedAnswer { status, headers, body, is_cut } = answer;
    let mut pieces: Vec<Piece> = Vec::new();
    for line in body.split_inclusive(|byte| *byte == b'\n') {
        match pieces.last_mut() {
            Some(last) if !last.bytes.ends_with(b"\n\n") && !last.bytes.ends_with(b"\r\n\r\n") => {
                last.bytes.extend_from_slice(line);
            }
            _ => pieces.push(Piece::new(line)),
        }
    }
    let ending = if is_cut { End::Break } else { End::Whole };
    Script { status, headers, pieces, ending }
}

/// Without a stream, only faults that a body can have occur.
fn whole(answer: &RenderedResponse, tag: &str, fault: Option<UpstreamFault>) -> Script {
    let mut body = tagged(answer.response().to_string().as_bytes(), tag);
    if fault.is_some_and(|fault| fault != UpstreamFault::Error) {
        body.truncate(body.len() / 2);
    }
    let ending = fault.map_or(End::Whole, ending);
    let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
    Script { status: answer.status, headers, pieces: vec![Piece::new(body)], ending }
}

fn refusal(test: &Test, dialect: &'static Dialect, status: u16) -> Script {
    let words = test.case.session.as_ref().and_then(refusals::words);
    let message = words.unwrap_or_else(|| format!("The upstream refuses {}.", test.mark));
    let problem = Problem { message, ..Problem::of_status(status) };
    let wire = Wire::refused(&problem, dialect.api);
    let mut headers = vec![("content-type".to_owned(), wire.content_type)];
    headers.extend(test.case.retry_after.map(|after| ("retry-after".to_owned(), after.to_owned())));
    let own = test.case.session.iter().flat_map(|session| session.refusal_headers);
    headers.extend(own.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
    Script { status, headers, pieces: vec![Piece::new(wire.body)], ending: End::Whole }
}

const fn ending(fault: UpstreamFault) -> End {
    match fault {
        UpstreamFault::Cut => End::Break,
        UpstreamFault::Stall => End::Stall,
        UpstreamFault::End | UpstreamFault::Error | UpstreamFault::Malformed => End::Whole,
    }
}

fn damage(
    events: &mut Vec<Vec<u8>>,
    fault: UpstreamFault,
    place: usize,
    failure: impl FnOnce() -> Option<Vec<u8>>,
) {
    let place = place.min(events.len().saturating_sub(1));
    if fault != UpstreamFault::Malformed {
        events.truncate(place);
    } else if let Some(event) = events.get_mut(place) {
        let text = String::from_utf8_lossy(event);
        let data = text.find("data: ").map_or(0, |at| at + 6);
        let cut = data + (text.len() - data) / 2;
        let cut = (data..=cut).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(data);
        *event = format!("{}\n\n", text.get(..cut).unwrap_or_default()).into_bytes();
    }
    if fault == UpstreamFault::Error {
        events.extend(failure());
    }
}

/// The event of a failing stream, at its place in the stream.
fn failure(
    asked: &Value,
    plan: &ResponsePlan,
    dialect: &'static Dialect,
    tag: &str,
    place: usize,
) -> Option<Vec<u8>> {
    let plan = ResponsePlan { ending: Ending::Failed(0), ..plan.clone() };
    let events = render(asked, &plan, dialect, 0).events;
    let (at, last) = events.iter().enumerate().rev().find(|(_, event)| !event.contains("[DONE]"))?;
    let number = |number: usize| format!("\"sequence_number\":{number}");
    Some(tagged(last.replace(&number(at), &number(place)).as_bytes(), tag))
}

fn pieces(events: &[Vec<u8>], writes: Writes) -> Vec<Piece> {
    let all = || events.concat();
    match writes {
        Writes::Events => events.iter().map(|event| Piece::new(event.clone())).collect(),
        Writes::Whole => vec![Piece::new(all())],
        Writes::Bytes => all().into_iter().map(|byte| Piece::new([byte])).collect(),
        // Of five and three bytes in turn, so that every character of several bytes is cut somewhere.
        Writes::Split => {
            let (all, mut rest) = (all(), Vec::new());
            let (mut at, mut size) = (0, 5);
            while let Some(piece) = all.get(at..all.len().min(at + size)).filter(|piece| !piece.is_empty()) {
                rest.push(Piece::new(piece));
                at += size;
                size = 8 - size;
            }
            rest
        }
        Writes::Crlf => {
            let crlf = |event: &Vec<u8>| String::from_utf8_lossy(event).replace('\n', "\r\n");
            events.iter().map(|event| Piece::new(crlf(event))).collect()
        }
        Writes::Comments => events
            .iter()
            .flat_map(|event| [Piece::new(": keep-alive\n\n"), Piece::new("\n"), Piece::new(event.clone())])
            .collect(),
    }
}

/// Each event waits for the content of earlier ones.
fn in_step(pieces: &mut [Piece], dialect: &Dialect) {
    let mut counter = ContentCounter::new(dialect.api);
    let mut before = Said::default();
    for piece in pieces {
        piece.after = Some(before).filter(|before| *before != Said::default());
        before = counter.push(&piece.bytes);
    }
}
