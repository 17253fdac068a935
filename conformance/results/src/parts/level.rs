//! Levels of rules that a reader changed.

use std::collections::BTreeMap;
use std::fmt;

use catalogue::Level;
use checker::{ChangedLevel, LevelName, Rules};
use serde::{Deserialize, Serialize};

use crate::text::{listed, visible};

/// A rule whose level is not the dialect's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct LevelChange {
    /// The rule, `group/name`.
    pub rule: String,
    /// Its level in the dialect.
    #[serde(with = "LevelName")]
    pub usual: Level,
    /// Its level in this run; `off` if it was not checked.
    #[serde(with = "LevelName")]
    pub level: Level,
}

impl LevelChange {
    /// The changed levels of rules.
    pub fn all(rules: &Rules) -> Vec<Self> {
        Self::of_several([rules])
    }

    /// If the dialects differ in the level of a rule, it has an entry for each level.
    pub(crate) fn of_several<'r>(rules: impl IntoIterator<Item = &'r Rules>) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        for change in rules.into_iter().flat_map(Rules::changed).map(Self::from) {
            if !all.contains(&change) {
                all.push(change);
            }
        }
        all
    }

    /// The chosen levels by rule.
    pub fn by_rule(all: &[Self]) -> BTreeMap<String, Level> {
        all.iter().map(|change| (change.rule.clone(), change.level)).collect()
    }

    /// Returns all changes in a line, up to a number of them.
    pub fn words(all: &[Self], most: usize) -> String {
        listed(all, most, |change| visible(&change.to_string()))
    }
}

impl From<&ChangedLevel> for LevelChange {
    fn from(changed: &ChangedLevel) -> Self {
        Self { rule: changed.rule.id.to_owned(), usual: changed.usual, level: changed.level }
    }
}

impl fmt::Display for LevelChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = |level: Level| if level == Level::Off { "off" } else { level.keyword() };
        write!(f, "{} {} instead of {}", self.rule, word(self.level), word(self.usual))
    }
}
