//! The description of a run: `run.json`.

use std::io;

use serde::{Deserialize, Serialize};

use crate::digest::hash;
use results::{Obstacle, Options, RunState, TrialResult};

/// The version of the format of [`RunFile`].
pub const VERSION: u32 = 3;

/// The build id: a hash of the sources of this build.
pub const BUILD: &str = env!("CONFORMANCE_BUILD");

/// The version and build of the suite for people.
pub const SUITE: &str = concat!(env!("CARGO_PKG_VERSION"), " (build ", env!("CONFORMANCE_BUILD"), ")");

/// `run.json`: how a run was made, and its results.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunFile {
    /// Version of this format.
    pub version: u32,
    /// Version of the suite.
    pub suite: String,
    /// The [build](BUILD) of the suite.
    pub build: String,
    /// The dialect that was checked against.
    pub dialect: String,
    /// The folder of the dialect, if it is not one of the suite: `sha256:` and the hash of its files, which are in the folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialect_folder: Option<String>,
    /// The endpoint, without secrets.
    pub target: String,
    /// The proxy that requests went through, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proxy: Option<String>,
    /// Whether it is the reference gateway, which is there for the run alone.
    #[serde(default)]
    pub is_reference: bool,
    /// The name of the endpoint in the configuration, if it was used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_name: Option<String>,
    /// The model that was asked for.
    pub model: String,
    /// The options, without secrets.
    pub options: Options,
    /// The seed of the words that only this run sends.
    pub seed: String,
    /// Whether somebody asked for this seed; the suite chose it otherwise.
    pub is_seed_given: bool,
    /// Whether prompts had the directives of the reference gateway.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_directives: bool,
    /// The dialects of all runs that were made together with this one, itself included.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub together: Vec<String>,
    /// The state of the run.
    pub state: RunState,
    /// Why the run ended early, if the endpoint could not be tested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub obstacle: Option<Obstacle>,
    /// SHA-256 of `report.json`.
    pub report: Option<String>,
    /// The exchanges, in the order of `report.json`.
    pub exchanges: Vec<Kept>,
    /// The [chain](Self::chained) over them, in the order in which they ended.
    #[serde(default)]
    pub chain: String,
    /// The trials with their verdicts.
    pub trials: Vec<TrialResult>,
    /// Failures that were expected and are over, each with the reason why it cannot be expected.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stale: Vec<String>,
}

/// An exchange that was kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Kept {
    /// Its file, below the folder.
    pub file: String,
    /// The case that it belongs to.
    pub case: String,
    /// SHA-256 of the file.
    pub sha256: String,
    /// How many exchanges of the run had ended when this one had.
    pub place: usize,
}

impl RunFile {
    /// Returns a hash of the description of the run and of its exchanges in the order in which they ended. It changes if an
    /// exchange is removed, added or moved.
    ///
    /// # Errors
    ///
    /// If the places of its exchanges have duplicates or gaps.
    pub fn chained(&self) -> Result<String, String> {
        let mut exchanges: Vec<&Kept> = self.exchanges.iter().collect();
        exchanges.sort_by_key(|kept| kept.place);
        let Self { suite, build, target, model, seed, is_seed_given, together, .. } = self;
        let dialect = match &self.dialect_folder {
            Some(folder) => format!("{} {folder}", self.dialect),
            None => self.dialect.clone(),
        };
        let begin = serde_json::json!([suite, build, dialect, target, model, seed, is_seed_given, together]);
        let mut chain = hash(begin.to_string().as_bytes());
        for (at, Kept { file, case, sha256, place }) in exchanges.into_iter().enumerate() {
            if *place != at + 1 {
                return Err(format!("{file}: it ended as number {place}, but {} was expected", at + 1));
            }
            chain = hash(serde_json::json!([chain, file, case, sha256]).to_string().as_bytes());
        }
        Ok(chain)
    }

    pub(super) fn text(&self) -> io::Result<String> {
        let mut text = serde_json::to_string_pretty(self)?;
        text.push('\n');
        Ok(text)
    }
}
