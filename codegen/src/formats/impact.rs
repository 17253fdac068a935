//! `impact.toml`

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The outcomes of real clients for damaged streams, by the findings in these.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ImpactFile {
    /// The hash of what was played: the clients with their drivers and packages.
    pub drivers: String,
    /// The clients, in the order of the words of an outcome.
    #[serde(default, rename = "client")]
    pub clients: Vec<ImpactClient>,
    /// The outcomes for streams with these kinds of findings and no other, joined with ` & `: one word for each client. In a kind,
    /// `*` stands for any, and alone for any other kinds: such a row says what a finding does alone, and among others, too. The
    /// letter of a word is `x` for a failure, `w` for a wrong result, `p` for one that passes on what the server changed, `r` for a report of
    /// an error, `.` for the result of the intact stream, `v` if streams of these kinds differ, `-` if the client was not
    /// played enough of them. A number is the place of the detail in the client's list.
    #[serde(default)]
    pub outcomes: BTreeMap<String, String>,
    /// The same for kinds of findings that damaged recordings have, and no sample of today.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub recorded: BTreeMap<String, String>,
}

/// A client that streams were played to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ImpactClient {
    /// Its name, as in `measured.toml`.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Errors of it, and what is wrong with its results.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub details: Vec<String>,
}

impl ImpactFile {
    /// Separates the kinds of a row.
    pub const AND: &str = " & ";
    /// Stands for any other kinds.
    pub const ANY: &str = "*";
    /// The letters of outcomes.
    pub const LETTERS: &str = "xwpr.v-";

    /// Returns whether a row is of streams with just these kinds, and not of several that are alike.
    pub fn is_exact(kinds: &str) -> bool {
        !kinds
            .split(Self::AND)
            .any(|kind| kind.rsplit(' ').next().is_some_and(|says| says.starts_with(Self::ANY)))
    }

    /// Returns all rows: the kinds, and the words of clients.
    pub fn rows(&self) -> impl Iterator<Item = (&String, &String)> {
        self.outcomes.iter().chain(&self.recorded)
    }

    /// Returns the letter of each client in a row, with its detail.
    pub fn row<'f>(&'f self, words: &'f str) -> impl Iterator<Item = (char, &'f str)> {
        self.clients.iter().zip(words.split(' ')).map(|(client, word)| {
            let mut rest = word.chars();
            let letter = rest.next().unwrap_or('-');
            let detail = rest.as_str().parse().ok().and_then(|at: usize| client.details.get(at));
            (letter, detail.map(String::as_str).unwrap_or_default())
        })
    }
}
