//! Cases: a scenario or its non-streaming twin, with its trials.

use catalogue::{OnSocket, SCENARIOS, Scenario};
use serde_json::Value;
use spec::Dialect;
use spec::table::Operation;

use super::call::{Call, Given, PreviousResponse, RequestContext, is_previous_output, not_given};
use super::crowd::PLACEHOLDER;
use super::facts::lacks;
use super::seed::Seed;
use super::trials::trials;
use super::turns;
use checker::Rules;
use results::{Judgement, OTHER_RULES, Options, Transport, UndecidedKind, Verdict};

/// A request, and the trials of its response.
#[derive(Debug, Clone)]
pub struct Case {
    /// Its name: that of the scenario, followed by `.json` for a twin.
    pub name: String,
    /// The scenario.
    pub scenario: &'static Scenario,
    /// Whether it is the non-streaming twin.
    pub is_twin: bool,
    /// Index of the case whose response it continues or refers to.
    pub previous: Option<usize>,
    /// Index of the case whose response must agree with its own.
    pub compared: Option<usize>,
    /// Its verdict, if it is not sent.
    pub unfit: Option<Judgement>,
    /// The feature of its operation, unless the endpoint claims to support it: its route may be missing.
    pub optional: Option<&'static str>,
    /// The words that one of its responses must contain.
    pub says: Option<String>,
    /// Its trials.
    pub trials: Vec<About>,
    /// The turns on a WebSocket, with its own turn as the last; empty over HTTP.
    pub turns: Vec<&'static Scenario>,
}

/// The subject of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum About {
    /// Whether the response is the requested one, and complete.
    Answer,
    /// Whether the response agrees with the one that it refers to, or with its twin.
    Agrees,
    /// Whether concurrent responses are isolated.
    Apart,
    /// The rules of a group.
    Group(&'static str),
    /// All other rules.
    Rest,
}

impl About {
    /// Returns the suffix of the name of the trial.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Answer => "answer",
            Self::Agrees => "agrees",
            Self::Apart => "apart",
            Self::Group(group) => group,
            Self::Rest => OTHER_RULES,
        }
    }
}

/// The features that an endpoint supports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Offer {
    /// All features.
    All,
    /// These features only.
    Only(Vec<String>),
    /// All features except these.
    Without(Vec<String>),
}

impl Offer {
    /// Returns the features that the endpoint of a run supports.
    pub fn of(options: &Options) -> Self {
        match &options.features {
            Some(features) => {
                let is_there = |feature: &&String| !options.lacks.contains(*feature);
                Self::Only(features.iter().filter(is_there).cloned().collect())
            }
            None if options.lacks.is_empty() => Self::All,
            None => Self::Without(options.lacks.clone()),
        }
    }

    /// Returns whether a feature may be supported.
    pub(super) fn allows(&self, feature: &str) -> bool {
        match self {
            Self::All => true,
            Self::Only(features) => features.iter().any(|offered| offered == feature),
            Self::Without(features) => features.iter().all(|lacking| lacking != feature),
        }
    }

    /// Returns whether a feature was explicitly listed as supported.
    fn claims(&self, feature: &str) -> bool {
        matches!(self, Self::Only(_)) && self.allows(feature)
    }
}

/// Groups of plain scenarios, in order. Others follow by name, and errors, which may break an endpoint, come last.
const PLAIN: [&str; 4] = ["text", "call", "format", "truncation"];

/// Returns the place of a scenario: the simplest one first, as what fails there fails everywhere.
fn rank(scenario: &Scenario) -> (bool, usize, bool) {
    let group = catalogue::group(scenario.id);
    let place = PLAIN.iter().position(|plain| *plain == group).unwrap_or(PLAIN.len());
    (group == "error", place, scenario.id != "text/hello")
}

/// Returns all cases for a dialect and these transports, plain ones first. A case that others continue precedes them.
/// Cases that may keep an endpoint busy for long come last, so that no other request waits for them.
pub fn cases(dialect: &'static Dialect, rules: &Rules, offer: &Offer, transports: &[Transport]) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    let mut ordered: Vec<&'static Scenario> = SCENARIOS.iter().collect();
    ordered.sort_by_key(|scenario| rank(scenario));
    for is_long in [false, true] {
        let chosen = || ordered.iter().copied().filter(|scenario| scenario.fill.is_some() == is_long);
        for scenario in chosen().filter(|scenario| scenario.websocket.is_none()) {
            add(&mut cases, scenario, dialect, rules, offer);
        }
        if transports.contains(&Transport::Websocket) {
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
    cases: &mut Vec<Case>,
    scenario: &'static Scenario,
    dialect: &'static Dialect,
    rules: &Rules,
    offer: &Offer,
) -> Option<usize> {
    let is_it = |case: &Case| case.scenario.id == scenario.id && !case.is_twin;
    if let Some(at) = cases.iter().position(is_it) {
        return Some(at);
    }
    let previous = scenario.previous.and_then(catalogue::scenario);
    let previous = previous.and_then(|previous| add(cases, previous, dialect, rules, offer));
    for is_twin in [false, true].into_iter().take(1 + usize::from(scenario.twin)) {
        let stream = cases.len().checked_sub(1);
        let not_before = previous.and_then(|at| cases.get(at)).and_then(|before| {
            let reason = format!("{} is not in --transport", before.name);
            Some(Judgement { reason, ..before.unfit.clone()? })
        });
        let transport = if is_twin { Transport::Json } else { Transport::Sse };
        cases.push(Case {
            name: format!("{}{}", scenario.id, transport.suffix()),
            scenario,
            is_twin,
            previous,
            compared: if is_twin {
                stream
            } else {
                previous.filter(|_| !scenario.operation.has_body() && scenario.status.is_empty())
            },
            unfit: fitting(scenario, is_twin, dialect, offer).or(not_before),
            optional: scenario.route_feature().filter(|feature| !offer.claims(feature)),
            says: says(scenario, &Seed::NONE),
            trials: trials(scenario, transport, dialect, rules),
            turns: Vec::new(),
        });
    }
    cases.iter().position(is_it)
}

/// Returns the verdict on a scenario that is not sent.
pub(super) fn fitting(
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

/// Returns why a scenario is not for a dialect.
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
    if is_json && dialect.root("response").is_none() {
        return Some(format!("{name} has no non-streaming responses"));
    }
    if !operation.has_body() {
        return None;
    }
    let root = match operation {
        Operation::Compact => "compact_request",
        Operation::Steer | Operation::Inject => "websocket_request",
        _ => "request",
    };
    let request = without_previous_output(&Seed::NONE.fill(scenario.request, scenario));
    match (dialect.root(root), scenario.status.is_empty()) {
        // Only a dialect that defines requests can define which ones to refuse.
        (None, false) => Some(format!("{name} defines no requests")),
        (Some(root), true) if !dialect.check_type(root, &request).is_valid() => {
            Some(format!("{name} has no such request"))
        }
        _ => None,
    }
}

/// Returns the rule that a scenario is about, if only other dialects have that rule.
fn foreign_rule(dialect: &Dialect, scenario: &Scenario) -> Option<&'static str> {
    let is_foreign = |id: &&&'static str| {
        let only_in = catalogue::rule(id).map_or(&[][..], |rule| rule.only_in);
        !only_in.is_empty() && !only_in.iter().any(|name| dialect.is_or_extends(name))
    };
    let all = scenario.rules.iter().all(|id| is_foreign(&id));
    scenario.rules.first().filter(|_| all).copied()
}

/// Returns a request without the values from the previous response.
fn without_previous_output(request: &str) -> String {
    let Ok(mut request) = serde_json::from_str::<Value>(request) else { return request.to_owned() };
    if let Some(entries) = request.get_mut("input").and_then(Value::as_array_mut) {
        entries.retain(|entry| !is_previous_output(entry));
    }
    request.to_string()
}

/// Returns the words that a run with this seed expects in the response.
pub(super) fn says(scenario: &Scenario, seed: &Seed) -> Option<String> {
    scenario.says.map(|words| seed.fill(words, scenario))
}

pub(super) fn wants_stream(scenario: &Scenario, is_twin: bool) -> bool {
    let is_stream = match scenario.operation {
        Operation::Create => spec::json::at(scenario.request, "/stream") == Some("true"),
        operation => operation == Operation::Resume || operation.is_aside(),
    };
    is_stream && !is_twin && scenario.status.is_empty()
}

/// Returns whether each request has a unique mark, so that many can be sent concurrently.
pub(super) fn is_marked(scenario: &Scenario, is_twin: bool) -> bool {
    !is_twin && scenario.request.contains(PLACEHOLDER)
}

impl Case {
    /// Skips the case if it requires a value that was not given.
    pub fn give(&mut self, given: &Given) {
        if self.unfit.is_none() {
            self.unfit = not_given(self.scenario, given);
        }
    }

    /// Expects the words that a run with this seed requests.
    pub fn expect(&mut self, seed: &Seed) {
        self.says = says(self.scenario, seed);
    }

    /// Returns the name of one of its trials.
    pub fn trial(&self, about: About) -> String {
        format!("{}::{}", self.name, about.name())
    }

    /// Returns the name of the trial of its shape.
    pub fn shape(&self) -> String {
        format!("{}::snapshot", self.name)
    }

    /// Returns whether its response consists of events.
    pub fn has_stream(&self) -> bool {
        self.wants_stream() || self.transport() == Transport::Websocket
    }

    /// Returns whether the order of its events depends on timing: several lanes, or messages during a response.
    pub fn is_mixed(&self) -> bool {
        self.turns.iter().any(|turn| {
            let is_in_lane = || spec::json::at(turn.request, "/stream_id").is_some();
            match turn.websocket {
                Some(OnSocket::During) => true,
                Some(OnSocket::Ahead) => is_in_lane(),
                _ => turn.lanes.is_some(),
            }
        })
    }

    /// Returns the limit of tokens that is to cut its response.
    pub(super) fn limit(&self) -> Option<u64> {
        let is_cut = self.scenario.elicits.contains(&"response.incomplete");
        spec::json::at(self.scenario.request, "/max_output_tokens").filter(|_| is_cut)?.parse().ok()
    }

    /// Returns the statuses that its response may have.
    pub(super) const fn expected_status(&self) -> &'static [u16] {
        if self.scenario.status.is_empty() { &[200] } else { self.scenario.status }
    }

    /// Returns its transport.
    pub const fn transport(&self) -> Transport {
        match (self.turns.is_empty(), self.is_twin) {
            (false, _) => Transport::Websocket,
            (true, true) => Transport::Json,
            (true, false) => Transport::Sse,
        }
    }

    /// Returns the number of its requests.
    pub fn requests(&self) -> usize {
        turns::messages(&self.turns).count().max(1)
    }

    /// Returns its request.
    pub fn call(&self, asked: &RequestContext<'_>, before: Option<&PreviousResponse>) -> Call {
        Call::of(self.scenario, asked, before, self.is_twin)
    }

    /// Returns whether each request has a unique mark, so that many can be sent concurrently.
    pub fn is_marked(&self) -> bool {
        is_marked(self.scenario, self.is_twin)
    }

    /// Returns whether its response is a part of a stream: the start, or the rest of one.
    pub fn is_part(&self) -> bool {
        self.scenario.cut_after.is_some() || self.scenario.operation == Operation::Resume
    }

    /// Returns whether its response should be a stream.
    pub fn wants_stream(&self) -> bool {
        wants_stream(self.scenario, self.is_twin)
    }
}

#[cfg(test)]
mod tests {
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
