//! Items of tools: `items.toml`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::{Value, json};
use translation::Template;

use super::pieces::{Fragments, fragments, small};

/// An item of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolItem {
    /// How items of its kind are made.
    pub(crate) page: &'static ItemPage,
    /// The values that templates of responses name.
    pub(crate) values: Value,
    /// Its texts, which are streamed.
    pub(crate) texts: Vec<Fragments>,
}

/// How items of a kind are made.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ItemPage {
    /// Its type, in the API that has all of them.
    pub(crate) kind: String,
    /// The beginning of its id.
    pub(crate) prefix: String,
    /// It has the id of a call beside its own.
    pub(crate) is_called: bool,
    /// Answers cite its results.
    pub(crate) is_search: bool,
    /// How the words of its directive become streamed texts; none do if absent.
    texts: Option<Texts>,
    /// The words of a directive that has none.
    usual: String,
    values: Template,
}

/// How the words of a directive become texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Texts {
    /// All words are one text.
    One,
    /// The words after the first one, which is a name.
    Named,
    /// From the first brace on, as they are a JSON object.
    Object,
    /// A text for each part between semicolons.
    List,
}

static PAGES: LazyLock<BTreeMap<String, ItemPage>> = LazyLock::new(|| {
    let text = include_str!("items.toml");
    toml::from_str(text).unwrap_or_else(|error| unreachable!("a test reads the file: {error}"))
});

impl ToolItem {
    /// The item of a directive, if it has this name.
    pub(crate) fn new(name: &str, words: &str) -> Option<Self> {
        let page = PAGES.get(name)?;
        let (first, rest) = words.split_once(' ').unwrap_or((words, ""));
        let given = match page.texts {
            Some(Texts::Named) => rest,
            Some(Texts::Object) => words.find('{').and_then(|at| words.get(at..)).unwrap_or_default(),
            _ => words,
        };
        let given = if given.is_empty() { &page.usual } else { given };
        let texts = match page.texts {
            None => Vec::new(),
            Some(Texts::List) => given.split(';').map(fragments).collect(),
            Some(_) => vec![fragments(given)],
        };
        let number = words.split_whitespace().next().and_then(|number| number.parse().ok());
        let values = page.values.filled(|hole| match hole {
            "words" => Some(json!(words)),
            "name" => Some(json!(first)),
            "number" => Some(json!(small(number, 1))),
            "failed" => Some(json!(words.split_whitespace().any(|word| word == "failed"))),
            _ => None,
        });
        Some(Self { page, values, texts })
    }

    pub(crate) fn set(&mut self, values: Value) {
        if let (Value::Object(own), Value::Object(values)) = (&mut self.values, values) {
            own.extend(values);
        }
    }

    pub(crate) fn fragments(&self) -> impl Iterator<Item = &String> {
        self.texts.iter().flatten()
    }

    pub(crate) fn value(&self, name: &str) -> Option<&str> {
        self.values.get(name)?.as_str()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl ToolItem {
        pub(crate) fn has_kind(kind: &str) -> bool {
            PAGES.values().any(|page| page.kind == kind)
        }
    }

    #[test]
    fn items_have_a_kind_and_an_id() {
        for (name, page) in PAGES.iter() {
            assert!(!page.kind.is_empty() && !page.prefix.is_empty(), "{name}");
            assert!(page.usual.is_empty() || page.texts.is_some(), "{name}");
        }
    }

    #[test]
    fn the_words_of_a_directive_are_values_and_texts() {
        let item = ToolItem::new("custom", "query SELECT| 1;").unwrap();
        assert_eq!((item.value("name"), &*item.texts), (Some("query"), &[fragments("SELECT| 1;")][..]));
        let item = ToolItem::new("mcp", "failed").unwrap();
        assert!(item.values["failed"] == true && item.texts == [fragments("{\"query\":\"|migration\"}")]);
        assert_eq!(ToolItem::new("image", "3").unwrap().values["previews"], 3);
    }
}
