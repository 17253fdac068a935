//! Findings, with what both sides show.

use catalogue::{BETWEEN_LIMITS, BetweenLimit, Level, between_rule};
use results::text::{common, cut, visible};
use results::{FailOn, TestFinding};

use crate::evidence::Test;

/// Number of characters of a side that are shown.
const SHOWN: usize = 200;
/// Number of bytes that are shown before the first difference.
const BEFORE: usize = 40;

/// The fault: the key of its cause, the message, and the excerpts of both sides.
#[derive(Debug, Clone, Default)]
pub(in crate::judge) struct Problem {
    pub(in crate::judge) kind: String,
    pub(in crate::judge) message: String,
    /// The level, if it is lower than the rule's.
    pub(in crate::judge) level: Option<Level>,
    pub(in crate::judge) breaks: Vec<String>,
    /// The excerpts of the upstream and of the client.
    pub(in crate::judge) sides: [String; 2],
}

impl Problem {
    pub(in crate::judge) fn new(kind: impl Into<String>, message: impl Into<String>) -> Self {
        Self { kind: kind.into(), message: message.into(), ..Self::default() }
    }

    /// Both sides around the place where they part.
    pub(in crate::judge) fn between(self, upstream: &str, client: &str) -> Self {
        Self { sides: sides(upstream, client), ..self }
    }

    /// Both sides from their beginning.
    pub(in crate::judge) fn showing(self, upstream: &str, client: &str) -> Self {
        Self { sides: [upstream, client].map(shown), ..self }
    }

    pub(in crate::judge) fn at(self, level: Level) -> Self {
        Self { level: Some(level), ..self }
    }
}

pub(in crate::judge) struct Findings<'t> {
    test: &'t Test,
    /// The rule that stands for those about the answer, and the kind that precedes theirs.
    instead: Option<(&'static str, &'static str)>,
    pub(in crate::judge) found: Vec<TestFinding>,
    pub(in crate::judge) limits: Vec<[String; 2]>,
}

/// The group of the rules about the answer.
const ANSWER: &str = "answer/";

impl<'t> Findings<'t> {
    pub(in crate::judge) const fn new(test: &'t Test) -> Self {
        Self { test, instead: None, found: Vec::new(), limits: Vec::new() }
    }

    /// Later findings about answers belong to this rule.
    pub(in crate::judge) const fn report_answers_as(&mut self, rule: &'static str, kind: &'static str) {
        self.instead = Some((rule, kind));
    }

    /// Nothing is added if the pair of APIs cannot hold the rule, or if there is a finding of the same kind.
    pub(in crate::judge) fn add(&mut self, id: &'static str, problem: Problem) {
        if self.excuses(id, Some(&problem.kind)) {
            return;
        }
        let usual = between_rule(id).map(|rule| rule.level);
        let (id, problem) = match self.instead {
            Some((instead, kind)) if id.starts_with(ANSWER) => {
                let kind = [kind, id, &problem.kind].into_iter().filter(|part| !part.is_empty());
                (instead, Problem { kind: kind.collect::<Vec<_>>().join(": "), ..problem })
            }
            _ => (id, problem),
        };
        let Some(rule) = between_rule(id) else { return };
        if !rule.modes.is_empty() && !rule.modes.contains(&self.test.mode) {
            return;
        }
        let level = [problem.level, usual].into_iter().flatten().fold(rule.level, Level::min);
        let [upstream, client] = problem.sides;
        self.push(TestFinding {
            rule: id.to_owned(),
            level,
            fails: FailOn::default().fails_with(level, !problem.breaks.is_empty()),
            breaks: problem.breaks,
            message: problem.message,
            kind: problem.kind,
            upstream,
            client,
        });
    }

    pub(in crate::judge) fn has(&self, rule: &str) -> bool {
        self.found.iter().any(|finding| finding.rule == rule)
    }

    /// A rule that the pair of APIs cannot hold is noted.
    pub(in crate::judge) fn is_limit(&mut self, rule: &str) -> bool {
        self.excuses(rule, None)
    }

    fn excuses(&mut self, rule: &str, kind: Option<&str>) -> bool {
        let Some(limit) = limit_of(self.test, rule, kind) else { return false };
        let met = [rule.to_owned(), limit.reason.to_owned()];
        if !self.limits.contains(&met) {
            self.limits.push(met);
        }
        true
    }

    /// The first finding of a rule and kind stays.
    pub(in crate::judge) fn push(&mut self, finding: TestFinding) {
        let is_known = |known: &TestFinding| (&known.rule, &known.kind) == (&finding.rule, &finding.kind);
        if !self.found.iter().any(is_known) {
            self.found.push(finding);
        }
    }
}

/// A limit of one kind of findings excuses no other.
pub(in crate::judge) fn limit_of(
    test: &Test,
    rule: &str,
    kind: Option<&str>,
) -> Option<&'static BetweenLimit> {
    let pair = [test.front.api.name, test.upstream.api.name];
    let is_kind = |limit: &BetweenLimit| limit.kind.is_none() || limit.kind == kind;
    let mut limits = BETWEEN_LIMITS.iter();
    limits.find(|limit| limit.rule == rule && is_kind(limit) && applies(limit, pair, test.case.id))
}

pub(in crate::judge) fn applies(limit: &BetweenLimit, [front, upstream]: [&str; 2], case: &str) -> bool {
    let is_case = |named: &str| case == named || named.ends_with('/') && case.starts_with(named);
    limit.front.is_none_or(|api| api == front)
        && limit.upstream.is_none_or(|api| api == upstream)
        && limit.case.is_none_or(is_case)
}

pub(in crate::judge) fn shown(text: &str) -> String {
    visible(&cut(text, SHOWN))
}

pub(in crate::judge) fn tail(bytes: &[u8]) -> String {
    let from = bytes.len().saturating_sub(SHOWN);
    let text = String::from_utf8_lossy(bytes.get(from..).unwrap_or_default());
    let text = text.trim_end();
    if from > 0 { format!("…{}", visible(text)) } else { visible(text) }
}

/// Around the first place where they differ, escaped.
fn sides(upstream: &str, client: &str) -> [String; 2] {
    let from = common(upstream, client).saturating_sub(BEFORE);
    [upstream, client].map(|text| {
        let from = (from..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or_default();
        let rest = shown(text.get(from..).unwrap_or_default());
        if from > 0 { format!("…{rest}") } else { rest }
    })
}

pub(in crate::judge) fn first_difference(one: &str, other: &str) -> usize {
    one.get(..common(one, other)).unwrap_or_default().chars().count() + 1
}
