//! Features that an endpoint may support.

use spec::table::Operation;

use super::{SCENARIOS, Scenario};

/// A feature that an endpoint may support, and that scenarios need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Feature {
    /// Its name in scenarios and `--features`.
    pub name: &'static str,
    /// Its description.
    pub title: &'static str,
}

impl Feature {
    /// Returns the number of scenarios that need it.
    pub fn scenarios(&self) -> usize {
        SCENARIOS.iter().filter(|scenario| scenario.features.contains(&self.name)).count()
    }
}

impl Scenario {
    /// Returns the feature that an endpoint lacks if it does not have the route of this scenario, or ignores `background`.
    pub fn route_feature(&self) -> Option<&'static str> {
        match self.operation {
            Operation::Create if self.features.contains(&"background") => Some("background"),
            Operation::Create | Operation::Steer | Operation::Inject => None,
            Operation::Retrieve | Operation::Poll => Some("retrieval"),
            Operation::Delete => Some("deletion"),
            Operation::Cancel => Some("cancellation"),
            Operation::InputItems => Some("input-items"),
            Operation::Resume => Some("resumption"),
            Operation::Compact => Some("compaction"),
        }
    }
}

const fn feature(name: &'static str, title: &'static str) -> Feature {
    Feature { name, title }
}

/// All features, by name.
pub const FEATURES: &[Feature] = &[
    feature("allowed-tools", "`tool_choice` limits the tools to a list of allowed ones"),
    feature("annotations", "Citations in output text"),
    feature("apply-patch", "The tool `apply_patch`"),
    feature("background", "Responses that run in the background (`background: true`)"),
    feature("built-in-search", "Web search without a tool for it"),
    feature("cancellation", "Cancelling a response: POST /responses/{id}/cancel"),
    feature("code-interpreter", "The hosted tool `code_interpreter`"),
    feature("compaction", "Compacting a conversation: POST /responses/compact"),
    feature(
        "compaction-trigger",
        "Compacting a conversation within a response (`compaction_trigger` as input)",
    ),
    feature("content-filter", "Responses that a content filter cuts off"),
    feature("custom-tools", "Tools with free-form input (`type: custom`)"),
    feature("deletion", "Deleting a stored response: DELETE /responses/{id}"),
    feature("empty-output", "Responses without any output"),
    feature("file-input", "Files as input"),
    feature("file-search", "The hosted tool `file_search`"),
    feature("image-generation", "The hosted tool `image_generation`"),
    feature("image-input", "Images as input"),
    feature("injection", "Input that is put into a response on a WebSocket (`response.inject`)"),
    feature("input-items", "Listing the input of a response: GET /responses/{id}/input_items"),
    feature("instructions", "The parameter `instructions`"),
    feature("interleaved-calls", "Parallel calls whose deltas alternate"),
    feature("json-object", "Output as any JSON object (`text.format` `json_object`)"),
    feature("keepalive", "Keep-alive events during long silences"),
    feature("lanes", "Lanes on a WebSocket (`stream_id`)"),
    feature("logprobs", "Log probabilities of output text"),
    feature("max-output-tokens", "The parameter `max_output_tokens`"),
    feature("mcp", "Remote MCP servers as tools"),
    feature("metadata", "The parameter `metadata`"),
    feature("parallel-tool-calls", "Several calls in one response"),
    feature("parts", "Messages with several content parts"),
    feature("phase", "The `phase` of a message"),
    feature("prompt-too-long", "An error for prompts that exceed the context window"),
    feature("reasoning-encrypted", "Reasoning with `encrypted_content`"),
    feature("reasoning-summary", "Reasoning with summaries"),
    feature("reasoning-text", "Reasoning with its text"),
    feature("refusal", "Refusals as content parts"),
    feature("resumption", "Resuming a stream: GET /responses/{id}?stream=true&starting_after=N"),
    feature("retrieval", "Retrieving a stored response: GET /responses/{id}"),
    feature("rewriting", "Text that is replaced after it was streamed"),
    feature("routing", "Requests whose model the endpoint chooses (`model: auto`)"),
    feature("sampling", "The parameters `temperature` and `top_p`"),
    feature("shell", "The tool `shell`"),
    feature("steering", "Responses that are steered on a WebSocket (`response.steer`)"),
    feature("store", "Stored responses, continued with `previous_response_id`"),
    feature("stream-options", "The parameter `stream_options`"),
    feature("structured-output", "Output that follows a JSON Schema (`text.format` `json_schema`)"),
    feature("tool-choice", "The parameter `tool_choice`"),
    feature("tools", "Function tools"),
    feature("unknown-model", "An error for models that do not exist"),
    feature("web-search", "The hosted tool `web_search`"),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_feature_of_a_scenario_is_described() {
        let needed: BTreeSet<&str> =
            SCENARIOS.iter().flat_map(|scenario| scenario.features).copied().collect();
        let described: Vec<&str> = FEATURES.iter().map(|feature| feature.name).collect();
        assert!(described.is_sorted());
        assert_eq!(described, needed.into_iter().collect::<Vec<_>>());
    }
}
