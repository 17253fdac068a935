//! Shards: equal parts of a run, for several machines.

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

use catalogue::{PROFILES, Profile};
use serde::{Deserialize, Serialize};
use spec::Api;

use super::transport::Transport;

/// One of several parts of a run, written as `2/4`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Shard {
    /// Its number, from 1.
    pub number: u32,
    /// The number of parts.
    pub of: u32,
}

/// Scenarios by id: the place of the first of the scenarios that continue each other.
type Places = HashMap<&'static str, usize>;

/// The places of the scenarios of each API.
static PLACES: LazyLock<Vec<(&'static Api, Places)>> =
    LazyLock::new(|| spec::APIS.iter().map(|api| (*api, places(api))).collect());

fn places(api: &Api) -> Places {
    let own = catalogue::SCENARIOS.iter().filter(|scenario| scenario.api.is_none_or(|of| of == api.name));
    let ids = || own.clone().map(|scenario| scenario.id);
    let mut firsts: Vec<&str> = ids().filter(|id| first(id) == *id).collect();
    // The scenarios of a profile follow each other, so that each part has some of them.
    let profiles: Vec<&Profile> = PROFILES.iter().filter(|profile| profile.is_of(api)).collect();
    firsts.sort_by_key(|id| {
        let names_it = |profile: &&Profile| {
            profile.scenarios.iter().flat_map(|ids| ids.split('|')).any(|named| first(named) == *id)
        };
        profiles.iter().position(names_it).unwrap_or(profiles.len())
    });
    let firsts: HashMap<&str, usize> = firsts.into_iter().zip(0..).collect();
    ids().filter_map(|id| Some((id, *firsts.get(first(id))?))).collect()
}

/// The first of the scenarios that continue each other.
fn first(id: &'static str) -> &'static str {
    let previous = |id: &&'static str| catalogue::scenario(id).and_then(|scenario| scenario.previous);
    std::iter::successors(Some(id), previous).take(catalogue::SCENARIOS.len()).last().unwrap_or(id)
}

impl Shard {
    /// Returns whether a test of an API belongs to this part. The tests of a scenario over all transports, and of those that
    /// continue it, belong to the same part.
    pub fn has_test(self, name: &str, api: &str) -> bool {
        let scenario = Transport::scenario(name.rsplit_once("::").map_or(name, |(case, _)| case));
        // With several dialects, theirs is the first segment.
        let bare = scenario.split_once('/').map_or(scenario, |(_, rest)| rest);
        let places = PLACES.iter().find(|(of, _)| of.name == api).map(|(_, places)| places);
        let place = places.and_then(|places| places.get(scenario).or_else(|| places.get(bare))).copied();
        self.has(place.unwrap_or_else(|| spread(name)))
    }

    /// Returns whether a case of a client belongs to this part. The transports of a case belong to the same part.
    pub fn has_case(self, name: &str) -> bool {
        self.has(spread(Transport::scenario(name)))
    }

    /// Returns whether the part has the thing at this place of a list.
    pub const fn has(self, place: usize) -> bool {
        place % self.of as usize == self.number as usize - 1
    }
}

/// Depends on the name alone: its FNV hash.
fn spread(name: &str) -> usize {
    let hash =
        name.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    hash as usize
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected =
            || "expected I/N, the number of this part and the number of parts, as in 2/4".to_owned();
        let (number, of) = text.split_once('/').ok_or_else(expected)?;
        let whole = |text: &str| text.parse::<u32>().map_err(|_| expected());
        let (number, of) = (whole(number)?, whole(of)?);
        if (1..=of).contains(&number) {
            return Ok(Self { number, of });
        }
        Err(match of {
            0 => "there are no parts: N is at least 1".to_owned(),
            _ => format!("there is no part {number} of {of}: I is a number from 1 to {of}"),
        })
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_test_is_in_one_shard_with_those_that_it_continues() {
        for of in [1_u32, 2, 3, 7] {
            let shards: Vec<Shard> = (1..=of).map(|number| Shard { number, of }).collect();
            let place = |name: &str, api: &str| {
                let mut having = shards.iter().filter(|shard| shard.has_test(name, api));
                let place = having.next().unwrap_or_else(|| panic!("no shard has {name}")).number;
                assert!(having.next().is_none(), "{name} is in two shards");
                place
            };
            for scenario in catalogue::SCENARIOS {
                let place = |name: String| place(&name, scenario.api.unwrap_or_default());
                let own = place(format!("{}::answer", scenario.id));
                assert_eq!(own, place(format!("{}.json::agrees", scenario.id)), "{}", scenario.id);
                assert_eq!(own, place(format!("{}.ws::item", scenario.id)), "{}", scenario.id);
                assert_eq!(own, place(format!("openai/{}::item", scenario.id)), "{}", scenario.id);
                if let Some(previous) = scenario.previous {
                    assert_eq!(own, place(format!("{previous}::answer")), "{}", scenario.id);
                }
            }
            place("violation::item/finished", "responses");
        }
    }

    #[test]
    fn the_transports_of_a_case_are_in_one_shard() {
        for name in ["text/hello", "defect/cr_only", "fault/part/before-open"] {
            let of = |name: &str| (1..=3).find(|number| Shard { number: *number, of: 3 }.has_case(name));
            assert!(of(name).is_some());
            assert_eq!(of(name), of(&format!("{name}.json")));
        }
    }

    #[test]
    fn shards_are_about_equal() {
        for profile in PROFILES {
            let of = u32::try_from(profile.scenarios.len().min(4)).unwrap();
            for number in 1..=of {
                let shard = Shard { number, of };
                let ids = profile.scenarios.iter().flat_map(|ids| ids.split('|'));
                let api = spec::APIS.iter().find(|api| profile.is_of(api)).unwrap().name;
                let has_some = ids.clone().any(|id| shard.has_test(id, api));
                // Scenarios that continue each other stay together.
                let places = ids.map(first).collect::<std::collections::BTreeSet<_>>().len();
                assert!(has_some || places < 2 * of as usize, "{} has nothing in {shard}", profile.name);
            }
        }
        let of = 4;
        let counts = (1..=of).map(|number| {
            let has = |scenario: &&catalogue::Scenario| {
                Shard { number, of }.has_test(scenario.id, scenario.api.unwrap_or_default())
            };
            catalogue::SCENARIOS.iter().filter(has).count()
        });
        let all = catalogue::SCENARIOS.len() / of as usize;
        for count in counts {
            assert!((all / 2..=all * 2).contains(&count), "{count} of {all}");
        }
    }
}
