//! The course of a session: how often the upstream is asked, and what becomes of failures.

use results::text::{counted, listed};
use spec::Api;
use translation::{Part, Question, Reply, Role, Stop};

use super::{Session, SessionTurn, letters};
use crate::evidence::{Ended, Exchanged, Response};
use crate::judge::parts::findings::{Findings, Problem, tail};
use crate::judge::parts::framing::is_stream;
use crate::judge::parts::turn::{Turn, read};

/// Maximum number of members that are named.
const MOST: usize = 6;

pub(super) fn judge(findings: &mut Findings<'_>, session: &Session<'_>) {
    for (index, turn) in session.turns.iter().enumerate() {
        if is_refused_elsewhere(session, turn) {
            continue;
        }
        let before = index.checked_sub(1).and_then(|index| session.turns.get(index));
        let was_refused = before.and_then(SessionTurn::answer).is_some_and(|answer| answer.status >= 400);
        requests(findings, session, turn, was_refused);
        downgrade(findings, session.test.upstream.api, turn);
        broken(findings, session, turn);
        recovers(findings, turn, was_refused);
        added(findings, turn);
    }
}

/// A request with the reasoning of another provider may be refused.
fn is_refused_elsewhere(session: &Session<'_>, turn: &SessionTurn<'_>) -> bool {
    let has_moved = session.test.case.session.as_ref().is_some_and(|case| case.moves_at.is_some())
        && session.turns.first().is_some_and(|first| first.sent.question.model != turn.sent.question.model);
    has_moved && turn.requests.is_empty() && turn.response().is_some_and(is_refused)
}

fn requests(findings: &mut Findings<'_>, session: &Session<'_>, turn: &SessionTurn<'_>, was_refused: bool) {
    const RULE: &str = "session/one-request";
    let status = turn.response().map_or(0, |response| response.status);
    if turn.requests.is_empty() {
        // A path that is not found has a rule of its own, and so has a request after a refusal.
        if !(was_refused || is_query_refused(turn)) {
            let asked = match session.unmarked {
                0 => "without a request to the upstream",
                _ => "and no request with a text of the user reaches the upstream",
            };
            let message = format!("turn {}: the gateway answers with status {status} {asked}", turn.number);
            let body = turn.response().map(Response::body).unwrap_or_default();
            findings.add(RULE, Problem::new("none", message).showing("", &tail(&body)));
        }
        return;
    }
    let mut retries = 0;
    for pair in turn.requests.windows(2) {
        let [before, next] = pair else { continue };
        let Some(answer) = &before.response else { continue };
        if is_refused(answer) && before.body != next.body {
            continue;
        }
        let reply = read(session.test.upstream, answer);
        let has_failed = answer.status >= 400 || reply.parts.is_empty() && !reply.is_ended;
        if has_failed {
            retries += 1;
            if retries <= session.test.declared.retries {
                continue;
            }
        }
        let kind = if has_failed { "repeated" } else { "after an answer" };
        let message = format!(
            "turn {}: the upstream gets {} for one of the client{}",
            turn.number,
            counted(turn.requests.len() as u64, "request"),
            if has_failed { ", more than the declared retries" } else { ", although the first was answered" }
        );
        findings.add(RULE, Problem::new(kind, message).showing(&last_text(session, next), ""));
    }
}

pub(super) fn is_query_refused(turn: &SessionTurn<'_>) -> bool {
    let is_unknown = turn.response().is_some_and(|response| matches!(response.status, 404 | 405));
    is_unknown && turn.client.path.contains('?')
}

const fn is_refused(answer: &Response) -> bool {
    answer.status >= 400 && answer.status < 500
}

fn last_text(session: &Session<'_>, exchange: &Exchanged) -> String {
    let api = session.test.upstream.api;
    let question = Question::read(api, &exchange.request(api).unwrap_or_default());
    let parts = question.turns.into_iter().rev().flat_map(|turn| turn.parts.into_iter().rev());
    parts
        .into_iter()
        .find_map(|part| if let Part::Text(text) = part { Some(text) } else { None })
        .unwrap_or_default()
}

/// A last text of the user that the client did not send.
fn added(findings: &mut Findings<'_>, turn: &SessionTurn<'_>) {
    let Some(got) = turn.got.as_ref().map(|end| &end.question) else { return };
    let texts = |question: &Question| -> Vec<String> {
        let parts = question.turns.iter().flat_map(|turn| &turn.parts);
        let texts = parts.filter_map(|part| match part {
            Part::Text(text) => Some(letters(text)),
            // A result that became a text has a rule of its own.
            Part::Result(output) => Some(letters(&output.text)),
            _ => None,
        });
        texts.chain(question.instructions.iter().map(|text| letters(text))).collect()
    };
    let Some(last) = got.turns.last().filter(|turn| turn.role == Role::User) else { return };
    let Some(Part::Text(text)) = last.parts.last() else { return };
    let own = letters(text);
    let is_known =
        texts(&turn.sent.question).iter().any(|known| known.contains(&own) || own.contains(&**known));
    if !is_known {
        let message = format!(
            "turn {}: the upstream gets a turn of the user that the client did not send",
            turn.number
        );
        findings.add("session/one-request", Problem::new("a turn of the user", message).showing(text, ""));
    }
}

/// A refused request that is sent again with less, so that the client does not learn of it.
fn downgrade(findings: &mut Findings<'_>, api: &Api, turn: &SessionTurn<'_>) {
    if turn.response().is_none_or(|response| response.status >= 400) {
        return;
    }
    for pair in turn.requests.windows(2) {
        let [before, next] = pair else { continue };
        if !before.response.as_ref().is_some_and(is_refused) || before.body == next.body {
            continue;
        }
        let [one, other] = [before, next].map(|exchange| exchange.request(api).unwrap_or_default());
        let differs = |name: &&String| one.get(name.as_str()) != other.get(name.as_str());
        let names: Vec<&String> =
            one.as_object().into_iter().flat_map(serde_json::Map::keys).filter(differs).collect();
        let seals = [&one, &other].map(|request| super::seals::seals(api, request).len());
        let what = listed(&names, MOST, |name| format!("`{name}`"));
        let message = format!(
            "turn {}: after status {}, the gateway sends the request again with other values of {what} ({} of {} sealed thoughts), \
             and the client does not learn of it",
            turn.number,
            before.response.as_ref().map_or(0, |response| response.status),
            seals[1],
            seals[0]
        );
        let message = message.replace(" (0 of 0 sealed thoughts)", "");
        findings.add("session/silent-downgrade", Problem::new("sent again with less", message));
    }
}

fn is_broken(answer: &Response, reply: &Reply) -> bool {
    answer.status < 400 && !reply.is_ended && reply.error.is_none() && is_stream(answer, &answer.body())
}

/// A stream of the upstream that breaks off does not end as if it were complete.
fn broken(findings: &mut Findings<'_>, session: &Session<'_>, turn: &SessionTurn<'_>) {
    const RULE: &str = "session/break-told";
    let (Some(answer), Some(response)) = (turn.answer(), turn.response()) else { return };
    let Some([upstream, client]) = turn.replies() else { return };
    let whole =
        Turn { test: session.test, client: turn.client, requests: turn.requests.clone(), unmarked: 0 };
    if !is_broken(answer, upstream) || whole.is_finished() {
        return;
    }
    let calls = upstream.parts.iter().filter(|part| matches!(part, Part::Call(_))).count();
    let how = if answer.end == Ended::Complete { "ends" } else { "breaks" };
    let begin = format!(
        "turn {}: the upstream's stream {how} before its response does, in call {calls}",
        turn.number
    );
    let begin = begin.replace(", in call 0", "");
    let is_told = client.error.is_some() || matches!(client.stop, Some(Stop::Cut | Stop::Failed));
    let (kind, message) = match () {
        () if client.is_ended && !is_told => {
            ("complete", format!("{begin}, and the client's looks complete"))
        }
        () if response.status < 400
            && !is_told
            && response.end == Ended::Complete
            && answer.end != Ended::Complete =>
        {
            ("clean end", format!("{begin}, and the client's ends without an error"))
        }
        () => return,
    };
    let sides = [tail(&answer.body()), tail(&response.body())];
    findings.add(RULE, Problem::new(kind, message).showing(&sides[0], &sides[1]));
}

/// The client gets the upstream's answer, also after a refusal.
fn recovers(findings: &mut Findings<'_>, turn: &SessionTurn<'_>, was_refused: bool) {
    let Some(response) = turn.response() else { return };
    let [upstream, client] = &turn.replies;
    let is_good = turn
        .answer()
        .zip(upstream.as_ref())
        .is_some_and(|(answer, reply)| answer.status < 400 && reply.is_ended && reply.error.is_none());
    let is_lost = turn.requests.is_empty() && was_refused && !is_query_refused(turn);
    let has_error = || response.status >= 400 || client.as_ref().is_some_and(|reply| reply.error.is_some());
    if is_lost || is_good && has_error() {
        let kind = if was_refused { "after a refusal" } else { "answered" };
        let what = if is_lost { "the upstream is not asked" } else { "the upstream answers" };
        let message = format!("turn {}: {what}, and the client gets status {}", turn.number, response.status);
        findings.add("session/recovers", Problem::new(kind, message).showing("", &tail(&response.body())));
    }
}
