//! Expected failures, which are reported but do not fail a run.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::live::Live;
use crate::plan::{About, ScenarioCase};
use results::Verdict;

/// A rule with expected failures in scenarios.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownFailure {
    /// The rule, or the test `answer` or `agrees`.
    pub rule: String,
    /// The scenarios, by the prefixes of their tests.
    pub scenarios: Vec<String>,
    /// The reason.
    pub reason: String,
}

/// The failures of a test, as in [`Known::rule`].
pub(super) fn failing(live: &Live, case: &ScenarioCase, at: usize, about: About) -> BTreeSet<String> {
    if live.judge(at, about).verdict != Verdict::Fail {
        return BTreeSet::new();
    }
    let attempts = live.attempts_of(at);
    let found =
        attempts.iter().flat_map(|attempt| attempt.findings(case, about, live.plan.options.fail_on()));
    let rules: BTreeSet<String> = found.map(|finding| finding.rule.to_string()).collect();
    if rules.is_empty() { BTreeSet::from([about.name().to_owned()]) } else { rules }
}

pub(super) fn reason<'k>(known: &'k [KnownFailure], case: &str, rule: &str) -> Option<&'k str> {
    let is_it = |known: &&KnownFailure| known.rule == rule && known.scenarios.iter().any(|name| name == case);
    known.iter().find(is_it).map(|known| known.reason.as_str())
}

pub(super) fn stale(live: &Live, due: &[(usize, About)], known: &[KnownFailure]) -> Vec<String> {
    let mut stale = Vec::new();
    for KnownFailure { rule, scenarios, .. } in known {
        for scenario in scenarios {
            if let Some(why) = unfounded(live, due, scenario, rule) {
                stale.push(format!("{rule} in {scenario}: {why}"));
            }
        }
    }
    stale
}

/// The reason why a failure should not be expected; `None` if it occurred, or if this run cannot show it.
fn unfounded(live: &Live, due: &[(usize, About)], scenario: &str, rule: &str) -> Option<String> {
    let Some(at) = live.plan.cases.iter().position(|case| case.name == scenario) else {
        return Some("the dialect has no such scenario".to_owned());
    };
    let case = live.plan.cases.get(at)?;
    if let Some(unfit) = &case.unfit {
        return Some(format!("the scenario is not sent: {}", unfit.reason));
    }
    let about = about(case, rule);
    if !due.contains(&(at, about)) || failing(live, case, at, about).contains(rule) {
        return None;
    }
    // An unfinished case may still fail.
    let whole = if rule == About::Answer.name() { about } else { About::Answer };
    (live.judge(at, whole).verdict == Verdict::Pass).then(|| "it no longer fails".to_owned())
}

fn about(case: &ScenarioCase, rule: &str) -> About {
    let group = catalogue::group(rule);
    case.trials.iter().copied().find(|about| about.name() == group).unwrap_or(About::Rest)
}

/// Known reasons are kept, and so are entries that this run cannot show.
pub(super) fn file(live: &Live, due: &[(usize, About)], known: &[KnownFailure]) -> String {
    let mut failures: BTreeMap<(String, String), BTreeSet<String>> = BTreeMap::new();
    for (at, about) in due {
        let Some(case) = live.plan.cases.get(*at) else { continue };
        for rule in failing(live, case, *at, *about) {
            let reason = reason(known, &case.name, &rule).unwrap_or_default().to_owned();
            failures.entry((rule, reason)).or_default().insert(case.name.clone());
        }
    }
    // Keep entries that this run cannot show.
    for KnownFailure { rule, scenarios, reason } in known {
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

/// A TOML string is a JSON string with one more escape.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}
