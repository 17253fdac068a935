//! Selection of rules.

use anyhow::Result;
use catalogue::Rule;
use clap::Args;

use super::{known, names};
use harness::suite::is_selected;

/// The heading of these flags.
pub(super) const HEADING: &str = "Rules";

/// Selection of rules.
#[derive(Debug, Clone, Args)]
pub(super) struct SelectArgs {
    /// Rules or groups to check [default: all].
    #[arg(long, value_name = "RULE|GROUP", value_delimiter = ',', value_parser = known::RULES, hide_possible_values = true, help_heading = HEADING)]
    pub(super) select: Vec<String>,
    /// Rules or groups to skip.
    #[arg(long, value_name = "RULE|GROUP", value_delimiter = ',', value_parser = known::RULES, hide_possible_values = true, help_heading = HEADING)]
    pub(super) ignore: Vec<String>,
}

impl SelectArgs {
    /// Fails unless every name is a rule or a group.
    pub(super) fn check(&self) -> Result<()> {
        for name in self.select.iter().chain(&self.ignore) {
            names::rule_or_group(name)?;
        }
        Ok(())
    }

    pub(super) fn is_wanted(&self, rule: &Rule) -> bool {
        is_selected(rule, &self.select, &self.ignore)
    }
}
