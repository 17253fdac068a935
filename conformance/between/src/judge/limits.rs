//! The limits of a pair of APIs.

use catalogue::{BETWEEN_LIMITS, BetweenLimit};
use results::BetweenTest;
use results::text::counted;
use translation::{Format, Part, Question};

use super::Turn;
use crate::judge::parts::findings::{Findings, Problem, applies, tail};

/// The group of the rules about requests.
const REQUEST: &str = "request/";

pub(super) fn judge_refusal(findings: &mut Findings<'_>, turn: &Turn<'_>) {
    let Some(response) = turn.response() else { return };
    let pair = [turn.test.front.api.name, turn.test.upstream.api.name];
    let asked = turn.question().unwrap_or_default();
    let is_limit = |limit: &&BetweenLimit| {
        limit.rule.starts_with(REQUEST)
            && applies(limit, pair, turn.test.case.id)
            && has_content(limit.rule, turn, &asked)
    };
    if let Some(limit) =
        BETWEEN_LIMITS.iter().find(is_limit).filter(|_| (400..500).contains(&response.status))
    {
        findings.limits.push([limit.rule.to_owned(), limit.reason.to_owned()]);
        return;
    }
    let status = response.status;
    let (kind, message) = match (status, turn.unmarked) {
        (0, _) => {
            ("no response".to_owned(), "the client gets no response, and the upstream no request".to_owned())
        }
        (_, 0) => (
            format!("refused with {status}"),
            format!("the gateway answers with status {status} without a request to the upstream"),
        ),
        (_, unmarked) => (
            "mark lost".to_owned(),
            format!(
                "the gateway answers with status {status}, and no request upstream has the mark of this case, {}; {} \
                 without a mark came at the same time",
                turn.test.mark,
                counted(unmarked, "request")
            ),
        ),
    };
    findings.add("answer/kind", Problem::new(kind, message).showing("", &tail(&response.body())));
}

/// A gateway may refuse content that has no place upstream, and nothing else.
fn has_content(rule: &str, turn: &Turn<'_>, asked: &Question) -> bool {
    let mut parts = asked.turns.iter().flat_map(|turn| &turn.parts);
    match rule {
        "request/stops" => !asked.stops.is_empty(),
        "request/format" => asked.format != Format::Text,
        "request/one-call" => asked.is_one_call,
        "request/sampling" => asked.user.is_some(),
        "request/results" => parts.any(|part| matches!(part, Part::Result(output) if output.is_error)),
        // The client cannot send back what its API has no place for.
        "request/reasoning" => turn.client.turn > 0 || parts.any(|part| matches!(part, Part::Reasoning(_))),
        _ => true,
    }
}

/// Returns the limits that no test of a run met, of those that its tests could meet.
pub fn unused_limits(tests: &[BetweenTest]) -> Vec<&'static BetweenLimit> {
    let is_about = |limit: &BetweenLimit, test: &BetweenTest| {
        applies(limit, [&test.about.front, &test.about.upstream], &test.about.case)
    };
    let is_met = |limit: &BetweenLimit, test: &BetweenTest| {
        test.about.limits.iter().any(|[rule, reason]| rule == limit.rule && reason == limit.reason)
    };
    let is_unused = |limit: &&BetweenLimit| {
        let mut about = tests.iter().filter(|test| is_about(limit, test)).peekable();
        about.peek().is_some() && !about.any(|test| is_met(limit, test))
    };
    BETWEEN_LIMITS.iter().filter(is_unused).collect()
}
