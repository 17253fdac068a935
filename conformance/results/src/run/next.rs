//! Suggested steps after a run.

use catalogue::Level;

use super::case::CaseReport;
use super::live::LiveReport;
use super::totals::RuleTotal;
use super::trials::Undecided;
use crate::{AUTO, Outcome, Run, Step, UndecidedKind, Verdict, shell_word};

/// Maximum number of rules with a step.
const RULES: usize = 1;

pub(super) fn next(run: &Run) -> Vec<Step> {
    let mut steps = Vec::new();
    let worst = run.broken();
    for cause in run.causes.iter().filter(|cause| cause.is_shown(Level::Should)).take(RULES) {
        let why = format!("show the requirement of {} and a stream that breaks it", cause.rule);
        steps.push(Step::new(why, format!("conformance explain {}", shell_word(&cause.rule))));
    }
    match &run.live {
        Some(live) => of_endpoint(run, live, &mut steps),
        None => of_recordings(run, &worst, &mut steps),
    }
    steps
}

fn of_endpoint(run: &Run, live: &LiveReport, steps: &mut Vec<Step>) {
    let command = |more: &str| {
        if let Some(name) = &live.target_name {
            // The configuration has the model and the dialect.
            return format!("conformance run --target {}{more}", shell_word(name));
        }
        let mut command = "conformance".to_owned();
        if !live.is_reference {
            let (target, model) = (shell_word(&live.target), shell_word(&live.model));
            command = format!("{command} --target {target} --model {model}");
        }
        format!("{command} --dialect {}{more}", shell_word(flag(run)))
    };
    let undecided = |kind| run.undecided.iter().find(move |undecided| undecided.kind == kind);
    if let Some(obstacle) = &live.obstacle {
        if obstacle.class == UndecidedKind::Network {
            let curl = format!("curl -i {}", shell_word(&live.target));
            steps.push(Step::new("see what answers at the URL", curl));
        }
        return;
    }
    let failed = |case: &&CaseReport| case.trials.iter().any(|told| told.judged.verdict == Verdict::Fail);
    if let Some(case) = live.cases.iter().find(failed) {
        let why = format!("send only {} again", case.name);
        steps.push(Step::new(why, command(&format!(" {}", shell_word(&format!("{}::", case.name))))));
    }
    let has_varied = |undecided: &&Undecided| {
        undecided
            .cases
            .iter()
            .any(|name| live.cases.iter().any(|case| case.name == *name && varies(case, run)))
    };
    if let Some(undecided) = undecided(UndecidedKind::NotElicited).filter(has_varied) {
        let more = format!(" --attempts {}", (live.options.attempts * 3).max(10));
        let case = undecided.cases.first().map(|case| format!(" {}", shell_word(case))).unwrap_or_default();
        steps.push(Step::new("make more attempts for missing events", command(&format!("{more}{case}"))));
    }
    let unsupported = live.unsupported();
    if !unsupported.is_empty() {
        let lacks = live.options.lacks.iter().map(String::as_str).chain(unsupported);
        let lacks: Vec<&str> = lacks.collect();
        let why = "exclude unsupported features";
        steps.push(Step::new(why, command(&format!(" --without {}", lacks.join(",")))));
    }
    if live.options.features.is_some() && live.has(Verdict::NotExercised) {
        let why = "list the features that scenarios need";
        steps.push(Step::new(why, "conformance list scenarios".to_owned()));
    }
    if run.outcome == Outcome::Passed && live.is_reference {
        let target = "conformance --target URL --model MODEL --out run";
        steps.push(Step::new("test an endpoint", target.to_owned()));
    }
}

/// The answers to the case differ, so that further ones may have what is missing.
fn varies(case: &CaseReport, run: &Run) -> bool {
    let mut answers =
        case.attempts.iter().filter_map(|at| run.captures.get(*at)).map(|capture| capture.events);
    let first = answers.next();
    case.attempts.len() < 2 || answers.any(|events| Some(events) != first)
}

/// The value of `--dialect`.
fn flag(run: &Run) -> &str {
    spec::dialect(&run.dialect).map_or(&run.dialect, |dialect| dialect.flag())
}

fn of_recordings(run: &Run, worst: &[&RuleTotal], steps: &mut Vec<Step>) {
    let first = worst.first().and_then(|rule| Some((rule, run.captures.get(rule.first?[0])?)));
    let Some((rule, capture)) = first.filter(|(_, capture)| capture.name != "standard input") else { return };
    let path = capture.path();
    // An exchange that passed a tap is no file.
    if path.contains("://") {
        return;
    }
    // Such characters are escaped when they are shown, so that the name would be another one.
    if path.chars().any(|character| character.is_control() || character == '\u{fffd}') {
        return;
    }
    let folder = if path.starts_with('-') { "./" } else { "" };
    let dialect =
        if run.dialect == AUTO { String::new() } else { format!(" --dialect {}", shell_word(flag(run))) };
    let named = format!("{folder}{}{dialect}", shell_word(&path));
    if worst.len() > 1 {
        let command = format!("conformance check {named} --select {}", shell_word(&rule.id));
        steps.push(Step::new(format!("show only {}", rule.id), command));
    }
    if !run.unmeasured_clients().is_empty() {
        let why = "see what the clients do that were not measured with these findings";
        steps.push(Step::new(why, format!("conformance impact {named}")));
    }
}
