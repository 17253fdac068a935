//! Compaction of conversations.

use serde_json::{Value, json};

use super::context::entries;
use super::gateway::Gateway;
use super::store::item;
use crate::content::plan::tokens;
use crate::content::problem::Problem;
use crate::content::refusal::refused;
use crate::content::text;
use crate::rendering::CREATED;
use recordings::capture::base64_of;

impl Gateway {
    /// The items of the user stay, the rest becomes one item that only this gateway can read.
    pub(super) fn compact(&self, body: &[u8]) -> Result<Value, Problem> {
        let dialect = self.settings.dialect;
        let (Some(root), true) =
            (dialect.root("compact_request"), dialect.root("compact_response").is_some())
        else {
            return Err(Problem::not_found("not_found", "Nothing can be compacted here.", None));
        };
        let request: Value = serde_json::from_slice(body).map_err(|error| Problem::not_json(&error))?;
        if let Some(problem) = refused(&request, dialect, root).or_else(|| self.unserved(&request)) {
            return Err(problem);
        }
        let mut said = match text(&request, "previous_response_id") {
            Some(id) => self.store().continued(id)?,
            None => Vec::new(),
        };
        said.extend(entries(&request));
        let is_user = |entry: &&Value| {
            text(entry, "type").unwrap_or("message") == "message" && text(entry, "role") == Some("user")
        };
        let mut output: Vec<Value> =
            said.iter().filter(is_user).enumerate().map(|(at, entry)| item(entry, at)).collect();
        let rest: Vec<&Value> = said.iter().filter(|entry| !is_user(entry)).collect();
        let number = self.store().next();
        let id = |prefix: &str| format!("{prefix}_{:04x}{number:06x}", self.settings.seed);
        output.push(json!({"type": "compaction", "id": id("cmp"),
            "encrypted_content": base64_of(json!(rest).to_string().as_bytes())}));
        let count = |value: &[Value]| tokens(&Value::from(value).to_string());
        let (before, after) = (count(&said), count(&output));
        Ok(json!({"id": id("resp"), "object": "response.compaction", "created_at": CREATED, "output": output,
            "usage": {"input_tokens": before, "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
                "output_tokens": after, "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": before + after}}))
    }
}
