//! Selection of rules.

use std::collections::BTreeSet;

use anyhow::{Result, bail};
use catalogue::Rule;
use clap::Args;
use spec::Dialect;

use super::{known, names};
use checker::Rules;
use harness::suite::{is_meant, is_selected};

/// The heading of these flags.
pub(super) const HEADING: &str = "Rules";

/// Selection of rules.
#[derive(Debug, Args)]
pub(super) struct SelectArgs {
    /// Rules or groups to check [default: all].
    #[arg(long, value_name = "RULE|GROUP", value_delimiter = ',', value_parser = known::RULES, hide_possible_values = true, help_heading = HEADING)]
    pub(super) select: Vec<String>,
    /// Rules or groups to skip.
    #[arg(long, value_name = "RULE|GROUP", value_delimiter = ',', value_parser = known::RULES, hide_possible_values = true, help_heading = HEADING)]
    pub(super) ignore: Vec<String>,
}

impl SelectArgs {
    /// Returns the selected rules of a dialect.
    pub(super) fn rules(&self, dialect: &'static Dialect) -> Result<Rules> {
        self.check()?;
        Ok(Rules::of(dialect).only(|rule| self.is_wanted(rule)))
    }

    /// Fails unless every name is a rule or a group.
    pub(super) fn check(&self) -> Result<()> {
        for name in self.select.iter().chain(&self.ignore) {
            if !catalogue::RULES.iter().any(|rule| is_meant(rule, name)) {
                let groups: BTreeSet<&str> = catalogue::RULES.iter().map(Rule::group).collect();
                let known = catalogue::RULES.iter().map(|rule| rule.id).chain(groups);
                let hint = names::meant(name, known);
                bail!("there is no rule or group \"{name}\"{hint}; `conformance list rules` lists them all");
            }
        }
        Ok(())
    }

    /// Returns whether a rule is selected.
    pub(super) fn is_wanted(&self, rule: &Rule) -> bool {
        is_selected(rule, &self.select, &self.ignore)
    }
}
