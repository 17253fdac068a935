//! The cases: what is played to a client, and what it may make of it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use catalogue::{Channel, ClientCase, Edit, Ending, Expect, Level, RULES, Rule};
use gateway::{Act, End, Line, Wire};
use recordings::capture::{Entry, Format, read};
use recordings::{goldens, violation};
use results::Transport;
use serde_json::{Value, json};
use spec::Dialect;

use super::answer::Answer;

/// How long a client may take.
const TIMEOUT: Duration = Duration::from_secs(5);
/// The same, where nothing comes any more.
const STALLED: Duration = Duration::from_millis(1500);
/// What stands in a request for a long text.
const FILL: &str = "FILL";

/// What is played to a client once, over one transport.
#[derive(Debug, Clone)]
pub struct Case {
    /// Its name: that of the page, and the transport behind it where that is no stream over HTTP.
    pub name: String,
    /// What the client receives, in a line.
    pub title: String,
    /// What it has to do.
    pub expect: Expect,
    /// Why.
    pub reason: String,
    /// What makes that binding.
    pub authority: String,
    /// How it is sent.
    pub transport: Transport,
    /// The body of the request, without `stream`.
    pub request: Value,
    /// How long it may take.
    pub timeout: Duration,
    /// The client leaves after this many events.
    pub cancel_after: Option<u32>,
    /// The answers that are right. The first is that of the sound stream.
    pub answers: Vec<Answer>,
    pub(super) plays: Plays,
}

/// What a client receives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Plays {
    /// An answer of HTTP.
    Http(Act),
    /// Messages of a WebSocket.
    Socket(Line),
}

/// Returns all cases of a dialect, by name. They are made once.
pub fn cases(dialect: &'static Dialect) -> Vec<Case> {
    static MADE: Mutex<BTreeMap<&str, Vec<Case>>> = Mutex::new(BTreeMap::new());
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    made.entry(dialect.name).or_insert_with(|| make(dialect)).clone()
}

fn make(dialect: &'static Dialect) -> Vec<Case> {
    let mut cases = Vec::new();
    let mut known: BTreeSet<(&str, Vec<u8>)> = BTreeSet::new();
    for row in catalogue::CLIENT_CASES {
        for channel in row.transports {
            let Some(case) = of_row(row, *channel, dialect) else { continue };
            known.insert((case.transport.suffix(), case.plays.bytes()));
            cases.push(case);
        }
    }
    for rule in RULES {
        for channel in [Channel::Sse, Channel::Websocket] {
            let Some(case) = of_rule(rule, channel, dialect) else { continue };
            // Many a defect is the violation of a rule.
            if known.insert((case.transport.suffix(), case.plays.bytes())) {
                cases.push(case);
            }
        }
    }
    cases.sort_by(|one, other| one.name.cmp(&other.name));
    cases
}

impl Plays {
    fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Http(act) => {
                let mut bytes =
                    format!("{} {:?} {:?} {}", act.status, act.headers, act.end, act.pieces.len())
                        .into_bytes();
                bytes.extend(act.pieces.iter().flat_map(|(_, piece)| piece));
                bytes
            }
            Self::Socket(line) => {
                line.messages.iter().flat_map(|(_, message)| format!("{message}\n").into_bytes()).collect()
            }
        }
    }
}

/// An answer on its way to a client.
#[derive(Debug, Clone)]
struct Played {
    status: u16,
    content_type: String,
    body: Vec<u8>,
    is_stream: bool,
    data: OnceLock<Vec<(String, bool)>>,
}

impl Played {
    /// Reads a recording as goldens are written: a stream, or an answer with its head.
    fn read(recording: &[u8]) -> Option<Self> {
        let Some(rest) = recording.strip_prefix(b"HTTP/1.1 ") else {
            let content_type = "text/event-stream".to_owned();
            return Some(Self::new(200, content_type, recording.to_vec(), true));
        };
        let end = rest.windows(4).position(|window| window == b"\r\n\r\n")?;
        let head = String::from_utf8_lossy(rest.get(..end)?).into_owned();
        let status = head.split_whitespace().next()?.parse().ok()?;
        let header = |line: &str| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-type").then(|| value.trim().to_owned())
        };
        let content_type = head.lines().find_map(header).unwrap_or_else(|| "text/event-stream".to_owned());
        let body = rest.get(end + 4..)?.to_vec();
        let is_stream = body.is_empty() || !body.starts_with(b"{") && !body.starts_with(b"<");
        Some(Self::new(status, content_type, body, is_stream))
    }

    fn of_wire(wire: &Wire) -> Self {
        Self::new(wire.status, wire.content_type.clone(), wire.body.clone(), wire.is_stream())
    }

    const fn new(status: u16, content_type: String, body: Vec<u8>, is_stream: bool) -> Self {
        Self { status, content_type, body, is_stream, data: OnceLock::new() }
    }

    /// The data of its events, but for the marker, each with whether a blank line ends it.
    fn data(&self) -> &[(String, bool)] {
        self.data.get_or_init(|| {
            let mut all = Vec::new();
            // What cannot be read has no events.
            let _ = read(&self.body, Some(Format::Sse), &mut |entry| {
                if let Entry::Event(frame) = entry
                    && let Some(data) = frame.data.filter(|data| data != "[DONE]")
                {
                    all.push((data.into_owned(), frame.terminated));
                }
            });
            all
        })
    }

    /// The events of a stream; `None` where one of them is no JSON.
    fn events(&self) -> Option<Vec<Value>> {
        self.messages().map(|data| serde_json::from_str(data).ok()).collect()
    }

    /// The messages that these events are on a WebSocket.
    fn messages(&self) -> impl Iterator<Item = &str> {
        self.data().iter().filter(|(_, is_ended)| *is_ended).map(|(data, _)| data.as_str())
    }

    /// What its last event says, or its body.
    fn last(&self, dialect: &Dialect) -> Option<Answer> {
        if !self.is_stream {
            return serde_json::from_slice(&self.body).ok().map(|body| Answer::of_response(&body));
        }
        // Some clients read an event that no blank line ends, too.
        self.data().iter().find_map(|(data, _)| {
            let event = serde_json::from_str::<Value>(data).ok()?;
            let kind = event.get("type")?.as_str()?;
            if dialect.terminal.contains(&kind) {
                event.get("response").map(Answer::of_response)
            } else {
                None
            }
        })
    }
}

/// Returns the answers that may be understood of what was edited: that of the sound stream, and what the edited one says
/// from its first delta to its end.
fn answers(sound: &Played, edited: &Played, dialect: &Dialect) -> Vec<Answer> {
    let Some(first) = sound.last(dialect) else { return Vec::new() };
    let mut all = vec![first.clone()];
    if let Some(mut last) = edited.last(dialect) {
        if edited.is_stream
            && let Some(deltas) = edited.events().map(|events| Answer::of_deltas(&events))
        {
            // Where both tell different things, the sound stream decides.
            if deltas.text() != last.text() {
                last.texts.clone_from(&first.texts);
            }
            if deltas.refusal != last.refusal {
                last.refusal.clone_from(&first.refusal);
            }
            if deltas.reasoning != last.reasoning {
                last.reasoning.clone_from(&first.reasoning);
            }
            if deltas.calls != last.calls {
                last.calls.clone_from(&first.calls);
            }
            all.push(Answer { id: deltas.id, ..last.clone() });
        }
        all.push(last);
    }
    all.dedup();
    all
}

/// Where and how a case is sent.
struct Delivery {
    chunk: Option<usize>,
    pause: Duration,
    end: End,
    end_after: Option<usize>,
}

fn plays(played: &Played, channel: Channel, delivery: &Delivery, is_ended: bool) -> Plays {
    if channel == Channel::Websocket {
        let messages = played.messages().map(|message| (Duration::ZERO, message.to_owned())).collect();
        return Plays::Socket(Line { messages, is_last: !is_ended });
    }
    let mut act = Act::new(played.status, &played.content_type, played.body.clone());
    if played.is_stream {
        let wire =
            Wire { status: 200, content_type: "text/event-stream".to_owned(), body: played.body.clone() };
        let mut events = wire.events();
        if delivery.end != End::Whole {
            events.truncate(delivery.end_after.unwrap_or(events.len() / 2));
        }
        act.pieces = Vec::new();
        for event in events {
            for (at, piece) in event.chunks(delivery.chunk.unwrap_or(usize::MAX).max(1)).enumerate() {
                let pause = if at == 0 { delivery.pause } else { Duration::ZERO };
                act.pieces.push((pause, piece.to_vec()));
            }
        }
        act.end = delivery.end;
    }
    Plays::Http(act)
}

fn of_row(row: &'static ClientCase, channel: Channel, dialect: &'static Dialect) -> Option<Case> {
    let text = row.request.replace(FILL, &long_text(row.fill.unwrap_or(0)));
    let asked: Option<Value> = serde_json::from_str(&text).ok();
    let is_stream = channel != Channel::Json;
    let (request, sound, edited) = match row.golden {
        Some(golden) => of_golden(row, golden, asked, dialect)?,
        None => of_gateway(row, asked?, is_stream, dialect)?,
    };
    if channel == Channel::Websocket
        && (!dialect.framing.websocket || is_same_on_socket(row.edits, &sound, &edited))
    {
        return None;
    }
    // A body that is no stream comes as it is, whatever was asked for.
    if channel == Channel::Json && edited.is_stream {
        return None;
    }
    let end = match row.end {
        Ending::Whole => End::Whole,
        Ending::Stall => End::Stall,
        Ending::Break => End::Break,
    };
    let number = |number: Option<u32>| number.and_then(|number| usize::try_from(number).ok());
    let delivery = Delivery {
        chunk: number(row.chunk),
        pause: Duration::from_millis(row.pause_ms.unwrap_or(0).into()),
        end,
        end_after: number(row.end_after),
    };
    let answers = answers(&sound, &edited, dialect);
    if answers.is_empty() && row.expect != Expect::MustReport {
        return None;
    }
    Some(Case {
        name: name(row.id, channel),
        title: row.title.to_owned(),
        expect: row.expect,
        reason: row.reason.to_owned(),
        authority: row.authority.to_owned(),
        transport: transport(channel),
        request: without_stream(request),
        timeout: if end == End::Stall { STALLED } else { TIMEOUT },
        cancel_after: row.cancel_after,
        answers,
        plays: plays(&edited, channel, &delivery, edited.last(dialect).is_some()),
    })
}

/// Returns the request of a golden, and the golden before and after the edits.
fn of_golden(
    row: &ClientCase,
    golden: &str,
    asked: Option<Value>,
    dialect: &'static Dialect,
) -> Option<(Value, Played, Played)> {
    let found = goldens::golden(golden).filter(|_| speaks(dialect, golden))?;
    let sound = Played::read(found.bytes)?;
    let edited = Played::read(&violation::edited(found.format, found.bytes, row.edits).ok()?)?;
    let request = asked.or_else(|| gateway::example(golden))?;
    gateway::invalid(&request, dialect).is_none().then_some((request, sound, edited))
}

/// Returns a request, and what the reference gateway answers before and after the edits.
fn of_gateway(
    row: &ClientCase,
    mut request: Value,
    is_stream: bool,
    dialect: &'static Dialect,
) -> Option<(Value, Played, Played)> {
    if gateway::invalid(&request, dialect).is_some() {
        return None;
    }
    let previous = request.as_object_mut()?.shift_remove("previous_response_id");
    request["stream"] = json!(is_stream);
    let wire = gateway::respond(&request, dialect);
    let sound = Played::of_wire(&wire);
    let edited = if row.edits.is_empty() {
        sound.clone()
    } else {
        let format = if wire.is_stream() { Format::Sse } else { Format::Http };
        let recording = if wire.is_stream() { wire.body.clone() } else { wire.recording() };
        Played::read(&violation::edited(format, &recording, row.edits).ok()?)?
    };
    if let Some(previous) = previous {
        request["previous_response_id"] = previous;
    }
    Some((request, sound, edited))
}

/// Returns whether edits are about the frames of a stream alone, which a WebSocket does not have.
fn is_same_on_socket(edits: &[Edit], sound: &Played, edited: &Played) -> bool {
    !edited.is_stream || !edits.is_empty() && sound.messages().eq(edited.messages())
}

/// Returns the case in which a rule is broken, where a client can see that.
fn of_rule(rule: &'static Rule, channel: Channel, dialect: &'static Dialect) -> Option<Case> {
    let golden = goldens::golden(rule.violation.golden)?;
    if !speaks(dialect, rule.violation.golden) || golden.format != Format::Sse {
        return None;
    }
    if !(rule.only_in.is_empty() || rule.only_in.iter().any(|name| dialect.is_or_extends(name))) {
        return None;
    }
    let request = gateway::example(rule.violation.golden)
        .filter(|request| gateway::invalid(request, dialect).is_none())?;
    let sound = Played::read(golden.bytes)?;
    let edited = Played::read(&violation::edited(golden.format, golden.bytes, rule.violation.edits).ok()?)?;
    if channel == Channel::Websocket
        && (!dialect.framing.websocket || is_same_on_socket(rule.violation.edits, &sound, &edited))
    {
        return None;
    }
    let answers = answers(&sound, &edited, dialect);
    let expect = expected(rule, &sound, &edited, dialect);
    let delivery = Delivery { chunk: None, pause: Duration::ZERO, end: End::Whole, end_after: None };
    let why = match expect {
        Expect::MustReport => "There is no answer that could be taken for whole.",
        Expect::MustSurvive => "The rule is a recommendation to servers: clients meet streams that break it.",
        Expect::Either => "A client may refuse such a stream, but must not return another answer.",
    };
    Some(Case {
        name: name(&format!("fault/{}", rule.id), channel),
        title: format!("A stream that breaks the rule: {}", rule.title),
        expect,
        reason: why.to_owned(),
        authority: rule.citation.to_string(),
        transport: transport(channel),
        request: without_stream(request),
        timeout: TIMEOUT,
        cancel_after: None,
        answers,
        plays: plays(&edited, channel, &delivery, edited.last(dialect).is_some()),
    })
}

/// Returns what a client has to do with a stream that breaks a rule.
fn expected(rule: &Rule, sound: &Played, edited: &Played, dialect: &Dialect) -> Expect {
    let Some(last) = edited.last(dialect) else { return Expect::MustReport };
    let is_failure = last.status.as_deref() == Some("failed");
    let is_error = |event: &Value| event.get("type").is_some_and(|kind| kind == "error");
    let has_error = edited.events().is_some_and(|events| events.iter().any(is_error));
    let streamed = edited.events().map(|events| Answer::of_deltas(&events));
    let is_same = sound
        .last(dialect)
        .is_some_and(|sound| sound.text() == last.text() && sound.calls == last.calls)
        && streamed.is_some_and(|streamed| streamed.text() == last.text() && streamed.calls == last.calls);
    match () {
        () if is_failure => Expect::MustReport,
        () if checker::level(rule, dialect) < Level::Must && is_same && !has_error => Expect::MustSurvive,
        () => Expect::Either,
    }
}

/// Returns whether a client of a dialect can be played a golden of another.
fn speaks(dialect: &Dialect, golden: &str) -> bool {
    let own = golden.split_once('/').map_or(golden, |(own, _)| own);
    let is_common = ["openai", "open-responses"];
    let base = dialect.name.split('@').next().unwrap_or_default();
    own == base || is_common.contains(&own) && is_common.contains(&base)
}

const fn transport(channel: Channel) -> Transport {
    match channel {
        Channel::Sse => Transport::Sse,
        Channel::Json => Transport::Json,
        Channel::Websocket => Transport::Websocket,
    }
}

fn name(id: &str, channel: Channel) -> String {
    format!("{id}{}", transport(channel).suffix())
}

fn without_stream(mut request: Value) -> Value {
    if let Some(members) = request.as_object_mut() {
        members.shift_remove("stream");
    }
    request
}

/// Returns a text of so many kilobytes.
fn long_text(kilobytes: u32) -> String {
    const WORDS: &str = "All work and no play makes a stream a dull stream, so says the lazy server. ";
    let bytes = usize::try_from(kilobytes).unwrap_or(0) * 1024;
    WORDS.chars().cycle().take(bytes).collect()
}
