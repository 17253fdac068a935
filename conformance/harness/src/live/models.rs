//! The models that an endpoint lists.

use std::fmt;
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use crate::judge::{Attempt, status_line};
use crate::plan::Call;
use crate::wire::Client;
use checker::Rules;
use results::text::first_dangerous;

/// Maximum time of the request.
const TIME: Duration = Duration::from_secs(20);
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

/// Asks an endpoint for its models: `GET /models`.
///
/// # Errors
///
/// If it does not list any.
pub(super) async fn models(client: &Client, rules: &Rules) -> Result<Listed, String> {
    let client = client.beside("models");
    let by = Instant::now() + client.limits().total.min(TIME);
    let mut recording = String::new();
    client.send(&Call::retrieve(), by, &mut |line| recording += line).await;
    let facts = Attempt::read("models", recording.as_bytes(), rules, false)?.facts;
    match (facts.status, &facts.lost) {
        (Some(200), _) => {}
        (Some(status), _) => return Err(format!("GET /models responds with {}", status_line(status))),
        (None, Some(reason)) => return Err(reason.to_string()),
        (None, None) => return Err("GET /models has no response".to_owned()),
    }
    let listed = facts.response.as_ref().and_then(|body| body.get("data")?.as_array());
    let name = |model: &Value| Some(model.get("id")?.as_str()?.to_owned());
    let is_usable =
        |name: &String| !name.is_empty() && name.len() <= MAX_NAME && first_dangerous(name).is_none();
    let all: Vec<String> = listed.into_iter().flatten().filter_map(name).collect();
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

/// Returns the model to request where none was chosen: the first one listed, or `default`; with a line that says so.
pub async fn first_model(client: &Client, rules: &Rules) -> (String, String) {
    const DEFAULT: &str = "default";
    match models(client, rules).await {
        Ok(Listed(names)) => {
            let first = names.first().cloned().unwrap_or_default();
            let of = if names.len() == 1 {
                "the only one".to_owned()
            } else {
                format!("the first of {}", names.len())
            };
            let line = format!("model {first}, {of} that GET /models lists; --model chooses");
            (first, line)
        }
        Err(problem) => {
            let problem = client.target().masked(&problem);
            (DEFAULT.to_owned(), format!("model {DEFAULT}: {problem}; --model chooses"))
        }
    }
}
