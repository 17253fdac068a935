//! The properties that objects of one cause lack.

use std::collections::{BTreeMap, BTreeSet};

use checker::{Finding, Supply};

use super::key::starred;
use crate::text::{grouped, listed, listed_plainly};

/// The missing properties, with what is known of them.
#[derive(Default)]
pub(super) struct Lack<'f> {
    properties: Vec<(&'f str, &'f Supply)>,
    /// The missing properties of each event type, in the order of `properties`.
    events: BTreeMap<&'f str, BTreeSet<usize>>,
    places: Vec<String>,
}

/// Maximum number of properties in a message.
const NAMES: usize = 24;
/// Maximum number of other places in a message.
const PLACES: usize = 3;

impl<'f> Lack<'f> {
    pub(super) fn add(&mut self, finding: &'f Finding) {
        let (Some(name), Some(supply)) = (&finding.missing, &finding.supply) else { return };
        let known = self.properties.iter().position(|(known, _)| known == name);
        let at = known.unwrap_or_else(|| {
            self.properties.push((name, supply));
            self.properties.len() - 1
        });
        let event = finding.place.event_type.as_deref().unwrap_or_default();
        self.events.entry(event).or_default().insert(at);
        let place = starred(finding.pointer.as_deref().unwrap_or_default());
        if finding.place.event > 0 && !place.is_empty() && !self.places.contains(&place) {
            self.places.push(place);
        }
    }

    pub(super) fn properties(&self) -> Vec<String> {
        self.properties.iter().map(|(name, _)| (*name).to_owned()).collect()
    }

    /// `None` if the message of the first finding says it all.
    pub(super) fn message(&self, first: &Finding) -> Option<String> {
        if self.is_of_events(first) {
            return (self.properties.len() > 1 || self.events.len() > 1).then(|| self.by_event());
        }
        let places: Vec<&String> = self
            .places
            .iter()
            .filter(|place| **place != starred(first.pointer.as_deref().unwrap_or_default()))
            .collect();
        let also = match places.as_slice() {
            [] => String::new(),
            places => format!(" (also in {})", listed(places, PLACES, |place| (*place).clone())),
        };
        match self.properties.as_slice() {
            [] => None,
            [_] => (!also.is_empty()).then(|| first.message.clone() + &also),
            all => {
                let holder = first.holder().into_owned();
                Some(format!("{holder} lacks {} properties: {}{also}", all.len(), names(all)))
            }
        }
    }

    pub(super) fn fix(&self, first: &Finding) -> Option<String> {
        if self.properties.is_empty() {
            return None;
        }
        let member = |(name, supply): &(&str, &Supply)| format!("\"{name}\": {}", supply.value);
        let members = listed_plainly(&self.properties, NAMES, member);
        let holder = match self.events.len() {
            2.. if self.is_of_events(first) => "these events".to_owned(),
            _ => first.holder().into_owned(),
        };
        let mut fix = format!("add to {holder}: {members}");
        for (name, supply) in &self.properties {
            fix += &supply.hint(name);
        }
        Some(fix)
    }

    /// The events themselves lack properties, not objects in them.
    fn is_of_events(&self, first: &Finding) -> bool {
        first.place.event > 0
            && first.pointer.as_deref().is_none_or(str::is_empty)
            && !self.properties.is_empty()
    }

    fn by_event(&self) -> String {
        let alike = grouped(self.events.iter().map(|(event, lacks)| (lacks, *event)));
        let clause = |(lacks, events): &(&BTreeSet<usize>, Vec<&str>)| {
            let lacking: Vec<_> = lacks.iter().filter_map(|at| self.properties.get(*at).copied()).collect();
            let verb = if events.len() == 1 { "lacks" } else { "lack" };
            format!("{} {verb} {}", listed(events, PLACES, |event| (*event).to_owned()), names(&lacking))
        };
        alike.iter().map(clause).collect::<Vec<_>>().join("; ")
    }
}

fn names(properties: &[(&str, &Supply)]) -> String {
    listed_plainly(properties, NAMES, |(name, _)| (*name).to_owned())
}
