//! WebSocket conversations: scenarios as turns.

use catalogue::{OnSocket, Scenario};
use serde_json::{Map, Value};
use spec::Dialect;
use spec::table::Operation;

use super::call::{Call, Given, PreviousResponse, RequestContext};
use super::case::{Case, Offer, fitting, says};
use super::seed::Seed;
use super::trials::trials;
use checker::Rules;
use results::{Judgement, Transport, Verdict};

/// Members of HTTP requests that WebSocket messages do not have.
const OF_HTTP: [&str; 3] = ["stream", "stream_options", "background"];

/// Adds the cases on a WebSocket: each has a separate connection, on which it also sends the turns that it continues.
pub(super) fn add(
    cases: &mut Vec<Case>,
    scenarios: impl Iterator<Item = &'static Scenario>,
    dialect: &'static Dialect,
    rules: &Rules,
    offer: &Offer,
) {
    for scenario in scenarios.filter(|scenario| is_sent(scenario)) {
        add_case(cases, scenario, dialect, rules, offer);
    }
}

fn add_case(
    cases: &mut Vec<Case>,
    scenario: &'static Scenario,
    dialect: &'static Dialect,
    rules: &Rules,
    offer: &Offer,
) -> usize {
    let name = format!("{}{}", scenario.id, Transport::Websocket.suffix());
    if let Some(at) = cases.iter().position(|case| case.name == name) {
        return at;
    }
    let mut turns = vec![scenario];
    while let Some(previous) = turns.last().and_then(|first| on_connection(first)) {
        turns.push(previous);
    }
    turns.reverse();
    let elsewhere = turns.first().and_then(|first| first.previous).and_then(catalogue::scenario);
    let previous = elsewhere.map(|previous| add_case(cases, previous, dialect, rules, offer));
    cases.push(Case {
        name,
        scenario,
        is_twin: false,
        previous,
        compared: None,
        unfit: unfit(&turns, dialect, offer),
        optional: None,
        says: says(scenario, &Seed::NONE),
        trials: trials(scenario, Transport::Websocket, dialect, rules),
        turns,
    });
    cases.len() - 1
}

/// Returns the scenario that must precede this one on the same connection.
fn on_connection(scenario: &Scenario) -> Option<&'static Scenario> {
    let is_anew = scenario.websocket == Some(OnSocket::Anew);
    scenario.previous.filter(|_| !is_anew).and_then(catalogue::scenario)
}

/// Returns whether a scenario applies to WebSocket connections: it is a single message, and does not depend on HTTP being
/// stateless.
fn is_sent(scenario: &Scenario) -> bool {
    let Ok(Value::Object(request)) = serde_json::from_str(scenario.request) else { return false };
    let is = |name: &str| request.get(name) == Some(&Value::Bool(true));
    let is_forgotten = !scenario.status.is_empty() && scenario.previous.is_some();
    let is_whole =
        scenario.operation == Operation::Create && scenario.cut_after.is_none() && !scenario.malformed;
    let is_plain = is_whole && is("stream") && !is("background") && !is_forgotten;
    let before = scenario.previous.and_then(catalogue::scenario);
    scenario.websocket.is_some() || is_plain && before.is_none_or(is_sent)
}

fn unfit(turns: &[&'static Scenario], dialect: &'static Dialect, offer: &Offer) -> Option<Judgement> {
    let lacks =
        |what: &str| Some(Judgement::new(Verdict::NotExercised, format!("{} has no {what}", dialect.name)));
    if !dialect.framing.websocket {
        return lacks("WebSocket");
    }
    let is_in_lane = |turn: &&Scenario| spec::json::at(turn.request, "/stream_id").is_some();
    if !dialect.framing.lanes && turns.iter().any(is_in_lane) {
        return lacks("lanes on a WebSocket");
    }
    let unfit = turns.iter().find_map(|turn| fitting(turn, false, dialect, offer));
    unfit.or_else(|| {
        let root = dialect.root("websocket_request")?;
        let asked = RequestContext { model: "default", given: &Given::new(), number: 1, seed: &Seed::NONE };
        let before = PreviousResponse { id: "resp_1".to_owned(), ..PreviousResponse::default() };
        // A request that must be refused may be megabytes long.
        let is_served = |turn: &&&'static Scenario| turn.status.is_empty();
        let refused = |turn: &&&'static Scenario| {
            let message = message(turn, None, &asked, Some(&before), dialect);
            !dialect.check_type(root, &message).is_valid()
        };
        turns.iter().filter(is_served).find(refused).and_then(|_| lacks("such message"))
    })
}

/// Returns the messages of a conversation: its scenarios, with the lane number of each if it is sent in several lanes.
pub fn messages<'t>(
    turns: &'t [&'static Scenario],
) -> impl Iterator<Item = (&'static Scenario, Option<u32>)> + use<'t> {
    turns.iter().flat_map(|turn| {
        let lanes = turn.lanes.into_iter().flat_map(|count| (1..=count).map(Some));
        lanes.chain(turn.lanes.is_none().then_some(None)).map(|lane| (*turn, lane))
    })
}

/// Returns the message of a scenario, in the lane with this number if it is sent in several lanes.
pub fn message(
    scenario: &Scenario,
    lane: Option<u32>,
    asked: &RequestContext<'_>,
    before: Option<&PreviousResponse>,
    dialect: &Dialect,
) -> String {
    let body = Call::of(scenario, asked, before, false).body.unwrap_or_default();
    let Ok(Value::Object(mut request)) = serde_json::from_str(&body) else { return body };
    if scenario.operation.is_aside() {
        return body;
    }
    if let (Some(number), Some(Value::String(name))) = (lane, request.get_mut("stream_id")) {
        name.extend(["_", &number.to_string()]);
    }
    let create = dialect.framing.create.map(|create| ("type".to_owned(), create.into()));
    let mut message = Map::from_iter(create);
    message.extend(request.into_iter().filter(|(name, _)| !OF_HTTP.contains(&name.as_str())));
    Value::Object(message).to_string()
}

#[cfg(test)]
mod tests {
    use catalogue::SCENARIOS;

    use super::*;

    #[test]
    fn nothing_of_http_is_said_on_a_websocket() {
        let openai = spec::dialect("openai").unwrap();
        for scenario in SCENARIOS.iter().filter(|scenario| is_sent(scenario)) {
            let before = PreviousResponse { id: "resp_1".to_owned(), ..PreviousResponse::default() };
            let asked = RequestContext { model: "m", given: &Given::new(), number: 1, seed: &Seed::NONE };
            let text = message(scenario, None, &asked, Some(&before), openai);
            let message: Value = serde_json::from_str(&text).unwrap();
            let kind = match scenario.operation {
                Operation::Steer => "response.steer",
                Operation::Inject => "response.inject",
                _ => "response.create",
            };
            assert_eq!(message["type"], kind);
            assert!(OF_HTTP.iter().all(|name| message.get(name).is_none()), "{text}");
            assert!(message.get("previous_response_id") != Some(&"previous".into()), "{text}");
        }
    }

    #[test]
    fn what_is_continued_is_said_on_the_same_connection() {
        let mut cases = Vec::new();
        let dialect = spec::dialect("open-responses").unwrap();
        add(&mut cases, SCENARIOS.iter(), dialect, &Rules::of(dialect), &Offer::All);
        let turns = |name: &str| -> Vec<&str> {
            let case = cases.iter().find(|case| case.name == name).unwrap();
            assert_eq!(case.unfit, None);
            case.turns.iter().map(|turn| turn.id).collect()
        };
        assert_eq!(turns("text/hello.ws"), ["text/hello"]);
        assert_eq!(turns("state/continued.ws"), ["state/stored", "state/continued"]);
        assert!(cases.iter().all(|case| case.name != "error/not-stored.ws"), "HTTP forgets it");
        let wave = spec::dialect("wave").unwrap();
        let mut cases = Vec::new();
        add(&mut cases, SCENARIOS.iter(), wave, &Rules::of(wave), &Offer::All);
        assert!(
            cases
                .iter()
                .all(|case| case.unfit.as_ref().is_some_and(|unfit| unfit.reason == "wave has no WebSocket"))
        );
    }
}
