//! The list of faults.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value, json};

use super::regardless::{request_about, request_faults};
use super::socket::socket_faults;
use super::violation::faults;
use crate::content::speech::{example, request};
use crate::rendering::wire::WireFault;
use checker::Rules;

/// A fault, with a request that triggers it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FaultInfo {
    /// Its name: the id of the broken rule, or of a transport fault.
    pub fault: &'static str,
    /// The kind of the fault.
    pub kind: FaultKind,
    /// The level of the broken rule, if any.
    pub level: Option<&'static str>,
    /// Its effect, in one line.
    pub effect: String,
    /// A request whose response has it.
    pub request: Value,
    /// Broken clients, with their failures.
    pub breaks: BTreeMap<&'static str, String>,
}

/// The kind of a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FaultKind {
    /// A broken rule in a response.
    Rule,
    /// A broken rule in a WebSocket turn.
    Websocket,
    /// A transport fault.
    Transport,
}

/// Returns all faults of some dialects. Those that several have are listed with the first one.
pub fn fault_list<'r>(dialects: impl IntoIterator<Item = &'r Rules>) -> Vec<FaultInfo> {
    let mut listed: Vec<FaultInfo> = Vec::new();
    for fault in dialects.into_iter().flat_map(faults_of) {
        if listed.iter().all(|other| other.fault != fault.fault) {
            listed.push(fault);
        }
    }
    listed
}

fn faults_of(rules: &Rules) -> Vec<FaultInfo> {
    let of_rule = |rule: &'static catalogue::Rule, kind, request: Value| FaultInfo {
        fault: rule.id,
        kind,
        level: Some(checker::level(rule, rules.dialect()).name()),
        effect: format!("breaks the rule: {}", rule.title),
        request,
        breaks: rule.in_dialect(rules.dialect()).broken_clients().into_iter().collect(),
    };
    let answers = faults(rules)
        .into_iter()
        .map(|(rule, golden)| of_rule(rule, FaultKind::Rule, example(golden).unwrap_or_default()));
    let hello = request("[[say Hello|, wor|ld.]]", rules.dialect().api);
    let turns = socket_faults(rules).into_iter().map(|(rule, turn)| FaultInfo {
        effect: format!("breaks the rule: {} (in {turn})", rule.title),
        ..of_rule(rule, FaultKind::Websocket, json!({"model": "default", "input": "[[error 400]]"}))
    });
    let transport = WireFault::ALL.into_iter().map(|fault| FaultInfo {
        fault: fault.name(),
        kind: FaultKind::Transport,
        level: None,
        effect: fault.effect().to_owned(),
        request: hello.clone(),
        breaks: BTreeMap::new(),
    });
    let about_requests = request_faults(rules).into_iter().filter_map(|(rule, _)| {
        let request = request_about(rule, rules.dialect())?;
        Some(of_rule(rule, FaultKind::Rule, request))
    });
    answers.chain(about_requests).chain(turns).chain(transport).collect()
}
