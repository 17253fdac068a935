//! Which rules to check.

use std::collections::BTreeSet;

use anyhow::{Result, bail};
use catalogue::Rule;
use clap::Args;
use spec::Dialect;

use super::names;
use checker::Rules;
use harness::suite::{is_meant, is_selected};

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
        self.check()?;
        Ok(Rules::of(dialect).only(|rule| self.is_wanted(rule)))
    }

    /// Fails where something is named that is not there.
    pub(super) fn check(&self) -> Result<()> {
        for name in self.select.iter().chain(&self.ignore) {
            if !catalogue::RULES.iter().any(|rule| is_meant(rule, name)) {
                let groups: BTreeSet<&str> = catalogue::RULES.iter().map(Rule::group).collect();
                let known = catalogue::RULES.iter().map(|rule| rule.id).chain(groups);
                let hint = names::meant(name, known);
                bail!("there is no rule or group \"{name}\"{hint}; `conformance list rules` names them all");
            }
        }
        Ok(())
    }

    /// Whether a rule is wanted.
    pub(super) fn is_wanted(&self, rule: &Rule) -> bool {
        is_selected(rule, &self.select, &self.ignore)
    }
}
