//! Responses that break a rule: the edits of the rule's violation, applied to a response.

use catalogue::{Edit, Rule};

use crate::content::planning::plan;
use crate::content::refusal::{refusal, unsaid};
use crate::content::speech::{example, examples};
use crate::rendering::render;
use crate::rendering::wire::Wire;
use checker::Rules;
use recordings::capture::Format;
use recordings::check;
use recordings::violation as edits;
use spec::Dialect;
use spec::table::RenderTarget;

/// Violations are tried in responses with up to this many items.
const ITEMS: usize = 3;

impl Wire {
    /// Returns the rules of a dialect that it breaks.
    pub fn broken(&self, rules: &Rules) -> Vec<&'static str> {
        broken_in(&self.recording(), Some(Format::Http), rules)
    }

    /// Returns a copy that also breaks a rule, or `None` if that is impossible without breaking rules other than this
    /// one and those that are already broken.
    #[must_use]
    pub fn breaking(&self, rule: &'static Rule, rules: &Rules, already: &[&str]) -> Option<Self> {
        let violation = &rule.in_dialect(rules.dialect()).violation;
        let is_meant =
            |id: &&'static str| *id == rule.id || violation.also.contains(id) || already.contains(id);
        let of_item = |item: usize| {
            let wire = Self::read(&self.edited(violation.edits, item)?, self)?;
            let broken = wire.broken(rules);
            (broken.contains(&rule.id) && broken.iter().all(is_meant)).then_some(wire)
        };
        // An edit of the first item may only apply to a later one.
        let is_of_item = violation.edits.iter().any(edits::is_of_item);
        let last = if is_of_item && self.is_stream() { ITEMS } else { 1 };
        (0..last).find_map(of_item)
    }

    pub(super) fn edited(&self, edits: &[Edit], item: usize) -> Option<Vec<u8>> {
        if self.is_stream() {
            return edits::edited_from(Format::Sse, &self.body, edits, item).ok();
        }
        edits::edited(Format::Http, &self.recording(), edits).ok()
    }
}

pub(super) fn broken_in(recording: &[u8], format: Option<Format>, rules: &Rules) -> Vec<&'static str> {
    let report = check("answer", &mut &*recording, format, rules);
    report.findings.iter().filter_map(|finding| Some(catalogue::rule(&finding.rule)?.id)).collect()
}

/// Returns the rules that can be broken in a dialect, each with a request whose response can break it.
pub fn faults(rules: &Rules) -> Vec<(&'static Rule, &'static str)> {
    let dialect = rules.dialect();
    // If any response can break a rule, one like its golden can, unless events lack members. Trying the others would
    // waste seconds.
    let is_alike = |golden: &str| {
        let of = golden.split_once('/').and_then(|(of, _)| spec::dialect(of));
        [of, Some(dialect)].into_iter().all(|dialect| dialect.is_some_and(has_whole_events))
    };
    find_faults(rules, &is_alike)
}

fn has_whole_events(dialect: &Dialect) -> bool {
    dialect.render.edits.iter().all(|edit| edit.of != RenderTarget::Event)
}

/// Tries the response like the golden of the rule first, and all others unless `is_enough`.
fn find_faults(rules: &Rules, is_enough: &dyn Fn(&str) -> bool) -> Vec<(&'static Rule, &'static str)> {
    let dialect = rules.dialect();
    let wires: Vec<(&'static str, Wire)> = examples()
        .filter(|golden| is_of(golden, dialect))
        .filter_map(|golden| {
            let request = example(golden)?;
            Some((golden, respond(&request, dialect)))
        })
        .collect();
    let can_break = |rule: &'static Rule| {
        let golden = rule.in_dialect(dialect).violation.golden;
        let own = wires.iter().filter(|(name, _)| *name == golden);
        let others = wires.iter().filter(|(name, _)| *name != golden && !is_enough(golden));
        let (golden, _) = own.chain(others).find(|(_, wire)| wire.breaking(rule, rules, &[]).is_some())?;
        Some((rule, *golden))
    };
    let bound = |rule: &&'static Rule| rules.iter().any(|bound| bound.id == rule.id);
    catalogue::RULES.iter().filter(bound).filter_map(can_break).collect()
}

fn is_of(golden: &str, dialect: &Dialect) -> bool {
    let of = golden.split_once('/').and_then(|(of, _)| spec::dialect(of));
    of.is_some_and(|of| of.api.name == dialect.api.name)
}

/// Returns the response to a request when nothing is stored.
pub fn respond(request: &serde_json::Value, dialect: &'static Dialect) -> Wire {
    if let Some(problem) = refusal(request, dialect) {
        return Wire::refused(&problem, dialect.api);
    }
    let plan = plan(request, dialect, 0);
    if let Some(problem) = unsaid(&plan, dialect) {
        return Wire::refused(&problem, dialect.api);
    }
    let answer = render(request, &plan, dialect, 0);
    if request.get("stream") == Some(&serde_json::Value::Bool(true)) {
        return Wire::stream(&answer);
    }
    Wire::json(answer.status, &answer.response().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_answer_like_its_golden_does_not_break_no_answer_breaks() {
        let rules = Rules::of(spec::dialect("openai").expect("it is there"));
        assert_eq!(faults(&rules).len(), find_faults(&rules, &|_| false).len());
    }
}
