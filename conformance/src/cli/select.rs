//! Which rules to check.

use anyhow::{Result, bail};
use clap::Args;
use spec::Dialect;
use spec::catalogue::{self, Rule};

use super::names;
use crate::engine::Rules;

/// Which rules to check.
#[derive(Debug, Args)]
pub(super) struct SelectArgs {
    /// Check only these rules, or groups of rules.
    #[arg(long, value_name = "RULE|GROUP", value_delimiter = ',')]
    select: Vec<String>,
    /// Leave out these rules, or groups of rules.
    #[arg(long, value_name = "RULE|GROUP", value_delimiter = ',')]
    ignore: Vec<String>,
}

impl SelectArgs {
    /// The rules that are wanted of those that bind in the dialect.
    pub(super) fn rules(&self, dialect: &'static Dialect) -> Result<Rules> {
        for name in self.select.iter().chain(&self.ignore) {
            if !catalogue::RULES.iter().any(|rule| is_meant(rule, name)) {
                let hint = names::meant(name, catalogue::RULES.iter().map(|rule| rule.id));
                bail!("there is no rule or group \"{name}\"{hint}; `conformance list rules` names them all");
            }
        }
        Ok(Rules::of(dialect).only(|rule| self.is_wanted(rule)))
    }

    /// Whether a rule is wanted.
    pub(super) fn is_wanted(&self, rule: &Rule) -> bool {
        let is_one_of = |names: &[String]| names.iter().any(|name| is_meant(rule, name));
        (self.select.is_empty() || is_one_of(&self.select)) && !is_one_of(&self.ignore)
    }
}

fn is_meant(rule: &Rule, name: &str) -> bool {
    rule.id == name || rule.id.split_once('/').is_some_and(|(group, _)| group == name)
}
