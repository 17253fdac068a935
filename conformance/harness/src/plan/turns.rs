//! WebSocket conversations: scenarios as turns.

use catalogue::{OnSocket, Scenario};
use serde_json::Value;
use spec::table::Operation;
use spec::{Api, Dialect};

use super::case::ScenarioCase;
use super::fit::unfit_turns;
use super::offer::Offer;
use super::seed::Seed;
use super::trials::trials;
use checker::Rules;
use results::Transport;

/// Each case on a WebSocket has a separate connection, and also sends the turns that it continues.
pub(super) fn add(
    cases: &mut Vec<ScenarioCase>,
    scenarios: impl Iterator<Item = &'static Scenario>,
    dialect: &'static Dialect,
    rules: &Rules,
    offer: &Offer,
) {
    for scenario in scenarios.filter(|scenario| is_sent(scenario, dialect.api)) {
        add_case(cases, scenario, dialect, rules, offer);
    }
}

fn add_case(
    cases: &mut Vec<ScenarioCase>,
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
    let elsewhere = turns.first().and_then(|first| first.before());
    let previous = elsewhere.map(|previous| add_case(cases, previous, dialect, rules, offer));
    cases.push(ScenarioCase {
        api: dialect.api,
        name,
        scenario,
        is_twin: false,
        previous,
        compared: None,
        unfit: unfit_turns(&turns, dialect, offer),
        optional: None,
        says: Seed::NONE.says(scenario),
        trials: trials(scenario, Transport::Websocket, dialect, rules),
        turns,
    });
    cases.len() - 1
}

/// This scenario must come earlier on the same connection.
fn on_connection(scenario: &Scenario) -> Option<&'static Scenario> {
    let is_anew = scenario.websocket == Some(OnSocket::Anew);
    scenario.before().filter(|_| !is_anew)
}

/// On a WebSocket, a scenario is a single message, and does not depend on HTTP being stateless.
pub(super) fn is_sent(scenario: &Scenario, api: &Api) -> bool {
    let Ok(Value::Object(request)) = serde_json::from_str(scenario.request) else { return false };
    let is = |name: &str| request.get(name) == Some(&Value::Bool(true));
    let is_forgotten = !scenario.status.is_empty() && scenario.previous.is_some();
    // A connection has one key.
    let is_odd = scenario.malformed || scenario.unknown_key;
    let is_whole = scenario.operation == Operation::Create && scenario.cut_after.is_none() && !is_odd;
    let is_in_background = api.request.background.is_some_and(is);
    let is_plain = is_whole && is("stream") && !is_in_background && !is_forgotten;
    let before = scenario.before();
    scenario.websocket.is_some() || is_plain && before.is_none_or(|before| is_sent(before, api))
}

#[cfg(test)]
mod tests {
    use catalogue::SCENARIOS;

    use super::*;

    #[test]
    fn what_is_continued_is_said_on_the_same_connection() {
        let mut cases = Vec::new();
        let dialect = spec::dialect("open-responses").unwrap();
        let own = SCENARIOS.iter().filter(|scenario| scenario.applies_to(dialect));
        add(&mut cases, own, dialect, &Rules::of(dialect), &Offer::All);
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
        let own = SCENARIOS.iter().filter(|scenario| scenario.applies_to(wave));
        add(&mut cases, own, wave, &Rules::of(wave), &Offer::All);
        assert!(
            cases
                .iter()
                .all(|case| case.unfit.as_ref().is_some_and(|unfit| unfit.reason == "wave has no WebSocket"))
        );
    }
}
