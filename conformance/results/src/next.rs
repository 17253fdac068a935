//! What to do after a run.

use catalogue::Level;
use serde::{Deserialize, Serialize};

use super::live::{CaseReport, LiveReport, UndecidedKind, Verdict};
use super::text::cut;
use super::totals::RuleTotal;
use super::{Outcome, Run, shell_word};

/// Something to do next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Step {
    /// What for.
    pub why: String,
    /// What to enter in a shell.
    pub command: String,
}

/// So many rules are worth a step each.
const RULES: usize = 1;

impl Step {
    fn new(why: impl Into<String>, command: String) -> Self {
        Self { why: why.into(), command }
    }

    /// All that a run suggests.
    pub(super) fn all(run: &Run) -> Vec<Self> {
        let mut steps = Vec::new();
        let worst = run.broken();
        for cause in run.causes.iter().filter(|cause| cause.level >= Level::Should).take(RULES) {
            let why = format!("see what {} demands, and a stream that breaks it", cause.rule);
            steps.push(Self::new(why, format!("conformance explain {}", shell_word(&cause.rule))));
        }
        match &run.live {
            Some(live) => of_endpoint(run, live, &mut steps),
            None => of_recordings(run, &worst, &mut steps),
        }
        steps
    }
}

fn of_endpoint(run: &Run, live: &LiveReport, steps: &mut Vec<Step>) {
    let command = |more: &str| {
        let mut command = "conformance".to_owned();
        if !live.is_reference {
            let (target, model) = (shell_word(&live.target), shell_word(&live.model));
            command = format!("{command} --target {target} --model {model}");
        }
        format!("{command} --dialect {}{more}", shell_word(&run.dialect))
    };
    let undecided = |kind| run.undecided.iter().find(move |undecided| undecided.kind == kind);
    if let Some(undecided) = undecided(UndecidedKind::Unconnected) {
        let why = format!(
            "{}: start it, or correct --target, then see what it answers by itself",
            cut(&undecided.reason, 200)
        );
        steps.push(Step::new(why, format!("curl -i {}", shell_word(&live.target))));
    }
    let failed = |case: &&CaseReport| case.trials.iter().any(|told| told.judged.verdict == Verdict::Fail);
    if let Some(case) = live.cases.iter().find(failed) {
        let why = format!("send {} again, alone", case.name);
        steps.push(Step::new(why, command(&format!(" {}", shell_word(&format!("{}::", case.name))))));
    }
    if let Some(undecided) = undecided(UndecidedKind::NotElicited) {
        let more = format!(" --attempts {}", (live.options.attempts * 3).max(10));
        let case = undecided.cases.first().map(|case| format!(" {}", shell_word(case))).unwrap_or_default();
        steps.push(Step::new("ask more often for what did not come", command(&format!("{more}{case}"))));
    }
    let unsupported = live.unsupported();
    if !unsupported.is_empty() {
        let lacks = live.options.lacks.iter().map(String::as_str).chain(unsupported);
        let lacks: Vec<&str> = lacks.collect();
        let why = "leave out what the endpoint does not support";
        steps.push(Step::new(why, command(&format!(" --without {}", lacks.join(",")))));
    }
    if live.options.features.is_some() && live.has(Verdict::NotExercised) {
        let why = "see which scenarios need which features";
        steps.push(Step::new(why, "conformance list scenarios".to_owned()));
    }
    if run.outcome == Outcome::Passed && live.is_reference {
        let target = "conformance --target URL --model MODEL --out run";
        steps.push(Step::new("run it against an endpoint", target.to_owned()));
    }
}

fn of_recordings(run: &Run, worst: &[&RuleTotal], steps: &mut Vec<Step>) {
    let Some(rule) = worst.first().filter(|_| worst.len() > 1) else { return };
    let first = rule.first.and_then(|[capture, _]| run.captures.get(capture));
    let Some(capture) = first.filter(|capture| capture.name != "standard input") else { return };
    let command = format!(
        "conformance check {} --dialect {} --select {}",
        shell_word(&capture.path()),
        shell_word(&run.dialect),
        shell_word(&rule.id)
    );
    steps.push(Step::new(format!("see {} alone", rule.id), command));
}
