//! Results of profiles by group of scenarios.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::case::CaseReport;
use super::live::LiveReport;
use crate::{CaptureReport, Demand, ProfileReport, ProfileState, Reason, Tally, Transport, Verdict};

/// Results of profiles: a column for each profile, a row for each group of scenarios.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Matrix {
    /// The profiles for the dialect that were requested or exercised.
    pub profiles: Vec<MatrixColumn>,
    /// The groups with scenarios of these profiles, sorted by name.
    pub groups: Vec<MatrixRow>,
    /// The other profiles for the dialect, without any exercised scenario.
    pub unexercised: Vec<String>,
}

/// A profile and the results of its rules.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct MatrixColumn {
    /// Its name.
    pub name: String,
    /// Its state.
    pub state: ProfileState,
    /// Results of its rules.
    pub rules: Tally,
}

/// A group of scenarios and its results in each profile.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct MatrixRow {
    /// Its name.
    pub name: String,
    /// Results of its scenarios in each profile; null if a profile requires none.
    pub cells: Vec<Option<Tally>>,
}

impl Matrix {
    pub(super) fn of(live: &LiveReport, captures: &[CaptureReport]) -> Self {
        let about = live.profiles.iter().filter(|profile| profile.state != ProfileState::NotApplicable);
        let cases = cases_of_exchanges(&live.cases, captures);
        let counted = about.map(|profile| (profile, scenarios(profile, &cases)));
        let is_told = |(_, groups): &(&ProfileReport, BTreeMap<&str, Tally>)| {
            let is_exercised = |tally: &Tally| tally.not_exercised < tally.all();
            !live.options.profiles.is_empty() || groups.values().any(is_exercised)
        };
        let (told, rest): (Vec<_>, Vec<_>) = counted.partition(is_told);
        let (about, columns): (Vec<&ProfileReport>, Vec<_>) = told.into_iter().unzip();
        let names: BTreeSet<&str> = columns.iter().flat_map(|column| column.keys().copied()).collect();
        let row = |name: &str| MatrixRow {
            name: name.to_owned(),
            cells: columns.iter().map(|column| column.get(name).copied()).collect(),
        };
        Self {
            groups: names.into_iter().map(row).collect(),
            profiles: about.into_iter().map(MatrixColumn::of).collect(),
            unexercised: rest.into_iter().map(|(profile, _)| profile.name.clone()).collect(),
        }
    }
}

impl MatrixColumn {
    fn of(profile: &ProfileReport) -> Self {
        let mut rules = Tally::default();
        for rule in &profile.rules {
            let own = profile.reasons.iter().filter(|of| of.demand == Demand::Rule && of.name == *rule);
            rules.count(worst(own));
        }
        Self { name: profile.name.clone(), state: profile.state, rules }
    }
}

/// By group. Alternatives (`|`) count as one.
fn scenarios<'p>(profile: &'p ProfileReport, cases: &BTreeMap<&str, &str>) -> BTreeMap<&'p str, Tally> {
    let mut groups: BTreeMap<&str, Tally> = BTreeMap::new();
    for demanded in &profile.scenarios {
        let is_meant = |case: &str| demanded.split('|').any(|id| id == Transport::scenario(case));
        let own = profile.reasons.iter().filter(|reason| match reason.demand {
            Demand::Run | Demand::Case | Demand::Feature => false,
            Demand::Scenario => is_meant(&reason.name),
            Demand::Rule => {
                let mut broken = reason.exchanges.iter().filter_map(|name| cases.get(name.as_str()));
                broken.any(|case| is_meant(case))
            }
        });
        groups.entry(catalogue::group(demanded)).or_default().count(worst(own));
    }
    groups
}

fn worst<'r>(reasons: impl Iterator<Item = &'r Reason>) -> Verdict {
    let mut tally = Tally::default();
    reasons.for_each(|reason| tally.count(reason.verdict));
    tally.worst()
}

fn cases_of_exchanges<'r>(
    cases: &'r [CaseReport],
    captures: &'r [CaptureReport],
) -> BTreeMap<&'r str, &'r str> {
    let exchanges = cases.iter().flat_map(|case| {
        let recorded = case.attempts.iter().filter_map(|at| captures.get(*at));
        recorded.map(|capture| (capture.name.as_str(), case.name.as_str()))
    });
    exchanges.collect()
}
