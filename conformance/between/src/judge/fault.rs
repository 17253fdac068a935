//! Responses to a client when the upstream fails.

use catalogue::{Level, UpstreamFault};
use results::StreamOutcome;
use translation::{Part, Reply};

use super::Turn;
use super::answer::{self, stream, usage};
use crate::evidence::{Ended, Evidence, Fault, Response, Test};
use crate::judge::parts::findings::{Findings, Problem, shown, tail};
use crate::judge::parts::turn::read;

/// The header with the time to wait.
const RETRY_AFTER: &str = "retry-after";

/// The upstream fails. The result is the outcome of the client's stream.
pub(super) fn judge(findings: &mut Findings<'_>, turn: &Turn<'_>) -> StreamOutcome {
    let (Some(fault), Some(response)) = (turn.test.fault, turn.response()) else {
        return StreamOutcome::Hung;
    };
    let name = name(fault);
    let [upstream, client] = [turn.upstream_reply(), turn.client_reply()];
    // That the end is missing is the outcome.
    let found = stream::own_findings(turn, client.is_ended || client.error.is_some());
    let mut broken = stream::by_cause(&found, turn.test.front);
    broken.retain(|finding| finding.level == Level::Must && !findings.is_limit(&finding.rule));
    let outcome = turn.outcome(&client, !broken.is_empty());
    let problem = |message: String| {
        let sent = turn.answer().map(|answer| tail(&answer.body())).unwrap_or_default();
        let problem = Problem::new(format!("{name}: {}", outcome.name()), message);
        Problem { sides: [sent, tail(&response.body())], ..problem }
    };
    let what = what(fault);
    match outcome {
        StreamOutcome::FalseComplete => {
            let message = format!("{what}, and the client's response looks complete");
            findings.add("fault/false-complete", problem(message));
        }
        StreamOutcome::Hung => {
            let message = format!("{what}, and the client's response has no end within the limit of the run");
            let is_stall = matches!(fault, Fault::Stream(UpstreamFault::Stall, _));
            // Without --timeout, the limit of the gateway may be longer.
            let is_doubtful = is_stall && !turn.test.is_limit_known;
            let problem = problem(message);
            findings.add("fault/hung", if is_doubtful { problem.at(Level::Should) } else { problem });
        }
        StreamOutcome::Truncated if matches!(response.end, Ended::Complete) => {
            let message = format!("{what}, and the client's response ends without an error");
            // Clients that take it for an answer are those that its missing end breaks.
            let breaks = stream::broken_by_missing_end(turn, &found);
            findings.add("fault/told", Problem { breaks, ..problem(message) });
        }
        StreamOutcome::Truncated => {
            let message = format!("{what}, and the client's connection breaks without an error of its API");
            findings.add("fault/told", problem(message));
        }
        StreamOutcome::Incomplete => {
            let word = shown(client.word.as_deref().unwrap_or_default());
            let message = format!("{what}, and the client's response ends with {word:?}, without an error");
            findings.add("fault/told", problem(message));
        }
        StreamOutcome::Malformed if broken.is_empty() && !findings.has("fault/malformed") => {
            let message = format!("{what}, and the client gets something that is no JSON, too");
            findings.add("fault/told", problem(message));
        }
        StreamOutcome::Malformed
        | StreamOutcome::Complete
        | StreamOutcome::ErrorEvent
        | StreamOutcome::JsonError => {}
    }
    if outcome != StreamOutcome::FalseComplete {
        for found in broken {
            let message =
                format!("{what}, and the client's response breaks {}: {}", found.rule, found.message);
            let problem = Problem::new(found.kind, message);
            findings.add("fault/malformed", Problem { sides: [String::new(), found.client], ..problem });
        }
    }
    if matches!(outcome, StreamOutcome::ErrorEvent | StreamOutcome::JsonError) {
        error(findings, fault, [&upstream, &client], turn);
    }
    // Other problems of a response that looks complete are consequences.
    if !turn.is_finished() && outcome != StreamOutcome::FalseComplete {
        answer::judge_beginning(findings, &upstream, &client);
        usage::judge_incomplete(findings, turn, [&upstream, &client]);
    }
    outcome
}

fn error(findings: &mut Findings<'_>, fault: Fault, [upstream, client]: [&Reply; 2], turn: &Turn<'_>) {
    let Some(response) = turn.response() else { return };
    let sent =
        upstream.error.as_ref().map(|error| error.message.trim()).filter(|message| !message.is_empty());
    let found = client.error.as_ref().map(|error| error.message.as_str()).unwrap_or_default();
    // The gateway need not show what is wrong with its own key.
    let is_own = matches!(fault, Fault::Status(401 | 403));
    if let Some(sent) = sent.filter(|sent| !is_own && !found.contains(*sent)) {
        let message = "the client's error does not have the message of the upstream's error";
        findings.add("fault/message", Problem::new("lost", message).showing(sent, found));
    }
    let Fault::Status(status) = fault else { return };
    if !is_of_class(status, response.status) {
        let message =
            format!("the upstream refuses with status {status}, and the client gets {}", response.status);
        let kind = response.status.to_string();
        findings.add(
            "fault/status",
            Problem::new(kind, message).showing(&status.to_string(), &response.status.to_string()),
        );
    }
    let waits = turn.answer().and_then(|answer| answer.header(RETRY_AFTER).map(str::to_owned));
    let own = response.header(RETRY_AFTER);
    if let Some(waits) = waits.filter(|waits| own != Some(waits) && turn.test.case.retry_after.is_some()) {
        let message = format!(
            "the upstream's Retry-After is {}, the client's is {}",
            shown(&waits),
            shown(own.unwrap_or("missing"))
        );
        findings.add(
            "fault/status",
            Problem::new("Retry-After", message).showing(&waits, own.unwrap_or_default()),
        );
    }
}

fn is_of_class(upstream: u16, client: u16) -> bool {
    let is_server = (500..600).contains(&client);
    match upstream {
        400 | 413 | 422 => matches!(client, 400 | 413 | 422),
        401..=403 => matches!(client, 401..=403) || is_server,
        404 => matches!(client, 400 | 404),
        408 => matches!(client, 408) || is_server,
        429 => client == 429,
        _ => is_server,
    }
}

pub(super) fn judge_after(findings: &mut Findings<'_>, test: &Test, evidence: &Evidence) {
    let (Some(after), Some(fault)) = (&evidence.after, test.fault) else { return };
    let reply = after.response.as_ref().map(|response| read(test.front, response)).unwrap_or_default();
    let has_text = reply.parts.iter().any(|part| matches!(part, Part::Text(said) if !said.is_empty()));
    // An answer without the marker at the end is one.
    if (reply.is_ended || reply.stop.is_some()) && reply.error.is_none() && has_text {
        return;
    }
    let status = after.response.as_ref().map(|response| response.status).filter(|status| *status > 0);
    let body = after.response.as_ref().map(Response::body).unwrap_or_default();
    let outcome = status.map_or_else(|| "no response".to_owned(), |status| format!("status {status}"));
    let message = format!("{}, and the request after that is not answered: {outcome}", what(fault));
    let problem = Problem::new(status.unwrap_or_default().to_string(), message);
    findings.add("fault/next", Problem { sides: [String::new(), tail(&body)], ..problem });
}

/// A gateway answers all faults of one name in one place: its stream has no end, or it gets an error.
const fn name(fault: Fault) -> &'static str {
    match fault {
        Fault::Stream(UpstreamFault::Cut | UpstreamFault::End, _) => "end",
        Fault::Stream(UpstreamFault::Error, _) | Fault::Status(_) => "error",
        Fault::Stream(fault @ (UpstreamFault::Malformed | UpstreamFault::Stall), _) => fault.name(),
    }
}

fn what(fault: Fault) -> String {
    match fault {
        Fault::Stream(fault, place) => {
            let what = match fault {
                UpstreamFault::Cut => "the upstream's connection breaks",
                UpstreamFault::End => "the upstream's stream ends",
                UpstreamFault::Error => "the upstream reports an error",
                UpstreamFault::Malformed => "the upstream sends no JSON",
                UpstreamFault::Stall => "the upstream stalls",
            };
            let place = match (place, fault) {
                (_, UpstreamFault::Malformed) => format!("as event {}", place + 1),
                (0, _) => "before the first event".to_owned(),
                _ => format!("after {place} events"),
            };
            format!("{what} {place}")
        }
        Fault::Status(status) => format!("the upstream refuses with status {status}"),
    }
}
