//! Verdicts of cases, computed only from their recordings.

use serde_json::Value;
use spec::Dialect;
use spec::table::Operation;

use super::agree::agreement;
use super::attempt::Attempt;
use super::case::{About, Case};
use super::crowd::apart;
use super::facts::{Facts, SWITCHED};
use super::join::joined;
use checker::Rules;
use recordings::capture::Loss;
use results::{CaptureReport, FailOn, Judgement, UndecidedKind, Verdict};

/// Returns the verdict of a trial. The recordings are in order; the other one is the last of the related
/// case.
pub fn judge(
    case: &Case,
    about: About,
    attempts: &[Attempt],
    compared: Option<&Attempt>,
    fail_on: FailOn,
    rules: &Rules,
) -> Judgement {
    let answer = answer(case, attempts, rules.dialect());
    if about == About::Answer {
        return answer;
    }
    let found = attempts.iter().flat_map(|attempt| attempt.findings(case, about, fail_on));
    let broken = fail_on.broken(found);
    if !broken.is_empty() {
        return Judgement::new(Verdict::Fail, broken);
    }
    match answer.verdict {
        Verdict::Pass if about == About::Agrees => {
            let agreed = agreement(case, &facts(attempts), compared.map(|attempt| &attempt.facts));
            match (attempts.last(), compared) {
                (Some(rest), Some(begun))
                    if agreed.verdict == Verdict::Pass && case.scenario.operation == Operation::Resume =>
                {
                    joined(begun, rest, rules, fail_on)
                }
                _ => agreed,
            }
        }
        Verdict::Pass if about == About::Apart => apart(&facts(attempts)),
        Verdict::Pass => Judgement::PASS,
        _ => {
            let reason = format!("see {}", case.trial(About::Answer));
            Judgement::undecided(Verdict::NotExercised, UndecidedKind::Unanswered, reason)
        }
    }
}

fn facts(attempts: &[Attempt]) -> Vec<&Facts> {
    attempts.iter().map(|attempt| &attempt.facts).collect()
}

/// Returns the verdict on the last response: as requested, and complete. Of concurrent responses, each must
/// be.
pub(super) fn answer(case: &Case, attempts: &[Attempt], dialect: &Dialect) -> Judgement {
    const WORST_FIRST: [Verdict; 3] = [Verdict::Fail, Verdict::HarnessError, Verdict::Pass];
    if !case.is_marked() {
        return last_answer(case, attempts, dialect);
    }
    let each = || attempts.iter().map(|attempt| last_answer(case, std::slice::from_ref(attempt), dialect));
    let worst = WORST_FIRST.iter().find_map(|verdict| each().find(|judged| judged.verdict == *verdict));
    worst.unwrap_or_else(|| last_answer(case, attempts, dialect))
}

/// Returns the number of attempts without the expected events, before the last one.
pub(crate) fn missed<'a>(
    case: &Case,
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

fn last_answer(case: &Case, attempts: &[Attempt], dialect: &Dialect) -> Judgement {
    let Some(last) = attempts.last() else {
        return Judgement::new(Verdict::NotExercised, "no request was sent");
    };
    let Attempt { facts, report, .. } = last;
    let lost = facts.lost.as_ref();
    if let Some(interrupted @ Loss::Interrupted) = lost {
        return Judgement::new(Verdict::HarnessError, interrupted.to_string());
    }
    if let Some(obstacle) = last.obstacle(case) {
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
    if case.scenario.cut_after.is_some() && lost.is_none() {
        return Judgement::new(Verdict::NotExercised, "the stream ended before the client could disconnect");
    }
    let missing = match case.scenario.operation {
        _ if !case.scenario.status.is_empty() => Vec::new(),
        _ if case.wants_stream() => facts.missing(case.scenario, dialect),
        Operation::Create => facts.missing_as_a_whole(case.scenario),
        _ => Vec::new(),
    };
    if missing.is_empty() {
        return still_running(case, facts).unwrap_or(Judgement::PASS);
    }
    let times = if attempts.len() == 1 { "once".to_owned() } else { format!("{} times", attempts.len()) };
    let missing = format!("no {}", missing.join(", no "));
    let came = facts.ending(dialect);
    if let Some(limit) = case.limit().filter(|_| facts.is_cut_but_completed()) {
        let reason = format!(
            "the answer was cut at max_output_tokens {limit}, but {came}: it should be incomplete, with the reason \
             max_output_tokens"
        );
        return Judgement::new(Verdict::Fail, reason);
    }
    let reason = format!("requested {times}, but there was {missing}: {came}");
    Judgement::undecided(Verdict::NotExercised, UndecidedKind::NotElicited, reason).with_detail(missing)
}

/// Returns the verdict if the response to a case shows that the endpoint lacks an optional route, or ignores a setting.
pub(super) fn unsupported(case: &Case, facts: &Facts) -> Option<Judgement> {
    let feature = case.optional?;
    let status = facts.status.filter(|status| !case.scenario.status.contains(status))?;
    let is_missing = match status {
        405 | 501 => true,
        404 => !is_about_resource(facts),
        _ => false,
    };
    let detail = if is_missing {
        format!("{feature} ({} responds with {status})", route(case.scenario.operation))
    } else if feature == "background" && status == 200 && ignores_background(facts) {
        format!("{feature} (the endpoint ignores it)")
    } else {
        return None;
    };
    let reason = format!("unsupported: {detail}");
    Some(Judgement::undecided(Verdict::NotExercised, UndecidedKind::Unsupported, reason).with_detail(detail))
}

/// Returns whether a response to a request for a background response is one in the foreground.
fn ignores_background(facts: &Facts) -> bool {
    let Some(response) = &facts.response else { return false };
    let is_background = response.get("background").and_then(Value::as_bool);
    // In the background, it would only have begun; a stream ends either way.
    if facts.is_stream {
        return is_background == Some(false);
    }
    is_background != Some(true) && response.get("status").is_some_and(|status| status == "completed")
}

/// Returns whether a 404 is about a response, not about an unknown route: its message names the response.
fn is_about_resource(facts: &Facts) -> bool {
    let (_, message) = facts.error();
    let path = facts.url.split(['?', '#']).next().unwrap_or_default().to_lowercase();
    let path = path.splitn(4, '/').nth(3).unwrap_or_default();
    // Messages about routes contain the whole path, or a part of it that begins at a slash.
    let is_about_route = !path.is_empty() && message.contains(path) || message.contains("/responses");
    let id = path.split('/').skip_while(|part| *part != "responses").nth(1).unwrap_or_default();
    !is_about_route && (message.contains("response") || !id.is_empty() && message.contains(id))
}

/// Returns the route of an operation.
const fn route(operation: Operation) -> &'static str {
    match operation {
        Operation::Create => "POST /responses",
        Operation::Retrieve | Operation::Poll => "GET /responses/{id}",
        Operation::Delete => "DELETE /responses/{id}",
        Operation::Cancel => "POST /responses/{id}/cancel",
        Operation::InputItems => "GET /responses/{id}/input_items",
        Operation::Resume => "GET /responses/{id}?stream=true",
        Operation::Compact => "POST /responses/compact",
        Operation::Steer | Operation::Inject => "a WebSocket of /responses",
    }
}

/// Returns why a response belongs to another request, by its echoed settings. An endpoint may omit settings
/// and add to them.
fn other_request(facts: &Facts) -> Option<String> {
    let (sent, came) = (facts.request.as_ref()?, facts.response.as_ref()?);
    let lacking = lacks_instructions(sent, came)
        .or_else(|| lacks_metadata(sent, came))
        .or_else(|| lacks_tool(sent, came));
    lacking.map(|lacking| format!("the response belongs to another request: {lacking}"))
}

fn lacks_instructions(sent: &Value, came: &Value) -> Option<String> {
    let sent = sent.get("instructions")?.as_str()?;
    let came = came.get("instructions").filter(|came| !came.is_null())?;
    let is_there = match came {
        Value::String(text) => text.is_empty() || text.contains(sent),
        items => items.to_string().contains(sent),
    };
    (!is_there).then(|| format!("its instructions lack {sent:?}"))
}

fn lacks_metadata(sent: &Value, came: &Value) -> Option<String> {
    let came = came.get("metadata")?.as_object().filter(|came| !came.is_empty())?;
    let mut pairs = sent.get("metadata")?.as_object()?.iter();
    let (name, _) = pairs.find(|(name, value)| came.get(*name).is_some_and(|came| came != *value))?;
    Some(format!("its metadata has another {name:?}"))
}

fn lacks_tool(sent: &Value, came: &Value) -> Option<String> {
    fn names(tools: &Value) -> impl Iterator<Item = &str> {
        let functions = |tool: &&Value| tool.get("type").is_some_and(|kind| kind == "function");
        let all = tools.as_array().into_iter().flatten();
        all.filter(functions).filter_map(|tool| tool.get("name")?.as_str())
    }
    let came = came.get("tools").filter(|came| names(came).next().is_some())?;
    let lost = names(sent.get("tools")?).find(|sent| names(came).all(|came| came != *sent))?;
    Some(format!("its tools lack {lost:?}"))
}

/// Returns the verdict if the last turn on a WebSocket was not answered.
fn unanswered(case: &Case, facts: &Facts) -> Option<Judgement> {
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

fn wrong_status(case: &Case, facts: &Facts, status: u16) -> Option<Judgement> {
    let expected = case.expected_status();
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

/// Returns the failure of a polled response that is still running, if it is.
fn still_running(case: &Case, facts: &Facts) -> Option<Judgement> {
    let status = facts.response.as_ref()?.get("status")?.as_str()?;
    let is_running = matches!(status, "queued" | "in_progress");
    (case.scenario.operation == Operation::Poll && is_running)
        .then(|| Judgement::new(Verdict::NotExercised, format!("the response is still {status}")))
}

fn wrong_kind(case: &Case, facts: &Facts, report: &CaptureReport) -> Option<String> {
    let wants_stream = case.wants_stream();
    let is_stream = if case.turns.is_empty() { facts.is_stream } else { wants_stream };
    let expected = match case.scenario.operation {
        _ if !case.scenario.status.is_empty() => None,
        Operation::Create | Operation::Resume | Operation::Delete | Operation::Steer | Operation::Inject => {
            None
        }
        Operation::Retrieve | Operation::Poll | Operation::Cancel => Some("response"),
        Operation::InputItems => Some("list"),
        Operation::Compact => Some("response.compaction"),
    };
    let object = || facts.response.as_ref().and_then(|body| body.get("object")?.as_str());
    let reason = match (wants_stream, is_stream) {
        (true, false) => "a stream was requested, but the content type is not that of a stream",
        (false, true) => "the content type is that of a stream, but no stream was requested",
        (true, true) if report.events == 0 => "the stream has no events",
        (false, false) if !case.turns.is_empty() => return report.error.clone(),
        (false, false) if report.bodies == 0 => "the response has no body",
        (false, false) if expected.is_some() && object() != expected => {
            return expected.map(|expected| format!("`object` of the response is not {expected:?}"));
        }
        (false, false)
            if case.scenario.operation == Operation::Create
                && (report.unjudged > 0 || matches!(object(), Some("list" | "response.compaction"))) =>
        {
            "the body is neither a response nor an error"
        }
        _ => return report.error.clone(),
    };
    Some(reason.to_owned())
}
