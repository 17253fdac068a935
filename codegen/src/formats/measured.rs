//! `measured.toml`

use std::collections::BTreeMap;

use codegen_derive::Constant;
use serde::{Deserialize, Serialize};

/// Measured behaviour of clients on streams.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct MeasuredFile {
    /// The clients that were measured, and those that are known from reports.
    #[serde(default, rename = "client")]
    pub clients: Vec<Client>,
    /// The outcome of each stream at the clients with a version: one letter for each, in their order. `.` handled it, `x`
    /// failed with an error, `w` returned wrong or empty content, `s` did not report an error, `c` fails on the intact
    /// stream, too, `-` cannot be asked for it, `?` not played yet.
    #[serde(default)]
    pub outcomes: BTreeMap<String, String>,
}

/// A client.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, Constant)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Client {
    /// Its name in rule pages.
    pub name: String,
    /// The dialect that it is written for.
    pub dialect: String,
    /// The measured version; `None` if it is known only from reports.
    pub version: Option<String>,
    /// The API that it was measured with, which its file is about.
    #[serde(skip)]
    pub api: String,
    /// Its place in the rows of `impact.toml`, if it was played samples.
    #[serde(skip)]
    pub column: Option<usize>,
    /// The API that was called, if its name does not tell.
    #[constant(skip)]
    pub how: Option<String>,
    /// Its errors on streams, except those with a wrong member.
    #[constant(skip)]
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub errors: BTreeMap<String, String>,
}

/// The outcome of a stream at a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// It fails with an error.
    Exception,
    /// It returns wrong or empty content.
    Wrong,
    /// It does not report an error.
    Silent,
    /// It returns what was sent, or reports what must be reported.
    Handled,
    /// It fails on the intact stream, too.
    FailsOnIntact,
    /// It cannot be asked for such a response.
    NotExercised,
    /// It was not played yet.
    NotPlayed,
}

impl Outcome {
    /// All outcomes.
    pub const ALL: [Self; 7] = [
        Self::Exception,
        Self::Wrong,
        Self::Silent,
        Self::Handled,
        Self::FailsOnIntact,
        Self::NotExercised,
        Self::NotPlayed,
    ];

    /// Returns its letter in `measured.toml`.
    pub const fn letter(self) -> char {
        match self {
            Self::Exception => 'x',
            Self::Wrong => 'w',
            Self::Silent => 's',
            Self::Handled => '.',
            Self::FailsOnIntact => 'c',
            Self::NotExercised => '-',
            Self::NotPlayed => '?',
        }
    }

    /// Returns the outcome with this letter.
    pub fn of(letter: char) -> Option<Self> {
        Self::ALL.into_iter().find(|outcome| outcome.letter() == letter)
    }

    /// Returns whether the defect of the stream breaks the client.
    pub const fn is_failure(self) -> bool {
        matches!(self, Self::Exception | Self::Wrong | Self::Silent)
    }
}

impl MeasuredFile {
    /// Returns the clients with a version, in the order of the letters.
    pub fn measured(&self) -> impl Iterator<Item = &Client> {
        self.clients.iter().filter(|client| client.version.is_some())
    }

    /// Returns what the clients with a version do with a stream, in their order.
    pub fn outcomes(&self, stream: &str) -> Vec<Outcome> {
        let letters = self.outcomes.get(stream).map(String::as_str).unwrap_or_default();
        let mut letters = letters.chars().map(|letter| Outcome::of(letter).unwrap_or(Outcome::NotPlayed));
        self.measured().map(|_| letters.next().unwrap_or(Outcome::NotPlayed)).collect()
    }

    /// Returns what a client does with a stream.
    pub fn outcome(&self, client: &str, stream: &str) -> Outcome {
        let column = self.measured().position(|measured| measured.name == client);
        let outcome = column.and_then(|column| self.outcomes(stream).get(column).copied());
        outcome.unwrap_or(Outcome::NotPlayed)
    }
}

/// The groups of streams that are played to clients: prefixes of their names.
pub mod groups {
    /// Streams of `defects.toml`.
    pub const DEFECT: &str = "defect/";
    /// Streams that break a rule.
    pub const FAULT: &str = "fault/";
    /// Legal streams that trip clients.
    pub const LEGAL: &str = "legal/";
    /// Streams with a wrong member.
    pub const MEMBER: &str = "member/";
    /// Streams with an event out of order, or in which a member is wrong at several places.
    pub const ORDER: &str = "order/";
    /// The intact streams.
    pub const SOUND: &str = "sound/";

    /// All groups.
    pub const ALL: [&str; 6] = [DEFECT, FAULT, LEGAL, MEMBER, ORDER, SOUND];
    /// The groups that docs/client-members.md shows.
    pub const DEEP: [&str; 2] = [MEMBER, ORDER];
}
