//! The faults that a client can be tested with, for people and programs.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value, json};

use super::wire::WireFault;
use super::{example, faults, socket_faults};
use checker::Rules;

/// A fault, and how to see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FaultInfo {
    /// Its name: the id of the rule that it breaks, or that of a fault of transport.
    pub fault: &'static str,
    /// What it changes.
    pub kind: FaultKind,
    /// How binding the broken rule is; none, where none is broken.
    pub level: Option<&'static str>,
    /// What happens, or what no longer holds, in a line.
    pub effect: String,
    /// A request whose answer shows it.
    pub request: Value,
    /// The clients that are known to fail, with how they do.
    pub breaks: BTreeMap<&'static str, String>,
}

/// What a fault changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FaultKind {
    /// It breaks a rule in an answer.
    Rule,
    /// It breaks a rule in a turn on a WebSocket.
    Websocket,
    /// It is one of transport.
    Transport,
}

/// Returns all faults of a dialect.
pub fn fault_list(rules: &Rules) -> Vec<FaultInfo> {
    let of_rule = |rule: &'static catalogue::Rule, kind, request: Value| FaultInfo {
        fault: rule.id,
        kind,
        level: Some(checker::level(rule, rules.dialect()).name()),
        effect: format!("breaks the rule: {}", rule.title),
        request,
        breaks: rule.broken_clients().into_iter().collect(),
    };
    let answers = faults(rules)
        .into_iter()
        .map(|(rule, golden)| of_rule(rule, FaultKind::Rule, example(golden).unwrap_or_default()));
    let hello = json!({"model": "default", "input": "[[say Hello|, wor|ld.]]", "stream": true});
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
    answers.chain(turns).chain(transport).collect()
}
