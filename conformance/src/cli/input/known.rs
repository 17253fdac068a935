//! Names that a shell completes, and that commands check themselves: their errors name the nearest.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;

use catalogue::Rule;
use clap::builder::{PossibleValue, PossibleValuesParser, StringValueParser, TypedValueParser};
use clap::{Arg, Command, Error};

/// A value parser that accepts any text, and completes known names.
#[derive(Debug, Clone, Copy)]
pub(in crate::cli) struct KnownNames(fn() -> Vec<&'static str>);

pub(in crate::cli) const DIALECTS: KnownNames =
    KnownNames(|| spec::dialects().map(|(name, _)| name).collect());
/// Dialects, `all` and `auto`.
pub(in crate::cli) const DIALECTS_OR_ALL: KnownNames =
    KnownNames(|| ["all", results::AUTO].into_iter().chain((DIALECTS.0)()).collect());
pub(in crate::cli) const DIALECTS_OR_AUTO: KnownNames =
    KnownNames(|| [results::AUTO].into_iter().chain((DIALECTS.0)()).collect());
pub(in crate::cli) const APIS: KnownNames =
    KnownNames(|| crate::cli::input::names::usual().map(|dialect| dialect.api.name).collect());
pub(in crate::cli) const ALL: &str = "all";
pub(in crate::cli) const FEATURES: KnownNames =
    KnownNames(|| catalogue::FEATURES.iter().map(|feature| feature.name).collect());
pub(in crate::cli) const PROFILES: KnownNames =
    KnownNames(|| catalogue::PROFILES.iter().map(|profile| profile.name).collect());
pub(in crate::cli) const CLIENT_PROFILES: KnownNames =
    KnownNames(|| catalogue::CLIENT_PROFILES.iter().map(|profile| profile.name).collect());
pub(in crate::cli) const SCENARIOS: KnownNames = KnownNames(|| {
    // Several APIs can have a scenario.
    let mut ids: Vec<&str> = catalogue::SCENARIOS.iter().map(|scenario| scenario.id).collect();
    ids.dedup();
    ids
});
/// Rules that a reference gateway can break, and the groups that they are in.
pub(in crate::cli) const FAULTS: KnownNames = KnownNames(|| {
    let groups: BTreeSet<&str> = catalogue::RULES.iter().map(Rule::group).collect();
    catalogue::RULES.iter().map(|rule| rule.id).chain(groups).collect()
});
/// Rules of streams, bodies and logs, and the groups that they are in.
pub(in crate::cli) const RULES: KnownNames = KnownNames(crate::cli::input::names::rules_and_groups);
/// Enumerations of legal streams.
pub(in crate::cli) const ENUMERATIONS: KnownNames =
    KnownNames(|| grammar::Enumeration::all().into_iter().map(|of| &*of.name.leak()).collect());
pub(in crate::cli) const TOPICS: KnownNames = KnownNames(|| {
    let mut names: BTreeSet<&str> = catalogue::REQUIREMENTS.iter().map(|sentence| sentence.id).collect();
    names.extend(spec::DIALECTS.iter().flat_map(|dialect| dialect.events).map(|event| event.name));
    for all in [RULES, SCENARIOS, PROFILES, FEATURES] {
        names.extend((all.0)());
    }
    names.extend(catalogue::CLIENT_CASES.iter().map(|case| case.id));
    names.extend(gateway::WireFault::ALL.into_iter().map(gateway::WireFault::name));
    names.extend(crate::cli::input::names::groups());
    names.extend(catalogue::test_rules().map(|rule| rule.id));
    names.extend(catalogue::BETWEEN_CASES.iter().map(|case| case.id));
    names.into_iter().collect()
});

pub(in crate::cli) fn api_or_all() -> impl TypedValueParser<Value = String> {
    or_all(crate::cli::input::names::usual().map(|dialect| dialect.api).map(|api| (api.name, api.title)))
}

pub(in crate::cli) fn agent_or_all() -> impl TypedValueParser<Value = String> {
    let named: BTreeMap<_, _> =
        catalogue::AGENT_PROFILES.iter().map(|profile| (profile.name(), profile.title)).collect();
    or_all(named.into_iter())
}

/// The profile of an agent by its name, or by its API and name.
pub(in crate::cli) fn agent(named: &str) -> Result<&'static catalogue::AgentProfile, String> {
    let mut all = catalogue::AGENT_PROFILES.iter();
    all.find(|profile| profile.id == named || profile.name() == named).ok_or_else(|| {
        let ids: Vec<_> = catalogue::AGENT_PROFILES.iter().map(|profile| profile.id).collect();
        format!("there is no such agent; there are: {}", ids.join(", "))
    })
}

fn or_all(
    named: impl Iterator<Item = (&'static str, &'static str)>,
) -> impl TypedValueParser<Value = String> {
    let all = named.chain([(ALL, "All of them")]);
    PossibleValuesParser::new(all.map(|(name, help)| PossibleValue::new(name).help(help)).collect::<Vec<_>>())
}

/// Each value has a help text.
pub(in crate::cli) fn one_of<V: Copy + Send + Sync + 'static>(
    values: &'static [(V, &'static str)],
    name: fn(V) -> &'static str,
) -> impl TypedValueParser<Value = V> {
    let possible = values.iter().map(|(value, help)| PossibleValue::new(name(*value)).help(*help));
    PossibleValuesParser::new(possible.collect::<Vec<_>>()).try_map(move |text| {
        let is_it = |(value, _): &&(V, &str)| name(*value) == text;
        values.iter().find(is_it).map(|(value, _)| *value).ok_or("it is not known")
    })
}

impl TypedValueParser for KnownNames {
    type Value = String;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<String, Error> {
        StringValueParser::new().parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.0)().into_iter().map(PossibleValue::new)))
    }
}
