//! Compaction of conversations.

use serde_json::{Value, json};

use super::context::{entries, previous};
use super::gateway::Gateway;
use super::store::item;
use crate::content::pieces::tokens;
use crate::content::problem::Problem;
use crate::content::refusal::refused;
use crate::content::text;
use crate::rendering::CREATED;
use recordings::capture::base64_of;
use translation::pen::aside;

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
        let mut said = match previous(&request, dialect.api) {
            Some(id) => self.store().continued(id)?,
            None => Vec::new(),
        };
        said.extend(entries(&request));
        let is_user = |entry: &&Value| {
            text(entry, "type").unwrap_or("message") == "message" && text(entry, "role") == Some("user")
        };
        let api = dialect.api;
        let mut output: Vec<Value> =
            said.iter().filter(is_user).enumerate().map(|(at, entry)| item(api, entry, at)).collect();
        let rest: Vec<&Value> = said.iter().filter(|entry| !is_user(entry)).collect();
        let tag = json!(self.tag(self.store().next()));
        let text = base64_of(json!(rest).to_string().as_bytes());
        output.push(aside(api, "compaction", &[("tag", tag.clone()), ("text", json!(text))]));
        let count = |value: &[Value]| tokens(&Value::from(value).to_string());
        let (before, after) = (count(&said), count(&output));
        let counts = [("input", json!(before)), ("output", json!(after)), ("total", json!(before + after))];
        let all = [("tag", tag), ("now", json!(CREATED)), ("items", json!(output))];
        Ok(aside(api, "compacted", &[&all[..], &counts].concat()))
    }
}
