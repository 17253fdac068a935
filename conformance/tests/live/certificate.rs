//! Certificates of runs.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::time::Duration;

use catalogue::{PROFILES, Profile};
use conformance::Suite;
use conformance::certificate::{demanded, specification};
use conformance::gateway::Settings;
use conformance::results::{Demand, Verdict};
use conformance::wire::Limits;
use spec::Dialect;

use crate::program::{certificate, folder, several_at_once};

/// Rules with the profiles that demand them.
type Demands = BTreeSet<(&'static str, &'static str)>;

/// Returns which of these demands fail for a gateway that breaks their rules.
fn failing(dialect: &'static Dialect, demands: &[(&'static str, &'static str)]) -> Demands {
    let rules: BTreeSet<&str> = demands.iter().map(|(rule, _)| *rule).collect();
    let profiles: BTreeSet<&str> = demands.iter().map(|(_, profile)| *profile).collect();
    let first = rules.first().expect("there is one").replace('/', "-");
    let out = folder(&format!("certificate-{}-{}-{first}", dialect.name, rules.len()));
    let broken = rules.iter().filter_map(|rule| catalogue::rule(rule)).collect();
    let settings = Settings { rules: broken, ..Settings::new(dialect) };
    // A shorter timeout for WebSocket messages without a response.
    let limits = Limits { first_event: Duration::from_secs(2), ..Limits::default() };
    Suite::reference(settings).limits(limits).profiles(profiles).out(&out).judge().expect("it can be run");
    let judged = certificate(&out).profiles;
    let has_failed = |(rule, name): &(&str, &str)| {
        let profiles = judged.iter().filter(|profile| profile.name == *name);
        let mut reasons = profiles.flat_map(|profile| &profile.reasons);
        reasons.any(|reason| {
            (reason.verdict, reason.demand, &*reason.name) == (Verdict::Fail, Demand::Rule, *rule)
        })
    };
    demands.iter().copied().filter(has_failed).collect()
}

/// Returns the demands of the profiles of some dialects that no run fails, with several faults at once and with each alone.
fn unproven(dialects: &[&str]) -> Demands {
    let of_name = |name: &&str| conformance::dialect(name).expect("it is known");
    let dialects: Vec<&'static Dialect> = dialects.iter().map(of_name).collect();
    let is_implemented =
        |profile: &&Profile| dialects.iter().any(|dialect| specification(profile, dialect).is_some());
    let profiles = PROFILES.iter().filter(is_implemented);
    let mut unproven: Demands =
        profiles.flat_map(|profile| profile.rules.iter().map(|rule| (*rule, profile.name))).collect();
    // A demand proven in one dialect is not tried again in the other. Faults that hide each other are tried alone.
    for (rules_at_once, dialect) in
        [6, 1].into_iter().flat_map(|count| dialects.iter().map(move |it| (count, *it)))
    {
        let is_demanded = |(rule, name): &(&str, &str)| {
            let mut named = PROFILES.iter().filter(|profile| profile.name == *name);
            named.any(|profile| {
                specification(profile, dialect).is_some() && demanded(profile, dialect).contains(rule)
            })
        };
        let demands: Vec<_> = unproven.iter().copied().filter(is_demanded).collect();
        let by_rule: Vec<_> = demands.chunk_by(|(one, _), (other, _)| one == other).collect();
        // Neighbours are about the same, and hide each other more often.
        let count = by_rule.len().div_ceil(rules_at_once);
        let run = |first| by_rule.iter().skip(first).step_by(count).copied().flatten().copied().collect();
        let runs: Vec<Vec<_>> = (0..count).map(run).collect();
        let proven = Mutex::new(Demands::new());
        several_at_once(&runs, |demands| {
            let failing = failing(dialect, demands);
            proven.lock().expect("nobody panicked").extend(failing);
        });
        let proven = proven.into_inner().expect("nobody panicked");
        unproven = unproven.difference(&proven).copied().collect();
    }
    unproven
}

#[test]
fn every_demand_of_a_profile_can_fail() {
    assert_eq!(unproven(&["openai", "open-responses"]), Demands::new());
}

/// Rules that profiles of other APIs demand, and whose violation no scenario of these profiles is answered by.
const UNPLAYED: [&str; 8] = [
    "block/reopened",
    "tool-call/index-gap",
    "tool-call/one-chosen",
    "tool-use/id-unique",
    "tool-use/input-json",
    "tool-use/input-once",
    "tool-use/one-chosen",
    "usage/once",
];

/// Every rule that profiles of the other APIs demand fails in one of them.
#[test]
fn every_rule_that_profiles_of_other_apis_demand_can_fail() {
    let mut all_missed = BTreeSet::new();
    for name in ["anthropic", "chat"] {
        let unproven = unproven(&[name]);
        let demanding = |rule: &str| {
            PROFILES.iter().filter(|it| it.specifications.contains(&name) && it.rules.contains(&rule)).count()
        };
        let failed =
            |rule: &str| unproven.iter().filter(|(other, _)| *other == rule).count() < demanding(rule);
        let missed = unproven.iter().map(|(rule, _)| *rule).filter(|rule| !failed(rule));
        all_missed.extend(missed);
    }
    assert_eq!(all_missed, BTreeSet::from(UNPLAYED));
}
