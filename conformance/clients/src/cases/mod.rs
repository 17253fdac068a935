//! All cases of a dialect: of pages, of the violations of rules, and of members that are wrong.

pub(crate) mod case;
pub(crate) mod conversation;
pub(crate) mod event;
pub(crate) mod member;
pub(crate) mod order;
pub(crate) mod played;
pub(crate) mod retries;
pub(crate) mod shown;
pub(crate) mod streams;
pub(crate) mod turns;
pub(crate) mod vectors;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Mutex;
use std::time::Duration;

use catalogue::{CLIENT_CASES, Channel, ClientCase, Edit, Expect, RULES, Rule, Violation, groups};
use gateway::End;
use harness::lock;
use recordings::capture::Format;
use recordings::{goldens, violation};
use serde_json::{Value, json};
use spec::Dialect;

use self::case::{
    PlayedCase, TIMEOUT, about, expected, name, of_streams, request, sound_name, speaks, transport,
    without_stream, written_in,
};
use self::played::{Delivery, Played, answers, plays};
use self::retries::PlayedRetries;
use self::streams::Streams;
use self::turns::{STEP, turns};

/// Timeout of a case whose stream stalls.
const STALLED: Duration = Duration::from_millis(1500);
/// Placeholder for a long text in a request.
const FILL: &str = "FILL";

/// Returns all cases of a dialect, by name. They are built once.
pub fn cases(dialect: &'static Dialect) -> &'static [PlayedCase] {
    static MADE: Mutex<BTreeMap<&str, &[PlayedCase]>> = Mutex::new(BTreeMap::new());
    lock(&MADE).entry(dialect.name).or_insert_with(|| make(dialect).leak())
}

fn make(dialect: &'static Dialect) -> Vec<PlayedCase> {
    let mut cases = Vec::new();
    let mut streams = Streams::default();
    for row in CLIENT_CASES {
        for is_stream in [true, false] {
            cases.extend(of_row(row, is_stream, dialect, &mut streams).into_iter().flatten());
        }
    }
    let observed = |case: &PlayedCase| (case.transport.suffix(), case.plays.bytes());
    let mut known: BTreeSet<_> = cases.iter().map(observed).collect();
    for rule in RULES {
        for case in of_rule(rule, dialect, &mut streams).into_iter().flatten() {
            // Many defects are violations of a rule.
            if known.insert(observed(&case)) {
                cases.push(case);
            }
        }
    }
    cases.sort_by(|one, other| one.name.cmp(&other.name));
    cases
}

/// Returns the cases with which the effect of defects is measured: a stream for each way in which a member of an event
/// can be wrong, and in which an event can be out of order, and the intact streams that these and the other cases are edits of.
pub fn measured_cases(dialect: &'static Dialect) -> Vec<PlayedCase> {
    let mut streams = Streams::default();
    let mut cases = [member::members(dialect, &mut streams), order::orders(dialect, &mut streams)].concat();
    cases.sort_by(|one, other| one.name.cmp(&other.name));
    cases
}

/// Returns whether a name is one of [`measured_cases`].
pub fn is_measured_only(name: &str) -> bool {
    [groups::MEMBER, groups::ORDER, groups::SOUND].iter().any(|group| name.starts_with(group))
}

/// For requests that ask for a stream, or for those that do not: one for each transport.
fn of_row(
    row: &'static ClientCase,
    is_stream: bool,
    dialect: &'static Dialect,
    streams: &mut Streams,
) -> Option<Vec<PlayedCase>> {
    let is_meant = |channel: &Channel| (*channel != Channel::Json) == is_stream;
    let channels: Vec<Channel> = row.transports.iter().copied().filter(is_meant).collect();
    if channels.is_empty() || row.api.is_some_and(|api| api != dialect.api.name) {
        return None;
    }
    let long = long_text(row.fill.unwrap_or(0));
    let request_of_page: Option<Value> = match row.prompt {
        "" => serde_json::from_str(&row.request.replace(FILL, &long)).ok(),
        prompt => Some(gateway::request(&prompt.replace(FILL, &long), dialect.api)),
    };
    let response = match row.golden {
        Some(golden) => of_golden(row, golden, request_of_page, dialect, streams)?,
        None => of_gateway(row, request_of_page?, is_stream, dialect)?,
    };
    Some(channels.into_iter().filter_map(|channel| over(row, channel, &response, dialect)).collect())
}

/// A request, with its response before and after the edits.
type Response = (Value, Rc<Played>, Rc<Played>);

/// `None` if the transport cannot carry the response.
fn over(
    row: &'static ClientCase,
    channel: Channel,
    (request, sound, edited): &Response,
    dialect: &'static Dialect,
) -> Option<PlayedCase> {
    if channel == Channel::Websocket
        && (!dialect.framing.websocket || is_same_on_socket(row.edits, sound, edited))
    {
        return None;
    }
    // A body that is not a stream is sent unchanged, whatever the request asks for.
    if channel == Channel::Json && edited.is_stream {
        return None;
    }
    let end = row.end;
    let dialect = sound.dialect;
    let has_edits = !row.edits.is_empty() || end != End::Whole;
    let number = |number: Option<u32>| number.and_then(|number| usize::try_from(number).ok());
    let delivery = Delivery {
        chunk: number(row.chunk),
        pause: Duration::from_millis(row.pause_ms.unwrap_or(0).into()),
        end,
        end_after: number(row.end_after),
    };
    let mut answers = answers(sound, edited);
    let (turns, last) = if row.steps.is_empty() {
        (Vec::new(), None)
    } else {
        let (turns, last) = turns(row, request, sound, channel, dialect)?;
        (turns, Some(last))
    };
    if let Some(last) = last {
        answers = vec![last];
    }
    if answers.is_empty() && row.expect != Expect::MustReport {
        return None;
    }
    let usual = if end == End::Stall { STALLED } else { TIMEOUT };
    let timeout = row.retries.as_ref().and_then(|retries| retries.timeout_ms);
    let timeout = timeout.map_or(usual, |ms| Duration::from_millis(ms.into()));
    let is_lasting = row.expect == Expect::MustReport;
    let retries = match &row.retries {
        Some(retries) => Some(PlayedRetries::new(retries, is_lasting, timeout, channel, dialect)?),
        None => None,
    };
    Some(PlayedCase {
        name: name(row.id, channel),
        title: row.title.to_owned(),
        expect: row.expect,
        reason: row.reason.split_whitespace().collect::<Vec<_>>().join(" "),
        authority: row.authority.to_owned(),
        transport: transport(channel),
        request: without_stream(request.clone()),
        timeout: timeout + STEP * u32::try_from(turns.len()).unwrap_or(0),
        retries,
        cancel_after: row.cancel_after,
        about: about(row.about, answers.first(), dialect),
        turns,
        answers,
        control: match row.control {
            Some(control) => Some(name(control, channel)),
            None => row.golden.filter(|_| has_edits).map(|golden| sound_name(golden, channel)),
        },
        plays: plays(edited, channel, &delivery),
    })
}

/// With the golden before and after the edits.
fn of_golden(
    row: &ClientCase,
    golden: &str,
    request_of_page: Option<Value>,
    dialect: &'static Dialect,
    streams: &mut Streams,
) -> Option<Response> {
    let found = goldens::golden(golden).filter(|_| speaks(dialect, golden))?;
    let read_in = catalogue::request(golden).map_or(dialect, |_| written_in(found, dialect));
    let (sound, edited) = streams.edited(found, row.edits, read_in)?;
    let request = request_of_page.or_else(|| request(golden, dialect))?;
    gateway::invalid(&request, dialect).is_none().then_some((request, sound, edited))
}

/// With the response of the reference gateway before and after the edits.
fn of_gateway(
    row: &ClientCase,
    mut request: Value,
    is_stream: bool,
    dialect: &'static Dialect,
) -> Option<Response> {
    if !gateway::is_spoken(dialect) || gateway::invalid(&request, dialect).is_some() {
        return None;
    }
    let previous = request.as_object_mut()?.shift_remove("previous_response_id");
    request["stream"] = json!(is_stream);
    let wire = gateway::respond(&request, dialect);
    let sound = Rc::new(Played::of_wire(&wire, dialect));
    let edited = if row.edits.is_empty() {
        Rc::clone(&sound)
    } else {
        let format = if wire.is_stream() { Format::Sse } else { Format::Http };
        let recording = if wire.is_stream() { wire.body.clone() } else { wire.recording() };
        Rc::new(Played::read(&violation::edited(format, &recording, row.edits).ok()?, dialect)?)
    };
    if let Some(previous) = previous {
        request["previous_response_id"] = previous;
    }
    Some((request, sound, edited))
}

/// Some edits affect only SSE frames, which a WebSocket does not have.
fn is_same_on_socket(edits: &[Edit], sound: &Played, edited: &Played) -> bool {
    !edited.is_stream || !edits.is_empty() && sound.messages().eq(edited.messages())
}

/// One for each transport. `None` if clients cannot notice the violation.
fn of_rule(rule: &'static Rule, dialect: &'static Dialect, streams: &mut Streams) -> Option<Vec<PlayedCase>> {
    let own = rule.in_dialect(dialect);
    let Violation { golden: id, edits, .. } = own.violation;
    let golden = goldens::golden(id).filter(|golden| golden.format == Format::Sse)?;
    // A client chooses its request, and notices nothing of what another one breaks.
    if !rule.applies_to(dialect) || violation::is_of_request(edits) {
        return None;
    }
    let request = request(id, dialect)?;
    let (sound, edited) = streams.edited(golden, edits, written_in(golden, dialect))?;
    let expect = expected(checker::level(rule, dialect), &sound, &edited);
    let why = match expect {
        Expect::MustReport => "The response is not complete.",
        Expect::MustSurvive => {
            "The rule is a recommendation for servers, so clients must handle streams that break it."
        }
        Expect::Either => "A client may reject such a stream, but must not return other content.",
    };
    let case = |channel| PlayedCase {
        name: name(&format!("{}{}", groups::FAULT, rule.id), channel),
        title: format!("A stream that breaks the rule: {}", rule.title),
        expect,
        reason: why.to_owned(),
        authority: own.citation.to_string(),
        control: Some(sound_name(id, channel)),
        ..of_streams(request.clone(), (&sound, &edited), channel, rule.about)
    };
    let has_socket = dialect.framing.websocket && !is_same_on_socket(edits, &sound, &edited);
    let socket = has_socket.then_some(Channel::Websocket);
    Some([Channel::Sse].into_iter().chain(socket).map(case).collect())
}

fn long_text(kilobytes: u32) -> String {
    const WORDS: &str = "All work and no play makes a stream a dull stream, so says the lazy server. ";
    let bytes = usize::try_from(kilobytes).unwrap_or(0) * 1024;
    let mut text = WORDS.repeat(bytes / WORDS.len() + 1);
    text.truncate(bytes);
    text
}
