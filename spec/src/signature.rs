//! Recognises the API of an event or of a body, and the dialect of a recording.

use std::fmt;

use crate::api::{APIS, Api, FOREIGN, FORMATS};
use crate::json::{self, Indexed};
use crate::words::{BodyShape, CallShape, DialectSignature, ForeignApi, ForeignFormat, Mark, Signature};

/// Each `*` of the pattern stands for any text.
fn fits(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = text.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        let Some((_, behind)) = rest.split_once(part) else { return false };
        rest = behind;
    }
    rest.ends_with(last)
}

impl Signature {
    /// Returns the pattern of its events that a type fits.
    pub fn pattern(&self, event: &str) -> Option<&'static str> {
        self.events.iter().find(|pattern| fits(pattern, event)).copied()
    }

    /// The pattern of its paths that a path fits.
    pub fn path(&self, path: &str) -> Option<&'static str> {
        find(self.paths, path)
    }

    /// Returns whether an object is a body of the API.
    pub fn has_body(&self, object: &Indexed<'_>) -> bool {
        self.bodies.iter().any(|mark| mark.fits_in(object))
    }

    /// Returns the mark of a request of the API that a body has.
    pub fn request(&self, body: &Indexed<'_>) -> Option<&'static Mark> {
        self.requests.iter().find(|mark| mark.fits_in(body))
    }

    /// Returns the mark of a body of the API, or of an event without a type, that an object has.
    pub fn value(&self, object: &Indexed<'_>) -> Option<&'static Mark> {
        self.bodies.iter().chain(self.untyped).find(|mark| mark.fits_in(object))
    }
}

impl DialectSignature {
    /// Returns the pattern of its hosts that a host fits.
    pub fn host(&self, host: &str) -> Option<&'static str> {
        find(self.hosts, host)
    }

    /// Returns the pattern of its paths that a path fits.
    pub fn path(&self, path: &str) -> Option<&'static str> {
        find(self.paths, path)
    }

    /// Returns the name of one of its headers that a header is.
    pub fn header(&self, name: &str, value: &str) -> Option<&'static str> {
        let is_it = |(own, pattern): &&(&str, &str)| own.eq_ignore_ascii_case(name) && fits(pattern, value);
        self.headers.iter().find(is_it).map(|(own, _)| *own)
    }

    /// Returns the pattern of its comments that a comment fits.
    pub fn comment(&self, comment: &str) -> Option<&'static str> {
        find(self.comments, comment)
    }

    /// Returns the mark of its requests that a body has.
    pub fn request(&self, body: &Indexed<'_>) -> Option<&'static Mark> {
        self.requests.iter().find(|mark| mark.fits_in(body))
    }

    /// Returns the mark of its first events and bodies that an object has.
    pub fn event(&self, object: &Indexed<'_>) -> Option<&'static Mark> {
        self.events.iter().find(|mark| mark.fits_in(object))
    }
}

fn find(patterns: &'static [&'static str], text: &str) -> Option<&'static str> {
    patterns.iter().find(|pattern| fits(pattern, text)).copied()
}

/// Lists what the mark asks for.
impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let member = |pointer: &&str| pointer.trim_start_matches('/').replace('/', ".");
        let shown = |pattern: &str| if pattern.is_empty() { "\"\"".to_owned() } else { pattern.to_owned() };
        let texts = self.texts.iter().map(|(at, pattern)| format!("{} {}", member(at), shown(pattern)));
        let parts: Vec<String> = texts.chain(self.has.iter().chain(self.lists).map(member)).collect();
        f.write_str(&parts.join(", "))
    }
}

impl Mark {
    /// Returns whether an object has all of it.
    pub fn fits(&self, object: &str) -> bool {
        self.fits_in(&Indexed::new(object))
    }

    /// The same for an object that is compared with many marks.
    pub fn fits_in(&self, object: &Indexed<'_>) -> bool {
        let at = |pointer: &&str| object.at(pointer);
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
pub fn api_of_value(object: &Indexed<'_>, own: Option<&Api>) -> Option<&'static str> {
    if own.is_some_and(|api| api.signature.value(object).is_some()) {
        return None;
    }
    others(own).find(|(_, signature)| signature.value(object).is_some()).map(|(name, _)| name)
}

/// Returns the API that is not checked and that an object belongs to whatever its type is.
pub fn foreign_value(object: &Indexed<'_>) -> Option<&'static ForeignApi> {
    FOREIGN.iter().find(|api| api.signature.value(object).is_some())
}

/// Returns the format of files that an object of this type belongs to, if that holds no events and responses as they were
/// sent.
pub fn format_of(name: &str, object: &Indexed<'_>) -> Option<&'static ForeignFormat> {
    let is_it = |format: &&ForeignFormat| {
        format.signature.value(object).is_some() || format.signature.pattern(name).is_some()
    };
    FORMATS.iter().find(is_it)
}

/// Returns the API that is not checked and whose URLs have such a path.
pub fn foreign_at(path: &str) -> Option<&'static ForeignApi> {
    FOREIGN.iter().find(|api| api.paths.iter().any(|end| path.ends_with(end)))
}

/// Returns the type of an event without what all events of its API begin with.
pub fn short_event(name: &str) -> &str {
    let patterns = APIS.iter().flat_map(|api| api.signature.events);
    let mut starts = patterns.filter_map(|pattern| pattern.strip_suffix('*'));
    starts.find_map(|start| name.strip_prefix(start)).unwrap_or(name)
}

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
    fn stars_stand_for_any_text() {
        let fitting = [
            ("a.*", "a.b"),
            ("*_call", "x_call"),
            ("a", "a"),
            ("*", ""),
            ("*/b/*", "a/b/c"),
            ("b*-*", "b7-c"),
        ];
        for (pattern, text) in fitting {
            assert!(fits(pattern, text), "{pattern} {text}");
        }
        let others = [
            ("a.*", "ab"),
            ("*_call", "x_call_output"),
            ("a", "ab"),
            ("ab*ba", "aba"),
            ("b*-*", "b7"),
            ("", "a"),
        ];
        for (pattern, text) in others {
            assert!(!fits(pattern, text), "{pattern} {text}");
        }
    }

    #[test]
    fn objects_of_logs_have_a_format() {
        let of = |json: &str| {
            let name = json::string_member(json, "type").unwrap_or_default();
            format_of(&name, &Indexed::new(json)).map_or("", |format| format.name)
        };
        for (json, format) in [
            (r#"{"type":"log","text":"a"}"#, "application log"),
            (r#"{"ts":1,"level":"info","msg":"a"}"#, "application log"),
            (r#"{"model":"m","messages":[{"role":"user"}],"stream":true}"#, "request"),
            (r#"{"contents":[{"parts":[{"text":"Hi"}]}]}"#, "request"),
            (r#"{"version":1,"suite":"0.1.0","outcome":"passed"}"#, "report of this suite"),
            (r#"{"type":"response.created","response":{}}"#, ""),
            (r#"{"type":"message_start","message":{}}"#, ""),
            (r#"{"object":"chat.completion","model":"m","choices":[]}"#, ""),
            (r#"{"object":"response","model":"m","input":"a","output":[]}"#, ""),
        ] {
            assert_eq!(of(json), format, "{json}");
        }
    }

    #[test]
    fn values_have_an_api() {
        let of = |json| api_of_value(&Indexed::new(json), Some(&apis::RESPONSES));
        for (json, api) in [
            (r#"{"object":"chat.completion.chunk"}"#, "Chat Completions"),
            (r#"{"object":"","choices":[]}"#, "Chat Completions"),
            (r#"{"type":"message","stop_reason":null}"#, "Anthropic Messages"),
            (r#"{"candidates":[]}"#, "Gemini generateContent"),
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
