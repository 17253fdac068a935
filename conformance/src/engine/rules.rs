//! The rules that are checked, and how binding each is.

use spec::Dialect;
use spec::catalogue::{self, Level, Rule};

/// A choice of rules for a dialect.
#[derive(Debug, Clone)]
pub struct Rules(Vec<&'static Rule>);

impl Rules {
    /// All rules that bind in a dialect.
    pub fn of(dialect: &Dialect) -> Self {
        Self(catalogue::RULES.iter().filter(|rule| level(rule, dialect) != Level::Off).collect())
    }

    /// Those of them that are wanted.
    #[must_use]
    pub fn only(mut self, mut wanted: impl FnMut(&Rule) -> bool) -> Self {
        self.0.retain(|rule| wanted(rule));
        self
    }

    /// The rules, by their ids.
    pub fn iter(&self) -> impl Iterator<Item = &'static Rule> + '_ {
        self.0.iter().copied()
    }
}

/// How binding a rule is in a dialect.
pub(crate) fn level(rule: &Rule, dialect: &Dialect) -> Level {
    let binds = |name: &&str| *name == dialect.name || dialect.lineage.contains(name);
    if !rule.only_in.is_empty() && !rule.only_in.iter().any(binds) {
        return Level::Off;
    }
    dialect.rule_level(rule.id).unwrap_or(rule.level)
}
