//! What a recording says of an exchange, beside what rules find in it.

use std::collections::BTreeMap;

use spec::Dialect;
use spec::catalogue::Scenario;

use crate::capture::{self, Entry, Format};

/// What a recording says of an exchange.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Facts {
    /// The status of the answer, if one came.
    pub status: Option<u16>,
    /// Whether its headers promise a stream of events.
    pub is_stream: bool,
    /// The id of the response.
    pub response_id: Option<String>,
    /// How often each type of event came.
    pub events: BTreeMap<String, u64>,
    /// Why the answer was not read to its end.
    pub lost: Option<String>,
}

impl Facts {
    /// Reads a recorded exchange.
    ///
    /// # Errors
    ///
    /// When it is not one.
    pub fn read(recording: &[u8]) -> Result<Self, String> {
        let mut facts = Self::default();
        capture::read(recording, Some(Format::Exchange), &mut |entry| facts.add(&entry))
            .map_err(|error| error.to_string())?;
        Ok(facts)
    }

    fn add(&mut self, entry: &Entry<'_>) {
        match entry {
            Entry::Exchange(exchange) => {
                self.status = exchange.status;
                self.is_stream = exchange.is_stream();
            }
            Entry::Event(frame) => {
                let Some(data) = frame.data.as_deref() else { return };
                // The line tells events apart where the data do not.
                let kind = text(data, "/type").or_else(|| frame.event.as_deref().map(str::to_owned));
                *self.events.entry(kind.unwrap_or_default()).or_default() += 1;
                self.response_id = text(data, "/response/id").or(self.response_id.take());
            }
            Entry::Body(frame) => {
                self.response_id = frame.data.as_deref().and_then(|body| text(body, "/id"));
            }
            Entry::Lost(reason) => self.lost = Some(reason.to_string()),
            Entry::Sent(_) => {}
        }
    }

    /// What a scenario is there for and did not come.
    pub fn missing(&self, scenario: &Scenario, dialect: &Dialect) -> Vec<String> {
        let mut wanted: BTreeMap<&str, u64> = BTreeMap::new();
        for events in scenario.elicits {
            *wanted.entry(events).or_default() += 1;
        }
        let came = |events: &str| {
            let known = events.split('|').filter(|event| dialect.event(event).is_some());
            known.filter_map(|event| self.events.get(event)).sum::<u64>()
        };
        let short = wanted.into_iter().filter(|(events, count)| came(events) < *count);
        let told = short.map(|(events, count)| match count {
            1 => events.replace('|', " or "),
            _ => format!("{} ({count} times)", events.replace('|', " or ")),
        });
        told.collect()
    }
}

/// The text at a place of a JSON text, if there is one.
fn text(json: &str, pointer: &str) -> Option<String> {
    serde_json::from_str(spec::json::at(json, pointer)?).ok()
}

/// Events that a scenario is there for and that the dialect does not have.
pub(super) fn lacks(dialect: &Dialect, scenario: &Scenario) -> Option<&'static str> {
    let has = |events: &&&str| events.split('|').any(|event| dialect.event(event).is_some());
    scenario.elicits.iter().find(|events| !has(events)).copied()
}
