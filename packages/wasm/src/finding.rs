//! Findings for JavaScript.

use std::borrow::Cow;

use checker::Finding;
use results::FailOn;
use serde::Serialize;

/// A finding as in a JSON report, with the values that reports derive from it.
#[derive(Serialize)]
struct Told<'f> {
    #[serde(flatten)]
    finding: &'f Finding,
    clients: Vec<&'static str>,
    fix: Option<Cow<'static, str>>,
    fails_on: Option<FailOn>,
}

pub(crate) fn json(found: &[Finding]) -> Vec<u8> {
    let told = |finding| Told {
        finding,
        clients: Finding::broken_clients(finding).into_iter().map(|(client, _)| client).collect(),
        fix: finding.fix(),
        fails_on: FailOn::of(finding),
    };
    let all: Vec<Told<'_>> = found.iter().map(told).collect();
    serde_json::to_vec(&all).unwrap_or_default()
}
