//! Twins: the same scenario over several APIs of one endpoint, whose answers are compared in the terms that all APIs share.

mod differ;
mod terms;
mod tool;

use spec::table::Operation;

use crate::judge::{Attempt, Facts, answer};
use crate::plan::ScenarioCase;
use catalogue::Level;
use differ::{Side, differences};
use results::{Judgement, TwinResult, UndecidedKind, Verdict};

pub use differ::Strictness;
pub use terms::{Aspect, Declared, declared};

/// The prefix of the tests' names.
pub const PREFIX: &str = "twins::";

/// The answer to a case in one of several runs.
#[derive(Debug, Clone, Copy)]
pub struct TwinSide<'s> {
    /// The dialect of the run.
    pub dialect: &'static spec::Dialect,
    /// The case.
    pub case: &'s ScenarioCase,
    /// Its attempts, in order.
    pub attempts: &'s [Attempt],
}

/// The name of the test that compares a case.
pub fn name(case: &str) -> String {
    format!("{PREFIX}{case}")
}

/// The names of the cases of several runs, each once.
pub fn names<'c>(runs: impl Iterator<Item = &'c [ScenarioCase]>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for case in runs.flatten().filter(|case| is_comparable(case)) {
        if !names.contains(&case.name) {
            names.push(case.name.clone());
        }
    }
    names
}

/// Returns whether a case can be compared: its request is one of a new response, and its answer a whole one.
pub fn is_comparable(case: &ScenarioCase) -> bool {
    case.scenario.operation == Operation::Create
        && case.turns.is_empty()
        && case.scenario.cut_after.is_none()
        && !case.is_marked()
        && case.unfit.is_none()
}

/// Compares the answers of several runs to a case.
pub fn twin(case: &str, sides: &[TwinSide<'_>], strictness: Strictness) -> TwinResult {
    let mut result =
        TwinResult { name: name(case), judged: Judgement::PASS, notes: Vec::new(), declared: Vec::new() };
    let passed =
        |side: &TwinSide<'_>| answer(side.case, side.attempts, side.dialect).verdict == Verdict::Pass;
    let facts: Vec<(TwinSide<'_>, Vec<&Facts>)> = sides
        .iter()
        .filter(|side| passed(side))
        .map(|side| (*side, side.attempts.iter().map(|attempt| &attempt.facts).collect()))
        .collect();
    let unanswered: Vec<String> = sides
        .iter()
        .filter(|side| !passed(side))
        .map(|side| format!("{}/{case}::answer", side.dialect.name))
        .collect();
    if facts.len() < 2 {
        let reason = format!("there are no two answers: see {}", unanswered.join(", "));
        result.judged = Judgement::undecided(Verdict::NotExercised, UndecidedKind::Unanswered, reason);
        return result;
    }
    if !unanswered.is_empty() {
        result.notes.push(format!("not compared: see {}", unanswered.join(", ")));
    }
    let mut failures = Vec::new();
    let Some(((first, first_facts), others)) = facts.split_first() else { return result };
    let one = Side { dialect: first.dialect.name, case: first.case, facts: first_facts };
    for (other, other_facts) in others {
        let two = Side { dialect: other.dialect.name, case: other.case, facts: other_facts };
        for unlike in differences(&one, &two, strictness) {
            let apis = [first.case.api.name, other.case.api.name];
            let text = unlike.text(&one, &two, [first, other].map(file));
            match declared().iter().find(|declared| declared.covers(case, unlike.aspect, apis)) {
                Some(declared) => result.declared.push(format!("{text}: {}", declared.reason)),
                None if terms::level(unlike.aspect) == Level::Must => failures.push(text),
                None => result.notes.push(text),
            }
        }
    }
    if !failures.is_empty() {
        result.judged = Judgement::new(Verdict::Fail, failures.join("; "));
    }
    result
}

/// The path of the last attempt, below the folder of all runs.
fn file(side: &TwinSide<'_>) -> String {
    let last = side.attempts.last().map(|attempt| attempt.report.name.as_str()).unwrap_or_default();
    format!("{}/{last}", side.dialect.name)
}
