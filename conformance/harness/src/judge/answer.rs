//! The first trial of a case: whether the response is the requested one, and complete.

use spec::table::Operation;
use spec::{Api, Dialect, UNKNOWN_KEY};

use super::attempt::Attempt;
use super::facts::{Facts, SWITCHED};
use super::obstacle::expected_status;
use super::responses::other_request;
use super::unsupported::unsupported;
use crate::plan::ScenarioCase;
use checker::Asked;
use recordings::capture::Loss;
use results::text::visible;
use results::{CaptureReport, Judgement, UndecidedKind, Verdict};

/// The last response has to be as requested, and complete; of concurrent responses, each.
pub(crate) fn answer(case: &ScenarioCase, attempts: &[Attempt], dialect: &Dialect) -> Judgement {
    const WORST_FIRST: [Verdict; 3] = [Verdict::Fail, Verdict::HarnessError, Verdict::Pass];
    if !case.is_marked() {
        return last_answer(case, attempts, dialect);
    }
    let each = || attempts.iter().map(|attempt| last_answer(case, std::slice::from_ref(attempt), dialect));
    let worst = WORST_FIRST.iter().find_map(|verdict| each().find(|judged| judged.verdict == *verdict));
    worst.unwrap_or_else(|| last_answer(case, attempts, dialect))
}

/// The last attempt does not count.
pub(crate) fn missed<'a>(
    case: &ScenarioCase,
    attempts: impl Iterator<Item = &'a Attempt>,
    dialect: &Dialect,
) -> usize {
    // Concurrent requests are not attempts, and polling needs several.
    if case.is_marked() || case.scenario.operation == Operation::Poll {
        return 0;
    }
    let of_one = |attempt| last_answer(case, std::slice::from_ref(attempt), dialect).verdict;
    let verdicts: Vec<Verdict> = attempts.map(of_one).collect();
    let is_missed = |verdict: &&Verdict| **verdict == Verdict::NotExercised;
    if verdicts.last() == Some(&Verdict::Pass) { verdicts.iter().filter(is_missed).count() } else { 0 }
}

fn last_answer(case: &ScenarioCase, attempts: &[Attempt], dialect: &Dialect) -> Judgement {
    let Some(attempt) = attempts.last() else {
        return Judgement::new(Verdict::NotExercised, "no request was sent");
    };
    let Attempt { facts, report, .. } = attempt;
    let lost = facts.lost.as_ref();
    if let Some(interrupted @ Loss::Interrupted) = lost {
        return Judgement::new(Verdict::HarnessError, interrupted.to_string());
    }
    if let Some(obstacle) = attempt.obstacle(case) {
        return obstacle.judgement();
    }
    let Some(status) = facts.status else {
        return match lost {
            Some(other) => Judgement::new(Verdict::Fail, other.to_string()),
            None => Judgement::new(Verdict::Fail, "no response"),
        };
    };
    if let Some(judged) = unanswered(case, facts) {
        return judged;
    }
    if let Some(unsupported) = unsupported(case, facts) {
        return unsupported;
    }
    if case.scenario.unknown_key && status == 200 && facts.error_event.is_none() {
        return Judgement::new(Verdict::NotExercised, format!("it accepts any key, even {UNKNOWN_KEY}"));
    }
    if let Some(wrong) = wrong_status(case, facts, status) {
        return wrong;
    }
    if let Some(reason) = lost.filter(|loss| **loss != Loss::Left) {
        return Judgement::new(Verdict::Fail, format!("the response is incomplete: {reason}"));
    }
    if let Some(reason) = wrong_kind(case, facts, report) {
        return Judgement::new(Verdict::Fail, reason);
    }
    if let Some(unwanted) = facts.unwanted(case.scenario) {
        return Judgement::new(Verdict::Fail, format!("the response has a {unwanted}, but should have none"));
    }
    if let Some(reason) = other_request(facts) {
        return Judgement::new(Verdict::Fail, reason);
    }
    if let Some(stop) = stop_in_text(case, facts) {
        let reason = format!("the text contains {stop:?}, at which the request stops");
        return Judgement::new(Verdict::Fail, reason);
    }
    if case.scenario.cut_after.is_some() && lost.is_none() {
        return Judgement::new(Verdict::NotExercised, "the stream ended before the client could disconnect");
    }
    let missing = match case.scenario.operation {
        _ if !case.scenario.status.is_empty() => Vec::new(),
        _ if case.wants_stream() => facts.missing(case.scenario, dialect),
        Operation::Create => facts.missing_as_a_whole(case.scenario, dialect),
        _ => Vec::new(),
    };
    if missing.is_empty() {
        return still_running(case, facts).unwrap_or(Judgement::PASS);
    }
    let times = if attempts.len() == 1 { "once".to_owned() } else { format!("{} times", attempts.len()) };
    let missing = format!("no {}", missing.join(", no "));
    let ending = facts.ending(dialect);
    if let Some((name, limit)) =
        token_limit(case, dialect).filter(|_| facts.is_cut_but_completed(dialect.api))
    {
        let due = match case.scenario.stops {
            [] => format!("{}, with the reason {name}", dialect.api.status.incomplete),
            stops => stops.join(" or "),
        };
        let reason = format!("the answer was cut at {name} {limit}, but {ending}: it should be {due}");
        return Judgement::new(Verdict::Fail, reason);
    }
    let reason = format!("requested {times}, but there was {missing}: {ending}");
    Judgement::undecided(Verdict::NotExercised, UndecidedKind::NotElicited, reason).with_detail(missing)
}

/// The model should have stopped before this text.
fn stop_in_text(case: &ScenarioCase, facts: &Facts) -> Option<String> {
    let asked = Asked::read(&facts.request.as_ref()?.to_string(), case.api)?;
    let text = facts.answer.text();
    asked.stops().into_iter().find(|stop| text.contains(&**stop)).map(Into::into)
}

fn unanswered(case: &ScenarioCase, facts: &Facts) -> Option<Judgement> {
    let status = facts.status.filter(|_| facts.turns < case.turns.len())?;
    if status != SWITCHED && facts.turns == 0 {
        // The handshake failed.
        let words = facts.words().map(|words| format!(": {words}")).unwrap_or_default();
        let advice = "exclude the transport with --transport";
        let reason = format!("the WebSocket handshake got status {status}{words}; {advice}");
        return Some(Judgement::new(Verdict::Fail, reason));
    }
    let (answered, all) = (facts.turns, case.turns.len());
    let otherwise = || format!("turn {answered} of {all} got an unexpected response");
    Some(facts.lost.as_ref().map_or_else(
        || Judgement::new(Verdict::NotExercised, otherwise()),
        |reason| Judgement::new(Verdict::Fail, format!("the response is incomplete: {reason}")),
    ))
}

fn wrong_status(case: &ScenarioCase, facts: &Facts, status: u16) -> Option<Judgement> {
    let expected = expected_status(case);
    if expected.contains(&status) {
        return None;
    }
    let expected = expected.iter().map(u16::to_string).collect::<Vec<_>>().join(" or ");
    let words = facts.words().map(|words| format!(": {words}")).unwrap_or_default();
    let aside = match status {
        300..400 => "; redirects to other hosts are not followed",
        400..500 if !case.scenario.features.is_empty() => "; exclude unsupported features with --without",
        _ => "",
    };
    let reason = format!("the response has status {status}, not {expected}{words}{aside}");
    Some(Judgement::new(Verdict::Fail, reason))
}

fn still_running(case: &ScenarioCase, facts: &Facts) -> Option<Judgement> {
    let status = facts.state(case.api)?;
    let is_running = case.api.scope(case.api.root).phases.contains(&status);
    (case.scenario.operation == Operation::Poll && is_running)
        .then(|| Judgement::new(Verdict::NotExercised, format!("the response is still {status}")))
}

fn wrong_kind(case: &ScenarioCase, facts: &Facts, report: &CaptureReport) -> Option<String> {
    let wants_stream = case.wants_stream();
    let is_stream = if case.turns.is_empty() { facts.is_stream } else { wants_stream };
    let (api, operation) = (case.api, case.scenario.operation);
    let is_created = operation == Operation::Create;
    let answer = api.route(operation).and_then(|route| route.answer);
    let expected = answer.filter(|_| case.scenario.status.is_empty() && !is_created);
    let is_other = |root: &&str| facts.root.is_some_and(|it| it != *root) && !facts.has_error(api);
    let reason = match (wants_stream, is_stream) {
        (true, false) => {
            let described = match &facts.content_type {
                Some(content_type) => format!("the content type is {}", visible(content_type)),
                None => "there is no content type".to_owned(),
            };
            return Some(format!("a stream was requested, but {described}, not text/event-stream"));
        }
        (false, true) if !case.scenario.status.is_empty() => {
            "the content type is that of a stream, but the expected error is a JSON body"
        }
        (false, true) => "the content type is that of a stream, but no stream was requested",
        (true, true) if report.events == 0 => "the stream has no events",
        (false, false) if !case.turns.is_empty() => return report.error.clone(),
        (false, false) if report.bodies == 0 => "the response has no body",
        (false, false) if expected.is_some() && facts.root != expected => {
            return expected.and_then(|it| wrong_mark(api, it));
        }
        (false, false) if is_created && (report.unjudged > 0 || answer.is_some_and(|it| is_other(&it))) => {
            "the body is neither a response nor an error"
        }
        _ => return report.error.clone(),
    };
    Some(reason.to_owned())
}

fn wrong_mark(api: &Api, root: &str) -> Option<String> {
    let shape = api.bodies.iter().find(|shape| shape.root == root)?;
    let (pointer, text) = shape.mark.texts.first()?;
    Some(format!("`{}` of the response is not {text:?}", pointer.trim_start_matches('/')))
}

fn token_limit(case: &ScenarioCase, dialect: &Dialect) -> Option<(&'static str, u64)> {
    let (api, scenario) = (dialect.api, case.scenario);
    let place = api.request.limits.first()?.trim_start_matches('/');
    let limit = spec::json::at(scenario.request, &format!("/{place}"))?.parse().ok()?;
    let name = place.rsplit('/').next().unwrap_or(place);
    let is_cut =
        || dialect.ending(api.status.incomplete).is_some_and(|cut| scenario.elicits.contains(&cut.name));
    (!scenario.stops.is_empty() || is_cut()).then_some((name, limit))
}
