//! `scenarios/<group>/<name>.md`

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::page::{Page, PageError};

/// A request, and what its answer must bring: one page.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    /// Its path, `group/name`.
    pub id: String,
    /// What is known of it.
    pub metadata: ScenarioMetadata,
    /// What it is about, in a line.
    pub title: String,
    /// The rest of the page, as Markdown.
    pub prose: String,
    /// The body of the request. The model `default` is replaced by the one under test.
    pub request: Value,
}

impl Scenario {
    /// Reads the page of the scenario with that id.
    ///
    /// # Errors
    ///
    /// Names the line that is not as the format says.
    pub fn parse(id: &str, text: &str) -> Result<Self, PageError> {
        let page = Page::split(text, "json")?;
        let metadata = page.metadata()?;
        let block = page.only_block("json")?;
        let request: Value = serde_json::from_str(&block.text).map_err(|error| {
            let line = block.line + error.line().saturating_sub(1);
            PageError::new(line, format!("the request is not JSON: {error}"))
        })?;
        if !request.is_object() {
            return Err(PageError::new(block.line, "the request must be a JSON object"));
        }
        let Page { title, prose, .. } = page;
        Ok(Self { id: id.to_owned(), metadata, title, prose, request })
    }
}

/// The metadata that a scenario page begins with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScenarioMetadata {
    /// What an endpoint must offer for the scenario to make sense, such as `tools`.
    #[serde(default)]
    pub features: Vec<String>,
    /// Event types that the answer must have: where one is missing, nothing was exercised. What is named
    /// twice must come twice, and of names with `|` between them any will do. A dialect that lacks one has
    /// no use for the scenario.
    #[serde(default)]
    pub elicits: Vec<String>,
    /// The HTTP statuses that can be the answer; 200 alone, when absent.
    #[serde(default)]
    pub status: Vec<u16>,
    /// Whether the request is sent a second time without `stream`, for an answer in JSON.
    #[serde(default)]
    pub twin: bool,
    /// The scenario whose response the request continues: its id becomes `previous_response_id`.
    pub previous: Option<String>,
    /// Rules that only this request can bring to bear, on top of those for every stream.
    #[serde(default)]
    pub rules: Vec<String>,
}
