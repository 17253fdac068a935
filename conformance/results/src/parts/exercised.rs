//! The part of the lifecycle of a dialect that streams exercised.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// The part of the lifecycle of a dialect that streams exercised: of each type of container, and of the stream around
/// them, the steps, which follows which, and three in a row; and the enumeration values in its events.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Exercised {
    /// The dialect.
    pub dialect: String,
    /// Whether only what the features of the endpoint reach is counted, and not all that is legal.
    pub is_claimed: bool,
    /// The steps.
    pub states: Share,
    /// Two steps in a row.
    pub transitions: Share,
    /// Three steps in a row.
    pub pairs: Share,
    /// The types of events.
    pub events: Share,
    /// The types of containers, and of values in them.
    pub types: Share,
    /// The enumeration values.
    #[serde(default)]
    pub values: Share,
    /// The types of containers, and the stream around them.
    pub lanes: Vec<ExercisedLane>,
    /// The members with enumeration values.
    #[serde(default)]
    pub members: Vec<ExercisedMember>,
}

/// How many of some parts were exercised.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Share {
    /// Number of those that were.
    pub exercised: u64,
    /// Number of all.
    pub reachable: u64,
}

impl Share {
    /// Counts parts, each exercised or not.
    pub fn of(parts: impl IntoIterator<Item = bool>) -> Self {
        parts.into_iter().fold(Self::default(), |share, is_exercised| Self {
            exercised: share.exercised + u64::from(is_exercised),
            reachable: share.reachable + 1,
        })
    }

    /// A name is exercised if one of its parts is.
    fn of_names<'n>(parts: impl IntoIterator<Item = (&'n str, bool)>) -> Self {
        let mut names: BTreeMap<&str, bool> = BTreeMap::new();
        for (name, is_exercised) in parts {
            *names.entry(name).or_default() |= is_exercised;
        }
        Self::of(names.into_values())
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.exercised, self.reachable)
    }
}

/// A type of container, or the stream around all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ExercisedLane {
    /// The type, or the name of the scope.
    pub name: String,
    /// Whether it is a type of container.
    pub is_container: bool,
    /// Its steps, in the order in which they come.
    pub steps: Vec<ExercisedStep>,
    /// Two steps in a row.
    pub transitions: Vec<ExercisedPath>,
    /// Three steps in a row.
    pub pairs: Vec<ExercisedPath>,
}

/// A step: an event, the name of one of its effects behind `/`, and behind a space the type of what it opens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ExercisedStep {
    /// Its name.
    pub name: String,
    /// Whether a stream has it.
    pub is_exercised: bool,
}

/// Steps in a row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ExercisedPath {
    /// The places of the steps in the list of them.
    pub steps: Vec<usize>,
    /// Whether a stream has them.
    pub is_exercised: bool,
    /// How often the good streams of the suite have them.
    #[serde(default)]
    pub goldens: u64,
}

/// A member of objects in events that has enumeration values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ExercisedMember {
    /// The type of its object, or of the event if that has none, and a pointer from there, in which `*` is each entry of an
    /// array: `function_call/status`.
    pub name: String,
    /// The values that it can have.
    pub values: Vec<ExercisedValue>,
}

/// An enumeration value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ExercisedValue {
    /// The value.
    pub name: String,
    /// Whether an event has it.
    pub is_exercised: bool,
}

impl Exercised {
    /// Counts the parts of lanes, and the values of members.
    pub fn new(
        dialect: &str,
        is_claimed: bool,
        lanes: Vec<ExercisedLane>,
        members: Vec<ExercisedMember>,
    ) -> Self {
        let steps = || lanes.iter().flat_map(|lane| &lane.steps);
        let event = |step: &ExercisedStep| step.name.split([' ', '/']).next().unwrap_or_default().len();
        let of_values = steps().filter_map(|step| Some((step.name.split_once(' ')?.1, step.is_exercised)));
        let of_lanes = lanes.iter().filter(|lane| lane.is_container);
        let of_lanes = of_lanes.map(|lane| (&*lane.name, lane.steps.iter().any(|step| step.is_exercised)));
        Self {
            dialect: dialect.to_owned(),
            is_claimed,
            states: Share::of(steps().map(|step| step.is_exercised)),
            transitions: Share::of(
                lanes.iter().flat_map(|lane| &lane.transitions).map(|path| path.is_exercised),
            ),
            pairs: Share::of(lanes.iter().flat_map(|lane| &lane.pairs).map(|path| path.is_exercised)),
            events: Share::of_names(steps().map(|step| (&step.name[..event(step)], step.is_exercised))),
            types: Share::of_names(of_lanes.chain(of_values)),
            values: Share::of(members.iter().flat_map(|member| &member.values).map(|it| it.is_exercised)),
            lanes,
            members,
        }
    }

    /// The transitions that no stream has, the usual ones first.
    pub fn never(&self) -> impl Iterator<Item = String> {
        let mut never: Vec<(&ExercisedLane, &ExercisedPath)> = Vec::new();
        for lane in &self.lanes {
            never.extend(lane.transitions.iter().filter(|path| !path.is_exercised).map(|path| (lane, path)));
        }
        never.sort_by_key(|(_, path)| Reverse(path.goldens));
        never.into_iter().map(|(lane, path)| format!("{} ({})", lane.words(path), lane.name))
    }

    pub(crate) fn merged<'r>(all: impl Iterator<Item = &'r [Self]>) -> Vec<Self> {
        let mut merged: Vec<Self> = Vec::new();
        for exercised in all {
            join(&mut merged, exercised, |one, other| one.dialect == other.dialect, Self::add);
        }
        merged.sort_by(|one, other| one.dialect.cmp(&other.dialect));
        merged
    }

    fn add(&mut self, other: &Self) {
        let (mut lanes, mut members) = (std::mem::take(&mut self.lanes), std::mem::take(&mut self.members));
        join(&mut lanes, &other.lanes, |one, other| one.name == other.name, ExercisedLane::add);
        join(&mut members, &other.members, |one, other| one.name == other.name, ExercisedMember::add);
        *self = Self::new(&self.dialect, self.is_claimed, lanes, members);
    }
}

impl ExercisedMember {
    fn add(&mut self, other: &Self) {
        let add =
            |known: &mut ExercisedValue, other: &ExercisedValue| known.is_exercised |= other.is_exercised;
        join(&mut self.values, &other.values, |one, other| one.name == other.name, add);
    }
}

impl ExercisedLane {
    /// The other run may claim other features, so that it may have other steps.
    fn add(&mut self, other: &Self) {
        let add = |known: &mut ExercisedStep, other: &ExercisedStep| known.is_exercised |= other.is_exercised;
        join(&mut self.steps, &other.steps, |one, other| one.name == other.name, add);
        let place = |at: &usize| {
            let step = other.steps.get(*at)?;
            self.steps.iter().position(|known| known.name == step.name)
        };
        let moved = |path: &ExercisedPath| {
            // A report that was changed by hand can have others.
            let steps = path.steps.iter().map(place).collect::<Option<_>>()?;
            Some(ExercisedPath { steps, ..path.clone() })
        };
        for (paths, others) in [(&mut self.transitions, &other.transitions), (&mut self.pairs, &other.pairs)]
        {
            let others: Vec<_> = others.iter().filter_map(moved).collect();
            let add =
                |known: &mut ExercisedPath, other: &ExercisedPath| known.is_exercised |= other.is_exercised;
            join(paths, &others, |one, other| one.steps == other.steps, add);
        }
    }

    /// Returns the names of steps in a row.
    pub fn words(&self, path: &ExercisedPath) -> String {
        let names = path.steps.iter().filter_map(|at| Some(self.steps.get(*at)?.name.as_str()));
        names.collect::<Vec<_>>().join(" → ")
    }
}

/// Parts that are not known go to the end.
fn join<T: Clone>(known: &mut Vec<T>, others: &[T], is_same: fn(&T, &T) -> bool, add: fn(&mut T, &T)) {
    for other in others {
        match known.iter_mut().find(|one| is_same(one, other)) {
            Some(one) => add(one, other),
            None => known.push(other.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lane(name: &str, steps: &[(&str, bool)], transitions: &[([usize; 2], bool)]) -> ExercisedLane {
        let steps = steps.iter().map(|(name, is_exercised)| ExercisedStep {
            name: (*name).to_owned(),
            is_exercised: *is_exercised,
        });
        let transitions = transitions.iter().map(|(steps, is_exercised)| ExercisedPath {
            steps: steps.to_vec(),
            is_exercised: *is_exercised,
            goldens: 1,
        });
        ExercisedLane {
            name: name.to_owned(),
            is_container: true,
            steps: steps.collect(),
            transitions: transitions.collect(),
            pairs: Vec::new(),
        }
    }

    #[test]
    fn runs_that_claim_other_features_are_joined_by_names() {
        let begun = lane("message", &[("added", true), ("done", false)], &[([0, 1], false)]);
        let call = lane("call", &[("added", true)], &[]);
        let text = [("text", true), ("added", true), ("done", true)];
        let with_text = lane("message", &text, &[([1, 0], true), ([1, 2], true)]);
        let mut joined = Exercised::new("openai", true, vec![begun], Vec::new());
        joined.add(&Exercised::new("openai", true, vec![call.clone(), with_text], Vec::new()));
        let steps = [("added", true), ("done", true), ("text", true)];
        let message = lane("message", &steps, &[([0, 1], true), ([0, 2], true)]);
        assert_eq!(joined.lanes, [message, call]);
        assert_eq!(joined.transitions, Share { exercised: 2, reachable: 2 });
    }
}
