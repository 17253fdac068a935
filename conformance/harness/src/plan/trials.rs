//! The trials of a scenario.

use std::collections::BTreeSet;

use catalogue::{LooksAt, Rule, Scenario};
use spec::Dialect;
use spec::table::{Operation, Scope};

use super::call::wants_stream;
use super::marks::is_marked;
use checker::Rules;
use results::{OTHER_RULES, Transport};

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
    /// The suffix of the name of the trial.
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

/// There is one trial for each group of rules that the response exercises.
pub(super) fn trials(
    scenario: &Scenario,
    transport: Transport,
    dialect: &Dialect,
    rules: &Rules,
) -> Vec<About> {
    let (is_twin, is_socket) = (transport == Transport::Json, transport == Transport::Websocket);
    let is_stream = wants_stream(scenario, is_twin);
    let seen = Seen {
        input: if is_stream { LooksAt::Stream } else { LooksAt::Body },
        is_socket,
        scopes: scopes(scenario, is_stream, dialect),
    };
    let is_due = |rule: &&Rule| {
        // A message that refuses a request is no body of HTTP.
        let is_there = is_stream || !is_socket || rule.looks_at.contains(&LooksAt::Socket);
        let is_named = is_there && scenario.rules.contains(&rule.id);
        is_named || !rule.only_named && seen.exercises(rule)
    };
    let mut groups: BTreeSet<&str> = BTreeSet::new();
    for rule in rules.iter() {
        // One rule of a group is enough.
        if !groups.contains(rule.group()) && is_due(&rule) {
            groups.insert(rule.group());
        }
    }
    let is_compared = is_twin || !scenario.operation.has_body();
    let agrees = scenario.status.is_empty() && (is_compared || scenario.says.is_some());
    let mut trials = vec![About::Answer];
    trials.extend(agrees.then_some(About::Agrees));
    trials.extend(is_marked(scenario, is_twin).then_some(About::Apart));
    trials.extend(groups.into_iter().map(About::Group));
    trials.push(About::Rest);
    trials
}

struct Seen {
    input: LooksAt,
    is_socket: bool,
    scopes: BTreeSet<Scope>,
}

impl Seen {
    fn exercises(&self, rule: &Rule) -> bool {
        let is_seen = |input: &LooksAt| *input == self.input || self.is_socket && *input == LooksAt::Socket;
        let by = rule.exercised_by;
        rule.looks_at.iter().any(is_seen)
            && (by.is_empty() || by.iter().any(|scope| self.scopes.contains(scope)))
    }
}

/// The scopes of the expected events, with their parents. A body has the scopes of a response.
fn scopes(scenario: &Scenario, is_stream: bool, dialect: &Dialect) -> BTreeSet<Scope> {
    if is_stream {
        let events = scenario.elicits.iter().flat_map(|events| events.split('|'));
        let events = events.filter_map(|event| dialect.named(event));
        return events.flat_map(|event| dialect.api.with_parents(event.scope)).collect();
    }
    let of_response = [Operation::Create, Operation::Retrieve, Operation::Poll, Operation::Cancel];
    let is_response = scenario.status.is_empty() && of_response.contains(&scenario.operation);
    is_response.then_some(dialect.api.root).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::super::cases::cases;
    use super::super::offer::Offer;
    use super::*;

    #[test]
    fn groups_are_judged_where_they_are_exercised() {
        let dialect = spec::dialect("openai").unwrap();
        let cases = cases(dialect, &Rules::of(dialect), &Offer::All, &Transport::ALL);
        let groups = |name: &str| -> Vec<&str> {
            let case = cases.iter().find(|case| case.name == name).unwrap();
            let of_group = |about: &About| if let About::Group(group) = about { Some(*group) } else { None };
            case.trials.iter().filter_map(of_group).collect()
        };
        for (name, expected) in [
            ("call/single", &["call", "item"][..]),
            ("call/custom", &["call", "item"]),
            ("call/single.json", &["response", "schema", "wire"]),
            ("text/hello", &["item", "part", "text"]),
            ("text/hello.ws", &["item", "part", "text", "ws"]),
            ("error/failed-at-once.ws", &["error", "ws"]),
            ("text/hello.json", &["response", "schema", "wire"]),
            ("error/wrong-type", &["error", "schema", "wire"]),
            ("state/deleted", &["schema", "wire"]),
            ("state/retrieved", &["response", "schema", "wire"]),
        ] {
            assert!(expected.iter().all(|group| groups(name).contains(group)), "{name}: {:?}", groups(name));
        }
        for (name, others) in [
            ("text/hello", &["call", "summary", "error", "request", "ws"][..]),
            ("error/wrong-type.ws", &["error", "response"]),
            ("error/wrong-type", &["response"]),
            ("state/deleted", &["response"]),
        ] {
            assert!(others.iter().all(|group| !groups(name).contains(group)), "{name}: {:?}", groups(name));
        }
    }
}
