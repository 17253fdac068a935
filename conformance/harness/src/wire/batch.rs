//! Batches of WebSocket messages, and their expected responses.

use std::borrow::Cow;

use catalogue::{OnSocket, Scenario};
use spec::Dialect;
use spec::table::{Operation, Reply};

use crate::plan::PreviousResponse;

/// A `response.create` and its response.
#[derive(Debug)]
struct Ask {
    lane: Option<String>,
    /// The accepted statuses, if it must be refused.
    expected: &'static [u16],
    has_begun: bool,
    answer: Option<AskOutcome>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AskOutcome {
    Response,
    Error(u16),
}

#[derive(Debug)]
struct Aside {
    scenario: &'static Scenario,
    state: MessageState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MessageState {
    Unsent,
    Sent,
    /// Steering input was accepted: another response follows, or an event with the reason why none does.
    Accepted,
    Over,
}

/// A scenario, and its lane number if it is sent in several.
type Numbered = (&'static Scenario, Option<u32>);

/// The next step after an event.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step<'b> {
    Listen,
    /// Send the message of this scenario, about this response.
    Send(&'static Scenario, Option<&'b PreviousResponse>),
    /// Listen briefly: the response may end without a terminal event.
    Wind,
}

#[derive(Debug, Default)]
pub(super) struct Batch {
    asks: Vec<Ask>,
    aside: Option<Aside>,
    running: Option<PreviousResponse>,
}

impl Batch {
    pub(super) fn next(
        due: &mut std::iter::Peekable<impl Iterator<Item = Numbered>>,
    ) -> Option<(Self, Vec<Numbered>)> {
        let (first, number) = due.next()?;
        let mut batch = Self::default();
        let mut said = vec![(first, number)];
        if first.operation.is_aside() {
            batch.aside = Some(Aside { scenario: first, state: MessageState::Sent });
            return Some((batch, said));
        }
        let is_more = |(scenario, number): &(&Scenario, Option<u32>)| {
            scenario.websocket == Some(OnSocket::Ahead) || number.is_some_and(|number| number > 1)
        };
        while let Some(more) = due.next_if(is_more) {
            said.push(more);
        }
        let is_during = |(scenario, _): &(&Scenario, _)| scenario.websocket == Some(OnSocket::During);
        batch.aside =
            due.next_if(is_during).map(|(scenario, _)| Aside { scenario, state: MessageState::Unsent });
        Some((batch, said))
    }

    pub(super) fn add(
        &mut self,
        scenario: &'static Scenario,
        number: Option<u32>,
        message: &str,
        dialect: &Dialect,
    ) {
        if scenario.operation.is_aside() {
            return;
        }
        // `status` refers to the request in the last lane.
        let is_last = number == scenario.lanes;
        let expected = if is_last { scenario.status } else { &[] };
        let lane = lane_of(message, dialect).map(Cow::into_owned);
        self.asks.push(Ask { lane, expected, has_begun: false, answer: None });
    }

    pub(super) fn is_over(&self) -> bool {
        self.asks.iter().all(|ask| ask.answer.is_some())
            && self.aside.as_ref().is_none_or(|aside| aside.state == MessageState::Over)
    }

    pub(super) fn is_as_expected(&self) -> bool {
        self.asks.iter().all(|ask| match ask.answer {
            Some(AskOutcome::Error(status)) => ask.expected.contains(&status),
            Some(AskOutcome::Response) => ask.expected.is_empty(),
            None => ask.has_begun && ask.expected.is_empty(),
        })
    }

    pub(super) fn hear(&mut self, text: &str, dialect: &Dialect) -> Step<'_> {
        let kind = member(text, "/type").unwrap_or_default();
        if self.hear_aside(&kind, dialect) {
            return Step::Listen;
        }
        let lane = lane_of(text, dialect).filter(|_| dialect.framing.lanes);
        self.running = PreviousResponse::begun(text, dialect).or(self.running.take());
        let ask = open(&mut self.asks, lane.as_deref());
        let is_error = kind == dialect.error;
        if is_error && ask.as_ref().is_none_or(|ask| !ask.has_begun) {
            let place = dialect.api.session.map(|names| format!("/{}", names.status));
            let status = place.and_then(|place| spec::json::at(text, &place)?.parse().ok());
            match (ask, &mut self.aside) {
                (Some(ask), _) => ask.answer = Some(AskOutcome::Error(status.unwrap_or_default())),
                (None, Some(aside)) => aside.state = MessageState::Over,
                (None, None) => {}
            }
            return Step::Listen;
        }
        let is_end = dialect.terminal.contains(&&*kind);
        match ask {
            Some(ask) => {
                ask.has_begun = true;
                ask.answer = is_end.then_some(AskOutcome::Response);
            }
            // A steered response is followed by one without a request.
            None if is_end => {
                for aside in self.aside.iter_mut().filter(|aside| aside.state == MessageState::Accepted) {
                    aside.state = MessageState::Over;
                }
            }
            None => {}
        }
        let is_of_item = dialect.event(&kind).is_some_and(|info| !info.level.is_root);
        match &mut self.aside {
            Some(aside) if aside.state == MessageState::Unsent && (is_of_item || is_end) => {
                aside.state = MessageState::Sent;
                Step::Send(aside.scenario, self.running.as_ref())
            }
            _ if is_error => Step::Wind,
            _ => Step::Listen,
        }
    }

    /// False if the event does not answer steering or injection.
    fn hear_aside(&mut self, kind: &str, dialect: &Dialect) -> bool {
        let Some((operation, reply)) = answered(kind, dialect) else { return false };
        if let Some(aside) = self.aside.as_mut().filter(|aside| aside.scenario.operation == operation) {
            aside.state = match (operation, reply) {
                (Operation::Steer, Reply::Accepted) => MessageState::Accepted,
                _ => MessageState::Over,
            };
        }
        true
    }
}

/// Unknown lanes count as the first one.
fn open<'a>(asks: &'a mut [Ask], lane: Option<&str>) -> Option<&'a mut Ask> {
    let is_open = |ask: &Ask| ask.answer.is_none();
    let own = asks.iter().position(|ask| is_open(ask) && ask.lane.as_deref() == lane);
    let is_strange = asks.iter().all(|ask| ask.lane.as_deref() != lane);
    let at = own.or_else(|| asks.iter().position(is_open).filter(|_| is_strange))?;
    asks.get_mut(at)
}

fn lane_of<'t>(message: &'t str, dialect: &Dialect) -> Option<Cow<'t, str>> {
    member(message, &format!("/{}", dialect.api.session?.lane))
}

fn member<'t>(text: &'t str, pointer: &str) -> Option<Cow<'t, str>> {
    spec::json::at(text, pointer).and_then(spec::json::string)
}

pub(crate) fn answered(kind: &str, dialect: &Dialect) -> Option<(Operation, Reply)> {
    dialect.framing.asides().find_map(|(operation, aside)| Some((operation, aside.reply(kind)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scenario(id: &str) -> &'static Scenario {
        catalogue::scenario(id).expect("it is a scenario")
    }

    fn batch(turns: &[(&'static Scenario, Option<u32>)], messages: &[&str]) -> Batch {
        let (mut batch, said) = Batch::next(&mut turns.iter().copied().peekable()).expect("a batch");
        assert_eq!(said.len(), messages.len());
        for ((scenario, number), message) in said.into_iter().zip(messages) {
            batch.add(scenario, number, message, spec::dialect("openai").unwrap());
        }
        batch
    }

    #[test]
    fn each_lane_has_its_own_end() {
        let openai = spec::dialect("openai").unwrap();
        let turns = [(scenario("ws/lanes-continued"), None), (scenario("ws/fork"), None)];
        let mut batch = batch(&turns, &[r#"{"stream_id":"a"}"#, r#"{"stream_id":"b"}"#]);
        for (event, is_over) in [
            (r#"{"type":"response.created","stream_id":"a"}"#, false),
            (r#"{"type":"response.created","stream_id":"b"}"#, false),
            (r#"{"type":"response.completed","stream_id":"b"}"#, false),
            (r#"{"type":"response.output_text.delta","stream_id":"a"}"#, false),
            (r#"{"type":"response.completed","stream_id":"a"}"#, true),
        ] {
            assert_eq!(batch.hear(event, openai), Step::Listen);
            assert_eq!(batch.is_over(), is_over, "{event}");
        }
        assert!(batch.is_as_expected());
    }

    #[test]
    fn only_the_last_lane_is_refused() {
        let openai = spec::dialect("openai").unwrap();
        let limit = scenario("ws/lane-limit");
        let refused = |lane: u32| format!(r#"{{"type":"error","status":400,"stream_id":"l_{lane}"}}"#);
        let ended = |lane: u32| format!(r#"{{"type":"response.completed","stream_id":"l_{lane}"}}"#);
        for (last, is_expected) in [(refused(33), true), (ended(33), false)] {
            let turns: Vec<_> = (1..=33).map(|number| (limit, Some(number))).collect();
            let messages: Vec<_> = (1..=33).map(|lane| format!(r#"{{"stream_id":"l_{lane}"}}"#)).collect();
            let messages: Vec<&str> = messages.iter().map(String::as_str).collect();
            let mut batch = batch(&turns, &messages);
            for event in (1..=32).map(ended).chain([last]) {
                assert!(!batch.is_over());
                batch.hear(&event, openai);
            }
            assert!(batch.is_over());
            assert_eq!(batch.is_as_expected(), is_expected);
        }
    }

    #[test]
    fn steering_ends_with_what_follows_it() {
        let openai = spec::dialect("openai").unwrap();
        let turns = [(scenario("ws/slow"), None), (scenario("ws/steer"), None)];
        let start = || {
            let mut batch = batch(&turns, &["{}"]);
            batch.hear(r#"{"type":"response.created","response":{"id":"resp_1"}}"#, openai);
            let about = PreviousResponse { id: "resp_1".to_owned(), ..PreviousResponse::default() };
            let first = batch.hear(r#"{"type":"response.output_item.added"}"#, openai);
            assert_eq!(first, Step::Send(turns[1].0, Some(&about)));
            batch
        };
        for (events, is_over) in [
            (&["steer.accepted", "incomplete", "created", "completed"][..], true),
            (&["steer.accepted", "incomplete", "created"], false),
            (&["steer.accepted", "incomplete"], false),
            (&["steer.failed"], false),
            (&["steer.failed", "completed"], true),
            (&["completed", "steer.failed"], true),
            (&["steer.accepted", "completed", "steer.pending"], true),
            (&["completed"], false),
        ] {
            let mut batch = start();
            for event in events {
                batch.hear(&format!("{{\"type\":\"response.{event}\"}}"), openai);
            }
            assert_eq!(batch.is_over(), is_over, "{events:?}");
        }
    }
}
