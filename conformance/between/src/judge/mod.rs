//! Judges what passes through a gateway, from the recordings of both sides alone.

mod answer;
mod crowd;
mod fault;
mod keys;
mod limits;
mod parts;
mod passthrough;
mod request;
mod session;
mod settle;
#[cfg(test)]
mod tests;
mod time;

use catalogue::{DecidedBy, Family, HandlingMode, Rule, Writes};
use results::{BetweenTest, OfPair, StreamOutcome, TestFinding, Verdict};

use crate::evidence::{Ended, Evidence, Response, Test};
use answer::stream;
use parts::findings::{Findings, Problem, tail};
use parts::framing::{http_within, is_stream};
use parts::turn::Turn;
use translation::Reply;

pub use limits::unused_limits;
pub use session::SESSION_GROUPS;
pub(crate) use settle::{keep_unsettled, settle};

/// What is found in the recordings of a test.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Judged {
    /// What is wrong.
    pub findings: Vec<TestFinding>,
    /// What became of the client's stream; nothing if the client left.
    pub outcome: Option<StreamOutcome>,
    /// What the pair of APIs cannot carry, and is therefore no finding: the rule, and the reason.
    pub limits: Vec<[String; 2]>,
    /// The measures of a session.
    pub measures: Vec<String>,
    /// Whether all turns went over a WebSocket, if one was asked for.
    pub is_socket: Option<bool>,
}

impl Judged {
    /// Returns the result of a test, with what is found.
    pub(crate) fn of_test(self, test: BetweenTest) -> BetweenTest {
        let Self { findings, outcome: stream, limits, measures, is_socket } = self;
        let fails = findings.iter().any(|finding| finding.fails);
        let verdict = if fails { Verdict::Fail } else { Verdict::Pass };
        let about = OfPair { stream, limits, measures, is_socket, ..test.about };
        BetweenTest { verdict, findings, about, ..test }
    }
}

/// Judges the recordings of a test.
pub fn judge(test: &Test, evidence: &Evidence) -> Judged {
    let mut findings = Findings::new(test);
    keys::judge(&mut findings, test, evidence);
    let is_socket = upgrade(&mut findings, evidence);
    session::judge_probes(&mut findings, test.front.api, evidence);
    if test.is_session() && test.mode != HandlingMode::Local {
        let measures = session::judge(&mut findings, test, evidence);
        let Findings { found: findings, limits, .. } = findings;
        return Judged { findings, limits, measures, is_socket, ..Judged::default() };
    }
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
    Judged { findings: findings.found, outcome, limits: findings.limits, is_socket, ..Judged::default() }
}

/// Statuses of an upgrade that clients expect: they talk over the WebSocket, or go on with requests.
const UPGRADES: [u16; 2] = [101, 426];

/// Whether each request of the client went over a WebSocket, if it asked for one.
fn upgrade(findings: &mut Findings<'_>, evidence: &Evidence) -> Option<bool> {
    let statuses: Vec<u16> = evidence.client.iter().filter_map(|exchange| exchange.upgrade).collect();
    if let Some(status) = statuses.iter().find(|status| !UPGRADES.contains(status)) {
        let answer = if *status == 0 { "with no status".to_owned() } else { format!("with status {status}") };
        let message =
            format!("the upgrade to a WebSocket is answered {answer}; clients go on at once after 426");
        findings.add("socket/upgrade", Problem::new("", message));
    }
    let is_socket = statuses.len() == evidence.client.len() && statuses.iter().all(|status| *status == 101);
    (!statuses.is_empty()).then_some(is_socket)
}

/// The ends of the names of rules about a stream that was asked for and not sent, and the reverse.
const KINDS: [&str; 2] = ["/stream-asked", "/stream-sent"];
/// The group of rules about why a message ends.
const STOP: &str = "stop/";
/// The rule about events without a type.
const UNTYPED: &str = "schema/event-typed";

/// Judges a turn, and returns what became of the client's stream.
fn of_turn(
    findings: &mut Findings<'_>,
    turns: &[Turn<'_>],
    number: usize,
    turn: &Turn<'_>,
) -> Option<StreamOutcome> {
    let response = turn.response()?;
    let has_left = response.end == Ended::Left;
    second_response(findings, turn);
    let reply = turn.client_reply();
    let is_whole = !has_left && (reply.is_ended || reply.error.is_some() || turn.is_finished());
    let check = || {
        let found = stream::own_findings(turn, is_whole);
        // An end without a type, which has only the line `event`, is not missing besides.
        let is_untyped = reply.is_ended && found.iter().any(|finding| finding.rule == UNTYPED);
        if is_untyped { stream::own_findings(turn, false) } else { found }
    };
    if turn.test.mode == HandlingMode::Local {
        if !has_left {
            unanswered(findings, turn, &reply, number);
        }
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
    request::retries::judge(findings, turn);
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
    let found = check();
    let is_refused_content =
        turn.test.case.content_type.is_some() && (reply.error.is_some() || response.status >= 400);
    if !is_refused_content {
        let is_mixed = turn.test.case.crowd.is_some() && crowd::judge(findings, turn);
        let is_comparable = !is_mixed && answer::judge(findings, turn, is_guess(turn, &found));
        if is_comparable && turn.test.case.is_in_step {
            time::judge(findings, turn);
        }
        if turn.test.case.silent_at.is_some() {
            time::judge_silence(findings, turn);
        }
    }
    // A wrong content type passes through, too.
    if turn.test.case.content_type.is_none() || turn.test.mode != HandlingMode::Passthrough {
        findings_of(findings, turn.test, &found);
    }
    Some(turn.outcome(&reply, false))
}

/// Statuses of a request that an endpoint does not take.
const NOT_TAKEN: [u16; 4] = [400, 404, 413, 422];

/// Without an upstream, an answer is all that can be judged.
fn unanswered(findings: &mut Findings<'_>, turn: &Turn<'_>, reply: &Reply, number: usize) {
    let Some(response) = turn.response() else { return };
    let Response { status, end, .. } = response;
    let is_refused = turn.test.is_session() && *status >= 400;
    let is_answered = *status >= 400 || reply.is_ended || reply.error.is_some();
    let (rule, message) = if is_refused && NOT_TAKEN.contains(status) {
        ("contract/open-list", format!("the request of the agent is refused with status {status}"))
    } else if is_refused {
        ("answer/kind", format!("the request of the agent is answered with status {status}"))
    } else if !is_answered || !matches!(end, Ended::Complete | Ended::Left) {
        ("answer/kind", "the gateway gives no whole answer".to_owned())
    } else {
        return;
    };
    let message = format!("turn {}: {message}", number + 1);
    let kind = if is_refused { "refused" } else { "none" };
    findings.add(rule, Problem::new(kind, message).showing("", &tail(&response.body())));
}

/// Judges whether a stream has the head of a second response in it, which clients of event streams skip.
fn second_response(findings: &mut Findings<'_>, turn: &Turn<'_>) {
    let Some(response) = turn.response() else { return };
    let body = response.body();
    let Some(line) = http_within(&body).filter(|_| is_stream(response, &body)) else { return };
    let message = "the gateway writes the head of a second HTTP response into the open stream, where no client reads it";
    findings.add("fault/malformed", Problem::new("HTTP in the stream", message).showing("", &line));
}

/// Returns whether no one can know which part of an answer a delta belongs to: its stream opens something twice, and no event
/// repeats it as a whole.
fn is_guess(turn: &Turn<'_>, found: &[checker::Finding]) -> bool {
    let opens_twice = |rule: &Rule| match rule.decided_by {
        DecidedBy::Structure(families) => families.contains(&Family::Reopened),
        DecidedBy::Relation(_) | DecidedBy::Code(_) => false,
    };
    let is_repeated = || turn.response().and_then(|it| stream::finished(turn.test.front, it)).is_some();
    found.iter().filter_map(|finding| catalogue::rule(&finding.rule)).any(opens_twice) && !is_repeated()
}

/// Adds what the rules of the client's API find.
fn findings_of(findings: &mut Findings<'_>, test: &Test, found: &[checker::Finding]) {
    // The same of both ends: a body where the client wants a stream, or the other way round; why the answer ends.
    let is_said = |rule: &str| KINDS.iter().any(|kind| rule.ends_with(kind));
    let has_kind = findings.has("answer/kind");
    let has_stop = findings.has("answer/stop");
    for finding in stream::by_cause(found, test.front) {
        let is_said = has_kind && is_said(&finding.rule) || has_stop && finding.rule.starts_with(STOP);
        if !(findings.is_limit(&finding.rule) || is_said) {
            findings.push(finding);
        }
    }
}

/// Names the kind of a cut. All cuts within characters and lines have one name.
const fn writes(writes: Writes) -> &'static str {
    match writes {
        Writes::Events => "events",
        Writes::Whole => "one write",
        Writes::Bytes | Writes::Split => "cut",
        Writes::Crlf => "CR LF",
        Writes::Comments => "comments",
    }
}
