//! The outcomes of real clients with recordings that were played to them.

use serde::{Deserialize, Serialize};

use crate::text::grouped;

/// Version of the format. It increases when a member is removed or changes its meaning.
pub const IMPACT_VERSION: u32 = 1;

/// The outcomes of clients with recordings.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ImpactRun {
    /// Version of the format.
    pub impact: u32,
    /// Version of the suite.
    pub suite: String,
    /// The recorded responses.
    pub responses: Vec<PlayedResponse>,
    /// The clients that were to be played, and were not, with the reason.
    pub left_out: Vec<LeftOut>,
}

/// A recorded response that was played to clients.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct PlayedResponse {
    /// The recording, with the number of the response if it has several.
    pub name: String,
    /// Its dialect; none if it could not be recognised, and was not played.
    pub dialect: Option<String>,
    /// The rules that it breaks, without those that are notes.
    pub rules: Vec<String>,
    /// The other side of the comparison.
    pub beside: Beside,
    /// The outcome of each client.
    pub clients: Vec<PlayedClient>,
}

/// The other side of the comparison of a reply.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Beside {
    /// The client's reply to an intact stream that was given.
    Given,
    /// The client's reply to a stream that keeps the rules and says the same.
    Mended,
    /// The content of the response, read leniently: it has no end, reports an error, or cannot be read so far that a stream
    /// could be made of it.
    #[default]
    Wire,
}

/// The outcome of a client with a response.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct PlayedClient {
    /// The client.
    pub name: String,
    /// Its version.
    pub version: Option<String>,
    /// The outcome.
    pub outcome: PlayedOutcome,
    /// The error, the difference, or the reason.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
}

/// The outcome of a client with a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum PlayedOutcome {
    /// It reports an error, or dies, although the response has an answer.
    Fails,
    /// It loses, mixes or invents something, does not come to an end, or takes what broke off for the whole.
    Wrong,
    /// It returns what the server sent, which is not what an intact response says.
    PassesOn,
    /// It reports that the response broke off, or the error in it, as it should.
    Reports,
    /// It returns the same as for an intact response.
    Unaffected,
    /// It was not played, or fails on the intact response, too.
    NotPlayed,
}

impl PlayedOutcome {
    /// All outcomes, the worst first.
    pub const ALL: [Self; 6] =
        [Self::Fails, Self::Wrong, Self::PassesOn, Self::Reports, Self::Unaffected, Self::NotPlayed];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fails => "fails",
            Self::Wrong => "wrong",
            Self::PassesOn => "passes-on",
            Self::Reports => "reports",
            Self::Unaffected => "unaffected",
            Self::NotPlayed => "not-played",
        }
    }

    /// Its name as words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::PassesOn => "passes on",
            Self::NotPlayed => "not played",
            outcome => outcome.name(),
        }
    }

    /// Returns whether the response breaks the client.
    pub const fn is_broken(self) -> bool {
        matches!(self, Self::Fails | Self::Wrong)
    }
}

impl PlayedResponse {
    /// The clients that did the same, with how, the worst first.
    pub fn alike(&self) -> Vec<(PlayedOutcome, &str, Vec<&PlayedClient>)> {
        let mut clients: Vec<&PlayedClient> = self.clients.iter().collect();
        clients.sort_by_key(|client| client.outcome);
        let how = clients.into_iter().map(|client| ((client.outcome, &*client.detail), client));
        grouped(how).into_iter().map(|((outcome, how), clients)| (outcome, how, clients)).collect()
    }

    /// The numbers of clients that it breaks, and of those that it was played to.
    pub fn broken_of(&self) -> [u64; 2] {
        let count = |is_it: fn(PlayedOutcome) -> bool| {
            self.clients.iter().filter(|client| is_it(client.outcome)).count() as u64
        };
        [count(PlayedOutcome::is_broken), count(|outcome| outcome != PlayedOutcome::NotPlayed)]
    }

    /// Returns whether it was played to a client of this name.
    pub fn has_played(&self, client: &str) -> bool {
        let is_it =
            |played: &PlayedClient| played.name == client && played.outcome != PlayedOutcome::NotPlayed;
        self.clients.iter().any(is_it)
    }
}

impl PlayedClient {
    /// Its name, with its version if known.
    pub fn named(&self) -> String {
        match &self.version {
            Some(version) => format!("{} {version}", self.name),
            None => self.name.clone(),
        }
    }
}

impl ImpactRun {
    /// Returns what clients did, with the response.
    pub fn played(&self) -> impl Iterator<Item = (&PlayedResponse, &PlayedClient)> {
        self.responses
            .iter()
            .flat_map(|response| response.clients.iter().map(move |client| (response, client)))
    }

    /// Returns whether a response breaks any client.
    pub fn breaks_any(&self) -> bool {
        self.played().any(|(_, client)| client.outcome.is_broken())
    }

    /// Returns whether any client was played.
    pub fn has_played(&self) -> bool {
        self.played().any(|(_, client)| client.outcome != PlayedOutcome::NotPlayed)
    }
}

/// A client that was not played, or several with the same packages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct LeftOut {
    /// The clients.
    pub clients: Vec<String>,
    /// The reason.
    pub reason: String,
}
