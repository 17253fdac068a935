//! Rules of clients, and rules and cases of `conformance between`.

use serde_json::{Value, json};

pub(super) fn rules(rules: &[catalogue::TestRule]) -> Vec<Value> {
    let rule = |rule: &catalogue::TestRule| {
        json!({
            "id": rule.id,
            "level": rule.level.name(),
            "title": rule.title,
            "authority": rule.authority.name(),
            "clause": rule.clause,
            "citations": rule.citations.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "threads": rule.threads,
            "fix": rule.fix,
            "modes": rule.modes.iter().map(|mode| mode.name()).collect::<Vec<_>>(),
            "since": rule.since,
        })
    };
    rules.iter().map(rule).collect()
}

pub(super) fn cases() -> Vec<Value> {
    let case = |case: &catalogue::BetweenCase| {
        json!({
            "id": case.id,
            "title": case.title,
            "question": serde_json::from_str::<Value>(case.question).unwrap_or_default(),
            "answers": case.answers,
            "fronts": case.fronts,
            "upstreams": case.upstreams,
            "faults": case.faults.iter().map(|fault| fault.name()).collect::<Vec<_>>(),
            "statuses": case.statuses,
        })
    };
    catalogue::BETWEEN_CASES.iter().map(case).collect()
}
