//! The demands of publishers on gateways in front of their agents, as far as both recordings show it.

use catalogue::{HandlingMode, Level};
use results::text::{counted, listed};
use serde_json::Value;

use super::canonical::{ATTRIBUTION, Part};
use super::course::is_query_refused;
use super::{End, Session, SessionTurn, header};
use crate::evidence::Response;
use crate::judge::parts::findings::{Findings, Problem, tail};
use crate::refusals::{self, TOKEN};

/// Maximum number of values that are named.
const MOST: usize = 10;
const VERSION: &str = "anthropic-version";
const BETAS: &str = "anthropic-beta";
const RETRY_AFTER: &str = "retry-after";
const SHOULD_RETRY: &str = "x-should-retry";
/// Statuses that clients recover by.
const STATUSES: [u16; 4] = [400, 413, 429, 529];

/// Members that other rules judge, or that belong to one end.
const JUDGED: [&str; 7] = [
    "model",
    "stream",
    "stream_options",
    "tools",
    "cache_control",
    "prompt_cache_key",
    "previous_response_id",
];

/// Features with a value in a header and a member in the request: the beginning of the value, the member, and one within it.
const PAIRS: [(&str, &str, Option<&str>); 3] = [
    ("context-management-", "context_management", None),
    ("effort-", "output_config", Some("effort")),
    ("structured-outputs-", "output_config", Some("format")),
];

pub(super) fn judge(findings: &mut Findings<'_>, session: &Session<'_>) {
    for turn in &session.turns {
        if is_query_refused(turn) && turn.requests.is_empty() {
            let message = format!("turn {}: the gateway does not know {}", turn.number, turn.client.path);
            findings.add("contract/query", Problem::new("refused", message));
        }
        errors(findings, session, turn);
        let Some(upstream) = &turn.got else { continue };
        attribution(findings, session, turn, upstream);
        if session.is_same {
            headers(findings, session, turn);
            system(findings, turn, upstream);
            members(findings, session, turn, upstream);
            pairs(findings, turn, upstream);
        }
    }
}

fn values(header: &str) -> Vec<&str> {
    header.split(',').map(str::trim).filter(|value| !value.is_empty()).collect()
}

fn headers(findings: &mut Findings<'_>, session: &Session<'_>, turn: &SessionTurn<'_>) {
    let Some(request) = turn.requests.first() else { return };
    let both = |name: &str| [&turn.client.headers, &request.headers].map(|headers| header(headers, name));
    let number = turn.number;
    if let [Some(sent), got] = both(VERSION)
        && got != Some(sent)
    {
        let message = format!("turn {number}: the header {VERSION} is another upstream");
        findings
            .add("contract/version", Problem::new("changed", message).showing(got.unwrap_or_default(), sent));
    }
    let open = turn.client.headers.iter().filter(|(name, _)| is_open(name));
    for (name, sent) in open.filter(|(name, sent)| header(&request.headers, name) != Some(sent)) {
        let got = header(&request.headers, name).unwrap_or_default();
        let message = format!("turn {number}: the header {name} is not the client's upstream");
        findings.add(
            "contract/open-list",
            Problem::new(name.as_str(), message).at(open_level(session)).showing(got, sent),
        );
    }
    let [Some(sent), got] = both(BETAS) else { return };
    let got = got.unwrap_or_default();
    let lost: Vec<&str> = values(sent).into_iter().filter(|value| !values(got).contains(value)).collect();
    if !lost.is_empty() {
        let message = format!(
            "turn {number}: the header {BETAS} loses {} of {} values: {}",
            lost.len(),
            values(sent).len(),
            listed(&lost, MOST, |value| (*value).to_owned())
        );
        findings.add("contract/beta", Problem::new("lost", message).showing(got, sent));
    } else if values(sent) != values(got) {
        let message = format!("turn {number}: the header {BETAS} has other values or another order upstream");
        findings.add("contract/beta", Problem::new("order", message).at(Level::Should).between(got, sent));
    }
}

/// The blocks of the system, in APIs whose requests have a list of them.
fn texts(end: &End) -> Vec<&str> {
    let list = end.api.request.instructions.map(|name| format!("{name}/"));
    let is_block = |part: &&Part| list.as_ref().is_some_and(|list| part.place.starts_with(list));
    end.parts.iter().filter(is_block).map(|part| part.text.as_str()).collect()
}

/// The instructions have the same blocks. One that is merged with the attribution has a rule of its own.
fn system(findings: &mut Findings<'_>, turn: &SessionTurn<'_>, upstream: &End) {
    let (sent, got) = (texts(&turn.sent), texts(upstream));
    let is_merged =
        merged(upstream).is_some() && got.len() + 1 == sent.len() && sent.get(2..) == got.get(1..);
    if sent == got || is_merged {
        return;
    }
    let message = format!(
        "turn {}: the system has {}, and {} or others upstream",
        turn.number,
        counted(sent.len() as u64, "block"),
        got.len()
    );
    let [own, wanted] = [got, sent].map(|texts| texts.join("\n"));
    findings.add("contract/system-kept", Problem::new("changed", message).between(&own, &wanted));
}

/// A text that has the attribution and more.
fn merged(upstream: &End) -> Option<&Part> {
    upstream.parts.iter().find(|part| part.text.contains(ATTRIBUTION) && !part.is_attribution)
}

/// The provider drops the whole block that begins with the attribution. Another one reads it as instructions, and loses none.
fn attribution(findings: &mut Findings<'_>, session: &Session<'_>, turn: &SessionTurn<'_>, upstream: &End) {
    if turn.sent.parts.iter().any(|part| part.is_attribution)
        && let Some(part) = merged(upstream)
    {
        let message =
            format!("turn {}: the attribution block is merged with other text upstream", turn.number);
        let level = if session.is_same { Level::Must } else { Level::Should };
        let problem = Problem::new("merged", message).at(level);
        findings.add("contract/attribution-alone", problem.showing(&part.text, ""));
    }
}

/// Gateways pass on names that they do not know.
fn open_level(session: &Session<'_>) -> Level {
    if session.test.mode == HandlingMode::Passthrough { Level::Must } else { Level::Should }
}

/// A header of the provider without a rule of its own. Browsers alone need the one that is left out.
fn is_open(name: &str) -> bool {
    name.starts_with("anthropic-")
        && ![VERSION, BETAS, "anthropic-dangerous-direct-browser-access"].contains(&name)
}

fn members(findings: &mut Findings<'_>, session: &Session<'_>, turn: &SessionTurn<'_>, upstream: &End) {
    let level = open_level(session);
    let Some(sent) = turn.sent.request.as_object() else { return };
    let is_paired = |name: &str| PAIRS.iter().any(|(_, member, _)| *member == name);
    let shape = &turn.sent.api.request;
    let is_judged = |name: &str| {
        JUDGED.contains(&name) || name == shape.input || shape.instructions == Some(name) || is_paired(name)
    };
    for (name, value) in sent.iter().filter(|(name, _)| !is_judged(name)) {
        let problem = match upstream.request.get(name) {
            Some(own) if own == value => continue,
            Some(own) => {
                let message = format!("turn {}: the member `{name}` has another value upstream", turn.number);
                Problem::new(format!("{name} changed"), message).between(&own.to_string(), &value.to_string())
            }
            None => {
                let message = format!("turn {}: the member `{name}` is not upstream", turn.number);
                Problem::new(format!("{name} lost"), message).showing("", &value.to_string())
            }
        };
        findings.add("contract/open-list", problem.at(level));
    }
}

/// A feature whose header is upstream has its member there, too.
fn pairs(findings: &mut Findings<'_>, turn: &SessionTurn<'_>, upstream: &End) {
    let Some(request) = turn.requests.first() else { return };
    let has_value = |headers: &[(String, String)], begin: &str| {
        values(header(headers, BETAS).unwrap_or_default()).iter().any(|value| value.starts_with(begin))
    };
    let has_member = |request: &Value, name: &str, inner: Option<&str>| {
        let member = request.get(name);
        inner.map_or(member, |inner| member?.get(inner)).is_some()
    };
    for (begin, name, inner) in PAIRS {
        let is_sent = has_value(&turn.client.headers, begin) && has_member(&turn.sent.request, name, inner);
        if is_sent && has_value(&request.headers, begin) && !has_member(&upstream.request, name, inner) {
            let name = inner.map_or_else(|| name.to_owned(), |inner| format!("{name}.{inner}"));
            let message = format!(
                "turn {}: {BETAS} has {begin}… upstream, and the request no `{name}`, which the client sent",
                turn.number
            );
            findings.add("contract/pairs", Problem::new(name, message));
        }
    }
}

/// Clients recover by the status, the words and headers of a refusal.
fn errors(findings: &mut Findings<'_>, session: &Session<'_>, turn: &SessionTurn<'_>) {
    let (Some(answer), Some(response)) = (turn.answer(), turn.response()) else { return };
    if answer.status < 400 || response.status == 0 {
        return;
    }
    let number = turn.number;
    if STATUSES.contains(&answer.status) && response.status != answer.status {
        // A failure that a WebSocket does not name by a status.
        let is_unnamed = turn.client.upgrade == Some(101) && response.status < 400;
        let got = if is_unnamed { "no status".to_owned() } else { response.status.to_string() };
        let message =
            format!("turn {number}: the upstream answers with {}, the client gets {got}", answer.status);
        findings.add("contract/status", Problem::new(answer.status.to_string(), message));
    }
    if response.status >= 400 {
        words(findings, turn, [answer, response]);
        token(findings, session, turn, answer);
    }
    for (name, rule, level) in [
        (RETRY_AFTER, "contract/retry-after", Level::Must),
        (SHOULD_RETRY, "contract/should-retry", Level::Should),
    ] {
        if let Some(sent) = answer.header(name)
            && response.header(name) != Some(sent)
        {
            let got = response.header(name).unwrap_or_default();
            let message = format!(
                "turn {number}: the header {name} of status {} does not reach the client",
                answer.status
            );
            findings.add(rule, Problem::new("lost", message).at(level).showing(sent, got));
        }
    }
}

fn words(findings: &mut Findings<'_>, turn: &SessionTurn<'_>, [answer, response]: [&Response; 2]) {
    let Some(message) = turn.messages()[0].filter(|message| !message.is_empty()) else { return };
    let body = String::from_utf8_lossy(&response.body()).into_owned();
    // Texts in JSON, also in JSON that is a text of JSON.
    let plain = |text: &str| text.replace('\\', "");
    let is_contained = plain(&body).contains(&plain(message))
        || plain(&body).contains(&plain(&Value::from(message).to_string()).trim_matches('"').to_owned());
    if !is_contained && !body.contains(TOKEN) {
        let message =
            format!("turn {}: the words of the upstream's error do not reach the client", turn.number);
        let sides = [tail(&answer.body()), tail(&response.body())];
        findings.add("contract/error-body", Problem::new("words", message).showing(&sides[0], &sides[1]));
    }
}

/// A token stands for the upstream's words: it is the whole message, and names their class.
fn token(findings: &mut Findings<'_>, session: &Session<'_>, turn: &SessionTurn<'_>, answer: &Response) {
    let [sent, Some(got)] = turn.messages() else { return };
    let sent = sent.unwrap_or_default();
    if !got.contains(TOKEN) || sent.contains(TOKEN) {
        return;
    }
    let betas = values(header(&turn.client.headers, BETAS).unwrap_or_default());
    let classes = refusals::classes(answer.status, sent, &betas);
    let tokens: Vec<String> = classes.iter().map(|class| format!("{TOKEN} {class}")).collect();
    // Agents know the words of their own API alone.
    if tokens.is_empty() && !session.is_same || tokens.iter().any(|token| got == token) {
        return;
    }
    let wanted = if tokens.is_empty() { "no class".to_owned() } else { tokens.join(" or ") };
    let message = format!(
        "turn {}: the client gets a token that does not fit the upstream's words: {wanted}",
        turn.number
    );
    findings.add("contract/error-token", Problem::new("class", message).showing(sent, got));
}

/// Number of refusals whose `Retry-After` the client got, and of those that had it.
pub(super) fn retry_after(session: &Session<'_>) -> [usize; 2] {
    let refused = session.turns.iter().filter_map(|turn| Some((turn.answer()?, turn.response()?)));
    let named = refused.filter_map(|(answer, response)| Some((answer.header(RETRY_AFTER)?, response)));
    named.fold([0, 0], |[kept, all], (sent, response)| {
        [kept + usize::from(response.header(RETRY_AFTER) == Some(sent)), all + 1]
    })
}
