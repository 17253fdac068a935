//! Responses that show that an endpoint cannot be tested: no access, no capacity, no such model, no such path.

use reqwest::StatusCode;
use serde_json::Value;
use spec::Api;
use spec::table::Operation;

use super::facts::Facts;
use crate::plan::ScenarioCase;
use recordings::capture::Loss;
use results::{Obstacle, Transport, UndecidedKind};

/// Advice if an endpoint stops answering.
pub(super) const STOPPED: &str = "look into its log, and start it again";
const KEY: &str = "pass --api-key, CONFORMANCE_API_KEY or --header";
const QUOTA: &str = "raise the quota of the account, or use another key";
const WRONG_PATH: &str = "is the path right? --target is the URL of the endpoint, with or without /v1";
const PROXY: &str = "look into what stands before the endpoint, or correct --target";

/// The reason why the response is no test of the endpoint, if there is one. A single response does not show whether a
/// path, or the endpoint, is there at all: an answer to an earlier request of the run does.
pub(super) fn obstacle(case: &ScenarioCase, facts: &Facts, follows_answer: bool) -> Option<Obstacle> {
    let Some(status) = facts.status else {
        return match &facts.lost {
            Some(Loss::Unconnected(reason)) => {
                let advice = if follows_answer { STOPPED } else { unconnected(reason) };
                Some(Obstacle::new(UndecidedKind::Network, &**reason, advice))
            }
            Some(Loss::Silent(reason)) if !follows_answer => {
                Some(Obstacle::new(UndecidedKind::Network, &**reason, "check that the endpoint is up"))
            }
            Some(Loss::Broken(reason)) if !follows_answer && is_first_route(case) => {
                let advice = "it takes connections, but closes them without a response: look into its log";
                Some(Obstacle::new(UndecidedKind::Network, &**reason, advice))
            }
            _ => None,
        };
    };
    // On a WebSocket, the status may be an earlier turn's.
    let is_earlier = facts.turns > 0 && facts.turns < case.turns.len();
    if is_earlier {
        return None;
    }
    if expected_status(case).contains(&status) {
        return hidden(case, facts, status, follows_answer);
    }
    if let Some(redirected) = redirected(case, facts, status, follows_answer) {
        return Some(redirected);
    }
    let (class, advice) = of_error(case, facts, status, follows_answer)?;
    let words = quoted(facts);
    let line = status_line(status);
    let reason = match class {
        UndecidedKind::Path => format!("nothing answers at {} ({line}){words}", facts.url),
        UndecidedKind::Network => format!("a proxy or gateway responds with {line}{words}"),
        _ => format!("the endpoint responds with {line}{words}"),
    };
    Some(Obstacle::new(class, reason, advice))
}

fn quoted(facts: &Facts) -> String {
    facts.words().map(|words| format!(": {words}")).unwrap_or_default()
}

/// Some scenarios expect an error status.
pub(super) const fn expected_status(case: &ScenarioCase) -> &'static [u16] {
    if case.scenario.status.is_empty() { &[200] } else { case.scenario.status }
}

/// A response with a good status can hide a web page, or an error of the account.
fn hidden(case: &ScenarioCase, facts: &Facts, status: u16, follows_answer: bool) -> Option<Obstacle> {
    if !(200..300).contains(&status) || !is_first_route(case) || !asks_default(case) {
        return None;
    }
    let words = quoted(facts);
    let line = status_line(status);
    if facts.is_page() && !follows_answer {
        let reason = format!("a web page answers at {} ({line}){words}", facts.url);
        return Some(Obstacle::new(UndecidedKind::Path, reason, WRONG_PATH));
    }
    let (class, advice) = of_account(facts, case.api)?;
    Some(Obstacle::new(class, format!("the endpoint responds with {line}, and an error{words}"), advice))
}

/// Some endpoints send errors of the account with a good status.
fn of_account(facts: &Facts, api: &Api) -> Option<(UndecidedKind, &'static str)> {
    let is_failed = |response: &Value| {
        if facts.root.is_some() && facts.root == api.root_body() {
            facts.state(api) == Some(api.status.failed)
        } else {
            response.get(api.error.member).is_some_and(|error| !error.is_null())
        }
    };
    let has_text = !facts.answer.text().is_empty()
        || facts.events.keys().any(|kind| kind.rsplit_once('.').is_some_and(|(_, last)| last == "delta"));
    if has_text || facts.error_event.is_none() && !facts.response.as_ref().is_some_and(is_failed) {
        return None;
    }
    let (code, _) = facts.error(api);
    let is = |codes: &[&str]| code.split(' ').any(|code| codes.contains(&code));
    let codes = api.error.codes;
    if is(codes.key) {
        Some((UndecidedKind::Auth, KEY))
    } else if is(codes.quota) {
        Some((UndecidedKind::Quota, QUOTA))
    } else if is(codes.rate) {
        Some((UndecidedKind::Rate, "rate limited; try --delay"))
    } else {
        None
    }
}

/// The first response leads to another host. Redirects to the same host were followed.
fn redirected(case: &ScenarioCase, facts: &Facts, status: u16, follows_answer: bool) -> Option<Obstacle> {
    if !(300..400).contains(&status) || follows_answer || !is_first_route(case) {
        return None;
    }
    let reason = format!("{} redirects to another host ({})", facts.url, status_line(status));
    let advice =
        "pass the URL that it redirects to with --target: another host is not given the key by itself";
    Some(Obstacle::new(UndecidedKind::Path, reason, advice))
}

/// Some cases request a model that fails by its name.
fn asks_default(case: &ScenarioCase) -> bool {
    spec::json::at(case.scenario.request, "/model") == Some("\"default\"")
}

pub(crate) fn status_line(status: u16) -> String {
    let code = StatusCode::from_u16(status).ok();
    let name = code.and_then(|code| code.canonical_reason());
    name.map_or_else(|| status.to_string(), |name| format!("{status} {name}"))
}

fn unconnected(reason: &str) -> &'static str {
    if reason.contains("certificate is self-signed") {
        "pass the certificate, or that of its authority, with --ca-file"
    } else if reason.contains("certificate") {
        "correct the certificate or --target"
    } else {
        "start it or correct --target"
    }
}

fn of_error(
    case: &ScenarioCase,
    facts: &Facts,
    status: u16,
    follows_answer: bool,
) -> Option<(UndecidedKind, &'static str)> {
    use UndecidedKind::{Auth, Model, Network, Overload, Path, Quota, Rate, Region};

    let (code, message) = facts.error(case.api);
    let says = |words: &[&str]| words.iter().any(|word| message.contains(word));
    if is_unknown_model(case, facts, status, follows_answer) {
        return Some((Model, "choose another with --model"));
    }
    let is_regional =
        code.contains("unsupported_country") || says(&["country, region", "your region", "your country"]);
    let is_page = facts.is_page();
    let is_error =
        facts.response.as_ref().is_some_and(|body| body.get("error").is_some_and(Value::is_object));
    let is_quota = ["quota", "billing", "credit"].iter().any(|word| code.contains(word))
        || says(&["quota", "billing", "credit balance"]);
    Some(match status {
        401 => (Auth, KEY),
        403 | 451 if is_regional => (Region, "run from a region that it serves"),
        402 => (Quota, "the account needs credit"),
        403 if !is_page => (Auth, "the key lacks the permission"),
        407 => (Auth, "the proxy requires authentication"),
        429 if is_quota => (Quota, QUOTA),
        429 => (Rate, "rate limited; try --delay"),
        451 => (Region, "run from a region that it serves"),
        502 | 504 | 520..=530 if status != 529 && !is_error => (Network, PROXY),
        503 | 529 => (Overload, "it has no capacity; try again later, or with --delay"),
        404 | 405 | 501 if !follows_answer && is_first_route(case) => (Path, WRONG_PATH),
        // The endpoint itself answers in JSON.
        _ if is_page && !follows_answer && is_first_route(case) => (Network, PROXY),
        _ => return None,
    })
}

/// Such a case needs nothing but the route of responses.
fn is_first_route(case: &ScenarioCase) -> bool {
    case.scenario.operation == Operation::Create
        && case.previous.is_none()
        && case.transport() != Transport::Websocket
}

/// Models that scenarios name are tests.
fn is_unknown_model(case: &ScenarioCase, facts: &Facts, status: u16, follows_answer: bool) -> bool {
    const WORDS: [&str; 8] = [
        "not exist",
        "not found",
        "unknown",
        "no such",
        "not a valid model",
        "invalid model",
        "not available",
        "have access",
    ];
    if !matches!(status, 400 | 403 | 404 | 422) || !asks_default(case) {
        return false;
    }
    let (code, message) = facts.error(case.api);
    if case.api.error.codes.model.iter().any(|known| code.contains(known)) {
        return true;
    }
    let model = facts.request.as_ref().and_then(|request| request.get("model")?.as_str());
    let is_named = model.is_some_and(|model| message.contains(&model.to_lowercase()));
    // Later, a message that names both may be about what the model cannot do.
    is_named
        && !follows_answer
        && message.contains("model")
        && WORDS.iter().any(|words| message.contains(words))
}
