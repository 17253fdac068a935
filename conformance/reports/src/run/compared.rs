//! The rules, trials and options of a run for comparisons.

use results::{Options, RuleTotal, Run};

use crate::sheet::{Compared, RuleState, Side};
use crate::test::options;

pub(super) fn compared(run: &Run) -> Compared<'_> {
    let live = run.live.as_ref();
    Compared {
        side: Side {
            suite: run.suite.clone(),
            target: live.map(|live| live.target.clone()),
            model: live.map(|live| live.model.clone()),
            outcome: run.outcome,
            captures: Some(run.totals.captures),
            tests: None,
        },
        dialect: &run.dialect,
        options: live.map(|live| of_endpoint(&live.options)).unwrap_or_default(),
        nouns: live.map(|_| ["trial", "scenario"]),
        rules: Box::new(|| run.rules.iter().map(|rule| (&*rule.id, state(run, rule))).collect()),
    }
}

fn of_endpoint(of: &Options) -> Vec<(&'static str, String)> {
    let words =
        |names: &[String], none: &str| if names.is_empty() { none.to_owned() } else { names.join(", ") };
    let selected = [
        ("profiles", words(&of.profiles, "all")),
        ("rules selected", words(&of.select, "all")),
        ("rules ignored", words(&of.ignore, "none")),
    ];
    selected.into_iter().chain(options(of.fail_on(), &of.levels)).collect()
}

fn state(run: &Run, rule: &RuleTotal) -> RuleState {
    let causes = run.causes.iter().filter(|cause| cause.rule == rule.id);
    RuleState {
        worst: rule.worst,
        captures: rule.captures,
        times: rule.times,
        groups: causes.flat_map(|cause| &cause.cases).cloned().collect(),
    }
}
