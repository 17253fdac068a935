//! Flags that decide which findings fail, and the levels of rules.

use std::collections::BTreeMap;

use anyhow::{Result, anyhow, bail};
use catalogue::{LOG_RULES, Level, Rule, TestRule};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use spec::Dialect;

use super::select::{HEADING, SelectArgs};
use crate::cli::input::names;
use crate::cli::message::note;
use checker::{RuleSets, Rules, level};
use harness::suite::is_meant;
use results::{FailOn, LevelChange};

/// Which findings fail, and the levels of rules.
#[derive(Debug, Args)]
pub(in crate::cli) struct VerdictArgs {
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
    levels: Vec<RuleLevel>,
}

/// A rule, and its usual level.
pub(in crate::cli) type Leveled = (&'static str, Level);

/// A rule or group, and the level that it shall have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) struct RuleLevel {
    pub(in crate::cli) name: String,
    pub(in crate::cli) level: Level,
}

pub(in crate::cli) fn known_rule(all: &[Leveled], name: &str) -> Result<()> {
    if all.iter().any(|(id, _)| *id == name) {
        return Ok(());
    }
    Err(anyhow!("there is no rule \"{name}\"{}", names::meant(name, all.iter().map(|(id, _)| *id))))
}

pub(in crate::cli) fn fail_on_values() -> impl TypedValueParser<Value = FailOn> {
    let named = |name: String| FailOn::named(&name).unwrap_or_default();
    PossibleValuesParser::new(FailOn::ALL.map(FailOn::name)).map(named)
}

fn setting(text: &str) -> Result<RuleLevel, String> {
    RuleLevel::parse(text, "wire/no-id-line=off")
}

impl RuleLevel {
    pub(in crate::cli) fn parse(text: &str, example: &str) -> Result<Self, String> {
        let (name, level) = text
            .split_once('=')
            .filter(|(name, _)| !name.is_empty())
            .ok_or_else(|| format!("expected RULE=LEVEL, as in {example}"))?;
        let known = || Level::ALL.map(Level::name);
        let level = Level::ALL.into_iter().find(|of| of.name() == level).ok_or_else(|| {
            let hint = names::meant(level, known().into_iter());
            format!("there is no level \"{level}\"{hint}; there are: {}", known().join(", "))
        })?;
        Ok(Self { name: name.to_owned(), level })
    }

    /// Setting a rule to the same level twice is no error.
    pub(in crate::cli) fn check_once(&self, earlier: &[Self]) -> Result<()> {
        let Self { name, level } = self;
        match earlier.iter().find(|earlier| earlier.name == *name).filter(|earlier| earlier.level != *level) {
            Some(earlier) => {
                bail!("--rule {name} is set twice: {} and {}", earlier.level.name(), level.name())
            }
            None => Ok(()),
        }
    }

    fn rules(&self) -> impl Iterator<Item = &'static Rule> {
        catalogue::RULES.iter().filter(|rule| is_meant(rule.id, &self.name))
    }

    fn of_logs(&self) -> impl Iterator<Item = &'static TestRule> {
        LOG_RULES.iter().filter(|rule| is_meant(rule.id, &self.name))
    }

    fn is_about_group(&self) -> bool {
        !self.name.contains('/')
    }

    /// `None` if it has an effect.
    fn idle(&self, dialect: &Dialect) -> Option<String> {
        if let Some(rule) = self.of_logs().next() {
            let is_idle = self.of_logs().all(|rule| rule.level == self.level);
            return is_idle.then(|| format!("its level is {}", rule.level.keyword()));
        }
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
    pub(in crate::cli) fn fail_on(&self) -> FailOn {
        self.fail_on.unwrap_or(if self.strict { FailOn::Should } else { FailOn::default() })
    }

    /// Flags of this run win over the earlier run.
    pub(in crate::cli) fn repeat(&mut self, fail_on: FailOn, levels: &[LevelChange]) {
        if !self.strict {
            self.fail_on.get_or_insert(fail_on);
        }
        if self.levels.is_empty() {
            let level = |change: &LevelChange| RuleLevel { name: change.rule.clone(), level: change.level };
            self.levels = levels.iter().map(level).collect();
        }
    }

    /// Rules win over groups.
    pub(in crate::cli) fn changes(&self, all: &[Leveled]) -> Result<Vec<LevelChange>> {
        for (at, of @ RuleLevel { name, .. }) in self.levels.iter().enumerate() {
            if !all.iter().any(|(id, _)| id == name || catalogue::group(id) == name) {
                let known = all.iter().flat_map(|(id, _)| [*id, catalogue::group(id)]);
                bail!("there is no rule or group \"{name}\"{}", names::meant(name, known));
            }
            of.check_once(&self.levels[..at])?;
        }
        let of = |name: &str| self.levels.iter().find(|level| level.name == name).map(|level| level.level);
        let mut changes: Vec<LevelChange> = Vec::new();
        for (id, usual) in all {
            let level = of(id).or_else(|| of(catalogue::group(id))).filter(|level| level != usual);
            let is_new = changes.iter().all(|change| change.rule != *id);
            changes.extend(level.filter(|_| is_new).map(|level| LevelChange {
                rule: (*id).to_owned(),
                usual: *usual,
                level,
            }));
        }
        Ok(changes)
    }

    pub(in crate::cli) fn rules(&self, dialect: &'static Dialect, select: &SelectArgs) -> Result<Rules> {
        select.check()?;
        let levels = select.turn_off(self.levels(&[dialect])?);
        Ok(Rules::with_levels(dialect, &levels).only(|rule| select.is_wanted(rule)))
    }

    pub(in crate::cli) fn rule_sets(&self, select: &SelectArgs) -> Result<RuleSets> {
        select.check()?;
        let (levels, select) = (select.turn_off(self.levels(spec::DIALECTS)?), select.clone());
        Ok(RuleSets::new(levels, move |rule| select.is_wanted(rule)))
    }

    /// An unknown name is an error, and so is a level that is set twice. A level that all dialects have anyway is noted.
    pub(in crate::cli) fn levels(&self, dialects: &[&'static Dialect]) -> Result<BTreeMap<String, Level>> {
        for (at, setting) in self.levels.iter().enumerate() {
            let RuleLevel { name, level } = setting;
            names::rule_or_group(name)?;
            setting.check_once(&self.levels[..at])?;
            let idle: Option<Vec<String>> = dialects.iter().map(|dialect| setting.idle(dialect)).collect();
            if let Some(reasons) = idle {
                let level = level.name();
                let reason = match &*reasons {
                    [reason] => reason.clone(),
                    _ => "it is its level in every dialect that it is about".to_owned(),
                };
                note(&format!("note: --rule {name}={level} has no effect: {reason}"));
            }
        }
        let (of_groups, of_rules): (Vec<&RuleLevel>, Vec<&RuleLevel>) =
            self.levels.iter().partition(|setting| setting.is_about_group());
        let all = of_groups.into_iter().chain(of_rules);
        let mut levels = BTreeMap::new();
        for setting in all {
            let ids = setting.rules().map(|rule| rule.id).chain(setting.of_logs().map(|rule| rule.id));
            levels.extend(ids.map(|id| (id.to_owned(), setting.level)));
        }
        Ok(levels)
    }
}
