//! The client's response by the rules of its API.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeSet;

use catalogue::BETWEEN_RULES;
use checker::{Answer, Checker, Exchange, Finding, Frame, Headers, Places, Request, sse};
use results::text::{cut, visible};
use results::{FailOn, TestFinding, cause_id, cause_message};
use serde_json::Value;
use spec::Dialect;
use translation::Reply;

use crate::evidence::{Exchanged, Response};
use crate::judge::Turn;
use crate::judge::parts::findings::shown;
use crate::judge::parts::framing::is_stream;

/// Maximum number of characters of a message, which may list all that an object lacks.
const MESSAGE: usize = 600;

/// Findings by the rules of the client's API that the upstream's response does not have: of the same API, it may have been
/// passed on as it was.
pub(in crate::judge) fn own_findings(turn: &Turn<'_>, is_whole: bool) -> Vec<Finding> {
    let mut findings = check(turn.test.front, turn.client, is_whole);
    let is_replaced =
        |finding: &Finding| BETWEEN_RULES.iter().any(|rule| rule.replaces.contains(&&*finding.rule));
    findings.retain(|finding| !is_replaced(finding));
    if turn.test.front.api.name == turn.test.upstream.api.name && !findings.is_empty() {
        let answered = turn.requests.iter().rev().find(|exchange| exchange.response.is_some());
        let of_upstream =
            answered.map(|exchange| check(turn.test.front, exchange, is_whole)).unwrap_or_default();
        let is_of_upstream = |finding: &Finding| of_upstream.iter().any(|own| own.kind() == finding.kind());
        findings.retain(|finding| !is_of_upstream(finding));
    }
    findings
}

/// Clients that break where a stream has no end, besides what else is found in it.
pub(in crate::judge) fn broken_by_missing_end(turn: &Turn<'_>, found: &[Finding]) -> Vec<String> {
    let is_new = |finding: &&Finding| found.iter().all(|known| known.kind() != finding.kind());
    let whole = check(turn.test.front, turn.client, true);
    let clients: BTreeSet<&str> = whole.iter().filter(is_new).flat_map(Finding::measured_breaks).collect();
    clients.into_iter().map(str::to_owned).collect()
}

/// By the rules of the client's API. The rest of a response that is not whole is not missed.
pub(in crate::judge) fn check(
    dialect: &'static Dialect,
    exchange: &Exchanged,
    is_whole: bool,
) -> Vec<Finding> {
    let Some(response) = exchange.response.as_ref().filter(|response| response.status > 0) else {
        return Vec::new();
    };
    let mut checker = Checker::new(dialect);
    let request = Request {
        method: "POST".into(),
        url: Cow::Borrowed(&exchange.path),
        headers: headers(&exchange.headers),
        body: Some(String::from_utf8_lossy(&exchange.body)),
    };
    let head = Exchange {
        status: Some(response.status),
        headers: headers(&response.headers),
        request: Some(request),
        ..Exchange::default()
    };
    checker.exchange(&head);
    let body = response.body();
    if is_stream(response, &body) {
        checker.push(&body);
    } else if !body.is_empty() {
        let text = String::from_utf8_lossy(&body);
        checker.body(&Frame {
            data: Some(text),
            source: &body,
            bytes: 0..body.len() as u64,
            line: 1,
            places: Places::At(0),
            terminated: true,
            ..Frame::default()
        });
    }
    if is_whole {
        checker.finish();
    }
    checker.take_findings().0
}

pub(in crate::judge) fn empty_texts(dialect: &'static Dialect, response: &Response) -> usize {
    let body = response.body();
    let answer = if is_stream(response, &body) {
        Answer::of_stream(dialect, &body)
    } else {
        Answer::of_body(dialect, &serde_json::from_slice(&body).unwrap_or_default())
    };
    answer.texts.iter().filter(|text| text.is_empty()).count()
}

/// In an API whose streams end with the whole answer.
pub(in crate::judge) fn finished(dialect: &'static Dialect, response: &Response) -> Option<Reply> {
    let snapshot = dialect.snapshot_member()?;
    let mut last = None;
    let mut parser = sse::Parser::default();
    parser.push(&response.body(), &mut |frame: Frame<'_>| {
        let event = frame.data.as_deref().and_then(|data| serde_json::from_str::<Value>(data).ok());
        last = event.and_then(|mut event| Some(event.get_mut(snapshot)?.take())).or(last.take());
    });
    let reply = Reply::of_body(dialect, 200, last?.to_string().as_bytes());
    Some(reply).filter(|reply| !reply.parts.is_empty())
}

/// One for each cause: the members that one object lacks are listed together.
pub(in crate::judge) fn by_cause(findings: &[Finding], dialect: &'static Dialect) -> Vec<TestFinding> {
    let mut causes: Vec<(String, Vec<&Finding>)> = Vec::new();
    for finding in findings {
        let kind = cause_id(finding, dialect);
        match causes.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, all)) => all.push(finding),
            None => causes.push((kind, vec![finding])),
        }
    }
    causes.into_iter().filter_map(|(kind, findings)| of_cause(kind, findings)).collect()
}

fn of_cause(kind: String, mut findings: Vec<&Finding>) -> Option<TestFinding> {
    // Properties that break clients come first.
    findings.sort_by_key(|finding| Reverse(finding.measured_breaks().len()));
    let first = findings.first()?;
    let breaks: BTreeSet<&str> = findings.iter().flat_map(|finding| finding.measured_breaks()).collect();
    Some(TestFinding {
        rule: first.rule.to_string(),
        level: findings.iter().map(|finding| finding.level).max()?,
        fails: findings.iter().any(|finding| FailOn::default().fails(finding)),
        breaks: breaks.into_iter().map(str::to_owned).collect(),
        message: cut(&visible(&cause_message(&findings)), MESSAGE),
        kind,
        upstream: String::new(),
        client: shown(&first.place.excerpt.text),
    })
}

fn headers(headers: &[(String, String)]) -> Headers<'_> {
    headers.iter().map(|(name, value)| (name.as_str().into(), value.as_str().into())).collect()
}
