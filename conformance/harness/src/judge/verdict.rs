//! The verdict of a trial, computed only from recordings.

use spec::table::Operation;

use super::agree::agreement;
use super::answer::answer;
use super::attempt::Attempt;
use super::crowd::apart;
use super::facts::Facts;
use super::join::joined;
use crate::plan::{About, ScenarioCase};
use checker::Rules;
use results::{FailOn, Judgement, UndecidedKind, Verdict};

/// The verdict of a trial. The recordings are in order; the other one is the last of the related case.
pub fn verdict(
    case: &ScenarioCase,
    about: About,
    attempts: &[Attempt],
    compared: Option<&Attempt>,
    fail_on: FailOn,
    rules: &Rules,
) -> Judgement {
    let answer = answer(case, attempts, rules.dialect());
    if about == About::Answer {
        return answer;
    }
    let found = attempts.iter().flat_map(|attempt| attempt.findings(case, about, fail_on));
    let broken = fail_on.broken(found);
    if !broken.is_empty() {
        return Judgement::new(Verdict::Fail, broken);
    }
    match answer.verdict {
        Verdict::Pass if about == About::Agrees => {
            let agreed = agreement(case, &facts(attempts), compared.map(|attempt| &attempt.facts));
            match (attempts.last(), compared) {
                (Some(rest), Some(begun))
                    if agreed.verdict == Verdict::Pass && case.scenario.operation == Operation::Resume =>
                {
                    joined(begun, rest, rules, fail_on)
                }
                _ => agreed,
            }
        }
        Verdict::Pass if about == About::Apart => apart(&facts(attempts)),
        Verdict::Pass => Judgement::PASS,
        _ => {
            let reason = format!("see {}", case.trial(About::Answer));
            Judgement::undecided(Verdict::NotExercised, UndecidedKind::Unanswered, reason)
        }
    }
}

fn facts(attempts: &[Attempt]) -> Vec<&Facts> {
    attempts.iter().map(|attempt| &attempt.facts).collect()
}
