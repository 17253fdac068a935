//! Selection of rules.

use std::collections::BTreeMap;

use anyhow::Result;
use catalogue::{LOG_RULES, Level, Rule};
use clap::Args;

use super::{known, names};
use harness::suite::is_selected;
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
    pub(super) fn check(&self) -> Result<()> {
        for name in self.select.iter().chain(&self.ignore) {
            names::rule_or_group(name)?;
        }
        Ok(())
    }

    pub(super) fn is_wanted(&self, rule: &Rule) -> bool {
        self.wants(rule.id)
    }

    fn wants(&self, id: &str) -> bool {
        is_selected(id, &self.select, &self.ignore)
    }

    /// Rules about logs that are not selected are turned off.
    pub(super) fn turn_off(&self, mut levels: BTreeMap<String, Level>) -> BTreeMap<String, Level> {
        let others = LOG_RULES.iter().filter(|rule| !self.wants(rule.id));
        levels.extend(others.map(|rule| (rule.id.to_owned(), Level::Off)));
        levels
    }
}
