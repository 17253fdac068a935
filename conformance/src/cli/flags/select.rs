//! Selection of rules.

use std::collections::BTreeMap;

use anyhow::Result;
use catalogue::{LOG_RULES, Level, Rule};
use clap::Args;

use crate::cli::input::{known, names};
use harness::suite::is_selected;
pub(in crate::cli) const HEADING: &str = "Rules";

/// Selection of rules.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct SelectArgs {
    /// Rules or groups to check [default: all].
    #[arg(long, value_name = "RULE|GROUP", value_delimiter = ',', value_parser = known::RULES, hide_possible_values = true, help_heading = HEADING)]
    pub(in crate::cli) select: Vec<String>,
    /// Rules or groups to skip.
    #[arg(long, value_name = "RULE|GROUP", value_delimiter = ',', value_parser = known::RULES, hide_possible_values = true, help_heading = HEADING)]
    pub(in crate::cli) ignore: Vec<String>,
}

impl SelectArgs {
    pub(in crate::cli) fn check(&self) -> Result<()> {
        for name in self.select.iter().chain(&self.ignore) {
            names::rule_or_group(name)?;
        }
        Ok(())
    }

    pub(in crate::cli) fn is_wanted(&self, rule: &Rule) -> bool {
        self.wants(rule.id)
    }

    fn wants(&self, id: &str) -> bool {
        is_selected(id, &self.select, &self.ignore)
    }

    /// Rules about logs that are not selected are turned off.
    pub(in crate::cli) fn turn_off(&self, mut levels: BTreeMap<String, Level>) -> BTreeMap<String, Level> {
        let others = LOG_RULES.iter().filter(|rule| !self.wants(rule.id));
        levels.extend(others.map(|rule| (rule.id.to_owned(), Level::Off)));
        levels
    }
}
