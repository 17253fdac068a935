//! The dialect of recordings: one for all of them, or a recognised one for each stream.

use std::collections::{BTreeMap, BTreeSet};
use std::slice;

use anyhow::Result;
use catalogue::Rule;
use spec::Dialect;
use spec::table::Fallback;

use super::select::SelectArgs;
use super::verdict::VerdictArgs;
use crate::cli::input::names;
use checker::{RuleSets, Rules};
use recordings::Checking;
use results::{AUTO, CaptureReport, FailOn, Run, recognised_in};

#[derive(Debug, Clone)]
pub(in crate::cli) enum DialectRules {
    One(Rules),
    Each(RuleSets),
}

impl DialectRules {
    /// `auto` selects the rules of each dialect.
    pub(in crate::cli) fn named(name: &str, verdict: &VerdictArgs, select: &SelectArgs) -> Result<Self> {
        if name == AUTO {
            return verdict.rule_sets(select).map(Self::Each);
        }
        verdict.rules(names::dialect(name)?, select).map(Self::One)
    }

    /// At their levels. `auto` selects the rules of each dialect.
    pub(in crate::cli) fn all_of(name: &str) -> Result<Self> {
        if name == AUTO {
            return Ok(Self::Each(RuleSets::new(BTreeMap::new(), |_| true)));
        }
        Ok(Self::One(Rules::of(names::dialect(name)?)))
    }

    /// With timelines if `draws` is set.
    pub(in crate::cli) fn checking(&self, draws: bool) -> Checking {
        match self {
            Self::One(rules) => Checking::new(rules, draws),
            Self::Each(sets) => Checking::recognising(sets, draws),
        }
    }

    pub(in crate::cli) fn dialect(&self) -> Option<&'static Dialect> {
        match self {
            Self::One(rules) => Some(rules.dialect()),
            Self::Each(_) => None,
        }
    }

    /// By its recognised dialects. Without a report of the recording, the rules of each API.
    pub(in crate::cli) fn of(&self, recording: Option<&CaptureReport>) -> Vec<&'static Rule> {
        let sets = match self {
            Self::One(rules) => return rules.iter().collect(),
            Self::Each(sets) => sets,
        };
        let mut dialects = recording.map(|report| recognised_in(slice::from_ref(report))).unwrap_or_default();
        if dialects.is_empty() {
            let is_usual = |dialect: &&Dialect| match recording {
                Some(_) => dialect.fallback == Fallback::Any,
                None => dialect.fallback != Fallback::None,
            };
            dialects = spec::DIALECTS.iter().copied().filter(is_usual).collect();
        }
        let rules: BTreeMap<&str, &Rule> = dialects
            .into_iter()
            .flat_map(|dialect| sets.of(dialect).iter().map(|rule| (rule.id, rule)).collect::<Vec<_>>())
            .collect();
        rules.into_values().collect()
    }

    pub(in crate::cli) fn only(&self, ids: BTreeSet<&'static str>) -> Self {
        match self {
            Self::One(rules) => Self::One(rules.clone().only(|rule| ids.contains(rule.id))),
            Self::Each(sets) => Self::Each(sets.only(move |rule| ids.contains(rule.id))),
        }
    }

    pub(in crate::cli) fn run(&self, captures: Vec<CaptureReport>, fail_on: FailOn) -> Run {
        match self {
            Self::One(rules) => Run::of_recordings(rules, captures, fail_on),
            Self::Each(sets) => Run::of_recognised(sets, captures, fail_on),
        }
    }
}
