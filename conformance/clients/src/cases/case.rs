//! A case: responses that are played to a client, and the replies that are correct.

use std::borrow::Cow;
use std::time::Duration;

use catalogue::{About, Channel, Expect, Level, Step, groups};
use checker::Answer;
use gateway::{Act, SocketScript};
use recordings::goldens::Golden;
use results::Transport;
use serde_json::{Value, json};
use spec::Dialect;

use super::event::event_type;
use super::played::{Delivery, Played, Plays, answers, plays};
use super::retries::PlayedRetries;
use super::turns::PlayedTurn;

pub(crate) const TIMEOUT: Duration = Duration::from_secs(5);

/// A response that is played to a client over one transport.
#[derive(Debug, Clone)]
pub struct PlayedCase {
    /// Its name: the page's, with a suffix for transports other than a stream over HTTP.
    pub name: String,
    /// Its title: the response that the client receives.
    pub title: String,
    /// The expected behaviour of the client.
    pub expect: Expect,
    /// The reason for the expectation.
    pub reason: String,
    /// The authority for the expectation.
    pub authority: String,
    /// The transport.
    pub transport: Transport,
    /// The body of the request, without `stream`.
    pub request: Value,
    /// The timeout of the client.
    pub timeout: Duration,
    pub(crate) retries: Option<PlayedRetries>,
    /// Number of events after which the client must disconnect.
    pub cancel_after: Option<u32>,
    /// The steps after the first response.
    pub turns: Vec<PlayedTurn>,
    /// The correct contents of the last response. The first is the intact stream's.
    pub answers: Vec<Answer>,
    /// The parts that a reply must have for the case to count.
    pub about: Vec<About>,
    /// The case that plays the same response intact: only if a client handles it, its failure is due to the edits.
    pub control: Option<String>,
    pub(crate) plays: Plays,
}

impl PlayedCase {
    /// Returns a case that plays a stream which keeps every rule, as the response to a request.
    pub fn of_stream(name: String, stream: &[u8], request: Value, dialect: &'static Dialect) -> Self {
        let played = Played::stream(stream, dialect);
        let expect = expected(Level::May, &played, &played);
        Self { name, expect, ..of_streams(request, (&played, &played), Channel::Sse, &[]) }
    }

    /// The limit on the time of the client.
    pub fn limit(&self) -> Duration {
        self.retries.as_ref().map_or(self.timeout, |retries| retries.limit)
    }

    /// The client gets as much more time as the timeout is longer.
    pub(crate) fn set_timeout(&mut self, timeout: Duration) {
        let more = timeout.saturating_sub(self.timeout);
        self.timeout = timeout;
        if let Some(retries) = &mut self.retries {
            retries.limit += more * (retries.max + 1);
        }
    }

    /// Returns the number of retries that the client may make, if the case is about these.
    pub fn max_retries(&self) -> Option<u32> {
        self.retries.as_ref().map(|retries| retries.max)
    }

    /// Returns this number with the most requests that are right.
    pub fn retries(&self) -> Option<(u32, usize)> {
        self.retries.as_ref().map(|retries| (retries.max, retries.most))
    }

    /// 0 is the first response.
    pub(crate) fn turn(&self, body: &Value) -> usize {
        let steps = self.turns.iter().enumerate().rev();
        steps
            .filter(|(_, turn)| turn.step != Step::Resume)
            .find(|(_, turn)| turn.follows(body))
            .map_or(0, |(at, _)| at + 1)
    }

    pub(crate) fn turn_of(&self, body: &Value) -> Option<&PlayedTurn> {
        self.turn(body).checked_sub(1).and_then(|at| self.turns.get(at))
    }

    /// `attempt` counts from 0 the requests that create a response.
    pub(crate) fn played(&self, body: &[u8], attempt: usize) -> Cow<'_, Plays> {
        if let Some(failure) = self.retries.as_ref().and_then(|retries| retries.response(attempt)) {
            return Cow::Owned(Plays::Http(failure));
        }
        if self.turns.is_empty() {
            return Cow::Borrowed(&self.plays);
        }
        let body = serde_json::from_slice(body).unwrap_or_default();
        Cow::Borrowed(self.turn_of(&body).map_or(&self.plays, |turn| &turn.plays))
    }

    pub(crate) fn resumed(&self, id: &str, query: &str) -> Option<Act> {
        let of_step = |turn: &&PlayedTurn| turn.step == Step::Resume && turn.before.id.as_deref() == Some(id);
        self.turns.iter().find(of_step)?.rest(query)
    }

    /// The connection stays open for later steps.
    pub(crate) fn said(&self, message: &str) -> Option<SocketScript> {
        let Plays::Socket(script) = self.played(message.as_bytes(), 0).into_owned() else { return None };
        let is_last = self.turns.is_empty() && script.is_last;
        Some(SocketScript { is_last, ..script })
    }
}

/// Returns the request whose response is a golden, if clients of the dialect can send it.
pub fn request(golden: &str, dialect: &Dialect) -> Option<Value> {
    let listed = || -> Option<Value> {
        let mut request: Value = serde_json::from_str(catalogue::request(golden)?).ok()?;
        request["stream"] = json!(true);
        Some(request)
    };
    let request = listed().or_else(|| gateway::example(golden)).filter(|_| speaks(dialect, golden))?;
    gateway::invalid(&request, dialect).is_none().then_some(request)
}

pub(crate) fn of_streams(
    request: Value,
    (sound, edited): (&Played, &Played),
    channel: Channel,
    parts: &[About],
) -> PlayedCase {
    let answers = answers(sound, edited);
    PlayedCase {
        name: String::new(),
        title: String::new(),
        expect: Expect::MustSurvive,
        reason: String::new(),
        authority: String::new(),
        transport: transport(channel),
        request: without_stream(request),
        timeout: TIMEOUT,
        retries: None,
        cancel_after: None,
        about: about(parts, answers.first(), edited.dialect),
        turns: Vec::new(),
        answers,
        control: None,
        plays: plays(edited, channel, &Delivery::default()),
    }
}

/// Clients of another dialect read a golden in the golden's dialect, too: they can ignore an event that only this
/// dialect has, and lose its text with it.
pub(crate) fn written_in(golden: &Golden, dialect: &'static Dialect) -> &'static Dialect {
    spec::dialect(golden.dialect).unwrap_or(dialect)
}

pub(crate) fn sound_name(golden: &str, channel: Channel) -> String {
    name(&format!("{}{golden}", groups::SOUND), channel)
}

/// The given parts, or else the parts of the response.
pub(crate) fn about(said: &[About], answer: Option<&Answer>, dialect: &Dialect) -> Vec<About> {
    let Some(answer) = answer.filter(|_| said.is_empty()) else { return said.to_vec() };
    let has = [
        (About::Text, !answer.text().is_empty()),
        (About::Refusal, !answer.refusal.is_empty()),
        (About::Calls, !answer.calls.is_empty()),
        (
            About::Status,
            !answer.status.as_deref().is_some_and(|status| dialect.api.usual_stops.contains(&status)),
        ),
    ];
    let about: Vec<About> = has.into_iter().filter_map(|(part, is_there)| is_there.then_some(part)).collect();
    match (about.is_empty(), answer.reasoning.is_empty()) {
        (false, _) => about,
        (true, false) => vec![About::Reasoning],
        (true, true) => vec![About::Text],
    }
}

/// Clients must survive some streams that break a rule.
pub(crate) fn expected(level: Level, sound: &Played, edited: &Played) -> Expect {
    let (dialect, Some(last)) = (edited.dialect, edited.last()) else { return Expect::MustReport };
    let is_failure = last.status.as_deref().is_some_and(|status| status == dialect.api.status.failed);
    let is_error = |(_, event)| event_type(dialect, event).is_some_and(|kind| kind == dialect.error);
    let has_error = edited.events().any(is_error);
    let streamed = edited.deltas();
    let is_same = sound.last().is_some_and(|sound| sound.text() == last.text() && sound.calls == last.calls)
        && streamed.is_some_and(|streamed| streamed.text() == last.text() && streamed.calls == last.calls);
    match () {
        () if is_failure => Expect::MustReport,
        () if level < Level::Must && is_same && !has_error => Expect::MustSurvive,
        () => Expect::Either,
    }
}

pub(crate) fn speaks(dialect: &Dialect, golden: &str) -> bool {
    let own = golden.split_once('/').map_or(golden, |(own, _)| own);
    let is_common = ["openai", "open-responses"];
    let base = dialect.name.split('@').next().unwrap_or_default();
    // Goldens of a dialect that extends the client's are played, too. Clients of the Responses API were measured with the
    // two above.
    let extends = || spec::dialect(own).is_some_and(|own| own.is_or_extends(base));
    own == base
        || is_common.contains(&own) && is_common.contains(&base)
        || catalogue::request(golden).is_some() && extends()
}

/// Returns the transport of a channel.
pub const fn transport(channel: Channel) -> Transport {
    match channel {
        Channel::Sse => Transport::Sse,
        Channel::Json => Transport::Json,
        Channel::Websocket => Transport::Websocket,
    }
}

pub(crate) fn name(id: &str, channel: Channel) -> String {
    format!("{id}{}", transport(channel).suffix())
}

pub(crate) fn without_stream(mut request: Value) -> Value {
    if let Some(members) = request.as_object_mut() {
        members.shift_remove("stream");
    }
    request
}
