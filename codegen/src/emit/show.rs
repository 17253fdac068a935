//! The generated code of one event or type.

use std::collections::BTreeSet;

use proc_macro2::{TokenStream, TokenTree};

use super::types::Names;
use super::{check, types};
use crate::dialect::Dialect;
use crate::formats::{ApiFile, Glossary};
use crate::names::{self, event_path, type_path};
use crate::tables::Tables;

/// Returns the Rust of an event or type, with items that only it uses; `None` if the dialect does not have it.
///
/// # Errors
///
/// Fails on a schema without a Rust equivalent.
pub fn show(
    dialect: &Dialect,
    api: &ApiFile,
    glossary: &Glossary,
    name: &str,
    with_validator: bool,
) -> Result<Option<String>, String> {
    let is_event = dialect.events.contains_key(name);
    if !is_event && !dialect.types.contains_key(name) {
        return Ok(None);
    }
    let emitted = items(types::emit(dialect, None, glossary));
    let Names { types: type_names, events: event_names, .. } = Names::of(dialect, glossary);
    let wanted = if is_event { &event_names[name] } else { &type_names[name] };
    let named: BTreeSet<String> = event_names.values().chain(type_names.values()).cloned().collect();
    let mut text = pick(&emitted, wanted, &named);
    if with_validator {
        let named = dialect.types.keys().map(|wire| names::table(&type_path(wire)).to_string()).collect();
        let path = if is_event { event_path(name) } else { type_path(name) };
        text.push('\n');
        let table = names::table(&path).to_string();
        text += &pick(&items(check::emit(dialect, None, api, &Tables::of(dialect, api)?)), &table, &named);
    }
    Ok(Some(text))
}

struct Item {
    name: String,
    declares: bool,
    text: String,
}

fn items(tokens: TokenStream) -> Vec<Item> {
    let mut file = syn::parse2::<syn::File>(tokens)
        .unwrap_or_else(|error| panic!("the emitter wrote invalid Rust: {error}"));
    let items = std::mem::take(&mut file.items);
    items
        .into_iter()
        .filter_map(|item| {
            let (name, declares) = match &item {
                syn::Item::Struct(item) => (item.ident.to_string(), true),
                syn::Item::Enum(item) => (item.ident.to_string(), true),
                syn::Item::Type(item) => (item.ident.to_string(), true),
                syn::Item::Static(item) => (item.ident.to_string(), true),
                syn::Item::Impl(item) => match &*item.self_ty {
                    syn::Type::Path(path) => (path.path.segments.last()?.ident.to_string(), false),
                    _ => return None,
                },
                syn::Item::Macro(item) => match item.mac.tokens.clone().into_iter().next()? {
                    TokenTree::Ident(name) => (name.to_string(), false),
                    _ => return None,
                },
                _ => return None,
            };
            file.items = vec![item];
            Some(Item { name, declares, text: types::layout(&prettyplease::unparse(&file)) })
        })
        .collect()
}

/// The items of a name, and the items that they use, except those that can be shown by themselves.
fn pick(items: &[Item], wanted: &str, named: &BTreeSet<String>) -> String {
    let mut picked = vec![wanted.to_owned()];
    let mut text = String::new();
    let mut at = 0;
    while let Some(name) = picked.get(at).cloned() {
        for item in items.iter().filter(|item| item.name == name) {
            if !text.is_empty() {
                text.push('\n');
            }
            text += &item.text;
            for word in item.text.split(|c: char| !c.is_alphanumeric() && c != '_') {
                let is_new = !named.contains(word) && !picked.iter().any(|known| known == word);
                if is_new && items.iter().any(|item| item.declares && item.name == word) {
                    picked.push(word.to_owned());
                }
            }
        }
        at += 1;
    }
    text
}
