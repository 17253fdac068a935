//! Totals of the trials of an endpoint.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::case::CaseReport;
use crate::{Judgement, Tally, UndecidedKind, Verdict};

/// A group of scenarios, and the results of their trials.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct GroupTotal {
    /// Its name: the prefix of its scenarios.
    pub name: String,
    /// Number of its requests, including twins.
    pub cases: u64,
    /// Results of the trials.
    #[serde(flatten)]
    pub trials: Tally,
}

/// Trials without a verdict for one reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Undecided {
    /// The reason.
    pub reason: String,
    /// The kind of reason.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub kind: UndecidedKind,
    /// The reason without what its kind already states: the missing events, the flag to pass, or the feature.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// Not exercised, or a harness error, if one is among them.
    pub verdict: Verdict,
    /// Number of trials.
    pub trials: u64,
    /// Their scenarios.
    pub cases: Vec<String>,
}

impl GroupTotal {
    pub(super) fn all(cases: &[CaseReport]) -> Vec<Self> {
        let mut groups: BTreeMap<&str, Self> = BTreeMap::new();
        for case in cases {
            let name = catalogue::group(&case.name);
            let group =
                groups.entry(name).or_insert_with(|| Self { name: name.to_owned(), ..Self::default() });
            group.cases += 1;
            group.trials.add(case.tally());
        }
        groups.into_values().collect()
    }
}

impl Undecided {
    /// Harness errors first, then the most frequent.
    pub(super) fn all(cases: &[CaseReport]) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        for case in cases {
            for told in &case.trials {
                let judged = &told.judged;
                if matches!(judged.verdict, Verdict::Pass | Verdict::Fail) {
                    continue;
                }
                let Judgement { reason, kind, detail, .. } = reason(case, judged);
                let Some(known) = all.iter_mut().find(|known| known.reason == reason) else {
                    let cases = vec![case.name.clone()];
                    all.push(Self { reason, kind, detail, verdict: judged.verdict, trials: 1, cases });
                    continue;
                };
                known.trials += 1;
                if judged.verdict == Verdict::HarnessError {
                    known.verdict = judged.verdict;
                }
                if known.cases.last() != Some(&case.name) {
                    known.cases.push(case.name.clone());
                }
            }
        }
        // The sort is stable: equal reasons stay in the order of scenarios.
        all.sort_by_key(|one| (one.verdict != Verdict::HarnessError, Reverse(one.trials)));
        all
    }
}

/// Trials that depend on the response share its reason.
fn reason(case: &CaseReport, judged: &Judgement) -> Judgement {
    let answer = case.trials.iter().find(|told| case.about(told) == "answer").map(|told| &told.judged);
    match answer {
        Some(answer) if answer.verdict == Verdict::Fail => {
            Judgement::new(judged.verdict, format!("no such response: {}", answer.reason))
        }
        Some(answer) if answer.verdict != Verdict::Pass => answer.clone(),
        _ => judged.clone(),
    }
}
