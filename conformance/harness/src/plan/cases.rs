//! All cases of a dialect, in the order of sending.

use catalogue::{SCENARIOS, Scenario};
use spec::Dialect;

use super::case::ScenarioCase;
use super::fit::unfit_scenario;
use super::offer::Offer;
use super::seed::Seed;
use super::trials::trials;
use super::turns;
use checker::Rules;
use results::{Judgement, Transport};

/// Groups of plain scenarios, in order. Others follow by name, and errors, which may break an endpoint, come last.
const PLAIN: [&str; 4] = ["text", "call", "format", "truncation"];

/// The simplest scenario comes first, as its failures occur everywhere.
fn rank(scenario: &Scenario) -> (bool, usize, bool) {
    let group = catalogue::group(scenario.id);
    let place = PLAIN.iter().position(|plain| *plain == group).unwrap_or(PLAIN.len());
    (group == "error", place, scenario.id != "text/hello")
}

/// Returns all cases for a dialect and these transports, plain ones first. A case that others continue precedes them.
/// Cases that may keep an endpoint busy for long come last, so that no other request waits for them.
pub fn cases(
    dialect: &'static Dialect,
    rules: &Rules,
    offer: &Offer,
    transports: &[Transport],
) -> Vec<ScenarioCase> {
    let mut cases: Vec<ScenarioCase> = Vec::new();
    let mut ordered: Vec<&'static Scenario> =
        SCENARIOS.iter().filter(|scenario| scenario.applies_to(dialect)).collect();
    ordered.sort_by_cached_key(|scenario| rank(scenario));
    for is_long in [false, true] {
        let chosen = || ordered.iter().copied().filter(|scenario| scenario.fill.is_some() == is_long);
        for scenario in chosen().filter(|scenario| scenario.websocket.is_none()) {
            add(&mut cases, scenario, dialect, rules, offer);
        }
        if transports.contains(&Transport::Websocket) && dialect.api.session.is_some() {
            turns::add(&mut cases, chosen(), dialect, rules, offer);
        }
    }
    for case in cases.iter_mut().filter(|case| !transports.contains(&case.transport())) {
        // The case is still sent if others continue it.
        case.trials.clear();
    }
    cases
}

fn add(
    cases: &mut Vec<ScenarioCase>,
    scenario: &'static Scenario,
    dialect: &'static Dialect,
    rules: &Rules,
    offer: &Offer,
) -> Option<usize> {
    let is_it = |case: &ScenarioCase| case.scenario.id == scenario.id && !case.is_twin;
    if let Some(at) = cases.iter().position(is_it) {
        return Some(at);
    }
    let previous = scenario.before();
    let previous = previous.and_then(|previous| add(cases, previous, dialect, rules, offer));
    for is_twin in [false, true].into_iter().take(1 + usize::from(scenario.twin)) {
        let stream = cases.len().checked_sub(1);
        let not_before = previous.and_then(|at| cases.get(at)).and_then(|before| {
            let reason = format!("{} is not in --transport", before.name);
            Some(Judgement { reason, ..before.unfit.clone()? })
        });
        let transport = if is_twin { Transport::Json } else { Transport::Sse };
        cases.push(ScenarioCase {
            name: format!("{}{}", scenario.id, transport.suffix()),
            scenario,
            api: dialect.api,
            is_twin,
            previous,
            compared: if is_twin {
                stream
            } else {
                previous.filter(|_| !scenario.operation.has_body() && scenario.status.is_empty())
            },
            unfit: unfit_scenario(scenario, is_twin, dialect, offer).or(not_before),
            optional: scenario.route_feature().filter(|feature| !offer.claims(feature)),
            says: Seed::NONE.says(scenario),
            trials: trials(scenario, transport, dialect, rules),
            turns: Vec::new(),
        });
    }
    cases.iter().position(is_it)
}

#[cfg(test)]
mod tests {
    use spec::table::Operation;

    use super::*;

    #[test]
    fn what_is_continued_comes_first() {
        let dialect = spec::DIALECTS.iter().find(|dialect| dialect.name == "openai").copied().unwrap();
        let cases =
            cases(dialect, &Rules::of(dialect), &Offer::Only(vec!["store".to_owned()]), &Transport::ALL);
        assert!(cases.len() > 40);
        for (at, case) in cases.iter().enumerate() {
            let is_continued = case.turns.len() < 2 && case.scenario.previous.is_some();
            assert_eq!(case.previous.is_some(), is_continued, "{}", case.name);
            assert!(case.previous.is_none_or(|previous| previous < at), "{}", case.name);
            let is_offered = case.scenario.features.iter().all(|feature| *feature == "store");
            assert_eq!(case.unfit.is_none(), is_offered, "{}", case.name);
            assert!(case.compared.is_none_or(|compared| compared < at), "{}", case.name);
            let operation = case.scenario.operation;
            let is_created = operation == Operation::Create || operation.is_aside();
            let is_claimed = is_created && !case.scenario.features.contains(&"background");
            assert_eq!(case.optional.is_none(), is_claimed, "{}", case.name);
            assert!(case.trials.len() > 3, "{}: {:?}", case.name, case.trials);
        }
        assert_eq!(cases.first().map(|case| &*case.name), Some("text/hello"));
        let first_long = cases.iter().position(|case| case.scenario.fill.is_some());
        assert!(first_long.is_some_and(|at| cases.iter().skip(at).all(|case| case.scenario.fill.is_some())));
    }

    #[test]
    fn dialects_are_asked_only_for_what_they_have() {
        for (dialect, name, reason) in [
            ("openai", "text/hello.json", None),
            ("wave", "text/hello.json", Some("wave has no non-streaming responses")),
            ("wave", "text/refusal", Some("wave has no response.refusal.delta")),
            ("wave", "error/wrong-type", Some("wave defines no requests")),
            ("open-responses", "format/json-object", Some("open-responses has no such request")),
        ] {
            let dialect = spec::DIALECTS.iter().find(|known| known.name == dialect).copied().unwrap();
            let cases = cases(dialect, &Rules::of(dialect), &Offer::All, &Transport::ALL);
            let case = cases.iter().find(|case| case.name == name).unwrap();
            assert_eq!(case.unfit.as_ref().map(|unfit| &*unfit.reason), reason, "{name}");
        }
    }
}
