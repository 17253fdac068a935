//! The tests of a run: the cases of each pair of APIs, with their faults.

use catalogue::{BETWEEN_CASES, BetweenCase, HandlingMode, UpstreamFault};
use spec::Dialect;

use crate::dialects::{front_dialect, upstream_dialect};
use crate::evidence::{Fault, REPLAY, Test};
use crate::mark::mark;
use crate::settings::{Pair, Settings};
use crate::upstream::fault_places;

/// The case that is played after each fault: whatever has happened, it is answered.
const AFTER: &str = "text/plain";

/// Returns the case that every gateway can answer.
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
            ..test(settings, pair, &REPLAY, None)
        }));
        if !settings.sessions.is_empty() {
            continue;
        }
        for case in BETWEEN_CASES.iter().filter(|case| can_be(case, pair)) {
            for fault in faults(case, pair) {
                tests.push(test(settings, pair, case, fault));
            }
        }
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

/// Returns when a test is played: those with errors, which a router may remember, are the last.
const fn class(fault: Option<Fault>) -> u8 {
    match fault {
        None => 0,
        Some(Fault::Stream(..)) => 1,
        Some(Fault::Status(_)) => 2,
    }
}

/// Returns the names of all tests of all pairs of APIs, in the order of a run.
pub(crate) fn all_names() -> Vec<String> {
    let mut all: Vec<(u8, String)> = Vec::new();
    for pair in pairs() {
        for case in BETWEEN_CASES.iter().filter(|case| can_be(case, &pair)) {
            all.extend(faults(case, &pair).into_iter().map(|fault| (class(fault), name(&pair, case, fault))));
        }
    }
    all.sort_by_key(|(class, _)| *class);
    all.into_iter().map(|(_, name)| name).collect()
}

/// Returns the names of all tests of a case, by pair of APIs.
pub fn names_of(case: &'static BetweenCase) -> Vec<(String, Vec<String>)> {
    pairs()
        .filter(|pair| can_be(case, pair))
        .map(|pair| (pair.name(), names(case, &pair).collect()))
        .collect()
}

/// Returns the names of all tests of a pair of APIs, `FRONT-UPSTREAM`; none if there is no such pair.
pub fn names_of_pair(name: &str) -> Vec<String> {
    let Some(pair) = pairs().find(|pair| pair.name() == name) else { return Vec::new() };
    let cases = BETWEEN_CASES.iter().filter(|case| can_be(case, &pair));
    cases.flat_map(|case| names(case, &pair)).collect()
}

/// Returns all pairs of APIs.
fn pairs() -> impl Iterator<Item = Pair> {
    let dialects = |of: fn(&spec::Api) -> Option<&'static Dialect>| spec::spoken().filter_map(of);
    dialects(front_dialect).flat_map(move |front| {
        dialects(upstream_dialect).map(move |upstream| Pair::new(front, upstream, HandlingMode::Transform))
    })
}

fn names(case: &BetweenCase, pair: &Pair) -> impl Iterator<Item = String> {
    faults(case, pair).into_iter().map(|fault| name(pair, case, fault))
}

fn name(pair: &Pair, case: &BetweenCase, fault: Option<Fault>) -> String {
    format!("{}/{}{}", pair.name(), case.id, fault.map(suffix).unwrap_or_default())
}

fn can_be(case: &BetweenCase, pair: &Pair) -> bool {
    let is_in = |apis: &[&str], api: &str| apis.is_empty() || apis.contains(&api);
    is_in(case.fronts, pair.front.api.name) && is_in(case.upstreams, pair.upstream.api.name)
}

/// Returns the faults of a case, each of which is a test; without any, there is one test.
fn faults(case: &BetweenCase, pair: &Pair) -> Vec<Option<Fault>> {
    let at_places =
        |fault| fault_places(case, pair.upstream).into_iter().map(move |place| Fault::Stream(fault, place));
    let of_stream = case.faults.iter().copied().flat_map(at_places);
    // An error before any event is one of the statuses.
    let of_stream = of_stream.filter(|fault| *fault != Fault::Stream(UpstreamFault::Error, 0));
    let statuses = case.statuses.iter().map(|status| Fault::Status(*status));
    let faults: Vec<_> = of_stream.chain(statuses).map(Some).collect();
    if faults.is_empty() { vec![None] } else { faults }
}

pub(crate) fn test(
    settings: &Settings,
    pair: &Pair,
    case: &'static BetweenCase,
    fault: Option<Fault>,
) -> Test {
    Test {
        name: name(pair, case, fault),
        case,
        front: pair.front,
        upstream: pair.upstream,
        mode: pair.mode,
        fault,
        mark: String::new(),
        model: settings.model.clone(),
        retries: settings.retries,
        passes_key: settings.passes_key,
        drains: settings.drains,
        is_limit_known: settings.is_limit_known,
    }
}

/// Returns the end of the name of a test with a fault.
fn suffix(fault: Fault) -> String {
    match fault {
        Fault::Status(status) => format!("@{status}"),
        Fault::Stream(fault, place) => format!("@{}:{place}", fault.name()),
    }
}
