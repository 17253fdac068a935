//! Scheduling of the lanes of a connection.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use spec::Dialect;
use spec::table::{Aside, SessionShape};
use tokio::time::Instant;

use super::running::{Running, Steer, data};
use crate::content::problem::Problem;
use crate::content::text;
use crate::faults::requested::Faults;
use crate::rendering::body_of;
use crate::rendering::ids::tagged;
use crate::serving::context::{PastResponse, entries, previous};
use crate::serving::gateway::{Gateway, Made};
use crate::serving::mcp::Servers;
use crate::serving::store::unknown_previous;

/// Maximum number of named lanes.
const LANES: usize = 32;
/// Maximum number of responses in flight.
const IN_FLIGHT: usize = 16;
/// Maximum number of queued requests before reading stops.
const QUEUED: usize = 256;
/// Maximum time that a response waits for a message of the client.
const LISTENED: Duration = Duration::from_secs(1);
/// Delay of a request that is answered out of order.
const HELD: Duration = Duration::from_millis(300);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Due {
    Now,
    At(Instant),
    Never,
}

pub(super) struct Said {
    lane: usize,
    pub(super) past: PastResponse,
    events: u64,
}

/// A queued request, with the faults of its response.
struct Request {
    body: Result<Value, Problem>,
    faults: Faults,
}

#[derive(Default)]
struct Lane {
    name: Option<String>,
    queue: VecDeque<Request>,
    running: Option<Running>,
    /// Time until which requests are held back.
    held: Option<Instant>,
}

pub(super) struct Desk {
    pub(super) gateway: Arc<Gateway>,
    pub(super) session: &'static SessionShape,
    /// Faults of every response.
    faults: Faults,
    began: Instant,
    /// The lanes; the first one is unnamed.
    lanes: Vec<Lane>,
    /// The lane whose turn is next.
    turn: usize,
    out: VecDeque<String>,
    pub(super) said: Vec<Said>,
    /// Steering input for responses that wait for results, by id.
    pub(super) pending: Vec<(String, Value)>,
    /// Number of accepted steering inputs.
    pub(super) steers: u64,
    is_over: bool,
}

impl Desk {
    pub(super) fn new(gateway: Arc<Gateway>, session: &'static SessionShape, faults: Faults) -> Self {
        Self {
            gateway,
            session,
            faults,
            began: Instant::now(),
            lanes: vec![Lane::default()],
            turn: 0,
            out: VecDeque::new(),
            said: Vec::new(),
            pending: Vec::new(),
            steers: 0,
            is_over: false,
        }
    }

    pub(super) fn dialect(&self) -> &'static Dialect {
        self.gateway.settings.dialect
    }

    /// The connection closes when everything was sent.
    pub(super) const fn is_over(&self) -> bool {
        self.is_over
    }

    pub(super) fn leave(&mut self) {
        self.is_over = true;
    }

    pub(super) fn is_full(&self) -> bool {
        self.lanes.iter().map(|lane| lane.queue.len()).sum::<usize>() >= QUEUED
    }

    pub(super) fn due(&self) -> Due {
        let waits = |lane: &Lane| lane.running.as_ref().map(|running| running.waits);
        if self.lanes.iter().filter_map(waits).any(|waits| waits.is_none()) {
            return Due::Now;
        }
        let held = |lane: &Lane| lane.held.filter(|_| !lane.queue.is_empty());
        let times = self.lanes.iter().flat_map(|lane| waits(lane).flatten().into_iter().chain(held(lane)));
        times.min().map_or(Due::Never, Due::At)
    }

    pub(super) fn hear(&mut self, message: &str) {
        for running in self.lanes.iter_mut().filter_map(|lane| lane.running.as_mut()) {
            running.waits = None;
        }
        let mut message: Value = serde_json::from_str(message).unwrap_or_default();
        let framing = &self.dialect().framing;
        let kind = text(&message, "type");
        let is_about = |aside: Option<Aside>| kind.is_some() && kind == aside.map(|aside| aside.message);
        if kind.is_some() && kind == framing.create {
            message.as_object_mut().and_then(|members| members.shift_remove("type"));
            self.ask(message);
        } else if is_about(framing.steer) {
            self.steer(&message);
        } else if is_about(framing.inject) {
            self.inject(&message);
        } else {
            let message = format!("The message is not a {}.", framing.create.unwrap_or("request"));
            self.enqueue(
                0,
                Err(Problem::invalid("invalid_value", message, Some("type"))),
                self.faults.clone(),
            );
        }
    }

    fn ask(&mut self, mut request: Value) {
        if self.began.elapsed() >= self.gateway.settings.socket_limit {
            self.enqueue(0, Err(limit_reached()), self.faults.clone());
            return;
        }
        let mut faults = self.faults.clone();
        if let Err(problem) = faults.add_request(&request, self.gateway.settings.dialect.api) {
            self.enqueue(0, Err(problem), faults);
            return;
        }
        let member = self.session.lane;
        let members = request.as_object_mut().filter(|_| self.dialect().framing.lanes);
        let name = members.and_then(|members| members.shift_remove(member));
        let lane = match name {
            None | Some(Value::Null) => 0,
            Some(Value::String(name)) if is_name(&name) => {
                let is_it = |lane: &Lane| lane.name.as_deref() == Some(&*name);
                let known = self.lanes.iter().position(is_it);
                let is_last = self.lanes.len() > LANES;
                match known {
                    Some(lane) => lane,
                    None if is_last && !faults.applies("ws/lane-limit") => {
                        let message = format!("This connection already has {LANES} lanes.");
                        let problem =
                            Problem::invalid("websocket_stream_limit_reached", message, Some(member));
                        let event = self.envelope(&problem, &mut faults);
                        self.out.push_back(in_lane(event, Some(&name), self.session));
                        return;
                    }
                    None => {
                        self.lanes.push(Lane { name: Some(name), ..Lane::default() });
                        self.lanes.len() - 1
                    }
                }
            }
            Some(_) => {
                let message =
                    format!("A {member} has 1 to 256 letters, digits, dots, dashes and underscores.");
                let problem = Problem::invalid("invalid_stream_id", message, Some(member));
                self.enqueue(0, Err(problem), faults);
                return;
            }
        };
        self.enqueue(lane, Ok(request), faults);
    }

    fn enqueue(&mut self, lane: usize, body: Result<Value, Problem>, faults: Faults) {
        let is_held = faults.breaks("ws/turns-in-order");
        if let Some(lane) = self.lanes.get_mut(lane) {
            lane.queue.push_back(Request { body, faults });
            lane.held = is_held.then(|| Instant::now() + HELD);
        }
    }

    pub(super) async fn start(&mut self) {
        for lane in 0..self.lanes.len() {
            while self.is_ready(lane) {
                let Some(request) = self.take(lane) else { break };
                let servers = match &request.body {
                    Ok(request) => Servers::ask(request).await,
                    Err(_) => Servers::default(),
                };
                self.begin(lane, request, &servers);
            }
        }
    }

    fn is_ready(&self, lane: usize) -> bool {
        let in_flight = self.lanes.iter().filter(|lane| lane.running.is_some()).count();
        let Some(lane) = self.lanes.get(lane).filter(|_| in_flight < IN_FLIGHT) else { return false };
        let is_held = lane.queue.len() == 1 && lane.held.is_some_and(|held| held > Instant::now());
        lane.running.is_none() && !lane.queue.is_empty() && !is_held
    }

    fn take(&mut self, lane: usize) -> Option<Request> {
        let lane = self.lanes.get_mut(lane)?;
        if lane.held.take().is_none() {
            return lane.queue.pop_front();
        }
        let is_behind = lane.queue.len() > 1;
        let mut request = lane.queue.pop_back()?;
        if is_behind {
            request.faults.applies("ws/turns-in-order");
        }
        Some(request)
    }

    fn begin(&mut self, lane: usize, request: Request, servers: &Servers) {
        let Request { body: request, mut faults } = request;
        let previous = request.as_ref().ok().and_then(|request| previous(request, self.dialect().api));
        let continued = previous.map(str::to_owned);
        if let Some(id) = continued.clone()
            && self.said.iter().all(|said| said.past.id != id)
            && faults.applies("ws/unknown-previous-id")
        {
            // Continue it as if it was known.
            let past = PastResponse { id, request: Value::Null, context: Vec::new(), response: Value::Null };
            self.said.push(Said { lane, past, events: 0 });
        }
        let latest = self.said.iter().rev().find(|said| said.lane == lane);
        let is_latest = latest.is_some_and(|said| Some(&said.past.id) == continued.as_ref());
        let request = match &continued {
            Some(id) if is_latest && faults.applies("ws/latest-kept") => Err(unknown_previous(id)),
            _ => request,
        };
        let request = request.map(|request| self.with_steer(request, continued.as_deref()));
        let known = |id: &str| self.context_of(id);
        let made = request.and_then(|request| self.gateway.make(request, true, &known, servers, &mut faults));
        match made {
            Err(_) if faults.applies("ws/answers-create") => {
                self.gateway.settings.note("WebSocket turn", &faults);
            }
            Err(problem) => {
                // A failed turn evicts the response that it continues, unless that is of another lane.
                self.said.retain(|said| said.lane != lane || continued.as_ref() != Some(&said.past.id));
                self.refuse(lane, &problem, &mut faults);
                self.gateway.settings.note("WebSocket turn", &faults);
            }
            Ok(made) => self.run(lane, made, faults),
        }
    }

    fn run(&mut self, lane: usize, made: Made, faults: Faults) {
        let mut running = Running::new(&made, faults);
        if running.faults.applies("ws/one-in-flight") {
            // Another response starts instead of the end.
            running.pop();
            running.append(another(&made));
        }
        if running.faults.applies("ws/created-asked") {
            running.afterwards = another(&made);
        }
        if let Some(before) = self.said.last()
            && running.faults.applies("ws/ids-unique")
        {
            running.take_id(&before.past.id);
        }
        self.said.push(Said { lane, past: made.past, events: 0 });
        if let Some(lane) = self.lanes.get_mut(lane) {
            lane.running = Some(running);
        }
    }

    fn with_steer(&mut self, mut request: Value, continued: Option<&str>) -> Value {
        let waiting = self.pending.iter().position(|(id, _)| Some(&**id) == continued);
        if let Some((_, input)) = waiting.map(|at| self.pending.swap_remove(at)) {
            let mut all = entries(&request);
            all.extend(entries(&json!({"input": input})));
            request["input"] = Value::Array(all);
        }
        request
    }

    pub(super) fn succeed(&mut self, lane: usize, response: &str, steer: &Steer, mut faults: Faults) {
        let of_response = |said: &&Said| said.past.id == response;
        let request = self.said.iter().find(of_response).map(|said| said.past.request.clone());
        let mut request = request.unwrap_or_default();
        request[self.dialect().api.request.input] = steer.input.clone();
        request[self.session.previous] = json!(response);
        let known = |id: &str| self.context_of(id);
        let made = self.gateway.make(request, true, &known, &Servers::default(), &mut faults);
        match made {
            Ok(mut made) => {
                if faults.applies("ws/steered-ends") {
                    let mut planned = made.planned.clone();
                    planned.plan = planned.plan.steered(usize::MAX);
                    made = self.gateway.carry_out(planned, true, &mut faults);
                }
                self.run(lane, made, faults);
            }
            Err(problem) => {
                let id = Some(&*steer.id);
                self.fail_steer(id, response, &steer.input, "has_no_successor", &problem.message);
            }
        }
    }

    pub(super) fn say(&mut self) -> Option<String> {
        self.out.pop_front()
    }

    pub(super) fn next(&mut self) -> Option<String> {
        let now = Instant::now();
        let is_due = |lane: &Lane| {
            lane.running.as_ref().is_some_and(|running| running.waits.is_none_or(|until| until <= now))
        };
        let count = self.lanes.len();
        let order = (0..count).map(|step| (self.turn + step) % count.max(1));
        let at = order.into_iter().find(|at| self.lanes.get(*at).is_some_and(is_due))?;
        self.turn = at + 1;
        self.event_of(at, now)
    }

    fn event_of(&mut self, at: usize, now: Instant) -> Option<String> {
        let (dialect, session) = (self.dialect(), self.session);
        let in_flight = self.lanes.iter().filter(|lane| lane.running.is_some()).count();
        let lane = self.lanes.get_mut(at)?;
        let running = lane.running.as_mut()?;
        let had_fragments = running.has_fragments();
        running.waits = None;
        let Some(event) = running.next(dialect) else {
            // Its faults left no event.
            lane.running = None;
            self.is_over = true;
            return None;
        };
        let is_first = running.has_fragments() && !had_fragments;
        if is_first && in_flight == 1 && running.planned.plan.waits && running.steer.is_none() {
            running.waits = Some(now + LISTENED);
        }
        let has_lane = lane.name.is_some();
        let drops_lane = has_lane && running.sent() == 2 && running.faults.applies("ws/stream-id-echoed");
        let event = in_lane(event, lane.name.as_deref().filter(|_| !drops_lane), session);
        self.settle(at);
        let is_whole = |lane: &mut Lane| lane.running.take_if(|running| running.has_sent_all());
        if let Some(mut running) = self.lanes.get_mut(at).and_then(is_whole) {
            // A response without an end ends with the connection.
            self.is_over |= !running.ends(dialect);
            let name = self.lanes.get(at).and_then(|lane| lane.name.as_deref());
            self.out.extend(running.afterwards.drain(..).map(|event| in_lane(event, name, session)));
            let number = running.number();
            if let Some(said) = self.said.iter_mut().find(|said| said.past.id == running.id) {
                said.events = number;
            }
            let outcome = format!("WebSocket turn, {} messages", running.sent());
            self.gateway.settings.note(&outcome, &running.faults);
            if let Some(steer) = running.steer.take() {
                self.follow(at, &running.id, number, steer, running.faults);
            }
        }
        Some(event)
    }

    fn context_of(&self, response: &str) -> Option<Vec<Value>> {
        let said = self.said.iter().find(|said| said.past.id == response);
        said.map(|said| said.past.context.clone())
    }

    pub(super) fn lane_of(&self, response: &str) -> Option<usize> {
        let is_it = |lane: &Lane| lane.running.as_ref().is_some_and(|running| running.id == response);
        self.lanes.iter().position(is_it)
    }

    pub(super) fn home_of(&self, response: &str) -> usize {
        let said = || self.said.iter().find(|said| said.past.id == response).map(|said| said.lane);
        self.lane_of(response).or_else(said).unwrap_or_default()
    }

    pub(super) fn number_for(&mut self, response: &str, lane: usize) -> u64 {
        let running = self.running_in(lane).filter(|running| running.id == response);
        if let Some(running) = running {
            return running.number();
        }
        let Some(said) = self.said.iter_mut().find(|said| said.past.id == response) else { return 0 };
        said.events += 1;
        said.events - 1
    }

    pub(super) fn running_in(&mut self, lane: usize) -> Option<&mut Running> {
        self.lanes.get_mut(lane)?.running.as_mut()
    }

    pub(super) fn replace_past(&mut self, id: &str, past: &PastResponse) {
        for said in self.said.iter_mut().filter(|said| said.past.id == id) {
            said.past = past.clone();
        }
    }

    pub(super) fn queue(&mut self, lane: usize, event: String) {
        let name = self.lanes.get(lane).and_then(|lane| lane.name.as_deref());
        self.out.push_back(in_lane(event, name, self.session));
    }

    pub(super) fn refuse(&mut self, lane: usize, problem: &Problem, faults: &mut Faults) {
        let envelope = self.envelope(problem, faults);
        self.queue(lane, envelope);
    }

    /// Errors on a WebSocket have an envelope of their own.
    fn envelope(&self, problem: &Problem, faults: &mut Faults) -> String {
        let error = body_of(problem, self.dialect().api)["error"].take();
        let mut envelope = json!({"type": "error", "error": error});
        if !faults.applies("ws/error-envelope") {
            envelope[self.session.status] = json!(problem.status);
        }
        envelope.to_string()
    }

    /// Faults are of a lane's response, or of all.
    pub(super) fn faults_of(&self, lane: usize) -> Faults {
        let running = self.lanes.get(lane).and_then(|lane| lane.running.as_ref());
        running.map_or(&self.faults, |running| &running.faults).clone()
    }
}

fn another(made: &Made) -> Vec<String> {
    let tag = format!("{}f", made.tag);
    let events = made.answer.events.iter().map(|event| tagged(event.as_bytes(), &tag));
    events.filter_map(|event| data(&event)).collect()
}

fn is_name(name: &str) -> bool {
    let is_usual = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    (1..=256).contains(&name.len()) && name.chars().all(is_usual)
}

fn in_lane(mut event: String, name: Option<&str>, session: &SessionShape) -> String {
    if let Some(name) = name
        && event.ends_with('}')
    {
        event.pop();
        event.extend([",\"", session.lane, "\":\"", name, "\"}"]);
    }
    event
}

fn limit_reached() -> Problem {
    let message = "This connection has reached its limit of 60 minutes. Open another one to continue.";
    Problem::invalid("websocket_connection_limit_reached", message, None)
}
