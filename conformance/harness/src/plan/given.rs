//! Resources that only the owner of an endpoint can provide.

use std::collections::{BTreeMap, BTreeSet};

use catalogue::{SCENARIOS, Scenario};
use serde_json::Value;

use super::previous::replace;

use results::{Judgement, UndecidedKind, Verdict};

/// Resources that only the owner of an endpoint can provide, such as the id of a vector store.
pub type Given = BTreeMap<String, String>;

pub(crate) const GIVEN: &str = "given:";

/// The reference gateway has some resources built in.
pub(crate) fn all_given(given: &Given, is_reference: bool) -> Given {
    let mut all = if is_reference { gateway::given() } else { Given::new() };
    all.extend(given.clone());
    all
}

pub(super) fn give(value: &mut Value, given: &Given) {
    replace(value, &|text| Some(given.get(text.strip_prefix(GIVEN)?)?.clone().into()));
}

pub(super) fn needs(request: &str) -> impl Iterator<Item = &str> {
    request.split('"').filter_map(|text| text.strip_prefix(GIVEN))
}

/// Returns the verdict on a scenario that cannot be sent, as it needs a missing resource.
pub fn not_given(scenario: &Scenario, given: &Given) -> Option<Judgement> {
    let missing = needs(scenario.request).find(|name| !given.contains_key(*name))?;
    let flag = format!("--given {missing}=...");
    let reason = format!("it needs {flag}");
    Some(Judgement::undecided(Verdict::NotExercised, UndecidedKind::NotGiven, reason).with_detail(flag))
}

/// The names of all resources.
pub fn wanted() -> BTreeSet<&'static str> {
    SCENARIOS.iter().flat_map(|scenario| needs(scenario.request)).collect()
}
