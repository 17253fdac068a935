//! Which rules to check.

use std::collections::BTreeSet;

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
    pub(super) select: Vec<String>,
    /// Leave out these rules, or groups of rules.
    #[arg(long, value_name = "RULE|GROUP", value_delimiter = ',')]
    pub(super) ignore: Vec<String>,
}

impl SelectArgs {
    /// The rules that are wanted of those that bind in the dialect.
    pub(super) fn rules(&self, dialect: &'static Dialect) -> Result<Rules> {
        for name in self.select.iter().chain(&self.ignore) {
            if !catalogue::RULES.iter().any(|rule| is_meant(rule, name)) {
                let groups: BTreeSet<&str> = catalogue::RULES.iter().map(group).collect();
                let known = catalogue::RULES.iter().map(|rule| rule.id).chain(groups);
                let hint = names::meant(name, known);
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
    rule.id == name || group(rule) == name
}

/// The group that a rule is in.
pub(super) fn group(rule: &Rule) -> &'static str {
    rule.id.split('/').next().unwrap_or(rule.id)
}
