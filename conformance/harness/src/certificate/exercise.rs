//! Which responses exercise a rule.

use std::collections::BTreeSet;

use catalogue::{LooksAt, Rule};
use spec::Dialect;
use spec::table::Scope;

use crate::judge::Attempt;
use crate::plan::ScenarioCase;

fn is_of_bodies(rule: &Rule) -> bool {
    rule.looks_at.contains(&LooksAt::Body) && !rule.looks_at.contains(&LooksAt::Stream)
}

/// Returns why a recording cannot exercise a rule.
pub fn unseen(report: &results::CaptureReport, rule: &Rule) -> Option<&'static str> {
    use recordings::capture::Format;

    let has_heads =
        matches!(report.format, Some(Format::Http | Format::Har | Format::Cassette | Format::Exchange));
    let looks_at = |what| rule.looks_at.contains(&what);
    if looks_at(LooksAt::Head) && !has_heads {
        Some("it has no headers")
    } else if is_of_bodies(rule) {
        (report.bodies == report.unjudged).then_some("it has no non-streaming response")
    } else if looks_at(LooksAt::Socket) && report.format != Some(Format::WebSocket) {
        Some("it is not of a WebSocket")
    } else {
        (report.events == 0).then_some("it has no events")
    }
}

pub(super) fn exercises(case: &ScenarioCase, attempt: &Attempt, rule: &Rule, dialect: &Dialect) -> bool {
    let names_it = case.scenario.rules.contains(&rule.id);
    if is_of_bodies(rule) {
        return attempt.report.bodies > 0 && (names_it || !rule.only_named);
    }
    if attempt.report.events == 0 {
        return false;
    }
    if rule.looks_at.contains(&LooksAt::Socket) {
        // Only scenarios define which turns continue, refuse or overlap.
        return names_it && !case.turns.is_empty();
    }
    let seen = scopes(attempt, dialect);
    let is_seen =
        || rule.exercised_by.is_empty() || rule.exercised_by.iter().any(|scope| seen.contains(scope));
    names_it || !rule.only_named && is_seen()
}

fn scopes(attempt: &Attempt, dialect: &Dialect) -> BTreeSet<Scope> {
    let events = attempt.facts.events.keys().filter_map(|event| dialect.named(event));
    events.flat_map(|event| dialect.api.with_parents(event.scope)).collect()
}
