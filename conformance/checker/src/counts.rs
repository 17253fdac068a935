//! The token counts of a response, by the places of its API.

use serde_json::Value;
use spec::Api;
use spec::json::at;
use spec::table::{CountPlace, Role, UsagePlaces};

use crate::Record;

/// The token counts so far, as the API has them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    input: Option<u64>,
    cached: Option<u64>,
    written: Option<u64>,
    output: Option<u64>,
    /// Those of reasoning.
    pub reasoning: Option<u64>,
}

impl Counts {
    /// The counts in an object, if it is one.
    pub fn of(api: &Api, counts: &Value) -> Option<Self> {
        let UsagePlaces { input, cached, written, output, reasoning, .. } = api.usage;
        let count = |place| count(counts, place);
        let [input, cached, written] = [input, cached, written].map(count);
        let [output, reasoning] = [output, reasoning].map(count);
        counts.is_object().then_some(Self { input, cached, written, output, reasoning })
    }

    /// The counts of an event, if it has any.
    pub fn of_event(api: &Api, record: &Record<'_>) -> Option<Self> {
        Self::of(api, &counts_of_event(api, record)?)
    }

    /// Later counts replace earlier ones.
    pub fn update(&mut self, later: Self) {
        self.input = later.input.or(self.input);
        self.cached = later.cached.or(self.cached);
        self.written = later.written.or(self.written);
        self.output = later.output.or(self.output);
        self.reasoning = later.reasoning.or(self.reasoning);
    }

    /// The input as the API counts it, and all of the output.
    pub fn tokens(&self, api: &Api) -> Tokens {
        let apart = self.reasoning.filter(|_| api.usage.is_reasoning_apart);
        let output = apart.map(|apart| self.output.unwrap_or(0).saturating_add(apart)).or(self.output);
        Tokens { input: self.input, output }
    }

    /// All of the input. An API that counts what is written to a cache counts each part apart.
    pub fn whole_input(&self, api: &Api) -> Option<u64> {
        let parts = [self.cached, self.written].map(|part| part.filter(|_| !api.usage.written.0.is_empty()));
        let apart = parts.into_iter().flatten().fold(0, u64::saturating_add);
        self.input.map(|input| input.saturating_add(apart))
    }

    /// The tokens of the input that were read from a cache, and all of it, if both are known.
    pub fn reads(&self, api: &Api) -> Option<(u64, u64)> {
        Some((self.cached?, self.whole_input(api)?))
    }

    /// The tokens of the input that were read from a cache.
    pub const fn cached(&self) -> Option<u64> {
        self.cached
    }
}

/// The token counts of a response, as its API counts them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tokens {
    /// Those of the input.
    pub input: Option<u64>,
    /// Those of the output.
    pub output: Option<u64>,
}

impl Tokens {
    /// Returns the token counts of a response, if it has any.
    pub fn of_response(api: &Api, response: &Value) -> Option<Self> {
        Counts::of(api, response.get(api.usage.member)?).map(|counts| counts.tokens(api))
    }
}

fn counts_of_event(api: &Api, record: &Record<'_>) -> Option<Value> {
    // Deltas are many, and have none.
    record.views().find(|(info, _)| info.role != Role::Delta)?;
    let data = record.data();
    let is_there = |place: &str| place.rsplit('/').next().is_none_or(|name| record.may_have(data, name));
    let counts = api.usage.events.iter().filter(|place| is_there(place)).find_map(|place| at(data, place))?;
    serde_json::from_str(counts).ok()
}

/// A number that is written as a string is read as clients read it.
fn count(counts: &Value, (member, inner): CountPlace) -> Option<u64> {
    let count = counts.get(member)?;
    let count = inner.map_or(Some(count), |inner| count.get(inner))?;
    count.as_u64().or_else(|| count.as_str()?.parse().ok())
}
