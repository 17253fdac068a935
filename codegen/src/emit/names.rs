//! Rust names for what stands on the wire.

use proc_macro2::{Ident, Span};
use quote::format_ident;

/// Words of a wire name: split at everything that is not a letter or digit, and where case changes.
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

/// `response.output_text.delta` as `ResponseOutputTextDelta`.
pub(super) fn pascal(wire: &str) -> String {
    let joined: String = words(wire).iter().map(|word| word[..1].to_ascii_uppercase() + &word[1..]).collect();
    if joined.starts_with(|c: char| c.is_ascii_alphabetic()) { joined } else { format!("V{joined}") }
}

/// `webSearch-call` as `web_search_call`.
pub(super) fn snake(wire: &str) -> String {
    let joined = words(wire).join("_");
    if joined.starts_with(|c: char| c.is_ascii_alphabetic()) { joined } else { format!("v_{joined}") }
}

/// The name of an event's variant and struct: its type without the `response.` that most of them share.
pub(super) fn event(wire: &str) -> String {
    pascal(wire.strip_prefix("response.").unwrap_or(wire))
}

/// An identifier, escaped where Rust has a keyword of that name.
pub(super) fn ident(name: &str) -> Ident {
    match name {
        "self" | "Self" | "super" | "crate" => format_ident!("{name}_"),
        _ if KEYWORDS.contains(&name) => Ident::new_raw(name, Span::call_site()),
        _ => Ident::new(name, Span::call_site()),
    }
}

/// The keywords of Rust that can be escaped, reserved ones included.
const KEYWORDS: &[&str] = &[
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn", "else",
    "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro",
    "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "static", "struct", "trait",
    "true", "try", "type", "typeof", "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

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
}
