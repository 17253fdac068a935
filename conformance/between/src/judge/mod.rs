//! Judges what passes through a gateway, from the recordings of both sides alone.

mod answer;
mod crowd;
mod fault;
mod findings;
mod framing;
mod history;
mod keys;
mod limits;
mod passthrough;
mod progress;
mod request;
mod retries;
mod settle;
mod stop;
mod stream;
#[cfg(test)]
mod tests;
mod time;
mod tool_schema;
mod turn;
mod usage;
mod values;

use catalogue::{HandlingMode, Writes};
use results::{BetweenFinding, BetweenTest, StreamOutcome, Verdict};

use crate::evidence::{Ended, Evidence, Test};
use findings::Findings;
use turn::Turn;

pub use limits::unused_limits;
pub use settle::settle;

/// What is found in the recordings of a test.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Judged {
    /// What is wrong.
    pub findings: Vec<BetweenFinding>,
    /// What became of the client's stream; nothing if the client left.
    pub outcome: Option<StreamOutcome>,
    /// What the pair of APIs cannot carry, and is therefore no finding: the rule, and the reason.
    pub limits: Vec<[String; 2]>,
}

impl Judged {
    /// Returns the result of a test, with what is found.
    pub(crate) fn of_test(self, test: BetweenTest) -> BetweenTest {
        let Self { findings, outcome: stream, limits } = self;
        let fails = findings.iter().any(|finding| finding.fails);
        let verdict = if fails { Verdict::Fail } else { Verdict::Pass };
        BetweenTest { verdict, stream, findings, limits, ..test }
    }
}

/// Judges the recordings of a test.
pub fn judge(test: &Test, evidence: &Evidence) -> Judged {
    let mut findings = Findings::new(test);
    keys::judge(&mut findings, test, evidence);
    let turns = Turn::all(test, evidence);
    if test.case.like.is_some() {
        findings.report_answers_as("borders/same-answer", writes(test.case.writes));
    }
    let mut outcome = None;
    for (number, turn) in turns.iter().enumerate() {
        let found = of_turn(&mut findings, &turns, number, turn);
        outcome = outcome.or(found);
    }
    if test.mode != HandlingMode::Local {
        fault::judge_after(&mut findings, test, evidence);
        request::judge_models(&mut findings, test, evidence);
    }
    Judged { findings: findings.found, outcome, limits: findings.limits }
}

/// Judges a turn, and returns what became of the client's stream.
fn of_turn(
    findings: &mut Findings<'_>,
    turns: &[Turn<'_>],
    number: usize,
    turn: &Turn<'_>,
) -> Option<StreamOutcome> {
    let response = turn.response()?;
    let has_left = response.end == Ended::Left;
    let reply = turn.client_reply();
    let is_whole = !has_left && (reply.is_ended || reply.error.is_some() || turn.is_finished());
    let check = || stream::own_findings(turn, is_whole);
    if turn.test.mode == HandlingMode::Local {
        findings_of(findings, turn.test, &check());
        return (!has_left).then(|| turn.outcome(&reply, false));
    }
    if turn.requests.is_empty() {
        limits::judge_refusal(findings, turn);
        findings_of(findings, turn.test, &check());
        return Some(turn.outcome(&reply, false));
    }
    if turn.test.case.crowd.is_none() {
        request::judge(findings, turns.get(..number).unwrap_or_default(), turn);
    }
    passthrough::judge(findings, turn);
    retries::judge(findings, turn);
    if has_left || turn.test.case.leaves_after.is_some() {
        // One that has all of its response does not leave.
        if has_left {
            time::judge_leaving(findings, turn);
        }
        findings_of(findings, turn.test, &check());
        return None;
    }
    if turn.is_faulty() {
        return Some(fault::judge(findings, turn));
    }
    let is_refused_content =
        turn.test.case.content_type.is_some() && (reply.error.is_some() || response.status >= 400);
    if !is_refused_content {
        let is_mixed = turn.test.case.crowd.is_some() && crowd::judge(findings, turn);
        let is_comparable = !is_mixed && answer::judge(findings, turn);
        if is_comparable && turn.test.case.is_in_step {
            time::judge(findings, turn);
        }
    }
    // A wrong content type passes through, too.
    if turn.test.case.content_type.is_none() || turn.test.mode != HandlingMode::Passthrough {
        findings_of(findings, turn.test, &check());
    }
    Some(turn.outcome(&reply, false))
}

/// Adds what the rules of the client's API find.
fn findings_of(findings: &mut Findings<'_>, test: &Test, found: &[checker::Finding]) {
    for finding in found {
        if !findings.is_limit(&finding.rule) {
            findings.push(stream::finding(finding, test.front));
        }
    }
}

/// Returns the name of how a stream is cut.
const fn writes(writes: Writes) -> &'static str {
    match writes {
        Writes::Events => "events",
        Writes::Whole => "one write",
        Writes::Bytes => "byte by byte",
        Writes::Split => "split",
        Writes::Crlf => "CR LF",
        Writes::Comments => "comments",
    }
}
