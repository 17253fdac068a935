//! Rust names for names of the protocol.

use proc_macro2::{Ident, Span};
use quote::format_ident;

/// Split at all characters except letters and digits, and at changes of case.
fn words(wire: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut previous = ' ';
    let characters: Vec<char> = wire.chars().collect();
    for (at, &character) in characters.iter().enumerate() {
        let next_lower = characters.get(at + 1).is_some_and(char::is_ascii_lowercase);
        let starts = !previous.is_ascii_alphanumeric()
            || (character.is_ascii_uppercase() && !previous.is_ascii_uppercase())
            || (character.is_ascii_uppercase() && previous.is_ascii_uppercase() && next_lower);
        if character.is_ascii_alphanumeric() {
            if starts {
                words.push(String::new());
            }
            if let Some(word) = words.last_mut() {
                word.push(character.to_ascii_lowercase());
            }
        }
        previous = character;
    }
    words
}

/// Converts `response.output_text.delta` to `ResponseOutputTextDelta`.
pub(crate) fn pascal(wire: &str) -> String {
    let joined: String = words(wire).iter().map(|word| word[..1].to_ascii_uppercase() + &word[1..]).collect();
    if joined.starts_with(|c: char| c.is_ascii_alphabetic()) { joined } else { format!("V{joined}") }
}

/// Converts `webSearch-call` to `web_search_call`.
pub(crate) fn snake(wire: &str) -> String {
    let joined = words(wire).join("_");
    if joined.starts_with(|c: char| c.is_ascii_alphabetic()) { joined } else { format!("v_{joined}") }
}

/// The name of an event's variant and struct: its type without the common `response.`.
pub(crate) fn event(wire: &str) -> String {
    pascal(wire.strip_prefix("response.").unwrap_or(wire))
}

/// Suffixes of type names that only organise the schemas.
const SUFFIXES: &[&str] = &["Body", "Enum", "Resource"];

/// `None` without such a suffix.
pub(crate) fn without_suffix(name: &str) -> Option<&str> {
    SUFFIXES.iter().find_map(|suffix| name.strip_suffix(suffix)).filter(|stem| !stem.is_empty())
}

/// `MessagePhase` of `MessagePhase-2`.
pub(crate) fn copied(wire: &str) -> Option<&str> {
    let (stem, number) = wire.rsplit_once('-')?;
    (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())).then_some(stem)
}

/// The singular, or the usual name of such entries.
pub(crate) fn entry(list: &str) -> String {
    let list = list.strip_suffix("List").filter(|name| !name.is_empty()).unwrap_or(list);
    if let Some(stem) = list.strip_suffix("ies") {
        return format!("{stem}y");
    }
    match list.strip_suffix('s') {
        Some(stem) if !stem.ends_with('s') => stem.to_owned(),
        _ if ["Content", "Output", "Summary"].iter().any(|what| list.ends_with(what)) => {
            format!("{list}Part")
        }
        _ => format!("{list}Item"),
    }
}

pub(crate) fn ident(name: &str) -> Ident {
    match name {
        "self" | "Self" | "super" | "crate" => format_ident!("{name}_"),
        _ if KEYWORDS.contains(&name) => Ident::new_raw(name, Span::call_site()),
        _ => Ident::new(name, Span::call_site()),
    }
}

/// The keywords of Rust that can be escaped, including reserved ones.
const KEYWORDS: &[&str] = &[
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn", "else",
    "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro",
    "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "static", "struct", "trait",
    "true", "try", "type", "typeof", "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

pub(crate) fn pascal_ident(wire: &str) -> Ident {
    ident(&pascal(wire))
}

pub(crate) fn api(name: &str) -> Ident {
    ident(&snake(name).to_uppercase())
}

pub(crate) fn table(path: &str) -> Ident {
    format_ident!("{}", path.to_uppercase())
}

/// An inline schema has the path of its parent and its name there.
pub(crate) fn type_path(name: &str) -> String {
    format!("type_{}", snake(name))
}

pub(crate) fn event_path(name: &str) -> String {
    format!("event_{}", snake(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wire_names_become_rust_names() {
        assert_eq!(pascal("response.output_text.delta"), "ResponseOutputTextDelta");
        assert_eq!(pascal("MCPListTools"), "McpListTools");
        assert_eq!(pascal("24h"), "V24h");
        assert_eq!(pascal("gpt-4o-2024-05-13"), "Gpt4o20240513");
        assert_eq!(snake("ConversationParam-2"), "conversation_param_2");
        assert_eq!(event("response.created"), "Created");
        assert_eq!(ident("type").to_string(), "r#type");
    }

    #[test]
    fn names_keep_nothing_that_only_organises_schemas() {
        assert_eq!(without_suffix("ServiceTierEnum"), Some("ServiceTier"));
        assert_eq!(without_suffix("ServiceTier"), None);
        assert_eq!(without_suffix("Body"), None);
        assert_eq!(copied("MessagePhase-2"), Some("MessagePhase"));
        assert_eq!(copied("gpt-4o"), None);
        for (list, one) in [
            ("ResponseTools", "ResponseTool"),
            ("Entries", "Entry"),
            ("MessageContent", "MessageContentPart"),
            ("SteerMessageContentList", "SteerMessageContentPart"),
            ("SteerPendingRequiredInput", "SteerPendingRequiredInputItem"),
            ("McpToolAccess", "McpToolAccessItem"),
            ("List", "ListItem"),
        ] {
            assert_eq!(entry(list), one);
        }
    }
}
