//! The tests of a run: the cases of each pair of APIs, with their faults.

use catalogue::{AGENT_PROFILES, AgentProfile, BETWEEN_CASES, BetweenCase, HandlingMode, UpstreamFault};
use results::Declared;
use spec::Dialect;

use crate::dialects::{front_dialect, upstream_dialect};
use crate::evidence::{Fault, REPLAY, Test};
use crate::mark::mark;
use crate::settings::{Pair, Settings};
use crate::upstream::fault_places;

/// The case that is played after each fault: whatever has happened, it is answered.
const AFTER: &str = "text/plain";

/// Every gateway can answer it.
pub(crate) fn plain() -> Option<&'static BetweenCase> {
    catalogue::BETWEEN_CASES.iter().find(|case| case.id == AFTER)
}

/// Returns the selected tests. Those that a gateway may remember, as a router does that avoids an upstream which fails,
/// are the last.
pub fn tests(settings: &Settings) -> Vec<Test> {
    let mut tests = Vec::new();
    for pair in &settings.pairs {
        let own = settings.sessions.iter().filter(|session| session.front.name == pair.front.name);
        tests.extend(own.map(|session| Test {
            name: format!("{}/{}", pair.name(), session.test_name()),
            ..test(settings, pair, Variant::plain(&REPLAY))
        }));
        if !settings.sessions.is_empty() {
            continue;
        }
        let cases = BETWEEN_CASES.iter().filter(|case| is_played(case, pair.front, &settings.declared));
        let variants = cases.flat_map(|case| variants(case, pair, &settings.agents));
        tests.extend(variants.map(|variant| test(settings, pair, variant)));
    }
    let is_selected = |test: &Test| {
        settings.selection.includes(&test.name)
            && settings.shard.is_none_or(|shard| shard.has_case(&test.name))
    };
    tests.retain(is_selected);
    tests.sort_by_key(|test| class(test.fault));
    for (number, test) in tests.iter_mut().enumerate() {
        test.mark = mark(2 * number);
    }
    tests
}

/// Some cases need a declaration, and some cannot be played over a WebSocket.
fn is_played(case: &BetweenCase, front: &Dialect, declared: &Declared) -> bool {
    let moves = case.session.as_ref().is_some_and(|session| session.moves_at.is_some());
    let is_socket = declared.websocket && front.api.session.is_some();
    (case.silent_at.is_none() || declared.keeps_alive.is_some() && !is_socket)
        && (!moves || declared.other_model.is_some())
        && !(case.is_whole && is_socket)
}

/// Tests with errors, which a router may remember, are played last.
const fn class(fault: Option<Fault>) -> u8 {
    match fault {
        None => 0,
        Some(Fault::Stream(..)) => 1,
        Some(Fault::Status(_)) => 2,
    }
}

/// The names of all tests of all pairs of APIs, in the order of a run, with sessions behind.
pub(crate) fn all_names() -> Vec<String> {
    let mut all: Vec<(u8, String)> = Vec::new();
    for agents in [Vec::new(), AGENT_PROFILES.iter().collect()] {
        for pair in pairs() {
            let variants = BETWEEN_CASES.iter().flat_map(|case| variants(case, &pair, &agents));
            all.extend(variants.map(|variant| (class(variant.fault), variant.name(&pair))));
        }
    }
    all.sort_by_key(|(class, _)| *class);
    all.into_iter().map(|(_, name)| name).collect()
}

/// The names of all tests of a case, by pair of APIs.
pub fn names_of(case: &'static BetweenCase) -> Vec<(String, Vec<String>)> {
    let agents: Vec<_> = case.played_by().collect();
    let names = |pair: Pair| {
        let names: Vec<_> = variants(case, &pair, &agents).iter().map(|it| it.name(&pair)).collect();
        (!names.is_empty()).then(|| (pair.name(), names))
    };
    pairs().filter_map(names).collect()
}

/// The names of all tests of a pair of APIs, `FRONT-UPSTREAM`, as agents play it, or without any; none if there is no such pair.
pub fn names_of_pair(name: &str, agents: &[&'static AgentProfile], declared: &Declared) -> Vec<String> {
    let Some(pair) = pairs().find(|pair| pair.name() == name) else { return Vec::new() };
    let cases = BETWEEN_CASES.iter().filter(|case| is_played(case, pair.front, declared));
    let variants = cases.flat_map(|case| variants(case, &pair, agents));
    variants.map(|variant| variant.name(&pair)).collect()
}

fn pairs() -> impl Iterator<Item = Pair> {
    let dialects = |of: fn(&spec::Api) -> Option<&'static Dialect>| spec::spoken().filter_map(of);
    dialects(front_dialect).flat_map(move |front| {
        dialects(upstream_dialect).map(move |upstream| Pair::new(front, upstream, HandlingMode::Transform))
    })
}

#[derive(Clone, Copy)]
pub(crate) struct Variant {
    case: &'static BetweenCase,
    agent: Option<&'static AgentProfile>,
    fault: Option<Fault>,
}

impl Variant {
    pub(crate) const fn plain(case: &'static BetweenCase) -> Self {
        Self { case, agent: None, fault: None }
    }

    fn name(&self, pair: &Pair) -> String {
        let Self { case, agent, fault } = self;
        let suffix = fault.map(suffix).unwrap_or_default();
        let case = match (agent, case.id.split_once('/')) {
            (Some(agent), Some((group, name))) => format!("{group}/{}/{name}", agent.name()),
            _ => case.id.to_owned(),
        };
        format!("{}/{case}{suffix}", pair.name())
    }
}

/// A case as it is played: with each of its faults, by each agent that speaks the client's API. Without agents, there are
/// no sessions, and with them, nothing else.
fn variants(case: &'static BetweenCase, pair: &Pair, agents: &[&'static AgentProfile]) -> Vec<Variant> {
    let is_in = |apis: &[&str], api: &str| apis.is_empty() || apis.contains(&api);
    if !is_in(case.fronts, pair.front.api.name) || !is_in(case.upstreams, pair.upstream.api.name) {
        return Vec::new();
    }
    let players: Vec<Option<&AgentProfile>> = if case.session.is_some() {
        let own = case.played_by().filter(|profile| profile.api() == pair.front.api.name);
        own.filter(|profile| agents.iter().any(|agent| agent.id == profile.id)).map(Some).collect()
    } else {
        agents.is_empty().then_some(None).into_iter().collect()
    };
    let of_player =
        |agent| faults(case, agent, pair).into_iter().map(move |fault| Variant { case, agent, fault });
    players.into_iter().flat_map(of_player).collect()
}

/// Each fault of a case is a test; without any, there is one test.
fn faults(case: &BetweenCase, agent: Option<&AgentProfile>, pair: &Pair) -> Vec<Option<Fault>> {
    // Without an upstream, nothing fails.
    if pair.mode == HandlingMode::Local && agent.is_some() {
        return if case.faults.is_empty() && case.statuses.is_empty() { vec![None] } else { Vec::new() };
    }
    let at_places = |fault| {
        let places = fault_places(case, agent, pair.upstream);
        places.into_iter().map(move |place| Fault::Stream(fault, place))
    };
    let of_stream = case.faults.iter().copied().flat_map(at_places);
    // An error before any event is one of the statuses.
    let of_stream = of_stream.filter(|fault| *fault != Fault::Stream(UpstreamFault::Error, 0));
    let statuses = case.statuses.iter().map(|status| Fault::Status(*status));
    let faults: Vec<_> = of_stream.chain(statuses).map(Some).collect();
    if faults.is_empty() { vec![None] } else { faults }
}

pub(crate) fn test(settings: &Settings, pair: &Pair, variant: Variant) -> Test {
    Test {
        name: variant.name(pair),
        case: variant.case,
        agent: variant.agent,
        front: pair.front,
        upstream: pair.upstream,
        mode: pair.mode,
        fault: variant.fault,
        mark: String::new(),
        model: settings.model.clone(),
        declared: settings.declared.clone(),
        is_limit_known: settings.is_limit_known,
    }
}

fn suffix(fault: Fault) -> String {
    match fault {
        Fault::Status(status) => format!("@{status}"),
        Fault::Stream(fault, place) => format!("@{}:{place}", fault.name()),
    }
}
