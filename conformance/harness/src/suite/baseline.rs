//! Failures that are known: they are told, and do not fail a run.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::live::{About, Case, Live};
use results::Verdict;

/// A rule that is known to be broken in scenarios.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Known {
    /// The rule; or, where it is not one that fails, the test: `answer` or `agrees`.
    pub rule: String,
    /// The scenarios, by the names that their tests begin with.
    pub scenarios: Vec<String>,
    /// Why that is so, and is borne.
    pub reason: String,
}

/// What fails in a test, by the names that [`Known::rule`] has.
pub(super) fn failing(live: &Live, case: &Case, at: usize, about: About) -> BTreeSet<String> {
    if live.judge(at, about).verdict != Verdict::Fail {
        return BTreeSet::new();
    }
    let attempts = live.attempts_of(at);
    let found = attempts.iter().flat_map(|attempt| attempt.findings(case, about, live.plan.least));
    let rules: BTreeSet<String> = found.map(|finding| finding.rule.to_string()).collect();
    if rules.is_empty() { BTreeSet::from([about.name().to_owned()]) } else { rules }
}

/// Why a failure is borne, if it is known.
pub(super) fn reason<'k>(known: &'k [Known], case: &str, rule: &str) -> Option<&'k str> {
    let is_it = |known: &&Known| known.rule == rule && known.scenarios.iter().any(|name| name == case);
    known.iter().find(is_it).map(|known| known.reason.as_str())
}

/// What is said to be known, and is not so any more.
pub(super) fn stale(live: &Live, due: &[(usize, About)], known: &[Known]) -> Vec<String> {
    let mut stale = Vec::new();
    for Known { rule, scenarios, .. } in known {
        for scenario in scenarios {
            if let Some(why) = unfounded(live, due, scenario, rule) {
                stale.push(format!("{rule} in {scenario}: {why}"));
            }
        }
    }
    stale
}

/// Why a failure should not be expected. Nothing, when it is there, or cannot be seen in this run.
fn unfounded(live: &Live, due: &[(usize, About)], scenario: &str, rule: &str) -> Option<String> {
    let Some(at) = live.plan.cases.iter().position(|case| case.name == scenario) else {
        return Some("the dialect has no such scenario".to_owned());
    };
    let case = live.plan.cases.get(at)?;
    if let Some(unfit) = &case.unfit {
        return Some(format!("the scenario is not sent: {unfit}"));
    }
    let about = about(case, rule);
    if !due.contains(&(at, about)) || failing(live, case, at, about).contains(rule) {
        return None;
    }
    // What did not come to its end may be as it was.
    let whole = if rule == About::Answer.name() { about } else { About::Answer };
    (live.judge(at, whole).verdict == Verdict::Pass).then(|| "it no longer fails".to_owned())
}

/// The test of a case that a rule belongs to.
fn about(case: &Case, rule: &str) -> About {
    let group = catalogue::group(rule);
    case.trials.iter().copied().find(|about| about.name() == group).unwrap_or(About::Rest)
}

/// All failures of a run, as a file to expect them by. Reasons that are known are kept, and so is what is known
/// and cannot be seen in this run.
pub(super) fn file(live: &Live, due: &[(usize, About)], known: &[Known]) -> String {
    let mut failures: BTreeMap<(String, String), BTreeSet<String>> = BTreeMap::new();
    for (at, about) in due {
        let Some(case) = live.plan.cases.get(*at) else { continue };
        for rule in failing(live, case, *at, *about) {
            let reason = reason(known, &case.name, &rule).unwrap_or_default().to_owned();
            failures.entry((rule, reason)).or_default().insert(case.name.clone());
        }
    }
    // What this run cannot show is as it was.
    for Known { rule, scenarios, reason } in known {
        for scenario in scenarios.iter().filter(|scenario| unfounded(live, due, scenario, rule).is_none()) {
            failures.entry((rule.clone(), reason.clone())).or_default().insert(scenario.clone());
        }
    }
    let mut text =
        "# Expected failures for `conformance --expected-failures`: a listed failure does not fail \
                    the run,\n# a listed test that passes does. Each \
                    needs a reason.\n"
            .to_owned();
    for ((rule, reason), scenarios) in failures {
        let _ = writeln!(text, "\n[[failure]]\nrule = {}\nscenarios = [", quoted(&rule));
        for scenario in scenarios {
            let _ = writeln!(text, "  {},", quoted(&scenario));
        }
        let _ = writeln!(text, "]\nreason = {}", quoted(&reason));
    }
    text
}

/// A string of TOML: one of JSON, but for a character that only TOML wants escaped.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}
