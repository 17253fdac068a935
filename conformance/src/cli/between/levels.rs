//! Levels of rules: of both ends of a gateway, and of the APIs of clients.

use anyhow::{Result, anyhow, bail};
use catalogue::{BETWEEN_RULES, Level, RULES};

use crate::cli::names;
use crate::cli::verdict::RuleLevel;
use checker::level;
use results::LevelChange;

/// Parses the level of a rule, such as `error/retry-after=off`.
pub(super) fn rule_level(text: &str) -> Result<RuleLevel, String> {
    RuleLevel::parse(text, "error/retry-after=off")
}

/// Returns all rules with their usual levels: of both ends, and of the APIs of clients in their usual dialects.
fn rules() -> impl Iterator<Item = (&'static str, Level)> {
    let own = BETWEEN_RULES.iter().map(|rule| (rule.id, rule.level));
    let of_apis = RULES.iter().filter_map(|rule| {
        let dialect = names::usual().find(|dialect| rule.applies_to(dialect))?;
        Some((rule.id, level(rule, dialect)))
    });
    own.chain(of_apis)
}

/// Fails unless there is a rule of this name.
pub(super) fn known_rule(name: &str) -> Result<()> {
    if BETWEEN_RULES.iter().any(|rule| rule.id == name) || catalogue::rule(name).is_some() {
        return Ok(());
    }
    let all = || BETWEEN_RULES.iter().map(|rule| rule.id).chain(RULES.iter().map(|rule| rule.id));
    Err(anyhow!("there is no rule \"{name}\"{}", names::meant(name, all())))
}

/// Returns the changed levels. Those of rules win over those of groups.
pub(super) fn changes(levels: &[RuleLevel]) -> Result<Vec<LevelChange>> {
    let all: Vec<(&str, Level)> = rules().collect();
    for (at, of @ RuleLevel { name, .. }) in levels.iter().enumerate() {
        if !all.iter().any(|(id, _)| id == name || catalogue::group(id) == name) {
            let known = all.iter().flat_map(|(id, _)| [*id, catalogue::group(id)]);
            bail!("there is no rule or group \"{name}\"{}", names::meant(name, known));
        }
        of.check_once(&levels[..at])?;
    }
    let of = |name: &str| levels.iter().find(|level| level.name == name).map(|level| level.level);
    let mut changes: Vec<LevelChange> = Vec::new();
    for (id, usual) in all {
        let Some(level) = of(id).or_else(|| of(catalogue::group(id))).filter(|level| *level != usual) else {
            continue;
        };
        if changes.iter().all(|change| change.rule != id) {
            changes.push(LevelChange { rule: id.to_owned(), usual, level });
        }
    }
    Ok(changes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(texts: &[&str]) -> Result<Vec<LevelChange>> {
        let levels: Vec<RuleLevel> = texts.iter().map(|text| rule_level(text).unwrap()).collect();
        changes(&levels)
    }

    #[test]
    fn rules_win_over_groups() {
        let changed = of(&["answer=off", "answer/text=may", "wire/no-id-line=must"]).unwrap();
        let level = |rule: &str| changed.iter().find(|change| change.rule == rule).map(|change| change.level);
        assert_eq!(level("answer/text"), Some(Level::May));
        assert_eq!(level("wire/no-id-line"), Some(Level::Must));
        let others = changed.iter().filter(|change| catalogue::group(&change.rule) == "answer");
        assert!(others.filter(|change| change.level == Level::Off).count() > 0);
        // What has this level anyway is not changed.
        assert_eq!(of(&["answer/text=must"]).unwrap(), []);
    }
}
