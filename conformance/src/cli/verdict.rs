//! Flags that decide which findings fail, and the levels of rules.

use std::collections::BTreeMap;

use anyhow::{Result, bail};
use catalogue::{Level, Rule};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use spec::Dialect;

use super::message::note;
use super::names;
use super::select::{HEADING, SelectArgs};
use checker::{RuleSets, Rules, level};
use harness::suite::{is_meant, is_selected};
use results::{FailOn, LEVELS, level_name};

/// Which findings fail, and the levels of rules.
#[derive(Debug, Args)]
pub(super) struct VerdictArgs {
    /// Findings that fail: must, breaks, should, may [default: breaks].
    ///
    /// must: broken MUST rules. breaks: also what is measured to break a client. should: also broken SHOULD rules. may:
    /// any finding.
    #[arg(long, value_name = "WHICH", value_parser = fail_on_values(), hide_possible_values = true, help_heading = HEADING)]
    fail_on: Option<FailOn>,
    /// The same as --fail-on should.
    #[arg(long, conflicts_with = "fail_on", help_heading = HEADING, hide_short_help = true)]
    strict: bool,
    /// Set the level of a rule or group: must, should, may, off.
    ///
    /// A rule wins over its group. A rule still reports doubtful cases below its level. Reports and certificates state
    /// changed levels, and no profile passes if a MUST is lowered.
    #[arg(long = "rule", value_name = "RULE|GROUP=LEVEL", value_delimiter = ',', value_parser = setting, help_heading = HEADING, hide_short_help = true)]
    levels: Vec<Setting>,
}

/// A rule or group, and the level that it shall have.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Setting {
    name: String,
    level: Level,
}

/// Returns the parser of `--fail-on`.
pub(super) fn fail_on_values() -> impl TypedValueParser<Value = FailOn> {
    let named = |name: String| FailOn::named(&name).unwrap_or_default();
    PossibleValuesParser::new(FailOn::ALL.map(FailOn::name)).map(named)
}

/// Parses the level of a rule, such as `wire/no-id-line=off`.
fn setting(text: &str) -> Result<Setting, String> {
    let (name, level) = text
        .split_once('=')
        .filter(|(name, _)| !name.is_empty())
        .ok_or_else(|| "expected RULE=LEVEL, as in wire/no-id-line=off".to_owned())?;
    let known = || LEVELS.map(|(name, _)| name);
    let (_, level) = LEVELS.into_iter().find(|(name, _)| *name == level).ok_or_else(|| {
        format!(
            "there is no level \"{level}\"{}; there are: {}",
            names::meant(level, known().into_iter()),
            known().join(", ")
        )
    })?;
    Ok(Setting { name: name.to_owned(), level })
}

impl Setting {
    /// Returns the rules that it is about.
    fn rules(&self) -> impl Iterator<Item = &'static Rule> {
        catalogue::RULES.iter().filter(|rule| is_meant(rule, &self.name))
    }

    fn is_about_group(&self) -> bool {
        catalogue::rule(&self.name).is_none()
    }

    /// Returns why it has no effect in a dialect, if it has none.
    fn idle(&self, dialect: &Dialect) -> Option<String> {
        let mut applying = self.rules().filter(|rule| rule.applies_to(dialect)).peekable();
        if applying.peek().is_none() {
            return Some(format!("it is not about {}", dialect.name));
        }
        applying.all(|rule| level(rule, dialect) == self.level).then(|| {
            let level = if self.level == Level::Off { "off" } else { self.level.keyword() };
            format!("its level in {} is {level}", dialect.name)
        })
    }
}

impl VerdictArgs {
    /// Returns the findings that fail.
    pub(super) fn fail_on(&self) -> FailOn {
        self.fail_on.unwrap_or(if self.strict { FailOn::Should } else { FailOn::default() })
    }

    /// Returns the selected rules of a dialect, with their levels.
    pub(super) fn rules(&self, dialect: &'static Dialect, select: &SelectArgs) -> Result<Rules> {
        select.check()?;
        Ok(Rules::with_levels(dialect, &self.levels(&[dialect])?).only(|rule| select.is_wanted(rule)))
    }

    /// Returns the selected rules of each dialect, with their levels.
    pub(super) fn rule_sets(&self, select: &SelectArgs) -> Result<RuleSets> {
        select.check()?;
        let SelectArgs { select, ignore } = select.clone();
        Ok(RuleSets::new(self.levels(spec::DIALECTS)?, move |rule| is_selected(rule, &select, &ignore)))
    }

    /// Returns the levels by rule. Fails if a name is unknown, or a level is set twice; prints a note if one is that of
    /// all dialects anyway.
    pub(super) fn levels(&self, dialects: &[&'static Dialect]) -> Result<BTreeMap<String, Level>> {
        for (at, setting) in self.levels.iter().enumerate() {
            let Setting { name, level } = setting;
            names::rule_or_group(name)?;
            let earlier = self.levels.iter().take(at).find(|earlier| earlier.name == *name);
            if let Some(earlier) = earlier.filter(|earlier| earlier.level != *level) {
                bail!("--rule {name} is set twice: {} and {}", level_name(earlier.level), level_name(*level));
            }
            let idle: Option<Vec<String>> = dialects.iter().map(|dialect| setting.idle(dialect)).collect();
            if let Some(reasons) = idle {
                let level = level_name(*level);
                let reason = match &*reasons {
                    [reason] => reason.clone(),
                    _ => "it is its level in every dialect that it is about".to_owned(),
                };
                note(&format!("note: --rule {name}={level} has no effect: {reason}"));
            }
        }
        let (of_groups, of_rules): (Vec<&Setting>, Vec<&Setting>) =
            self.levels.iter().partition(|setting| setting.is_about_group());
        let all = of_groups.into_iter().chain(of_rules);
        Ok(all.flat_map(|setting| setting.rules().map(|rule| (rule.id.to_owned(), setting.level))).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_have_a_rule_and_a_name() {
        let off = Setting { name: "wire/no-id-line".to_owned(), level: Level::Off };
        assert_eq!(setting("wire/no-id-line=off"), Ok(off));
        assert!(setting("wire/no-id-line").unwrap_err().contains("RULE=LEVEL"));
        assert!(setting("wire/no-id-line=shold").unwrap_err().contains("did you mean should"));
    }

    #[test]
    fn a_rule_wins_over_its_group() {
        let levels = ["wire/no-id-line=must", "wire=off"].map(|text| setting(text).unwrap()).to_vec();
        let args = VerdictArgs { fail_on: None, strict: false, levels };
        let levels = args.levels(&[names::dialect("openai").unwrap()]).unwrap();
        assert_eq!((levels["wire/no-id-line"], levels["wire/event-line"]), (Level::Must, Level::Off));
    }

    #[test]
    fn a_level_of_the_dialect_has_no_effect() {
        let idle = |text: &str, dialect| setting(text).unwrap().idle(names::dialect(dialect).unwrap());
        assert!(idle("wire/no-id-line=should", "openai").unwrap().contains("SHOULD"));
        assert_eq!(idle("wire/no-id-line=must", "openai"), None);
        assert_eq!(idle("wire=off", "openai"), None);
    }
}
