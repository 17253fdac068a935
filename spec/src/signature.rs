//! Recognises the API of an event or of a body.

use crate::api::{APIS, Api, FOREIGN};
use crate::json;
use crate::words::{BodyShape, CallShape, Mark, Signature};

/// Returns whether a text fits a pattern, in which `*` at the beginning or at the end stands for any text.
fn fits(pattern: &str, text: &str) -> bool {
    match (pattern.strip_suffix('*'), pattern.strip_prefix('*')) {
        (Some(start), _) => text.starts_with(start),
        (_, Some(end)) => text.ends_with(end),
        _ => pattern == text,
    }
}

impl Signature {
    /// Returns the pattern of its events that a type fits.
    pub fn pattern(&self, event: &str) -> Option<&'static str> {
        self.events.iter().find(|pattern| fits(pattern, event)).copied()
    }

    /// Returns whether an object is a body of the API.
    pub fn has_body(&self, json: &str) -> bool {
        self.bodies.iter().any(|mark| mark.fits(json))
    }

    /// Returns whether an object is a body of the API, or an event without a type.
    fn has_value(&self, json: &str) -> bool {
        self.has_body(json) || self.untyped.iter().any(|mark| mark.fits(json))
    }
}

impl Mark {
    /// Returns whether an object has all of it.
    pub fn fits(&self, object: &str) -> bool {
        let at = |pointer: &&str| json::at(object, pointer);
        let is_text = |(pointer, pattern): &(&str, &str)| {
            let text = at(pointer).and_then(json::string);
            text.is_some_and(|text| fits(pattern, &text))
        };
        self.texts.iter().all(is_text)
            && self.lists.iter().all(|pointer| at(pointer).is_some_and(|value| value.starts_with('[')))
            && self.has.iter().all(|pointer| at(pointer).is_some())
            && self.lacks.iter().all(|pointer| at(pointer).is_none_or(|value| value == "null"))
    }
}

impl BodyShape {
    /// Returns whether a body that it fits has the type of the root.
    pub fn is_typed(&self, body: &str) -> bool {
        self.untyped_with.iter().all(|pointer| json::at(body, pointer).is_none())
    }
}

impl CallShape {
    /// Returns whether containers of a type are calls.
    pub fn has_type(&self, kind: &str) -> bool {
        self.types.iter().any(|pattern| fits(pattern, kind))
    }
}

/// Returns the name of the API whose events have such a type, if it is not this one.
pub fn api_of_event(name: &str, own: Option<&Api>) -> Option<&'static str> {
    others(own).find(|(_, signature)| signature.pattern(name).is_some()).map(|(name, _)| name)
}

/// Returns the name of the API that has such a body, or such an event without a type, if it is not this one.
pub fn api_of_value(json: &str, own: Option<&Api>) -> Option<&'static str> {
    if own.is_some_and(|api| api.signature.has_value(json)) {
        return None;
    }
    others(own).find(|(_, signature)| signature.has_value(json)).map(|(name, _)| name)
}

/// Returns the type of an event without what all events of its API begin with.
pub fn short_event(name: &str) -> &str {
    let patterns = APIS.iter().flat_map(|api| api.signature.events);
    let mut starts = patterns.filter_map(|pattern| pattern.strip_suffix('*'));
    starts.find_map(|start| name.strip_prefix(start)).unwrap_or(name)
}

/// Returns the signatures of other APIs, with their names.
fn others(own: Option<&Api>) -> impl Iterator<Item = (&'static str, &'static Signature)> {
    let own = own.map(|api| api.name);
    let checked = APIS.iter().filter(move |api| Some(api.name) != own);
    let checked = checked.map(|api| (api.title, &api.signature));
    checked.chain(FOREIGN.iter().map(|api| (api.name, &api.signature)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::apis;

    #[test]
    fn patterns_have_one_open_end() {
        assert!(fits("a.*", "a.b") && fits("*_call", "x_call") && fits("a", "a"));
        assert!(!fits("a.*", "ab") && !fits("*_call", "x_call_output") && !fits("a", "ab"));
    }

    #[test]
    fn values_have_an_api() {
        let of = |json| api_of_value(json, Some(&apis::RESPONSES));
        for (json, api) in [
            (r#"{"object":"chat.completion.chunk"}"#, "Chat Completions"),
            (r#"{"object":"","choices":[]}"#, "Chat Completions"),
            (r#"{"type":"message","stop_reason":null}"#, "Anthropic Messages"),
            (r#"{"candidates":[]}"#, "Gemini"),
        ] {
            assert_eq!(of(json), Some(api), "{json}");
        }
        for json in
            [r#"{"choices":{}}"#, r#"{"object":"x","choices":[]}"#, r#"{"object":"response"}"#, "[]", ""]
        {
            assert_eq!(of(json), None, "{json}");
        }
        assert_eq!(api_of_event("message_stop", None), Some("Anthropic Messages"));
        assert_eq!(api_of_event("response.created", Some(&apis::RESPONSES)), None);
    }
}
