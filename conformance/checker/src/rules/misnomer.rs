//! Properties under the names that other APIs give them.

use spec::json::{self, Simplest};

use crate::engine::{Misnomer, Object, Supply};

const CHAT: &str = "Chat Completions";
const MESSAGES: &str = "Anthropic's Messages";

/// The properties that other APIs have under another name: here, there, and the API.
const MISNOMERS: &[(&str, &str, &str)] = &[
    ("input_tokens", "prompt_tokens", CHAT),
    ("output_tokens", "completion_tokens", CHAT),
    ("input_tokens_details", "prompt_tokens_details", CHAT),
    ("output_tokens_details", "completion_tokens_details", CHAT),
    ("output", "choices", CHAT),
    ("created_at", "created", CHAT),
    ("status", "finish_reason", CHAT),
    ("call_id", "tool_call_id", CHAT),
    ("max_output_tokens", "max_tokens", CHAT),
    ("tool_choice", "function_call", CHAT),
    ("output_index", "index", CHAT),
    ("content_index", "index", MESSAGES),
    ("item", "content_block", MESSAGES),
    ("part", "content_block", MESSAGES),
    ("status", "stop_reason", MESSAGES),
    ("call_id", "tool_use_id", MESSAGES),
    ("cached_tokens", "cache_read_input_tokens", MESSAGES),
    ("arguments", "input", MESSAGES),
];

/// Maximum length of the type of an object.
const TYPE: usize = 60;

/// Returns what is known of a missing property of the object at a pointer.
pub(super) fn supply(property: &str, simplest: Simplest, data: &str, pointer: &str) -> Supply {
    let object = Object::new(json::at(data, pointer).unwrap_or_default());
    // The type of an event is no type of an object in it.
    let holder = (!pointer.is_empty()).then(|| object.string("type")).flatten();
    let is_misnamed = |(own, other, _): &&(&str, &str, &str)| *own == property && object.get(other).is_some();
    let misnomer = MISNOMERS.iter().find(is_misnamed);
    Supply {
        holder: holder.map(|name| name.chars().take(TYPE).collect()),
        value: simplest.to_string(),
        misnomer: misnomer.map(|(_, name, api)| Misnomer { name: (*name).into(), api: (*api).into() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_other_apis_are_named_only_where_they_are_used() {
        let data = r#"{"response":{"usage":{"prompt_tokens":1,"output":2}}}"#;
        let of = |property, pointer| supply(property, Simplest::Null, data, pointer).misnomer;
        assert_eq!(of("input_tokens", "/response/usage").unwrap().name, "prompt_tokens");
        assert_eq!(of("output_tokens", "/response/usage"), None);
        assert_eq!(of("input_tokens", "/response"), None);
    }
}
