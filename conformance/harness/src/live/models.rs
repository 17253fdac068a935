//! The models that an endpoint lists.

use std::fmt;
use std::time::Duration;

use serde_json::Value;
use spec::table::ModelList;
use tokio::time::Instant;

use crate::judge::{Attempt, Facts, status_line};
use crate::plan::Call;
use crate::wire::Client;
use checker::Rules;
use gateway::IDENTITY;
use results::text::first_dangerous;

const TIME: Duration = Duration::from_secs(20);
/// Maximum time of the request that only asks who the endpoint is.
const BRIEF: Duration = Duration::from_secs(2);
/// Maximum length of a name; longer ones are skipped.
const MAX_NAME: usize = 256;
/// Number of names in a message.
const NAMES: usize = 10;

/// The names of the models that an endpoint lists. None has characters that a terminal would not show as they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Listed(pub(super) Vec<String>);

impl fmt::Display for Listed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = self.0.len();
        f.write_str(&self.0.iter().take(NAMES).map(String::as_str).collect::<Vec<_>>().join(", "))?;
        if all > NAMES { write!(f, " and {} more", all - NAMES) } else { Ok(()) }
    }
}

/// Why an endpoint lists no models.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unlisted {
    reason: String,
    /// Whether it responded at all.
    is_answered: bool,
}

async fn ask(client: &Client, limit: Duration) -> String {
    let client = client.beside("models");
    let by = Instant::now() + client.limits().total.min(limit);
    let mut recording = String::new();
    client.send(&Call::retrieve(), by, &mut |line| recording += line).await;
    recording
}

fn is_reference(recording: &str) -> bool {
    // Within a value, the quotation marks would be escaped.
    recording.contains(&format!("\"{IDENTITY}\""))
}

/// Returns whether an endpoint is the reference gateway.
pub async fn is_reference_gateway(client: &Client) -> bool {
    is_reference(&ask(client, BRIEF).await)
}

/// Asks an endpoint for its models: `GET /models`.
///
/// # Errors
///
/// If it does not list any.
pub(super) async fn models(client: &Client, rules: &Rules) -> Result<Listed, Unlisted> {
    read(&ask(client, TIME).await, rules)
}

fn read(recording: &str, rules: &Rules) -> Result<Listed, Unlisted> {
    let unlisted = |reason, is_answered| Unlisted { reason, is_answered };
    let facts = Attempt::read("models", recording.as_bytes(), rules, false)
        .map_err(|reason| unlisted(reason, true))?
        .facts;
    let is_answered = facts.status.is_some();
    listed(&facts, rules.dialect().api.request.models).map_err(|reason| unlisted(reason, is_answered))
}

fn listed(facts: &Facts, shape: ModelList) -> Result<Listed, String> {
    match (facts.status, &facts.lost) {
        (Some(200), _) => {}
        (Some(status), _) => return Err(format!("GET /models responds with {}", status_line(status))),
        (None, Some(reason)) => return Err(reason.to_string()),
        (None, None) => return Err("GET /models has no response".to_owned()),
    }
    let listed = facts.response.as_ref().and_then(|body| body.get(shape.list)?.as_array());
    let can = |model: &&Value| {
        let methods = shape.methods.and_then(|methods| model.get(methods)?.as_array());
        methods.is_none_or(|methods| methods.iter().any(|method| method == shape.method))
    };
    let name = |model: &Value| {
        let name = model.get(shape.name)?.as_str()?;
        Some(name.strip_prefix(shape.prefix).unwrap_or(name).to_owned())
    };
    let is_usable =
        |name: &String| !name.is_empty() && name.len() <= MAX_NAME && first_dangerous(name).is_none();
    let all: Vec<String> = listed.into_iter().flatten().filter(can).filter_map(name).collect();
    let has_any = !all.is_empty();
    let names: Vec<String> = all.into_iter().filter(is_usable).collect();
    match (names.is_empty(), has_any) {
        (false, _) => Ok(Listed(names)),
        (true, true) => {
            Err("GET /models lists only names that are too long, or invisible in part".to_owned())
        }
        (true, false) => Err("GET /models lists no models".to_owned()),
    }
}

/// The model to request where none was chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FirstModel {
    /// Its name: the first one listed, or `default`.
    pub name: String,
    /// A line that says where it is from.
    pub line: String,
    /// Whether the endpoint lists it.
    pub is_listed: bool,
    /// Whether the endpoint responded at all.
    pub is_answered: bool,
    /// Whether the endpoint is the reference gateway.
    pub is_reference: bool,
}

/// Returns the model to request where none was chosen.
pub async fn first_model(client: &Client, rules: &Rules) -> FirstModel {
    const DEFAULT: &str = "default";
    let recording = ask(client, TIME).await;
    let is_reference = is_reference(&recording);
    match read(&recording, rules) {
        Ok(Listed(names)) => {
            let name = names.first().cloned().unwrap_or_default();
            let of = if names.len() == 1 {
                "the only one".to_owned()
            } else {
                format!("the first of {}", names.len())
            };
            let line = format!("model {name}, {of} that GET /models lists; --model chooses");
            FirstModel { name, line, is_listed: true, is_answered: true, is_reference }
        }
        Err(Unlisted { reason, is_answered }) => {
            let reason = client.target().masked(&reason);
            let line = format!("model {DEFAULT}: {reason}; --model chooses");
            FirstModel { name: DEFAULT.to_owned(), line, is_listed: false, is_answered, is_reference }
        }
    }
}
