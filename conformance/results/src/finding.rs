//! What is wrong, as reports tell it.

use std::borrow::Cow;
use std::fmt::Write as _;

use catalogue::{Level, Rule};
use serde::{Deserialize, Serialize};

/// A place, or several alike, where a rule is broken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Finding {
    /// The rule, `group/name`.
    pub rule: Cow<'static, str>,
    /// How binding it is.
    #[serde(with = "LevelName")]
    pub level: Level,
    /// What is wrong.
    pub message: String,
    /// The exchange of the recording, when it holds several.
    pub exchange: Option<String>,
    /// The event that is wrong.
    #[serde(flatten)]
    pub place: Place,
    /// JSON pointer into the event.
    pub pointer: Option<String>,
    /// What should stand there.
    pub expected: Option<String>,
    /// What stands there.
    pub actual: Option<String>,
    /// Another event, which explains it.
    pub related: Option<Related>,
    /// Clients that the rule's page names, but that this does not break: they are written for a dialect that
    /// has what is missed here, or fail at other places only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spared: Vec<Cow<'static, str>>,
    /// How many places are alike.
    pub count: u64,
}

/// An event that explains a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Related {
    /// What it has to do with it.
    pub label: Cow<'static, str>,
    /// The event.
    #[serde(flatten)]
    pub place: Place,
}

/// Where an event stands in its stream, and in the recording.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Place {
    /// Number of the frame in the stream, from 1.
    pub frame: u64,
    /// Number of the event in the stream, from 1; 0 in an answer that is no stream.
    pub event: u64,
    /// Type of the event.
    pub event_type: Option<String>,
    /// Its sequence number.
    pub sequence_number: Option<u64>,
    /// When it came, in milliseconds since the stream began.
    pub time_ms: Option<u64>,
    /// Line of the recording, from 1.
    pub line: u64,
    /// From which byte to which.
    pub bytes: [u64; 2],
    /// The line, cut around the place.
    pub excerpt: Excerpt,
}

/// A line of a recording, cut around a place. It is as the endpoint sent it: hostile, perhaps.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Excerpt {
    /// What is left of the line.
    pub text: String,
    /// From which byte of the text to which the place is.
    pub mark: [usize; 2],
    /// Whether something was cut off before, and behind.
    pub cut: [bool; 2],
}

/// How binding a rule is.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(remote = "Level", rename_all = "lowercase")]
pub enum LevelName {
    /// Not checked.
    Off,
    /// A note.
    May,
    /// A warning.
    Should,
    /// An error.
    Must,
}

impl Finding {
    /// The group that its rule is in.
    pub fn group(&self) -> &str {
        catalogue::group(&self.rule)
    }

    /// The clients that it breaks, by what is known of them, each once, with all that happens to it.
    pub fn broken_clients(&self) -> Vec<(&'static str, String)> {
        let mut clients = catalogue::rule(&self.rule).map(broken_clients).unwrap_or_default();
        clients.retain(|(client, _)| !self.spares(client));
        clients
    }

    /// Whether it does not break a client, though the page of its rule names it.
    pub fn spares(&self, client: &str) -> bool {
        self.spared.iter().any(|spared| spared == client)
    }

    /// What the engine found in an exchange of a recording.
    pub fn of(exchange: Option<String>, finding: checker::Finding) -> Self {
        Self {
            rule: Cow::Borrowed(finding.rule),
            level: finding.level,
            message: finding.message,
            exchange,
            place: Place::of(finding.spot),
            pointer: finding.pointer,
            expected: finding.expected,
            actual: finding.actual,
            related: finding
                .related
                .map(|related| Related { label: Cow::Owned(related.label), place: Place::of(related.spot) }),
            spared: finding.spared.into_iter().map(Cow::Borrowed).collect(),
            count: finding.count,
        }
    }
}

/// The clients that a rule protects, each once, with all that happens to it.
pub fn broken_clients(rule: &Rule) -> Vec<(&'static str, String)> {
    let mut clients: Vec<(&str, String)> = Vec::new();
    for broken in rule.breaks {
        match clients.iter_mut().find(|(client, _)| *client == broken.client) {
            Some((_, failures)) if failures == broken.failure => {}
            Some((_, failures)) => {
                let _ = write!(failures, "; {}", broken.failure);
            }
            None => clients.push((broken.client, broken.failure.to_owned())),
        }
    }
    clients
}

impl Place {
    fn of(spot: checker::Spot) -> Self {
        let excerpt = spot.excerpt;
        Self {
            frame: spot.frame,
            event: spot.event,
            event_type: spot.event_type,
            sequence_number: spot.sequence_number,
            time_ms: spot.time.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX)),
            line: spot.line,
            bytes: [spot.bytes.start, spot.bytes.end],
            excerpt: Excerpt {
                text: excerpt.text,
                mark: [excerpt.mark.start, excerpt.mark.end],
                cut: [excerpt.cut.0, excerpt.cut.1],
            },
        }
    }
}
