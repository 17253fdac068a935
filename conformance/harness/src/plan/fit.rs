//! Why scenarios are not sent to an endpoint: it lacks a feature, or its dialect has no such request.

use catalogue::Scenario;
use serde_json::Value;
use spec::table::Operation;
use spec::{Api, Dialect};

use super::body::RequestContext;
use super::call::wants_stream;
use super::given::Given;
use super::messages::{is_in_lane, message};
use super::offer::Offer;
use super::previous::{PreviousResponse, is_previous_output};
use super::seed::Seed;
use results::{Judgement, UndecidedKind, Verdict};

pub(super) fn unfit_scenario(
    scenario: &Scenario,
    is_twin: bool,
    dialect: &Dialect,
    offer: &Offer,
) -> Option<Judgement> {
    if let Some(feature) = scenario.features.iter().find(|feature| !offer.allows(feature)) {
        let reason = match offer {
            Offer::Without(_) => format!("the endpoint lacks {feature} (--without)"),
            _ => format!("{feature} is not in --features"),
        };
        return Some(Judgement::undecided(Verdict::NotExercised, UndecidedKind::NotOffered, reason));
    }
    foreign(scenario, is_twin, dialect).map(|reason| Judgement::new(Verdict::NotExercised, reason))
}

pub(super) fn unfit_turns(
    turns: &[&'static Scenario],
    dialect: &'static Dialect,
    offer: &Offer,
) -> Option<Judgement> {
    let lacks =
        |what: &str| Some(Judgement::new(Verdict::NotExercised, format!("{} has no {what}", dialect.name)));
    if !dialect.framing.websocket {
        return lacks("WebSocket");
    }
    if !dialect.framing.lanes && turns.iter().any(|turn| is_in_lane(turn, dialect.api)) {
        return lacks("lanes on a WebSocket");
    }
    let unfit = turns.iter().find_map(|turn| unfit_scenario(turn, false, dialect, offer));
    unfit.or_else(|| {
        let root = dialect.root(dialect.api.session?.request)?;
        let context = RequestContext { model: "default", given: &Given::new(), number: 1, seed: &Seed::NONE };
        let id = format!("{}1", dialect.api.request.id_prefix);
        let before = PreviousResponse { id, ..PreviousResponse::default() };
        // A request that must be refused may be megabytes long.
        let is_served = |turn: &&&'static Scenario| turn.status.is_empty();
        let refused = |turn: &&&'static Scenario| {
            let message = message(turn, None, &context, Some(&before), dialect);
            !dialect.check_type(root, &message).is_valid()
        };
        turns.iter().filter(is_served).find(refused).and_then(|_| lacks("such message"))
    })
}

fn foreign(scenario: &Scenario, is_twin: bool, dialect: &Dialect) -> Option<String> {
    let name = dialect.name;
    let operation = scenario.operation;
    if operation != Operation::Create && !dialect.operations.contains(&operation) {
        return Some(format!("{name} has no operation {}", operation.name()));
    }
    if let Some(events) = lacks(dialect, scenario) {
        return Some(format!("{name} has no {events}"));
    }
    if let Some(rule) = foreign_rule(dialect, scenario) {
        return Some(format!("{name} has no rule {rule}"));
    }
    let is_json = scenario.status.is_empty() && !wants_stream(scenario, is_twin);
    let has_body = || dialect.api.root_body().is_some_and(|body| dialect.root(body).is_some());
    if is_json && !dialect.api.is_stream_of_bodies() && !has_body() {
        return Some(format!("{name} has no non-streaming responses"));
    }
    let root = dialect.api.route(operation)?.request?;
    let request = without_previous_output(&Seed::NONE.fill(scenario.request, scenario), dialect.api);
    match (dialect.root(root), scenario.status.is_empty()) {
        // Only a dialect that defines requests can define which ones to refuse.
        (None, false) => Some(format!("{name} defines no requests")),
        (Some(root), true) if !dialect.check_type(root, &request).is_valid() => {
            Some(format!("{name} has no such request"))
        }
        _ => None,
    }
}

fn foreign_rule(dialect: &Dialect, scenario: &Scenario) -> Option<&'static str> {
    let is_foreign = |id: &&&'static str| catalogue::rule(id).is_some_and(|rule| !rule.applies_to(dialect));
    let all = scenario.rules.iter().all(|id| is_foreign(&id));
    scenario.rules.first().filter(|_| all).copied()
}

fn without_previous_output(request: &str, api: &Api) -> String {
    let Ok(mut request) = serde_json::from_str::<Value>(request) else { return request.to_owned() };
    if let Some(entries) = request.get_mut(api.request.input).and_then(Value::as_array_mut) {
        entries.retain(|entry| !is_previous_output(entry));
    }
    request.to_string()
}

fn lacks(dialect: &Dialect, scenario: &Scenario) -> Option<&'static str> {
    let has = |events: &&&str| events.split('|').any(|event| dialect.named(event).is_some());
    scenario.elicits.iter().find(|events| !has(events)).copied()
}
