//! The rules to check, and the level of each.

use std::sync::Arc;

use catalogue::{Level, Rule};
use spec::Dialect;

use crate::engine::{Bound, Plan};
use crate::rules::hooks;

/// Rules of a dialect, all or some.
///
/// ```
/// use checker::{Dialect, Level, Rule, Rules};
///
/// let dialect: &'static Dialect = checker::spec::dialect("openai").unwrap();
/// let is_required = |rule: &Rule| checker::level(rule, dialect) == Level::Must;
/// let rules = Rules::of(dialect).only(is_required);
/// assert!(rules.iter().any(|rule| rule.id == "response/one-terminal"));
/// assert!(rules.iter().all(is_required));
/// ```
#[derive(Debug, Clone)]
pub struct Rules {
    chosen: Vec<Bound>,
    plan: Arc<Plan>,
}

impl Rules {
    /// Returns all rules that apply to a dialect.
    pub fn of(dialect: &'static Dialect) -> Self {
        let bound = |rule| Bound { rule, level: level(rule, dialect) };
        let chosen = catalogue::RULES.iter().map(bound).filter(|bound| bound.level != Level::Off);
        Self::new(dialect, chosen.collect())
    }

    fn new(dialect: &'static Dialect, chosen: Vec<Bound>) -> Self {
        Self { plan: Plan::new(dialect, &chosen, hooks), chosen }
    }

    /// Keeps the rules that a predicate accepts.
    #[must_use]
    pub fn only(self, mut wanted: impl FnMut(&Rule) -> bool) -> Self {
        let dialect = self.plan.dialect();
        Self::new(dialect, self.chosen.into_iter().filter(|bound| wanted(bound.rule)).collect())
    }

    /// Returns the rules.
    pub fn iter(&self) -> impl Iterator<Item = &'static Rule> + '_ {
        self.chosen.iter().map(|bound| bound.rule)
    }

    /// Returns the dialect of the rules.
    pub fn dialect(&self) -> &'static Dialect {
        self.plan.dialect()
    }

    pub(crate) fn plan(&self) -> Arc<Plan> {
        Arc::clone(&self.plan)
    }
}

/// Returns the level of a rule in a dialect.
pub fn level(rule: &Rule, dialect: &Dialect) -> Level {
    if !rule.only_in.is_empty() && !rule.only_in.iter().any(|name| dialect.is_or_extends(name)) {
        return Level::Off;
    }
    dialect.rule_level(rule.id).unwrap_or(rule.level)
}
