//! Sealed reasoning: it goes back to the upstream that issued it, as it was issued, and to no other.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};
use spec::Api;
use translation::{Part, Reply};

use super::history::{kind, walk};
use super::{End, Session, SessionTurn};
use crate::content::COMPACTION;
use crate::evidence::Response;
use crate::judge::parts::findings::{Findings, Problem};

/// Members with what only the upstream can read.
const SEALS: [&str; 3] = ["signature", "encrypted_content", "thoughtSignature"];
/// An item that is not finished may have another seal than in the end.
const UNFINISHED: &str = "response.output_item.added";

/// The seals of the answers of a session, at both ends.
pub(super) struct Seals<'e> {
    issued: BTreeSet<String>,
    /// The upstream's seals by those that the client got instead: a gateway may wrap them.
    wrapped: BTreeMap<String, Vec<String>>,
    /// The models that issued the seals of a session which moves to another provider.
    homes: BTreeMap<String, &'e str>,
}

pub(super) fn judge(findings: &mut Findings<'_>, session: &Session<'_>) {
    let seals = Seals::new(session);
    for (turn, upstream) in session.both() {
        seals.judge(findings, turn, upstream);
    }
}

pub(super) fn seals<'r>(api: &Api, request: &'r Value) -> Vec<&'r str> {
    let mut all = Vec::new();
    walk(request.get(api.request.input).unwrap_or(&Value::Null), &mut |members| all.extend(own(members)));
    all
}

/// The number of seals that are there, as often as they are wanted.
pub(super) fn kept(wanted: &[&str], own: &[&str]) -> usize {
    let mut rest = own.to_vec();
    let is_kept =
        |seal: &&&str| rest.iter().position(|it| it == *seal).map(|at| rest.swap_remove(at)).is_some();
    wanted.iter().filter(is_kept).count()
}

fn own(members: &Map<String, Value>) -> impl Iterator<Item = &str> {
    let names: &[&str] = match kind(members) {
        COMPACTION => &[],
        "redacted_thinking" => &["data"],
        _ => &SEALS,
    };
    let own = names.iter().filter_map(|name| members.get(*name)?.as_str());
    own.filter(|seal| !seal.is_empty())
}

/// The seals of an answer, each once. Some APIs have none, but members of gateways.
fn answered(reply: Option<&Reply>, response: Option<&Response>) -> Vec<String> {
    let parts = reply.into_iter().flat_map(|reply| &reply.parts);
    let read = parts.filter_map(|part| match part {
        Part::Reasoning(reasoning) => reasoning.seal.clone().filter(|seal| !seal.is_empty()),
        _ => None,
    });
    let mut all: Vec<String> = read.collect();
    if all.is_empty() {
        for value in response.map(Response::values).unwrap_or_default() {
            if value.get("type").and_then(Value::as_str) != Some(UNFINISHED) {
                walk(&value, &mut |members| all.extend(own(members).map(str::to_owned)));
            }
        }
    }
    let mut seen = BTreeSet::new();
    all.retain(|seal| seen.insert(seal.clone()));
    all
}

impl<'e> Seals<'e> {
    pub(super) fn new(session: &'e Session<'_>) -> Self {
        let has_moved = session.test.case.session.as_ref().is_some_and(|case| case.moves_at.is_some());
        let mut all = Self { issued: BTreeSet::new(), wrapped: BTreeMap::new(), homes: BTreeMap::new() };
        for turn in &session.turns {
            let [upstream, client] = turn.replies.each_ref().map(Option::as_ref);
            let issued = answered(upstream, turn.answer());
            let told = answered(client, turn.response());
            if has_moved {
                let model = &*turn.sent.question.model;
                for seal in issued.iter().chain(&told) {
                    all.homes.entry(seal.clone()).or_insert(model);
                }
            }
            let wrapped: Vec<&String> = issued.iter().filter(|seal| !told.contains(seal)).collect();
            let wrappers: Vec<&String> = told.iter().filter(|seal| !issued.contains(seal)).collect();
            // If the numbers differ, the pairs are unknown.
            let is_paired = wrapped.len() == wrappers.len();
            for (at, wrapper) in wrappers.into_iter().enumerate() {
                let within = wrapped.get(at).filter(|_| is_paired);
                let within = within.into_iter().map(|seal| (*seal).clone()).collect();
                all.wrapped.entry(wrapper.clone()).or_insert(within);
            }
            all.issued.extend(issued);
        }
        all
    }

    fn is_foreign(&self, seal: &str, turn: &SessionTurn<'_>) -> bool {
        self.homes.get(seal).is_some_and(|home| *home != turn.sent.question.model)
    }

    /// The seals of the client's request that the upstream has to get, as it issued them.
    pub(super) fn due<'s>(&'s self, turn: &'s SessionTurn<'_>) -> Vec<&'s str> {
        let mut due = Vec::new();
        for seal in turn.sent.seals().into_iter().filter(|seal| !self.is_foreign(seal, turn)) {
            match self.wrapped.get(seal) {
                Some(within) if !self.issued.contains(seal) => due.extend(within.iter().map(String::as_str)),
                _ => due.push(seal),
            }
        }
        due
    }

    fn judge(&self, findings: &mut Findings<'_>, turn: &SessionTurn<'_>, upstream: &End) {
        let (wanted, own) = (self.due(turn), upstream.seals());
        if let Some(seal) = own.iter().find(|seal| self.is_foreign(seal, turn)) {
            let message = format!("turn {}: what another provider sealed reaches this one", turn.number);
            findings.add("session/reasoning-home", Problem::new("", message).showing(seal, ""));
        }
        let mut rest = own.iter();
        if wanted.iter().all(|seal| rest.any(|it| it == seal)) {
            return;
        }
        let kept = kept(&wanted, &own);
        let kind = if kept < wanted.len() { "lost" } else { "order" };
        let message = format!(
            "turn {}: {kept} of {} signatures and encrypted thoughts of the client reach the upstream{}",
            turn.number,
            wanted.len(),
            if kept < wanted.len() { "" } else { ", in another order" }
        );
        findings.add("session/sealed-kept", Problem::new(kind, message));
    }
}
